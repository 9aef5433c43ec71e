#include "hedgerow/solver/perceptron.hpp"

#include <algorithm>
#include <utility>

#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {

Visits perceptron_pass(const Matrix& matrix, std::span<const double> y,
                       std::span<const double> weight, std::span<const std::int64_t> order,
                       double step, bool fit_intercept, std::span<double> coef, double& intercept) {
  std::vector<std::int64_t> mistakes(order.size());
  const auto n_order = static_cast<std::int64_t>(order.size());
  std::int64_t n_made = 0, n_mistakes = 0;
  const auto visit = [&](const auto& rows, std::int64_t begin, std::int64_t end) {
    const RowLoops<std::decay_t<decltype(rows)>>& loops = hot();
    PerceptronPass pass{.y = y.data(),
                        .weight = weight.data(),
                        .order = order.data() + begin,
                        .n_order = end - begin,
                        .step = step,
                        .fit_intercept = fit_intercept,
                        .coef = coef.data(),
                        .intercept = intercept,
                        .mistakes = mistakes.data() + n_mistakes};
    const std::int64_t first = n_mistakes;
    n_mistakes += loops.perceptron_pass(rows, pass);
    for (std::int64_t m = first; m < n_mistakes; ++m) mistakes[m] += begin;
    intercept = pass.intercept;
  };
  std::visit(
      [&](const auto& rows) {
        const std::int64_t stretch = rows_with(kValuesBetweenChecks, rows);
        while (n_made < n_order && !stop_asked()) {
          const std::int64_t end = std::min(n_made + stretch, n_order);
          visit(rows, n_made, end);
          n_made = end;
        }
      },
      matrix);
  mistakes.resize(static_cast<std::size_t>(n_mistakes));
  return {n_made, std::move(mistakes)};
}

}  // namespace hedgerow
