#include "check.hpp"
#include "hedgerow/solver/stochastic_descent.hpp"
#include "samples.hpp"

using hedgerow::averaged_steps;
using hedgerow::Matrix;
using hedgerow::steady_steps;
using Counts = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

static const samples::Sample kRows(3, 2, {1, 2, 4, 1, 2, 2});
static const Doubles kLabels{-1, 1, 1};
static const Doubles kOnes{1, 1, 1};

TEST(the_mean_of_the_averaged_steps_is_that_of_the_hyperplanes_by_hand) {
  // With L = 1/8: theta_1 = (4, 1), w_1 = (1/2, 1/8), whose margin at row 2 is 1.25; w_2 = (1/4, 1/16)
  // has the margin -3/8 at row 0, and theta_3 = (3, -1).
  for (const Matrix& matrix : kRows.formats()) {
    Doubles theta(3), lagged(3);
    Counts violations(3);
    double harmonic = 0;
    const auto visit = [&](const Counts& order, std::int64_t n_before) {
      return averaged_steps(matrix, kLabels, kOnes, order, 0.125, 0.0, n_before, harmonic, theta,
                            lagged, violations);
    };
    CHECK(visit({1, 2}, 0) == 2);
    CHECK(visit({0}, 2) == 1);
    CHECK((theta == Doubles{3, -1, 0}));
    CHECK((violations == Counts{1, 1, 0}));
    CHECK(harmonic == 1.5);
    const double scale = 0.125 / 3;  // the mean of (0, 0), (1/2, 1/8), (1/4, 1/16)
    check::near(scale * (harmonic * theta[0] - lagged[0]), 0.25, 1e-15);
    check::near(scale * (harmonic * theta[1] - lagged[1]), 0.0625, 1e-15);
  }
}

TEST(the_constant_feature_is_one_more_column) {
  const samples::Sample wider(3, 3, {1, 2, 0.5, 4, 1, 0.5, 2, 2, 0.5});
  const Counts order{0, 2, 1, 1, 0, 2};
  Doubles theta(3), lagged(3), wide_theta(4), wide_lagged(4);
  Counts violations(3), wide_violations(3);
  double harmonic = 0, wide_harmonic = 0;
  averaged_steps(kRows.formats()[1], kLabels, kOnes, order, 0.5, 0.5, 0, harmonic, theta, lagged,
                 violations);
  averaged_steps(wider.formats()[1], kLabels, kOnes, order, 0.5, 0.0, 0, wide_harmonic, wide_theta,
                 wide_lagged, wide_violations);
  CHECK(violations == wide_violations);
  for (int j = 0; j < 3; ++j) {
    check::near(theta[j], wide_theta[j], 1e-14);
    check::near(lagged[j], wide_lagged[j], 1e-14);
  }
}

TEST(steady_steps_shrink_the_hyperplane_and_push_it_where_a_margin_is_violated) {
  for (const Matrix& matrix : kRows.formats()) {
    Doubles coef{1, -1};
    double intercept = -2;
    Counts violations(3);
    // The margin of row 0 is 3; then w = (1/2, -1/2), b = -2, and that of row 1 is -1/2.
    const std::int64_t n_made =
        steady_steps(matrix, kLabels, kOnes, Doubles{0.25, 0.25, 0.25}, Counts{0, 1}, 0.5, 1.0, 1.0,
                     coef, intercept, violations);
    CHECK(n_made == 2);
    CHECK((coef == Doubles{1.25, 0.0}));
    CHECK(intercept == -1.75);
    CHECK((violations == Counts{0, 1, 0}));
  }
}

TEST(a_thousand_steady_steps_do_not_underflow) {
  Doubles coef{1, -1};
  double intercept = 0;
  Counts violations(3);
  const Counts order(1000, 1);
  steady_steps(kRows.formats()[1], kLabels, kOnes, Doubles{0, 1.0 / 17, 0}, order, 0.5, 0.5, 0.0,
               coef, intercept, violations);
  // Where every step is a violation w goes to 2 push x, whose margin is 2: it is violated at most
  // every other time, and w stays a share of x.
  check::near(coef[0], 4 * coef[1], 1e-14);
  CHECK(coef[0] > 0.0);
  CHECK(violations[1] > 0 && violations[1] < 1000);
}
