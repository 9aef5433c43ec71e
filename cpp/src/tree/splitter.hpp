// The search for the best split of a node by one feature. What a cut is worth is the tally's affair;
// here is which cuts there are: every place between two values of a number, a prefix of categories in
// an order, both sides for what is missing; or the one cut that a simplified rule makes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "hedgerow/random.hpp"
#include "items.hpp"
#include "sorting.hpp"
#include "split.hpp"

namespace hedgerow::tree {

/// Categories of a node up to which every subset is tried where no order is known to be optimal.
constexpr std::size_t kMostCategoriesTriedOut = 9;

/// The node's codes of one feature.
struct NodeCodes {
  std::vector<Key> keys;            ///< in the order of the items
  std::uint32_t low = 0, high = 0;  ///< of those that are not missing
  std::size_t n_missing = 0;

  std::uint32_t operator[](std::size_t i) const { return code_of(keys[i]); }
  bool varies() const { return n_missing == 0 ? low < high : n_missing < keys.size(); }
};

template <class Tally>
class FeatureSplitter {
  using Sequence = std::span<const Key>;

 public:
  using Item = typename Tally::Item;

  FeatureSplitter(const TreeSettings& settings, Tally& tally, Philox& random)
      : settings_(settings), tally_(tally), random_(random) {}

  void begin_node(std::span<const Item> items, const Bounds& bounds, Split& best) {
    items_ = items;
    bounds_ = bounds;
    best_ = &best;
    n_candidates_ = 0;
    const double to_gain = tally_.weight() * tally_.impurity();
    least_gain_ = kRounding * to_gain;
    most_worth_ = tally_.worth() + to_gain;
  }

  std::int64_t n_candidates() const { return n_candidates_; }

  /// Whether both sides of the best split are pure: no other can be better.
  bool is_perfect() const { return best_->worth + 2 * least_gain_ >= most_worth_; }

  /// Looks for a split by a feature; false if it does not vary in the node.
  bool search(std::uint32_t feature, const CodeColumn& column, const CodeView& view) {
    set_feature(feature, column);
    if constexpr (kHasBins)
      if (settings_.splitter == Splitter::best &&
          (std::size_t{column.n_codes} + 1) * tally_.bin_width() <= items_.size())
        return search_all_bins(view);
    set_codes([&](std::size_t i) {
      return make_key(view[items_[i].row], tally_.load(items_[i], i));
    });
    if (!node_.varies()) return false;
    if (column.is_category) search_categories();
    else if (settings_.splitter != Splitter::best) search_by_rule();
    else if (node_.n_missing > 0) search_with_missing();
    else if (!search_bins()) search_sorted();
    return true;
  }

  /// The same by a list: the keys of numbers in order, those of what is missing at the end; of
  /// categories, the keys of the items.
  bool search_list(std::uint32_t feature, const CodeColumn& column, Sequence sorted) {
    set_feature(feature, column);
    if (column.is_category) {
      set_codes([sorted](std::size_t i) { return sorted[i]; });
      if (!node_.varies()) return false;
      search_categories();
      return true;
    }
    if (code_of(sorted.front()) == code_of(sorted.back())) return false;
    if (code_of(sorted.back()) < column.n_codes) {
      scan_numbers(sorted, {}, {}, false, false);
      return true;
    }
    const auto first_missing = std::ranges::lower_bound(sorted, make_key(column.n_codes, 0));
    const Sequence present(sorted.begin(), first_missing);
    missing_.clear();
    for (const Key key : sorted.subspan(present.size())) missing_.push_back(load_of(key));
    scan_both_ways(present);
    return true;
  }

 private:
  using Scan = typename Tally::Scan;
  using Bin = typename Tally::Bin;
  static constexpr bool kHasBins = !std::is_same_v<Bin, NoBin>;

  void set_feature(std::uint32_t feature, const CodeColumn& column) {
    feature_ = feature;
    column_ = &column;
    sign_ = settings_.monotonic.empty() ? 0 : settings_.monotonic[feature];
  }

