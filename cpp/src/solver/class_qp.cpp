#include "hedgerow/solver/class_qp.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/stop.hpp"
#include "kernel/row_store.hpp"
#include "solver/working_block.hpp"

namespace hedgerow {
namespace {

/// A round solves its block to this part of the violation it began with.
constexpr double kBlockTolerance = 0.1;

/// Sweeps over a block: more do not pay before the next look at all points.
constexpr int kBlockSweeps = 30;

}  // namespace

ClassQp::ClassQp(std::shared_ptr<const KernelSource> source, const Problem& problem,
                 const Point& point, const Options& options)
    : source_(std::move(source)),
      n_classes_(problem.n_classes),
      rho_(problem.rho),
      label_(problem.label.begin(), problem.label.end()),
      weight_(problem.weight.begin(), problem.weight.end()),
      diagonal_(problem.diagonal.begin(), problem.diagonal.end()),
      scores_(point.scores.size()),
      scratch_(static_cast<std::size_t>(2 * n_classes_)),
      violation_(label_.size()),
      store_(std::make_unique<RowStore>(*source_, options.bytes, options.n_threads)),
      block_(std::make_unique<WorkingBlock>(std::min(options.working_set, n_points()), false)) {
  for (double& diagonal : diagonal_) diagonal += rho_;
  std::vector<std::int64_t> everyone(label_.size());
  std::iota(everyone.begin(), everyone.end(), 0);
  store_->append(everyone);
  set_point(point);
}

ClassQp::~ClassQp() = default;

void ClassQp::set_point(const Point& point) {
  beta_.assign(point.beta.begin(), point.beta.end());
  shift_.assign(point.intercept.begin(), point.intercept.end());
  excess_.assign(shift_.size(), 0.0);
  for (std::int64_t p = 0; p < n_points(); ++p)
    for (std::int64_t k = 0; k < n_classes_; ++k) {
      scores_[k * n_points() + p] = point.scores[p * n_classes_ + k];
      excess_[k] += beta_[p * n_classes_ + k];
    }
  set_intercepts();
}

/// From what they are made of, so that rounding does not add up.
void ClassQp::set_intercepts() {
  intercept_ = shift_;
  for (std::size_t k = 0; k < shift_.size(); ++k) intercept_[k] += rho_ * excess_[k];
}

void ClassQp::move_shift() {
  for (std::size_t k = 0; k < shift_.size(); ++k) shift_[k] += rho_ * excess_[k];
  set_intercepts();
}

double ClassQp::imbalance() const {
  double largest = 0.0;
  for (const double excess : excess_) largest = std::max(largest, rho_ * std::abs(excess));
  return largest;
}

/// Lists the points that violate by more than the tolerance, or those of them that do most, and returns
/// the largest violation.
double ClassQp::find_violators(double tolerance) {
  ClassSteps all{};
  all.dual = {beta_.data(),      label_.data(),  weight_.data(), diagonal_.data(),
              intercept_.data(), excess_.data(), n_classes_,     rho_};
  all.scores = scores_.data();
  all.n_points = n_points();
  all.scratch = scratch_.data();
  hot().class_violations(all, violation_.data());
  violators_.clear();
  double largest = 0.0;
  for (std::int64_t p = 0; p < n_points(); ++p) {
    largest = std::max(largest, violation_[p]);
    if (violation_[p] > tolerance) violators_.push_back(p);
  }
  const auto most = static_cast<std::size_t>(block_->n_places() / 2);
  if (violators_.size() > most) {
    std::nth_element(violators_.begin(), violators_.begin() + static_cast<std::ptrdiff_t>(most),
                     violators_.end(), [&](std::int64_t a, std::int64_t b) {
                       return violation_[a] != violation_[b] ? violation_[a] > violation_[b]
                                                             : a < b;
                     });
    violators_.resize(most);
    std::sort(violators_.begin(), violators_.end());
  }
  return largest;
}

void ClassQp::refill_block() {
  block_->admit(0, violators_);
  block_->compute_new(*store_, 1);
}

/// Empty places have no weight, and never move.
ClassQp::Block ClassQp::gather_block() const {
  const std::int64_t n = block_->n_places();
  const auto size = static_cast<std::size_t>(n),
             table = size * static_cast<std::size_t>(n_classes_);
  Block block{std::vector<std::int64_t>(size, 0), std::vector<double>(size, 0.0),
              std::vector<double>(size, 1.0), std::vector<double>(table, 0.0),
              std::vector<double>(table, 0.0)};
  for (std::int64_t place = 0; place < n; ++place) {
    const std::int64_t p = block_->slot(place);
    if (p == WorkingBlock::kEmpty) continue;
    block.label[place] = label_[p];
    block.weight[place] = weight_[p];
    block.diagonal[place] = diagonal_[p];
    for (std::int64_t k = 0; k < n_classes_; ++k) {
      block.beta[place * n_classes_ + k] = beta_[p * n_classes_ + k];
      block.scores[k * n + place] = scores_[k * n_points() + p];
    }
  }
  return block;
}

/// Solves for the points in the block; false if none moved.
bool ClassQp::solve_block(double tolerance, std::int64_t n_steps, Report& report) {
  Block block = gather_block();
  ClassSteps steps{};
  steps.dual = {block.beta.data(), block.label.data(), block.weight.data(), block.diagonal.data(),
                intercept_.data(), excess_.data(),     n_classes_,          rho_};
  steps.scores = block.scores.data();
  steps.n_points = block_->n_places();
  steps.scratch = scratch_.data();
  steps.kernel = block_->kernel();
  steps.ld = block_->ld();
  steps.tolerance = 0.5 * tolerance;
  for (int sweep = 0; sweep < kBlockSweeps && n_steps > 0; ++sweep) {
    check_stop();
    if (sweep > 0) move_shift();
    steps.max_steps = n_steps;
    hot().class_steps(steps);
    n_steps -= steps.n_steps;
    report.steps += steps.n_steps;
    if (std::max(steps.violation, imbalance()) <= tolerance) break;
  }
  return take_over(block.beta);
}

/// Moves the points in the block to where it has them, and the scores with them; false if none moved.
bool ClassQp::take_over(std::span<const double> beta) {
  std::vector<std::int64_t> moved;
  std::vector<double> moves;
  for (std::int64_t place = 0; place < block_->n_places(); ++place) {
    const std::int64_t p = block_->slot(place);
    if (p == WorkingBlock::kEmpty) continue;
    const auto now = beta.subspan(static_cast<std::size_t>(place * n_classes_),
                                  static_cast<std::size_t>(n_classes_));
    double* before = beta_.data() + p * n_classes_;
    if (std::equal(now.begin(), now.end(), before)) continue;
    moved.push_back(p);
    for (std::int64_t k = 0; k < n_classes_; ++k) {
      moves.push_back(now[k] - before[k]);
      before[k] = now[k];
    }
  }
  store_->add_rows(moved, {n_classes_, moves, scores_});
  return !moved.empty();
}

ClassQp::Report ClassQp::run(std::int64_t n_rounds, std::int64_t n_steps, double tolerance) {
  Report report{0, 0, 0.0, false};
  for (;;) {
    check_stop();
    const double violation = find_violators(0.5 * tolerance), imbalance = this->imbalance();
    report.violation = std::max(violation, imbalance);
    const bool is_limit = report.rounds == n_rounds || report.steps >= n_steps;
    if (report.violation <= tolerance || is_limit) return report;
    ++report.rounds;
    move_shift();
    if (violation <= tolerance) continue;  // what the shift does shows in the next round
    refill_block();
    const double goal = std::max(kBlockTolerance * violation, 0.5 * tolerance);
    if (!solve_block(goal, n_steps - report.steps, report)) {
      report.has_stalled = true;
      return report;
    }
  }
}

std::int64_t ClassQp::n_places() const { return block_->n_places(); }

ClassQp::State ClassQp::state() const {
  return {beta_, scores_, shift_, excess_, intercept_, block_->places()};
}

void ClassQp::set_state(State state) {
  beta_ = std::move(state.beta);
  scores_ = std::move(state.scores);
  shift_ = std::move(state.shift);
  excess_ = std::move(state.excess);
  intercept_ = std::move(state.intercept);
  block_->restore(state.places, *store_, 1);
}

}  // namespace hedgerow
