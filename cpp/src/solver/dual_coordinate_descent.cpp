#include "hedgerow/solver/dual_coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/random.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double label(const DualPoint& point) { return std::copysign(1.0, point.weight); }

/// Never -0, whatever the label.
double alpha_of(const DualPoint& point) { return label(point) * point.beta + 0.0; }

}  // namespace

BoxShape box_shape(DualLoss loss, double epsilon) {
  const bool two_sided =
      loss == DualLoss::epsilon_insensitive || loss == DualLoss::squared_epsilon_insensitive;
  const bool squared =
      loss == DualLoss::squared_hinge || loss == DualLoss::squared_epsilon_insensitive;
  return {.epsilon = two_sided ? epsilon : 0.0,
          .softness = squared ? 0.5 : 0.0,
          .top = squared ? kInfinity : 1.0,
          .two_sided = two_sided};
}

DualCoordinateDescent::DualCoordinateDescent(const Matrix& matrix, const Problem& problem,
                                             const Options& options)
    : matrix_(matrix),
      loss_(problem.loss),
      box_(box_shape(problem.loss, problem.epsilon)),
      rho_(problem.rho),
      free_intercept_(problem.free_intercept),
      balance_(problem.balance),
      options_(options),
      points_(problem.y.size()),
      w_(static_cast<std::size_t>(n_cols(matrix)), 0.0),
      excess_(-problem.balance),
      is_active_(problem.y.size(), 1) {
  std::vector<double> sq_norms(points_.size());
  row_sq_norms(matrix, sq_norms, options.n_threads);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double y = problem.y[i], c = problem.weight[i];
    points_[i] = {.beta = 0.0,
                  .target = y * problem.target[i],
                  .weight = y * c,
                  .inverse_diagonal = 1.0 / (sq_norms[i] + rho_ + box_.softness / c)};
  }
  activate_all();
}

DualCoordinateDescent::Report DualCoordinateDescent::run(std::int64_t n_sweeps, double tolerance) {
  Report report{0, kInfinity};
  const auto n_all = std::max<std::int64_t>(n_points(), 1);
  std::int64_t n_visits = 0;
  while (report.sweeps < n_sweeps) {
    n_visits += std::max<std::int64_t>(static_cast<std::int64_t>(active_.size()), 1);
    report.violation = sweep();
    report.sweeps = (n_visits + n_all - 1) / n_all;
    if (report.violation > tolerance && report.sweeps < n_sweeps) continue;
    if (!sees_all()) report.violation = look();
    if (report.violation <= tolerance) break;
  }
  return report;
}

void DualCoordinateDescent::set_alpha(std::span<const double> alpha, double intercept) {
  std::vector<double> beta(alpha.size());
  excess_ = -balance_;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    beta[i] = points_[i].beta = label(points_[i]) * alpha[i];
    excess_ += beta[i];
  }
  weighted_row_sum(matrix_, beta, w_, options_.n_threads);
  if (free_intercept_) shift_ = intercept - rho_ * excess_;
  multiplier_due_ = false;
  activate_all();
}

DualCoordinateDescent::State DualCoordinateDescent::state() const {
  return {alpha(), w_, shift_, excess_, n_swept_, multiplier_due_};
}

void DualCoordinateDescent::restore(const State& state) {
  for (std::size_t i = 0; i < points_.size(); ++i)
    points_[i].beta = label(points_[i]) * state.alpha[i];
  w_ = state.w;
  shift_ = state.shift;
  excess_ = state.excess;
  n_swept_ = state.n_swept;
  multiplier_due_ = state.multiplier_due;
  activate_all();
  if (n_swept_ > 0 && !sees_all()) look();
}

std::vector<double> DualCoordinateDescent::alpha() const {
  std::vector<double> alpha(points_.size());
  std::transform(points_.begin(), points_.end(), alpha.begin(), alpha_of);
  return alpha;
}

std::span<const double> DualCoordinateDescent::scores() {
  if (!scores_hold_) {
    scores_.resize(points_.size());
    const double b = intercept();
    hedgerow::scores(matrix_, w_, {&b, 1}, scores_, options_.n_threads);
    scores_hold_ = true;
  }
  return scores_;
}

