// NumPy arrays in and out. Arrays come in contiguous, of the very type wanted and without copies;
// what they hold is checked here once, so that nothing below reads out of bounds.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hedgerow/data/matrix.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hedgerow::bindings {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T, int N>
using NewArray = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig>;

/// A matrix and the arrays it looks at.
struct OwnedMatrix {
  Matrix view;
  std::vector<nb::ndarray<nb::ro>> owners;
};

template <class Array>
auto as_span(const Array& array) {
  return std::span(array.data(), array.size());
}

/// An array whose values are still to be written.
template <class T, int N>
NewArray<T, N> make_array(const std::size_t (&shape)[N]) {
  std::size_t size = 1;
  for (const std::size_t length : shape) size *= length;
  T* values = new T[size];
  nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
  return NewArray<T, N>(values, N, shape, owner);
}

template <class T>
NewArray<T, 1> copy_array(std::span<const T> values) {
  NewArray<T, 1> array = make_array<T, 1>({values.size()});
  std::copy(values.begin(), values.end(), array.data());
  return array;
}

/// A table of values that come row after row.
inline NewArray<double, 2> copy_table(std::span<const double> values, std::int64_t n_rows,
                                      std::int64_t n_columns) {
  NewArray<double, 2> table = make_array<double, 2>(
      {static_cast<std::size_t>(n_rows), static_cast<std::size_t>(n_columns)});
  std::copy(values.begin(), values.end(), table.data());
  return table;
}

/// ValueError unless the array has `expected` values, one for each of the things named.
inline void require_length(const char* name, std::size_t got, std::int64_t expected,
                           const char* things) {
  if (got == static_cast<std::size_t>(expected)) return;
  throw nb::value_error((std::string(name) + " has " + std::to_string(got) + " values, but " +
                         std::to_string(expected) + " are wanted, one for each " + things + ".")
                            .c_str());
}

/// ValueError unless what was counted up to now leaves room for all that may be counted yet.
inline void require_count(const char* name, std::int64_t count) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (count >= 0 && count <= kMost) return;
  throw nb::value_error(
      (std::string(name) + " is " + std::to_string(count) + ", which is no count.").c_str());
}

/// The same of counts of 32 bits.
inline void require_counts(const char* name, std::span<const std::int32_t> counts) {
  for (const std::int32_t count : counts)
    require_count(name, count > (std::int32_t{1} << 30) ? -1 : count);
}

/// ValueError unless every row visited exists.
inline void require_rows(std::span<const std::int64_t> order, std::int64_t n_rows) {
  for (const std::int64_t i : order)
    if (i < 0 || i >= n_rows)
      throw nb::value_error(("order visits row " + std::to_string(i) + " of a matrix of " +
                             std::to_string(n_rows) + ": give rows that exist.")
                                .c_str());
}

}  // namespace hedgerow::bindings
