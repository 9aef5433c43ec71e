// The way of rows through a tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/tree/tree.hpp"

namespace hedgerow {

/// The arrays of a tree that say where rows go.
struct TreeArrays {
  std::span<const std::int64_t> feature;
  std::span<const double> threshold;
  std::span<const std::int64_t> left, right;
  std::span<const std::uint8_t> missing_left;
  std::span<const std::int64_t> category_start;
  std::span<const std::uint64_t> category_words;
  std::span<const std::int64_t> n_categories;  ///< of each feature
};

class TreeRouter {
 public:
  /// std::invalid_argument if the arrays lead anywhere else than down a tree.
  explicit TreeRouter(const TreeArrays& tree);

  std::int64_t n_features() const { return static_cast<std::int64_t>(n_categories_.size()); }

  /// The leaf of every row. Categories are numbers; NaN, and what is no category, is missing.
  template <class T>
  void leaves(const DenseRows<T>& rows, std::span<std::int32_t> leaves, int n_threads) const;

 private:
  struct Node {
    double threshold;
    std::int32_t feature;
    std::int32_t left, right;
    std::int32_t words;  ///< where its categories begin; negative for numbers
    bool missing_left;
  };

  template <class T>
  std::int32_t leaf(const T* row) const;
  bool category_goes_left(const Node& node, double value) const;

  std::vector<Node> nodes_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> n_categories_;
};

}  // namespace hedgerow
