#include "hedgerow/solver/joint_descent.hpp"

#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "samples.hpp"

using hedgerow::DualCoordinateDescent;
using hedgerow::DualLoss;
using hedgerow::JointDescent;
using hedgerow::Matrix;
using hedgerow::RowOrder;
using samples::Sample;

static constexpr std::int64_t kRows = 60, kFeatures = 7;
static constexpr double kFine = 1e-10;

/// Hyperplanes to learn over the same rows, and the same alone.
struct Hyperplanes {
  Sample sample{kRows, kFeatures, 5};
  std::int64_t n_hyperplanes;
  DualLoss loss;
  double rho = 0.0;
  bool free_intercept = false;
  std::vector<double> weight;  // y c, hyperplane after hyperplane

  Hyperplanes(std::int64_t n_hyperplanes, DualLoss loss)
      : n_hyperplanes(n_hyperplanes), loss(loss) {
    for (std::int64_t k = 0; k < n_hyperplanes; ++k)
      for (std::int64_t i = 0; i < kRows; ++i)
        weight.push_back((i * (k + 2) % 7 < 3 ? 0.25 : -0.25) * static_cast<double>((i + k) % 5));
  }

  double target() const { return loss == DualLoss::logistic ? 0.0 : 1.0; }

  JointDescent together(const Matrix& matrix, int n_threads = 1, bool shrinking = true) const {
    return JointDescent(matrix, {weight, n_hyperplanes, target(), loss, rho, free_intercept},
                        {shrinking, 3, n_threads});
  }

  /// Hyperplane k by itself.
  DualCoordinateDescent alone(const Matrix& matrix, std::int64_t k) const {
    std::vector<double> y, p(kRows, target()), c;
    for (std::int64_t i = 0; i < kRows; ++i) {
      const double signed_weight = weight[static_cast<std::size_t>(k * kRows + i)];
      y.push_back(std::copysign(1.0, signed_weight));
      c.push_back(std::abs(signed_weight));
    }
    return DualCoordinateDescent(matrix, {y, p, c, loss, 0.0, rho, free_intercept, 0.0},
                                 {RowOrder::shuffled, true, 3, 1});
  }
};

static void check_agreement(const Hyperplanes& hyperplanes) {
  const std::vector<double> fine(static_cast<std::size_t>(hyperplanes.n_hyperplanes), kFine);
  for (const Matrix& matrix : hyperplanes.sample.formats()) {
    JointDescent joint = hyperplanes.together(matrix);
    const auto report = joint.run(20000, fine);
    const std::vector<double> w = joint.w();
    for (std::int64_t k = 0; k < hyperplanes.n_hyperplanes; ++k) {
      DualCoordinateDescent single = hyperplanes.alone(matrix, k);
      single.run(20000, kFine);
      CHECK(report.violation[static_cast<std::size_t>(k)] <= kFine);
      for (std::int64_t j = 0; j < kFeatures; ++j)
        check::near(w[static_cast<std::size_t>(k * kFeatures + j)],
                    single.w()[static_cast<std::size_t>(j)], 1e-7);
    }
  }
}

TEST(hyperplanes_that_are_learnt_together_end_where_each_ends_alone) {
  for (const DualLoss loss : {DualLoss::hinge, DualLoss::squared_hinge, DualLoss::logistic})
    for (const std::int64_t n_hyperplanes : {1, 3, 8, 11}) {
      Hyperplanes hyperplanes(n_hyperplanes, loss);
      hyperplanes.rho = 1.0;
      check_agreement(hyperplanes);
    }
}

TEST(free_intercepts_of_hyperplanes_that_are_learnt_together_are_those_of_each_alone) {
  for (const DualLoss loss : {DualLoss::hinge, DualLoss::squared_hinge, DualLoss::logistic}) {
    Hyperplanes hyperplanes(5, loss);
    hyperplanes.rho = 2.0;
    hyperplanes.free_intercept = true;
    check_agreement(hyperplanes);
  }
}

TEST(threads_change_no_bits_of_hyperplanes_that_are_learnt_together) {
  const Hyperplanes hyperplanes(9, DualLoss::squared_hinge);
  for (const Matrix& matrix : hyperplanes.sample.formats()) {
    JointDescent one = hyperplanes.together(matrix, 1), four = hyperplanes.together(matrix, 4);
    for (int burst = 0; burst < 4; ++burst) {
      one.run(2, std::vector<double>(9, kFine));
      four.run(2, std::vector<double>(9, kFine));
      CHECK(one.alpha() == four.alpha());
      CHECK(one.scores() == four.scores());
    }
  }
}

TEST(a_retired_hyperplane_stays_and_alphas_that_are_set_make_the_weights) {
  const Hyperplanes hyperplanes(6, DualLoss::hinge);
  const Matrix matrix = hyperplanes.sample.formats()[4];
  JointDescent joint = hyperplanes.together(matrix);
  joint.run(3, std::vector<double>(6, kFine));
  const std::vector<double> alpha = joint.alpha(), w = joint.w();
  joint.retire(2);
  joint.run(3, std::vector<double>(6, kFine));
  const std::vector<double> later = joint.alpha();
  for (std::size_t i = 0; i < kRows; ++i) CHECK(later[2 * kRows + i] == alpha[2 * kRows + i]);
  CHECK(later != alpha);
  JointDescent again = hyperplanes.together(matrix);
  again.set_alpha(alpha, std::vector<double>(6, 0.0));
  const std::vector<double> made = again.w();
  for (std::size_t j = 0; j < w.size(); ++j) check::near(made[j], w[j], 1e-12);
}

TEST(a_hyperplane_without_rows_of_weight_does_not_move) {
  Hyperplanes hyperplanes(4, DualLoss::squared_hinge);
  std::fill_n(hyperplanes.weight.begin(), kRows, 0.0);
  const Matrix matrix = hyperplanes.sample.formats()[3];
  JointDescent joint = hyperplanes.together(matrix);
  const auto report = joint.run(5, std::vector<double>(4, kFine));
  CHECK(report.sweeps[0] == 0.0 && report.violation[0] == 0.0);
  for (std::size_t i = 0; i < kRows; ++i) CHECK(joint.alpha()[i] == 0.0);
}
