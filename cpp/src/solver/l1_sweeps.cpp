#include "hedgerow/solver/l1_sweeps.hpp"

#include <algorithm>
#include <cmath>

#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

/// How far the slope is from where it must be: -price or price by the sign of the coordinate, or
/// between the two if that is 0.
double violation(double slope, double price, double value) {
  if (value > 0.0) return std::abs(slope + price);
  if (value < 0.0) return std::abs(slope - price);
  return std::max(std::abs(slope) - price, 0.0);
}

/// The value at which the coordinate's own quadratic and its price are least together.
double best_value(double slope, double curvature, double price, double value) {
  if (curvature == 0.0) return std::abs(slope) < price ? 0.0 : value;
  const double bare = value - slope / curvature;
  return std::copysign(std::max(std::abs(bare) - price / curvature, 0.0), bare);
}

}  // namespace

double l1_sweeps(std::span<const double> hessian, std::span<const double> price,
                 std::span<double> point, std::span<double> slope, std::int64_t n_sweeps,
                 double tolerance) {
  const auto m = static_cast<std::int64_t>(point.size());
  const DenseLoops<double>& loops = hot();
  double worst = 0.0;
  std::int64_t n_read = 0;
  for (std::int64_t sweep = 0; sweep < n_sweeps; ++sweep) {
    worst = 0.0;
    for (std::int64_t j = 0; j < m; ++j) {
      worst = std::max(worst, violation(slope[j], price[j], point[j]));
      const double value = best_value(slope[j], hessian[j * m + j], price[j], point[j]);
      const double step = value - point[j];
      if (step == 0.0) continue;
      point[j] = value;
      loops.add_weighted({hessian.data() + j * m, 1, m, m}, 0, 1, &step, slope.data());
      n_read += m;
      if (n_read < kValuesBetweenChecks) continue;
      n_read = 0;
      check_stop();
    }
    if (worst <= tolerance) break;
  }
  return worst;
}

}  // namespace hedgerow
