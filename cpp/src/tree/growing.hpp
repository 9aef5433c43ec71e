// Growing a tree from its root: which node is next, when a node is a leaf, and where rows go.
//
// Items, one a row with its target and weight, lie in one array; a node owns a stretch of it. It is
// parted stably, so that rows stay in ascending order and columns are read forwards. Rows that teach
// nothing (not in the bag, or of no weight) find their leaves when the tree is grown.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "hedgerow/random.hpp"
#include "hedgerow/stop.hpp"
#include "hedgerow/tree/grower.hpp"
#include "splitter.hpp"

namespace hedgerow::tree {

template <class Tally>
class Growing {
 public:
  using Item = typename Tally::Item;

  Growing(const TreeTask& task, Tally tally, std::int64_t n_outputs, std::int64_t value_width,
          const TreeSettings& settings, std::span<const std::uint32_t> counts, std::uint64_t seed,
          std::uint64_t stream)
      : table_(*task.table), settings_(settings), tally_(std::move(tally)), random_(seed, stream),
        splitter_(settings_, tally_, random_) {
    tree_.n_outputs = n_outputs;
    tree_.value_width = value_width;
    tree_.leaf_of_row.resize(static_cast<std::size_t>(table_.n_rows));
    deal_out(task.weights, counts);
  }

  FlatTree grow() {
    const auto all = std::make_shared<Features>(table_.columns.size());
    for (std::size_t j = 0; j < all->size(); ++j) (*all)[j] = static_cast<std::uint32_t>(j);
    const Open root{0, items_.size(), kNoChild, false, 0, all, {}};
    if (settings_.max_leaf_nodes < 0) depth_first(root);
    else best_first(root);
    settle_others();
    tree_.was_stopped = was_stopped_;
    return std::move(tree_);
  }

 private:
  using Features = std::vector<std::uint32_t>;

  /// A node to be looked at.
  struct Open {
    std::size_t begin, end;  ///< its items
    std::int64_t parent;
    bool is_left;
    std::int64_t depth;
    std::shared_ptr<const Features> features;  ///< those not known to be constant
    Bounds bounds;
  };

  /// A node that can be split, its rows parted already.
  struct Ready {
    std::int64_t node;
    Split split;
    Open left, right;
    double improvement;
    std::int64_t n_candidates;
    bool operator<(const Ready& other) const {  // of equal ones, the older is first
      return improvement < other.improvement ||
             (improvement == other.improvement && node > other.node);
    }
  };

  void deal_out(std::span<const double> weights, std::span<const std::uint32_t> counts) {
    const auto n = static_cast<std::uint32_t>(table_.n_rows);
    const auto is_there = [&](std::uint32_t row) {
      return (counts.empty() || counts[row] > 0) && (weights.empty() || weights[row] > 0);
    };
    std::size_t n_there = 0;
    for (std::uint32_t row = 0; row < n; ++row) n_there += is_there(row);
    items_.reserve(n_there);
    others_.reserve(n - n_there);
    for (std::uint32_t row = 0; row < n; ++row) {
      if (is_there(row)) items_.push_back(tally_.make_item(row, counts.empty() ? 1 : counts[row]));
      else others_.push_back(row);
    }
    parted_.resize(items_.size());
  }

  // ---------------------------------------------------------------------------------------- orders

  void depth_first(const Open& root) {
    std::vector<Open> waiting{root};
    while (!waiting.empty()) {
      const Open open = std::move(waiting.back());
      waiting.pop_back();
      std::optional<Ready> ready = look_at(open);
      if (!ready) {
        settle(open, tree_.n_nodes() - 1);
        continue;
      }
      make_inner(*ready);
      waiting.push_back(std::move(ready->right));
      waiting.push_back(std::move(ready->left));
    }
  }

  void best_first(const Open& root) {
    std::priority_queue<Ready> waiting;
    const auto add = [&](const Open& open) {
      std::optional<Ready> ready = look_at(open);
      if (ready) waiting.push(std::move(*ready));
      else settle(open, tree_.n_nodes() - 1);
    };
    std::int64_t n_leaves = 1;
    add(root);
    while (!waiting.empty()) {
      Ready ready = waiting.top();
      waiting.pop();
      if (n_leaves >= settings_.max_leaf_nodes) {
        settle(ready.left, ready.node);
        settle(ready.right, ready.node);
        continue;
      }
      make_inner(ready);
      ++n_leaves;
      add(ready.left);
      add(ready.right);
    }
  }

