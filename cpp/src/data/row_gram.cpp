#include <algorithm>
#include <vector>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/parallel.hpp"
#include "data/tiles.hpp"

namespace hedgerow {
namespace {

template <class T>
DenseRows<T> tile_of(const DenseRows<T>& rows, std::int64_t tile) {
  const std::int64_t begin = tile * kTileOrder;
  return {rows.values + begin * rows.row_stride, std::min(kTileOrder, rows.n_rows - begin),
          rows.n_cols, rows.row_stride};
}

template <class T>
void row_gram_lower(const DenseRows<T>& rows, double* out, int n_threads) {
  const std::int64_t n = rows.n_rows;
  parallel_for(n_tiles(n) * n_tiles(n), n_threads, [&](std::int64_t task) {
    const std::int64_t i = task / n_tiles(n), j = task % n_tiles(n);
    if (j > i) return;
    double* corner = out + (i * n + j) * kTileOrder;
    multiply_rows(tile_of(rows, i), tile_of(rows, j), 1.0, corner, n);
  });
}

template <class T, class I>
void row_gram_lower(const SparseRows<T, I>& rows, double* out, int n_threads) {
  const RowLoops<SparseRows<T, I>>& loops = hot();
  constexpr std::int64_t kRowsPerTask = 16;
  const Cut runs{rows.n_rows, (rows.n_rows + kRowsPerTask - 1) / kRowsPerTask};
  parallel_for(runs.n_pieces, n_threads, [&](std::int64_t run) {
    std::vector<double> scattered(static_cast<std::size_t>(rows.n_cols), 0.0);
    const double no_intercept = 0.0;
    for (std::int64_t i = runs.begin(run); i < runs.end(run); ++i) {
      for (I p = rows.indptr[i]; p < rows.indptr[i + 1]; ++p)
        scattered[rows.indices[p]] = rows.values[p];
      loops.scores(rows, 0, i + 1, 1, scattered.data(), &no_intercept, out + i * rows.n_rows);
      for (I p = rows.indptr[i]; p < rows.indptr[i + 1]; ++p) scattered[rows.indices[p]] = 0.0;
    }
  });
}

}  // namespace

void row_gram(const Matrix& matrix, std::span<double> out, int n_threads) {
  std::fill(out.begin(), out.end(), 0.0);
  std::visit([&](const auto& rows) { row_gram_lower(rows, out.data(), n_threads); }, matrix);
  mirror_lower(out.data(), n_rows(matrix), n_threads);
}

}  // namespace hedgerow
