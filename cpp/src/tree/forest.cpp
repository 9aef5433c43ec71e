#include "hedgerow/tree/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "hedgerow/parallel.hpp"

namespace hedgerow {
namespace {

/// Rows of one task: many, as the nodes of a tree then come from near memory for most of them.
constexpr std::int64_t kMostRowsAtATime = 16384;
constexpr std::int64_t kFewestRowsAtATime = 512;

/// Rows that walk down a tree side by side: while one waits for its node, the others go on.
constexpr std::int64_t kSideBySide = 8;

/// How rows are cut into tasks; what a task computes does not depend on it.
Cut tasks_of(std::int64_t n_rows, int n_threads) {
  const std::int64_t wanted = n_threads == 1 ? 1 : 4 * n_threads;
  const std::int64_t most = std::max<std::int64_t>(1, n_rows / kFewestRowsAtATime);
  const std::int64_t fewest = (n_rows + kMostRowsAtATime - 1) / kMostRowsAtATime;
  return {n_rows, std::max(fewest, std::min(wanted, most))};
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// A threshold in fewer digits that parts the same numbers of type T: rounded down.
template <class T>
T narrowed(double threshold) {
  const auto near = static_cast<T>(threshold);
  return static_cast<double>(near) > threshold
             ? std::nextafter(near, -std::numeric_limits<T>::infinity())
             : near;
}

void require(bool is_fine, const char* what) {
  if (!is_fine) throw std::invalid_argument(what);
}

/// The nodes of a tree level by level, siblings side by side.
std::vector<std::int64_t> by_levels(const FlatTree& tree) {
  std::vector<std::int64_t> order{0};
  order.reserve(tree.feature.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto node = static_cast<std::size_t>(order[i]);
    if (tree.left[node] == kNoChild) continue;
    order.push_back(tree.left[node]);
    order.push_back(tree.right[node]);
  }
  return order;
}

}  // namespace

Forest::Forest(ForestShape shape, bool single_precision)
    : shape_(std::move(shape)), n_categories_(shape_.n_categories.begin(), shape_.n_categories.end()) {
  if (!single_precision) nodes_ = Nodes<double>();
}

std::int64_t Forest::n_bytes() const {
  const std::size_t nodes = std::visit(
      [](const auto& all) { return all.size() * sizeof(all[0]); }, nodes_);
  return static_cast<std::int64_t>(nodes + 5 * answers_.size() + 8 * (lines_.size() + words_.size() + begins_.size() +
                                                leaf_weight_.size()));
}

/// A leaf as the last node of the last tree; `place` is its own from the tree's first node.
template <class T>
PackedNode<T> leaf_at(std::int32_t place) {
  return {std::numeric_limits<T>::infinity(), kMissingLeft, place};
}

template <class T>
void Forest::add_nodes(const FlatTree& tree, Nodes<T>& nodes) {
  const auto width = static_cast<std::size_t>(line_width());
  const std::uint64_t first_word = words_.size();
  words_.insert(words_.end(), tree.category_words.begin(), tree.category_words.end());
  std::int32_t next = 1, place = -1;
  for (const std::int64_t each : by_levels(tree)) {
    const auto i = static_cast<std::size_t>(each);
    ++place;
    is_leaf_.push_back(tree.left[i] == kNoChild);
    if (tree.left[i] != kNoChild) {
      const bool by_categories = tree.category_start[i] != kNoChild;
      const auto start = first_word + static_cast<std::uint64_t>(tree.category_start[i]);
      const T threshold = by_categories
                              ? std::bit_cast<T>(static_cast<BitsOf<T>>(start))
                              : narrowed<T>(tree.threshold[i]);
      const std::uint32_t flags =
          (tree.missing_left[i] ? kMissingLeft : 0) | (by_categories ? kByCategories : 0);
      nodes.push_back({threshold, static_cast<std::uint32_t>(tree.feature[i]) | flags, next});
      answers_.push_back(0);
      next += 2;
      continue;
    }
    nodes.push_back(leaf_at<T>(place));
    leaf_weight_.push_back(tree.weight[i]);
    const std::span<const double> values(&tree.value[i * width], width);
    const auto sure = std::ranges::find(values, 1.0);
    if (shape_.has_classes && shape_.n_outputs == 1 && sure != values.end()) {
      answers_.push_back(static_cast<std::int32_t>(sure - values.begin()));
    } else {
      answers_.push_back(-1 - static_cast<std::int32_t>(lines_.size() / width));
      lines_.insert(lines_.end(), values.begin(), values.end());
    }
  }
}

void Forest::add(const FlatTree& tree) {
  std::visit(
      [&](auto& nodes) {
        add_nodes(tree, nodes);
        begins_.push_back(static_cast<std::int64_t>(nodes.size()));
      },
      nodes_);
}

// ------------------------------------------------------------------------------------- predictions

/// Where a row goes from a node. No branch depends on the row: where it goes cannot be foreseen, and a
/// wrong guess costs more than all of this.
template <bool has_categories, class Node, class T>
std::int32_t Forest::step(const Node& node, const T* row) const {
  const std::uint32_t feature = node.asks & kFeatureBits;
  const T value = row[feature];
  const std::uint32_t missing_left = node.asks >> 31;
  std::uint32_t left = value <= node.threshold, is_missing = value != value;
  if constexpr (has_categories) {
    using Bits = BitsOf<decltype(node.threshold)>;
    const bool is_known = value >= 0 && value < n_categories_[feature];
    const std::uint32_t by_categories = (node.asks >> 30) & 1, known = is_known;
    const auto category = static_cast<std::uint32_t>(is_known ? value : T{0});
    // Where there is nothing to ask for, the first word is looked at, and not used.
    const std::uint64_t place =
        (std::bit_cast<Bits>(node.threshold) + category / 64) & (0 - std::uint64_t{known & by_categories});
    const auto in_set = static_cast<std::uint32_t>(words_[place] >> (category % 64)) & 1;
    left = (left & ~by_categories) | (in_set & by_categories);
    is_missing = (is_missing & ~by_categories) | (~known & by_categories);
  }
  left = (left & ~is_missing) | (missing_left & is_missing);
  return node.next + static_cast<std::int32_t>((left & 1) ^ 1);
}

/// The leaves of rows [begin, end).
template <class Node, class T>
void Forest::walk(const Node* nodes, const DenseRows<T>& rows, std::int64_t begin,
                  std::int64_t end, std::int32_t* leaves) const {
  if (words_.empty()) walk_by<false>(nodes, rows, begin, end, leaves);
  else walk_by<true>(nodes, rows, begin, end, leaves);
}

template <bool has_categories, class Node, class T>
void Forest::walk_by(const Node* nodes, const DenseRows<T>& rows, std::int64_t begin,
                  std::int64_t end, std::int32_t* leaves) const {
  for (std::int64_t first = begin; first < end; first += kSideBySide) {
    const T* row[kSideBySide];
    std::int32_t at[kSideBySide] = {};
    for (std::int64_t k = 0; k < kSideBySide; ++k)
      row[k] = rows.values + std::min(first + k, end - 1) * rows.row_stride;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::int64_t k = 0; k < kSideBySide; ++k) {
        const Node& node = nodes[at[k]];
        const std::int32_t next = step<has_categories>(node, row[k]);
        goes_on |= next != at[k];
        at[k] = next;
      }
    }
    std::copy_n(at, std::min(kSideBySide, end - first), leaves + (first - begin));
  }
}

