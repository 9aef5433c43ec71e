// The search for the best split of a node by a feature of categories: a prefix of them in an order, every
// subset of a few, or one at random.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tree/best_cut.hpp"
#include "hedgerow/system/random.hpp"
#include "tree/items.hpp"
#include "tree/sorting.hpp"

namespace hedgerow::tree {

/// Categories of a node up to which every subset is tried where no order is known to be optimal.
constexpr std::size_t kMostCategoriesTriedOut = 9;

template <class Tally>
class CategorySplitter {
 public:
  using Item = typename Tally::Item;
  using Bin = typename Tally::Bin;

  CategorySplitter(Tally& tally, BestCut<Tally>& cuts, Sorter& sorter, Philox& random)
      : tally_(tally), cuts_(cuts), sorter_(sorter), random_(random) {}

  /// `keys` are those of the items; the code after all others is that of what is missing.
  void search(std::span<const Item> items, std::span<const Key> keys, std::uint32_t n_codes,
              bool at_random) {
    keys_ = keys;
    make_groups(items, n_codes);
    if (at_random)
      try_random_subset();
    else
      try_groups();
  }

  /// The same by counts of all codes; false if only one of them is there.
  bool search_bins(std::span<const Bin> bins, std::uint32_t n_codes) {
    make_groups_of_bins(bins, n_codes);
    if (groups_.size() < 2) return false;
    try_groups();
    return true;
  }

 private:
  /// The rows of one category, or those of which it is missing.
  struct Group {
    std::uint32_t code;
    std::uint64_t n_rows;
    std::size_t sums;  ///< where its sums begin
  };

  void try_groups() {
    // A cut that may not be made can leave the best of the others out of order.
    const bool is_in_order = tally_.order_is_optimal() && cuts_.has_no_least();
    if (!is_in_order && groups_.size() <= kMostCategoriesTriedOut) return try_all_subsets();
    if (!is_in_order) try_single_categories();
    for (std::size_t order = 0; order < tally_.n_orders(); ++order) try_order(order);
  }

  void make_groups(std::span<const Item> items, std::uint32_t n_codes) {
    const std::size_t width = tally_.group_width();
    place_of_code_.assign(std::size_t{n_codes} + 1, kNone);
    groups_.clear();
    sums_.clear();
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::uint32_t& place = place_of_code_[code_of(keys_[i])];
      if (place == kNone) {
        place = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({code_of(keys_[i]), 0, sums_.size()});
        sums_.resize(sums_.size() + width, 0.0);
      }
      groups_[place].n_rows += items[i].count();
      tally_.add_to_group(&sums_[groups_[place].sums], items[i]);
    }
    std::ranges::sort(groups_, {}, &Group::code);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      place_of_code_[groups_[g].code] = static_cast<std::uint32_t>(g);
    left_.assign(width, 0.0);
    is_left_.assign(groups_.size(), 0);
  }

  void make_groups_of_bins(std::span<const Bin> bins, std::uint32_t n_codes) {
    const std::size_t width = tally_.group_width();
    groups_.clear();
    sums_.clear();
    for (std::uint32_t code = 0; code <= n_codes; ++code) {
      const auto bin = bins.subspan(code * tally_.bin_width(), tally_.bin_width());
      if (!has_rows(bin)) continue;
      sums_.resize(sums_.size() + width);
      const std::size_t begin = sums_.size() - width;
      groups_.push_back({code, tally_.read_bin(bin.data(), &sums_[begin]), begin});
    }
    left_.assign(width, 0.0);
    is_left_.assign(groups_.size(), 0);
  }

  /// Takes the groups that are marked as the left side, if that is best; `left` are their sums.
  void take_if_best(std::uint64_t n_left, std::span<const double> left) {
    if (cuts_.take_groups_if_best(n_left, left.data())) set_cut();
  }

  void set_cut() {
    cuts_.set_category_cut([this](std::vector<std::uint8_t>& goes_left) {
      for (std::size_t g = 0; g < groups_.size(); ++g) goes_left[groups_[g].code] = is_left_[g];
    });
  }

  /// Brings a group to the left side, or back.
  void move_group(std::size_t g) {
    is_left_[g] ^= 1;
    const double sign = is_left_[g] ? 1.0 : -1.0;
    for (std::size_t k = 0; k < left_.size(); ++k) left_[k] += sign * sums_[groups_[g].sums + k];
  }