  // ----------------------------------------------------------------------------------------- nodes

  /// Adds the node, as a leaf; returns its split if it has one, with its rows parted.
  std::optional<Ready> look_at(const Open& open) {
    const auto items = std::span<const Item>(items_).subspan(open.begin, open.end - open.begin);
    tally_.set_node(items);
    std::uint64_t n_rows = 0;
    for (const Item& item : items) n_rows += item.count();
    const std::int64_t node = add_leaf(open, n_rows);
    if (total_weight_ == 0) total_weight_ = tally_.weight();
    if (is_leaf(open, n_rows)) return std::nullopt;
    Split best;
    splitter_.begin_node(n_rows, open.bounds, best);
    const std::shared_ptr<const Features> varying = search(open, items, best);
    if (was_stopped_ || !best.is_found()) return std::nullopt;
    const double decrease = std::max(0.0, (best.worth - tally_.worth()) / tally_.weight());
    const double improvement = decrease * tally_.weight() / total_weight_;
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    if (improvement + rounding < settings_.min_impurity_decrease) return std::nullopt;
    return part(open, node, std::move(best), varying, improvement);
  }

  bool is_leaf(const Open& open, std::uint64_t n_rows) const {
    return was_stopped_ || tally_.is_pure() ||
           (settings_.max_depth >= 0 && open.depth >= settings_.max_depth) ||
           n_rows < static_cast<std::uint64_t>(settings_.min_samples_split) ||
           n_rows < 2 * static_cast<std::uint64_t>(settings_.min_samples_leaf) ||
           tally_.weight() < 2 * settings_.min_weight_leaf;
  }

  std::int64_t add_leaf(const Open& open, std::uint64_t n_rows) {
    const std::int64_t node = tree_.n_nodes();
    tree_.feature.push_back(kUndefined);
    tree_.threshold.push_back(static_cast<double>(kUndefined));
    tree_.left.push_back(kNoChild);
    tree_.right.push_back(kNoChild);
    tree_.missing_left.push_back(0);
    tree_.impurity.push_back(tally_.impurity());
    tree_.n_samples.push_back(static_cast<std::int64_t>(n_rows));
    tree_.weight.push_back(tally_.weight());
    tree_.n_candidates.push_back(0);
    cuts_.push_back(0);
    tree_.category_start.push_back(kNoChild);
    tree_.value.resize(tree_.value.size() + static_cast<std::size_t>(tree_.value_width));
    double* value = &tree_.value[tree_.value.size() - static_cast<std::size_t>(tree_.value_width)];
    tally_.write_value(value);
    if (!settings_.monotonic.empty())
      tally_.set_level(value, std::clamp(tally_.level(value), open.bounds.low, open.bounds.high));
    if (open.parent != kNoChild)
      (open.is_left ? tree_.left : tree_.right)[static_cast<std::size_t>(open.parent)] = node;
    return node;
  }

  void make_inner(const Ready& ready) {
    const auto node = static_cast<std::size_t>(ready.node);
    const Split& split = ready.split;
    tree_.feature[node] = split.feature;
    tree_.n_candidates[node] = ready.n_candidates;
    tree_.threshold[node] = split.threshold;
    tree_.missing_left[node] = split.missing_left;
    if (!split.is_by_categories()) {
      // Numbers that the bag lacks may lie between the highest on the left and the threshold.
      cuts_[node] = last_code_up_to(table_.columns[split.feature], split.threshold);
      return;
    }
    const std::uint32_t n_categories = table_.columns[split.feature].n_codes;
    const std::size_t start = tree_.category_words.size();
    tree_.category_start[node] = static_cast<std::int64_t>(start);
    tree_.category_words.resize(start + (n_categories + 63) / 64, 0);
    for (std::uint32_t c = 0; c < n_categories; ++c)
      if (goes_left(split, c)) tree_.category_words[start + c / 64] |= std::uint64_t{1} << (c % 64);
  }

