// Counts of classes on both sides of a cut, and what a cut is worth by them.
//
// The worth of a cut is W_left V(left) + W_right V(right), V being what is not impure: sum p^2 for
// Gini, -entropy, max p. It grows as impurity shrinks; the worth of no cut at all is W V(node), and
// the difference of the two over W is the decrease of impurity.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "hedgerow/tree/grower.hpp"
#include "tree/items.hpp"
#include "tree/sorting.hpp"

namespace hedgerow::tree {

/// x log2 x, by a table for small whole numbers.
class TimesLog {
 public:
  static double of(std::int32_t x) {
    static const std::array<double, 4096> table = [] {
      std::array<double, 4096> made{};
      for (std::size_t i = 2; i < made.size(); ++i)
        made[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
      return made;
    }();
    if (x < 4096) return table[static_cast<std::size_t>(x)];
    return static_cast<double>(x) * std::log2(static_cast<double>(x));
  }
  static double of(double x) { return x > 0 ? x * std::log2(x) : 0.0; }
};

/// One output. W is what weights are summed in: int32 where they are counts.
template <class Item_, class W, ClassCriterion criterion>
class ClassTally {
  static constexpr bool kIsCounted = std::is_same_v<Item_, ClassItem>;
  using Sum =
      std::conditional_t<kIsCounted && criterion != ClassCriterion::entropy, std::int64_t, double>;

 public:
  using Item = Item_;
  using Bin = std::conditional_t<std::is_same_v<W, double>, double, std::uint32_t>;
  static constexpr bool kScoresGroups = true;
  static constexpr bool kTakesPlaces = true;

  explicit ClassTally(const ClassTargets& targets)
      : n_classes_(static_cast<std::size_t>(targets.n_classes[0])),
        left_(n_classes_),
        total_(n_classes_) {}

  void learn_from(const ClassTargets& targets, std::span<const double> weights) {
    y_ = targets.y;
    weights_ = weights;
  }

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    if constexpr (kIsCounted)
      return {row, static_cast<std::uint16_t>(y_[row]), static_cast<std::uint16_t>(count)};
    else
      return {weights_.empty() ? count : weights_[row] * count, row, count, y_[row]};
  }

  /// The loads of keys are places in `by_place`, unless that is empty.
  void set_node(std::span<const Item> items, std::span<const Item> by_place) {
    by_place_ = kIsCounted || !by_place.empty() ? by_place.data() : items.data();
    std::ranges::fill(total_, W{0});
    std::ranges::fill(left_, W{0});
    n_rows_ = 0;
    std::size_t i = 0;
    for (; i + 1 < items.size();
         i += 2) {  // one of the same class as the last need not wait for it
      add(total_, items[i]);
      add(left_, items[i + 1]);
    }
    if (i < items.size()) add(total_, items[i]);
    for (std::size_t k = 0; k < n_classes_; ++k) total_[k] += left_[k];
    weight_ = 0;
    for (const W t : total_) weight_ += t;
    n_present_ = static_cast<std::size_t>(std::ranges::count_if(total_, [](W t) { return t > 0; }));
    total_sum_ = sum_of(total_);
  }

  std::uint64_t n_rows() const { return n_rows_; }
  double weight() const { return static_cast<double>(weight_); }
  bool is_pure() const { return n_present_ <= 1; }
  double worth() const { return part(total_sum_, weight_, max_of_total()); }

  double impurity() const {
    if constexpr (criterion == ClassCriterion::entropy)
      return std::max(0.0, -worth() / weight());
    else
      return is_pure() ? 0.0 : std::max(0.0, 1.0 - worth() / weight());
  }

  void write_value(double* value) const {
    const double weight = this->weight();
    for (std::size_t k = 0; k < n_classes_; ++k) value[k] = static_cast<double>(total_[k]) / weight;
  }

  /// Of two classes, the share of the second: what monotonic constraints speak of.
  double level(const double* value) const { return value[1]; }
  void set_level(double* value, double level) const {
    value[1] = level;
    value[0] = 1.0 - level;
  }

  // ------------------------------------------------------------------------------ a scan of cuts

  /// A row's class and how often it is there, or its place among the node's items.
  Load load(const Item& item, [[maybe_unused]] std::size_t i) const {
    if constexpr (kIsCounted)
      return Load{item.times} << 16 | item.y;
    else
      return static_cast<Load>(i);
  }
  std::uint32_t count(Load load) const {
    if constexpr (kIsCounted)
      if (by_place_ == nullptr) return load >> 16;
    return by_place_[load].times;
  }

