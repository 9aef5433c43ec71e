#include "hedgerow/solver/dual_coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hedgerow/algebra.hpp"
#include "hedgerow/hot.hpp"
#include "hedgerow/random.hpp"
#include "hedgerow/stop.hpp"

namespace hedgerow {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kOneThread = 1;

}  // namespace

DualCoordinateDescent::DualCoordinateDescent(const Matrix& matrix, std::span<const double> y,
                                             std::span<const double> upper,
                                             std::span<const double> curvature, double rho,
                                             bool free_intercept, std::uint64_t seed)
    : matrix_(matrix),
      points_(y.size()),
      w_(static_cast<std::size_t>(n_cols(matrix)), 0.0),
      rho_(rho),
      free_intercept_(free_intercept),
      seed_(seed),
      is_active_(y.size(), 1) {
  std::vector<double> sq_norms(y.size());
  row_sq_norms(matrix, sq_norms, kOneThread);
  for (std::size_t i = 0; i < y.size(); ++i)
    points_[i] = {0.0, upper[i], curvature[i], 1.0 / (sq_norms[i] + rho + curvature[i]), y[i]};
}

DualCoordinateDescent::Report DualCoordinateDescent::run(std::int64_t n_sweeps, double tolerance) {
  Report report{0, kInfinity};
  activate_all();
  while (report.sweeps < n_sweeps) {
    const bool seen_all = all_active_;
    report.violation = sweep();
    ++report.sweeps;
    if (report.violation > tolerance) continue;
    if (seen_all) break;
    activate_all();
  }
  return report;
}

void DualCoordinateDescent::set_alpha(std::span<const double> alpha) {
  std::vector<double> signed_alpha(alpha.size());
  label_alpha_ = 0.0;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    points_[i].alpha = alpha[i];
    signed_alpha[i] = points_[i].label * alpha[i];
    label_alpha_ += signed_alpha[i];
  }
  weighted_row_sum(matrix_, signed_alpha, w_, kOneThread);
  multiplier_due_ = false;
}

DualCoordinateDescent::State DualCoordinateDescent::state() const {
  return {alpha(), w_, shift_, label_alpha_, n_swept_, multiplier_due_};
}

void DualCoordinateDescent::restore(const State& state) {
  for (std::size_t i = 0; i < points_.size(); ++i) points_[i].alpha = state.alpha[i];
  w_ = state.w;
  shift_ = state.shift;
  label_alpha_ = state.label_alpha;
  n_swept_ = state.n_swept;
  multiplier_due_ = state.multiplier_due;
}

std::vector<double> DualCoordinateDescent::alpha() const {
  std::vector<double> alpha(points_.size());
  std::transform(points_.begin(), points_.end(), alpha.begin(),
                 [](const DualPoint& point) { return point.alpha; });
  return alpha;
}

void DualCoordinateDescent::activate_all() {
  active_.clear();
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (points_[i].upper > 0.0) active_.push_back(static_cast<std::int64_t>(i));
  std::fill(is_active_.begin(), is_active_.end(), 1);
  all_active_ = true;
  shrink_above_ = kInfinity;
  shrink_below_ = -kInfinity;
}

void DualCoordinateDescent::drop_shrunk() {
  std::erase_if(active_, [this](std::int64_t i) { return !is_active_[i]; });
  all_active_ = false;
}

double DualCoordinateDescent::sweep() {
  if (free_intercept_ && multiplier_due_) shift_ += rho_ * label_alpha_;
  order_ = active_;
  Philox(seed_, static_cast<std::uint64_t>(n_swept_++)).shuffle(order_);
  DualSweep sweep{.points = points_.data(),
                  .w = w_.data(),
                  .order = nullptr,
                  .n_order = 0,
                  .active = is_active_.data(),
                  .rho = rho_,
                  .shift = shift_,
                  .label_alpha = label_alpha_,
                  .shrink_above = shrink_above_,
                  .shrink_below = shrink_below_,
                  .pg_max = 0.0,
                  .pg_min = 0.0,
                  .n_shrunk = 0};
  std::visit(
      [&](const auto& rows) {
        const RowLoops<std::decay_t<decltype(rows)>>& loops = hot();
        const std::int64_t stretch = rows_with(kValuesBetweenChecks, rows);
        const auto n_order = static_cast<std::int64_t>(order_.size());
        for (std::int64_t begin = 0; begin < n_order; begin += stretch) {
          check_stop();
          sweep.order = order_.data() + begin;
          sweep.n_order = std::min(stretch, n_order - begin);
          loops.dual_sweep(rows, sweep);
          label_alpha_ = sweep.label_alpha;  // w, alpha and this stay true together
        }
      },
      matrix_);
  multiplier_due_ = true;
  shrink_above_ = sweep.pg_max > 0.0 ? sweep.pg_max : kInfinity;
  shrink_below_ = sweep.pg_min < 0.0 ? sweep.pg_min : -kInfinity;
  if (sweep.n_shrunk > 0) drop_shrunk();
  const double constraint = free_intercept_ ? rho_ * std::abs(label_alpha_) : 0.0;
  return std::max(sweep.pg_max - sweep.pg_min, constraint);
}

}  // namespace hedgerow
