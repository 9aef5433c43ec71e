// Bounds on the rounding errors of float64 kernel values, kernel by kernel.
//
// With g growing like the root of the number of features, a dot product is off by at most g u |x| |z|, a sum
// of differences by g u of itself. For a positive semi-definite kernel |K(x, z)| is at most the root of
// K(x, x) K(z, z), so that bounds of the form error * size(x) * size(z) cover sums and products of kernels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/kernel/kernel.hpp"
#include "kernel/parts.hpp"

namespace hedgerow {
namespace {

/// The relative error of the exponential of the hot loops and of the cosine, in units of the rounding.
constexpr double kErrorOfExp = 8.0;

/// How exact a number is, and whether Gaussians may be made of products.
struct Precision {
  double unit;
  bool uses_products;
};

/// The same bounds with the squares of the sizes, which add up and multiply.
struct Bounds {
  std::vector<double> squares;
  double error;
};

double square_of(const KernelShape& shape, double sq_norm, double largest,
                 std::int64_t n_features) {
  const double sum = std::sqrt(static_cast<double>(n_features));  // |x|_1 <= sum |x|
  switch (shape.kind) {
    case KernelKind::linear:
      return sq_norm;
    case KernelKind::polynomial:
      return std::pow(shape.gamma * sq_norm + std::abs(shape.coef0), shape.degree);
    case KernelKind::intersection:
      return sum * std::sqrt(sq_norm);
    case KernelKind::additive_chi_squared:
      return 2.0 * sum * std::sqrt(largest);
    default:
      return 1.0;
  }
}

double error_of(const KernelShape& shape, double largest, std::int64_t n_features,
                const Precision& precision) {
  const double of_sum = growth_of_rounding(n_features) * precision.unit;
  const double of_exp = kErrorOfExp * precision.unit;
  switch (shape.kind) {
    case KernelKind::gram:
      return 0.0;
    case KernelKind::polynomial:
      return (shape.degree + 1) * of_sum;
    case KernelKind::rbf:
      if (!precision.uses_products) return 2.0 * of_sum + of_exp;
      return error_of_products(shape.gamma, largest, n_features) + of_exp;
    case KernelKind::sigmoid:
      return (shape.gamma * largest + std::abs(shape.coef0) + 1.0) * of_sum + of_exp;
    case KernelKind::linear:
    case KernelKind::intersection:
    case KernelKind::additive_chi_squared:
      return of_sum;
    default:
      return 2.0 * of_sum + of_exp;
  }
}

Bounds bounds_of(const KernelStep& step, const Matrix& matrix, const std::vector<double>& sq_norms,
                 double largest, const Precision& precision, int n_threads) {
  Bounds bounds{std::vector<double>(sq_norms.size()),
                error_of(step.shape, largest, n_cols(matrix), precision)};
  if (step.shape.kind == KernelKind::gram) {
    kernel_diagonal(KernelValues({step}, matrix, matrix, n_threads), bounds.squares, n_threads);
    for (double& square : bounds.squares) square = std::abs(square);
    return bounds;
  }
  std::transform(sq_norms.begin(), sq_norms.end(), bounds.squares.begin(), [&](double sq_norm) {
    return square_of(step.shape, sq_norm, largest, n_cols(matrix));
  });
  return bounds;
}

void combine(KernelStep::Does does, double unit, Bounds& left, const Bounds& right) {
  const bool is_sum = does == KernelStep::Does::add;
  for (std::size_t i = 0; i < left.squares.size(); ++i)
    left.squares[i] =
        is_sum ? left.squares[i] + right.squares[i] : left.squares[i] * right.squares[i];
  left.error = is_sum ? std::max(left.error, right.error) : left.error + right.error;
  left.error += unit;
}

}  // namespace

KernelRounding kernel_rounding(const Kernel& kernel, const Matrix& matrix, bool is_precise,
                               int n_threads) {
  const double extended = static_cast<double>(std::numeric_limits<long double>::epsilon()) / 2.0;
  const Precision precision{is_precise ? extended : kRoundingUnit, !is_precise};
  std::vector<double> sq_norms(static_cast<std::size_t>(n_rows(matrix)));
  row_sq_norms(matrix, sq_norms, n_threads);
  double largest = 0.0;
  for (const double sq_norm : sq_norms) largest = std::max(largest, sq_norm);
  std::vector<Bounds> stack;
  for (const KernelStep& step : without_cancellation(kernel, largest, n_cols(matrix))) {
    if (step.does == KernelStep::Does::push) {
      stack.push_back(bounds_of(step, matrix, sq_norms, largest, precision, n_threads));
    } else if (step.does == KernelStep::Does::scale) {
      for (double& square : stack.back().squares) square *= std::abs(step.factor);
      stack.back().error += precision.unit;
    } else {
      const Bounds right = std::move(stack.back());
      stack.pop_back();
      combine(step.does, precision.unit, stack.back(), right);
    }
  }
  for (double& square : stack.back().squares) square = std::sqrt(square);
  return {std::move(stack.back().squares), stack.back().error};
}

}  // namespace hedgerow
