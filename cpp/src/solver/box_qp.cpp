#include "hedgerow/solver/box_qp.hpp"

#include <algorithm>
#include <limits>

#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"
#include "kernel/row_store.hpp"
#include "solver/working_block.hpp"

namespace hedgerow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A round solves its block to this part of the violation it began with.
constexpr double kBlockTolerance = 0.1;

/// Steps in a block, for each of its places: more do not pay before the next look at all variables.
constexpr std::int64_t kStepsPerPlace = 20;

std::vector<double> copied(std::span<const double> values) {
  return {values.begin(), values.end()};
}

/// The n steepest, in no order but always the same.
void keep_steepest(std::vector<Candidates::One>& some, std::size_t n) {
  if (some.size() <= n) return;
  std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n), some.end(),
                   [](const Candidates::One& a, const Candidates::One& b) {
                     return a.steepness != b.steepness ? a.steepness > b.steepness
                                                       : a.slot < b.slot;
                   });
  some.resize(n);
}

}  // namespace

BoxQp::BoxQp(std::shared_ptr<const KernelSource> source, const Problem& problem,
             std::span<const double> beta, std::span<const double> scores, const Options& options)
    : source_(std::move(source)),
      n_points_(source_->n_points()),
      n_sides_(static_cast<std::int64_t>(beta.size()) / std::max<std::int64_t>(n_points_, 1)),
      diagonal_(copied(problem.diagonal)),
      options_(options),
      is_active_(static_cast<std::size_t>(n_points_), 0),
      store_(std::make_unique<RowStore>(*source_, options.bytes, options.n_threads)) {
  read(problem, beta, scores);
}

void BoxQp::read(const Problem& problem, std::span<const double> beta,
                 std::span<const double> scores) {
  linear_ = copied(problem.linear);
  lower_ = copied(problem.lower);
  upper_ = copied(problem.upper);
  ridge_ = copied(problem.ridge);
  group_.assign(problem.group.begin(), problem.group.end());
  keeps_sums_ = problem.keeps_sums;
  beta_ = copied(beta);
  scores_ = copied(scores);
  seen_ = per_point(beta_);
  const bool has_two_groups =
      std::any_of(group_.begin(), group_.end(), [](std::uint8_t g) { return g != 0; });
  const std::int64_t n_places = std::min(options_.working_set, n_variables());
  block_ = std::make_unique<WorkingBlock>(n_places, has_two_groups);
}

void BoxQp::restart(const Problem& problem, std::span<const double> beta,
                    std::span<const double> scores) {
  read(problem, beta, scores);
  active_ = {};
  for (std::int64_t p = 0; p < store_->n_points(); ++p) add_variables_of(store_->point(p));
}

BoxQp::~BoxQp() = default;

void BoxQp::add_variables_of(std::int64_t point) {
  active_.score.push_back(scores_[point]);
  for (std::int64_t v = point; v < n_variables(); v += n_points_) {
    active_.variable.push_back(v);
    active_.linear.push_back(linear_[v]);
    active_.lower.push_back(lower_[v]);
    active_.upper.push_back(upper_[v]);
    active_.ridge.push_back(ridge_[v]);
    active_.beta.push_back(beta_[v]);
    active_.group.push_back(group_[v]);
  }
}

void BoxQp::activate(std::span<const std::int64_t> points) {
  for (const std::int64_t p : points) {
    is_active_[p] = 1;
    add_variables_of(p);
  }
  store_->append(points);
}

/// Lists what may rise and what may fall, and returns the violation.
double BoxQp::find_candidates() {
  const auto n = static_cast<std::int64_t>(active_.beta.size());
  double highest[2] = {-kInfinity, -kInfinity}, lowest[2] = {kInfinity, kInfinity};
  for (int g = 0; g < 2; ++g) candidates_.rising[g].clear(), candidates_.falling[g].clear();
  for (std::int64_t slot = 0; slot < n; ++slot) {
    const double here = slope(slot);
    const std::uint8_t g = active_.group[slot];
    if (active_.beta[slot] < active_.upper[slot]) {
      highest[g] = std::max(highest[g], here);
      candidates_.rising[g].push_back({here, slot});
    }
    if (active_.beta[slot] > active_.lower[slot]) {
      lowest[g] = std::min(lowest[g], here);
      candidates_.falling[g].push_back({-here, slot});
    }
  }
  double violation = 0.0;
  for (int g = 0; g < 2; ++g) {
    // Without sums to keep, each variable is on its own: it should have no slope.
    const double least = keeps_sums_ ? lowest[g] : std::min(lowest[g], 0.0);
    const double most = keeps_sums_ ? highest[g] : std::max(highest[g], 0.0);
    const double beside = keeps_sums_ ? most - least : std::max(most, -least);
    violation = std::max(violation, beside);
    std::erase_if(candidates_.rising[g],
                  [&](const auto& one) { return one.steepness <= (keeps_sums_ ? least : 0.0); });
    std::erase_if(candidates_.falling[g],
                  [&](const auto& one) { return one.steepness <= (keeps_sums_ ? -most : 0.0); });
  }
  return violation;
}