  void settle(const Open& open, std::int64_t leaf) {
    for (std::size_t i = open.begin; i < open.end; ++i)
      tree_.leaf_of_row[items_[i].row] = static_cast<std::int32_t>(leaf);
  }

  /// Sends the rows that taught nothing down the tree, several side by side: while one waits for
  /// memory, the others go on.
  void settle_others() {
    constexpr std::size_t n_lanes = 8;
    for (std::size_t first = 0; first < others_.size(); first += n_lanes) {
      const std::size_t n = std::min(n_lanes, others_.size() - first);
      std::size_t at[n_lanes] = {};
      for (bool goes_on = true; std::exchange(goes_on, false);)
        for (std::size_t k = 0; k < n; ++k) {
          if (tree_.left[at[k]] == kNoChild) continue;
          at[k] = static_cast<std::size_t>(child_of(at[k], others_[first + k]));
          goes_on = true;
        }
      for (std::size_t k = 0; k < n; ++k)
        tree_.leaf_of_row[others_[first + k]] = static_cast<std::int32_t>(at[k]);
    }
  }

  std::int64_t child_of(std::size_t node, std::uint32_t row) const {
    const auto feature = static_cast<std::size_t>(tree_.feature[node]);
    const CodeColumn& column = table_.columns[feature];
    const std::uint32_t code = view(feature, 1)[row];
    bool is_left = code <= cuts_[node];
    if (code == column.n_codes) {
      is_left = tree_.missing_left[node];
    } else if (column.is_category) {
      const auto start = static_cast<std::size_t>(tree_.category_start[node]);
      is_left = (tree_.category_words[start + code / 64] >> (code % 64)) & 1;
    }
    return is_left ? tree_.left[node] : tree_.right[node];
  }

  // ---------------------------------------------------------------------------------------- search

  /// Draws features until enough of them vary and one can be split by. Returns those that children
  /// need to look at.
  std::shared_ptr<const Features> search(const Open& open, std::span<const Item> items,
                                         Split& best) {
    drawn_ = *open.features;
    const bool draws = settings_.in_any_order ||
                       settings_.max_features < static_cast<std::int64_t>(drawn_.size());
    std::int64_t n_tried = 0;
    constants_.clear();
    for (std::size_t k = 0; k < drawn_.size(); ++k) {
      if (n_tried >= settings_.max_features && best.is_found()) break;
      if (should_stop(items.size())) break;
      if (draws) std::swap(drawn_[k], drawn_[k + random_.below(drawn_.size() - k)]);
      const std::uint32_t feature = drawn_[k];
      const CodeColumn& column = table_.columns[feature];
      look_up(view(feature, items.size()), column, items);
      if (!codes_.varies(items.size())) {
        constants_.push_back(feature);
        continue;
      }
      ++n_tried;
      if (splitter_.search(feature, column, items, codes_)) std::swap(codes_, best_codes_);
    }
    if (constants_.empty()) return open.features;
    auto varying = std::make_shared<Features>();
    varying->reserve(drawn_.size() - constants_.size());
    std::ranges::sort(constants_);
    for (const std::uint32_t feature : *open.features)
      if (!std::ranges::binary_search(constants_, feature)) varying->push_back(feature);
    return varying;
  }

  bool should_stop(std::size_t n_values) {
    n_read_ += static_cast<std::int64_t>(n_values) + kNodeCost;
    if (n_read_ >= kValuesRead) {
      n_read_ = 0;
      was_stopped_ = was_stopped_ || stop_asked();
    }
    return was_stopped_;
  }

  /// The codes of a feature for so many rows: by rows if these stay in the cache.
  CodeView view(std::size_t feature, std::size_t n) const {
    return table_.rows.empty() || n * table_.row_stride > kCached ? table_.columns[feature].view()
                                                                  : table_.view_by_rows(feature);
  }

