// Sums of kernel values in extended precision: for few points, where float64 would lose what a proof needs.
//
// Values are made one by one from differences and products in long double, by the definition of each kernel.
#include <algorithm>
#include <cmath>

#include "hedgerow/kernel/kernel.hpp"
#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

using Real = long double;

struct Points {
  std::span<const double> values;  ///< row-major
  std::int64_t n_features;

  const double* row(std::int64_t i) const { return values.data() + i * n_features; }
};

template <class Term>
Real sum_over_features(const Points& points, std::int64_t i, std::int64_t j, Term term) {
  const double *x = points.row(i), *z = points.row(j);
  Real sum = 0;
  for (std::int64_t k = 0; k < points.n_features; ++k)
    sum += term(static_cast<Real>(x[k]), static_cast<Real>(z[k]));
  return sum;
}

Real dot(const Points& points, std::int64_t i, std::int64_t j) {
  return sum_over_features(points, i, j, [](Real x, Real z) { return x * z; });
}

Real chi_squared(const Points& points, std::int64_t i, std::int64_t j) {
  return sum_over_features(points, i, j, [](Real x, Real z) {
    return x + z > 0 ? (x - z) * (x - z) / (x + z) : Real{0};
  });
}

Real whole_power(Real x, int degree) {
  Real result = 1;
  for (; degree > 0; degree >>= 1, x *= x)
    if (degree & 1) result *= x;
  return result;
}

Real wavelet(const Points& points, Real gamma, std::int64_t i, std::int64_t j) {
  const double *x = points.row(i), *z = points.row(j);
  Real product = 1;
  for (std::int64_t k = 0; k < points.n_features; ++k) {
    const Real u = gamma * (static_cast<Real>(x[k]) - static_cast<Real>(z[k]));
    product *= std::cos(Real{1.75L} * u) * std::exp(-u * u / 2);
  }
  return product;
}

Real cosine(const Points& points, std::int64_t i, std::int64_t j) {
  const Real norms = std::sqrt(dot(points, i, i)) * std::sqrt(dot(points, j, j));
  return norms > 0 ? dot(points, i, j) / norms : Real{0};
}

Real value_of(const KernelShape& shape, const Points& points, std::int64_t i, std::int64_t j) {
  const Real gamma = shape.gamma, coef0 = shape.coef0;
  switch (shape.kind) {
    case KernelKind::linear:
      return dot(points, i, j);
    case KernelKind::polynomial:
      return whole_power(gamma * dot(points, i, j) + coef0, shape.degree);
    case KernelKind::rbf:
    case KernelKind::rbf_of_differences:
      return std::exp(-gamma * sum_over_features(points, i, j,
                                                 [](Real x, Real z) { return (x - z) * (x - z); }));
    case KernelKind::sigmoid:
      return std::tanh(gamma * dot(points, i, j) + coef0);
    case KernelKind::cosine:
      return cosine(points, i, j);
    case KernelKind::laplacian:
      return std::exp(
          -gamma * sum_over_features(points, i, j, [](Real x, Real z) { return std::abs(x - z); }));
    case KernelKind::additive_chi_squared:
      return -chi_squared(points, i, j);
    case KernelKind::chi_squared:
      return std::exp(-gamma * chi_squared(points, i, j));
    case KernelKind::intersection:
      return sum_over_features(points, i, j, [](Real x, Real z) { return std::min(x, z); });
    case KernelKind::wavelet:
      return wavelet(points, gamma, i, j);
    case KernelKind::gram:
      return points.row(i)[j];
  }
  return 0;
}

Real value_of(const Kernel& kernel, const Points& points, std::int64_t i, std::int64_t j,
              std::vector<Real>& stack) {
  stack.clear();
  for (const KernelStep& step : kernel) {
    if (step.does == KernelStep::Does::push) {
      stack.push_back(value_of(step.shape, points, i, j));
    } else if (step.does == KernelStep::Does::scale) {
      stack.back() *= step.factor;
    } else {
      const Real right = stack.back();
      stack.pop_back();
      stack.back() =
          step.does == KernelStep::Does::add ? stack.back() + right : stack.back() * right;
    }
  }
  return stack.back();
}

}  // namespace

void precise_kernel_sums(const Kernel& kernel, std::span<const double> rows,
                         std::int64_t n_features, std::span<const double> coef, std::int64_t k,
                         std::span<double> out, int n_threads) {
  const Points points{rows, n_features};
  const auto n_points = static_cast<std::int64_t>(out.size()) / k;
  parallel_for(n_points, n_threads, [&](std::int64_t j) {
    check_stop();
    std::vector<Real> sums(static_cast<std::size_t>(k)), stack;
    for (std::int64_t i = 0; i < n_points; ++i) {
      const auto weights = coef.subspan(i * k, k);
      if (std::all_of(weights.begin(), weights.end(), [](double c) { return c == 0.0; })) continue;
      const Real value = value_of(kernel, points, i, j, stack);
      for (std::int64_t c = 0; c < k; ++c) sums[c] += weights[c] * value;
    }
    for (std::int64_t c = 0; c < k; ++c) out[j * k + c] = static_cast<double>(sums[c]);
  });
}

}  // namespace hedgerow
