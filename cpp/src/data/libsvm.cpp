#include "hedgerow/data/libsvm.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kLinesBetweenChecks = 4096;

/// What Python's bytes.split() cuts at.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Takes the next token off the text; empty if there is none.
std::string_view next_token(std::string_view& text) {
  const char* end = text.data() + text.size();
  const char* first = text.data();
  while (first != end && is_space(*first)) ++first;
  const char* last = first;
  while (last != end && !is_space(*last)) ++last;
  text = {last, static_cast<std::size_t>(end - last)};
  return {first, static_cast<std::size_t>(last - first)};
}

/// Whether a number that is out of range is so for being too small.
bool vanishes(std::string_view number) {
  const std::size_t exponent = number.find_first_of("eE");
  if (exponent == std::string_view::npos) return number.front() == '0' || number.front() == '.';
  return number.substr(exponent + 1).starts_with('-');
}

/// Whether all of the token is a finite number, which is then written.
bool read_number(std::string_view token, double& number) {
  if (token.starts_with('+')) {
    token.remove_prefix(1);
    if (token.starts_with('-')) return false;
  }
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, number);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc()) return std::isfinite(number);
  const bool negative = token.starts_with('-');
  number = negative ? -0.0 : 0.0;
  return vanishes(token.substr(negative));
}

/// Appends an index:value pair, or passes over a query number; false if it is neither.
bool read_pair(std::string_view token, LibsvmRows& rows) {
  std::int32_t index = 0;
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc() || token.front() == '-')
    return token == "qid" || token.starts_with("qid:");
  if (stop == end || *stop != ':' || index == std::numeric_limits<std::int32_t>::max())
    return false;
  double value;
  if (!read_number({stop + 1, static_cast<std::size_t>(end - stop - 1)}, value)) return false;
  if (static_cast<std::int32_t>(rows.indices.size()) > rows.begins.back() &&
      rows.indices.back() >= index)
    return false;
  rows.indices.push_back(index);
  rows.values.push_back(value);
  return true;
}

/// Appends the row of a line, if it has one; false if it cannot be understood.
bool read_line(std::string_view line, LibsvmRows& rows) {
  line = line.substr(0, line.find('#'));
  std::string_view token = next_token(line);
  if (token.empty()) return true;
  double label;
  if (!read_number(token, label)) return false;
  while (!(token = next_token(line)).empty())
    if (!read_pair(token, rows)) return false;
  rows.labels.push_back(label);
  rows.begins.push_back(static_cast<std::int32_t>(rows.indices.size()));
  return true;
}

}  // namespace

LibsvmRows parse_libsvm(std::string_view text) {
  LibsvmRows rows;
  const auto most_values = static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
  rows.values.reserve(most_values);
  rows.indices.reserve(most_values);
  rows.begins.push_back(0);
  while (!text.empty()) {
    if (rows.n_lines % kLinesBetweenChecks == 0) check_stop();
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!read_line(text.substr(0, end), rows)) {
      rows.is_whole = false;
      break;
    }
    ++rows.n_lines;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

}  // namespace hedgerow
