// Absolute deviations from the median on both sides of a cut. A scan needs the deviations of every
// beginning and of every end of a sequence; both grow by a row at a time, and a Fenwick tree over
// the ranks of the numbers finds each median in log n steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/tree/grower.hpp"
#include "tree/items.hpp"
#include "tree/sorting.hpp"

namespace hedgerow::tree {

/// Weights and weighted numbers by rank; fenwick sums.
class RankSums {
 public:
  void reset(std::size_t n_ranks) {
    weights_.assign(n_ranks + 1, 0.0);
    products_.assign(n_ranks + 1, 0.0);
    weight_ = product_ = 0;
  }

  void add(std::size_t rank, double w, double y) {
    weight_ += w;
    product_ += w * y;
    for (std::size_t i = rank + 1; i < weights_.size(); i += i & (~i + 1)) {
      weights_[i] += w;
      products_[i] += w * y;
    }
  }

  /// The weighted sum of absolute deviations from the median; numbers in the order of ranks.
  double deviation(std::span<const double> numbers) const {
    if (weight_ <= 0) return 0;
    const Below below = below_median();
    const double median = numbers[std::min(below.n_ranks, numbers.size() - 1)];
    return (product_ - below.product) - median * (weight_ - below.weight) + median * below.weight -
           below.product;
  }

  /// The median; the middle of two if just half of the weight is below the second.
  double median(std::span<const double> numbers) const {
    // The number at `at` is the least with at least half of the weight at or below it.
    const std::size_t at = std::min(below_median().n_ranks, numbers.size() - 1);
    const double up_to = sum_below(at + 1);
    if (up_to * 2 != weight_) return numbers[at];
    std::size_t next = at + 1;
    while (next < numbers.size() && sum_below(next + 1) == up_to) ++next;
    return next < numbers.size() ? numbers[at] / 2 + numbers[next] / 2 : numbers[at];
  }

 private:
  struct Below {
    std::size_t n_ranks;
    double weight, product;
  };

  double sum_below(std::size_t n_ranks) const {
    double sum = 0;
    for (std::size_t i = n_ranks; i > 0; i -= i & (~i + 1)) sum += weights_[i];
    return sum;
  }

  /// The most ranks that hold less than half of the weight.
  Below below_median() const {
    Below below{0, 0, 0};
    for (std::size_t step = std::bit_floor(weights_.size() - 1); step > 0; step /= 2) {
      const std::size_t next = below.n_ranks + step;
      if (next < weights_.size() && 2 * (below.weight + weights_[next]) < weight_) {
        below.n_ranks = next;
        below.weight += weights_[next];
        below.product += products_[next];
      }
    }
    return below;
  }

  std::vector<double> weights_, products_;
  double weight_ = 0, product_ = 0;
};

class AbsoluteErrorTally {
 public:
  using Item = RowItem;
  using Bin = NoBin;
  static constexpr bool kScoresGroups = false;
  static constexpr bool kTakesPlaces = false;

  explicit AbsoluteErrorTally(const RegressionTargets& targets)
      : n_outputs_(static_cast<std::size_t>(targets.n_outputs)),
        numbers_(n_outputs_),
        left_(n_outputs_),
        medians_(n_outputs_) {}

  void learn_from(const RegressionTargets& targets, std::span<const double> weights) {
    y_ = targets.y;
    weights_ = weights;
  }

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    return {weights_.empty() ? count : weights_[row] * count, row, count};
  }

  void set_node(std::span<const Item> items, std::span<const Item>) {
    items_ = items;
    weight_ = 0;
    n_rows_ = 0;
    for (const Item& item : items) {
      weight_ += item.w;
      n_rows_ += item.times;
    }
    deviation_ = 0;
    is_pure_ = true;
    RankSums sums;
    for (std::size_t o = 0; o < n_outputs_; ++o) {
      std::vector<double>& numbers = numbers_[o];
      numbers.clear();
      for (const Item& item : items) numbers.push_back(y(item, o));
      std::ranges::sort(numbers);
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      is_pure_ = is_pure_ && numbers.size() == 1;
      sums.reset(numbers.size());
      for (const Item& item : items) sums.add(rank(item, o), item.w, y(item, o));
      medians_[o] = sums.median(numbers);
      if (!is_pure_) deviation_ += sums.deviation(numbers);
    }
    deviation_ /= static_cast<double>(n_outputs_);
  }

