// Sums of numbers on both sides of a cut, and what a cut is worth by them; see class_tally.hpp for
// what worth is. Squared error: S^2 / W, S being the weighted sum; Poisson: S log(S / W). Sums of
// squared error are of differences to the node's mean, so that large numbers do not swamp small
// ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hedgerow/tree/grower.hpp"
#include "tree/items.hpp"
#include "tree/sorting.hpp"

namespace hedgerow::tree {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// A side of a node with that sum of counts is one of zeros, but for rounding, if its sum is no
/// more than this; it would make counts above zero impossible.
inline double sum_of_zeros(double node_sum) { return 1e-12 * node_sum; }

template <RegressionCriterion criterion>
double number_worth(double sum, double weight, double zeros) {
  if constexpr (criterion == RegressionCriterion::squared_error) return sum * sum / weight;
  return sum > zeros ? sum * std::log(sum / weight) : kNever;
}

/// Impurity of numbers, given their weighted mean.
template <RegressionCriterion criterion>
double number_deviance(double y, double mean) {
  if constexpr (criterion == RegressionCriterion::squared_error) return (y - mean) * (y - mean);
  return y > 0 ? y * std::log(y / mean) : 0.0;
}

template <RegressionCriterion criterion>
class RegressionTally {
  /// Of a row: its weight, and the product of that with its number as far as it is off the center.
  struct Term {
    double w, product;
  };

 public:
  using Item = RegressionItem;
  using Bin = double;
  static constexpr bool kScoresGroups = true;
  static constexpr bool kTakesPlaces = true;

  explicit RegressionTally(const RegressionTargets&) {}

  void learn_from(const RegressionTargets& targets, std::span<const double> weights) {
    y_ = targets.y;
    weights_ = weights;
  }

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    return {y_[row], weights_.empty() ? count : weights_[row] * count, row, count};
  }

  /// The loads of keys are places in `by_place`, and so are the rows of items, unless that is
  /// empty.
  void set_node(std::span<const Item> items, std::span<const Item> by_place) {
    by_place_ = by_place.empty() ? items : by_place;
    weight_ = sum_ = deviance_ = 0;
    n_rows_ = 0;
    double least = items[0].y, most = items[0].y;
    for (const Item& item : items) {
      weight_ += item.w;
      sum_ += item.w * item.y;
      n_rows_ += item.times;
      least = std::min(least, item.y);
      most = std::max(most, item.y);
    }
    is_pure_ = least == most;
    mean_ = is_pure_ ? least : std::clamp(sum_ / weight_, least, most);
    if (!is_pure_) set_terms(items, !by_place.empty());
  }

  std::uint64_t n_rows() const { return n_rows_; }
  double weight() const { return weight_; }
  bool is_pure() const { return is_pure_; }
  double worth() const { return number_worth<criterion>(sum_, weight_, 0.0); }
  double impurity() const { return is_pure_ ? 0.0 : deviance_ / weight_; }
  void write_value(double* value) const { value[0] = mean_; }
  double level(const double* value) const { return value[0]; }
  void set_level(double* value, double level) const { value[0] = level; }

  Load load(const Item&, std::size_t i) const { return static_cast<Load>(i); }
  std::uint32_t count(Load load) const { return by_place_[load].times; }

  /// What lies on both sides of a cut that rows are moved across.
  class Scan {
   public:
    explicit Scan(const RegressionTally& tally)
        : terms_(tally.terms_.data()),
          weight_(tally.weight_),
          sum_(tally.sum_),
          center_(tally.center()) {}

    void move(Load load) {
      left_weight_ += terms_[load].w;
      left_sum_ += terms_[load].product;
    }

    /// Returns how many rows there were.
    std::uint64_t move_bin(const Bin* bin) {
      left_weight_ += bin[1];
      left_sum_ += bin[2];
      return static_cast<std::uint64_t>(bin[0]);
    }

    bool is_better_than(double worth) const {
      if constexpr (criterion == RegressionCriterion::squared_error) {  // without a division
        const double right_sum = sum_ - left_sum_, right = right_weight();
        return left_sum_ * left_sum_ * right + right_sum * right_sum * left_weight_ >
               worth * (left_weight_ * right);
      } else {
        return this->worth() > worth;
      }
    }

    double worth() const {
      const double zeros = sum_of_zeros(sum_);
      return number_worth<criterion>(left_sum_, left_weight_, zeros) +
             number_worth<criterion>(sum_ - left_sum_, weight_ - left_weight_, zeros);
    }
    double left_weight() const { return left_weight_; }
    double right_weight() const { return weight_ - left_weight_; }
    double left_level() const { return center_ + left_sum_ / left_weight_; }
    double right_level() const { return center_ + (sum_ - left_sum_) / right_weight(); }

   private:
    const Term* terms_;
    double weight_, sum_, center_, left_weight_ = 0, left_sum_ = 0;
  };

  Scan scan(std::span<const Key>, std::span<const Load> left_already, std::span<const Load>) const {
    Scan scan(*this);
    for (const Load load : left_already) scan.move(load);
    return scan;
  }

