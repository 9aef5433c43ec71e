#include "hedgerow/system/parallel.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

using Body = std::function<void(std::int64_t)>;

// Tasks handed out one by one to whoever asks.
class Job {
 public:
  Job(std::int64_t n_tasks, const Body& body) : n_tasks_(n_tasks), body_(body) {}

  void work() noexcept {
    const StopScope scope(token_);
    for (;;) {
      const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
      if (task >= n_tasks_) return;
      try {
        check_stop();
        body_(task);
      } catch (...) {
        stop(std::current_exception());
      }
    }
  }

  /// To be called when no thread works on the job any more.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void stop(std::exception_ptr error) {
    next_.store(n_tasks_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }

  const std::int64_t n_tasks_;
  const Body& body_;
  const StopToken* token_ = current_stop_token();
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

// Workers are detached and the pool is never destroyed: at exit they simply sleep on.
class Pool {
 public:
  /// True for one caller at a time, until it calls release().
  bool acquire() { return !taken_.test_and_set(std::memory_order_acquire); }
  void release() { taken_.clear(std::memory_order_release); }

  /// Runs the job on the caller and up to n_helpers workers; the pool must have been acquired.
  void run(Job& job, int n_helpers) {
    {
      const std::lock_guard lock(mutex_);
      grow(n_helpers);
      job_ = &job;
      n_openings_ = n_helpers;
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    n_openings_ = 0;
    done_.wait(lock, [this] { return n_working_ == 0; });
  }

  Pool* predecessor = nullptr;

 private:
  // If the system gives no more threads, those there are do the work: only the time changes.
  void grow(int n_helpers) {
    try {
      for (; n_workers_ < n_helpers; ++n_workers_) std::thread([this] { serve(); }).detach();
    } catch (const std::exception&) {
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return n_openings_ > 0; });
      --n_openings_;
      ++n_working_;
      Job* job = job_;
      lock.unlock();
      job->work();
      lock.lock();
      if (--n_working_ == 0) done_.notify_one();
    }
  }

  std::atomic_flag taken_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Job* job_ = nullptr;
  int n_openings_ = 0;
  int n_working_ = 0;
  int n_workers_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};
Pool* abandoned_pools = nullptr;

// A forked child has none of its parent's threads, and locks that may never open: it gives the
// pool up (kept in a list, so that no leak is reported) and makes its own when it needs one.
void abandon_pool_in_child() {
  Pool* pool = the_pool.exchange(nullptr);
  if (!pool) return;
  pool->predecessor = abandoned_pools;
  abandoned_pools = pool;
}

Pool& process_pool() {
  static const int registered = pthread_atfork(nullptr, nullptr, abandon_pool_in_child);
  (void)registered;
  Pool* pool = the_pool.load();
  if (pool) return *pool;
  auto* fresh = new Pool;
  if (the_pool.compare_exchange_strong(pool, fresh)) return *fresh;
  delete fresh;
  return *pool;
}

void run_serially(std::int64_t n_tasks, const Body& body) {
  for (std::int64_t task = 0; task < n_tasks; ++task) {
    check_stop();
    body(task);
  }
}

}  // namespace

void parallel_for(std::int64_t n_tasks, int n_threads, const Body& body) {
  const auto n_helpers = static_cast<int>(std::min<std::int64_t>(n_threads, n_tasks)) - 1;
  if (n_helpers < 1) return run_serially(n_tasks, body);
  Pool& pool = process_pool();
  if (!pool.acquire()) return run_serially(n_tasks, body);
  Job job(n_tasks, body);
  pool.run(job, n_helpers);
  pool.release();
  job.rethrow();
}

}  // namespace hedgerow
