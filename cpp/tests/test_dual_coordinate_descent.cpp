#include "hedgerow/solver/dual_coordinate_descent.hpp"

#include <algorithm>
#include <limits>

#include "check.hpp"
#include "samples.hpp"

using hedgerow::DualCoordinateDescent;
using hedgerow::Matrix;
using samples::Sample;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A machine to train, and slow, obvious mathematics about it.
struct Machine {
  Sample sample{40, 5, 11};
  std::vector<double> y, upper, curvature;
  double rho = 0.0;
  bool free_intercept = false;

  Machine() : upper(40, 1.0), curvature(40, 0.0) {
    const std::vector<double> noise = samples::values(40, 12);
    for (std::int64_t i = 0; i < 40; ++i)
      y.push_back(sample.at(i, 0) - sample.at(i, 1) + noise[i] > 0.2 ? 1.0 : -1.0);
  }

  std::vector<double> w(const std::vector<double>& alpha) const {
    std::vector<double> sum(5, 0.0);
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 5; ++j) sum[j] += alpha[i] * y[i] * sample.at(i, j);
    return sum;
  }

  double label_alpha(const std::vector<double>& alpha) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < 40; ++i) sum += y[i] * alpha[i];
    return sum;
  }

  std::vector<double> gradient(const std::vector<double>& alpha, double intercept) const {
    const std::vector<double> normal = w(alpha);
    std::vector<double> slopes;
    for (std::int64_t i = 0; i < 40; ++i) {
      double score = intercept;
      for (std::int64_t j = 0; j < 5; ++j) score += normal[j] * sample.at(i, j);
      slopes.push_back(y[i] * score - 1.0 + curvature[i] * alpha[i]);
    }
    return slopes;
  }

  double objective(const std::vector<double>& alpha) const {
    double value = free_intercept ? 0.0 : 0.5 * rho * std::pow(label_alpha(alpha), 2);
    for (const double weight : w(alpha)) value += 0.5 * weight * weight;
    for (std::size_t i = 0; i < 40; ++i)
      value += 0.5 * curvature[i] * alpha[i] * alpha[i] - alpha[i];
    return value;
  }

  /// The feasible point nearest to y_i alpha_i - y_i t for the t that meets the constraint, if any.
  std::vector<double> project(const std::vector<double>& alpha) const {
    double low = free_intercept ? -1e3 : 0.0, high = free_intercept ? 1e3 : 0.0;
    std::vector<double> nearest = alpha;
    for (int halving = 0; halving < (free_intercept ? 100 : 1); ++halving) {
      const double t = 0.5 * (low + high);
      for (std::size_t i = 0; i < 40; ++i)
        nearest[i] = std::clamp(alpha[i] - t * y[i], 0.0, upper[i]);
      (label_alpha(nearest) > 0.0 ? low : high) = t;
    }
    return nearest;
  }

  /// The least objective, by accelerated projected gradient steps.
  double least_objective() const {
    constexpr int kSteps = 5000;
    std::vector<double> alpha(40, 0.0), ahead = alpha;
    for (int step = 0; step < kSteps; ++step) {
      const double intercept = free_intercept ? 0.0 : rho * label_alpha(ahead);
      const std::vector<double> slopes = gradient(ahead, intercept), before = alpha;
      for (std::size_t i = 0; i < 40; ++i) ahead[i] -= 0.01 * slopes[i];
      alpha = project(ahead);
      for (std::size_t i = 0; i < 40; ++i)
        ahead[i] = alpha[i] + step / (step + 3.0) * (alpha[i] - before[i]);
    }
    return objective(alpha);
  }

  DualCoordinateDescent solver(const Matrix& matrix, std::uint64_t seed = 3) const {
    return DualCoordinateDescent(matrix, y, upper, curvature, rho, free_intercept, seed);
  }
};

/// The machines: without an intercept, with a penalised one, with a free one; hinge and squared.
static std::vector<Machine> machines() {
  std::vector<Machine> all;
  for (const bool squared : {false, true})
    for (const auto& [rho, free_intercept] : {std::pair{0.0, false}, {2.25, false}, {0.5, true}}) {
      Machine machine;
      machine.rho = rho;
      machine.free_intercept = free_intercept;
      for (std::size_t i = 0; i < 40; ++i) {
        machine.upper[i] = squared ? kInfinity : 0.1 * static_cast<double>(i % 5);
        machine.curvature[i] = squared ? 0.5 : 0.0;
      }
      all.push_back(machine);
    }
  return all;
}

TEST(descent_reaches_the_least_objective_of_projected_gradients) {
  for (const Machine& machine : machines()) {
    const double least = machine.least_objective();
    for (const Matrix& matrix : machine.sample.formats()) {
      DualCoordinateDescent solver = machine.solver(matrix);
      const DualCoordinateDescent::Report report = solver.run(20000, 1e-9);
      CHECK(report.violation <= 1e-9);
      // The two solvers were seen to differ by up to 1e-10; this leaves a factor of ten.
      check::near(machine.objective(solver.alpha()), least, 1e-9);
    }
  }
}

