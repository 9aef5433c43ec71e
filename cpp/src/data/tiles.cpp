#include "data/tiles.hpp"

#include <algorithm>
#include <memory>

#include "hedgerow/system/parallel.hpp"

namespace hedgerow {

template <class T>
void multiply_rows(const DenseRows<T>& a, const DenseRows<T>& b, double alpha, double* c,
                   std::int64_t ldc) {
  // Kept by each thread: fresh memory for every tile means page faults for every tile.
  static thread_local const auto left = std::make_unique<double[]>(kTileOrder * kPackedStride);
  static thread_local const auto right = std::make_unique<double[]>(kTileOrder * kPackedStride);
  const DenseLoops<T>& loops = hot();
  for (std::int64_t begin = 0; begin < a.n_cols; begin += kTileDepth) {
    const std::int64_t depth = std::min(kTileDepth, a.n_cols - begin);
    const DenseRows<T> a_stretch{a.values + begin, a.n_rows, depth, a.row_stride};
    const DenseRows<T> b_stretch{b.values + begin, b.n_rows, depth, b.row_stride};
    loops.pack(a_stretch, 0, a.n_rows, left.get(), kPackedStride);
    loops.pack(b_stretch, 0, b.n_rows, right.get(), kPackedStride);
    hot().gemm_nt(a.n_rows, b.n_rows, depth, alpha, left.get(), kPackedStride, right.get(),
                  kPackedStride, c, ldc);
  }
}

template void multiply_rows(const DenseRows<float>&, const DenseRows<float>&, double, double*,
                            std::int64_t);
template void multiply_rows(const DenseRows<double>&, const DenseRows<double>&, double, double*,
                            std::int64_t);

void mirror_lower(double* a, std::int64_t m, int n_threads) {
  parallel_for(n_tiles(m), n_threads, [=](std::int64_t tile) {
    const std::int64_t begin = tile * kTileOrder, end = std::min(begin + kTileOrder, m);
    for (std::int64_t left = 0; left < end; left += kTileOrder)
      for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t j = left; j < std::min(left + kTileOrder, i); ++j)
          a[j * m + i] = a[i * m + j];
  });
}

}  // namespace hedgerow
