#include "hedgerow/solver/box_qp.hpp"

#include <cmath>
#include <numeric>

#include "check.hpp"
#include "hedgerow/system/stop.hpp"
#include "samples.hpp"

namespace hedgerow {
extern const HotLoops wide_loops;
}

using namespace hedgerow;
using samples::Sample;

/// Two classes by the sign of a noisy product, as a program with beta = y alpha.
struct Classes {
  explicit Classes(std::int64_t n)
      : sample(n, 6, 11), linear(n), lower(n), upper(n), zeros(n, 0.0), ones(n, 1.0), group(n, 0) {
    const std::vector<double> noise = samples::values(n, 12);
    for (std::int64_t i = 0; i < n; ++i) {
      const double y = sample.at(i, 0) + sample.at(i, 1) + 0.5 * noise[i] > 0.0 ? 1.0 : -1.0;
      linear[i] = -y;
      lower[i] = y > 0.0 ? 0.0 : -3.0;
      upper[i] = y > 0.0 ? 3.0 : 0.0;
    }
  }

  BoxQp solver(std::int64_t bytes, bool keeps_sums = true, int n_threads = 1) const {
    const Kernel kernel{{KernelStep::Does::push, {KernelKind::rbf, 0.5, 0.0, 1}, 1.0}};
    auto source = std::make_shared<MatrixKernelSource>(kernel, sample.formats()[1], 1);
    const BoxQp::Problem problem{linear, lower, upper, zeros, ones, group, keeps_sums};
    return BoxQp(source, problem, zeros, zeros, {bytes, 64, n_threads});
  }

  std::vector<std::int64_t> points(std::int64_t begin, std::int64_t end) const {
    std::vector<std::int64_t> some(static_cast<std::size_t>(end - begin));
    std::iota(some.begin(), some.end(), begin);
    return some;
  }

  Sample sample;
  std::vector<double> linear, lower, upper, zeros, ones;
  std::vector<std::uint8_t> group;
};

static constexpr std::int64_t kPlenty = std::int64_t{1} << 30, kManySteps = 1 << 20;

TEST(the_sum_and_the_bounds_are_kept) {
  const Classes classes(400);
  BoxQp solver = classes.solver(kPlenty);
  solver.activate(classes.points(0, 400));
  const auto report = solver.run(1000, kManySteps, 1e-6);
  CHECK(report.violation <= 1e-6);
  const std::vector<double> beta = solver.beta();
  check::near(std::accumulate(beta.begin(), beta.end(), 0.0), 0.0, 1e-12 * 400 * 3);
  for (std::int64_t i = 0; i < 400; ++i)
    CHECK(beta[i] >= classes.lower[i] && beta[i] <= classes.upper[i]);
}

TEST(scores_follow_beta_for_active_and_for_resting_points) {
  const Classes classes(300);
  for (const bool keeps_sums : {true, false}) {
    BoxQp solver = classes.solver(kPlenty, keeps_sums);
    solver.activate(classes.points(0, 100));
    solver.run(50, kManySteps, 1e-3);
    solver.look();
    solver.activate(classes.points(100, 200));
    solver.run(50, kManySteps, 1e-3);
    solver.look();
    const std::vector<double> beta = solver.beta(), scores = solver.scores();
    std::vector<double> exact(300);
    const Matrix matrix = classes.sample.formats()[1];
    const Kernel kernel{{KernelStep::Does::push, {KernelKind::rbf, 0.5, 0.0, 1}, 1.0}};
    kernel_sums<double>(KernelValues(kernel, matrix, matrix, 1), beta, 1, exact, 1);
    // Each of up to 200 betas of at most 3 meets a value rounded to float32, a few times.
    for (std::int64_t i = 0; i < 300; ++i) check::near(scores[i], exact[i], 200 * 3 * 1e-6);
  }
}

TEST(a_budget_changes_the_time_and_not_the_beta_nor_do_threads) {
  const Classes classes(3000);
  std::vector<std::vector<double>> found;
  for (const std::int64_t bytes : {kPlenty, std::int64_t{200} << 12, std::int64_t{0}})
    for (const int n_threads : {1, 3}) {
      BoxQp solver = classes.solver(bytes, true, n_threads);
      solver.activate(classes.points(0, 3000));
      CHECK(solver.run(10000, kManySteps, 1e-3).violation <= 1e-3);
      found.push_back(solver.beta());
    }
  for (std::size_t f = 0; f < found.size(); f += 2) CHECK(found[f] == found[f + 1]);
}

