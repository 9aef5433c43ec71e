// The search for the best split of a node by one feature. What a cut is worth is the tally's affair;
// here is which cuts there are: every place between two values of a number, both sides for what is
// missing; or the one cut that a simplified rule makes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "tree/best_cut.hpp"
#include "tree/category_splitter.hpp"
#include "hedgerow/system/random.hpp"
#include "tree/items.hpp"
#include "tree/sorting.hpp"
#include "tree/split.hpp"

namespace hedgerow::tree {

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
    cuts_.begin_node(bounds, best);
  }

  const BestCut<Tally>& cuts() const { return cuts_; }

  /// Looks for a split by a feature; false if it does not vary in the node.
  bool search(std::uint32_t feature, const CodeColumn& column, const CodeView& view) {
    set_feature(feature, column);
    if constexpr (kHasBins)
      if (settings_.splitter == Splitter::best &&
          (std::size_t{column.n_codes} + 1) * tally_.bin_width() <= items_.size())
        return search_all_bins(view);
    set_codes(
        [&](std::size_t i) { return make_key(view[items_[i].row], tally_.load(items_[i], i)); });
    if (!node_.varies()) return false;
    if (column.is_category)
      search_categories();
    else if (settings_.splitter != Splitter::best)
      search_by_rule();
    else if (node_.n_missing > 0)
      search_with_missing();
    else if (!search_bins())
      search_sorted();
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
    column_ = &column;
    cuts_.set_feature(feature, column);
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
      if (code_of(key) == column_->n_codes)
        missing_.push_back(load_of(key));
      else
        keys_.push_back(key);
    }
  }

  void search_categories() {
    categories_.search(items_, node_.keys, column_->n_codes,
                       settings_.splitter == Splitter::random);
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
    if (cuts_.is_free())
      scan_cuts<true>(sorted, left_already, right_always, missing_left, has_missing);
    else
      scan_cuts<false>(sorted, left_already, right_always, missing_left, has_missing);
  }

  /// Every cut of a sequence; where some rows are always on the right, also the one behind its end.
  template <bool is_free>
  void scan_cuts(Sequence sorted, std::span<const Load> left_already,
                 std::span<const Load> right_always, bool missing_left, bool has_missing) {
    Scan scan = tally_.scan(sorted, left_already, right_always);
    [[maybe_unused]] std::uint64_t n_left = is_free ? 0 : cuts_.count_rows(left_already);
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
        if (!cuts_.is_allowed(scan, n_left)) continue;
      ++n_cuts;
      if (!cuts_.is_best(scan)) continue;
      cuts_.take(scan);
      const double threshold =
          i < n ? cuts_.middle(code, code_of(sorted[i])) : std::numeric_limits<double>::infinity();
      cuts_.set_number_cut(code, threshold, missing_left, has_missing);
    }
    cuts_.count_candidates(n_cuts);
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
      varies = categories_.search_bins(std::span(bins_).first(size), column_->n_codes);
    } else {
      const Bin* missing = &bins_[n_codes * width];
      varies = scan_bins(0, n_codes, missing, false);
      if (varies && has_rows(std::span(missing, width))) scan_bins(0, n_codes, missing, true);
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
    if (n % 2 == 1)
      tally_.add_to_bin(first + view[items_[n - 1].row] * width, items_[n - 1], n - 1);
    for (std::size_t k = 0; k < size; ++k) first[k] += std::exchange(second[k], Bin{0});
  }

  /// Every cut between bins, the first being that of the code `low`; `missing` is a bin of its own, or
  /// nullptr. Returns whether rows are in more than one.
  bool scan_bins(std::uint32_t low, std::size_t n_bins, const Bin* missing, bool missing_left) {
    Scan scan = tally_.scan({}, {}, {});
    const bool has_missing = missing != nullptr && has_rows(std::span(missing, tally_.bin_width()));
    const bool is_free = cuts_.is_free();
    std::uint64_t n_left = missing_left ? scan.move_bin(missing) : 0;
    const std::uint64_t n_all = tally_.n_rows();
    std::int64_t n_cuts = 0;
    bool is_pending = false;  // a cut was taken whose upper neighbour is not known yet
    bool varies = false;
    for (std::size_t b = 0; b < n_bins && n_left < n_all; ++b) {
      const std::uint64_t n_here = scan.move_bin(&bins_[b * tally_.bin_width()]);
      if (n_here == 0) continue;
      const std::uint32_t code = low + static_cast<std::uint32_t>(b);
      if (is_pending) cuts_.set_upper_neighbour(code);
      is_pending = false;
      n_left += n_here;
      if (n_left == n_all) break;
      varies = true;
      if (!is_free && !cuts_.is_allowed(scan, n_left)) continue;
      ++n_cuts;
      if (!cuts_.is_best(scan)) continue;
      cuts_.take(scan);
      cuts_.set_number_cut(code, std::numeric_limits<double>::infinity(), missing_left,
                           has_missing);
      is_pending = true;
    }
    cuts_.count_candidates(n_cuts);
    return varies;
  }

  // ------------------------------------------------------------------------------ simplified rules

  void search_by_rule() {
    separate_missing();
    if (node_.low == node_.high)  // only what is missing differs
      return scan_numbers(keys_, {}, missing_, false, true);
    const double threshold = rule_threshold();
    const auto& values = column_->values;
    const auto above =
        std::upper_bound(values.begin() + node_.low, values.begin() + node_.high, threshold);
    const auto cut = static_cast<std::uint32_t>(above - values.begin()) - 1;
    // Two values are left: those up to the cut, and those above it.
    for (Key& key : keys_) key = make_key(code_of(key) > cut, load_of(key));
    const Sequence sorted = sorter_.sort(keys_, 0, 1);
    const bool has_missing = !missing_.empty();
    if (cuts_.try_lower(sorted, {}, missing_))
      cuts_.set_number_cut(cut, threshold, false, has_missing);
    if (has_missing && cuts_.try_lower(sorted, missing_, {}))
      cuts_.set_number_cut(cut, threshold, true, true);
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

  const TreeSettings& settings_;
  Tally& tally_;
  Philox& random_;
  Sorter sorter_;
  BestCut<Tally> cuts_{settings_, tally_};
  CategorySplitter<Tally> categories_{tally_, cuts_, sorter_, random_};
  std::span<const Item> items_;
  NodeCodes node_;
  const CodeColumn* column_ = nullptr;
  std::vector<Key> keys_;
  std::vector<Load> missing_;
  std::vector<Bin> bins_;
};

}  // namespace hedgerow::tree
