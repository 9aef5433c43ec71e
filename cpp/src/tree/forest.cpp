#include "hedgerow/tree/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tree/packed_nodes.hpp"

namespace hedgerow {
namespace {

/// A threshold in the digits of a float that parts the same floats: rounded down.
float narrowed(double threshold) {
  const auto near = static_cast<float>(threshold);
  return static_cast<double>(near) > threshold
             ? std::nextafter(near, -std::numeric_limits<float>::infinity())
             : near;
}

}  // namespace

Forest::Forest(ForestShape shape, bool single_precision)
    : shape_(std::move(shape)), is_single_(single_precision) {
  for (std::uint32_t j = 0; j < shape_.n_categories.size(); ++j)
    if (shape_.n_categories[j] > 0) by_categories_.push_back(j);
  const bool fit_nodes =
      std::ranges::all_of(shape_.n_categories, [](auto n) { return n <= kMissingBit; });
  if (!by_categories_.empty()) sets_ = fit_nodes ? Sets::in_nodes : Sets::in_words;
  if (!is_single_ || sets_ != Sets::none) nodes_ = Nodes<double>();
}

std::int64_t Forest::n_bytes() const {
  const std::size_t nodes =
      std::visit([](const auto& all) { return all.size() * sizeof(all[0]); }, nodes_);
  const std::size_t numbers = lines_.size() + words_.size() + begins_.size() + leaf_weight_.size();
  return static_cast<std::int64_t>(nodes + 5 * answers_.size() + 8 * numbers);
}

/// `first_word`: where the tree's words begin among those of the forest.
double Forest::threshold_of(const FlatTree& tree, std::size_t node,
                            std::uint64_t first_word) const {
  const double threshold = tree.threshold[node];
  if (tree.category_start[node] == kNoChild) return is_single_ ? narrowed(threshold) : threshold;
  const auto start = static_cast<std::uint64_t>(tree.category_start[node]);
  if (sets_ == Sets::in_words) return std::bit_cast<double>(first_word + start);
  return set_in_node(tree.category_words[start], tree.missing_left[node]);
}

template <class T>
void Forest::add_nodes(const FlatTree& tree, Nodes<T>& nodes) {
  const auto width = static_cast<std::size_t>(line_width());
  const std::uint64_t first_word = words_.size();
  if (sets_ == Sets::in_words)
    words_.insert(words_.end(), tree.category_words.begin(), tree.category_words.end());
  const std::size_t n = tree.feature.size(), first = nodes.size();
  const std::vector<std::int32_t> pure = shape_.has_classes && shape_.n_outputs == 1
                                             ? pure_classes(tree)
                                             : std::vector<std::int32_t>(n, kNotPure);
  nodes.resize(first + n);
  answers_.resize(first + n);
  is_leaf_.resize(first + n);
  std::vector<std::int64_t> by_levels(n);  // the nodes level by level, siblings side by side
  std::size_t next = 1;
  for (std::size_t place = 0; place < n; ++place) {
    const auto i = static_cast<std::size_t>(by_levels[place]);
    const bool is_leaf = tree.left[i] == kNoChild;
    is_leaf_[first + place] = is_leaf;
    if (!is_leaf) {
      const bool by_categories = tree.category_start[i] != kNoChild;
      const std::uint32_t flags =
          (tree.missing_left[i] ? kMissingLeft : 0) | (by_categories ? kByCategories : 0);
      nodes[first + place] = {static_cast<T>(threshold_of(tree, i, first_word)),
                              static_cast<std::uint32_t>(tree.feature[i]) | flags,
                              static_cast<std::int32_t>(next)};
      by_levels[next++] = tree.left[i];
      by_levels[next++] = tree.right[i];
      continue;
    }
    nodes[first + place] = leaf_at<T>(static_cast<std::int32_t>(place));
    leaf_weight_.push_back(tree.weight[i]);
    std::int32_t& answer = answers_[first + place];
    answer = pure[i];
    if (answer != kNotPure) continue;
    answer = -1 - static_cast<std::int32_t>(lines_.size() / width);
    lines_.insert(lines_.end(), &tree.value[i * width], &tree.value[i * width] + width);
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

}  // namespace hedgerow
