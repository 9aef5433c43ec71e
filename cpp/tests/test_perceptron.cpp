#include "check.hpp"
#include "hedgerow/solver/perceptron.hpp"
#include "samples.hpp"

using hedgerow::Matrix;
using hedgerow::perceptron_pass;
using hedgerow::Visits;
using Positions = std::vector<std::int64_t>;

static const samples::Sample kWorked(3, 2, {1, 2, 4, 1, 2, 2});
static const std::vector<double> kLabels{-1, 1, 1};
static const std::vector<double> kOnes{1, 1, 1};
static const Positions kInOrder{0, 1, 2};

TEST(the_worked_example_makes_one_mistake_then_none) {
  for (const Matrix& matrix : kWorked.formats()) {
    std::vector<double> coef{1, -1};
    double intercept = -2;
    const auto pass = [&] {
      return perceptron_pass(matrix, kLabels, kOnes, kInOrder, 0.25, true, coef, intercept)
          .mistakes;
    };
    CHECK(pass() == Positions{2});
    CHECK((coef == std::vector<double>{1.5, -0.5}));
    CHECK(intercept == -1.75);
    CHECK(pass().empty());
  }
}

TEST(a_score_of_exactly_zero_is_a_mistake) {
  std::vector<double> coef{0, 0};
  double intercept = 0;
  const Visits visits = perceptron_pass(kWorked.formats()[1], kLabels, kOnes, Positions{1}, 1.0,
                                        false, coef, intercept);
  CHECK(visits.mistakes == Positions{0});
  CHECK((coef == std::vector<double>{4, 1}));
  CHECK(intercept == 0);
}

TEST(rows_of_weight_0_are_passed_over_and_other_weights_scale_the_step) {
  std::vector<double> coef{0, 0};
  double intercept = 0;
  const std::vector<double> weight{0, 0.5, 1};
  const Visits visits = perceptron_pass(kWorked.formats()[1], kLabels, weight,
                                        Positions{0, 1, 2, 0}, 1.0, true, coef, intercept);
  CHECK(visits.mistakes == Positions{1});
  CHECK((coef == std::vector<double>{2, 0.5}));
  CHECK(intercept == 0.5);
}

TEST(positions_count_in_the_order_visited) {
  std::vector<double> coef{1, -1};
  double intercept = -2;
  const Visits visits = perceptron_pass(kWorked.formats()[0], kLabels, kOnes, Positions{2, 1, 0},
                                        0.25, true, coef, intercept);
  CHECK(visits.mistakes == Positions{0});
  CHECK(visits.n_made == 3);
}
