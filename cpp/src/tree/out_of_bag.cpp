#include "hedgerow/tree/out_of_bag.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hedgerow {
namespace {

std::int32_t largest(std::span<const double> values) {
  return static_cast<std::int32_t>(std::ranges::max_element(values) - values.begin());
}

/// What a leaf says of an output: its class, and whether it holds no other.
struct Answer {
  std::int32_t of_class;
  bool is_sure;
};

std::vector<Answer> answers_of(const FlatTree& tree, std::size_t n_outputs, std::size_t width) {
  std::vector<Answer> answers(tree.feature.size() * n_outputs);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (tree.left[i / n_outputs] != kNoChild) continue;
    const std::span<const double> shares(&tree.value[i * width], width);
    const std::int32_t k = largest(shares);
    answers[i] = {k, shares[static_cast<std::size_t>(k)] == 1.0};
  }
  return answers;
}

}  // namespace

OutOfBag::OutOfBag(OutOfBagTargets targets, std::vector<std::uint8_t> is_judged)
    : targets_(std::move(targets)), is_judged_(std::move(is_judged)),
      sums_(n_rows() * targets_.n_outputs * targets_.width), n_trees_(n_rows()),
      tree_losses_(n_rows()), losses_(n_rows()), answers_(targets_.classes.size()) {}

double OutOfBag::add(const FlatTree& tree, std::span<const std::uint32_t> counts) {
  if (targets_.numbers.empty()) add_classes(tree, counts);
  else add_numbers(tree, counts);
  return error();
}

void OutOfBag::add_classes(const FlatTree& tree, std::span<const std::uint32_t> counts) {
  const std::size_t n_outputs = targets_.n_outputs, width = targets_.width;
  const std::vector<Answer> answers = answers_of(tree, n_outputs, width);
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (counts[row] > 0) continue;
    ++n_trees_[row];
    const auto leaf = static_cast<std::size_t>(tree.leaf_of_row[row]);
    bool tree_is_wrong = false;
    for (std::size_t o = 0; o < n_outputs; ++o) {
      const Answer answer = answers[leaf * n_outputs + o];
      const std::size_t place = row * n_outputs + o;
      const std::span<double> sums(&sums_[place * width], width);
      tree_is_wrong |= answer.of_class != targets_.classes[place];
      std::int32_t& best = answers_[place];
      if (answer.is_sure) {  // the others stay as they are
        const double sum = sums[static_cast<std::size_t>(answer.of_class)] += 1.0;
        const double most = sums[static_cast<std::size_t>(best)];
        if (sum > most || (sum == most && answer.of_class < best)) best = answer.of_class;
      } else {
        const double* shares = &tree.value[(leaf * n_outputs + o) * width];
        for (std::size_t k = 0; k < width; ++k) sums[k] += shares[k];
        best = largest(sums);
      }
    }
    tree_losses_[row] += tree_is_wrong;
    losses_[row] = is_wrong(row);
  }
}

void OutOfBag::add_numbers(const FlatTree& tree, std::span<const std::uint32_t> counts) {
  const std::size_t n_outputs = targets_.n_outputs;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (counts[row] > 0) continue;
    ++n_trees_[row];
    const double* value = &tree.value[static_cast<std::size_t>(tree.leaf_of_row[row]) * n_outputs];
    double loss = 0;
    for (std::size_t o = 0; o < n_outputs; ++o) {
      const double off = value[o] - targets_.numbers[row * n_outputs + o];
      sums_[row * n_outputs + o] += value[o];
      loss += off * off;
    }
    tree_losses_[row] += loss / static_cast<double>(n_outputs);
    losses_[row] = squared_error(row);
  }
}

bool OutOfBag::is_wrong(std::size_t row) const {
  const std::size_t first = row * targets_.n_outputs;
  return !std::equal(&answers_[first], &answers_[first] + targets_.n_outputs,
                     &targets_.classes[first]);
}

double OutOfBag::squared_error(std::size_t row) const {
  double sum = 0;
  for (std::size_t i = row * targets_.n_outputs; i < (row + 1) * targets_.n_outputs; ++i) {
    const double off = sums_[i] / n_trees_[row] - targets_.numbers[i];
    sum += off * off;
  }
  return sum / static_cast<double>(targets_.n_outputs);
}

double OutOfBag::error() const {
  double sum = 0;
  std::int64_t n = 0;
  for (std::size_t row = 0; row < n_rows(); ++row) {
    if (!is_judged_[row] || n_trees_[row] == 0) continue;
    sum += losses_[row];
    ++n;
  }
  return n > 0 ? sum / static_cast<double>(n) : std::numeric_limits<double>::quiet_NaN();
}

void OutOfBag::restore(std::span<const double> sums, std::span<const std::int32_t> n_trees,
                       std::span<const double> tree_losses) {
  sums_.assign(sums.begin(), sums.end());
  n_trees_.assign(n_trees.begin(), n_trees.end());
  tree_losses_.assign(tree_losses.begin(), tree_losses.end());
  for (std::size_t i = 0; i < answers_.size(); ++i)
    answers_[i] = largest(std::span(sums_).subspan(i * targets_.width, targets_.width));
  for (std::size_t row = 0; row < n_rows(); ++row)
    if (n_trees_[row] > 0)
      losses_[row] = targets_.numbers.empty() ? is_wrong(row) : squared_error(row);
}

}  // namespace hedgerow
