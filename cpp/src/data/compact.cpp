#include "hedgerow/data/compact.hpp"

#include <algorithm>

#include "data/row_runs.hpp"

namespace hedgerow {
namespace {

template <class T>
std::int64_t n_nonzero(const DenseRows<T>& rows, std::int64_t i) {
  const T* values = rows.values + i * rows.row_stride;
  return std::count_if(values, values + rows.n_cols, [](T value) { return value != T{0}; });
}

/// Copies the first `room` values other than 0; a zero is overwritten by what comes next.
template <class T>
void copy_row(const T* row, std::int64_t n_cols, T* values, std::int32_t* columns,
              std::int64_t room) {
  std::int64_t p = 0;
  for (std::int64_t j = 0; p < room && j < n_cols; ++j) {
    values[p] = row[j];
    columns[p] = static_cast<std::int32_t>(j);
    p += row[j] != T{0};
  }
}

}  // namespace

template <class T>
double sampled_density(const DenseRows<T>& rows) {
  constexpr std::int64_t kSampled = 256;
  const Cut sample{rows.n_rows, std::min(kSampled, rows.n_rows)};
  std::int64_t count = 0;
  for (std::int64_t s = 0; s < sample.n_pieces; ++s) count += n_nonzero(rows, sample.begin(s));
  const std::int64_t n_values = sample.n_pieces * rows.n_cols;
  return n_values == 0 ? 1.0 : static_cast<double>(count) / static_cast<double>(n_values);
}

template <class T>
std::int64_t count_nonzero(const DenseRows<T>& rows, std::span<std::int64_t> begins,
                           int n_threads) {
  begins[0] = 0;
  for_row_runs(rows.n_rows, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) begins[i + 1] = n_nonzero(rows, i);
  });
  for (std::int64_t i = 0; i < rows.n_rows; ++i) begins[i + 1] += begins[i];
  return begins[rows.n_rows];
}

template <class T>
void copy_nonzero(const DenseRows<T>& rows, std::span<const std::int32_t> begins,
                  std::span<T> values, std::span<std::int32_t> columns, int n_threads) {
  const auto n_stored = static_cast<std::int64_t>(std::min(values.size(), columns.size()));
  for_row_runs(rows.n_rows, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = std::clamp<std::int64_t>(begins[i], 0, n_stored);
      const std::int64_t last = std::clamp<std::int64_t>(begins[i + 1], first, n_stored);
      copy_row(rows.values + i * rows.row_stride, rows.n_cols, values.data() + first,
               columns.data() + first, last - first);
    }
  });
}

template double sampled_density(const DenseRows<float>&);
template double sampled_density(const DenseRows<double>&);
template std::int64_t count_nonzero(const DenseRows<float>&, std::span<std::int64_t>, int);
template std::int64_t count_nonzero(const DenseRows<double>&, std::span<std::int64_t>, int);
template void copy_nonzero(const DenseRows<float>&, std::span<const std::int32_t>, std::span<float>,
                           std::span<std::int32_t>, int);
template void copy_nonzero(const DenseRows<double>&, std::span<const std::int32_t>,
                           std::span<double>, std::span<std::int32_t>, int);

}  // namespace hedgerow