  /// What lies on both sides of a cut that rows are moved across.
  class Scan {
   public:
    explicit Scan(ClassTally& tally)
        : by_place_(tally.by_place_),
          n_classes_(tally.n_classes_),
          left_(tally.left_.data()),
          total_(tally.total_.data()),
          weight_(tally.weight_),
          right_sum_(tally.total_sum_) {
      std::fill_n(left_, n_classes_, W{0});
    }

    void move(Load load) {
      if constexpr (kIsCounted)
        if (by_place_ == nullptr) return move(load & 0xFFFF, static_cast<W>(load >> 16));
      const Item& item = by_place_[load];
      move(static_cast<std::size_t>(item.y), static_cast<W>(item.weight()));
    }

    /// Returns how many rows there were.
    std::uint64_t move_bin(const Bin* bin) {
      if constexpr (kIsCounted && criterion == ClassCriterion::gini) return move_counts(bin);
      std::uint64_t n_rows = 0;
      for (std::size_t k = 0; k < n_classes_; ++k) {
        if (bin[k] == 0) continue;
        move(k, static_cast<W>(bin[k]));
        if constexpr (kIsCounted) n_rows += bin[k];
      }
      if constexpr (!kIsCounted) n_rows = static_cast<std::uint64_t>(bin[n_classes_]);
      return n_rows;
    }

    bool is_better_than(double worth) const {
      if constexpr (criterion == ClassCriterion::gini) {  // without a division
        const double left = left_weight(), right = right_weight();
        return static_cast<double>(left_sum_) * right + static_cast<double>(right_sum_) * left >
               worth * (left * right);
      } else {
        return this->worth() > worth;
      }
    }

    double worth() const {
      if constexpr (criterion == ClassCriterion::misclassification) {
        W most_left = 0, most_right = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
          most_left = std::max(most_left, left_[k]);
          most_right = std::max(most_right, total_[k] - left_[k]);
        }
        return static_cast<double>(most_left) + static_cast<double>(most_right);
      } else {
        return part(left_sum_, left_weight_, 0) + part(right_sum_, weight_ - left_weight_, 0);
      }
    }

    double left_weight() const { return static_cast<double>(left_weight_); }
    double right_weight() const { return static_cast<double>(weight_ - left_weight_); }
    double left_level() const {
      return n_classes_ > 1 ? static_cast<double>(left_[1]) / left_weight() : 0.0;
    }
    double right_level() const {
      return n_classes_ > 1 ? static_cast<double>(total_[1] - left_[1]) / right_weight() : 0.0;
    }

   private:
    /// All classes at once, whether they are there or not: no branch, and squares anew.
    std::uint64_t move_counts(const Bin* bin) {
      const std::uint32_t n_rows = std::accumulate(bin, bin + n_classes_, std::uint32_t{0});
      if (n_rows == 0) return 0;
      std::uint64_t left_sum = 0, right_sum = 0;
      for (std::size_t k = 0; k < n_classes_; ++k) {
        const auto left = static_cast<std::uint32_t>(left_[k]) + bin[k];
        const auto right = static_cast<std::uint32_t>(total_[k]) - left;
        left_[k] = static_cast<W>(left);
        left_sum += std::uint64_t{left} * left;
        right_sum += std::uint64_t{right} * right;
      }
      left_sum_ = static_cast<Sum>(left_sum);
      right_sum_ = static_cast<Sum>(right_sum);
      left_weight_ += static_cast<W>(n_rows);
      return n_rows;
    }

    void move(std::size_t k, W w) {
      const W l = left_[k], r = total_[k] - l;
      if constexpr (criterion == ClassCriterion::gini) {
        left_sum_ += Sum(w) * (2 * Sum(l) + w);
        right_sum_ -= Sum(w) * (2 * Sum(r) - w);
      } else if constexpr (criterion == ClassCriterion::entropy) {
        left_sum_ += TimesLog::of(l + w) - TimesLog::of(l);
        right_sum_ += TimesLog::of(r - w) - TimesLog::of(r);
      }
      left_[k] = l + w;
      left_weight_ += w;
    }

    const Item* by_place_;
    std::size_t n_classes_;
    W* left_;
    const W* total_;
    W weight_, left_weight_ = 0;
    Sum left_sum_ = 0, right_sum_;
  };

  Scan scan(std::span<const Key>, std::span<const Load> left_already, std::span<const Load>) {
    Scan scan(*this);
    for (const Load load : left_already) scan.move(load);
    return scan;
  }

  // --------------------------------------- bins: weights of the classes, and rows where these differ

