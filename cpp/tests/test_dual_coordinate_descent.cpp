#include "hedgerow/solver/dual_coordinate_descent.hpp"

#include <algorithm>
#include <limits>

#include "check.hpp"
#include "samples.hpp"

using hedgerow::DualCoordinateDescent;
using hedgerow::DualLoss;
using hedgerow::Matrix;
using hedgerow::RowOrder;
using samples::Sample;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr std::size_t kRows = 40;

static const std::vector<DualLoss> kLosses{DualLoss::hinge, DualLoss::squared_hinge,
                                           DualLoss::logistic, DualLoss::epsilon_insensitive,
                                           DualLoss::squared_epsilon_insensitive};
static const std::vector<RowOrder> kOrders{RowOrder::shuffled, RowOrder::cyclic,
                                           RowOrder::stochastic};

static double loss_at(DualLoss loss, double epsilon, double r) {
  const double outside = std::max(0.0, std::abs(r) - epsilon);
  switch (loss) {
    case DualLoss::hinge:
      return std::max(0.0, r);
    case DualLoss::squared_hinge:
      return std::pow(std::max(0.0, r), 2);
    case DualLoss::logistic:
      return std::max(0.0, r) + std::log1p(std::exp(-std::abs(r)));
    case DualLoss::epsilon_insensitive:
      return outside;
    case DualLoss::squared_epsilon_insensitive:
      return outside * outside;
  }
  return kInfinity;
}

/// Of c times the loss; infinite outside its domain.
static double conjugate_at(DualLoss loss, double epsilon, double c, double alpha) {
  const auto entropy = [c](double part) { return part == 0.0 ? 0.0 : part * std::log(part / c); };
  const double square = c > 0.0 ? alpha * alpha / (4.0 * c) : 0.0;
  if (c == 0.0 && alpha != 0.0) return kInfinity;
  switch (loss) {
    case DualLoss::hinge:
      return 0.0 <= alpha && alpha <= c ? 0.0 : kInfinity;
    case DualLoss::squared_hinge:
      return 0.0 <= alpha ? square : kInfinity;
    case DualLoss::logistic:
      return 0.0 <= alpha && alpha <= c ? entropy(alpha) + entropy(c - alpha) : kInfinity;
    case DualLoss::epsilon_insensitive:
      return std::abs(alpha) <= c ? epsilon * std::abs(alpha) : kInfinity;
    case DualLoss::squared_epsilon_insensitive:
      return epsilon * std::abs(alpha) + square;
  }
  return kInfinity;
}

/// A machine to train, and slow, obvious mathematics about it.
struct Machine {
  Sample sample{kRows, 5, 11};
  std::vector<double> y, target, weight;
  DualLoss loss = DualLoss::hinge;
  double epsilon = 0.1, rho = 0.0, balance = 0.0;
  bool free_intercept = false;

  explicit Machine(DualLoss loss = DualLoss::hinge) : loss(loss) {
    const std::vector<double> noise = samples::values(kRows, 12);
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      const double found = sample.at(row, 0) - sample.at(row, 1) + noise[i] - 0.2;
      const bool two_sided =
          loss == DualLoss::epsilon_insensitive || loss == DualLoss::squared_epsilon_insensitive;
      y.push_back(two_sided || found > 0.0 ? 1.0 : -1.0);
      target.push_back(two_sided ? found : loss == DualLoss::logistic ? 0.0 : 1.0);
      weight.push_back(0.2 * static_cast<double>(i % 5));
    }
  }

  std::vector<double> w(const std::vector<double>& alpha) const {
    std::vector<double> sum(5, 0.0);
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 0; j < 5; ++j) sum[j] += alpha[i] * y[i] * sample.x[i * 5 + j];
    return sum;
  }

  double excess(const std::vector<double>& alpha) const {
    double sum = -balance;
    for (std::size_t i = 0; i < kRows; ++i) sum += y[i] * alpha[i];
    return sum;
  }

  double primal(std::span<const double> normal, double intercept) const {
    double value = balance * intercept;
    if (rho > 0.0 && !free_intercept) value += 0.5 * intercept * intercept / rho;
    for (const double weight : normal) value += 0.5 * weight * weight;
    for (std::size_t i = 0; i < kRows; ++i) {
      double score = intercept;
      for (std::size_t j = 0; j < 5; ++j) score += normal[j] * sample.x[i * 5 + j];
      value += weight[i] * loss_at(loss, epsilon, target[i] - y[i] * score);
    }
    return value;
  }

  double dual(const std::vector<double>& alpha) const {
    double value = free_intercept ? 0.0 : -0.5 * rho * std::pow(excess(alpha), 2);
    for (const double weight : w(alpha)) value -= 0.5 * weight * weight;
    for (std::size_t i = 0; i < kRows; ++i)
      value += target[i] * alpha[i] - conjugate_at(loss, epsilon, weight[i], alpha[i]);
    return value;
  }

  DualCoordinateDescent solver(const Matrix& matrix, RowOrder order = RowOrder::shuffled,
                               std::uint64_t seed = 3, bool shrinking = true) const {
    return DualCoordinateDescent(matrix,
                                 {y, target, weight, loss, epsilon, rho, free_intercept, balance},
                                 {order, shrinking, seed, 2});
  }
};

