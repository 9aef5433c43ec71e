// Rosenblatt's perceptron, one pass.
//
// Visits the rows in the given order. A row is a mistake if y_i (coef . x_i + intercept) <= 0, so
// that a score of exactly zero is one; then
//
//   coef += step weight_i y_i x_i,    intercept += step weight_i y_i (if it is fitted).
//
// Rows of weight 0 are passed over. Returned: the positions in `order` at which mistakes were made;
// a pass without any shows that coef and intercept separate the rows visited. If the thread's stop
// token asks to stop, the rest of the rows is left unvisited; what is returned stays true.
//
// Novikoff (1962), "On convergence proofs on perceptrons": at most (R / margin)^2 mistakes, if the
// rows lie within R of the origin (in the space with the constant feature) and can be separated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"

namespace hedgerow {

std::vector<std::int64_t> perceptron_pass(const Matrix& matrix, std::span<const double> y,
                                          std::span<const double> weight,
                                          std::span<const std::int64_t> order, double step,
                                          bool fit_intercept, std::span<double> coef,
                                          double& intercept);

}  // namespace hedgerow
