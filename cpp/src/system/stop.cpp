#include "hedgerow/system/stop.hpp"

#include <thread>
#include <utility>

namespace hedgerow {
namespace {

constexpr std::chrono::milliseconds kBetweenPolls{20};

thread_local const StopToken* current = nullptr;

std::uint64_t this_thread() noexcept {
  return std::hash<std::thread::id>{}(std::this_thread::get_id());
}

StopToken::Clock::rep now() noexcept { return StopToken::Clock::now().time_since_epoch().count(); }

}  // namespace

StopToken::StopToken(const StopToken* parent, std::function<void()> poll)
    : parent_(parent), poll_(std::move(poll)), home_(this_thread()) {}

void StopToken::stop_at(Clock::time_point deadline) noexcept {
  deadline_.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
}

bool StopToken::is_stopped() const noexcept {
  if (stopped_.load(std::memory_order_relaxed)) return true;
  const Clock::rep deadline = deadline_.load(std::memory_order_relaxed);
  if (deadline != Clock::duration::max().count() && now() >= deadline) return true;
  return parent_ && parent_->is_stopped();
}

bool StopToken::asks_to_stop() const {
  for (const StopToken* token = this; token; token = token->parent_) token->poll_if_due();
  return is_stopped();
}

void StopToken::poll_if_due() const {
  if (!poll_ || home_ != this_thread()) return;
  const Clock::rep time = now();
  if (time < next_poll_.load(std::memory_order_relaxed)) return;
  const Clock::rep pause = std::chrono::duration_cast<Clock::duration>(kBetweenPolls).count();
  next_poll_.store(time + pause, std::memory_order_relaxed);
  poll_();
}

const StopToken* current_stop_token() noexcept { return current; }

const StopToken* exchange_stop_token(const StopToken* token) noexcept {
  return std::exchange(current, token);
}

}  // namespace hedgerow