/// Lets the steepest candidates into the block.
void BoxQp::refill_block() {
  for (std::int64_t g = 0; g < 2; ++g) {
    const std::int64_t n_places = block_->begin(g + 1) - block_->begin(g);
    if (n_places == 0) continue;
    std::vector<std::int64_t> wanted;
    for (auto* some : {&candidates_.rising[g], &candidates_.falling[g]}) {
      keep_steepest(*some, static_cast<std::size_t>(n_places / 4));
      for (const Candidates::One& one : *some) wanted.push_back(one.slot);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    block_->admit(g, wanted);
  }
  block_->compute_new(*store_, n_sides_);
}

/// Solves for the variables in the block; false if none moved.
bool BoxQp::solve_block(double tolerance, std::int64_t n_steps, Report& report) {
  const std::int64_t n = block_->n_places();
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> diagonal(size, 1.0), ridge(size, 0.0), slopes(size, 0.0), beta(size, 0.0),
      lower(size, 0.0), upper(size, 0.0), no_rise(size, -kInfinity), no_fall(size, kInfinity);
  for (std::int64_t p = 0; p < n; ++p) {
    const std::int64_t slot = block_->slot(p);
    if (slot == WorkingBlock::kEmpty) continue;
    ridge[p] = active_.ridge[slot];
    diagonal[p] = diagonal_[active_.variable[slot] % n_points_] + ridge[p];
    slopes[p] = slope(slot);
    beta[p] = active_.beta[slot];
    lower[p] = active_.lower[slot];
    upper[p] = active_.upper[slot];
    if (beta[p] < upper[p]) no_rise[p] = 0.0;
    if (beta[p] > lower[p]) no_fall[p] = 0.0;
  }
  PairSteps steps{block_->kernel(),
                  block_->ld(),
                  diagonal.data(),
                  ridge.data(),
                  slopes.data(),
                  beta.data(),
                  lower.data(),
                  upper.data(),
                  no_rise.data(),
                  no_fall.data(),
                  {block_->begin(1), block_->begin(2)},
                  tolerance,
                  std::min(n_steps, kStepsPerPlace * n),
                  0,
                  0.0};
  (keeps_sums_ ? hot().pair_steps : hot().single_steps)(steps);
  report.steps += steps.n_steps;

  return take_over(beta);
}

/// Moves the variables in the block to where it has them, and the scores with them; false if none moved.
bool BoxQp::take_over(std::span<const double> beta) {
  std::vector<std::pair<std::int64_t, double>> moved;  // a point may have two variables that move
  for (std::int64_t p = 0; p < block_->n_places(); ++p) {
    const std::int64_t slot = block_->slot(p);
    if (slot == WorkingBlock::kEmpty || beta[p] == active_.beta[slot]) continue;
    moved.emplace_back(slot / n_sides_, beta[p] - active_.beta[slot]);
    active_.beta[slot] = beta[p];
  }
  std::sort(moved.begin(), moved.end());
  std::vector<std::int64_t> rows;
  std::vector<double> moves;
  for (const auto& [row, move] : moved) {
    if (!rows.empty() && rows.back() == row) {
      moves.back() += move;
    } else {
      rows.push_back(row);
      moves.push_back(move);
    }
  }
  store_->add_rows(rows, {1, moves, active_.score});
  return !rows.empty();
}

BoxQp::Report BoxQp::run(std::int64_t n_rounds, std::int64_t n_steps, double tolerance) {
  Report report{0, 0, 0.0, false};
  for (;;) {
    check_stop();
    report.violation = find_candidates();
    const bool is_limit = report.rounds == n_rounds || report.steps >= n_steps;
    if (report.violation <= tolerance || is_limit) return report;
    refill_block();
    ++report.rounds;
    const double goal = std::max(kBlockTolerance * report.violation, 0.5 * tolerance);
    if (!solve_block(goal, n_steps - report.steps, report)) {
      report.has_stalled = true;
      return report;
    }
  }
}

std::vector<double> BoxQp::beta() const {
  std::vector<double> beta = beta_;
  for (std::size_t slot = 0; slot < active_.beta.size(); ++slot)
    beta[active_.variable[slot]] = active_.beta[slot];
  return beta;
}

std::vector<double> BoxQp::scores() const {
  std::vector<double> scores = scores_;
  for (std::size_t p = 0; p < active_.score.size(); ++p)
    scores[store_->point(static_cast<std::int64_t>(p))] = active_.score[p];
  return scores;
}

/// The sum of the betas of each point.
std::vector<double> BoxQp::per_point(std::span<const double> beta) const {
  std::vector<double> sums(static_cast<std::size_t>(n_points_), 0.0);
  for (std::int64_t v = 0; v < n_variables(); ++v) sums[v % n_points_] += beta[v];
  return sums;
}

void BoxQp::look() {
  std::vector<double> now = per_point(beta());
  std::vector<std::int64_t> moved, resting;
  std::vector<double> moves;
  for (std::int64_t p = 0; p < n_points_; ++p) {
    if (!is_active_[p]) resting.push_back(p);
    if (now[p] == seen_[p]) continue;
    moved.push_back(p);
    moves.push_back(now[p] - seen_[p]);
  }
  const auto n = static_cast<std::int64_t>(resting.size());
  const Cut tasks{n, (n + RowStore::kBlock - 1) / RowStore::kBlock};
  parallel_for(tasks.n_pieces, source_->is_threaded() ? options_.n_threads : 1,
               [&](std::int64_t task) {
                 const std::int64_t first = tasks.begin(task);
                 const auto some = std::span(resting).subspan(first, tasks.end(task) - first);
                 std::vector<double> sums(some.size(), 0.0);
                 const KernelLoops<float>& loops = hot();
                 source_->for_pieces(moved, some, [&](const KernelPiece& piece) {
                   std::vector<const float*> lines(static_cast<std::size_t>(piece.n_rows));
                   for (std::int64_t r = 0; r < piece.n_rows; ++r)
                     lines[r] = piece.values + r * piece.ld;
                   loops.add_kernel_rows(lines.data(), moves.data() + piece.row, piece.n_rows,
                                         piece.n_columns, sums.data() + piece.column);
                 });
                 for (std::size_t j = 0; j < some.size(); ++j) scores_[some[j]] += sums[j];
               });
  seen_ = std::move(now);
}

void BoxQp::set_linear(std::span<const double> linear) {
  linear_ = copied(linear);
  for (std::size_t slot = 0; slot < active_.linear.size(); ++slot)
    active_.linear[slot] = linear_[active_.variable[slot]];
}

void BoxQp::set_beta(std::span<const double> beta, std::span<const double> scores) {
  beta_.assign(beta.begin(), beta.end());
  scores_.assign(scores.begin(), scores.end());
  for (std::size_t slot = 0; slot < active_.beta.size(); ++slot)
    active_.beta[slot] = beta[active_.variable[slot]];
  for (std::size_t p = 0; p < active_.score.size(); ++p)
    active_.score[p] = scores[store_->point(static_cast<std::int64_t>(p))];
  seen_ = per_point(beta);
}

std::int64_t BoxQp::n_places() const { return block_->n_places(); }

BoxQp::State BoxQp::state() const {
  const auto points = store_->points();
  return {beta(),         scores(),        seen_, {points.begin(), points.end()},
          store_->ends(), block_->places()};
}

void BoxQp::set_state(State state) {
  beta_ = std::move(state.beta);
  scores_ = std::move(state.scores);
  seen_ = std::move(state.seen);
  active_ = {};
  is_active_.assign(is_active_.size(), 0);
  store_ = std::make_unique<RowStore>(*source_, options_.bytes, options_.n_threads);
  std::int64_t begin = 0;
  for (const std::int64_t end : state.ends) {
    activate(std::span(state.points).subspan(begin, end - begin));
    begin = end;
  }
  block_->restore(state.places, *store_, n_sides_);
}

}  // namespace hedgerow
