// Stochastic subgradient steps for the hinge loss: rows are visited in the given order, and those
// whose functional margin is below their target are violations, counted up row by row.
//
// averaged_steps: with L = total_weight and z_i = (x_i, constant), at step t = n_before, ...
//
//   w_t = L theta_t / t  (w_0 = 0);   if y_i <w_t, z_i> < target_i:  theta_{t+1} = theta_t + y_i z_i
//
// The plain mean of w_0 ... w_{T-1} after T steps is L / T (harmonic theta_T - lagged) with
//
//   harmonic = 1 + 1/2 + ... + 1/(T - 1),  lagged = sum of the additions, each times 1 + ... + 1/t
//
// as an addition at step t is in w_u for every u > t. The last entries of `theta` and `lagged` are
// those of the constant feature.
//
// steady_steps: with score_i = <w, x_i> + b before the step,
//
//   w = keep w  +  push_i y_i x_i                                if y_i score_i < target_i
//   b = keep_intercept b + intercept_share push_i y_i            the additions, if it is so
//
// A step costs the features of its row. If the thread's stop token asks to stop, the rest of the rows
// is left unvisited. Both return the number of visits made.
//
// Shalev-Shwartz, Singer, Srebro, Cotter (2011), "Pegasos: primal estimated sub-gradient solver for
// SVM", Mathematical Programming 127.
#pragma once

#include <cstdint>
#include <span>

#include "hedgerow/data/matrix.hpp"

namespace hedgerow {

std::int64_t averaged_steps(const Matrix& matrix, std::span<const double> y,
                            std::span<const double> target, std::span<const std::int64_t> order,
                            double total_weight, double constant, std::int64_t n_before,
                            double& harmonic, std::span<double> theta, std::span<double> lagged,
                            std::span<std::int64_t> violations);

std::int64_t steady_steps(const Matrix& matrix, std::span<const double> y,
                          std::span<const double> target, std::span<const double> push,
                          std::span<const std::int64_t> order, double keep, double keep_intercept,
                          double intercept_share, std::span<double> coef, double& intercept,
                          std::span<std::int64_t> violations);

}  // namespace hedgerow
