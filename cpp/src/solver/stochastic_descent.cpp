#include "hedgerow/solver/stochastic_descent.hpp"

#include <algorithm>
#include <type_traits>

#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

/// Calls run(loops, rows, begin, end) for stretches of the order until it ends or a stop is asked
/// for; returns how far it came.
template <class Run>
std::int64_t in_stretches(const Matrix& matrix, std::int64_t n_order, Run run) {
  return std::visit(
      [&](const auto& rows) {
        const RowLoops<std::decay_t<decltype(rows)>>& loops = hot();
        const std::int64_t stretch = rows_with(kValuesBetweenChecks, rows);
        std::int64_t n_made = 0;
        while (n_made < n_order && !stop_asked()) {
          const std::int64_t end = std::min(n_made + stretch, n_order);
          run(loops, rows, n_made, end);
          n_made = end;
        }
        return n_made;
      },
      matrix);
}

}  // namespace

std::int64_t averaged_steps(const Matrix& matrix, std::span<const double> y,
                            std::span<const double> target, std::span<const std::int64_t> order,
                            double total_weight, double constant, std::int64_t n_before,
                            double& harmonic, std::span<double> theta, std::span<double> lagged,
                            std::span<std::int64_t> violations) {
  AveragedSteps steps{.y = y.data(),
                      .target = target.data(),
                      .order = nullptr,
                      .n_order = 0,
                      .total_weight = total_weight,
                      .constant = constant,
                      .n_before = n_before,
                      .harmonic = harmonic,
                      .theta = theta.data(),
                      .lagged = lagged.data(),
                      .violations = violations.data()};
  const std::int64_t n_made =
      in_stretches(matrix, static_cast<std::int64_t>(order.size()),
                   [&](const auto& loops, const auto& rows, std::int64_t begin, std::int64_t end) {
                     steps.order = order.data() + begin;
                     steps.n_order = end - begin;
                     steps.n_before = n_before + begin;
                     loops.averaged_steps(rows, steps);
                   });
  harmonic = steps.harmonic;
  return n_made;
}

std::int64_t steady_steps(const Matrix& matrix, std::span<const double> y,
                          std::span<const double> target, std::span<const double> push,
                          std::span<const std::int64_t> order, double keep, double keep_intercept,
                          double intercept_share, std::span<double> coef, double& intercept,
                          std::span<std::int64_t> violations) {
  SteadySteps steps{.y = y.data(),
                    .target = target.data(),
                    .push = push.data(),
                    .order = nullptr,
                    .n_order = 0,
                    .keep = keep,
                    .keep_intercept = keep_intercept,
                    .intercept_share = intercept_share,
                    .coef = coef.data(),
                    .scale = 1.0,
                    .intercept = intercept,
                    .violations = violations.data()};
  const std::int64_t n_made =
      in_stretches(matrix, static_cast<std::int64_t>(order.size()),
                   [&](const auto& loops, const auto& rows, std::int64_t begin, std::int64_t end) {
                     steps.order = order.data() + begin;
                     steps.n_order = end - begin;
                     loops.steady_steps(rows, steps);
                   });
  for (double& value : coef) value *= steps.scale;
  intercept = steps.intercept;
  return n_made;
}

}  // namespace hedgerow