template <class T>
void Forest::sums(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end,
                  std::span<double> sums, int n_threads) const {
  const auto width = static_cast<std::size_t>(line_width());
  const Cut tasks = tasks_of(rows.n_rows, n_threads);
  const auto run = [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task), last = tasks.end(task);
    std::int32_t leaves[kMostRowsAtATime];
    std::visit(
        [&](const auto& nodes) {
          for (std::int64_t t = begin; t < end; ++t) {
            const auto root = static_cast<std::size_t>(begins_[static_cast<std::size_t>(t)]);
            walk(&nodes[root], rows, first, last, leaves);
            for (std::int64_t i = first; i < last; ++i) {
              double* sum = &sums[static_cast<std::size_t>(i) * width];
              const std::int32_t answer = answers_[root + static_cast<std::size_t>(leaves[i - first])];
              if (answer >= 0) {
                sum[answer] += 1.0;
                continue;
              }
              const double* line = &lines_[static_cast<std::size_t>(-1 - answer) * width];
              for (std::size_t k = 0; k < width; ++k) sum[k] += line[k];
            }
          }
        },
        nodes_);
  };
  if (tasks.n_pieces == 1) return run(0);
  parallel_for(tasks.n_pieces, n_threads, run);
}

template <class T>
void Forest::leaves(const DenseRows<T>& rows, std::span<std::int32_t> leaves, int n_threads) const {
  const Cut tasks = tasks_of(rows.n_rows, n_threads);
  parallel_for(tasks.n_pieces, n_threads, [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task), last = tasks.end(task);
    std::int32_t found[kMostRowsAtATime];
    std::visit(
        [&](const auto& nodes) {
          for (std::int64_t t = 0; t < n_trees(); ++t) {
            walk(nodes.data() + begins_[static_cast<std::size_t>(t)], rows, first, last, found);
            for (std::int64_t i = first; i < last; ++i)
              leaves[static_cast<std::size_t>(i * n_trees() + t)] = found[i - first];
          }
        },
        nodes_);
  });
}

// -------------------------------------------------------------------------------------------- parts

