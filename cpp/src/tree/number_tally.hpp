// Sums of numbers on both sides of a cut, and what a cut is worth by them; see class_tally.hpp for
// what worth is. Squared error: S^2 / W, S being the weighted sum; Poisson: S log(S / W). Sums of
// squared error are of differences to the node's mean, so that large numbers do not swamp small ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hedgerow/tree/grower.hpp"
#include "items.hpp"

namespace hedgerow::tree {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// A side of a node with that sum of counts is one of zeros, but for rounding, if its sum is no more
/// than this; it would make counts above zero impossible.
inline double sum_of_zeros(double node_sum) { return 1e-12 * node_sum; }

template <NumberCriterion criterion>
double number_worth(double sum, double weight, double zeros) {
  if constexpr (criterion == NumberCriterion::squared_error) return sum * sum / weight;
  return sum > zeros ? sum * std::log(sum / weight) : kNever;
}

/// Impurity of numbers, given their weighted mean.
template <NumberCriterion criterion>
double number_deviance(double y, double mean) {
  if constexpr (criterion == NumberCriterion::squared_error) return (y - mean) * (y - mean);
  return y > 0 ? y * std::log(y / mean) : 0.0;
}

template <NumberCriterion criterion>
class NumberTally {
 public:
  using Item = NumberItem;
  using Bin = double;
  static constexpr bool kHasBins = true;
  static constexpr bool kScoresGroups = true;

  NumberTally(const NumberTargets& targets, std::span<const double> weights)
      : y_(targets.y), weights_(weights) {}

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    return {y_[row], weights_.empty() ? count : weights_[row] * count, row, count};
  }

  void set_node(std::span<const Item> items) {
    weight_ = sum_ = deviance_ = 0;
    double least = items[0].y, most = items[0].y;
    for (const Item& item : items) {
      weight_ += item.w;
      sum_ += item.w * item.y;
      least = std::min(least, item.y);
      most = std::max(most, item.y);
    }
    is_pure_ = least == most;
    mean_ = is_pure_ ? least : std::clamp(sum_ / weight_, least, most);
    for (const Item& item : items) deviance_ += item.w * number_deviance<criterion>(item.y, mean_);
    if constexpr (criterion == NumberCriterion::squared_error) {
      sum_ = 0;
      for (const Item& item : items) sum_ += item.w * (item.y - mean_);
    }
  }

  double weight() const { return weight_; }
  bool is_pure() const { return is_pure_; }
  double worth() const { return number_worth<criterion>(sum_, weight_, 0.0); }
  double impurity() const { return is_pure_ ? 0.0 : deviance_ / weight_; }
  void write_value(double* value) const { value[0] = mean_; }

  template <class Sorted>
  void begin(std::span<const Sorted>, std::span<const Item> left_already, std::span<const Item>) {
    left_weight_ = left_sum_ = 0;
    for (const Item& item : left_already) move(item);
  }
  void move(const Item& item) {
    left_weight_ += item.w;
    left_sum_ += item.w * (item.y - center());
  }
  double cut_worth() const {
    const double zeros = sum_of_zeros(sum_);
    return number_worth<criterion>(left_sum_, left_weight_, zeros) +
           number_worth<criterion>(sum_ - left_sum_, weight_ - left_weight_, zeros);
  }
  double left_weight() const { return left_weight_; }
  double right_weight() const { return weight_ - left_weight_; }
  double left_level() const { return center() + left_sum_ / left_weight_; }
  double right_level() const { return center() + (sum_ - left_sum_) / right_weight(); }
  double level(const double* value) const { return value[0]; }
  void set_level(double* value, double level) const { value[0] = level; }

  std::size_t bin_width() const { return 3; }
  void add_to_bin(Bin* bin, const Item& item) const {
    bin[0] += item.times;
    bin[1] += item.w;
    bin[2] += item.w * (item.y - center());
  }
  void move_bin(const Bin* bin) {
    left_weight_ += bin[1];
    left_sum_ += bin[2];
  }

  std::size_t group_width() const { return 2; }
  double group_weight(const double* group) const { return group[0]; }
  void add_to_group(double* group, const Item& item) const {
    group[0] += item.w;
    group[1] += item.w * (item.y - center());
  }
  std::size_t n_orders() const { return 1; }
  bool order_is_optimal() const { return criterion == NumberCriterion::squared_error; }
  double place(const double* group, std::size_t) const { return group[1] / group[0]; }
  double worth_with_left(const double* left) const {
    const double zeros = sum_of_zeros(sum_);
    return number_worth<criterion>(left[1], left[0], zeros) +
           number_worth<criterion>(sum_ - left[1], weight_ - left[0], zeros);
  }

