// What the trees of a forest say of the rows that their samples lack, and how wrong that is: taken in
// tree by tree, while a tree still knows into which leaf every row falls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/tree/tree.hpp"

namespace hedgerow {

/// What is true of every row, n_outputs values one after the other: classes, or numbers.
struct OutOfBagTargets {
  std::vector<std::int32_t> classes;  ///< empty for numbers
  std::vector<double> numbers;        ///< empty for classes
  std::size_t n_outputs = 1;
  std::size_t width = 1;  ///< the most classes of an output; 1 for numbers
};

/// A row of classes is wrong, and its loss 1, if the largest sum of any output is another class's; of
/// equal ones the first counts. The loss of numbers is the squared error of the mean.
class OutOfBag {
 public:
  /// Errors are those of the rows that are judged.
  OutOfBag(OutOfBagTargets targets, std::vector<std::uint8_t> is_judged);

  std::size_t n_rows() const { return is_judged_.size(); }
  const OutOfBagTargets& targets() const { return targets_; }
  std::vector<double>& sums() { return sums_; }              ///< width values an output and row
  std::vector<std::int32_t>& n_trees() { return n_trees_; }  ///< whose samples lack the row
  std::vector<double>& tree_losses() {
    return tree_losses_;
  }  ///< of these trees one by one, summed

  /// Takes in a tree; rows of which counts is 0 are out of its bag. Returns the error of all so far.
  double add(const FlatTree& tree, std::span<const std::uint32_t> counts);

  /// Goes on from other sums.
  void restore(std::span<const double> sums, std::span<const std::int32_t> n_trees,
               std::span<const double> tree_losses);

 private:
  void fetch_sums(std::size_t row, const FlatTree& tree, std::span<const std::int32_t> pure) const;
  void add_classes(const FlatTree& tree, std::span<const std::uint32_t> counts);
  void add_numbers(const FlatTree& tree, std::span<const std::uint32_t> counts);
  bool is_wrong(std::size_t row) const;
  double squared_error(std::size_t row) const;
  double error() const;

  OutOfBagTargets targets_;
  std::vector<std::uint8_t> is_judged_;
  std::vector<double> sums_;
  std::vector<std::int32_t> n_trees_;
  std::vector<double> tree_losses_;
  std::vector<double> losses_;         ///< of the sums of each row
  std::vector<std::int32_t> answers_;  ///< the class of the largest sum of each row and output
};

}  // namespace hedgerow