/// The weight of the leaf that each line of values belongs to.
std::vector<double> Forest::weight_of_lines() const {
  std::vector<double> weights;
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < is_leaf_.size(); ++i) {
    if (is_leaf_[i] && answers_[i] < 0) weights.push_back(leaf_weight_[leaf]);
    leaf += is_leaf_[i];
  }
  return weights;
}

/// Shares of classes as counts, where they are; empty if they are not.
static std::vector<double> as_counts(std::span<const double> shares,
                                     std::span<const double> weights) {
  constexpr double most = 4294967295.0;
  std::vector<double> counts;
  const std::size_t width = weights.empty() ? 1 : shares.size() / weights.size();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double weight = weights[i / width];
    const double count = std::round(shares[i] * weight);
    if (count > most || count / weight != shares[i]) return {};
    counts.push_back(count);
  }
  return counts;
}

Forest::Parts Forest::parts() const {
  Parts parts;
  parts.begins = begins_;
  parts.lines = shape_.has_classes ? as_counts(lines_, weight_of_lines()) : std::vector<double>{};
  parts.lines_are_counts = !parts.lines.empty();
  if (!parts.lines_are_counts) parts.lines = lines_;
  parts.words = words_;
  parts.leaf_weight = leaf_weight_;
  parts.is_leaf = is_leaf_;
  std::visit(
      [&](const auto& nodes) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const auto& node = nodes[i];
          using Bits = BitsOf<decltype(node.threshold)>;
          if (is_leaf_[i]) {
            parts.has_line.push_back(answers_[i] < 0);
            if (answers_[i] >= 0) parts.asks.push_back(static_cast<std::uint32_t>(answers_[i]));
            continue;
          }
          parts.asks.push_back(node.asks);
          if (node.asks & kByCategories)
            parts.word_start.push_back(
                static_cast<std::uint32_t>(std::bit_cast<Bits>(node.threshold)));
          else
            parts.threshold.push_back(static_cast<double>(node.threshold));
        }
      },
      nodes_);
  return parts;
}

namespace {

/// Reads parts from their beginnings and believes none of them.
struct PartsReader {
  const ForestShape& shape;
  const Forest::Parts& parts;
  std::size_t width;
  std::size_t ask = 0, number = 0, set = 0, leaf = 0, line = 0;

  std::uint32_t next_ask() {
    require(ask < parts.asks.size(), "a forest has fewer questions than nodes");
    return parts.asks[ask++];
  }

  template <class T>
  PackedNode<T> inner_node(std::int32_t next) {
    const std::uint32_t asks = next_ask(), feature = asks & kFeatureBits;
    require(feature < shape.n_categories.size(), "a forest splits by a feature that is not there");
    if (!(asks & kByCategories)) {
      require(number < parts.threshold.size(), "a forest has fewer thresholds than splits");
      return {static_cast<T>(parts.threshold[number++]), asks, next};
    }
    const auto n_words = static_cast<std::uint64_t>(shape.n_categories[feature] + 63) / 64;
    require(set < parts.word_start.size() && n_words > 0 &&
                parts.word_start[set] + n_words <= parts.words.size(),
            "a set of categories of a forest is not there");
    return {std::bit_cast<T>(static_cast<BitsOf<T>>(parts.word_start[set++])), asks, next};
  }

  std::int32_t answer() {
    require(leaf < parts.has_line.size(), "a forest has fewer leaves than it says");
    if (parts.has_line[leaf++]) {
      require((line + 1) * width <= parts.lines.size(), "a leaf of a forest has no values");
      return -1 - static_cast<std::int32_t>(line++);
    }
    const std::uint32_t one = next_ask();
    require(one < width && shape.n_outputs == 1, "a leaf of a forest has no class");
    return static_cast<std::int32_t>(one);
  }

  bool is_at_end() const {
    return ask == parts.asks.size() && number == parts.threshold.size() &&
           set == parts.word_start.size() && leaf == parts.has_line.size() &&
           leaf == parts.leaf_weight.size() && line * width == parts.lines.size();
  }
};

}  // namespace