/// Every loss without an intercept, with a penalised one, with a free one, and with a free one whose
/// constraint has another right side.
static std::vector<Machine> machines() {
  std::vector<Machine> all;
  for (const DualLoss loss : kLosses)
    for (const auto& [rho, free_intercept, balance] : {std::tuple{0.0, false, 0.0},
                                                       {2.25, false, 0.0},
                                                       {2.25, false, 0.5},
                                                       {0.5, true, 0.0},
                                                       {0.5, true, 0.5}}) {
      Machine machine(loss);
      machine.rho = rho;
      machine.free_intercept = free_intercept;
      machine.balance = balance;
      all.push_back(machine);
    }
  return all;
}

TEST(primal_and_dual_meet_for_every_loss_intercept_order_and_format) {
  for (const Machine& machine : machines())
    for (const RowOrder order : kOrders)
      for (const Matrix& matrix : machine.sample.formats()) {
        DualCoordinateDescent solver = machine.solver(matrix, order);
        const DualCoordinateDescent::Report report = solver.run(20000, 1e-9);
        CHECK(report.violation <= 1e-9);
        const std::vector<double> alpha = solver.alpha();
        const double primal = machine.primal(solver.w(), solver.intercept());
        // Each row's part of the gap is at most its violation times its alpha: 1e-9 * 40 * 0.8.
        check::near(primal, machine.dual(alpha), 1e-7);
        if (machine.free_intercept) check::near(machine.excess(alpha), 0.0, 1e-8);
      }
}

TEST(w_and_the_intercept_are_those_of_alpha) {
  constexpr double kSlack = 1e-12;  // rounding of w, kept up to date
  for (const Machine& machine : machines()) {
    DualCoordinateDescent solver = machine.solver(machine.sample.formats()[1]);
    solver.run(30, 1e-8);
    const std::vector<double> alpha = solver.alpha(), normal = machine.w(alpha);
    for (std::size_t j = 0; j < 5; ++j) check::near(solver.w()[j], normal[j], kSlack);
    if (!machine.free_intercept)
      check::near(solver.intercept(), machine.rho * machine.excess(alpha), kSlack);
  }
}

TEST(scores_are_those_of_w_and_the_intercept_now) {
  for (const Machine& machine : machines()) {
    DualCoordinateDescent solver = machine.solver(machine.sample.formats()[1]);
    for (int visit = 0; visit < 3; ++visit) {
      const std::vector<double> scores(solver.scores().begin(), solver.scores().end());
      for (std::size_t i = 0; i < kRows; ++i) {
        double expected = solver.intercept();
        for (std::size_t j = 0; j < 5; ++j) expected += solver.w()[j] * machine.sample.x[i * 5 + j];
        check::near(scores[i], expected, 1e-12);
      }
      if (visit == 0) solver.run(3, 0.0);
      if (visit == 1) solver.set_alpha(std::vector<double>(kRows, 0.1), 0.5);
    }
  }
}

TEST(the_dual_never_decreases_unless_a_multiplier_moves) {
  for (const Machine& machine : machines()) {
    if (machine.free_intercept) continue;
    for (const RowOrder order : kOrders) {
      DualCoordinateDescent solver = machine.solver(machine.sample.formats()[1], order);
      double before = machine.dual(solver.alpha());
      for (int sweep = 0; sweep < 30; ++sweep) {
        solver.run(1, 0.0);
        const double after = machine.dual(solver.alpha());
        CHECK(after >= before - 1e-13 * std::abs(before));  // a few roundings of 40 terms
        before = after;
      }
    }
  }
}

