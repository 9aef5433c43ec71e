// The features of a table as codes, each encoded once: a number's place among the distinct numbers
// of its feature, or a category. Everything that grows a tree compares codes, not numbers, which is
// exact and takes a quarter to an eighth of the memory. A feature can also be binned: a code then stands
// for an interval of numbers. Codes are kept twice: by columns, which large nodes read, and by rows, which
// lie together for the small ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "hedgerow/data/matrix.hpp"

namespace hedgerow {

/// Codes that lie a stride apart, each in the low bytes of four that can be read.
struct CodeView {
  const std::uint8_t* first = nullptr;
  std::size_t stride = 1;
  std::uint32_t mask = 0;

  std::uint32_t operator[](std::size_t row) const {
    std::uint32_t code;
    std::memcpy(&code, first + row * stride, sizeof(code));
    return code & mask;
  }
};

/// One feature. Codes are 0 ... n_codes - 1 and, for what is missing, n_codes.
struct CodeColumn {
  std::vector<std::uint8_t> bytes;  ///< codes of `width` bytes each, and some more bytes
  std::uint8_t width = 1;           ///< 1, 2 or 4
  std::uint32_t n_codes = 0;
  bool is_category = false;
  bool has_missing = false;
  std::vector<double> values;  ///< the number behind each code, ascending; empty for categories
  std::vector<double>
      upper_edges;  ///< of a binned feature, where each bin ends; the last is infinity

  std::uint32_t mask() const { return 0xFFFFFFFFu >> (32 - 8 * width); }
  CodeView view() const { return {bytes.data(), width, mask()}; }
};

/// The middle between two numbers, the first being smaller; never the second itself.
inline double midpoint(double a, double b) {
  const double mid = a / 2 + b / 2;
  return a < mid && mid < b ? mid : a;
}

/// A column of numbers, of which NaN is missing, or of categories, of which -1 is.
using RawColumn =
    std::variant<std::span<const float>, std::span<const double>, std::span<const std::int32_t>>;

struct CodeTable {
  std::int64_t n_rows = 0;
  std::vector<CodeColumn> columns;
  bool is_single = true;  ///< whether all numbers came in single precision

  std::vector<std::uint8_t> rows;  ///< the same codes row by row; empty if they would be too many
  std::size_t row_stride = 0;
  std::vector<std::size_t> offsets;  ///< of each feature in a row
  CodeView view_by_rows(std::size_t feature) const {
    return {rows.data() + offsets[feature], row_stride, columns[feature].mask()};
  }

  std::int64_t n_features() const { return static_cast<std::int64_t>(columns.size()); }
  std::int64_t n_bytes() const;
};

/// The most codes that a feature of numbers may have, if it is not to have one for each number.
constexpr std::uint32_t kExact = 0xFFFFFFFFu;
constexpr std::uint32_t kMostBins = 255;

/// Every column is of numbers. Features of more distinct numbers than `max_codes` are binned: bins end at
/// quantiles, so that each holds about as many rows as any other.
CodeTable encode(const Matrix& matrix, int n_threads, std::uint32_t max_codes = kExact);

/// n_categories is read for the columns of categories, which must be below it; they are never binned.
CodeTable encode(std::span<const RawColumn> columns, std::span<const std::int64_t> n_categories,
                 std::int64_t n_rows, int n_threads, std::uint32_t max_codes = kExact);

/// Copies the codes of all columns into rows, unless they are few or would be too many.
void lay_out_by_rows(CodeTable& table, int n_threads);

/// Bytes that a view may read beyond the last code of a column.
constexpr std::size_t kBeyond = 4;

}  // namespace hedgerow