Forest Forest::of_parts(ForestShape shape, bool single_precision, const Parts& parts) {
  Forest forest(std::move(shape), single_precision);
  PartsReader reader{forest.shape_, parts, static_cast<std::size_t>(forest.line_width())};
  require(!parts.begins.empty() && parts.begins.front() == 0 &&
              std::ranges::is_sorted(parts.begins) &&
              parts.begins.back() == static_cast<std::int64_t>(parts.is_leaf.size()),
          "the parts of a forest do not belong together");
  forest.begins_ = parts.begins;
  forest.lines_ = parts.lines;
  forest.words_ = parts.words;
  forest.leaf_weight_ = parts.leaf_weight;
  forest.is_leaf_ = parts.is_leaf;
  const auto make = [&](auto& nodes) {
    using T = decltype(std::remove_reference_t<decltype(nodes)>::value_type::threshold);
    for (std::size_t t = 0; t + 1 < parts.begins.size(); ++t) {
      const auto n = static_cast<std::int32_t>(parts.begins[t + 1] - parts.begins[t]);
      std::int32_t next = 1;
      for (std::int32_t i = 0; i < n; ++i) {
        const bool is_leaf = parts.is_leaf[static_cast<std::size_t>(parts.begins[t] + i)];
        require(is_leaf || (next > i && next + 1 < n), "a node of a forest leads nowhere");
        nodes.push_back(is_leaf ? leaf_at<T>(i) : reader.inner_node<T>(next));
        forest.answers_.push_back(is_leaf ? reader.answer() : 0);
        next += is_leaf ? 0 : 2;
      }
      require(next == n, "a tree of a forest has nodes without a parent");
    }
  };
  std::visit(make, forest.nodes_);
  require(reader.is_at_end(), "the parts of a forest do not belong together");
  if (parts.lines_are_counts) {
    const std::vector<double> weights = forest.weight_of_lines();
    for (std::size_t i = 0; i < forest.lines_.size(); ++i)
      forest.lines_[i] /= weights[i / reader.width];
  }
  return forest;
}

std::vector<double> Forest::values_of(std::int32_t answer) const {
  const auto width = static_cast<std::size_t>(line_width());
  std::vector<double> values(width, 0.0);
  if (answer >= 0) values[static_cast<std::size_t>(answer)] = 1.0;
  else std::copy_n(&lines_[static_cast<std::size_t>(-1 - answer) * width], width, values.begin());
  return values;
}

FlatTree Forest::tree(std::int64_t number) const {
  FlatTree tree;
  const auto width = static_cast<std::size_t>(line_width());
  tree.n_outputs = shape_.n_outputs;
  tree.value_width = line_width();
  tree.category_words = words_;
  const auto unpack = [&](const auto& nodes) {
    const auto begin = static_cast<std::size_t>(begins_[static_cast<std::size_t>(number)]);
    const auto end = static_cast<std::size_t>(begins_[static_cast<std::size_t>(number) + 1]);
    // A tree has one leaf more than inner nodes.
    std::size_t leaf = (begin + static_cast<std::size_t>(number)) / 2;
    tree.weight.resize(end - begin);
    tree.value.resize((end - begin) * width);
    for (std::size_t i = begin; i < end; ++i) {
      const auto& node = nodes[i];
      using Bits = BitsOf<decltype(node.threshold)>;
      const bool is_leaf = is_leaf_[i] != 0, by_categories = node.asks & kByCategories;
      tree.feature.push_back(is_leaf ? kUndefined : std::int64_t{node.asks & kFeatureBits});
      tree.threshold.push_back(is_leaf || by_categories ? static_cast<double>(kUndefined)
                                                        : static_cast<double>(node.threshold));
      tree.left.push_back(is_leaf ? kNoChild : node.next);
      tree.right.push_back(is_leaf ? kNoChild : node.next + 1);
      tree.missing_left.push_back(!is_leaf && (node.asks & kMissingLeft));
      tree.category_start.push_back(
          by_categories ? static_cast<std::int64_t>(std::bit_cast<Bits>(node.threshold)) : kNoChild);
      if (!is_leaf) continue;
      tree.weight[i - begin] = leaf_weight_[leaf++];
      std::ranges::copy(values_of(answers_[i]), tree.value.begin() + static_cast<std::ptrdiff_t>((i - begin) * width));
    }
  };
  std::visit(unpack, nodes_);
  const std::size_t n = tree.feature.size();
  tree.impurity.assign(n, 0.0);
  tree.n_samples.assign(n, 0);
  tree.n_candidates.assign(n, 0);
  for (std::size_t i = n; i-- > 0;) {
    if (tree.left[i] == kNoChild) continue;
    const auto a = static_cast<std::size_t>(tree.left[i]), b = static_cast<std::size_t>(tree.right[i]);
    tree.weight[i] = tree.weight[a] + tree.weight[b];
    for (std::size_t k = 0; k < width; ++k)
      tree.value[i * width + k] = (tree.weight[a] * tree.value[a * width + k] +
                                   tree.weight[b] * tree.value[b * width + k]) /
                                  tree.weight[i];
  }
  return tree;
}

template void Forest::sums(const DenseRows<float>&, std::int64_t, std::int64_t, std::span<double>,
                           int) const;
template void Forest::sums(const DenseRows<double>&, std::int64_t, std::int64_t,
                           std::span<double>, int) const;
template void Forest::leaves(const DenseRows<float>&, std::span<std::int32_t>, int) const;
template void Forest::leaves(const DenseRows<double>&, std::span<std::int32_t>, int) const;

}  // namespace hedgerow