  std::size_t bin_width() const { return n_classes_ + (kIsCounted ? 0 : 1); }
  void add_to_bin(Bin* bin, const Item& item, std::size_t) const {
    bin[item.y] += static_cast<Bin>(item.weight());
    if constexpr (!kIsCounted) bin[n_classes_] += static_cast<Bin>(item.times);
  }
  /// Makes a group of a bin; returns how many rows it has.
  std::uint64_t read_bin(const Bin* bin, double* group) const {
    std::uint64_t n_rows = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      group[k] = static_cast<double>(bin[k]);
      if constexpr (kIsCounted) n_rows += bin[k];
    }
    if constexpr (!kIsCounted) n_rows = static_cast<std::uint64_t>(bin[n_classes_]);
    return n_rows;
  }

  // -------------------------------------------------- groups of rows, as weights of their classes

  std::size_t group_width() const { return n_classes_; }
  double group_weight(const double* group) const {
    return std::accumulate(group, group + n_classes_, 0.0);
  }
  void add_to_group(double* group, const Item& item) const {
    group[item.y] += static_cast<double>(item.weight());
  }
  /// Two classes are ordered by the share of one, which is optimal; more, by that of each in turn.
  std::size_t n_orders() const { return n_classes_ == 2 ? 1 : n_classes_; }
  bool order_is_optimal() const { return n_classes_ == 2 || n_present_ <= 2; }
  double place(const double* group, std::size_t order) const {
    double sum = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) sum += group[k];
    return group[n_classes_ == 2 ? 1 : order] / sum;
  }
  double worth_with_left(const double* left) const {
    double worth = 0, left_weight = 0;
    double left_sum = 0, right_sum = 0, most_left = 0, most_right = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      const double l = left[k], r = static_cast<double>(total_[k]) - left[k];
      left_weight += l;
      if constexpr (criterion == ClassCriterion::gini) {
        left_sum += l * l;
        right_sum += r * r;
      } else if constexpr (criterion == ClassCriterion::entropy) {
        left_sum += TimesLog::of(l);
        right_sum += TimesLog::of(r);
      } else {
        most_left = std::max(most_left, l);
        most_right = std::max(most_right, r);
      }
    }
    const double right_weight = weight() - left_weight;
    if constexpr (criterion == ClassCriterion::gini)
      worth = left_sum / left_weight + right_sum / right_weight;
    else if constexpr (criterion == ClassCriterion::entropy)
      worth = left_sum - TimesLog::of(left_weight) + right_sum - TimesLog::of(right_weight);
    else
      worth = most_left + most_right;
    return worth;
  }

 private:
  void add(std::vector<W>& sums, const Item& item) {
    sums[static_cast<std::size_t>(item.y)] += static_cast<W>(item.weight());
    n_rows_ += item.count();
  }

  static Sum sum_of(std::span<const W> counts) {
    Sum sum = 0;
    for (const W c : counts) {
      if constexpr (criterion == ClassCriterion::gini)
        sum += Sum(c) * Sum(c);
      else if constexpr (criterion == ClassCriterion::entropy)
        sum += TimesLog::of(c);
    }
    return sum;
  }

  W max_of_total() const {
    if constexpr (criterion == ClassCriterion::misclassification)
      return *std::ranges::max_element(total_);
    else
      return 0;
  }

  static double part(Sum sum, W weight, W most) {
    if constexpr (criterion == ClassCriterion::gini)
      return static_cast<double>(sum) / static_cast<double>(weight);
    else if constexpr (criterion == ClassCriterion::entropy)
      return sum - TimesLog::of(weight);
    else
      return static_cast<double>(most);
  }

  std::span<const std::int32_t> y_;
  std::span<const double> weights_;
  std::size_t n_classes_;
  const Item* by_place_ = nullptr;
  std::vector<W> left_, total_;
  W weight_ = 0;
  Sum total_sum_ = 0;
  std::uint64_t n_rows_ = 0;
  std::size_t n_present_ = 0;
};

/// Several outputs: impurity is the mean of theirs. Counts of all classes of all outputs lie one
/// after the other, max_classes places for each.
template <ClassCriterion criterion>
class MultiOutputClassTally {
 public:
  using Item = RowItem;
  using Bin = NoBin;
  static constexpr bool kScoresGroups = true;
  static constexpr bool kTakesPlaces = false;

  explicit MultiOutputClassTally(const ClassTargets& targets)
      : n_outputs_(targets.n_classes.size()),
        width_(static_cast<std::size_t>(std::ranges::max(targets.n_classes))),
        left_(n_outputs_ * width_),
        total_(n_outputs_ * width_) {}

  void learn_from(const ClassTargets& targets, std::span<const double> weights) {
    y_ = targets.y;
    weights_ = weights;
  }

