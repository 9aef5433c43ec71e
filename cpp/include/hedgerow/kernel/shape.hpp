// What a built-in kernel is: plain data that the hot loops of every instruction set see.
#pragma once

namespace hedgerow {

/// K(x, z), with s = <x, z>, |x - z|_1 the sum of absolute differences, and u_j = gamma (x_j - z_j):
enum class KernelKind {
  linear,                ///< s
  polynomial,            ///< (gamma s + coef0)^degree
  rbf,                   ///< exp(-gamma |x - z|^2), by products and norms
  rbf_of_differences,    ///< the same, by differences: twice the work, and no digits are lost
  sigmoid,               ///< tanh(gamma s + coef0)
  cosine,                ///< s / (|x| |z|), 0 if one of them is 0
  laplacian,             ///< exp(-gamma |x - z|_1)
  additive_chi_squared,  ///< -sum of (x_j - z_j)^2 / (x_j + z_j)
  chi_squared,           ///< exp(gamma times the additive one)
  intersection,          ///< sum of min(x_j, z_j)
  wavelet,               ///< product of cos(1.75 u_j) exp(-u_j^2 / 2)
  gram,                  ///< x is row i of a given matrix and z its row k: entry (i, k)
};

struct KernelShape {
  KernelKind kind;
  double gamma;
  double coef0;
  int degree;
};

}  // namespace hedgerow
