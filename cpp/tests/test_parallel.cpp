#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hedgerow/system/parallel.hpp"

using hedgerow::parallel_for;

/// True if each of n tasks was done exactly once.
static bool each_task_runs_once(std::int64_t n_tasks, int n_threads) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n_tasks));
  parallel_for(n_tasks, n_threads, [&](std::int64_t task) { ++runs[task]; });
  for (const std::atomic<int>& count : runs)
    if (count != 1) return false;
  return true;
}

/// True if two tasks run at the same time: each waits until the other has begun.
static bool two_threads_meet() {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  parallel_for(2, 2, [&](std::int64_t) {
    ++arrived;
    while (arrived < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    if (arrived < 2) met = false;
  });
  return met;
}

TEST(two_threads_work_at_the_same_time) { CHECK(two_threads_meet()); }

TEST(every_task_runs_exactly_once) {
  for (const int n_threads : {-1, 0, 1, 2, 3, 8})
    for (const std::int64_t n_tasks : {0, 1, 2, 3, 100})
      CHECK(each_task_runs_once(n_tasks, n_threads));
}

TEST(many_short_jobs_in_a_row_are_all_done) {
  bool done = true;
  for (int job = 0; job < 2000; ++job) done = done && each_task_runs_once(5, 3);
  CHECK(done);
}

TEST(an_exception_reaches_the_caller_and_the_pool_goes_on) {
  for (const int n_threads : {1, 3}) {
    check::throws<std::runtime_error>(
        [=] {
          parallel_for(50, n_threads, [](std::int64_t task) {
            if (task == 20) throw std::runtime_error("task twenty");
          });
        },
        "task twenty");
    CHECK(each_task_runs_once(10, n_threads));
  }
}

TEST(a_nested_loop_runs_in_its_own_thread) {
  std::atomic<int> runs{0}, moved{0};
  parallel_for(4, 3, [&](std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(5, 3, [&](std::int64_t) {
      ++runs;
      if (std::this_thread::get_id() != outer) ++moved;
    });
  });
  CHECK(runs == 20);
  CHECK(moved == 0);
}

TEST(callers_in_several_threads_do_not_disturb_each_other) {
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int job = 0; job < 200; ++job)
        if (!each_task_runs_once(7, 3)) ++failures;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(failures == 0);
}

/// True if a forked child, which has none of its parent's threads, gets work done by several.
static bool child_works() {
  const pid_t child = fork();
  if (child == 0) _exit(each_task_runs_once(100, 3) && two_threads_meet() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(a_forked_child_makes_its_own_pool) {
  CHECK(each_task_runs_once(100, 3));
  CHECK(child_works());
  CHECK(each_task_runs_once(100, 3));
}

TEST(a_child_forked_while_the_pool_is_at_work_makes_its_own) {
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) parallel_for(20, 3, [](std::int64_t) { std::this_thread::yield(); });
  });
  bool all = true;
  for (int trial = 0; trial < 10; ++trial) all = all && child_works();
  over = true;
  busy.join();
  CHECK(all);
}

TEST(a_cut_covers_everything_once_in_nearly_equal_runs) {
  for (const std::int64_t n : {0, 1, 7, 100})
    for (const std::int64_t pieces : {1, 2, 7, 13}) {
      const hedgerow::Cut cut{n, pieces};
      CHECK(cut.begin(0) == 0 && cut.end(pieces - 1) == n);
      for (std::int64_t p = 0; p < pieces; ++p) {
        const std::int64_t length = cut.end(p) - cut.begin(p);
        CHECK(length == n / pieces || length == n / pieces + 1);
      }
    }
}
