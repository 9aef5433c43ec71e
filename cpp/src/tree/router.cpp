#include "hedgerow/tree/router.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hedgerow/system/parallel.hpp"

namespace hedgerow {
namespace {

/// Rows of one task.
constexpr std::int64_t kRowsAtATime = 4096;

void require(bool is_fine, const char* what) {
  if (!is_fine) throw std::invalid_argument(what);
}

/// Children after their parents, each of one parent, and features and sets that exist.
void check(const TreeArrays& tree) {
  const std::size_t n = tree.feature.size();
  require(n > 0 && tree.threshold.size() == n && tree.left.size() == n && tree.right.size() == n &&
              tree.missing_left.size() == n && tree.category_start.size() == n,
          "the arrays of a tree differ in length: give one entry a node");
  std::vector<bool> has_parent(n, false);
  const auto take = [&](std::size_t node, std::int64_t child) {
    require(child > static_cast<std::int64_t>(node) && child < static_cast<std::int64_t>(n) &&
                !has_parent[static_cast<std::size_t>(child)],
            "a child of the tree does not come after its parent, or has two: fit it again");
    has_parent[static_cast<std::size_t>(child)] = true;
  };
  for (std::size_t i = 0; i < n; ++i) {
    require((tree.left[i] == kNoChild) == (tree.right[i] == kNoChild),
            "a node of the tree has one child: give two or none");
    if (tree.left[i] == kNoChild) continue;
    take(i, tree.left[i]);
    take(i, tree.right[i]);
    require(tree.feature[i] >= 0 &&
                tree.feature[i] < static_cast<std::int64_t>(tree.n_categories.size()),
            "a node of the tree splits by a feature that is not there");
    if (tree.category_start[i] == kNoChild) continue;
    const std::int64_t n_words =
        (tree.n_categories[static_cast<std::size_t>(tree.feature[i])] + 63) / 64;
    require(tree.category_start[i] >= 0 && n_words > 0 &&
                tree.category_start[i] + n_words <=
                    static_cast<std::int64_t>(tree.category_words.size()),
            "a set of categories of the tree is not there");
  }
  require(
      std::count(has_parent.begin(), has_parent.end(), true) == static_cast<std::ptrdiff_t>(n) - 1,
      "a node of the tree has no parent");
}

}  // namespace

TreeRouter::TreeRouter(const TreeArrays& tree)
    : words_(tree.category_words.begin(), tree.category_words.end()),
      n_categories_(tree.n_categories.begin(), tree.n_categories.end()) {
  check(tree);
  nodes_.reserve(tree.feature.size());
  for (std::size_t i = 0; i < tree.feature.size(); ++i)
    nodes_.push_back(
        {tree.threshold[i], static_cast<std::int32_t>(tree.feature[i]),
         static_cast<std::int32_t>(tree.left[i]), static_cast<std::int32_t>(tree.right[i]),
         static_cast<std::int32_t>(tree.category_start[i]), tree.missing_left[i] != 0});
}

bool TreeRouter::category_goes_left(const Node& node, double value) const {
  const auto n = static_cast<double>(n_categories_[static_cast<std::size_t>(node.feature)]);
  if (!(value >= 0 && value < n)) return node.missing_left;
  const auto category = static_cast<std::size_t>(value);
  return (words_[static_cast<std::size_t>(node.words) + category / 64] >> (category % 64)) & 1;
}

template <class T>
std::int32_t TreeRouter::leaf(const T* row) const {
  std::int32_t at = 0;
  while (nodes_[static_cast<std::size_t>(at)].left >= 0) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    const auto value = static_cast<double>(row[node.feature]);
    bool goes_left = value <= node.threshold;
    if (node.words >= 0)
      goes_left = category_goes_left(node, value);
    else if (std::isnan(value))
      goes_left = node.missing_left;
    at = goes_left ? node.left : node.right;
  }
  return at;
}

template <class T>
void TreeRouter::leaves(const DenseRows<T>& rows, std::span<std::int32_t> leaves,
                        int n_threads) const {
  const std::int64_t n_tasks = (rows.n_rows + kRowsAtATime - 1) / kRowsAtATime;
  const auto run = [&](std::int64_t task) {
    const std::int64_t end = std::min(rows.n_rows, (task + 1) * kRowsAtATime);
    for (std::int64_t i = task * kRowsAtATime; i < end; ++i)
      leaves[static_cast<std::size_t>(i)] = leaf(rows.values + i * rows.row_stride);
  };
  if (n_tasks == 1) return run(0);
  parallel_for(n_tasks, n_threads, run);
}

template void TreeRouter::leaves(const DenseRows<float>&, std::span<std::int32_t>, int) const;
template void TreeRouter::leaves(const DenseRows<double>&, std::span<std::int32_t>, int) const;

}  // namespace hedgerow
