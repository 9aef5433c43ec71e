// A forest as the arrays that are stored of it, and as flat trees again.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "hedgerow/tree/forest.hpp"
#include "tree/packed_nodes.hpp"

namespace hedgerow {

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

/// Where the set of a node begins among `words`, to which it is added if it was in the node.
std::uint64_t Forest::start_of_set(double threshold, std::vector<std::uint64_t>& words) const {
  const auto bits = std::bit_cast<std::uint64_t>(threshold);
  if (sets_ == Sets::in_words) return bits;
  words.push_back(bits & ~kMissingIsIn);
  return words.size() - 1;
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
          if (is_leaf_[i]) {
            parts.has_line.push_back(answers_[i] < 0);
            if (answers_[i] >= 0) parts.asks.push_back(static_cast<std::uint32_t>(answers_[i]));
            continue;
          }
          parts.asks.push_back(node.asks);
          if (!(node.asks & kByCategories)) {
            parts.threshold.push_back(static_cast<double>(node.threshold));
            continue;
          }
          const std::uint64_t start = start_of_set(node.threshold, parts.words);
          parts.word_start.push_back(static_cast<std::uint32_t>(start));
        }
      },
      nodes_);
  return parts;
}

namespace {

void require(bool is_fine, const char* what) {
  if (!is_fine) throw std::invalid_argument(what);
}

/// Reads parts from their beginnings and believes none of them.
struct PartsReader {
  const ForestShape& shape;
  const Forest::Parts& parts;
  std::size_t width;
  bool sets_in_nodes;
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
    const std::uint64_t start = parts.word_start[set++];
    const double threshold = sets_in_nodes ? set_in_node(parts.words[start], asks & kMissingLeft)
                                           : std::bit_cast<double>(start);
    return {static_cast<T>(threshold), asks, next};
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
  PartsReader reader{forest.shape_, parts, static_cast<std::size_t>(forest.line_width()),
                     forest.sets_ == Sets::in_nodes};
  require(!parts.begins.empty() && parts.begins.front() == 0 &&
              std::ranges::is_sorted(parts.begins) &&
              parts.begins.back() == static_cast<std::int64_t>(parts.is_leaf.size()),
          "the parts of a forest do not belong together");
  forest.begins_ = parts.begins;
  forest.lines_ = parts.lines;
  if (forest.sets_ == Sets::in_words) forest.words_ = parts.words;
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
  if (answer >= 0)
    values[static_cast<std::size_t>(answer)] = 1.0;
  else
    std::copy_n(&lines_[static_cast<std::size_t>(-1 - answer) * width], width, values.begin());
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
      const bool is_leaf = is_leaf_[i] != 0, by_categories = node.asks & kByCategories;
      tree.feature.push_back(is_leaf ? kUndefined : std::int64_t{node.asks & kFeatureBits});
      tree.threshold.push_back(is_leaf || by_categories ? static_cast<double>(kUndefined)
                                                        : static_cast<double>(node.threshold));
      tree.left.push_back(is_leaf ? kNoChild : node.next);
      tree.right.push_back(is_leaf ? kNoChild : node.next + 1);
      tree.missing_left.push_back(!is_leaf && (node.asks & kMissingLeft));
      tree.category_start.push_back(by_categories ? static_cast<std::int64_t>(start_of_set(
                                                        node.threshold, tree.category_words))
                                                  : kNoChild);
      if (!is_leaf) continue;
      tree.weight[i - begin] = leaf_weight_[leaf++];
      std::ranges::copy(values_of(answers_[i]), &tree.value[(i - begin) * width]);
    }
  };
  std::visit(unpack, nodes_);
  const std::size_t n = tree.feature.size();
  tree.impurity.assign(n, 0.0);
  tree.n_samples.assign(n, 0);
  tree.n_candidates.assign(n, 0);
  for (std::size_t i = n; i-- > 0;) {
    if (tree.left[i] == kNoChild) continue;
    const auto a = static_cast<std::size_t>(tree.left[i]),
               b = static_cast<std::size_t>(tree.right[i]);
    tree.weight[i] = tree.weight[a] + tree.weight[b];
  }
  average_upwards(tree);
  return tree;
}

}  // namespace hedgerow
