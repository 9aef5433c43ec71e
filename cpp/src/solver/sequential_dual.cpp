#include "hedgerow/solver/sequential_dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/random.hpp"
#include "data/row_runs.hpp"

namespace hedgerow {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A row rests if it is held by more than this share of the largest violation. Rows that should not
/// have are found by the next look.
constexpr double kRestShare = 0.1;

std::int64_t padded(std::int64_t n_classes) {
  return (n_classes + kClassGroup - 1) / kClassGroup * kClassGroup;
}

}  // namespace

SequentialDual::SequentialDual(const Matrix& matrix, const Problem& problem, const Options& options)
    : matrix_(matrix),
      n_classes_(problem.n_classes),
      stride_(padded(problem.n_classes)),
      rho_(problem.rho),
      free_intercept_(problem.free_intercept),
      options_(options),
      label_(problem.label.begin(), problem.label.end()),
      weight_(problem.weight.begin(), problem.weight.end()),
      diagonal_(label_.size()),
      alpha_(label_.size() * static_cast<std::size_t>(n_classes_), 0.0),
      w_(static_cast<std::size_t>(n_cols(matrix) * stride_), 0.0),
      shift_(static_cast<std::size_t>(n_classes_), 0.0),
      excess_(shift_),
      intercept_(shift_),
      scratch_(static_cast<std::size_t>(2 * stride_)),
      is_active_(label_.size(), 1) {
  row_sq_norms(matrix, diagonal_, options.n_threads);
  for (double& diagonal : diagonal_) diagonal += rho_;
  activate_all();
}

SequentialDual::Report SequentialDual::run(std::int64_t n_sweeps, double tolerance) {
  Report report{0, kInfinity};
  const auto n_all = std::max<std::int64_t>(n_points(), 1);
  std::int64_t n_visits = 0;
  while (report.sweeps < n_sweeps) {
    n_visits += std::max<std::int64_t>(static_cast<std::int64_t>(active_.size()), 1);
    report.violation = sweep();
    report.sweeps = (n_visits + n_all - 1) / n_all;
    if (report.violation > tolerance && report.sweeps < n_sweeps) continue;
    report.violation = look();
    if (report.violation <= tolerance) break;
  }
  return report;
}

SequentialDual::State SequentialDual::state() const {
  return {alpha_, w_, shift_, excess_, n_swept_, multiplier_due_};
}

void SequentialDual::restore(const State& state) {
  alpha_ = state.alpha;
  w_ = state.w;
  shift_ = state.shift;
  excess_ = state.excess;
  n_swept_ = state.n_swept;
  multiplier_due_ = state.multiplier_due;
  set_intercepts();
  activate_all();
  if (n_swept_ > 0) look();
}

std::vector<double> SequentialDual::hyperplanes() const {
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  const auto stride = static_cast<std::size_t>(stride_), n_features = w_.size() / stride;
  std::vector<double> hyperplanes(n_classes * (n_features + 1));
  for (std::size_t k = 0; k < n_classes; ++k) {
    double* hyperplane = hyperplanes.data() + k * (n_features + 1);
    for (std::size_t j = 0; j < n_features; ++j) hyperplane[j] = w_[j * stride + k];
    hyperplane[n_features] = intercept_[k];
  }
  return hyperplanes;
}

std::span<const double> SequentialDual::scores() {
  if (scores_hold_) return scores_;
  scores_.resize(alpha_.size());
  const ClassHyperplanes hyperplanes{w_.data(), intercept_.data(), n_classes_, stride_};
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        for_row_runs(rows.n_rows, options_.n_threads, [&](std::int64_t begin, std::int64_t end) {
          std::vector<double> scratch(static_cast<std::size_t>(stride_));
          loops.class_scores(rows, begin, end, hyperplanes, scratch.data(),
                             scores_.data() + begin * n_classes_);
        });
      },
      matrix_);
  scores_hold_ = true;
  return scores_;
}

/// From what they are made of, so that rounding does not add up over sweeps.
void SequentialDual::set_intercepts() {
  for (std::size_t k = 0; k < shift_.size(); ++k) intercept_[k] = shift_[k] + rho_ * excess_[k];
  scores_hold_ = false;
}

void SequentialDual::activate_all() {
  active_.clear();
  for (std::size_t i = 0; i < weight_.size(); ++i)
    if (weight_[i] != 0.0) active_.push_back(static_cast<std::int64_t>(i));
  std::fill(is_active_.begin(), is_active_.end(), 1);
  rest_above_ = kInfinity;
}

void SequentialDual::drop_resting() {
  std::erase_if(active_, [this](std::int64_t i) { return !is_active_[i]; });
}

void SequentialDual::rest_by(const ClassSweep& sweep) {
  if (options_.shrinking && sweep.violation > 0.0) rest_above_ = kRestShare * sweep.violation;
}

ClassSweep SequentialDual::sweep_of(std::span<const std::int64_t> rows) {
  return {.dual = {.alpha = alpha_.data(),
                   .label = label_.data(),
                   .weight = weight_.data(),
                   .diagonal = diagonal_.data(),
                   .intercept = intercept_.data(),
                   .excess = excess_.data(),
                   .n_classes = n_classes_,
                   .rho = rho_},
          .w = w_.data(),
          .stride = stride_,
          .order = rows.data(),
          .n_order = static_cast<std::int64_t>(rows.size()),
          .active = is_active_.data(),
          .scratch = scratch_.data(),
          .rest_above = rest_above_,
          .violation = 0.0,
          .n_resting = 0};
}

double SequentialDual::violation_of(const ClassSweep& sweep) const {
  double violation = sweep.violation;
  if (free_intercept_)
    for (const double excess : excess_) violation = std::max(violation, rho_ * std::abs(excess));
  return violation;
}

double SequentialDual::sweep() {
  if (free_intercept_ && multiplier_due_)
    for (std::size_t k = 0; k < shift_.size(); ++k) shift_[k] += rho_ * excess_[k];
  set_intercepts();
  std::vector<std::int64_t> order = active_;
  if (options_.shuffled) Philox(options_.seed, static_cast<std::uint64_t>(n_swept_)).shuffle(order);
  ++n_swept_;
  ClassSweep sweep = sweep_of(order);
  std::visit(
      [&](const auto& rows) {
        const std::int64_t stretch = rows_with(kValuesBetweenChecks / n_classes_, rows);
        const auto n_order = static_cast<std::int64_t>(order.size());
        for (std::int64_t begin = 0; begin < n_order; begin += stretch) {
          check_stop();
          sweep.order = order.data() + begin;
          sweep.n_order = std::min(stretch, n_order - begin);
          row_loops(rows).class_sweep(rows, sweep);
        }
      },
      matrix_);
  set_intercepts();
  multiplier_due_ = true;
  rest_by(sweep);
  if (sweep.n_resting > 0) drop_resting();
  return violation_of(sweep);
}

double SequentialDual::look() {
  activate_all();
  ClassSweep all = sweep_of(active_);
  hot().class_look(scores().data(), all);
  if (options_.shrinking) {
    rest_by(all);
    ClassSweep resting = sweep_of(active_);
    hot().class_look(scores_.data(), resting);
    drop_resting();
  }
  return violation_of(all);
}

}  // namespace hedgerow
