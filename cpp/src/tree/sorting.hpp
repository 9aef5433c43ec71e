// Keys brought into ascending order: a row's code in the high half, and below it its load, which is
// what the tally needs to know of the row.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace hedgerow::tree {

using Key = std::uint64_t;
using Load = std::uint32_t;

constexpr Key make_key(std::uint32_t code, Load load) { return Key{code} << 32 | load; }
constexpr std::uint32_t code_of(Key key) { return static_cast<std::uint32_t>(key >> 32); }
constexpr Load load_of(Key key) { return static_cast<Load>(key); }

/// Keys of equal codes stay in the order they come in. Room for sorting is kept between calls.
class Sorter {
 public:
  /// All codes lie in [low, high]. What is returned is valid until the next call.
  std::span<const Key> sort(std::span<const Key> keys, std::uint32_t low, std::uint32_t high) {
    const std::size_t n = keys.size();
    if (sorted_.size() < n) sorted_.resize(n);
    if (n <= kFew && high - low < kMostRanked)
      rank(keys, low);
    else
      by_digits(keys, low, high - low);
    return std::span(sorted_).first(n);
  }

 private:
  static constexpr std::size_t kFew = 32;
  static constexpr std::uint32_t kMostRanked = std::uint32_t{1} << 26;

  /// Every key is compared with every other, without a branch: the place of a key is how many are
  /// less. With its number in the low bits no two are equal.
  void rank(std::span<const Key> keys, std::uint32_t low) {
    constexpr std::size_t lanes = 8;
    const std::size_t n = keys.size();
    std::array<std::int32_t, kFew> small;
    small.fill(std::numeric_limits<std::int32_t>::max());
    for (std::size_t i = 0; i < n; ++i)
      small[i] = static_cast<std::int32_t>((code_of(keys[i]) - low) << 5 | i);
    for (std::size_t first = 0; first < n; first += lanes) {
      std::array<std::int32_t, lanes> places{};
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < lanes; ++k) places[k] += small[j] < small[first + k];
      const std::size_t n_here = std::min(lanes, n - first);
      for (std::size_t k = 0; k < n_here; ++k)
        sorted_[static_cast<std::size_t>(places[k])] = keys[first + k];
    }
  }

  /// From the lowest digit up, with as many digits as make the least work: a pass reads every key and
  /// every counter.
  void by_digits(std::span<const Key> keys, std::uint32_t low, std::uint32_t range) {
    const int n_bits = static_cast<int>(std::bit_width(range));
    int n_digits = 1;
    for (int n = 2; n <= 4; ++n)
      if (work(keys.size(), n_bits, n) < work(keys.size(), n_bits, n_digits)) n_digits = n;
    const int digit_bits = std::max(1, (n_bits + n_digits - 1) / n_digits);
    const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << digit_bits) - 1);
    if (n_digits > 1 && other_.size() < keys.size()) other_.resize(keys.size());
    const std::size_t n_counters = std::size_t{std::min(mask, range)} + 1;
    begins_.assign(static_cast<std::size_t>(n_digits) * n_counters, 0);
    for (const Key key : keys) {
      std::uint32_t digits = code_of(key) - low;
      std::uint32_t* counters = begins_.data();
      for (int d = 0; d < n_digits; ++d, digits >>= digit_bits, counters += n_counters)
        ++counters[digits & mask];
    }
    for (int d = 0; d < n_digits; ++d) {
      const int shift = d * digit_bits;
      std::uint32_t* begins = begins_.data() + static_cast<std::size_t>(d) * n_counters;
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < n_counters; ++k) sum += std::exchange(begins[k], sum);
      std::vector<Key>& to = (n_digits - d) % 2 == 1 ? sorted_ : other_;
      for (const Key key : keys) to[begins[((code_of(key) - low) >> shift) & mask]++] = key;
      keys = std::span(to).first(keys.size());
    }
  }

  static double work(std::size_t n, int n_bits, int n_digits) {
    constexpr double a_key = 3.0;
    const int digit_bits = (n_bits + n_digits - 1) / n_digits;
    return n_digits *
           (a_key * static_cast<double>(n) + static_cast<double>(std::uint64_t{1} << digit_bits));
  }

  std::vector<Key> sorted_, other_;
  std::vector<std::uint32_t> begins_;
};

}  // namespace hedgerow::tree
