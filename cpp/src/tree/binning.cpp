#include "tree/binning.hpp"

#include <limits>
#include <utility>

namespace hedgerow {
namespace {

/// The bin of every code, what is missing being the last one.
std::vector<std::uint8_t> bins_of(const CodeColumn& column, std::size_t n_rows,
                                  std::uint32_t max_codes) {
  std::vector<std::uint64_t> counts(std::size_t{column.n_codes} + 1, 0);
  const CodeView view = column.view();
  for (std::size_t i = 0; i < n_rows; ++i) ++counts[view[i]];
  const std::uint64_t n_known = n_rows - counts.back();
  std::vector<std::uint8_t> bins;
  std::uint64_t before = 0, quantile_before = 0;
  std::uint8_t bin = 0;
  for (std::uint32_t code = 0; code < column.n_codes; ++code) {
    const std::uint64_t quantile = before * max_codes / n_known;
    bin += quantile != std::exchange(quantile_before, quantile);
    bins.push_back(bin);
    before += counts[code];
  }
  bins.push_back(bin + 1);
  return bins;
}

}  // namespace

void merge_into_bins(CodeColumn& column, std::size_t n_rows, std::uint32_t max_codes) {
  const std::vector<std::uint8_t> bins = bins_of(column, n_rows, max_codes);
  const CodeView view = column.view();
  std::vector<std::uint8_t> bytes(n_rows + kBeyond, 0);
  for (std::size_t i = 0; i < n_rows; ++i) bytes[i] = bins[view[i]];
  const std::vector<double> numbers = std::exchange(column.values, {});
  for (std::size_t first = 0, end = 0; first < numbers.size(); first = end) {
    while (end < numbers.size() && bins[end] == bins[first]) ++end;
    column.values.push_back(midpoint(numbers[first], numbers[end - 1]));
    column.upper_edges.push_back(end < numbers.size() ? midpoint(numbers[end - 1], numbers[end])
                                                      : std::numeric_limits<double>::infinity());
  }
  column.n_codes = bins.back();
  column.width = 1;
  column.bytes = std::move(bytes);
}

}  // namespace hedgerow