  std::size_t bin_width() const { return 3; }
  void add_to_bin(Bin* bin, const Item& item, std::size_t i) const {
    bin[0] += item.times;
    bin[1] += terms_[i].w;
    bin[2] += terms_[i].product;
  }
  /// Makes a group of a bin; returns how many rows it has.
  std::uint64_t read_bin(const Bin* bin, double* group) const {
    group[0] = bin[1];
    group[1] = bin[2];
    return static_cast<std::uint64_t>(bin[0]);
  }

  std::size_t group_width() const { return 2; }
  double group_weight(const double* group) const { return group[0]; }
  void add_to_group(double* group, const Item& item) const {
    group[0] += item.w;
    group[1] += item.w * (item.y - center());
  }
  std::size_t n_orders() const { return 1; }
  bool order_is_optimal() const { return criterion == RegressionCriterion::squared_error; }
  double place(const double* group, std::size_t) const { return group[1] / group[0]; }
  double worth_with_left(const double* left) const {
    const double zeros = sum_of_zeros(sum_);
    return number_worth<criterion>(left[1], left[0], zeros) +
           number_worth<criterion>(sum_ - left[1], weight_ - left[0], zeros);
  }

 private:
  double center() const { return criterion == RegressionCriterion::squared_error ? mean_ : 0.0; }

  void set_terms(std::span<const Item> items, bool rows_are_places) {
    if (terms_.size() < by_place_.size()) terms_.resize(by_place_.size());
    const double center = this->center();
    sum_ = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      const std::size_t place = rows_are_places ? item.row : i;
      const double product = item.w * (item.y - center);
      terms_[place] = {item.w, product};
      sum_ += product;
      deviance_ += item.w * number_deviance<criterion>(item.y, mean_);
    }
  }

  std::span<const double> y_;
  std::span<const double> weights_;
  std::span<const Item> by_place_;
  std::vector<Term> terms_;
  double weight_ = 0, sum_ = 0, mean_ = 0, deviance_ = 0;
  std::uint64_t n_rows_ = 0;
  bool is_pure_ = false;
};

/// Several outputs: impurity is the mean of theirs.
template <RegressionCriterion criterion>
class MultiOutputRegressionTally {
 public:
  using Item = RowItem;
  using Bin = NoBin;
  static constexpr bool kScoresGroups = true;
  static constexpr bool kTakesPlaces = false;

  explicit MultiOutputRegressionTally(const RegressionTargets& targets)
      : n_outputs_(static_cast<std::size_t>(targets.n_outputs)),
        means_(n_outputs_),
        centers_(n_outputs_),
        left_(1 + n_outputs_),
        total_(1 + n_outputs_) {}

  void learn_from(const RegressionTargets& targets, std::span<const double> weights) {
    y_ = targets.y;
    weights_ = weights;
  }

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    return {weights_.empty() ? count : weights_[row] * count, row, count};
  }

  void set_node(std::span<const Item> items, std::span<const Item>) {
    items_ = items;
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
    if constexpr (criterion == RegressionCriterion::squared_error) {
      centers_ = means_;
      sum_up(items);
    }
  }

  std::uint64_t n_rows() const { return n_rows_; }
  double weight() const { return total_[0]; }
  bool is_pure() const { return is_pure_; }
  double worth() const { return sum_of_parts(total_.data(), nullptr); }
  double impurity() const { return is_pure_ ? 0.0 : deviance_ / total_[0]; }
  void write_value(double* value) const { std::ranges::copy(means_, value); }

  double level(const double*) const { return 0; }
  void set_level(double*, double) const {}

  Load load(const Item&, std::size_t i) const { return static_cast<Load>(i); }
  std::uint32_t count(Load load) const { return items_[load].times; }

  class Scan {
   public:
    explicit Scan(MultiOutputRegressionTally& tally) : tally_(tally) {
      std::ranges::fill(tally_.left_, 0.0);
    }
    void move(Load load) { tally_.add_to_group(tally_.left_.data(), tally_.items_[load]); }
    double worth() const { return tally_.worth_with_left(tally_.left_.data()); }
    bool is_better_than(double worth) const { return this->worth() > worth; }
    double left_weight() const { return tally_.left_[0]; }
    double right_weight() const { return tally_.total_[0] - tally_.left_[0]; }
    double left_level() const { return 0; }
    double right_level() const { return 0; }

   private:
    MultiOutputRegressionTally& tally_;
  };

  Scan scan(std::span<const Key>, std::span<const Load> left_already, std::span<const Load>) {
    Scan scan(*this);
    for (const Load load : left_already) scan.move(load);
    return scan;
  }

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
    n_rows_ = 0;
    for (const Item& item : items) {
      add_to_group(total_.data(), item);
      n_rows_ += item.times;
    }
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
  std::span<const Item> items_;
  std::vector<double> left_, total_;
  double deviance_ = 0;
  std::uint64_t n_rows_ = 0;
  bool is_pure_ = false;
};

}  // namespace hedgerow::tree
