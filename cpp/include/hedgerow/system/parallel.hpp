// Threads: one pool for the process, made when first needed. What a task computes never depends on
// how many threads there are, because callers cut their work by the shape of the problem alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace hedgerow {

/// Calls body(task) once for each task in [0, n_tasks), on at most n_threads threads including the
/// caller's. The first exception thrown ends the loop and is rethrown here. If the pool is already
/// at work (a nested call, or another caller), the tasks run one after the other in this thread.
/// All work under the caller's stop token, which is asked before each task.
void parallel_for(std::int64_t n_tasks, int n_threads,
                  const std::function<void(std::int64_t)>& body);

/// Cuts [0, n_items) into n_pieces nearly equal runs.
struct Cut {
  std::int64_t n_items;
  std::int64_t n_pieces;
  std::int64_t begin(std::int64_t piece) const { return n_items * piece / n_pieces; }
  std::int64_t end(std::int64_t piece) const { return begin(piece + 1); }
};

/// The cores this process may use: its affinity mask, cut down to the CPU quota of its control
/// groups; at least 1.
int available_cores();

/// The same for an affinity of that many cores, with the control groups read below `root`.
int available_cores(const std::filesystem::path& root, int affinity);

}  // namespace hedgerow
