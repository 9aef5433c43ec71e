#include "hedgerow/solver/joint_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/random.hpp"
#include "data/row_runs.hpp"

namespace hedgerow {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// From a table with a row for each of n things and `stride` columns to its first columns, one after
/// the other; in squares that stay in the cache.
std::vector<double> by_column(const std::vector<double>& table, std::int64_t n, std::int64_t stride,
                              std::int64_t n_columns) {
  constexpr std::int64_t kRowsAtOnce = 64;
  std::vector<double> columns(size(n * n_columns));
  for (std::int64_t begin = 0; begin < n; begin += kRowsAtOnce)
    for (std::int64_t k = 0; k < n_columns; ++k)
      for (std::int64_t i = begin; i < std::min(begin + kRowsAtOnce, n); ++i)
        columns[size(k * n + i)] = table[size(i * stride + k)];
  return columns;
}

}  // namespace

JointDescent::JointDescent(const Matrix& matrix, const Problem& problem, const Options& options)
    : matrix_(matrix),
      n_hyperplanes_(problem.n_hyperplanes),
      stride_((problem.n_hyperplanes + kClassGroup - 1) / kClassGroup * kClassGroup),
      loss_(problem.loss),
      box_(box_shape(problem.loss, 0.0)),
      target_(problem.target),
      rho_(problem.rho),
      free_intercept_(problem.free_intercept),
      options_(options),
      beta_(size(n_rows(matrix) * stride_), 0.0),
      weight_(beta_.size(), 0.0),
      diagonal_(size(n_rows(matrix))),
      w_(size(n_cols(matrix) * stride_), 0.0),
      shift_(size(stride_), 0.0),
      excess_(shift_),
      intercept_(shift_),
      slope_max_(shift_),
      slope_min_(shift_),
      scratch_(2 * shift_.size()),
      is_active_(beta_.size(), 0),
      is_retired_(size(n_hyperplanes_), 0),
      takes_part_(is_retired_),
      multiplier_due_(is_retired_) {
  row_sq_norms(matrix, diagonal_, options.n_threads);
  for (double& diagonal : diagonal_) diagonal += rho_;
  const std::int64_t n = n_points();
  for (std::int64_t i = 0; i < n; ++i) {
    all_.push_back(i);
    for (std::int64_t k = 0; k < n_hyperplanes_; ++k)
      weight_[size(i * stride_ + k)] = problem.weight[size(k * n + i)];
  }
  activate_all();
}

JointDescent::Report JointDescent::run(std::int64_t n_sweeps, std::span<const double> tolerance) {
  const bool rows_rest = options_.shrinking && loss_ != DualLoss::logistic;
  Report report{Values(size(n_hyperplanes_), 0.0), Values(size(n_hyperplanes_), kInfinity), 0, 0};
  const auto is_done = [&](std::int64_t k) {
    return is_retired_[size(k)] || report.violation[size(k)] <= tolerance[size(k)];
  };
  const auto all_done = [&] {
    for (std::int64_t k = 0; k < n_hyperplanes_; ++k)
      if (!is_done(k)) return false;
    return true;
  };
  if (!rows_rest) activate_all();
  for (std::int64_t n_made = 0; n_made < n_sweeps;) {
    for (std::int64_t k = 0; k < n_hyperplanes_; ++k) {
      takes_part_[size(k)] = !is_done(k);
      if (is_done(k)) rest_hyperplane(k);
    }
    arrange(report);
    sweep();
    for (std::int64_t k = 0; k < n_hyperplanes_; ++k)
      if (takes_part_[size(k)]) report.violation[size(k)] = violation_of(k);
    if (rows_rest) rest_by_slopes();
    if (++n_made < n_sweeps && !all_done()) continue;
    if (rows_rest) look(report);
    if (all_done()) break;
  }
  for (double& sweeps : report.sweeps)
    sweeps /= static_cast<double>(std::max<std::int64_t>(n_points(), 1));
  return report;
}

void JointDescent::set_alpha(std::span<const double> alpha, std::span<const double> intercept) {
  const std::int64_t n = n_points();
  std::fill(excess_.begin(), excess_.end(), 0.0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < n_hyperplanes_; ++k) {
      const std::size_t at = size(i * stride_ + k);
      beta_[at] = std::copysign(1.0, weight_[at]) * alpha[size(k * n + i)];
      excess_[size(k)] += beta_[at];
    }
  std::fill(w_.begin(), w_.end(), 0.0);
  std::visit(
      [&](const auto& rows) {
        const std::int64_t stretch = rows_with(kValuesBetweenChecks / stride_, rows);
        for (std::int64_t begin = 0; begin < n; begin += stretch) {
          check_stop();
          row_loops(rows).add_class_hyperplanes(rows, begin, std::min(begin + stretch, n),
                                                beta_.data(), w_.data(), stride_);
        }
      },
      matrix_);
  for (std::size_t k = 0; free_intercept_ && k < intercept.size(); ++k)
    shift_[k] = intercept[k] - rho_ * excess_[k];
  std::fill(multiplier_due_.begin(), multiplier_due_.end(), 0);
  set_intercepts();
  activate_all();
}

std::vector<double> JointDescent::alpha() const {
  std::vector<double> alpha = by_column(beta_, n_points(), stride_, n_hyperplanes_);
  const std::vector<double> weight = by_column(weight_, n_points(), stride_, n_hyperplanes_);
  for (std::size_t at = 0; at < alpha.size(); ++at)
    alpha[at] = std::copysign(1.0, weight[at]) * alpha[at] + 0.0;  // never -0
  return alpha;
}