 private:
  double center() const { return criterion == NumberCriterion::squared_error ? mean_ : 0.0; }

  std::span<const double> y_;
  std::span<const double> weights_;
  double weight_ = 0, sum_ = 0, mean_ = 0, deviance_ = 0, left_weight_ = 0, left_sum_ = 0;
  bool is_pure_ = false;
};

/// Several outputs: impurity is the mean of theirs.
template <NumberCriterion criterion>
class SeveralNumberTally {
 public:
  using Item = RowItem;
  using Bin = double;
  static constexpr bool kHasBins = false;
  static constexpr bool kScoresGroups = true;

  SeveralNumberTally(const NumberTargets& targets, std::span<const double> weights)
      : y_(targets.y), weights_(weights), n_outputs_(static_cast<std::size_t>(targets.n_outputs)),
        means_(n_outputs_), centers_(n_outputs_), left_(1 + n_outputs_), total_(1 + n_outputs_) {}

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    return {weights_.empty() ? count : weights_[row] * count, row, count};
  }

  void set_node(std::span<const Item> items) {
    is_pure_ = true;
    std::ranges::fill(centers_, 0.0);
    sum_up(items);
    for (std::size_t o = 0; o < n_outputs_; ++o) means_[o] = total_[1 + o] / total_[0];
    deviance_ = 0;
    for (const Item& item : items)
      for (std::size_t o = 0; o < n_outputs_; ++o) {
        is_pure_ = is_pure_ && y(item, o) == y(items[0], o);
        deviance_ += item.w * number_deviance<criterion>(y(item, o), means_[o]);
      }
    deviance_ /= static_cast<double>(n_outputs_);
    if (is_pure_)
      for (std::size_t o = 0; o < n_outputs_; ++o) means_[o] = y(items[0], o);
    if constexpr (criterion == NumberCriterion::squared_error) {
      centers_ = means_;
      sum_up(items);
    }
  }

  double weight() const { return total_[0]; }
  bool is_pure() const { return is_pure_; }
  double worth() const { return sum_of_parts(total_.data(), nullptr); }
  double impurity() const { return is_pure_ ? 0.0 : deviance_ / total_[0]; }
  void write_value(double* value) const { std::ranges::copy(means_, value); }

  template <class Sorted>
  void begin(std::span<const Sorted>, std::span<const Item> left_already, std::span<const Item>) {
    std::ranges::fill(left_, 0.0);
    for (const Item& item : left_already) move(item);
  }
  void move(const Item& item) { add_to_group(left_.data(), item); }
  double cut_worth() const { return worth_with_left(left_.data()); }
  double left_weight() const { return left_[0]; }
  double right_weight() const { return total_[0] - left_[0]; }
  double left_level() const { return 0; }
  double right_level() const { return 0; }
  double level(const double*) const { return 0; }
  void set_level(double*, double) const {}

  std::size_t bin_width() const { return 0; }
  void add_to_bin(Bin*, const Item&) const {}
  void move_bin(const Bin*) {}

  std::size_t group_width() const { return 1 + n_outputs_; }
  double group_weight(const double* group) const { return group[0]; }
  void add_to_group(double* group, const Item& item) const {
    group[0] += item.w;
    for (std::size_t o = 0; o < n_outputs_; ++o) group[1 + o] += item.w * y(item, o);
  }
  std::size_t n_orders() const { return n_outputs_; }
  bool order_is_optimal() const { return false; }
  double place(const double* group, std::size_t order) const { return group[1 + order] / group[0]; }
  double worth_with_left(const double* left) const {
    return sum_of_parts(left, nullptr) + sum_of_parts(total_.data(), left);
  }

 private:
  void sum_up(std::span<const Item> items) {
    std::ranges::fill(total_, 0.0);
    for (const Item& item : items) add_to_group(total_.data(), item);
  }
  double y(const Item& item, std::size_t o) const {
    return y_[item.row * n_outputs_ + o] - centers_[o];
  }
  double sum_of_parts(const double* sums, const double* less) const {
    const double weight = sums[0] - (less ? less[0] : 0.0);
    double worth = 0;
    for (std::size_t o = 0; o < n_outputs_; ++o)
      worth += number_worth<criterion>(sums[1 + o] - (less ? less[1 + o] : 0.0), weight,
                                       sum_of_zeros(total_[1 + o]));
    return worth / static_cast<double>(n_outputs_);
  }

  std::span<const double> y_;
  std::span<const double> weights_;
  std::size_t n_outputs_;
  std::vector<double> means_, centers_;
  std::vector<double> left_, total_;
  double deviance_ = 0;
  bool is_pure_ = false;
};

}  // namespace hedgerow::tree