  Item make_item(std::uint32_t row, std::uint32_t count) const {
    return {weights_.empty() ? count : weights_[row] * count, row, count};
  }

  void set_node(std::span<const Item> items, std::span<const Item>) {
    items_ = items;
    std::ranges::fill(total_, 0.0);
    weight_ = 0;
    n_rows_ = 0;
    for (const Item& item : items) {
      add_to_group(total_.data(), item);
      weight_ += item.w;
      n_rows_ += item.times;
    }
  }

  std::uint64_t n_rows() const { return n_rows_; }
  double weight() const { return weight_; }
  bool is_pure() const {
    for (std::size_t o = 0; o < n_outputs_; ++o) {
      const auto counts = std::span(total_).subspan(o * width_, width_);
      if (std::ranges::count_if(counts, [](double c) { return c > 0; }) > 1) return false;
    }
    return true;
  }
  double worth() const { return sum_of_parts(total_.data(), nullptr, weight_); }
  double impurity() const {
    if (is_pure()) return 0.0;
    const double mean = worth() / weight_;
    return std::max(0.0, (criterion == ClassCriterion::entropy ? 0.0 : 1.0) - mean);
  }
  void write_value(double* value) const {
    for (std::size_t k = 0; k < total_.size(); ++k) value[k] = total_[k] / weight_;
  }

  double level(const double*) const { return 0; }
  void set_level(double*, double) const {}

  Load load(const Item&, std::size_t i) const { return static_cast<Load>(i); }
  std::uint32_t count(Load load) const { return items_[load].times; }

  class Scan {
   public:
    explicit Scan(MultiOutputClassTally& tally) : tally_(tally) {
      std::ranges::fill(tally_.left_, 0.0);
    }
    void move(Load load) {
      const Item& item = tally_.items_[load];
      tally_.add_to_group(tally_.left_.data(), item);
      left_weight_ += item.w;
    }
    double worth() const { return tally_.worth_with_left(tally_.left_.data()); }
    bool is_better_than(double worth) const { return this->worth() > worth; }
    double left_weight() const { return left_weight_; }
    double right_weight() const { return tally_.weight_ - left_weight_; }
    double left_level() const { return 0; }
    double right_level() const { return 0; }

   private:
    MultiOutputClassTally& tally_;
    double left_weight_ = 0;
  };

  Scan scan(std::span<const Key>, std::span<const Load> left_already, std::span<const Load>) {
    Scan scan(*this);
    for (const Load load : left_already) scan.move(load);
    return scan;
  }

  std::size_t group_width() const { return total_.size(); }
  double group_weight(const double* group) const {
    return std::accumulate(group, group + width_, 0.0);
  }
  void add_to_group(double* group, const Item& item) const {
    for (std::size_t o = 0; o < n_outputs_; ++o)
      group[o * width_ + static_cast<std::size_t>(y_[item.row * n_outputs_ + o])] += item.w;
  }
  std::size_t n_orders() const { return total_.size(); }
  bool order_is_optimal() const { return false; }
  double place(const double* group, std::size_t order) const {
    double sum = 0;
    for (std::size_t k = 0; k < width_; ++k) sum += group[order / width_ * width_ + k];
    return group[order] / sum;
  }
  double worth_with_left(const double* left) const {
    double left_weight = 0;
    for (std::size_t k = 0; k < width_; ++k) left_weight += left[k];
    return sum_of_parts(left, nullptr, left_weight) +
           sum_of_parts(total_.data(), left, weight_ - left_weight);
  }

 private:
  /// The mean over outputs of weight x V, of the counts less what is taken away.
  double sum_of_parts(const double* counts, const double* less, double weight) const {
    double sum = 0;
    for (std::size_t o = 0; o < n_outputs_; ++o) {
      double squares = 0, most = 0;
      for (std::size_t k = o * width_; k < (o + 1) * width_; ++k) {
        const double c = counts[k] - (less ? less[k] : 0.0);
        if constexpr (criterion == ClassCriterion::entropy)
          squares += TimesLog::of(c);
        else
          squares += c * c;
        most = std::max(most, c);
      }
      if constexpr (criterion == ClassCriterion::gini)
        sum += squares / weight;
      else if constexpr (criterion == ClassCriterion::entropy)
        sum += squares - TimesLog::of(weight);
      else
        sum += most;
    }
    return sum / static_cast<double>(n_outputs_);
  }

  std::span<const std::int32_t> y_;
  std::span<const double> weights_;
  std::size_t n_outputs_, width_;
  std::span<const Item> items_;
  std::vector<double> left_, total_;
  double weight_ = 0;
  std::uint64_t n_rows_ = 0;
};

}  // namespace hedgerow::tree
