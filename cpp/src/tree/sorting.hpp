// Items brought into the order of their codes, equal codes in the order they came in.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hedgerow::tree {

template <class Item>
struct Sorted {
  std::uint32_t code;
  Item item;
};

/// Room for sorting, kept from one call to the next.
template <class Item>
class Sorter {
 public:
  /// codes[i] belongs to items[i] and lies in [low, high]. Valid until the next call.
  std::span<const Sorted<Item>> sort(std::span<const Item> items,
                                     std::span<const std::uint32_t> codes, std::uint32_t low,
                                     std::uint32_t high) {
    const std::size_t n = items.size();
    if (sorted_.size() < n) sorted_.resize(n);
    const std::size_t n_values = std::size_t{high - low} + 1;
    if (n <= kFew) insert(items, codes);
    else if (n_values <= 2 * n || n_values <= 256) count(items, codes, low, n_values);
    else by_digits(items, codes, low, n_values);
    return std::span(sorted_).first(n);
  }

 private:
  static constexpr std::size_t kFew = 24;

  void insert(std::span<const Item> items, std::span<const std::uint32_t> codes) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::size_t j = i;
      for (; j > 0 && sorted_[j - 1].code > codes[i]; --j) sorted_[j] = sorted_[j - 1];
      sorted_[j] = {codes[i], items[i]};
    }
  }

  void count(std::span<const Item> items, std::span<const std::uint32_t> codes, std::uint32_t low,
             std::size_t n_values) {
    begins_.assign(n_values, 0);
    for (const std::uint32_t code : codes) ++begins_[code - low];
    std::uint32_t sum = 0;
    for (std::uint32_t& begin : begins_) sum += std::exchange(begin, sum);
    for (std::size_t i = 0; i < items.size(); ++i)
      sorted_[begins_[codes[i] - low]++] = {codes[i], items[i]};
  }

  /// From the lowest byte up. Two bytes at a time would need more counters than items.
  void by_digits(std::span<const Item> items, std::span<const std::uint32_t> codes,
                 std::uint32_t low, std::size_t n_values) {
    const std::size_t n = items.size();
    if (other_.size() < n) other_.resize(n);
    const int n_digits = (static_cast<int>(std::bit_width(n_values - 1)) + 7) / 8;
    std::array<std::array<std::uint32_t, 256>, 4> begins{};
    for (const std::uint32_t code : codes)
      for (int d = 0; d < n_digits; ++d)
        ++begins[static_cast<std::size_t>(d)][((code - low) >> (8 * d)) & 255];
    for (int d = 0; d < n_digits; ++d) {
      std::uint32_t sum = 0;
      for (std::uint32_t& begin : begins[static_cast<std::size_t>(d)])
        sum += std::exchange(begin, sum);
    }
    for (std::size_t i = 0; i < n; ++i)
      other_[begins[0][(codes[i] - low) & 255]++] = {codes[i], items[i]};
    for (int d = 1; d < n_digits; ++d) {
      for (std::size_t i = 0; i < n; ++i) {
        const Sorted<Item>& each = other_[i];
        sorted_[begins[static_cast<std::size_t>(d)][((each.code - low) >> (8 * d)) & 255]++] = each;
      }
      sorted_.swap(other_);
    }
    sorted_.swap(other_);
    if (sorted_.size() < n) sorted_.resize(n);
  }

  std::vector<Sorted<Item>> sorted_, other_;
  std::vector<std::uint32_t> begins_;
};

}  // namespace hedgerow::tree
