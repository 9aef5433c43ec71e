// Asking a computation to stop. A token is put over a thread by a StopScope; loops that may last ask
// it between pieces of work that take well under a tenth of a second, and so does parallel_for
// between tasks, whose threads work under their caller's token.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace hedgerow {

/// Numbers that a loop may read between two questions: a few milliseconds.
constexpr std::int64_t kValuesBetweenChecks = std::int64_t{1} << 22;

/// Thrown out of a computation that was asked to stop; its results are not to be used.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "the computation was asked to stop"; }
};

class StopToken {
 public:
  using Clock = std::chrono::steady_clock;

  /// Also stopped whenever `parent` is, which must outlive it. `poll`, if given, is called now and
  /// then by computations in the thread that made the token; it may call stop(), or throw.
  explicit StopToken(const StopToken* parent = nullptr, std::function<void()> poll = {});

  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  void stop_at(Clock::time_point deadline) noexcept;

  bool is_stopped() const noexcept;

  /// The same after polling, if it is time to.
  bool asks_to_stop() const;

 private:
  void poll_if_due() const;

  const StopToken* parent_;
  std::function<void()> poll_;
  std::uint64_t home_;  ///< the thread that made the token
  std::atomic<bool> stopped_{false};
  std::atomic<Clock::rep> deadline_{Clock::duration::max().count()};
  mutable std::atomic<Clock::rep> next_poll_{0};
};

/// The token over this thread, or none.
const StopToken* current_stop_token() noexcept;

/// Puts a token, or none, over this thread, and returns the one that was.
const StopToken* exchange_stop_token(const StopToken* token) noexcept;

/// Puts a token over this thread for as long as the scope lasts.
class StopScope {
 public:
  explicit StopScope(const StopToken* token) : before_(exchange_stop_token(token)) {}
  ~StopScope() { exchange_stop_token(before_); }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopToken* before_;
};

/// Whether this thread's token asks to stop.
inline bool stop_asked() {
  const StopToken* token = current_stop_token();
  return token && token->asks_to_stop();
}

/// Throws Stopped if it does.
inline void check_stop() {
  if (stop_asked()) throw Stopped();
}

}  // namespace hedgerow