TEST(a_weight_of_two_is_the_row_twice_and_a_weight_of_0_is_no_row) {
  for (const DualLoss loss : kLosses) {
    Machine machine(loss);
    machine.rho = 1.0;
    std::vector<double> x;
    Machine repeated = machine;
    repeated.y.clear(), repeated.target.clear(), repeated.weight.clear();
    for (std::size_t i = 0; i < kRows; ++i) {
      machine.weight[i] = 0.3 * static_cast<double>(i % 3);
      for (std::size_t copy = 0; copy < i % 3; ++copy) {
        x.insert(x.end(), machine.sample.x.begin() + static_cast<std::ptrdiff_t>(5 * i),
                 machine.sample.x.begin() + static_cast<std::ptrdiff_t>(5 * i + 5));
        repeated.y.push_back(machine.y[i]);
        repeated.target.push_back(machine.target[i]);
        repeated.weight.push_back(0.3);
      }
    }
    const Sample rows(static_cast<std::int64_t>(repeated.y.size()), 5, x);
    DualCoordinateDescent weighted = machine.solver(machine.sample.formats()[1]);
    DualCoordinateDescent copies = repeated.solver(rows.formats()[1]);
    weighted.run(20000, 1e-10);
    copies.run(20000, 1e-10);
    // The objective is strongly convex in w: |w - w*|^2 / 2 is at most the gap, here about 1e-10.
    for (std::size_t j = 0; j < 5; ++j) check::near(weighted.w()[j], copies.w()[j], 2e-5);
    check::near(weighted.intercept(), copies.intercept(), 2e-5);
  }
}

/// One row without an intercept: alpha solves log(alpha / (c - alpha)) + x^2 alpha = p.
TEST(the_logistic_step_is_exact_over_twenty_orders_of_magnitude) {
  const std::vector<double> y{1.0};
  for (int exponent = -10; exponent <= 10; ++exponent)
    for (const double scale : {1e-5, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e5})
      for (const double p : {-600.0, -40.0, -3.0, -1e-3, 0.0, 0.5, 20.0, 35.0, 1e3, 1e6}) {
        const Sample one(1, 1, std::vector<double>{scale});
        const std::vector<double> target{p}, weight{std::pow(10.0, exponent)};
        DualCoordinateDescent solver(one.formats()[1],
                                     {y, target, weight, DualLoss::logistic, 0.0, 0.0, false, 0.0},
                                     {RowOrder::cyclic, true, 1, 1});
        for (int visit = 0; visit < 3; ++visit) solver.run(1, 0.0);
        const double alpha = solver.alpha()[0], c = weight[0], q = one.x[0] * one.x[0];
        CHECK(0.0 < alpha && alpha < c);
        // The residual p - q alpha, and alpha where the loss has that slope.
        const double r = p - q * alpha, expected = c / (1.0 + std::exp(-r));
        // Rounding: of r by an ulp of its terms, and of alpha itself.
        const double slack = 4e-16 * (std::abs(p) + q * alpha) * std::min(alpha, c - alpha);
        check::near(alpha, expected, 1e-9 * std::min(alpha, c - alpha) + 2 * slack + 4e-16 * c);
      }
}

TEST(a_logistic_alpha_stays_inside_from_any_start) {
  Machine machine(DualLoss::logistic);
  machine.rho = 1.0;
  for (const double c : {1e-10, 1.0, 1e10})
    for (const double share : {0.0, 1e-300, 0.5, 1.0 - 1e-16, 1.0}) {
      std::fill(machine.weight.begin(), machine.weight.end(), c);
      DualCoordinateDescent solver = machine.solver(machine.sample.formats()[1]);
      solver.set_alpha(std::vector<double>(kRows, share * c), 0.0);
      solver.run(3, 0.0);
      for (const double alpha : solver.alpha()) CHECK(0.0 < alpha && alpha < c);
    }
}

TEST(rows_that_were_shrunk_too_early_are_found_again) {
  constexpr double kTolerance = 1e-3;
  for (const DualLoss loss : {DualLoss::hinge, DualLoss::epsilon_insensitive}) {
    Machine machine(loss);
    std::fill(machine.weight.begin(), machine.weight.end(), 20.0);
    const Matrix matrix = machine.sample.formats()[1];
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      DualCoordinateDescent solver = machine.solver(matrix, RowOrder::shuffled, seed);
      solver.run(100000, kTolerance);
      // All rows met the tolerance in the last sweep, whose own moves shift slopes a little.
      CHECK(solver.run(1, 0.0).violation <= 3 * kTolerance);
    }
  }
}

TEST(shrinking_changes_the_path_where_there_are_bounds_or_kinks_and_never_the_logistic_one) {
  for (const DualLoss loss : kLosses) {
    Machine machine(loss);
    std::fill(machine.weight.begin(), machine.weight.end(), 1.0);
    const Matrix matrix = machine.sample.formats()[1];
    const auto w_after = [&](bool shrinking) {
      DualCoordinateDescent solver = machine.solver(matrix, RowOrder::shuffled, 3, shrinking);
      solver.run(60, 0.0);
      return std::vector<double>(solver.w().begin(), solver.w().end());
    };
    CHECK((w_after(true) == w_after(false)) == (loss == DualLoss::logistic));
  }
}

