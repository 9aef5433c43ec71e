// A learnt tree as flat arrays, one entry a node. Node 0 is the root, and children come after their
// parents.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hedgerow {

constexpr std::int64_t kNoChild = -1;
constexpr std::int64_t kUndefined = -2;

struct FlatTree {
  std::vector<std::int64_t> feature;       ///< kUndefined for leaves
  std::vector<double> threshold;           ///< at most this goes left; kUndefined if there is none
  std::vector<std::int64_t> left, right;   ///< kNoChild for leaves
  std::vector<std::uint8_t> missing_left;  ///< where missing and unseen values go
  std::vector<double> impurity;
  std::vector<std::int64_t> n_samples;
  std::vector<double> weight;
  std::vector<double> value;                  ///< value_width numbers a node
  std::vector<std::int64_t> n_candidates;     ///< splits that were compared
  std::vector<std::int64_t> category_start;   ///< kNoChild unless the node splits by categories
  std::vector<std::uint64_t> category_words;  ///< sets of categories that go left
  std::vector<std::int32_t> leaf_of_row;      ///< for every row of the table
  std::int64_t n_outputs = 1;
  std::int64_t value_width = 1;  ///< n_outputs times the most classes of an output
  bool was_stopped = false;

  std::int64_t n_nodes() const { return static_cast<std::int64_t>(feature.size()); }
};

/// The tree with the marked nodes as leaves and nothing below them; nodes keep their order.
FlatTree pruned(const FlatTree& tree, std::span<const std::uint8_t> becomes_leaf);

/// The tree with other values in its leaves, value_width for each node; what is given for inner nodes is
/// not read. These get the means of the leaves below them.
FlatTree with_leaf_values(const FlatTree& tree, std::span<const double> values);

/// Gives every inner node the mean of its children's values, by weight.
void average_upwards(FlatTree& tree);

constexpr std::int32_t kNotPure = -1;

/// For every node and output the class that all of a leaf's rows have; kNotPure if there is none,
/// and for inner nodes.
std::vector<std::int32_t> pure_classes(const FlatTree& tree);

}  // namespace hedgerow
