#include "hedgerow/tree/tree.hpp"

namespace hedgerow {
namespace {

/// For every node the place it will have; for one that goes, that of the leaf above it.
struct Places {
  std::vector<std::int64_t> place;
  std::vector<std::size_t> kept;
};

Places places_after(const FlatTree& tree, std::span<const std::uint8_t> becomes_leaf) {
  const std::size_t n = tree.feature.size();
  Places places{std::vector<std::int64_t>(n, kNoChild), {}};
  std::vector<std::int64_t> leaf_above(n, kNoChild);
  for (std::size_t i = 0; i < n; ++i) {
    const bool stays = leaf_above[i] == kNoChild;
    if (stays) {
      places.place[i] = static_cast<std::int64_t>(places.kept.size());
      places.kept.push_back(i);
    } else {
      places.place[i] = leaf_above[i];
    }
    if (tree.left[i] == kNoChild || (stays && !becomes_leaf[i])) continue;
    leaf_above[static_cast<std::size_t>(tree.left[i])] = places.place[i];
    leaf_above[static_cast<std::size_t>(tree.right[i])] = places.place[i];
  }
  return places;
}

}  // namespace

FlatTree pruned(const FlatTree& tree, std::span<const std::uint8_t> becomes_leaf) {
  const Places places = places_after(tree, becomes_leaf);
  FlatTree result;
  result.n_outputs = tree.n_outputs;
  result.value_width = tree.value_width;
  result.was_stopped = tree.was_stopped;
  result.category_words = tree.category_words;
  const auto width = static_cast<std::ptrdiff_t>(tree.value_width);
  for (const std::size_t i : places.kept) {
    const bool is_leaf = tree.left[i] == kNoChild || becomes_leaf[i];
    const auto child = [&](std::int64_t old) {
      return is_leaf ? kNoChild : places.place[static_cast<std::size_t>(old)];
    };
    result.feature.push_back(is_leaf ? kUndefined : tree.feature[i]);
    result.threshold.push_back(is_leaf ? static_cast<double>(kUndefined) : tree.threshold[i]);
    result.left.push_back(child(tree.left[i]));
    result.right.push_back(child(tree.right[i]));
    result.missing_left.push_back(is_leaf ? 0 : tree.missing_left[i]);
    result.impurity.push_back(tree.impurity[i]);
    result.n_samples.push_back(tree.n_samples[i]);
    result.weight.push_back(tree.weight[i]);
    result.n_candidates.push_back(is_leaf ? 0 : tree.n_candidates[i]);
    result.category_start.push_back(is_leaf ? kNoChild : tree.category_start[i]);
    const auto value = tree.value.begin() + static_cast<std::ptrdiff_t>(i) * width;
    result.value.insert(result.value.end(), value, value + width);
  }
  for (const std::int32_t leaf : tree.leaf_of_row)
    result.leaf_of_row.push_back(
        static_cast<std::int32_t>(places.place[static_cast<std::size_t>(leaf)]));
  return result;
}

}  // namespace hedgerow
