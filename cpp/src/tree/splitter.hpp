// The search for the best split of a node by one feature. What a cut is worth is the tally's affair;
// here is which cuts there are: every place between two values of a number, a prefix of categories in
// an order, both sides for what is missing; or the one cut that a simplified rule makes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "hedgerow/random.hpp"
#include "sorting.hpp"
#include "split.hpp"

namespace hedgerow::tree {

/// Categories of a node up to which every subset is tried where no order is known to be optimal.
constexpr std::size_t kMostCategoriesTriedOut = 9;

/// The node's codes of one feature.
struct NodeCodes {
  std::vector<std::uint32_t> codes;  ///< in the order of the items
  std::uint32_t low = 0, high = 0;   ///< of those that are not missing
  std::size_t n_missing = 0;

  bool varies(std::size_t n) const { return n_missing == 0 ? low < high : n_missing < n; }
};

template <class Tally>
class FeatureSplitter {
 public:
  using Item = typename Tally::Item;

  FeatureSplitter(const TreeSettings& settings, Tally& tally, Philox& random)
      : settings_(settings), tally_(tally), random_(random) {}

  void begin_node(std::uint64_t n_rows, const Bounds& bounds, Split& best) {
    n_rows_ = n_rows;
    bounds_ = bounds;
    best_ = &best;
    n_candidates_ = 0;
    least_gain_ = kRounding * tally_.weight() * tally_.impurity();
  }

  std::int64_t n_candidates() const { return n_candidates_; }

  /// Looks at a feature that varies in the node; true if it is the best so far.
  bool search(std::uint32_t feature, const CodeColumn& column, std::span<const Item> items,
              const NodeCodes& node) {
    const double before = best_->worth;
    feature_ = feature;
    column_ = &column;
    sign_ = settings_.monotonic.empty() ? 0 : settings_.monotonic[feature];
    if (column.is_category) search_categories(items, node);
    else if (settings_.splitter != Splitter::best) search_by_rule(items, node);
    else if (node.n_missing > 0) search_with_missing(items, node);
    else if (!search_bins(items, node))
      scan_numbers(sorter_.sort(items, node.codes, node.low, node.high), {}, {}, false, false);
    return best_->worth > before;
  }

 private:
  using Sequence = std::span<const Sorted<Item>>;

  // ----------------------------------------------------------------------------------- candidates

  bool is_allowed(std::uint64_t n_left) const {
    const auto least = static_cast<std::uint64_t>(settings_.min_samples_leaf);
    if (n_left < least || n_rows_ - n_left < least) return false;
    if (settings_.min_weight_leaf > 0 && (tally_.left_weight() < settings_.min_weight_leaf ||
                                          tally_.right_weight() < settings_.min_weight_leaf))
      return false;
    return sign_ == 0 || keeps_order();
  }

  bool keeps_order() const {
    const double left = tally_.left_level(), right = tally_.right_level();
    const auto inside = [this](double level) {
      return bounds_.low <= level && level <= bounds_.high;
    };
    return (right - left) * sign_ >= 0 && inside(left) && inside(right);
  }

  /// Takes the present cut of the tally for the best if it is; true if so.
  bool take_if_best() {
    ++n_candidates_;
    const double worth = tally_.cut_worth();
    if (!(worth > best_->worth + least_gain_)) return false;
    best_->worth = worth;
    best_->feature = feature_;
    if (sign_ != 0) {
      best_->left_level = tally_.left_level();
      best_->right_level = tally_.right_level();
    }
    return true;
  }

  void set_number_cut(std::uint32_t cut, double threshold, bool missing_left, bool has_missing) {
    best_->cut = cut;
    best_->threshold = threshold;
    best_->missing_left = missing_left;
    best_->has_missing = has_missing;
    best_->goes_left.clear();
  }

  /// The middle between two codes' numbers; never the second itself.
  double middle(std::uint32_t code, std::uint32_t next) const {
    const double a = column_->values[code], b = column_->values[next];
    const double mid = a / 2 + b / 2;
    return a < mid && mid < b ? mid : a;
  }