  // ---------------------------------------------------------------------------------------- codes

  template <class KeyOf>
  void set_codes(const KeyOf& key_of_item) {
    node_.keys.resize(items_.size());
    Key* keys = node_.keys.data();
    std::uint32_t low = std::numeric_limits<std::uint32_t>::max(), high = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      keys[i] = key_of_item(i);
      const std::uint32_t code = code_of(keys[i]);
      low = std::min(low, code);
      high = std::max(high, code);
    }
    node_.n_missing = 0;
    if (high == column_->n_codes) leave_out_missing(low, high);
    node_.low = low;
    node_.high = high;
  }

  void leave_out_missing(std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t missing = column_->n_codes;
    high = 0;
    for (const Key key : node_.keys) {
      node_.n_missing += code_of(key) == missing;
      if (code_of(key) != missing) high = std::max(high, code_of(key));
    }
    if (node_.n_missing == node_.keys.size()) low = high = 0;
  }

  /// Keys of the rows that have a number, and loads of those that have none.
  void separate_missing() {
    keys_.clear();
    missing_.clear();
    for (const Key key : node_.keys) {
      if (code_of(key) == column_->n_codes) missing_.push_back(load_of(key));
      else keys_.push_back(key);
    }
  }

  /// Keys with other codes, each made of the one there is.
  template <class CodeOf>
  void make_keys(const CodeOf& new_code) {
    keys_.resize(node_.keys.size());
    for (std::size_t i = 0; i < keys_.size(); ++i)
      keys_[i] = make_key(new_code(node_[i]), load_of(node_.keys[i]));
  }

  // ----------------------------------------------------------------------------------- candidates

  /// Whether a cut with a row on either side may be made, whatever is on these.
  bool is_free() const {
    return settings_.min_samples_leaf <= 1 && settings_.min_weight_leaf <= 0 && sign_ == 0;
  }

  bool is_allowed(const Scan& scan, std::uint64_t n_left) const {
    const auto least = static_cast<std::uint64_t>(settings_.min_samples_leaf);
    if (n_left < least || tally_.n_rows() - n_left < least) return false;
    if (settings_.min_weight_leaf > 0 && (scan.left_weight() < settings_.min_weight_leaf ||
                                          scan.right_weight() < settings_.min_weight_leaf))
      return false;
    return sign_ == 0 || keeps_order(scan);
  }

  bool keeps_order(const Scan& scan) const {
    const double left = scan.left_level(), right = scan.right_level();
    const auto inside = [this](double level) {
      return bounds_.low <= level && level <= bounds_.high;
    };
    return (right - left) * sign_ >= 0 && inside(left) && inside(right);
  }

  /// Whether a cut must be taken for the best so far.
  bool is_best(const Scan& scan) const { return scan.is_better_than(best_->worth + least_gain_); }