TEST(the_optimality_conditions_hold_to_the_tolerance) {
  constexpr double kTolerance = 1e-8, kSlack = 1e-12;  // rounding of w, kept up to date
  for (const Machine& machine : machines()) {
    DualCoordinateDescent solver = machine.solver(machine.sample.formats()[1]);
    solver.run(20000, kTolerance);
    const std::vector<double> alpha = solver.alpha(), normal = machine.w(alpha);
    const std::vector<double> slopes = machine.gradient(alpha, solver.intercept());
    // Every row met the tolerance when it was visited; later moves shift its gradient a little.
    constexpr double kLimit = 100 * kTolerance;
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(0.0 <= alpha[i] && alpha[i] <= machine.upper[i]);
      if (alpha[i] > 0.0) CHECK(slopes[i] <= kLimit);
      if (alpha[i] < machine.upper[i]) CHECK(slopes[i] >= -kLimit);
    }
    for (std::size_t j = 0; j < 5; ++j) check::near(solver.w()[j], normal[j], kSlack);
    const double label_alpha = machine.label_alpha(alpha);
    if (machine.free_intercept) check::near(label_alpha, 0.0, kTolerance / machine.rho);
    if (!machine.free_intercept) check::near(solver.intercept(), machine.rho * label_alpha, kSlack);
  }
}

TEST(rows_that_were_shrunk_too_early_are_found_again) {
  constexpr double kTolerance = 1e-3;
  Machine machine;
  std::fill(machine.upper.begin(), machine.upper.end(), 20.0);
  const Matrix matrix = machine.sample.formats()[1];
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    DualCoordinateDescent solver = machine.solver(matrix, seed);
    solver.run(100000, kTolerance);
    // All rows met the tolerance in the last sweep, whose own moves shift gradients a little.
    CHECK(solver.run(1, 0.0).violation <= 3 * kTolerance);
  }
}

TEST(two_runs_continue_as_one_while_nothing_is_shrunk) {
  Machine machine;  // unbounded and with curvature: after a few sweeps no row is at a bound
  std::fill(machine.upper.begin(), machine.upper.end(), kInfinity);
  std::fill(machine.curvature.begin(), machine.curvature.end(), 50.0);
  machine.rho = 0.5;
  machine.free_intercept = true;
  const Matrix matrix = machine.sample.formats()[1];
  DualCoordinateDescent twice = machine.solver(matrix), once = machine.solver(matrix);
  twice.run(5, 0.0);
  twice.run(5, 0.0);
  once.run(10, 0.0);
  CHECK(twice.alpha() == once.alpha());
  CHECK(twice.intercept() == once.intercept());
}

TEST(a_restored_solver_goes_on_to_the_last_bit) {
  for (const Machine& machine : machines()) {
    const Matrix matrix = machine.sample.formats()[0];
    DualCoordinateDescent through = machine.solver(matrix), anew = machine.solver(matrix);
    through.run(3, 0.0);
    anew.restore(through.state());
    through.run(4, 0.0);
    anew.run(4, 0.0);
    CHECK(through.alpha() == anew.alpha());
    CHECK(std::ranges::equal(through.w(), anew.w()));
    CHECK(through.intercept() == anew.intercept());
  }
}

TEST(a_seed_gives_the_same_bits_again_and_another_seed_another_path) {
  const Machine machine = machines()[1];
  const Matrix matrix = machine.sample.formats()[2];
  const auto alpha_after_two = [&](std::uint64_t seed) {
    DualCoordinateDescent solver = machine.solver(matrix, seed);
    solver.run(2, 0.0);
    return solver.alpha();
  };
  CHECK(alpha_after_two(1) == alpha_after_two(1));
  CHECK(alpha_after_two(1) != alpha_after_two(2));
}

TEST(a_warm_start_at_the_optimum_ends_after_one_sweep) {
  const Machine machine = machines()[1];
  const Matrix matrix = machine.sample.formats()[1];
  DualCoordinateDescent first = machine.solver(matrix), second = machine.solver(matrix);
  first.run(20000, 1e-10);
  second.set_alpha(first.alpha());
  CHECK(second.run(100, 1e-7).sweeps == 1);
  for (std::size_t j = 0; j < 5; ++j) check::near(second.w()[j], first.w()[j], 1e-9);
}

TEST(rows_whose_upper_bound_is_0_never_move) {
  Machine machine;
  for (std::size_t i = 0; i < 40; i += 2) machine.upper[i] = 0.0;
  DualCoordinateDescent solver = machine.solver(machine.sample.formats()[0]);
  solver.run(50, 1e-6);
  for (std::size_t i = 0; i < 40; i += 2) CHECK(solver.alpha()[i] == 0.0);
}

TEST(a_row_of_zeros_goes_to_its_bound_or_stays_if_that_is_infinite) {
  const Sample zeros(2, 3, std::vector<double>(6, 0.0));
  const std::vector<double> y{1, -1}, upper{0.75, kInfinity}, curvature{0, 0};
  for (const Matrix& matrix : zeros.formats()) {
    DualCoordinateDescent solver(matrix, y, upper, curvature, 0.0, false, 1);
    solver.run(10, 1e-6);
    CHECK((solver.alpha() == std::vector<double>{0.75, 0.0}));
  }
}

TEST(no_sweeps_or_no_rows_are_no_trouble) {
  const Machine machine;
  DualCoordinateDescent idle = machine.solver(machine.sample.formats()[1]);
  const DualCoordinateDescent::Report none = idle.run(0, 1e-6);
  CHECK(none.sweeps == 0 && none.violation == kInfinity);
  const Sample empty(0, 3);
  const std::vector<double> nothing;
  DualCoordinateDescent solver(empty.formats()[0], nothing, nothing, nothing, 0.0, false, 1);
  const DualCoordinateDescent::Report report = solver.run(5, 1e-6);
  CHECK(report.sweeps == 1 && report.violation == 0.0);
}