  static std::uint64_t count_rows(std::span<const Item> items) {
    std::uint64_t n = 0;
    for (const Item& item : items) n += item.count();
    return n;
  }

  // ---------------------------------------------------------------------------------- best numbers

  /// Every cut of a sequence; where some rows are always on the right, also the one behind its end.
  void scan_numbers(Sequence sorted, std::span<const Item> left_already,
                    std::span<const Item> right_always, bool missing_left, bool has_missing) {
    tally_.template begin<Sorted<Item>>(sorted, left_already, right_always);
    std::uint64_t n_left = count_rows(left_already);
    const std::size_t n = sorted.size();
    for (std::size_t i = 0; i < n;) {
      const std::uint32_t code = sorted[i].code;
      do {
        tally_.move(sorted[i].item);
        n_left += sorted[i].item.count();
        ++i;
      } while (i < n && sorted[i].code == code);
      if (i == n && right_always.empty()) return;
      if (!is_allowed(n_left) || !take_if_best()) continue;
      const double threshold =
          i < n ? middle(code, sorted[i].code) : std::numeric_limits<double>::infinity();
      set_number_cut(code, threshold, missing_left, has_missing);
    }
  }

  void search_with_missing(std::span<const Item> items, const NodeCodes& node) {
    separate_missing(items, node);
    const Sequence sorted = sorter_.sort(present_, present_codes_, node.low, node.high);
    scan_numbers(sorted, {}, missing_, false, true);
    scan_numbers(sorted, missing_, {}, true, true);
  }

  void separate_missing(std::span<const Item> items, const NodeCodes& node) {
    present_.clear();
    present_codes_.clear();
    missing_.clear();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (node.codes[i] == column_->n_codes) {
        missing_.push_back(items[i]);
      } else {
        present_.push_back(items[i]);
        present_codes_.push_back(node.codes[i]);
      }
    }
  }

  /// Counts by code instead of sorting, where codes are few for the rows; false if they are not.
  bool search_bins(std::span<const Item> items, const NodeCodes& node) {
    if constexpr (!Tally::kHasBins) return false;
    const std::size_t width = tally_.bin_width();
    const std::size_t n_bins = std::size_t{node.high - node.low} + 1;
    if (n_bins * width > 2 * items.size()) return false;
    if (bins_.size() < n_bins * width) bins_.resize(n_bins * width);
    for (std::size_t i = 0; i < items.size(); ++i)
      tally_.add_to_bin(&bins_[(node.codes[i] - node.low) * width], items[i]);
    tally_.template begin<Sorted<Item>>({}, {}, {});
    std::uint64_t n_left = 0;
    bool is_pending = false;  // a cut was taken whose upper neighbour is not known yet
    for (std::size_t b = 0; b < n_bins; ++b) {
      auto* bin = &bins_[b * width];
      if (bin[0] == 0) continue;
      const std::uint32_t code = node.low + static_cast<std::uint32_t>(b);
      if (is_pending) best_->threshold = middle(best_->cut, code);
      is_pending = false;
      tally_.move_bin(bin);
      n_left += static_cast<std::uint64_t>(bin[0]);
      std::fill(bin, bin + width, typename Tally::Bin{0});
      if (code < node.high && is_allowed(n_left) && take_if_best()) {
        set_number_cut(code, 0.0, false, false);
        is_pending = true;
      }
    }
    return true;
  }

  // ------------------------------------------------------------------------------ simplified rules