  void take(const Scan& scan) {
    best_->worth = scan.worth();
    best_->feature = feature_;
    best_->is_heavier_left = scan.left_weight() > scan.right_weight();
    if (sign_ != 0) {
      best_->left_level = scan.left_level();
      best_->right_level = scan.right_level();
    }
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

  std::uint64_t count_rows(std::span<const Load> loads) const {
    std::uint64_t n = 0;
    for (const Load load : loads) n += tally_.count(load);
    return n;
  }

  // ---------------------------------------------------------------------------------- best numbers

  void search_sorted() {
    scan_numbers(sorter_.sort(node_.keys, node_.low, node_.high), {}, {}, false, false);
  }

  void search_with_missing() {
    separate_missing();
    scan_both_ways(sorter_.sort(keys_, node_.low, node_.high));
  }

  /// With what is missing on the right, and on the left.
  void scan_both_ways(Sequence sorted) {
    scan_numbers(sorted, {}, missing_, false, true);
    scan_numbers(sorted, missing_, {}, true, true);
  }

  void scan_numbers(Sequence sorted, std::span<const Load> left_already,
                    std::span<const Load> right_always, bool missing_left, bool has_missing) {
    if (is_free())
      scan_cuts<true>(sorted, left_already, right_always, missing_left, has_missing);
    else
      scan_cuts<false>(sorted, left_already, right_always, missing_left, has_missing);
  }

  /// Every cut of a sequence; where some rows are always on the right, also the one behind its end.
  template <bool is_free>
  void scan_cuts(Sequence sorted, std::span<const Load> left_already,
                 std::span<const Load> right_always, bool missing_left, bool has_missing) {
    Scan scan = tally_.scan(sorted, left_already, right_always);
    [[maybe_unused]] std::uint64_t n_left = is_free ? 0 : count_rows(left_already);
    const std::size_t n = sorted.size();
    std::int64_t n_cuts = 0;
    for (std::size_t i = 0; i < n;) {
      const std::uint32_t code = code_of(sorted[i]);
      do {
        scan.move(load_of(sorted[i]));
        if constexpr (!is_free) n_left += tally_.count(load_of(sorted[i]));
        ++i;
      } while (i < n && code_of(sorted[i]) == code);
      if (i == n && right_always.empty()) break;
      if constexpr (!is_free)
        if (!is_allowed(scan, n_left)) continue;
      ++n_cuts;
      if (!is_best(scan)) continue;
      take(scan);
      const double threshold =
          i < n ? middle(code, code_of(sorted[i])) : std::numeric_limits<double>::infinity();
      set_number_cut(code, threshold, missing_left, has_missing);
    }
    n_candidates_ += n_cuts;
  }

  // ----------------------------------------------------------------------------------------- bins

  /// Counts by code instead of sorting, where codes are few for the rows; false if they are not.
  bool search_bins() {
    if constexpr (kHasBins) {
      const std::size_t width = tally_.bin_width();
      const std::size_t n_bins = std::size_t{node_.high - node_.low} + 1;
      if (n_bins * width > 2 * items_.size()) return false;
      if (bins_.size() < n_bins * width) bins_.resize(n_bins * width);
      for (std::size_t i = 0; i < items_.size(); ++i)
        tally_.add_to_bin(&bins_[(node_[i] - node_.low) * width], items_[i], i);
      scan_bins(node_.low, n_bins, nullptr, false);
      std::fill_n(bins_.begin(), n_bins * width, Bin{0});
      return true;
    } else {
      return false;
    }
  }

  /// The same for all codes of the feature, what is missing being one more; no code is looked at
  /// twice. False if the feature does not vary.
  bool search_all_bins(const CodeView& view) {
    const std::size_t width = tally_.bin_width(), n_codes = column_->n_codes;
    const std::size_t size = (n_codes + 1) * width;
    fill_bins(view, size);
    bool varies = false;
    if (column_->is_category) {
      make_groups_of_bins();
      varies = groups_.size() > 1;
      if (varies) try_groups();
    } else {
      const Bin* missing = &bins_[n_codes * width];
      varies = scan_bins(0, n_codes, missing, false);
      if (varies && has_rows(missing)) scan_bins(0, n_codes, missing, true);
    }
    std::fill_n(bins_.begin(), size, Bin{0});
    return varies;
  }

  /// Rows go into two sets of bins in turn: one that has the same code as the row before need not
  /// wait for it.
  void fill_bins(const CodeView& view, std::size_t size) {
    if (bins_.size() < 2 * size) bins_.resize(2 * size);
    const std::size_t width = tally_.bin_width(), n = items_.size();
    Bin *first = bins_.data(), *second = bins_.data() + size;
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      tally_.add_to_bin(first + view[items_[i].row] * width, items_[i], i);
      tally_.add_to_bin(second + view[items_[i + 1].row] * width, items_[i + 1], i + 1);
    }
    if (n % 2 == 1) tally_.add_to_bin(first + view[items_[n - 1].row] * width, items_[n - 1], n - 1);
    for (std::size_t k = 0; k < size; ++k) first[k] += std::exchange(second[k], Bin{0});
  }

