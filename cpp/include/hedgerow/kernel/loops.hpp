// The hot loops of kernel machines, as parts of the table of system/hot_loops.hpp: plain data, no functions.
#pragma once

#include <cstdint>

#include "hedgerow/kernel/shape.hpp"

namespace hedgerow {

/// Rows and columns packed for a tile of kernel values: strips of KernelLoops::strip_rows rows, or
/// strip_cols columns, one after the other, each feature after feature; whole strips.
template <class T>
struct PackedTile {
  const T* rows;
  const T* cols;
  std::int64_t n_rows;
  std::int64_t n_cols;
  std::int64_t depth;  ///< features to fold
  std::int64_t
      stride;  ///< features that a strip holds, from the first one to fold on: at least depth
};

/// A tile of kernel values with lines of coefficients, each of which is summed up for one
/// hyperplane.
template <class T>
struct WeighedTile {
  const T* values;
  std::int64_t ld;
  std::int64_t n_rows;
  std::int64_t n_cols;  ///< a multiple of kWeighedCols
  const double* coef;   ///< n_cols for each line
  std::int64_t n_lines;
  const std::int64_t* hyperplanes;  ///< where in a row of sums each line goes
  double* sums;
  std::int64_t n_hyperplanes;
};

/// A whole number of float64 vectors of any instruction set.
constexpr std::int64_t kWeighedCols = 8;

/// A tile of kernel values, and what a formula needs of each row and column beside the sum over the
/// features: for RBF the squared norm, for cosine one over the norm. Room for whole vectors of columns.
template <class T>
struct KernelTile {
  T* values;
  std::int64_t ld;
  std::int64_t n_rows;
  std::int64_t n_cols;
  const T* of_rows;
  const T* of_cols;
};

/// A QP of few variables, by pairs of them or one by one; see solver/box_qp.hpp. Arrays are padded to
/// a multiple of kPairGroup with variables that cannot move.
struct PairSteps {
  const float* kernel;  ///< row-major, symmetric
  std::int64_t ld;
  const double* diagonal;  ///< curvature of each variable alone
  const double* ridge;     ///< what of it is not in the kernel
  double* slope;           ///< the way down: minus the gradient, kept up to date
  double* beta;
  const double* lower;
  const double* upper;
  double* no_rise;       ///< 0, or -infinity if beta is at its upper bound
  double* no_fall;       ///< 0, or infinity if it is at its lower bound
  std::int64_t ends[2];  ///< pairs are taken within [0, ends[0]) or within [ends[0], ends[1])
  double tolerance;
  std::int64_t max_steps;
  std::int64_t n_steps;  ///< out
  double violation;      ///< out: what is left
};

/// Variables of PairSteps are padded to a multiple of this.
constexpr std::int64_t kPairGroup = 8;

template <class T>
struct KernelLoops {
  std::int64_t strip_rows;
  std::int64_t strip_cols;
  std::int64_t scatter_rows;
  /// Folds the features into the tile, which has whole strips; only T = double does other folds than
  /// dot products.
  void (*fold_features)(const KernelShape& shape, const PackedTile<T>& packed, T* tile,
                        std::int64_t ld);
  /// The same for one row, whose features lie one after the other; packed.rows is not read.
  void (*fold_row)(const KernelShape& shape, const T* row, const PackedTile<T>& packed, T* out);
  /// Makes kernel values of the sums.
  void (*finish_tile)(const KernelShape& shape, const KernelTile<T>& tile);
  /// g[c] += sum over r of delta[r] rows[r][c]
  void (*add_kernel_rows)(const T* const* rows, const double* delta, std::int64_t n_rows,
                          std::int64_t n_cols, double* g);
  /// sums[r * n_hyperplanes + hyperplanes[l]] += sum over c of coef[l * n_cols + c] values[r * ld +
  /// c]; a row gives the same bits in any company.
  void (*weigh_tile)(const WeighedTile<T>& tile);
};

/// Rows prepared for tiles of kernel values in precision T.
template <class Rows, class T>
struct PanelLoops {
  /// The features begin ... end - 1 of the selected rows, in strips of `width`.
  void (*pack_strips)(const Rows& rows, const std::int64_t* selected, std::int64_t n_selected,
                      std::int64_t begin, std::int64_t end, std::int64_t width, T* out);
  /// Up to `width` of the selected rows as lines of a panel, one for each feature that occurs; slots,
  /// all 0 before, tells the line of each feature, and line 0 is zero.
  void (*scatter)(const Rows& rows, const std::int64_t* selected, std::int64_t n_selected,
                  std::int64_t width, std::int32_t* slots, T* panel);
};

/// Sparse columns against a panel.
template <class Rows, class T>
struct ScatteredLoops {
  /// tile[r * ld + c] = <row r of the panel, row selected[c]>, for KernelLoops<T>::scatter_rows rows;
  /// whole vectors of columns are written.
  void (*scattered_products)(const Rows& columns, const std::int64_t* selected,
                             std::int64_t n_selected, const std::int32_t* slots, const T* panel,
                             T* tile, std::int64_t ld);
  /// The same from a panel of float32 values: half as much to read, and exact if the rows are float32.
  void (*narrow_products)(const Rows& columns, const std::int64_t* selected,
                          std::int64_t n_selected, const std::int32_t* slots, const float* panel,
                          T* tile, std::int64_t ld);
  /// out[c] = <row i, column c of the packed ones>; packed.rows is not read.
  void (*packed_products)(const Rows& rows, std::int64_t i, const PackedTile<T>& packed, T* out);
};

}  // namespace hedgerow
