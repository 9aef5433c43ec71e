#include "hedgerow/solver/sequential_dual.hpp"

#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "samples.hpp"

using hedgerow::Matrix;
using hedgerow::SequentialDual;
using samples::Sample;

static constexpr std::size_t kRows = 40, kFeatures = 5;

/// A machine to train, and slow, obvious mathematics about it.
struct Classes {
  Sample sample{kRows, kFeatures, 21};
  std::size_t n_classes;
  std::vector<std::int64_t> label;
  std::vector<double> weight;
  double rho = 0.0;
  bool free_intercept = false;

  explicit Classes(std::size_t n_classes = 4) : n_classes(n_classes) {
    for (std::size_t i = 0; i < kRows; ++i) {
      label.push_back(static_cast<std::int64_t>((i * i + i / 3) % n_classes));
      weight.push_back(0.3 * static_cast<double>(i % 4));
    }
  }

  double own(std::span<const double> alpha, std::size_t i) const {
    return alpha[i * n_classes + static_cast<std::size_t>(label[i])];
  }

  double excess(std::span<const double> alpha, std::size_t k) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) sum += alpha[i * n_classes + k];
    return sum;
  }

  double weight_of(std::span<const double> alpha, std::size_t k, std::size_t j) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < kRows; ++i)
      sum += alpha[i * n_classes + k] * sample.x[i * kFeatures + j];
    return sum;
  }

  double dual(std::span<const double> alpha) const {
    double value = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) value += own(alpha, i);
    for (std::size_t k = 0; k < n_classes; ++k) {
      for (std::size_t j = 0; j < kFeatures; ++j)
        value -= 0.5 * std::pow(weight_of(alpha, k, j), 2);
      if (!free_intercept) value -= 0.5 * rho * std::pow(excess(alpha, k), 2);
    }
    return value;
  }

  double score(const std::vector<double>& hyperplanes, std::size_t i, std::size_t k) const {
    const double* hyperplane = hyperplanes.data() + k * (kFeatures + 1);
    double sum = hyperplane[kFeatures];
    for (std::size_t j = 0; j < kFeatures; ++j) sum += hyperplane[j] * sample.x[i * kFeatures + j];
    return sum;
  }

  double primal(const std::vector<double>& hyperplanes) const {
    double value = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double* hyperplane = hyperplanes.data() + k * (kFeatures + 1);
      for (std::size_t j = 0; j < kFeatures; ++j) value += 0.5 * hyperplane[j] * hyperplane[j];
      if (rho > 0.0 && !free_intercept)
        value += 0.5 * hyperplane[kFeatures] * hyperplane[kFeatures] / rho;
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto right = static_cast<std::size_t>(label[i]);
      double worst = 0.0;
      for (std::size_t k = 0; k < n_classes; ++k)
        if (k != right)
          worst = std::max(worst, 1.0 + score(hyperplanes, i, k) - score(hyperplanes, i, right));
      value += weight[i] * worst;
    }
    return value;
  }

  SequentialDual solver(const Matrix& matrix, bool shuffled = true, bool shrinking = true) const {
    return SequentialDual(
        matrix, {label, weight, static_cast<std::int64_t>(n_classes), rho, free_intercept},
        {shuffled, shrinking, 3, 2});
  }
};

/// Numbers of classes around a group of hyperplanes, without intercepts, with penalised and free
/// ones.
static std::vector<Classes> machines() {
  std::vector<Classes> all;
  for (const std::size_t n_classes : {2, 3, 8, 9, 35})
    for (const auto& [rho, free_intercept] : {std::pair{0.0, false}, {2.25, false}, {0.5, true}}) {
      Classes machine(n_classes);
      machine.rho = rho;
      machine.free_intercept = free_intercept;
      all.push_back(machine);
    }
  return all;
}

TEST(primal_and_dual_of_all_classes_meet_for_every_intercept_and_format) {
  for (const Classes& machine : machines())
    for (const Matrix& matrix : machine.sample.formats()) {
      SequentialDual solver = machine.solver(matrix);
      CHECK(solver.run(50000, 1e-9).violation <= 1e-9);
      // A row's part of the gap is at most its violation times its weight, and what is unbalanced times
      // an intercept: 1e-9 * (40 * 0.9 + classes).
      check::near(machine.primal(solver.hyperplanes()), machine.dual(solver.alpha()), 1e-7);
    }
}