  /// All two-sided subsets, each from the one before by a single group: a Gray code.
  void try_all_subsets() {
    std::uint64_t n_left = 0;
    const std::uint32_t n_subsets = 1u << (groups_.size() - 1);  // the last group stays right
    for (std::uint32_t step = 1; step < n_subsets; ++step) {
      const auto g = static_cast<std::size_t>(std::countr_zero(step));
      move_group(g);
      n_left += is_left_[g] ? groups_[g].n_rows : std::uint64_t{0} - groups_[g].n_rows;
      if constexpr (Tally::kScoresGroups)
        take_if_best(n_left, left_);
      else
        try_sides();
    }
  }

  void try_single_categories() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto sums = std::span<const double>(sums_).subspan(groups_[g].sums, left_.size());
      is_left_[g] = 1;
      if constexpr (Tally::kScoresGroups)
        take_if_best(groups_[g].n_rows, sums);
      else
        try_sides();
      is_left_[g] = 0;
    }
  }

  /// The keys of the node in the order of other codes, each made of the one there is.
  template <class CodeOf>
  std::span<const Key> sorted_by(const CodeOf& new_code, std::uint32_t highest) {
    recoded_.resize(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i)
      recoded_[i] = make_key(new_code(code_of(keys_[i])), load_of(keys_[i]));
    return sorter_.sort(recoded_, 0, highest);
  }

  /// One way to part the categories, for tallies that must see the rows.
  void try_sides() {
    const auto side = [&](std::uint32_t code) { return is_left_[place_of_code_[code]] ? 0u : 1u; };
    if (cuts_.try_lower(sorted_by(side, 1), {}, {})) set_cut();
  }

  /// Every prefix of the categories in an order.
  void try_order(std::size_t order) {
    ordered_.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g)
      ordered_.emplace_back(tally_.place(&sums_[groups_[g].sums], order), g);
    std::ranges::sort(ordered_);
    std::ranges::fill(left_, 0.0);
    std::ranges::fill(is_left_, 0);
    if constexpr (!Tally::kScoresGroups) return scan_order();
    std::uint64_t n_left = 0;
    for (std::size_t s = 0; s + 1 < ordered_.size(); ++s) {
      const std::size_t g = ordered_[s].second;
      move_group(g);
      n_left += groups_[g].n_rows;
      take_if_best(n_left, left_);
    }
  }

  /// The same for tallies that must see the rows.
  void scan_order() {
    std::vector<std::uint32_t> rank(groups_.size());
    for (std::size_t s = 0; s < ordered_.size(); ++s)
      rank[ordered_[s].second] = static_cast<std::uint32_t>(s);
    const std::span<const Key> sorted =
        sorted_by([&](std::uint32_t code) { return rank[place_of_code_[code]]; },
                  static_cast<std::uint32_t>(groups_.size()) - 1);
    typename Tally::Scan scan = tally_.scan(sorted, {}, {});
    std::uint64_t n_left = 0;
    for (std::size_t i = 0; i < sorted.size();) {
      const std::uint32_t code = code_of(sorted[i]);
      is_left_[ordered_[code].second] = 1;
      for (; i < sorted.size() && code_of(sorted[i]) == code; ++i) {
        scan.move(load_of(sorted[i]));
        n_left += tally_.count(load_of(sorted[i]));
      }
      if (i < sorted.size() && cuts_.take_if_best(scan, n_left)) set_cut();
    }
  }

  void try_random_subset() {
    std::vector<std::int64_t> shuffled(groups_.size());
    std::iota(shuffled.begin(), shuffled.end(), std::int64_t{0});
    random_.shuffle(shuffled);
    const std::size_t n_left_groups = 1 + random_.below(groups_.size() - 1);
    for (std::size_t s = 0; s < n_left_groups; ++s)
      is_left_[static_cast<std::size_t>(shuffled[s])] = 1;
    try_sides();
  }

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  Tally& tally_;
  BestCut<Tally>& cuts_;
  Sorter& sorter_;
  Philox& random_;
  std::span<const Key> keys_;
  std::vector<Key> recoded_;
  std::vector<Group> groups_;
  std::vector<double> sums_, left_;                      ///< of each group; of those on the left
  std::vector<std::uint8_t> is_left_;                    ///< of each group
  std::vector<std::pair<double, std::size_t>> ordered_;  ///< groups, by their places in an order
  std::vector<std::uint32_t> place_of_code_;
};

}  // namespace hedgerow::tree
