// Many trees, packed for prediction.
//
// Nodes of a tree lie level by level, siblings side by side: a node knows its left child, the right one
// is next to it. A leaf leads to itself, so that rows can walk on, without a question whether they have
// arrived, until all of them have. A leaf is of one class, or has a line of values.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "hedgerow/data/rows.hpp"
#include "hedgerow/tree/tree.hpp"

namespace hedgerow {

/// T is the type of the numbers that were learnt from, as thresholds need no more digits; double where there
/// are categories, of which a set fits into the node.
template <class T>
struct PackedNode {
  T threshold;  ///< infinity in leaves; of a split by categories, bits: the set, or where its words begin
  std::uint32_t asks;  ///< feature, and the flags below; of a leaf, kMissingLeft
  std::int32_t next;   ///< the left child, from the tree's first node; of a leaf, itself
};

constexpr std::uint32_t kMissingLeft = 1u << 31;
constexpr std::uint32_t kByCategories = 1u << 30;
constexpr std::uint32_t kFeatureBits = kByCategories - 1;

struct ForestShape {
  std::int64_t n_outputs = 1;
  std::int64_t width = 1;  ///< the most classes of an output, 1 for numbers
  bool has_classes = false;
  std::vector<std::int64_t> n_categories;  ///< of each feature
};

class Forest {
 public:
  Forest(ForestShape shape, bool single_precision);

  void add(const FlatTree& tree);

  const ForestShape& shape() const { return shape_; }
  std::int64_t n_trees() const { return static_cast<std::int64_t>(begins_.size()) - 1; }
  std::int64_t n_nodes() const { return begins_.back(); }
  std::int64_t n_bytes() const;
  bool is_single() const { return is_single_; }

  /// Adds the values of the leaves of each row in trees [begin, end) to `sums`, tree after tree, each times
  /// the weight of its tree; there is one for each of these trees, or all are 1 if there is none.
  template <class T>
  void sums(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end,
            std::span<const double> weights, std::span<double> sums, int n_threads) const;

  /// The number of the leaf of each row in each tree: its place among the tree's packed nodes.
  template <class T>
  void leaves(const DenseRows<T>& rows, std::span<std::int32_t> leaves, int n_threads) const;

  /// What is stored of the trees; everything else follows from it.
  struct Parts {
    std::vector<std::int64_t> begins;       ///< of each tree's nodes, and the end of the last one's
    std::vector<std::uint8_t> is_leaf;      ///< of each node
    std::vector<std::uint32_t> asks;        ///< of inner nodes; of leaves of one class, the class
    std::vector<double> threshold;          ///< of each split by numbers
    std::vector<std::uint32_t> word_start;  ///< of each split by categories
    std::vector<std::uint8_t> has_line;     ///< of each leaf: whether it has a line of values
    std::vector<double> lines;              ///< n_outputs x width values a line
    bool lines_are_counts = false;  ///< whether lines are to be divided by the leaf's weight
    std::vector<std::uint64_t> words;
    std::vector<double> leaf_weight;  ///< of each leaf
  };
  Parts parts() const;

  /// A tree as flat arrays again. Values of inner nodes are those of the leaves below them, by weight;
  /// impurities, and numbers of rows and candidates, are not kept, and 0.
  FlatTree tree(std::int64_t number) const;

  /// std::invalid_argument if the parts belong to no forest of that shape.
  static Forest of_parts(ForestShape shape, bool single_precision, const Parts& parts);

 private:
  template <class T>
  using Nodes = std::vector<PackedNode<T>>;

  /// Where the sets of categories are that nodes ask for.
  enum class Sets { none, in_nodes, in_words };

  /// How rows walk down a tree: all that need not be asked at every node.
  struct Way {
    Sets sets;
    bool has_missing;
  };

  double threshold_of(const FlatTree& tree, std::size_t node, std::uint64_t first_word) const;
  std::uint64_t start_of_set(double threshold, std::vector<std::uint64_t>& words) const;
  template <class T>
  void add_nodes(const FlatTree& tree, Nodes<T>& nodes);
  template <Way way, class Node, class T>
  std::int32_t step(const Node& node, const T* row) const;
  template <Way way, class Node, class T>
  void walk(std::span<const Node> nodes, const DenseRows<T>& rows, std::int32_t* leaves) const;
  template <Way way, class Node, class T, class Take>
  void walk_all(const std::vector<Node>& nodes, const DenseRows<T>& rows, std::int64_t first,
                std::int64_t last, const Take& take) const;
  template <class T, class Take>
  void walk_trees(const DenseRows<T>& rows, std::int64_t first, std::int64_t last,
                  const Take& take) const;
  std::int64_t line_width() const { return shape_.n_outputs * shape_.width; }
  std::vector<double> values_of(std::int32_t answer) const;
  std::vector<double> weight_of_lines() const;

  ForestShape shape_;
  bool is_single_;  ///< whether thresholds have the digits of a float
  Sets sets_ = Sets::none;
  std::vector<std::uint32_t> by_categories_;  ///< the features of categories
  std::variant<Nodes<float>, Nodes<double>> nodes_;
  std::vector<std::int32_t> answers_;  ///< of each leaf: its class, or -1 - its line
  std::vector<std::uint8_t> is_leaf_;
  std::vector<std::int64_t> begins_{0};
  std::vector<double> lines_;
  std::vector<std::uint64_t> words_;  ///< of sets that are not in the nodes
  std::vector<double> leaf_weight_;   ///< in the order of the leaves among the nodes
};

}  // namespace hedgerow