  bool has_rows(const Bin* bin) const {
    return std::any_of(bin, bin + tally_.bin_width(), [](auto entry) { return entry != 0; });
  }

  /// Every cut between bins, the first being that of the code `low`; `missing` is a bin of its own, or
  /// nullptr. Returns whether rows are in more than one.
  bool scan_bins(std::uint32_t low, std::size_t n_bins, const Bin* missing, bool missing_left) {
    Scan scan = tally_.scan({}, {}, {});
    const bool has_missing = missing != nullptr && has_rows(missing);
    const bool is_free = this->is_free();
    std::uint64_t n_left = missing_left ? scan.move_bin(missing) : 0;
    const std::uint64_t n_all = tally_.n_rows();
    bool is_pending = false;  // a cut was taken whose upper neighbour is not known yet
    bool varies = false;
    for (std::size_t b = 0; b < n_bins && n_left < n_all; ++b) {
      const std::uint64_t n_here = scan.move_bin(&bins_[b * tally_.bin_width()]);
      if (n_here == 0) continue;
      const std::uint32_t code = low + static_cast<std::uint32_t>(b);
      if (is_pending) best_->threshold = middle(best_->cut, code);
      is_pending = false;
      n_left += n_here;
      if (n_left == n_all) break;
      varies = true;
      if (!is_free && !is_allowed(scan, n_left)) continue;
      ++n_candidates_;
      if (!is_best(scan)) continue;
      take(scan);
      set_number_cut(code, std::numeric_limits<double>::infinity(), missing_left, has_missing);
      is_pending = true;
    }
    return varies;
  }

  // ------------------------------------------------------------------------------ simplified rules

  void search_by_rule() {
    separate_missing();
    if (node_.low == node_.high)  // only what is missing differs
      return scan_numbers(keys_, {}, missing_, false, true);
    const double threshold = rule_threshold();
    const auto& values = column_->values;
    const auto above = std::upper_bound(values.begin() + node_.low, values.begin() + node_.high,
                                        threshold);
    const auto cut = static_cast<std::uint32_t>(above - values.begin()) - 1;
    // Two values are left: those up to the cut, and those above it.
    for (Key& key : keys_) key = make_key(code_of(key) > cut, load_of(key));
    const Sequence sorted = sorter_.sort(keys_, 0, 1);
    const bool has_missing = !missing_.empty();
    if (try_lower(sorted, {}, missing_)) set_number_cut(cut, threshold, false, has_missing);
    if (has_missing && try_lower(sorted, missing_, {})) set_number_cut(cut, threshold, true, true);
  }

  /// The cut between the codes 0 and 1 of a sequence; true if it is the best so far.
  bool try_lower(Sequence sorted, std::span<const Load> left_already,
                 std::span<const Load> right_always) {
    Scan scan = tally_.scan(sorted, left_already, right_always);
    std::uint64_t n_left = count_rows(left_already);
    for (std::size_t i = 0; i < sorted.size() && code_of(sorted[i]) == 0; ++i) {
      scan.move(load_of(sorted[i]));
      n_left += tally_.count(load_of(sorted[i]));
    }
    return take_if_best(scan, n_left);
  }

  bool take_if_best(const Scan& scan, std::uint64_t n_left) {
    if (!is_allowed(scan, n_left)) return false;
    ++n_candidates_;
    const bool is_best = this->is_best(scan);
    if (is_best) take(scan);
    return is_best;
  }