TEST(two_runs_continue_as_one_while_nothing_is_shrunk) {
  for (const RowOrder order : kOrders) {
    Machine machine(DualLoss::squared_epsilon_insensitive);
    machine.rho = 0.5;
    machine.free_intercept = true;
    const Matrix matrix = machine.sample.formats()[1];
    DualCoordinateDescent twice = machine.solver(matrix, order, 3, false);
    DualCoordinateDescent once = machine.solver(matrix, order, 3, false);
    twice.run(5, 0.0);
    twice.run(5, 0.0);
    once.run(10, 0.0);
    CHECK(twice.alpha() == once.alpha());
    CHECK(twice.intercept() == once.intercept());
  }
}

TEST(a_restored_solver_goes_on_to_the_last_bit) {
  for (const Machine& machine : machines())
    for (const RowOrder order : kOrders) {
      const Matrix matrix = machine.sample.formats()[0];
      DualCoordinateDescent through = machine.solver(matrix, order);
      DualCoordinateDescent anew = machine.solver(matrix, order);
      through.run(3, 0.0);
      anew.restore(through.state());
      const double violation = through.run(4, 0.0).violation;
      CHECK(anew.run(4, 0.0).violation == violation);
      CHECK(through.alpha() == anew.alpha());
      CHECK(std::ranges::equal(through.w(), anew.w()));
      CHECK(through.intercept() == anew.intercept());
    }
}

TEST(a_seed_gives_the_same_bits_again_and_another_seed_another_path_unless_the_order_is_cyclic) {
  const Machine machine(DualLoss::squared_hinge);
  const Matrix matrix = machine.sample.formats()[2];
  for (const RowOrder order : kOrders) {
    const auto alpha_after_two = [&](std::uint64_t seed) {
      DualCoordinateDescent solver = machine.solver(matrix, order, seed);
      solver.run(2, 0.0);
      return solver.alpha();
    };
    CHECK(alpha_after_two(1) == alpha_after_two(1));
    CHECK((alpha_after_two(1) == alpha_after_two(2)) == (order == RowOrder::cyclic));
  }
}

TEST(a_warm_start_at_the_optimum_ends_after_one_sweep) {
  for (const DualLoss loss : kLosses) {
    Machine machine(loss);
    machine.rho = 2.25;
    const Matrix matrix = machine.sample.formats()[1];
    DualCoordinateDescent first = machine.solver(matrix), second = machine.solver(matrix);
    first.run(20000, 1e-10);
    second.set_alpha(first.alpha(), first.intercept());
    CHECK(second.run(100, 1e-7).sweeps == 1);
    for (std::size_t j = 0; j < 5; ++j) check::near(second.w()[j], first.w()[j], 1e-9);
  }
}

TEST(a_row_of_zeros_goes_where_its_own_loss_sends_it) {
  const Sample zeros(2, 3, std::vector<double>(6, 0.0));
  const std::vector<double> y{1, -1}, target{1, 0.5}, weight{0.75, 2};
  for (const Matrix& matrix : zeros.formats())
    for (const DualLoss loss : kLosses) {
      DualCoordinateDescent solver(matrix, {y, target, weight, loss, 0.2, 0.0, false, 0.0},
                                   {RowOrder::shuffled, true, 1, 1});
      solver.run(10, 1e-6);
      const std::vector<double> alpha = solver.alpha();
      for (std::size_t i = 0; i < 2; ++i) {
        const double c = weight[i], p = target[i];
        const double slope = loss == DualLoss::squared_hinge ? 2 * p
                             : loss == DualLoss::logistic    ? 1 / (1 + std::exp(-p))
                             : loss == DualLoss::squared_epsilon_insensitive ? 2 * (p - 0.2)
                                                                             : 1.0;
        check::near(alpha[i], c * slope, 1e-12);
      }
    }
}

TEST(no_sweeps_or_no_rows_are_no_trouble) {
  const Machine machine;
  DualCoordinateDescent idle = machine.solver(machine.sample.formats()[1]);
  const DualCoordinateDescent::Report none = idle.run(0, 1e-6);
  CHECK(none.sweeps == 0 && none.violation == kInfinity);
  const Sample empty(0, 3);
  for (const RowOrder order : kOrders) {
    DualCoordinateDescent solver(empty.formats()[0],
                                 {{}, {}, {}, DualLoss::hinge, 0.0, 0.0, false, 0.0},
                                 {order, true, 1, 1});
    const DualCoordinateDescent::Report report = solver.run(5, 1e-6);
    CHECK(report.violation == 0.0);
  }
}
