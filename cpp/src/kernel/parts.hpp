// What all that makes tiles of kernel values has in common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/kernel/kernel.hpp"

namespace hedgerow {

/// Whether a kernel is a function of dot products.
bool uses_products(KernelKind kind);

/// Whether the formula of a kernel needs the norms of the rows.
bool wants_norms(const Kernel& kernel);

/// Whether float32 sums will do for rows of at most this squared norm: dot products, of which none is so
/// large that the distances of an RBF kernel would be lost in their rounding.
bool fits_float32(const Kernel& kernel, double largest_sq_norm);

/// A bound on the relative error of a sum of n terms, in units of the last place: rounding errors of
/// either sign grow with the root of their number, not with the number.
double growth_of_rounding(std::int64_t n);

/// A bound on the error of gamma |x - z|^2 computed from products and norms of rows of at most this squared
/// norm.
double error_of_products(double gamma, double largest_sq_norm, std::int64_t n_features);

/// The kernel with every Gaussian computed from differences if products and norms of rows of at most this
/// squared norm would lose digits that matter.
Kernel without_cancellation(Kernel kernel, double largest_sq_norm, std::int64_t n_features);

/// What the formula of a kernel needs of a row beside the sums over the features.
double extra_of(KernelKind kind, double sq_norm);

inline std::int64_t whole(std::int64_t n, std::int64_t width) {
  return (n + width - 1) / width * width;
}

template <class T>
void make_room(std::vector<T>& values, std::int64_t n) {
  if (static_cast<std::int64_t>(values.size()) < n) values.resize(static_cast<std::size_t>(n));
}

template <class T>
const KernelLoops<T>& kernel_loops() {
  return hot();
}

/// Where sums begin that features are folded into.
template <class T>
T empty_fold(KernelKind kind) {
  return kind == KernelKind::wavelet ? T{1} : T{0};
}

/// One of the tiles of this thread, which keeps them: fresh memory for every tile would cost more than
/// the tile. There is room for kKernelTile columns and for whole strips of as many rows.
template <class T>
T* tile_at(std::size_t depth) {
  constexpr std::int64_t kTileRoom = (kKernelTile + 12) * kKernelTile;
  static thread_local std::vector<std::vector<T>> tiles;
  while (tiles.size() <= depth) tiles.emplace_back(kTileRoom);
  return tiles[depth].data();
}

/// Runs the program of a kernel over tiles of n_rows rows, for which push(shape, tile) writes the values
/// of built-in kernels; returns the last tile, this thread's first.
template <class T, class Push>
const T* run_program(const Kernel& kernel, std::int64_t n_rows, Push push) {
  std::size_t depth = 0;
  const std::int64_t size = n_rows * kKernelTile;
  for (const KernelStep& step : kernel) {
    if (step.does == KernelStep::Does::push) {
      push(step.shape, tile_at<T>(depth++));
      continue;
    }
    if (step.does == KernelStep::Does::scale) {
      T* last = tile_at<T>(depth - 1);
      for (std::int64_t e = 0; e < size; ++e) last[e] *= static_cast<T>(step.factor);
      continue;
    }
    const T* right = tile_at<T>(--depth);
    T* left = tile_at<T>(depth - 1);
    if (step.does == KernelStep::Does::add)
      for (std::int64_t e = 0; e < size; ++e) left[e] += right[e];
    else
      for (std::int64_t e = 0; e < size; ++e) left[e] *= right[e];
  }
  return tile_at<T>(0);
}

}  // namespace hedgerow
