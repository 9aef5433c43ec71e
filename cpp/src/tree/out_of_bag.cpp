#include "hedgerow/tree/out_of_bag.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hedgerow {
namespace {

std::int32_t largest(std::span<const double> values) {
  return static_cast<std::int32_t>(std::ranges::max_element(values) - values.begin());
}

/// How many rows before it is its turn the memory of a row is asked for.
constexpr std::size_t kAhead = 16;

/// The rows that a sample lacks.
std::vector<std::uint32_t> rows_out(std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> rows(counts.size());
  std::size_t n = 0;
  for (std::uint32_t row = 0; row < counts.size(); ++row) {
    rows[n] = row;
    n += counts[row] == 0;
  }
  rows.resize(n);
  return rows;
}

}  // namespace

OutOfBag::OutOfBag(OutOfBagTargets targets, std::vector<std::uint8_t> is_judged)
    : targets_(std::move(targets)),
      is_judged_(std::move(is_judged)),
      sums_(n_rows() * targets_.n_outputs * targets_.width),
      n_trees_(n_rows()),
      tree_losses_(n_rows()),
      losses_(n_rows()),
      answers_(targets_.classes.size()) {}

double OutOfBag::add(const FlatTree& tree, std::span<const std::uint32_t> counts) {
  if (targets_.numbers.empty())
    add_classes(tree, counts);
  else
    add_numbers(tree, counts);
  return error();
}

/// Asks for what a tree is going to add to.
void OutOfBag::fetch_sums(std::size_t row, const FlatTree& tree,
                          std::span<const std::int32_t> pure) const {
  const std::size_t leaf = static_cast<std::size_t>(tree.leaf_of_row[row]) * targets_.n_outputs;
  const auto first = static_cast<std::size_t>(std::max(0, pure[leaf]));
  __builtin_prefetch(&sums_[row * targets_.n_outputs * targets_.width + first]);
}

void OutOfBag::add_classes(const FlatTree& tree, std::span<const std::uint32_t> counts) {
  const std::size_t n_outputs = targets_.n_outputs, width = targets_.width;
  const std::vector<std::int32_t> pure = pure_classes(tree);
  const std::vector<std::uint32_t> rows = rows_out(counts);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) fetch_sums(rows[i + kAhead], tree, pure);
    const std::size_t row = rows[i];
    ++n_trees_[row];
    const auto leaf = static_cast<std::size_t>(tree.leaf_of_row[row]);
    bool tree_is_wrong = false;
    for (std::size_t o = 0; o < n_outputs; ++o) {
      const std::size_t place = row * n_outputs + o;
      std::int32_t answer = pure[leaf * n_outputs + o];
      const std::span<double> sums(&sums_[place * width], width);
      std::int32_t& best = answers_[place];
      if (answer != kNotPure) {  // the others stay as they are
        const double sum = sums[static_cast<std::size_t>(answer)] += 1.0;
        const double most = sums[static_cast<std::size_t>(best)];
        if (sum > most || (sum == most && answer < best)) best = answer;
      } else {
        const std::span<const double> shares(&tree.value[(leaf * n_outputs + o) * width], width);
        for (std::size_t k = 0; k < width; ++k) sums[k] += shares[k];
        best = largest(sums);
        answer = largest(shares);
      }
      tree_is_wrong |= answer != targets_.classes[place];
    }
    tree_losses_[row] += tree_is_wrong;
    losses_[row] = is_wrong(row);
  }
}

void OutOfBag::add_numbers(const FlatTree& tree, std::span<const std::uint32_t> counts) {
  const std::size_t n_outputs = targets_.n_outputs;
  for (const std::size_t row : rows_out(counts)) {
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
