#include "hedgerow/solver/perceptron.hpp"

#include "hedgerow/hot.hpp"

namespace hedgerow {

std::vector<std::int64_t> perceptron_pass(const Matrix& matrix, std::span<const double> y,
                                          std::span<const double> weight,
                                          std::span<const std::int64_t> order, double step,
                                          bool fit_intercept, std::span<double> coef,
                                          double& intercept) {
  std::vector<std::int64_t> mistakes(order.size());
  PerceptronPass pass{.y = y.data(),
                      .weight = weight.data(),
                      .order = order.data(),
                      .n_order = static_cast<std::int64_t>(order.size()),
                      .step = step,
                      .fit_intercept = fit_intercept,
                      .coef = coef.data(),
                      .intercept = intercept,
                      .mistakes = mistakes.data()};
  const std::int64_t n_mistakes = std::visit(
      [&](const auto& rows) {
        const RowLoops<std::decay_t<decltype(rows)>>& loops = hot();
        return loops.perceptron_pass(rows, pass);
      },
      matrix);
  intercept = pass.intercept;
  mistakes.resize(static_cast<std::size_t>(n_mistakes));
  return mistakes;
}

}  // namespace hedgerow