  std::uint64_t n_rows() const { return n_rows_; }
  double weight() const { return weight_; }
  bool is_pure() const { return is_pure_; }
  double worth() const { return -deviation_; }
  double impurity() const { return deviation_ / weight_; }
  void write_value(double* value) const { std::ranges::copy(medians_, value); }

  double level(const double* value) const { return value[0]; }
  void set_level(double* value, double level) const { value[0] = level; }

  Load load(const Item&, std::size_t i) const { return static_cast<Load>(i); }
  std::uint32_t count(Load load) const { return items_[load].times; }

  class Scan {
   public:
    Scan(AbsoluteErrorTally& tally, std::span<const Load> left_already) : tally_(tally) {
      for (const Load load : left_already) move(load);
      n_moved_ = 0;
    }
    /// Rows come in the order that the scan was begun with.
    void move(Load load) {
      const Item& item = tally_.items_[load];
      for (std::size_t o = 0; o < tally_.n_outputs_; ++o) tally_.add(tally_.left_[o], item, o);
      left_weight_ += item.w;
      ++n_moved_;
    }
    double worth() const {
      double sum = tally_.right_deviation_[n_moved_];
      for (std::size_t o = 0; o < tally_.n_outputs_; ++o)
        sum += tally_.left_[o].deviation(tally_.numbers_[o]);
      return -sum / static_cast<double>(tally_.n_outputs_);
    }
    bool is_better_than(double worth) const { return this->worth() > worth; }
    double left_weight() const { return left_weight_; }
    double right_weight() const { return tally_.weight_ - left_weight_; }
    double left_level() const { return tally_.left_[0].median(tally_.numbers_[0]); }
    double right_level() const { return tally_.right_median_[n_moved_]; }

   private:
    AbsoluteErrorTally& tally_;
    double left_weight_ = 0;
    std::size_t n_moved_ = 0;
  };

  Scan scan(std::span<const Key> sorted, std::span<const Load> left_already,
            std::span<const Load> right_always) {
    right_deviation_.assign(sorted.size() + 1, 0.0);
    right_median_.assign(sorted.size() + 1, 0.0);
    for (std::size_t o = 0; o < n_outputs_; ++o) {
      RankSums& sums = left_[o];
      sums.reset(numbers_[o].size());
      for (const Load load : right_always) add(sums, items_[load], o);
      for (std::size_t i = sorted.size(); i > 0; --i) {
        right_deviation_[i] += sums.deviation(numbers_[o]);
        if (o == 0) right_median_[i] = sums.median(numbers_[o]);
        add(sums, items_[load_of(sorted[i - 1])], o);
      }
      right_deviation_[0] += sums.deviation(numbers_[o]);
      if (o == 0) right_median_[0] = sums.median(numbers_[o]);
      sums.reset(numbers_[o].size());
    }
    return Scan(*this, left_already);
  }

  /// Categories are ordered by their means.
  std::size_t group_width() const { return 1 + n_outputs_; }
  double group_weight(const double* group) const { return group[0]; }
  void add_to_group(double* group, const Item& item) const {
    group[0] += item.w;
    for (std::size_t o = 0; o < n_outputs_; ++o) group[1 + o] += item.w * y(item, o);
  }
  std::size_t n_orders() const { return n_outputs_; }
  bool order_is_optimal() const { return false; }
  double place(const double* group, std::size_t order) const { return group[1 + order] / group[0]; }
  double worth_with_left(const double*) const { return 0; }

 private:
  double y(const Item& item, std::size_t o) const { return y_[item.row * n_outputs_ + o]; }
  std::size_t rank(const Item& item, std::size_t o) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(numbers_[o], y(item, o)) -
                                    numbers_[o].begin());
  }
  void add(RankSums& sums, const Item& item, std::size_t o) const {
    sums.add(rank(item, o), item.w, y(item, o));
  }

  std::span<const double> y_;
  std::span<const double> weights_;
  std::size_t n_outputs_;
  std::vector<std::vector<double>> numbers_;  ///< distinct numbers of the node, by output
  std::vector<RankSums> left_;
  std::span<const Item> items_;
  std::vector<double> medians_, right_deviation_, right_median_;
  double weight_ = 0, deviation_ = 0;
  std::uint64_t n_rows_ = 0;
  bool is_pure_ = false;
};

}  // namespace hedgerow::tree