TEST(hyperplanes_scores_and_alphas_belong_together) {
  for (const Classes& machine : machines()) {
    SequentialDual solver = machine.solver(machine.sample.formats()[2]);
    solver.run(7, 0.0);
    const std::vector<double> hyperplanes = solver.hyperplanes();
    const std::span<const double> alpha = solver.alpha(), scores = solver.scores();
    for (std::size_t k = 0; k < machine.n_classes; ++k) {
      const double* hyperplane = hyperplanes.data() + k * (kFeatures + 1);
      for (std::size_t j = 0; j < kFeatures; ++j)
        check::near(hyperplane[j], machine.weight_of(alpha, k, j), 1e-12);
      if (!machine.free_intercept)
        check::near(hyperplane[kFeatures], machine.rho * machine.excess(alpha, k), 1e-12);
      for (std::size_t i = 0; i < kRows; ++i)
        check::near(scores[i * machine.n_classes + k], machine.score(hyperplanes, i, k), 1e-12);
    }
  }
}

TEST(alphas_of_a_row_sum_to_0_within_their_bounds) {
  for (const Classes& machine : machines()) {
    SequentialDual solver = machine.solver(machine.sample.formats()[1]);
    solver.run(5, 0.0);
    for (std::size_t i = 0; i < kRows; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < machine.n_classes; ++k) {
        const double alpha = solver.alpha()[i * machine.n_classes + k];
        const bool is_own = static_cast<std::int64_t>(k) == machine.label[i];
        CHECK(alpha <= (is_own ? machine.weight[i] : 0.0));
        sum += alpha;
      }
      check::near(sum, 0.0, 1e-14);  // a few roundings of numbers below 1
    }
  }
}

TEST(the_dual_of_all_classes_never_decreases_unless_a_multiplier_moves) {
  for (const Classes& machine : machines()) {
    if (machine.free_intercept) continue;
    for (const bool shuffled : {true, false}) {
      SequentialDual solver = machine.solver(machine.sample.formats()[1], shuffled);
      double before = machine.dual(solver.alpha());
      for (int sweep = 0; sweep < 20; ++sweep) {
        solver.run(1, 0.0);
        const double after = machine.dual(solver.alpha());
        CHECK(after >= before - 1e-12 * std::abs(before));  // roundings of a few hundred terms
        before = after;
      }
    }
  }
}

TEST(shrinking_changes_nothing_but_the_way) {
  for (const Classes& machine : machines()) {
    SequentialDual with = machine.solver(machine.sample.formats()[1], true, true);
    SequentialDual without = machine.solver(machine.sample.formats()[1], true, false);
    with.run(50000, 1e-9);
    without.run(50000, 1e-9);
    check::near(machine.primal(with.hyperplanes()), machine.primal(without.hyperplanes()), 1e-7);
  }
}

TEST(a_restored_state_goes_on_to_the_same_bits) {
  for (const Classes& machine : machines()) {
    const Matrix matrix = machine.sample.formats()[4];
    SequentialDual first = machine.solver(matrix), second = machine.solver(matrix);
    first.run(3, 1e-3);
    second.restore(first.state());
    first.run(4, 1e-6);
    second.run(4, 1e-6);
    CHECK(std::ranges::equal(first.hyperplanes(), second.hyperplanes()));
    CHECK(std::ranges::equal(first.alpha(), second.alpha()));
  }
}

TEST(a_row_of_zeros_without_intercepts_gives_all_it_has) {
  const Sample zeros(2, 3, std::vector<double>(6, 0.0));
  const std::vector<std::int64_t> label{1, 2};
  const std::vector<double> weight{1e4, 0.5};
  SequentialDual solver(zeros.formats()[2], {label, weight, 3, 0.0, false}, {true, true, 1, 1});
  CHECK(solver.run(3, 1e-12).violation == 0.0);
  check::near(solver.alpha()[1], 1e4, 0.0);
  check::near(solver.alpha()[3 + 2], 0.5, 0.0);
}
