#include "hedgerow/loss/loss_pass.hpp"

#include <vector>

#include "data/row_runs.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kLossesPerTask = 8192;

void add_to(LossSums& sums, const LossSums& part) {
  sums.balance += part.balance;
  sums.smooth += part.smooth;
  sums.value += part.value;
  sums.gain += part.gain;
}

void add_to(LossCurve& curve, const LossCurve& part) {
  curve.value += part.value;
  curve.slope += part.slope;
  curve.curvature += part.curvature;
}

template <class Sums>
Sums total(const std::vector<Sums>& parts) {
  Sums sums{};
  for (const Sums& part : parts) add_to(sums, part);
  return sums;
}

/// The total of what body(begin, end, part) adds for runs of rows.
template <class Sums, class Body>
Sums sum_losses(std::int64_t n_rows, int n_threads, Body body) {
  const Cut runs{n_rows, (n_rows + kLossesPerTask - 1) / kLossesPerTask};
  std::vector<Sums> parts(static_cast<std::size_t>(runs.n_pieces));
  parallel_for(runs.n_pieces, n_threads, [&](std::int64_t run) {
    body(runs.begin(run), runs.end(run), parts[static_cast<std::size_t>(run)]);
  });
  return total(parts);
}

}  // namespace

LossSums loss_pass(const Matrix& matrix, const LossShape& shape, const LossRows& rows,
                   std::span<const double> w, double intercept, std::span<double> combined,
                   int n_threads) {
  return std::visit(
      [&](const auto& data) {
        const auto& loops = row_loops(data);
        std::vector<LossSums> parts(static_cast<std::size_t>(summed_runs(data).n_pieces));
        sum_over_runs(data, combined, n_threads, [&](const RowRun& run) {
          LossPass pass{shape, rows, w.data(), intercept, run.begin, run.end, run.sum, {}};
          loops.loss_pass(data, pass);
          add_to(parts[static_cast<std::size_t>(run.task)], pass.sums);
        });
        return total(parts);
      },
      matrix);
}

LossSums loss_at(const LossShape& shape, const LossRows& rows, std::int64_t n_rows, int n_threads) {
  return sum_losses<LossSums>(n_rows, n_threads,
                              [&](std::int64_t begin, std::int64_t end, LossSums& part) {
                                hot().loss_at(shape, rows, begin, end, part);
                              });
}

LossCurve loss_along(const LossShape& shape, const LossLine& line, std::int64_t n_rows,
                     int n_threads) {
  return sum_losses<LossCurve>(n_rows, n_threads,
                               [&](std::int64_t begin, std::int64_t end, LossCurve& part) {
                                 hot().loss_along(shape, line, begin, end, part);
                               });
}

}  // namespace hedgerow
