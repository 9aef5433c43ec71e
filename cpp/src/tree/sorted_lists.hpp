// The rows of a node in the order of each of its features, kept in order for all nodes below: where
// most features are looked at in every node, parting lists takes less than sorting them again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/tree/codes.hpp"
#include "tree/sorting.hpp"

namespace hedgerow::tree {

/// Rows are known by their places among the items of the node that the lists were made for; these
/// places are the loads of the keys. The nodes below own the same stretch of every list as of the items.
class SortedLists {
 public:
  /// What lists may take: they stay near the processor, and no size of a table makes them large.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 23;

  static bool fit(std::size_t n_items, std::size_t n_features) {
    return n_items * n_features * sizeof(Key) <= kMostBytes;
  }

  void forget() {
    begin_ = 1;
    end_ = 0;
  }

  bool hold(std::size_t begin, std::size_t end) const { return begin_ <= begin && end <= end_; }

  /// The lists of a node that owns the items from `begin` on; view(feature) are the codes of all
  /// rows. Those of categories stay in the order of the items.
  template <class ViewOf, class Item>
  void make(std::size_t begin, std::span<const std::uint32_t> features, const ViewOf& view,
            std::span<const CodeColumn> columns, std::span<const Item> items) {
    const std::size_t n = items.size();
    begin_ = begin;
    end_ = begin + n;
    keys_.resize(features.size() * n);
    parted_.resize(n);
    is_left_.resize(n);
    starts_.resize(columns.size());
    for (std::size_t k = 0; k < features.size(); ++k) {
      starts_[features[k]] = k * n;
      const CodeView codes = view(features[k]);
      std::uint32_t high = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t code = codes[items[i].row];
        parted_[i] = make_key(code, static_cast<Load>(i));
        high = std::max(high, code);
      }
      const bool is_category = columns[features[k]].is_category;
      const std::span<const Key> list = is_category ? parted_ : sorter_.sort(parted_, 0, high);
      std::ranges::copy(list, keys_.begin() + static_cast<std::ptrdiff_t>(k * n));
    }
  }

  std::span<const Key> of(std::uint32_t feature, std::size_t begin, std::size_t end) const {
    return {&keys_[starts_[feature] + begin - begin_], end - begin};
  }

  /// Tells of the rows of a node on which side of a split by a feature they are.
  template <class IsLeft>
  void set_sides(std::uint32_t feature, std::size_t begin, std::size_t end, const IsLeft& is_left) {
    for (const Key key : of(feature, begin, end)) is_left_[load_of(key)] = is_left(code_of(key));
  }

  bool is_left(std::size_t place) const { return is_left_[place] != 0; }

  /// Brings those on the left to the front, each side in the order it had.
  void part(std::uint32_t feature, std::size_t begin, std::size_t end) {
    Key* keys = &keys_[starts_[feature] + begin - begin_];
    Key *to = keys, *right = parted_.data();
    for (const Key* key = keys; key < keys + (end - begin); ++key) {
      const Key each = *key;
      const bool left = is_left(load_of(each));
      *to = each;
      *right = each;
      to += left;
      right += !left;
    }
    std::copy(parted_.data(), right, to);
  }

 private:
  std::size_t begin_ = 1, end_ = 0;  ///< no node lies inside
  std::vector<Key> keys_, parted_;
  std::vector<std::size_t> starts_;  ///< of the list of each feature
  std::vector<std::uint8_t> is_left_;
  Sorter sorter_;
};

}  // namespace hedgerow::tree
