#include "hedgerow/algebra.hpp"

#include <algorithm>
#include <vector>

#include "hedgerow/hot.hpp"
#include "hedgerow/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kRowsPerTask = 1024;

template <class Rows>
const RowLoops<Rows>& row_loops(const Rows&) {
  return hot();
}

/// Calls body(begin, end) for runs of rows that are computed independently.
template <class Body>
void for_row_runs(std::int64_t n_rows, int n_threads, Body body) {
  const Cut runs{n_rows, (n_rows + kRowsPerTask - 1) / kRowsPerTask};
  parallel_for(runs.n_pieces, n_threads,
               [&](std::int64_t run) { body(runs.begin(run), runs.end(run)); });
}

/// As many partial sums as keep a dozen cores busy, but no more than are cheap to add up.
std::int64_t n_partial_sums(std::int64_t n_rows, std::int64_t n_cols) {
  constexpr std::int64_t kMostSums = 16, kMostValues = std::int64_t{1} << 22;
  const std::int64_t affordable = kMostValues / std::max<std::int64_t>(n_cols, 1);
  return std::clamp<std::int64_t>(std::min(n_rows / kRowsPerTask, affordable), 1, kMostSums);
}

template <class T>
std::int64_t first_nonfinite_in(const DenseRows<T>& rows) {
  const DenseLoops<T>& loops = hot();
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    const std::int64_t begin = i * rows.row_stride;
    const std::int64_t found = loops.first_nonfinite(rows.values + begin, rows.n_cols);
    if (found >= 0) return begin + found;
  }
  return -1;
}

template <class T, class I>
std::int64_t first_nonfinite_in(const SparseRows<T, I>& rows) {
  const DenseLoops<T>& loops = hot();
  return loops.first_nonfinite(rows.values, rows.indptr[rows.n_rows]);
}

}  // namespace

void scores(const Matrix& matrix, std::span<const double> coef, std::span<const double> intercept,
            std::span<double> out, int n_threads) {
  const auto k = static_cast<std::int64_t>(intercept.size());
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        for_row_runs(rows.n_rows, n_threads, [&](std::int64_t begin, std::int64_t end) {
          loops.scores(rows, begin, end, k, coef.data(), intercept.data(),
                       out.data() + begin * k);
        });
      },
      matrix);
}

void weighted_row_sum(const Matrix& matrix, std::span<const double> v, std::span<double> out,
                      int n_threads) {
  const auto width = static_cast<std::int64_t>(out.size());
  const Cut runs{n_rows(matrix), n_partial_sums(n_rows(matrix), width)};
  std::vector<double> partial(static_cast<std::size_t>(runs.n_pieces * width), 0.0);
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        parallel_for(runs.n_pieces, n_threads, [&](std::int64_t run) {
          loops.add_weighted(rows, runs.begin(run), runs.end(run), v.data(),
                             partial.data() + run * width);
        });
      },
      matrix);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::int64_t run = 0; run < runs.n_pieces; ++run)
    for (std::int64_t j = 0; j < width; ++j) out[j] += partial[run * width + j];
}

void row_sq_norms(const Matrix& matrix, std::span<double> out, int n_threads) {
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        for_row_runs(rows.n_rows, n_threads, [&](std::int64_t begin, std::int64_t end) {
          loops.sq_norms(rows, begin, end, out.data());
        });
      },
      matrix);
}

std::int64_t first_nonfinite(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return first_nonfinite_in(rows); }, matrix);
}

}  // namespace hedgerow