void DualCoordinateDescent::activate_all() {
  active_.clear();
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (points_[i].weight != 0.0) active_.push_back(static_cast<std::int64_t>(i));
  std::fill(is_active_.begin(), is_active_.end(), 1);
  shrink_none();
  scores_hold_ = false;
}

void DualCoordinateDescent::shrink_none() {
  shrink_above_ = kInfinity;
  shrink_below_ = -kInfinity;
}

void DualCoordinateDescent::drop_resting() {
  std::erase_if(active_, [this](std::int64_t i) { return !is_active_[i]; });
}

void DualCoordinateDescent::shrink_by(const DualSweep& sweep) {
  if (!options_.shrinking) return;
  shrink_above_ = sweep.slope_max > 0.0 ? kRestShare * sweep.slope_max : kInfinity;
  shrink_below_ = sweep.slope_min < 0.0 ? kRestShare * sweep.slope_min : -kInfinity;
}

DualSweep DualCoordinateDescent::sweep_of(std::span<const std::int64_t> rows) {
  return {.points = points_.data(),
          .w = w_.data(),
          .order = rows.data(),
          .n_order = static_cast<std::int64_t>(rows.size()),
          .active = is_active_.data(),
          .box = box_,
          .rho = rho_,
          .shift = shift_,
          .excess = excess_,
          .shrink_above = shrink_above_,
          .shrink_below = shrink_below_,
          .slope_max = 0.0,
          .slope_min = 0.0,
          .n_shrunk = 0};
}

double DualCoordinateDescent::violation_of(const DualSweep& sweep) const {
  const double constraint = free_intercept_ ? rho_ * std::abs(excess_) : 0.0;
  return std::max(sweep.slope_max - sweep.slope_min, constraint);
}

void DualCoordinateDescent::arrange() {
  Philox random(options_.seed, static_cast<std::uint64_t>(n_swept_));
  order_ = active_;
  if (options_.order == RowOrder::shuffled) random.shuffle(order_);
  if (options_.order == RowOrder::stochastic)
    for (std::int64_t& visit : order_) visit = active_[random.below(active_.size())];
}

double DualCoordinateDescent::sweep() {
  if (free_intercept_ && multiplier_due_) shift_ += rho_ * excess_;
  arrange();
  ++n_swept_;
  scores_hold_ = false;
  DualSweep sweep = sweep_of(order_);
  std::visit(
      [&](const auto& rows) {
        const RowLoops<std::decay_t<decltype(rows)>>& loops = hot();
        const auto visit_rows =
            loss_ == DualLoss::logistic ? loops.logistic_sweep : loops.box_sweep;
        const std::int64_t stretch = rows_with(kValuesBetweenChecks, rows);
        const auto n_order = static_cast<std::int64_t>(order_.size());
        for (std::int64_t begin = 0; begin < n_order; begin += stretch) {
          check_stop();
          sweep.order = order_.data() + begin;
          sweep.n_order = std::min(stretch, n_order - begin);
          visit_rows(rows, sweep);
          excess_ = sweep.excess;  // w, alpha and this stay true together
        }
      },
      matrix_);
  multiplier_due_ = true;
  shrink_by(sweep);
  if (sweep.n_shrunk > 0) drop_resting();
  return violation_of(sweep);
}

bool DualCoordinateDescent::sees_all() const {
  const bool rows_rest = options_.shrinking && loss_ != DualLoss::logistic;
  return !rows_rest && options_.order != RowOrder::stochastic;
}

double DualCoordinateDescent::look() {
  activate_all();
  const bool is_logistic = loss_ == DualLoss::logistic;
  const auto look_at = is_logistic ? hot().logistic_look : hot().box_look;
  DualSweep all = sweep_of(active_);
  look_at(scores().data(), all);
  if (options_.shrinking && !is_logistic) {
    shrink_by(all);
    DualSweep resting = sweep_of(active_);
    look_at(scores_.data(), resting);
    drop_resting();
  }
  return violation_of(all);
}

}  // namespace hedgerow
