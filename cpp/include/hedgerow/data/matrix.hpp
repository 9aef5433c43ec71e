// The one type a solver is given its data in: dense or sparse rows, float32 or float64.
#pragma once

#include <cstdint>
#include <variant>

#include "hedgerow/data/rows.hpp"

namespace hedgerow {

using Matrix =
    std::variant<DenseRows<float>, DenseRows<double>, SparseRows<float, std::int32_t>,
                 SparseRows<float, std::int64_t>, SparseRows<double, std::int32_t>,
                 SparseRows<double, std::int64_t>>;

inline std::int64_t n_rows(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return rows.n_rows; }, matrix);
}

inline std::int64_t n_cols(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return rows.n_cols; }, matrix);
}

}  // namespace hedgerow
