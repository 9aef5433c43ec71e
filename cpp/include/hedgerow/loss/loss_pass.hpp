// Losses of the residual over all rows, with what a second-order method needs of them.
//
//   score z_i = w . x_i + intercept       residual r_i = target_i - y_i z_i       weight c_i >= 0
//
// one_sided, two_sided: with steepness k and shift s, u = s_i + c_i k r_i, and alpha_i is
//   one_sided   u, but at least 0 and at most top
//   two_sided   u moved towards 0 by c_i k epsilon, but no further, and at most top in magnitude
// where top = c_i if the shape is bounded, else infinite. curvature_i = c_i k where alpha moves
// with r, else 0. logistic: alpha_i = c_i sigma(r_i) with sigma(r) = 1 / (1 + e^-r), and
// curvature_i = alpha_i (1 - sigma(r_i)); it takes no shift.
//
// Of every row these are summed:
//   balance   alpha y
//   smooth    alpha r - epsilon |alpha| - (alpha - s)^2 / (2 c k);  logistic: c log(1 + e^r).
//             Its slope in r is alpha, and its second derivative curvature.
//   value     the true loss: c e if bounded, else c e^2, with the excess e = max(0, r), or
//             max(0, |r| - epsilon) if two_sided;  logistic: c log(1 + e^r)
//   gain      target alpha - conj(alpha), where conj is epsilon |alpha| if bounded, and
//             epsilon |alpha| + alpha^2 / (4 c) else;  logistic: alpha r - c log(1 + e^r)
// The squared losses are those with k = 2, no shift and no bound; there smooth equals value. With
// a bound, the old alpha as shift and 1 / k as window, smooth is the augmented Lagrangian of the
// hinge or of the epsilon-insensitive loss. A row of weight 0 has alpha = 0, and adds 0 to every
// sum.
//
// Results are the same bits for any n_threads.
#pragma once

#include <cstdint>
#include <span>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/hot_loops.hpp"

namespace hedgerow {

/// Writes residual, alpha and curvature, and combined = sum of alpha_i y_i x_i; each x_i is read
/// from memory once.
LossSums loss_pass(const Matrix& matrix, const LossShape& shape, const LossRows& rows,
                   std::span<const double> w, double intercept, std::span<double> combined,
                   int n_threads);

/// The same from residuals that are given, without the data.
LossSums loss_at(const LossShape& shape, const LossRows& rows, std::int64_t n_rows, int n_threads);

/// The sum of `smooth` at residual + step * change, and its derivatives in step.
LossCurve loss_along(const LossShape& shape, const LossLine& line, std::int64_t n_rows,
                     int n_threads);

}  // namespace hedgerow