TEST(steps_are_limited) {
  const Classes classes(200);
  BoxQp solver = classes.solver(kPlenty);
  solver.activate(classes.points(0, 200));
  const auto report = solver.run(1000, 7, 1e-9);
  CHECK(report.steps == 7);
  CHECK(report.violation > 1e-9);
}

TEST(a_stopped_run_leaves_a_beta_that_meets_the_constraints) {
  const Classes classes(500);
  BoxQp solver = classes.solver(kPlenty);
  solver.activate(classes.points(0, 500));
  solver.run(3, kManySteps, 1e-9);
  StopToken token;
  token.stop();
  const StopScope scope(&token);
  bool stopped = false;
  try {
    solver.run(1000, kManySteps, 1e-9);
  } catch (const Stopped&) {
    stopped = true;
  }
  CHECK(stopped);
  const std::vector<double> beta = solver.beta();
  check::near(std::accumulate(beta.begin(), beta.end(), 0.0), 0.0, 1e-9);
}

/// The same block solved by the loops of one instruction set.
static std::vector<double> block_solution(const HotLoops& loops, bool by_pairs) {
  constexpr std::int64_t kOrder = 32;
  const Classes classes(kOrder);
  const auto all = classes.points(0, kOrder);
  const Matrix matrix = classes.sample.formats()[1];
  const Kernel rbf{{KernelStep::Does::push, {KernelKind::rbf, 0.5, 0.0, 1}, 1.0}};
  std::vector<float> kernel(kOrder * kOrder);
  kernel_block<float>(KernelValues(rbf, matrix, matrix, 1), all, all, kernel, 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> slope(kOrder), beta(kOrder, 0.0), no_rise(kOrder), no_fall(kOrder);
  for (std::int64_t i = 0; i < kOrder; ++i) {
    slope[i] = -classes.linear[i];
    no_rise[i] = classes.upper[i] > 0.0 ? 0.0 : -kInfinity;
    no_fall[i] = classes.lower[i] < 0.0 ? 0.0 : kInfinity;
  }
  PairSteps steps{kernel.data(),
                  kOrder,
                  classes.ones.data(),
                  classes.zeros.data(),
                  slope.data(),
                  beta.data(),
                  classes.lower.data(),
                  classes.upper.data(),
                  no_rise.data(),
                  no_fall.data(),
                  {16, kOrder},
                  1e-9,
                  100000,
                  0,
                  0.0};
  (by_pairs ? loops.pair_steps : loops.single_steps)(steps);
  CHECK(steps.violation <= 1e-9);
  return beta;
}

TEST(blocks_are_solved_alike_by_every_instruction_set) {
  for (const bool by_pairs : {true, false}) {
    const std::vector<double> expected = block_solution(hot("baseline"), by_pairs);
    const auto judge = [&](const std::vector<double>& beta) {
      // A violation of 1e-9 leaves beta uncertain by that over the least eigenvalue, which is not small.
      for (std::size_t i = 0; i < beta.size(); ++i) check::near(beta[i], expected[i], 1e-5);
    };
    for (const std::string& isa : supported_isas()) judge(block_solution(hot(isa), by_pairs));
    judge(block_solution(wide_loops, by_pairs));
  }
}

TEST(a_solver_goes_on_from_a_state_to_the_same_bits) {
  const Classes classes(400);
  for (const bool keeps_sums : {true, false}) {
    BoxQp through = classes.solver(kPlenty, keeps_sums);
    through.activate(classes.points(100, 300));
    through.run(3, kManySteps, 1e-6);
    through.look();
    through.activate(classes.points(0, 50));
    through.run(3, kManySteps, 1e-6);
    BoxQp again = classes.solver(0, keeps_sums, 3);
    again.activate(classes.points(390, 400));  // which set_state undoes
    again.set_state(through.state());
    for (BoxQp* solver : {&through, &again}) {
      solver->run(5, kManySteps, 1e-6);
      solver->look();
      solver->activate(classes.points(300, 400));
      solver->run(5, kManySteps, 1e-6);
      solver->look();
    }
    CHECK(through.beta() == again.beta());
    CHECK(through.scores() == again.scores());
    CHECK(through.state().places.slot == again.state().places.slot);
  }
}

TEST(a_beta_alone_is_not_the_state_of_a_solver) {
  const Classes classes(400);
  BoxQp through = classes.solver(kPlenty), again = classes.solver(kPlenty);
  for (BoxQp* solver : {&through, &again}) solver->activate(classes.points(0, 400));
  through.run(6, kManySteps, 1e-6);
  again.set_beta(through.beta(), through.scores());
  for (BoxQp* solver : {&through, &again}) solver->run(3, kManySteps, 1e-6);
  CHECK(through.beta() != again.beta());  // it has no working set yet
}
