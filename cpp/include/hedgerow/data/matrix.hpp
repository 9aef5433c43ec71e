// The one type a solver is given its data in: dense or sparse rows, float32 or float64.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "hedgerow/data/rows.hpp"

namespace hedgerow {

using Matrix = std::variant<DenseRows<float>, DenseRows<double>, SparseRows<float, std::int32_t>,
                            SparseRows<float, std::int64_t>, SparseRows<double, std::int32_t>,
                            SparseRows<double, std::int64_t>>;

inline std::int64_t n_rows(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return rows.n_rows; }, matrix);
}

inline std::int64_t n_cols(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return rows.n_cols; }, matrix);
}

template <class T>
std::int64_t n_stored(const DenseRows<T>& rows) {
  return rows.n_rows * rows.n_cols;
}

template <class T, class I>
std::int64_t n_stored(const SparseRows<T, I>& rows) {
  return rows.indptr[rows.n_rows];
}

/// How many rows hold about n_values stored values, at least 1.
template <class Rows>
std::int64_t rows_with(std::int64_t n_values, const Rows& rows) {
  const std::int64_t per_row = n_stored(rows) / std::max<std::int64_t>(rows.n_rows, 1);
  return std::max<std::int64_t>(n_values / std::max<std::int64_t>(per_row, 1), 1);
}

}  // namespace hedgerow
