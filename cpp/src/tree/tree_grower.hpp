// Growing a tree from its root: which node is next, when a node is a leaf, and where rows go.
//
// Items, one a row with its target and weight, lie in one array; a node owns a stretch of it. It is
// parted stably, so that rows stay in ascending order and columns are read forwards. Rows that
// teach nothing (not in the bag, or of no weight) are parted along with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "hedgerow/system/random.hpp"
#include "hedgerow/system/stop.hpp"
#include "hedgerow/tree/grower.hpp"
#include "tree/sorted_lists.hpp"
#include "tree/splitter.hpp"

namespace hedgerow::tree {

template <class Tally>
class TreeGrower final : public TreeWorkspace {
 public:
  using Item = typename Tally::Item;

  TreeGrower(const CodeTable& table, Tally tally, std::int64_t n_outputs, std::int64_t value_width)
      : table_(table),
        n_outputs_(n_outputs),
        value_width_(value_width),
        tally_(std::move(tally)),
        is_constant_(table_.columns.size()) {}

  /// Targets and weights must outlive the trees that are grown on them.
  template <class Targets>
  void learn_from(const Targets& targets, std::span<const double> weights) {
    weights_ = weights;
    tally_.learn_from(targets, weights);
  }

  FlatTree grow(const TreeSettings& settings, std::span<const std::uint32_t> counts,
                std::uint64_t seed, std::uint64_t stream) {
    settings_ = settings;
    random_ = Philox(seed, stream);
    begin_tree();
    assign_rows(counts);
    features_.resize(table_.columns.size());
    std::iota(features_.begin(), features_.end(), std::uint32_t{0});
    lists_.forget();
    const OpenNode root{0, items_.size(),         0, others_.size(), kNoChild, false,
                        0, {0, features_.size()}, {}};
    if (settings_.max_leaf_nodes < 0)
      depth_first(root);
    else
      best_first(root);
    tree_.was_stopped = was_stopped_;
    n_nodes_before_ = tree_.feature.size();
    return std::move(tree_);
  }

 private:
  /// A stretch of features_: those not known to be constant in a node.
  struct Features {
    std::size_t begin, end;
  };

  /// A node to be looked at.
  struct OpenNode {
    std::size_t begin, end;                ///< its items
    std::size_t others_begin, others_end;  ///< its rows that teach nothing
    std::int64_t parent;
    bool is_left;
    std::int64_t depth;
    Features features;
    Bounds bounds;
  };

  /// A node that can be split, its rows parted already.
  struct ReadySplit {
    std::int64_t node;
    Split split;
    OpenNode left, right;
    double improvement;
    std::int64_t n_candidates;
    bool operator<(const ReadySplit& other) const {  // of equal ones, the older is first
      return improvement < other.improvement ||
             (improvement == other.improvement && node > other.node);
    }
  };

  /// There will be about as many nodes as in the tree before.
  void begin_tree() {
    tree_ = FlatTree{};
    tree_.n_outputs = n_outputs_;
    tree_.value_width = value_width_;
    tree_.leaf_of_row.resize(static_cast<std::size_t>(table_.n_rows));
    const std::size_t n = n_nodes_before_ + n_nodes_before_ / 8;
    for (auto* numbers : {&tree_.feature, &tree_.left, &tree_.right, &tree_.n_samples,
                          &tree_.n_candidates, &tree_.category_start})
      numbers->reserve(n);
    for (auto* numbers : {&tree_.threshold, &tree_.impurity, &tree_.weight}) numbers->reserve(n);
    tree_.missing_left.reserve(n);
    tree_.value.reserve(n * static_cast<std::size_t>(value_width_));
    total_weight_ = 0;
    n_read_ = 0;
    was_stopped_ = false;
  }

  /// Without a branch: who is in the bag cannot be foreseen.
  void assign_rows(std::span<const std::uint32_t> counts) {
    const auto n = static_cast<std::uint32_t>(table_.n_rows);
    const auto is_there = [&](std::uint32_t row) {
      return (counts.empty() || counts[row] > 0) && (weights_.empty() || weights_[row] > 0);
    };
    std::size_t n_there = 0, n_others = 0;
    for (std::uint32_t row = 0; row < n; ++row) n_there += is_there(row);
    items_.resize(n_there + 1);
    others_.resize(n - n_there + 1);
    n_there = 0;
    for (std::uint32_t row = 0; row < n; ++row) {
      items_[n_there] = tally_.make_item(row, counts.empty() ? 1 : counts[row]);
      others_[n_others] = row;
      n_there += is_there(row);
      n_others += !is_there(row);
    }
    items_.resize(n_there);
    others_.resize(n_others);
    parted_.resize(n_there);
    parted_others_.resize(n_others);
  }

  // ---------------------------------------------------------------------------------------- orders

