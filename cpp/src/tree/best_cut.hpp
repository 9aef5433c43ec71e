// The best cut of a node so far: which cuts may be made, and which one is better than it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hedgerow/tree/codes.hpp"
#include "tree/sorting.hpp"
#include "tree/split.hpp"

namespace hedgerow::tree {

/// The cuts of a node's features, one after the other; the best is written into the node's split.
template <class Tally>
class BestCut {
 public:
  using Scan = typename Tally::Scan;

  BestCut(const TreeSettings& settings, Tally& tally) : settings_(settings), tally_(tally) {}

  void begin_node(const Bounds& bounds, Split& best) {
    bounds_ = bounds;
    best_ = &best;
    n_candidates_ = 0;
    const double to_gain = tally_.weight() * tally_.impurity();
    least_gain_ = kRounding * to_gain;
    most_worth_ = tally_.worth() + to_gain;
  }

  void set_feature(std::uint32_t feature, const CodeColumn& column) {
    feature_ = feature;
    column_ = &column;
    sign_ = settings_.monotonic.empty() ? 0 : settings_.monotonic[feature];
  }

  std::int64_t n_candidates() const { return n_candidates_; }
  void count_candidates(std::int64_t n) { n_candidates_ += n; }

  /// Whether both sides of the best split are pure: no other can be better.
  bool is_perfect() const { return best_->worth + 2 * least_gain_ >= most_worth_; }

  /// Whether a cut with a row on either side may be made, whatever is on these.
  bool is_free() const { return has_no_least() && sign_ == 0; }

  /// The same as far as it is about how much a side holds.
  bool has_no_least() const {
    return settings_.min_samples_leaf <= 1 && settings_.min_weight_leaf <= 0;
  }

  bool is_allowed(const Scan& scan, std::uint64_t n_left) const {
    return has_enough(n_left, scan.left_weight(), scan.right_weight()) &&
           (sign_ == 0 || keeps_order(scan));
  }

  /// Whether a cut must be taken for the best so far.
  bool is_best(const Scan& scan) const { return scan.is_better_than(best_->worth + least_gain_); }

  void take(const Scan& scan) {
    best_->worth = scan.worth();
    best_->feature = feature_;
    best_->is_heavier_left = scan.left_weight() > scan.right_weight();
    if (sign_ != 0) {
      best_->left_level = scan.left_level();
      best_->right_level = scan.right_level();
    }
  }

  /// Takes the cut if it may be made and is the best so far.
  bool take_if_best(const Scan& scan, std::uint64_t n_left) {
    if (!is_allowed(scan, n_left)) return false;
    ++n_candidates_;
    const bool is_best = this->is_best(scan);
    if (is_best) take(scan);
    return is_best;
  }

  void set_number_cut(std::uint32_t cut, double threshold, bool missing_left, bool has_missing) {
    best_->cut = cut;
    best_->threshold = threshold;
    best_->missing_left = missing_left;
    best_->has_missing = has_missing;
    best_->goes_left.clear();
  }

  /// For a cut by numbers that was set before the next code was known.
  void set_upper_neighbour(std::uint32_t next) { best_->threshold = middle(best_->cut, next); }

  /// The middle between two codes' numbers.
  double middle(std::uint32_t code, std::uint32_t next) const {
    return midpoint(column_->values[code], column_->values[next]);
  }

  std::uint64_t count_rows(std::span<const Load> loads) const {
    std::uint64_t n = 0;
    for (const Load load : loads) n += tally_.count(load);
    return n;
  }

  /// The cut between the codes 0 and 1 of a sequence; true if it is the best so far.
  bool try_lower(std::span<const Key> sorted, std::span<const Load> left_already,
                 std::span<const Load> right_always) {
    Scan scan = tally_.scan(sorted, left_already, right_always);
    std::uint64_t n_left = count_rows(left_already);
    for (std::size_t i = 0; i < sorted.size() && code_of(sorted[i]) == 0; ++i) {
      scan.move(load_of(sorted[i]));
      n_left += tally_.count(load_of(sorted[i]));
    }
    return take_if_best(scan, n_left);
  }

  /// Takes a set of categories for the left side if it may be there and is the best so far; `left` are
  /// the sums of its rows.
  bool take_groups_if_best(std::uint64_t n_left, const double* left) {
    const double weight = tally_.group_weight(left), other_weight = tally_.weight() - weight;
    if (!has_enough(n_left, weight, other_weight)) return false;
    ++n_candidates_;
    const double worth = tally_.worth_with_left(left);
    if (!(worth > best_->worth + least_gain_)) return false;
    best_->worth = worth;
    best_->feature = feature_;
    best_->is_heavier_left = weight > other_weight;
    return true;
  }

  /// mark(goes_left) says of the codes of the node where they go; that of what is missing is the last.
  template <class Mark>
  void set_category_cut(const Mark& mark) {
    best_->goes_left.assign(std::size_t{column_->n_codes} + 1, kAbsent);
    mark(best_->goes_left);
    best_->threshold = static_cast<double>(kUndefined);
    best_->has_missing = best_->goes_left.back() != kAbsent;
    best_->missing_left = best_->goes_left.back() == 1;
  }

 private:
  /// By so much of the node's impurity a split must be better than an earlier one: of equal ones the
  /// first is taken, however their sums were rounded.
  static constexpr double kRounding = 1e-12;

  bool has_enough(std::uint64_t n_left, double left_weight, double right_weight) const {
    const auto least = static_cast<std::uint64_t>(settings_.min_samples_leaf);
    return n_left >= least && tally_.n_rows() - n_left >= least &&
           (settings_.min_weight_leaf <= 0 || (left_weight >= settings_.min_weight_leaf &&
                                               right_weight >= settings_.min_weight_leaf));
  }

  bool keeps_order(const Scan& scan) const {
    const double left = scan.left_level(), right = scan.right_level();
    const auto inside = [this](double level) {
      return bounds_.low <= level && level <= bounds_.high;
    };
    return (right - left) * sign_ >= 0 && inside(left) && inside(right);
  }

  const TreeSettings& settings_;
  Tally& tally_;
  Split* best_ = nullptr;
  const CodeColumn* column_ = nullptr;
  std::uint32_t feature_ = 0;
  int sign_ = 0;
  Bounds bounds_;
  std::int64_t n_candidates_ = 0;
  double least_gain_ = 0, most_worth_ = 0;
};

}  // namespace hedgerow::tree
