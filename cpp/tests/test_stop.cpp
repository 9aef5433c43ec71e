#include "hedgerow/system/stop.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hedgerow/system/parallel.hpp"
#include "hedgerow/solver/dual_coordinate_descent.hpp"
#include "hedgerow/solver/perceptron.hpp"
#include "samples.hpp"

using namespace hedgerow;

TEST(without_a_token_nothing_is_asked) {
  CHECK(current_stop_token() == nullptr);
  CHECK(!stop_asked());
}

TEST(a_scope_puts_its_token_over_the_thread_and_takes_it_away) {
  StopToken outer, inner;
  {
    const StopScope a(&outer);
    {
      const StopScope b(&inner);
      CHECK(current_stop_token() == &inner);
    }
    CHECK(current_stop_token() == &outer);
  }
  CHECK(current_stop_token() == nullptr);
}

TEST(a_token_stops_when_told_and_when_its_parent_does) {
  StopToken parent, child(&parent);
  CHECK(!child.is_stopped());
  parent.stop();
  CHECK(child.is_stopped());
  StopToken alone;
  alone.stop();
  CHECK(alone.is_stopped() && !StopToken().is_stopped());
}

TEST(a_deadline_stops_a_token_once_it_has_passed) {
  StopToken token;
  token.stop_at(StopToken::Clock::now() + std::chrono::hours(1));
  CHECK(!token.is_stopped());
  token.stop_at(StopToken::Clock::now());
  CHECK(token.is_stopped());
}

TEST(a_poll_may_stop_its_token_or_throw) {
  StopToken* told = nullptr;
  StopToken token(nullptr, [&told] { told->stop(); });
  told = &token;
  CHECK(!token.is_stopped());
  CHECK(token.asks_to_stop());
  const StopToken thrower(nullptr, [] { throw std::runtime_error("a signal"); });
  check::throws<std::runtime_error>([&] { thrower.asks_to_stop(); }, "a signal");
}

TEST(only_the_thread_that_made_a_token_polls_and_not_at_every_question) {
  std::atomic<int> polls{0};
  const StopToken token(nullptr, [&] { ++polls; });
  std::thread([&] { token.asks_to_stop(); }).join();
  CHECK(polls == 0);
  for (int i = 0; i < 1000; ++i) token.asks_to_stop();
  CHECK(polls >= 1 && polls < 1000);
}

TEST(a_stopped_loop_ends_early_in_every_thread) {
  for (const int n_threads : {1, 3}) {
    StopToken token;
    const StopScope scope(&token);
    std::atomic<int> runs{0};
    check::throws<Stopped>(
        [&] {
          parallel_for(10000, n_threads, [&](std::int64_t task) {
            ++runs;
            if (task == 5) token.stop();
          });
        },
        "asked to stop");
    CHECK(runs >= 6 && runs < 10000);
  }
}

TEST(a_token_does_not_outlast_its_scope_in_the_threads_of_the_pool) {
  {
    StopToken token;
    const StopScope scope(&token);
    parallel_for(50, 3, [](std::int64_t) {});
  }
  std::atomic<int> under_a_token{0};
  parallel_for(50, 3, [&](std::int64_t) { under_a_token += current_stop_token() != nullptr; });
  CHECK(under_a_token == 0);
}

static const samples::Sample kRows(3, 2, {1, 2, 4, 1, 2, 2});
static const std::vector<double> kLabels{-1, 1, 1}, kOnes{1, 1, 1};

TEST(sweeps_end_by_an_exception_and_leave_alpha_and_w_true) {
  StopToken token;
  DualCoordinateDescent solver(kRows.formats()[0],
                               {kLabels, kOnes, kOnes, DualLoss::hinge, 0.0, 1.0, false, 0.0},
                               {RowOrder::shuffled, true, 1, 1});
  solver.run(1, 0.0);
  const std::vector<double> alpha = solver.alpha();
  token.stop();
  const StopScope scope(&token);
  check::throws<Stopped>([&] { solver.run(5, 0.0); }, "asked to stop");
  CHECK(solver.alpha() == alpha);
}

TEST(a_perceptron_asked_to_stop_visits_no_more_rows) {
  StopToken token;
  token.stop();
  const StopScope scope(&token);
  std::vector<double> coef{0, 0};
  double intercept = 0;
  const Visits visits =
      perceptron_pass(kRows.formats()[0], kLabels, kOnes, std::vector<std::int64_t>{0, 1, 2}, 1.0,
                      true, coef, intercept);
  CHECK(visits.n_made == 0 && visits.mistakes.empty());
  CHECK(coef == (std::vector<double>{0, 0}));
}
