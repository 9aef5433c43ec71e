#include <algorithm>

#include "hedgerow/tree/tree.hpp"

namespace hedgerow {

FlatTree with_leaf_values(const FlatTree& tree, std::span<const double> values) {
  FlatTree result = tree;
  std::ranges::copy(values, result.value.begin());
  average_upwards(result);
  return result;
}

void average_upwards(FlatTree& tree) {
  const auto width = static_cast<std::size_t>(tree.value_width);
  for (std::size_t i = tree.feature.size(); i-- > 0;) {
    if (tree.left[i] == kNoChild) continue;
    const auto a = static_cast<std::size_t>(tree.left[i]),
               b = static_cast<std::size_t>(tree.right[i]);
    for (std::size_t k = 0; k < width; ++k)
      tree.value[i * width + k] = (tree.weight[a] * tree.value[a * width + k] +
                                   tree.weight[b] * tree.value[b * width + k]) /
                                  tree.weight[i];
  }
}

}  // namespace hedgerow