std::vector<double> JointDescent::w() const {
  return by_column(w_, n_cols(matrix_), stride_, n_hyperplanes_);
}

std::vector<double> JointDescent::scores() {
  refresh_scores();
  return by_column(scores_, n_points(), stride_, n_hyperplanes_);
}

void JointDescent::refresh_scores() {
  if (scores_hold_) return;
  scores_.resize(beta_.size());
  const ClassHyperplanes hyperplanes{w_.data(), intercept_.data(), stride_, stride_};
  std::visit(
      [&](const auto& rows) {
        for_row_runs(rows.n_rows, options_.n_threads, [&](std::int64_t begin, std::int64_t end) {
          std::vector<double> scratch(size(stride_));
          row_loops(rows).class_scores(rows, begin, end, hyperplanes, scratch.data(),
                                       scores_.data() + begin * stride_);
        });
      },
      matrix_);
  scores_hold_ = true;
}

/// From what they are made of, so that rounding does not add up over sweeps.
void JointDescent::set_intercepts() {
  for (std::size_t k = 0; k < shift_.size(); ++k) intercept_[k] = shift_[k] + rho_ * excess_[k];
  scores_hold_ = false;
}

void JointDescent::activate_all() {
  for (std::size_t at = 0; at < weight_.size(); ++at) is_active_[at] = weight_[at] != 0.0 ? -1 : 0;
  rest_none();
}

void JointDescent::rest_none() {
  rest_above_.assign(size(stride_), kInfinity);
  rest_below_.assign(size(stride_), -kInfinity);
}

void JointDescent::rest_by_slopes() {
  for (std::size_t k = 0; k < rest_above_.size(); ++k) {
    rest_above_[k] = slope_max_[k] > 0.0 ? kRestShare * slope_max_[k] : kInfinity;
    rest_below_[k] = slope_min_[k] < 0.0 ? kRestShare * slope_min_[k] : -kInfinity;
  }
}

void JointDescent::rest_hyperplane(std::int64_t hyperplane) {
  for (std::size_t at = size(hyperplane); at < is_active_.size(); at += size(stride_))
    is_active_[at] = 0;
}

double JointDescent::violation_of(std::int64_t hyperplane) const {
  const std::size_t k = size(hyperplane);
  const double constraint = free_intercept_ ? rho_ * std::abs(excess_[k]) : 0.0;
  return std::max(slope_max_[k] - slope_min_[k], constraint);
}

void JointDescent::arrange(Report& report) {
  order_.clear();
  for (std::int64_t i = 0; i < n_points(); ++i) {
    const std::int8_t* active = is_active_.data() + i * stride_;
    std::int64_t n_active = 0;
    for (std::int64_t k = 0; k < n_hyperplanes_; ++k) {
      report.sweeps[size(k)] -= active[k];
      n_active -= active[k];
    }
    report.n_visits += n_active;
    if (n_active > 0) order_.push_back(i);
  }
  report.n_rows_visited += static_cast<std::int64_t>(order_.size());
  Philox(options_.seed, static_cast<std::uint64_t>(n_swept_)).shuffle(order_);
}

JointSweep JointDescent::sweep_of(std::span<const std::int64_t> rows) {
  std::fill(slope_max_.begin(), slope_max_.end(), 0.0);
  std::fill(slope_min_.begin(), slope_min_.end(), 0.0);
  return {.beta = beta_.data(),
          .weight = weight_.data(),
          .diagonal = diagonal_.data(),
          .active = is_active_.data(),
          .w = w_.data(),
          .intercept = intercept_.data(),
          .excess = excess_.data(),
          .rest_above = rest_above_.data(),
          .rest_below = rest_below_.data(),
          .slope_max = slope_max_.data(),
          .slope_min = slope_min_.data(),
          .stride = stride_,
          .box = box_,
          .target = target_,
          .rho = rho_,
          .order = rows.data(),
          .n_order = static_cast<std::int64_t>(rows.size()),
          .scratch = scratch_.data()};
}

void JointDescent::sweep() {
  move_multipliers();
  ++n_swept_;
  JointSweep sweep = sweep_of(order_);
  std::visit(
      [&](const auto& rows) {
        const auto& loops = row_loops(rows);
        const auto visit_rows =
            loss_ == DualLoss::logistic ? loops.logistic_joint_sweep : loops.box_joint_sweep;
        const std::int64_t stretch = rows_with(kValuesBetweenChecks / stride_, rows);
        const auto n_order = static_cast<std::int64_t>(order_.size());
        for (std::int64_t begin = 0; begin < n_order; begin += stretch) {
          check_stop();
          sweep.order = order_.data() + begin;
          sweep.n_order = std::min(stretch, n_order - begin);
          visit_rows(rows, sweep);
        }
      },
      matrix_);
  set_intercepts();
}

void JointDescent::move_multipliers() {
  for (std::size_t k = 0; free_intercept_ && k < takes_part_.size(); ++k) {
    if (!takes_part_[k]) continue;
    if (multiplier_due_[k]) shift_[k] += rho_ * excess_[k];
    multiplier_due_[k] = 1;
  }
  set_intercepts();
}

void JointDescent::look(Report& report) {
  activate_all();
  refresh_scores();
  JointSweep all = sweep_of(all_);
  hot().box_joint_look(scores_.data(), all);
  for (std::int64_t k = 0; k < n_hyperplanes_; ++k) report.violation[size(k)] = violation_of(k);
  rest_by_slopes();
  JointSweep resting = sweep_of(all_);
  hot().box_joint_look(scores_.data(), resting);
}

}  // namespace hedgerow
