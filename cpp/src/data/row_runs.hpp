// How passes over the rows of a matrix are cut into tasks: by its shape alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {

constexpr std::int64_t kRowsPerTask = 1024;

template <class Rows>
const RowLoops<Rows>& row_loops(const Rows&) {
  return hot();
}

/// Calls body(begin, end) for runs of rows that are computed independently.
template <class Body>
void for_row_runs(std::int64_t n_rows, int n_threads, Body body) {
  const Cut runs{n_rows, (n_rows + kRowsPerTask - 1) / kRowsPerTask};
  parallel_for(runs.n_pieces, n_threads,
               [&](std::int64_t run) { body(runs.begin(run), runs.end(run)); });
}

/// The tasks of a sum of rows, each with a sum of its own: as many as keep a dozen cores busy, but
/// no more than are cheap to add up beside reading the rows.
template <class Rows>
Cut summed_runs(const Rows& rows) {
  constexpr std::int64_t kMostRuns = 16, kValuesPerSummed = 2;
  const std::int64_t affordable =
      n_stored(rows) / (kValuesPerSummed * std::max<std::int64_t>(rows.n_cols, 1));
  const std::int64_t wanted = std::min(rows.n_rows / kRowsPerTask, affordable);
  return {rows.n_rows, std::clamp<std::int64_t>(wanted, 1, kMostRuns)};
}

/// Adds n_sums vectors, one after the other in `sums`, to out.
inline void add_in_order(std::span<double> out, const double* sums, std::int64_t n_sums,
                         int n_threads) {
  constexpr std::int64_t kColumnsPerTask = 8192;
  const auto width = static_cast<std::int64_t>(out.size());
  const Cut columns{width, (width + kColumnsPerTask - 1) / kColumnsPerTask};
  parallel_for(columns.n_pieces, n_threads, [&](std::int64_t piece) {
    for (std::int64_t s = 0; s < n_sums; ++s)
      for (std::int64_t j = columns.begin(piece); j < columns.end(piece); ++j)
        out[j] += sums[s * width + j];
  });
}

/// The rows begin ... end - 1 of a task, and what they are to be added to.
struct RowRun {
  std::int64_t task;
  std::int64_t begin;
  std::int64_t end;
  double* sum;
};

/// out = the sum of what body(run) adds to run.sum for runs that together are all rows. Runs of one
/// task come one after the other.
template <class Rows, class Body>
void sum_over_runs(const Rows& rows, std::span<double> out, int n_threads, Body body) {
  const Cut tasks = summed_runs(rows);
  const std::int64_t stretch = rows_with(kValuesBetweenChecks, rows);
  const std::size_t width = out.size();
  const auto others = std::make_unique_for_overwrite<double[]>(
      static_cast<std::size_t>(tasks.n_pieces - 1) * width);
  parallel_for(tasks.n_pieces, n_threads, [&](std::int64_t task) {
    const std::size_t before = static_cast<std::size_t>(task) * width;
    double* sum = task == 0 ? out.data() : others.get() + (before - width);
    std::fill_n(sum, width, 0.0);
    const std::int64_t end = tasks.end(task);
    for (std::int64_t begin = tasks.begin(task); begin < end; begin += stretch) {
      check_stop();
      body(RowRun{task, begin, std::min(begin + stretch, end), sum});
    }
  });
  add_in_order(out, others.get(), tasks.n_pieces - 1, n_threads);
}

}  // namespace hedgerow