  void look_up(const CodeView& all, const CodeColumn& column, std::span<const Item> items) {
    codes_.codes.resize(items.size());
    std::uint32_t* codes = codes_.codes.data();
    std::uint32_t low = std::numeric_limits<std::uint32_t>::max(), high = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::uint32_t code = all[items[i].row];
      codes[i] = code;
      low = std::min(low, code);
      high = std::max(high, code);
    }
    codes_.n_missing = 0;
    if (high == column.n_codes) leave_out_missing(column.n_codes, low, high);
    codes_.low = low;
    codes_.high = high;
  }

  void leave_out_missing(std::uint32_t missing, std::uint32_t& low, std::uint32_t& high) {
    high = 0;
    for (const std::uint32_t code : codes_.codes) {
      codes_.n_missing += code == missing;
      if (code != missing) high = std::max(high, code);
    }
    if (codes_.n_missing == codes_.codes.size()) low = high = 0;
  }

  // --------------------------------------------------------------------------------------- parting

  static bool goes_left(const Split& split, std::uint32_t code) {
    const std::uint8_t side = split.goes_left[code];
    return side == kAbsent ? split.missing_left : side == 1;
  }

  Ready part(const Open& open, std::int64_t node, Split split,
             const std::shared_ptr<const Features>& varying, double improvement) {
    const CodeColumn& column = table_.columns[split.feature];
    const std::uint32_t missing = column.n_codes;
    const auto is_left = [&](std::uint32_t code) {
      if (split.is_by_categories()) return goes_left(split, code);
      return code <= split.cut || (split.missing_left && code == missing);
    };
    const std::size_t middle = part_items(open, is_left);
    if (!split.has_missing) {
      split.missing_left = weight_of(open.begin, middle) > weight_of(middle, open.end);
    }
    Open left{open.begin, middle, node, true, open.depth + 1, varying, open.bounds};
    Open right{middle, open.end, node, false, open.depth + 1, varying, open.bounds};
    bound_children(split, left.bounds, right.bounds);
    return {node,        std::move(split), std::move(left), std::move(right),
            improvement, splitter_.n_candidates()};
  }

  static std::uint32_t last_code_up_to(const CodeColumn& column, double threshold) {
    const auto above = std::ranges::upper_bound(column.values, threshold);
    return static_cast<std::uint32_t>(above - column.values.begin()) - 1;
  }

  void bound_children(const Split& split, Bounds& left, Bounds& right) const {
    const int sign = settings_.monotonic.empty() ? 0 : settings_.monotonic[split.feature];
    if (sign == 0) return;
    const double middle = split.left_level / 2 + split.right_level / 2;
    (sign > 0 ? left.high : left.low) = middle;
    (sign > 0 ? right.low : right.high) = middle;
  }

  auto weight_of(std::size_t begin, std::size_t end) const {
    decltype(items_[0].weight()) sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += items_[i].weight();
    return sum;
  }

  template <class IsLeft>
  std::size_t part_items(const Open& open, const IsLeft& is_left) {
    std::size_t to = open.begin, n_right = 0;
    for (std::size_t i = open.begin; i < open.end; ++i) {
      const Item item = items_[i];
      const bool left = is_left(best_codes_.codes[i - open.begin]);
      items_[to] = item;
      parted_[n_right] = item;
      to += left;
      n_right += !left;
    }
    std::copy_n(parted_.begin(), n_right, items_.begin() + static_cast<std::ptrdiff_t>(to));
    return to;
  }

  /// Bytes of rows that stay in the cache while a node's features are looked at.
  static constexpr std::size_t kCached = std::size_t{1} << 19;
  static constexpr std::int64_t kNodeCost = 64;
  static constexpr std::int64_t kValuesRead = std::int64_t{1} << 18;

  const CodeTable& table_;
  const TreeSettings& settings_;
  Tally tally_;
  Philox random_;
  FeatureSplitter<Tally> splitter_;
  FlatTree tree_;
  std::vector<Item> items_, parted_;
  std::vector<std::uint32_t> others_;
  std::vector<std::uint32_t> cuts_;  ///< of each node: codes of numbers up to this one go left
  NodeCodes codes_, best_codes_;
  Features drawn_, constants_;
  double total_weight_ = 0;
  std::int64_t n_read_ = 0;
  bool was_stopped_ = false;
};

}  // namespace hedgerow::tree
