// Rosenblatt's perceptron, one pass.
//
// Visits the rows in the given order. A row is a mistake if y_i (coef . x_i + intercept) <= 0, so
// that a score of exactly zero is one; then
//
//   coef += step weight_i y_i x_i,    intercept += step weight_i y_i (if it is fitted).
//
// Rows of weight 0 are passed over. A pass without mistakes shows that coef and intercept separate
// the rows visited. If the thread's stop token asks to stop, the rest of the rows is left unvisited,
// and what is returned is true of those before.
//
// Novikoff (1962), "On convergence proofs on perceptrons": at most (R / margin)^2 mistakes, if the
// rows lie within R of the origin (in the space with the constant feature) and can be separated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"

namespace hedgerow {

/// What came of a pass.
struct Visits {
  std::int64_t n_made;                 ///< how many of the rows were visited: the first so many
  std::vector<std::int64_t> mistakes;  ///< the positions in `order` at which mistakes were made
};

Visits perceptron_pass(const Matrix& matrix, std::span<const double> y,
                       std::span<const double> weight, std::span<const std::int64_t> order,
                       double step, bool fit_intercept, std::span<double> coef, double& intercept);

}  // namespace hedgerow
