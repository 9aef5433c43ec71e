// Dense rows that are mostly zeros, copied as compressed rows: passes and sweeps then read what
// matters, and less of it.
#pragma once

#include <cstdint>
#include <span>

#include "hedgerow/data/rows.hpp"

namespace hedgerow {

/// The share of values other than 0 in a few of the rows, spread evenly; 1 if there are no values.
template <class T>
double sampled_density(const DenseRows<T>& rows);

/// Writes where each row begins among the values other than 0, and after the last their number:
/// n_rows + 1 entries. Returns that number.
template <class T>
std::int64_t count_nonzero(const DenseRows<T>& rows, std::span<std::int64_t> begins, int n_threads);

/// Writes the values other than 0 and their columns to where count_nonzero says they begin; nothing
/// is written outside the bounds, whatever they are.
template <class T>
void copy_nonzero(const DenseRows<T>& rows, std::span<const std::int32_t> begins,
                  std::span<T> values, std::span<std::int32_t> columns, int n_threads);

}  // namespace hedgerow