  void search_by_rule(std::span<const Item> items, const NodeCodes& node) {
    separate_missing(items, node);
    if (node.low == node.high) {  // only what is missing differs
      const Sequence sorted = sorter_.sort(present_, present_codes_, node.low, node.high);
      return scan_numbers(sorted, {}, missing_, false, true);
    }
    const double threshold = rule_threshold(node);
    const auto& values = column_->values;
    const auto above = std::upper_bound(values.begin() + node.low, values.begin() + node.high,
                                        threshold);
    const auto cut = static_cast<std::uint32_t>(above - values.begin()) - 1;
    // Two values are left: those up to the cut, and those above it.
    for (std::uint32_t& code : present_codes_) code = code > cut;
    const Sequence sorted = sorter_.sort(present_, present_codes_, 0, 1);
    const bool has_missing = !missing_.empty();
    if (try_lower(sorted, {}, missing_)) set_number_cut(cut, threshold, false, has_missing);
    if (has_missing && try_lower(sorted, missing_, {})) set_number_cut(cut, threshold, true, true);
  }

  /// The cut between the codes 0 and 1 of a sequence; true if it is the best so far.
  bool try_lower(Sequence sorted, std::span<const Item> left_already,
                 std::span<const Item> right_always) {
    tally_.template begin<Sorted<Item>>(sorted, left_already, right_always);
    std::uint64_t n_left = count_rows(left_already);
    for (std::size_t i = 0; i < sorted.size() && sorted[i].code == 0; ++i) {
      tally_.move(sorted[i].item);
      n_left += sorted[i].item.count();
    }
    return is_allowed(n_left) && take_if_best();
  }

  /// At least the lowest number of the node and below the highest.
  double rule_threshold(const NodeCodes& node) {
    const auto& values = column_->values;
    const double low = values[node.low], high = values[node.high];
    double threshold = low;
    if (settings_.splitter == Splitter::random) {
      threshold = low + random_.uniform() * (high - low);
      if (!(threshold < high)) threshold = low;
    } else if (settings_.splitter == Splitter::mean) {
      double sum = 0, weight = 0;
      for (std::size_t i = 0; i < present_.size(); ++i) {
        const auto w = static_cast<double>(present_[i].weight());
        sum += w * (values[present_codes_[i]] - low);
        weight += w;
      }
      threshold = low + sum / weight;
    } else {
      return median_threshold(node);
    }
    return threshold < high ? std::max(threshold, low) : below_high(node);
  }