  void depth_first(const OpenNode& root) {
    std::vector<OpenNode> waiting{root};
    while (!waiting.empty()) {
      const OpenNode open = waiting.back();
      waiting.pop_back();
      features_.resize(open.features.end);  // what lies behind is of nodes that are done
      std::optional<ReadySplit> ready = look_at(open);
      if (!ready) {
        assign_leaf(open, tree_.n_nodes() - 1);
        continue;
      }
      make_inner(*ready);
      waiting.push_back(ready->right);
      waiting.push_back(ready->left);
    }
  }

  void best_first(const OpenNode& root) {
    std::priority_queue<ReadySplit> waiting;
    const auto add = [&](const OpenNode& open) {
      std::optional<ReadySplit> ready = look_at(open);
      if (ready)
        waiting.push(std::move(*ready));
      else
        assign_leaf(open, tree_.n_nodes() - 1);
    };
    std::int64_t n_leaves = 1;
    add(root);
    while (!waiting.empty()) {
      ReadySplit ready = waiting.top();
      waiting.pop();
      if (n_leaves >= settings_.max_leaf_nodes) {
        assign_leaf(ready.left, ready.node);
        assign_leaf(ready.right, ready.node);
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
  std::optional<ReadySplit> look_at(const OpenNode& open) {
    const auto items = std::span<const Item>(items_).subspan(open.begin, open.end - open.begin);
    const bool is_sorted = lists_.hold(open.begin, open.end);
    tally_.set_node(items, is_sorted ? std::span<const Item>(listed_) : std::span<const Item>());
    const std::int64_t node = add_leaf(open);
    if (total_weight_ == 0) total_weight_ = tally_.weight();
    if (is_leaf(open)) return std::nullopt;
    if (!is_sorted && is_worth_sorting(open)) {
      sort_lists(open);
      tally_.set_node(items, listed_);
    }
    Split best;
    splitter_.begin_node(items, open.bounds, best);
    const Features varying = search(open, items.size(), best);
    if (was_stopped_ || !best.is_found()) return std::nullopt;
    const double decrease = std::max(0.0, (best.worth - tally_.worth()) / tally_.weight());
    const double improvement = decrease * tally_.weight() / total_weight_;
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    if (improvement + rounding < settings_.min_impurity_decrease) return std::nullopt;
    return part(open, node, std::move(best), varying, improvement);
  }

  bool is_leaf(const OpenNode& open) const {
    const std::uint64_t n_rows = tally_.n_rows();
    return was_stopped_ || tally_.is_pure() ||
           (settings_.max_depth >= 0 && open.depth >= settings_.max_depth) ||
           n_rows < static_cast<std::uint64_t>(settings_.min_samples_split) ||
           n_rows < 2 * static_cast<std::uint64_t>(settings_.min_samples_leaf) ||
           tally_.weight() < 2 * settings_.min_weight_leaf;
  }

  std::int64_t add_leaf(const OpenNode& open) {
    const std::int64_t node = tree_.n_nodes();
    tree_.feature.push_back(kUndefined);
    tree_.threshold.push_back(static_cast<double>(kUndefined));
    tree_.left.push_back(kNoChild);
    tree_.right.push_back(kNoChild);
    tree_.missing_left.push_back(0);
    tree_.impurity.push_back(tally_.impurity());
    tree_.n_samples.push_back(static_cast<std::int64_t>(tally_.n_rows()));
    tree_.weight.push_back(tally_.weight());
    tree_.n_candidates.push_back(0);
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

  void make_inner(const ReadySplit& ready) {
    const auto node = static_cast<std::size_t>(ready.node);
    const Split& split = ready.split;
    tree_.feature[node] = split.feature;
    tree_.n_candidates[node] = ready.n_candidates;
    const CodeColumn& column = table_.columns[split.feature];
    tree_.threshold[node] = split.threshold;
    tree_.missing_left[node] = split.missing_left;
    if (!column.upper_edges.empty())
      tree_.threshold[node] =
          column.upper_edges[last_code_up_to(column, split.cut, split.threshold)];
    if (!split.is_by_categories()) return;
    const std::uint32_t n_categories = column.n_codes;
    const std::size_t start = tree_.category_words.size();
    tree_.category_start[node] = static_cast<std::int64_t>(start);
    tree_.category_words.resize(start + (n_categories + 63) / 64, 0);
    for (std::uint32_t c = 0; c < n_categories; ++c)
      if (goes_left(split, c)) tree_.category_words[start + c / 64] |= std::uint64_t{1} << (c % 64);
  }

  void assign_leaf(const OpenNode& open, std::int64_t leaf) {
    const bool is_sorted = lists_.hold(open.begin, open.end);
    for (std::size_t i = open.begin; i < open.end; ++i) {
      const std::uint32_t row = is_sorted ? listed_[items_[i].row].row : items_[i].row;
      tree_.leaf_of_row[row] = static_cast<std::int32_t>(leaf);
    }
    for (std::size_t i = open.others_begin; i < open.others_end; ++i)
      tree_.leaf_of_row[others_[i]] = static_cast<std::int32_t>(leaf);
  }

  // ---------------------------------------------------------------------------------------- search

  /// Draws features until enough of them vary and one can be split by, or none can be better.
  /// Returns those that children need to look at.
  Features search(const OpenNode& open, std::size_t n_items, Split& best) {
    const std::size_t begin = open.features.begin, n_features = open.features.end - begin;
    const auto features = std::span(features_).subspan(begin, n_features);
    drawn_.assign(features.begin(), features.end());
    const bool draws =
        settings_.in_any_order || settings_.max_features < static_cast<std::int64_t>(n_features);
    std::int64_t n_tried = 0;
    std::size_t n_constant = 0;
    for (std::size_t k = 0; k < n_features; ++k) {
      if (n_tried >= settings_.max_features && best.is_found()) break;
      if (settings_.in_any_order && best.is_found() && splitter_.cuts().is_perfect()) break;
      if (should_stop(n_items)) break;
      if (draws) std::swap(drawn_[k], drawn_[k + random_.below(n_features - k)]);
      const std::uint32_t feature = drawn_[k];
      if (search_feature(feature, open)) {
        ++n_tried;
      } else {
        is_constant_[feature] = true;
        drawn_[n_constant++] = feature;  // its place is not needed any more
      }
    }
    return n_constant == 0 ? open.features : without_constants(open.features, n_constant);
  }

  /// False if the feature does not vary in the node.
  bool search_feature(std::uint32_t feature, const OpenNode& open) {
    const CodeColumn& column = table_.columns[feature];
    if (lists_.hold(open.begin, open.end))
      return splitter_.search_list(feature, column, lists_.of(feature, open.begin, open.end));
    return splitter_.search(feature, column, view(feature, open.end - open.begin));
  }

  /// Puts the features that vary behind all others, and forgets which did not: the first so many of
  /// those drawn.
  Features without_constants(const Features& features, std::size_t n_constant) {
    const std::size_t begin = features_.size();
    for (std::size_t k = features.begin; k < features.end; ++k)
      if (!is_constant_[features_[k]]) features_.push_back(features_[k]);
    for (std::size_t k = 0; k < n_constant; ++k) is_constant_[drawn_[k]] = false;
    return {begin, features_.size()};
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

  // ----------------------------------------------------------------------------------------- lists

  /// Whether rows are to be kept in the order of every feature from this node on: if most features
  /// are looked at, and most have many numbers, as few are faster counted. In best-first order
  /// nodes are not done one below the other, so that it must be so from the root.
  bool is_worth_sorting(const OpenNode& open) const {
    const std::size_t n_features = open.features.end - open.features.begin;
    if (!Tally::kTakesPlaces || n_features == 0 || settings_.splitter != Splitter::best ||
        2 * static_cast<std::uint64_t>(settings_.max_features) < n_features ||
        (settings_.max_leaf_nodes >= 0 && open.parent != kNoChild) ||
        !SortedLists::fit(open.end - open.begin, n_features))
      return false;
    const auto features = std::span(features_).subspan(open.features.begin, n_features);
    const auto n_with_many = std::ranges::count_if(features, [this](std::uint32_t feature) {
      return !table_.columns[feature].is_category && table_.columns[feature].n_codes > kFewNumbers;
    });
    return 4 * static_cast<std::size_t>(n_with_many) >= 3 * n_features;
  }

  /// From here on the row of an item is its place among those that are listed.
  void sort_lists(const OpenNode& open) {
    const auto items = std::span(items_).subspan(open.begin, open.end - open.begin);
    listed_.assign(items.begin(), items.end());
    for (std::size_t i = 0; i < items.size(); ++i) items[i].row = static_cast<std::uint32_t>(i);
    const auto features =
        std::span(features_).subspan(open.features.begin, open.features.end - open.features.begin);
    const auto codes_of = [&](std::uint32_t feature) { return view(feature, listed_.size()); };
    lists_.make(open.begin, features, codes_of, table_.columns, std::span<const Item>(listed_));
  }

  // --------------------------------------------------------------------------------------- parting

  static bool goes_left(const Split& split, std::uint32_t code) {
    const std::uint8_t side = split.goes_left[code];
    return side == kAbsent ? split.missing_left : side == 1;
  }

  ReadySplit part(const OpenNode& open, std::int64_t node, Split split, const Features& varying,
                  double improvement) {
    if (!split.has_missing) split.missing_left = split.is_heavier_left;
    OpenNode left = open, right = open;
    left.parent = right.parent = node;
    left.is_left = true;
    right.is_left = false;
    left.depth = right.depth = open.depth + 1;
    left.features = right.features = varying;
    if (split.is_by_categories())
      part_rows(
          open, split, [&](std::uint32_t code) { return goes_left(split, code); }, left, right);
    else
      part_rows(open, split, numbers_left(split), left, right);
    if (lists_.hold(open.begin, open.end) && open.end - open.begin > 2)  // of two, both are leaves
      for (std::size_t k = varying.begin; k < varying.end; ++k)
        lists_.part(features_[k], open.begin, open.end);
    bound_children(split, left.bounds, right.bounds);
    return {node, std::move(split), left, right, improvement, splitter_.cuts().n_candidates()};
  }

  /// Numbers that the bag lacks may lie between the highest on the left and the threshold.
  auto numbers_left(const Split& split) const {
    const CodeColumn& column = table_.columns[split.feature];
    const std::uint32_t last = last_code_up_to(column, split.cut, split.threshold);
    const std::uint32_t other = split.missing_left ? column.n_codes : 0;
    return [last, other](std::uint32_t code) { return (code <= last) | (code == other); };
  }

  /// Parts the items of a node and its rows that teach nothing; gives each child its own.
  template <class IsLeft>
  void part_rows(const OpenNode& open, const Split& split, const IsLeft& is_left, OpenNode& left,
                 OpenNode& right) {
    const CodeView codes = view(split.feature, open.end - open.begin);
    const auto row_is_left = [&](std::uint32_t row) { return is_left(codes[row]); };
    left.others_end = right.others_begin =
        part_stretch(others_, parted_others_, open.others_begin, open.others_end, row_is_left);
    if (lists_.hold(open.begin, open.end)) {
      lists_.set_sides(split.feature, open.begin, open.end, is_left);
      left.end = right.begin =
          part_stretch(items_, parted_, open.begin, open.end,
                       [&](const Item& item) { return lists_.is_left(item.row); });
    } else {
      left.end = right.begin =
          part_stretch(items_, parted_, open.begin, open.end,
                       [&](const Item& item) { return row_is_left(item.row); });
    }
  }

  /// The last code whose number is not above the threshold, which lies at or behind a code.
  static std::uint32_t last_code_up_to(const CodeColumn& column, std::uint32_t code,
                                       double threshold) {
    const std::span values(column.values);
    std::size_t step = 1;  // mostly it is near
    while (code + step < values.size() && values[code + step] <= threshold) step *= 2;
    const auto near = values.subspan(code, std::min(step, values.size() - code));
    const auto above = std::ranges::upper_bound(near, threshold);
    return code + static_cast<std::uint32_t>(above - near.begin()) - 1;
  }

  void bound_children(const Split& split, Bounds& left, Bounds& right) const {
    const int sign = settings_.monotonic.empty() ? 0 : settings_.monotonic[split.feature];
    if (sign == 0) return;
    const double middle = split.left_level / 2 + split.right_level / 2;
    (sign > 0 ? left.high : left.low) = middle;
    (sign > 0 ? right.low : right.high) = middle;
  }

  /// Brings those on the left to the front, each side in the order it had; returns where the other
  /// side begins. There must be room for all of it.
  template <class T, class IsLeft>
  static std::size_t part_stretch(std::vector<T>& all, std::vector<T>& room, std::size_t begin,
                                  std::size_t end, const IsLeft& is_left) {
    std::size_t to = begin, n_right = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const T each = all[i];
      const bool left = is_left(each);
      all[to] = each;
      room[n_right] = each;
      to += left;
      n_right += !left;
    }
    std::copy_n(room.begin(), n_right, all.begin() + static_cast<std::ptrdiff_t>(to));
    return to;
  }

  /// Bytes of rows that stay in the cache while a node's features are looked at.
  static constexpr std::size_t kCached = std::size_t{1} << 19;
  static constexpr std::int64_t kNodeCost = 64;
  static constexpr std::uint32_t kFewNumbers = 256;
  static constexpr std::int64_t kValuesRead = std::int64_t{1} << 18;

  const CodeTable& table_;
  std::span<const double> weights_;
  std::int64_t n_outputs_, value_width_;
  Tally tally_;
  TreeSettings settings_;
  Philox random_{0, 0};
  FeatureSplitter<Tally> splitter_{settings_, tally_, random_};
  FlatTree tree_;
  std::vector<Item> items_, parted_;
  SortedLists lists_;
  std::vector<Item> listed_;  ///< the items that lists were made of
  std::vector<std::uint32_t> others_, parted_others_;
  std::vector<std::uint32_t> features_, drawn_;
  std::vector<std::uint8_t> is_constant_;  ///< of each feature, while a node is looked at
  std::size_t n_nodes_before_ = 0;
  double total_weight_ = 0;
  std::int64_t n_read_ = 0;
  bool was_stopped_ = false;
};

}  // namespace hedgerow::tree
