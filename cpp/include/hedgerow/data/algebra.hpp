// Sums and products over the rows x_i of a matrix (n rows, d columns), accumulated in float64.
// Results are the same bits for any n_threads: work is cut by shape, partial sums added in order.
// Outputs are row-major and owned by the caller.
#pragma once

#include <cstdint>
#include <span>

#include "hedgerow/data/matrix.hpp"

namespace hedgerow {

/// out[i, c] = coef[c, :] . x_i + intercept[c]; coef is k x d, out is n x k.
void scores(const Matrix& matrix, std::span<const double> coef, std::span<const double> intercept,
            std::span<double> out, int n_threads);

/// out = sum of v_i x_i.
void weighted_row_sum(const Matrix& matrix, std::span<const double> v, std::span<double> out,
                      int n_threads);

/// out[j] = sum of v_i x_ij^2.
void weighted_square_sum(const Matrix& matrix, std::span<const double> v, std::span<double> out,
                         int n_threads);

/// out = gram(matrix, v, constant) p, without forming the matrix; each row is read once.
void gram_times(const Matrix& matrix, std::span<const double> v, double constant,
                std::span<const double> p, std::span<double> out, int n_threads);

/// out[i] = |x_i|^2.
void row_sq_norms(const Matrix& matrix, std::span<double> out, int n_threads);

/// out[j] = how many rows have another value than 0 in column j.
void column_counts(const Matrix& matrix, std::span<std::int64_t> out);

/// out[i] = the largest v_j over the columns in which row i has another value than 0; at least 0.
void row_maxima(const Matrix& matrix, std::span<const double> v, std::span<double> out);

/// The first position in the stored values that is infinite, not a number, or farther from 0 than
/// `largest` (which may be infinite), or -1.
std::int64_t first_beyond(const Matrix& matrix, double largest);

/// out = sum of v_i z_i z_i' with z_i = (x_i, constant), or x_i if constant is 0; symmetric.
/// Rows with v_i = 0 are not read.
void gram(const Matrix& matrix, std::span<const double> v, double constant, std::span<double> out,
          int n_threads);

/// out = X X', n x n.
void row_gram(const Matrix& matrix, std::span<double> out, int n_threads);

/// Factors a (m x m, of which the lower triangle is read) into L L' in place. Returns -1 and leaves
/// L with zeros above its diagonal, or the index of the first pivot that is not positive and
/// finite, and leaves `a` half done.
std::int64_t cholesky(std::span<double> a, std::int64_t m, int n_threads);

/// b becomes the x with L L' x = b.
void cholesky_solve(std::span<const double> l, std::int64_t m, std::span<double> b);

}  // namespace hedgerow