  /// The least number with at least half of the weight at or below it, or the middle to the next one
  /// where it is just half; the one before the highest where that would be the highest.
  double median_threshold(const NodeCodes& node) {
    const Sequence sorted = sorter_.sort(present_, present_codes_, node.low, node.high);
    double total = 0, sum = 0;
    for (const Item& item : present_) total += static_cast<double>(item.weight());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sum += static_cast<double>(sorted[i].item.weight());
      if (2 * sum < total) continue;
      const std::uint32_t code = sorted[i].code;
      if (code == node.high) break;
      return column_->values[code];
    }
    return below_high(node);
  }

  /// The highest number below that of the highest code in the node.
  double below_high(const NodeCodes& node) const {
    std::uint32_t best = node.low;
    for (const std::uint32_t code : present_codes_)
      if (code < node.high) best = std::max(best, code);
    return column_->values[best];
  }

  // ------------------------------------------------------------------------------------ categories

  /// The rows of one category, or those of which it is missing.
  struct Group {
    std::uint32_t code;
    std::uint64_t n_rows;
    std::size_t sums;  ///< where its sums begin
  };

  void search_categories(std::span<const Item> items, const NodeCodes& node) {
    make_groups(items, node);
    if (groups_.size() < 2) return;
    if (settings_.splitter == Splitter::random) return try_random_subset(items, node);
    // A cut that may not be made can leave the best of the others out of order.
    const bool is_in_order = tally_.order_is_optimal() && settings_.min_samples_leaf <= 1 &&
                             settings_.min_weight_leaf <= 0;
    if (!is_in_order && groups_.size() <= kMostCategoriesTriedOut)
      return try_all_subsets(items, node);
    if (!is_in_order) try_single_categories(items, node);
    for (std::size_t order = 0; order < tally_.n_orders(); ++order) try_order(order, items, node);
  }

  void make_groups(std::span<const Item> items, const NodeCodes& node) {
    const std::size_t width = tally_.group_width();
    place_of_code_.assign(std::size_t{column_->n_codes} + 1, kNone);
    groups_.clear();
    for (const std::uint32_t code : node.codes)
      if (place_of_code_[code] == kNone) {
        place_of_code_[code] = 0;
        groups_.push_back({code, 0, 0});
      }
    std::ranges::sort(groups_, {}, &Group::code);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].sums = g * width;
      place_of_code_[groups_[g].code] = static_cast<std::uint32_t>(g);
    }
    sums_.assign(groups_.size() * width, 0.0);
    for (std::size_t i = 0; i < items.size(); ++i) {
      Group& group = groups_[place_of_code_[node.codes[i]]];
      group.n_rows += items[i].count();
      tally_.add_to_group(&sums_[group.sums], items[i]);
    }
  }

  bool is_allowed_group(std::uint64_t n_left, double left_weight) const {
    const auto least = static_cast<std::uint64_t>(settings_.min_samples_leaf);
    return n_left >= least && n_rows_ - n_left >= least &&
           (settings_.min_weight_leaf <= 0 ||
            (left_weight >= settings_.min_weight_leaf &&
             tally_.weight() - left_weight >= settings_.min_weight_leaf));
  }

  /// Takes the groups that are marked as the left side, if that is best; `left` are their sums.
  void take_groups_if_best(std::uint64_t n_left, std::span<const double> left,
                           std::span<const std::uint8_t> is_left) {
    if (!is_allowed_group(n_left, tally_.group_weight(left.data()))) return;
    ++n_candidates_;
    const double worth = tally_.worth_with_left(left.data());
    if (worth > best_->worth + least_gain_) set_category_cut(worth, is_left);
  }

  void set_category_cut(double worth, std::span<const std::uint8_t> is_left) {
    best_->worth = worth;
    best_->feature = feature_;
    best_->threshold = static_cast<double>(kUndefined);
    best_->goes_left.assign(std::size_t{column_->n_codes} + 1, kAbsent);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      best_->goes_left[groups_[g].code] = is_left[g];
    best_->has_missing = best_->goes_left[column_->n_codes] != kAbsent;
    best_->missing_left = best_->goes_left[column_->n_codes] == 1;
  }

  void add_group(std::vector<double>& left, const Group& group, double sign) const {
    for (std::size_t k = 0; k < left.size(); ++k) left[k] += sign * sums_[group.sums + k];
  }

  /// All two-sided subsets, each from the one before by a single group: a Gray code.
  void try_all_subsets(std::span<const Item> items, const NodeCodes& node) {
    std::vector<double> left(tally_.group_width(), 0.0);
    std::vector<std::uint8_t> is_left(groups_.size(), 0);
    std::uint64_t n_left = 0;
    const std::uint32_t n_subsets = 1u << (groups_.size() - 1);  // the last group stays right
    for (std::uint32_t step = 1; step < n_subsets; ++step) {
      const auto g = static_cast<std::size_t>(std::countr_zero(step));
      is_left[g] ^= 1;
      add_group(left, groups_[g], is_left[g] ? 1.0 : -1.0);
      n_left += is_left[g] ? groups_[g].n_rows : std::uint64_t{0} - groups_[g].n_rows;
      if constexpr (Tally::kScoresGroups) take_groups_if_best(n_left, left, is_left);
      else try_sides(items, node, is_left);
    }
  }

  void try_single_categories(std::span<const Item> items, const NodeCodes& node) {
    std::vector<std::uint8_t> is_left(groups_.size(), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto sums = std::span<const double>(sums_).subspan(groups_[g].sums, tally_.group_width());
      is_left[g] = 1;
      if constexpr (Tally::kScoresGroups) take_groups_if_best(groups_[g].n_rows, sums, is_left);
      else try_sides(items, node, is_left);
      is_left[g] = 0;
    }
  }

  /// One way to part the categories, for tallies that must see the rows.
  void try_sides(std::span<const Item> items, const NodeCodes& node,
                 std::span<const std::uint8_t> is_left) {
    std::vector<std::uint32_t> sides(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
      sides[i] = is_left[place_of_code_[node.codes[i]]] ? 0 : 1;
    const Sequence sorted = sorter_.sort(items, sides, 0, 1);
    if (try_lower(sorted, {}, {})) set_category_cut(best_->worth, is_left);
  }

  /// Every prefix of the categories in an order.
  void try_order(std::size_t order, std::span<const Item> items, const NodeCodes& node) {
    std::vector<std::size_t> sequence(groups_.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::vector<double> places(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
      places[g] = tally_.place(&sums_[groups_[g].sums], order);
    std::ranges::stable_sort(sequence, {}, [&](std::size_t g) { return places[g]; });
    if constexpr (Tally::kScoresGroups) {
      std::vector<double> left(tally_.group_width(), 0.0);
      std::vector<std::uint8_t> is_left(groups_.size(), 0);
      std::uint64_t n_left = 0;
      for (std::size_t s = 0; s + 1 < sequence.size(); ++s) {
        const Group& group = groups_[sequence[s]];
        add_group(left, group, 1.0);
        is_left[sequence[s]] = 1;
        n_left += group.n_rows;
        take_groups_if_best(n_left, left, is_left);
      }
    } else {
      scan_order(sequence, items, node);
    }
  }

  /// The same for tallies that must see the rows.
  void scan_order(std::span<const std::size_t> sequence, std::span<const Item> items,
                  const NodeCodes& node) {
    std::vector<std::uint32_t> rank(groups_.size());
    for (std::size_t s = 0; s < sequence.size(); ++s)
      rank[sequence[s]] = static_cast<std::uint32_t>(s);
    std::vector<std::uint32_t> ranks(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) ranks[i] = rank[place_of_code_[node.codes[i]]];
    const Sequence sorted =
        sorter_.sort(items, ranks, 0, static_cast<std::uint32_t>(groups_.size()) - 1);
    tally_.template begin<Sorted<Item>>(sorted, {}, {});
    std::vector<std::uint8_t> is_left(groups_.size(), 0);
    std::uint64_t n_left = 0;
    for (std::size_t i = 0; i < sorted.size();) {
      const std::uint32_t code = sorted[i].code;
      is_left[sequence[code]] = 1;
      for (; i < sorted.size() && sorted[i].code == code; ++i) {
        tally_.move(sorted[i].item);
        n_left += sorted[i].item.count();
      }
      if (i < sorted.size() && is_allowed(n_left) && take_if_best())
        set_category_cut(best_->worth, is_left);
    }
  }

  void try_random_subset(std::span<const Item> items, const NodeCodes& node) {
    std::vector<std::int64_t> shuffled(groups_.size());
    std::iota(shuffled.begin(), shuffled.end(), std::int64_t{0});
    random_.shuffle(shuffled);
    const std::size_t n_left_groups = 1 + random_.below(groups_.size() - 1);
    std::vector<std::uint8_t> is_left(groups_.size(), 0);
    for (std::size_t s = 0; s < n_left_groups; ++s)
      is_left[static_cast<std::size_t>(shuffled[s])] = 1;
    try_sides(items, node, is_left);
  }

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  /// By so much of the node's impurity a split must be better than an earlier one: of equal ones the
  /// first is taken, however their sums were rounded.
  static constexpr double kRounding = 1e-12;

  const TreeSettings& settings_;
  Tally& tally_;
  Philox& random_;
  Sorter<Item> sorter_;
  Split* best_ = nullptr;
  const CodeColumn* column_ = nullptr;
  std::uint32_t feature_ = 0;
  int sign_ = 0;
  std::uint64_t n_rows_ = 0;
  Bounds bounds_;
  std::int64_t n_candidates_ = 0;
  double least_gain_ = 0;
  std::vector<typename Tally::Bin> bins_;
  std::vector<Item> present_, missing_;
  std::vector<std::uint32_t> present_codes_;
  std::vector<Group> groups_;
  std::vector<double> sums_;
  std::vector<std::uint32_t> place_of_code_;
};

}  // namespace hedgerow::tree