  /// At least the lowest number of the node and below the highest.
  double rule_threshold() {
    const auto& values = column_->values;
    const double low = values[node_.low], high = values[node_.high];
    double threshold = low;
    if (settings_.splitter == Splitter::random) {
      threshold = low + random_.uniform() * (high - low);
      if (!(threshold < high)) threshold = low;
    } else if (settings_.splitter == Splitter::mean) {
      double sum = 0, weight = 0;
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (node_[i] == column_->n_codes) continue;
        const auto w = static_cast<double>(items_[i].weight());
        sum += w * (values[node_[i]] - low);
        weight += w;
      }
      threshold = low + sum / weight;
    } else {
      return median_threshold();
    }
    return threshold < high ? std::max(threshold, low) : below_high();
  }

  /// The least number with at least half of the weight at or below it, or the middle to the next one
  /// where it is just half; the one before the highest where that would be the highest.
  double median_threshold() {
    std::vector<Key> places;  // codes, and where their items are
    double total = 0, sum = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (node_[i] == column_->n_codes) continue;
      places.push_back(make_key(node_[i], static_cast<Load>(i)));
      total += static_cast<double>(items_[i].weight());
    }
    for (const Key key : sorter_.sort(places, node_.low, node_.high)) {
      sum += static_cast<double>(items_[load_of(key)].weight());
      if (2 * sum < total) continue;
      const std::uint32_t code = code_of(key);
      if (code == node_.high) break;
      return column_->values[code];
    }
    return below_high();
  }

  /// The highest number below that of the highest code in the node.
  double below_high() const {
    std::uint32_t best = node_.low;
    for (const Key key : node_.keys)
      if (code_of(key) < node_.high) best = std::max(best, code_of(key));
    return column_->values[best];
  }

  // ------------------------------------------------------------------------------------ categories

  /// The rows of one category, or those of which it is missing.
  struct Group {
    std::uint32_t code;
    std::uint64_t n_rows;
    std::size_t sums;  ///< where its sums begin
  };

  void search_categories() {
    make_groups();
    if (settings_.splitter == Splitter::random) try_random_subset();
    else try_groups();
  }

  void try_groups() {
    // A cut that may not be made can leave the best of the others out of order.
    const bool is_in_order = tally_.order_is_optimal() && settings_.min_samples_leaf <= 1 &&
                             settings_.min_weight_leaf <= 0;
    if (!is_in_order && groups_.size() <= kMostCategoriesTriedOut)
      return try_all_subsets();
    if (!is_in_order) try_single_categories();
    for (std::size_t order = 0; order < tally_.n_orders(); ++order) try_order(order);
  }

  void make_groups() {
    const std::size_t width = tally_.group_width();
    place_of_code_.assign(std::size_t{column_->n_codes} + 1, kNone);
    groups_.clear();
    sums_.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      std::uint32_t& place = place_of_code_[node_[i]];
      if (place == kNone) {
        place = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({node_[i], 0, sums_.size()});
        sums_.resize(sums_.size() + width, 0.0);
      }
      groups_[place].n_rows += items_[i].count();
      tally_.add_to_group(&sums_[groups_[place].sums], items_[i]);
    }
    std::ranges::sort(groups_, {}, &Group::code);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      place_of_code_[groups_[g].code] = static_cast<std::uint32_t>(g);
    left_.assign(width, 0.0);
    is_left_.assign(groups_.size(), 0);
  }

  void make_groups_of_bins() {
    const std::size_t width = tally_.group_width();
    groups_.clear();
    sums_.clear();
    for (std::uint32_t code = 0; code <= column_->n_codes; ++code) {
      const Bin* bin = &bins_[code * tally_.bin_width()];
      if (!has_rows(bin)) continue;
      sums_.resize(sums_.size() + width);
      const std::size_t begin = sums_.size() - width;
      groups_.push_back({code, tally_.read_bin(bin, &sums_[begin]), begin});
    }
    left_.assign(width, 0.0);
    is_left_.assign(groups_.size(), 0);
  }

  bool is_allowed_group(std::uint64_t n_left, double left_weight) const {
    const auto least = static_cast<std::uint64_t>(settings_.min_samples_leaf);
    return n_left >= least && tally_.n_rows() - n_left >= least &&
           (settings_.min_weight_leaf <= 0 ||
            (left_weight >= settings_.min_weight_leaf &&
             tally_.weight() - left_weight >= settings_.min_weight_leaf));
  }

  /// Takes the groups that are marked as the left side, if that is best; `left` are their sums.
  void take_groups_if_best(std::uint64_t n_left, std::span<const double> left) {
    const double left_weight = tally_.group_weight(left.data());
    if (!is_allowed_group(n_left, left_weight)) return;
    ++n_candidates_;
    const double worth = tally_.worth_with_left(left.data());
    if (!(worth > best_->worth + least_gain_)) return;
    best_->worth = worth;
    best_->is_heavier_left = left_weight > tally_.weight() - left_weight;
    set_category_cut();
  }

  void set_category_cut() {
    best_->feature = feature_;
    best_->threshold = static_cast<double>(kUndefined);
    best_->goes_left.assign(std::size_t{column_->n_codes} + 1, kAbsent);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      best_->goes_left[groups_[g].code] = is_left_[g];
    best_->has_missing = best_->goes_left[column_->n_codes] != kAbsent;
    best_->missing_left = best_->goes_left[column_->n_codes] == 1;
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
      if constexpr (Tally::kScoresGroups) take_groups_if_best(n_left, left_);
      else try_sides();
    }
  }

  void try_single_categories() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto sums = std::span<const double>(sums_).subspan(groups_[g].sums, left_.size());
      is_left_[g] = 1;
      if constexpr (Tally::kScoresGroups) take_groups_if_best(groups_[g].n_rows, sums);
      else try_sides();
      is_left_[g] = 0;
    }
  }

  /// One way to part the categories, for tallies that must see the rows.
  void try_sides() {
    make_keys([&](std::uint32_t code) { return is_left_[place_of_code_[code]] ? 0u : 1u; });
    if (try_lower(sorter_.sort(keys_, 0, 1), {}, {})) set_category_cut();
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
      take_groups_if_best(n_left, left_);
    }
  }

  /// The same for tallies that must see the rows.
  void scan_order() {
    std::vector<std::uint32_t> rank(groups_.size());
    for (std::size_t s = 0; s < ordered_.size(); ++s)
      rank[ordered_[s].second] = static_cast<std::uint32_t>(s);
    make_keys([&](std::uint32_t code) { return rank[place_of_code_[code]]; });
    const Sequence sorted =
        sorter_.sort(keys_, 0, static_cast<std::uint32_t>(groups_.size()) - 1);
    Scan scan = tally_.scan(sorted, {}, {});
    std::uint64_t n_left = 0;
    for (std::size_t i = 0; i < sorted.size();) {
      const std::uint32_t code = code_of(sorted[i]);
      is_left_[ordered_[code].second] = 1;
      for (; i < sorted.size() && code_of(sorted[i]) == code; ++i) {
        scan.move(load_of(sorted[i]));
        n_left += tally_.count(load_of(sorted[i]));
      }
      if (i < sorted.size() && take_if_best(scan, n_left)) set_category_cut();
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
  /// By so much of the node's impurity a split must be better than an earlier one: of equal ones the
  /// first is taken, however their sums were rounded.
  static constexpr double kRounding = 1e-12;

  const TreeSettings& settings_;
  Tally& tally_;
  Philox& random_;
  Sorter sorter_;
  std::span<const Item> items_;
  NodeCodes node_;
  Split* best_ = nullptr;
  const CodeColumn* column_ = nullptr;
  std::uint32_t feature_ = 0;
  int sign_ = 0;
  Bounds bounds_;
  std::int64_t n_candidates_ = 0;
  double least_gain_ = 0, most_worth_ = 0;
  std::vector<Key> keys_;
  std::vector<Load> missing_;
  std::vector<Bin> bins_;
  std::vector<Group> groups_;
  std::vector<double> sums_, left_;                       ///< of each group; of those on the left
  std::vector<std::uint8_t> is_left_;                     ///< of each group
  std::vector<std::pair<double, std::size_t>> ordered_;  ///< groups, by their places in an order
  std::vector<std::uint32_t> place_of_code_;
};

}  // namespace hedgerow::tree
