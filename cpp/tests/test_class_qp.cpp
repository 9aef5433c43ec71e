#include "hedgerow/solver/class_qp.hpp"

#include <cmath>

#include "check.hpp"
#include "samples.hpp"

using namespace hedgerow;
using samples::Sample;

static constexpr std::int64_t kClasses = 5, kPlenty = std::int64_t{1} << 30, kManySteps = 1 << 22;

/// Five classes by the largest of five columns.
struct FiveClasses {
  explicit FiveClasses(std::int64_t n)
      : n(n),
        sample(n, kClasses, 21),
        label(n, 0),
        weight(n, 3.0),
        ones(n, 1.0),
        zeros(n * kClasses, 0.0),
        no_intercept(kClasses, 0.0) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 1; k < kClasses; ++k)
        if (sample.at(i, k) > sample.at(i, label[i])) label[i] = k;
  }

  ClassQp solver(double rho, std::int64_t bytes = kPlenty, int n_threads = 1) const {
    const Kernel kernel{{KernelStep::Does::push, {KernelKind::rbf, 0.5, 0.0, 1}, 1.0}};
    auto source = std::make_shared<MatrixKernelSource>(kernel, sample.formats()[1], 1);
    const ClassQp::Problem problem{label, weight, ones, kClasses, rho};
    return ClassQp(source, problem, {zeros, zeros, no_intercept}, {bytes, 64, n_threads});
  }

  std::int64_t n;
  Sample sample;
  std::vector<std::int64_t> label;
  std::vector<double> weight, ones, zeros, no_intercept;
};

TEST(betas_of_a_point_are_within_their_bounds_and_sum_to_zero) {
  const FiveClasses classes(300);
  for (const double rho : {0.0, 1.0}) {
    ClassQp solver = classes.solver(rho);
    CHECK(solver.run(5000, kManySteps, 1e-3).violation <= 1e-3);
    for (std::int64_t i = 0; i < classes.n; ++i) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < kClasses; ++k) {
        const double beta = solver.beta()[i * kClasses + k];
        CHECK(beta <= (k == classes.label[i] ? 3.0 : 0.0));
        sum += beta;
      }
      check::near(sum, 0.0, 1e-13 * kClasses * 3.0);
    }
  }
}

TEST(with_intercepts_the_betas_of_a_class_sum_to_zero_within_the_tolerance) {
  const FiveClasses classes(300);
  ClassQp solver = classes.solver(1.0);
  solver.run(5000, kManySteps, 1e-4);
  for (std::int64_t k = 0; k < kClasses; ++k) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < classes.n; ++i) sum += solver.beta()[i * kClasses + k];
    check::near(sum, 0.0, 1.01e-4);
  }
}

TEST(memory_and_threads_change_no_bit_of_all_classes_at_once) {
  const FiveClasses classes(2500);
  ClassQp plenty = classes.solver(1.0);
  ClassQp few = classes.solver(1.0, 30 * 4096, 3);
  plenty.run(20, kManySteps, 1e-3);
  few.run(20, kManySteps, 1e-3);
  CHECK(std::equal(plenty.beta().begin(), plenty.beta().end(), few.beta().begin()));
}

TEST(steps_for_all_classes_are_counted_and_limited) {
  const FiveClasses classes(300);
  ClassQp solver = classes.solver(1.0);
  const auto report = solver.run(5000, 40, 1e-6);
  CHECK(report.steps == 40);
  CHECK(report.violation > 1e-6);
}

TEST(all_classes_at_once_go_on_from_a_state_to_the_same_bits) {
  const FiveClasses classes(400);
  for (const double rho : {0.0, 1.0}) {
    ClassQp through = classes.solver(rho);
    through.run(4, kManySteps, 1e-6);
    ClassQp again = classes.solver(rho, 0, 3);
    again.set_state(through.state());
    for (ClassQp* solver : {&through, &again}) solver->run(4, kManySteps, 1e-6);
    CHECK(through.state().beta == again.state().beta);
    CHECK(through.state().scores == again.state().scores);
    CHECK(through.state().intercept == again.state().intercept);
  }
}
