#include "hedgerow/data/algebra.hpp"

#include <algorithm>
#include <limits>

#include "data/row_runs.hpp"

namespace hedgerow {
namespace {

template <class T>
std::int64_t first_beyond_in(const DenseRows<T>& rows, double scale) {
  const DenseLoops<T>& loops = hot();
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    const std::int64_t begin = i * rows.row_stride;
    const std::int64_t found = loops.first_beyond(rows.values + begin, rows.n_cols, scale);
    if (found >= 0) return begin + found;
  }
  return -1;
}

template <class T, class I>
std::int64_t first_beyond_in(const SparseRows<T, I>& rows, double scale) {
  const DenseLoops<T>& loops = hot();
  return loops.first_beyond(rows.values, rows.indptr[rows.n_rows], scale);
}

/// Calls visit(i, j) for all values other than 0.
template <class T, class Visit>
void for_nonzeros(const DenseRows<T>& rows, Visit visit) {
  for (std::int64_t i = 0; i < rows.n_rows; ++i)
    for (std::int64_t j = 0; j < rows.n_cols; ++j)
      if (rows.values[i * rows.row_stride + j] != T(0)) visit(i, j);
}

template <class T, class I, class Visit>
void for_nonzeros(const SparseRows<T, I>& rows, Visit visit) {
  for (std::int64_t i = 0; i < rows.n_rows; ++i)
    for (I p = rows.indptr[i]; p < rows.indptr[i + 1]; ++p)
      if (rows.values[p] != T(0)) visit(i, static_cast<std::int64_t>(rows.indices[p]));
}

}  // namespace

void scores(const Matrix& matrix, std::span<const double> coef, std::span<const double> intercept,
            std::span<double> out, int n_threads) {
  const auto k = static_cast<std::int64_t>(intercept.size());
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        for_row_runs(rows.n_rows, n_threads, [&](std::int64_t begin, std::int64_t end) {
          loops.scores(rows, begin, end, k, coef.data(), intercept.data(), out.data() + begin * k);
        });
      },
      matrix);
}

void weighted_row_sum(const Matrix& matrix, std::span<const double> v, std::span<double> out,
                      int n_threads) {
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        sum_over_runs(rows, out, n_threads, [&](const RowRun& run) {
          loops.add_weighted(rows, run.begin, run.end, v.data(), run.sum);
        });
      },
      matrix);
}

void weighted_square_sum(const Matrix& matrix, std::span<const double> v, std::span<double> out,
                         int n_threads) {
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        sum_over_runs(rows, out, n_threads, [&](const RowRun& run) {
          loops.add_weighted_squares(rows, run.begin, run.end, v.data(), run.sum);
        });
      },
      matrix);
}

void gram_times(const Matrix& matrix, std::span<const double> v, double constant,
                std::span<const double> p, std::span<double> out, int n_threads) {
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        sum_over_runs(rows, out, n_threads, [&](const RowRun& run) {
          loops.add_gram_product(rows, run.begin, run.end, v.data(), constant, p.data(), run.sum);
        });
      },
      matrix);
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

void column_counts(const Matrix& matrix, std::span<std::int64_t> out) {
  std::fill(out.begin(), out.end(), 0);
  std::visit(
      [&](const auto& rows) {
        for_nonzeros(rows, [&](std::int64_t, std::int64_t j) { ++out[j]; });
      },
      matrix);
}

void row_maxima(const Matrix& matrix, std::span<const double> v, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  std::visit(
      [&](const auto& rows) {
        for_nonzeros(rows,
                     [&](std::int64_t i, std::int64_t j) { out[i] = std::max(out[i], v[j]); });
      },
      matrix);
}

std::int64_t first_beyond(const Matrix& matrix, double largest) {
  const double scale = std::max(1.0, std::numeric_limits<double>::max() / largest);
  return std::visit([=](const auto& rows) { return first_beyond_in(rows, scale); }, matrix);
}

}  // namespace hedgerow
