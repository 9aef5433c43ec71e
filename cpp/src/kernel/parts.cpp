#include "kernel/parts.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow {
namespace {

/// The largest gamma |x|^2 of which float32 leaves distances that are right to a few parts in a million.
constexpr double kLargestExponent = 16.0;

/// The largest error of a Gaussian's exponent that products and norms may cause; differences cause far less.
constexpr double kLargestError = 0x1p-33;

bool is_push(const KernelStep& step) { return step.does == KernelStep::Does::push; }

}  // namespace

bool uses_products(KernelKind kind) {
  switch (kind) {
    case KernelKind::rbf_of_differences:
    case KernelKind::laplacian:
    case KernelKind::chi_squared:
    case KernelKind::additive_chi_squared:
    case KernelKind::intersection:
    case KernelKind::wavelet:
      return false;
    default:
      return true;
  }
}

bool wants_norms(const Kernel& kernel) {
  return std::any_of(kernel.begin(), kernel.end(), [](const KernelStep& step) {
    return is_push(step) &&
           (step.shape.kind == KernelKind::rbf || step.shape.kind == KernelKind::cosine);
  });
}

bool fits_float32(const Kernel& kernel, double largest_sq_norm) {
  return std::all_of(kernel.begin(), kernel.end(), [=](const KernelStep& step) {
    if (!is_push(step)) return true;
    const bool is_near = step.shape.kind != KernelKind::rbf ||
                         step.shape.gamma * largest_sq_norm <= kLargestExponent;
    return uses_products(step.shape.kind) && is_near;
  });
}

double growth_of_rounding(std::int64_t n) {
  const auto terms = static_cast<double>(n);
  return std::min(terms, 8.0 * std::sqrt(terms)) + 4.0;
}

double error_of_products(double gamma, double largest_sq_norm, std::int64_t n_features) {
  return 4.0 * gamma * largest_sq_norm * growth_of_rounding(n_features) * kRoundingUnit;
}

Kernel without_cancellation(Kernel kernel, double largest_sq_norm, std::int64_t n_features) {
  for (KernelStep& step : kernel)
    if (is_push(step) && step.shape.kind == KernelKind::rbf &&
        !(error_of_products(step.shape.gamma, largest_sq_norm, n_features) <= kLargestError))
      step.shape.kind = KernelKind::rbf_of_differences;
  return kernel;
}

double extra_of(KernelKind kind, double sq_norm) {
  if (kind != KernelKind::cosine) return sq_norm;
  return sq_norm > 0.0 ? 1.0 / std::sqrt(sq_norm) : 0.0;
}

}  // namespace hedgerow
