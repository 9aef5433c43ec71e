// Cholesky, left-looking by columns of tiles: a column is brought up to date with all that is left
// of it, its diagonal tile is factored, and the tiles below are solved against it.
#include <algorithm>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/parallel.hpp"
#include "data/tiles.hpp"

namespace hedgerow {
namespace {

/// Rows [begin, begin + a tile) of the finished part, the columns [0, n_cols).
DenseRows<double> finished(const double* a, std::int64_t m, std::int64_t begin,
                           std::int64_t n_cols) {
  return {a + begin * m, std::min(kTileOrder, m - begin), n_cols, m};
}

void update_column(double* a, std::int64_t m, std::int64_t column, int n_threads) {
  const DenseRows<double> diagonal = finished(a, m, column, column);
  parallel_for(n_tiles(m - column), n_threads, [&](std::int64_t tile) {
    const std::int64_t begin = column + tile * kTileOrder;
    multiply_rows(finished(a, m, begin, column), diagonal, -1.0, a + begin * m + column, m);
  });
}

/// Factors one tile, by the same scheme on narrow strips, without packing.
std::int64_t factor_tile(double* a, std::int64_t width, std::int64_t lda) {
  constexpr std::int64_t kStrip = 24;
  for (std::int64_t strip = 0; strip < width; strip += kStrip) {
    const std::int64_t breadth = std::min(kStrip, width - strip), below = strip + breadth;
    double* corner = a + strip * lda + strip;
    hot().gemm_nt(width - strip, breadth, strip, -1.0, a + strip * lda, lda, a + strip * lda, lda,
                  corner, lda);
    const std::int64_t failed = hot().factor(breadth, corner, lda);
    if (failed >= 0) return strip + failed;
    hot().solve_rows(width - below, breadth, corner, lda, corner + breadth * lda, lda);
  }
  return -1;
}

void solve_below(double* a, std::int64_t m, std::int64_t column, std::int64_t width,
                 int n_threads) {
  const std::int64_t below = column + width;
  parallel_for(n_tiles(m - below), n_threads, [=](std::int64_t tile) {
    const std::int64_t begin = below + tile * kTileOrder;
    hot().solve_rows(std::min(kTileOrder, m - begin), width, a + column * m + column, m,
                     a + begin * m + column, m);
  });
}

}  // namespace

std::int64_t cholesky(std::span<double> a, std::int64_t m, int n_threads) {
  for (std::int64_t column = 0; column < m; column += kTileOrder) {
    const std::int64_t width = std::min(kTileOrder, m - column);
    update_column(a.data(), m, column, n_threads);
    const std::int64_t failed = factor_tile(a.data() + column * m + column, width, m);
    if (failed >= 0) return column + failed;
    solve_below(a.data(), m, column, width, n_threads);
  }
  for (std::int64_t i = 0; i < m; ++i)
    std::fill(a.begin() + i * m + i + 1, a.begin() + (i + 1) * m, 0.0);
  return -1;
}

void cholesky_solve(std::span<const double> l, std::int64_t m, std::span<double> b) {
  hot().solve_factored(m, l.data(), b.data());
}

}  // namespace hedgerow
