// Kernels built of the built-in ones, evaluated a tile at a time between the rows of two matrices.
//
// A kernel is a program in postfix order: values of built-in kernels are pushed, the last two added
// or multiplied, the last one scaled. Values come in float32, or in float64 where proofs are made.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/hot.hpp"

namespace hedgerow {

struct KernelStep {
  enum class Does { push, add, multiply, scale };
  Does does;
  KernelShape shape;  ///< of what is pushed
  double factor;      ///< to scale by
};

using Kernel = std::vector<KernelStep>;

/// Tiles have at most so many rows and columns: with their operands they fit the second-level cache.
constexpr std::int64_t kKernelTile = 128;

/// The values K(x, z) for rows x of one matrix and rows z of another, which must outlive it.
class KernelValues {
 public:
  KernelValues(Kernel kernel, const Matrix& left, const Matrix& right, int n_threads);

  const Kernel& kernel() const { return kernel_; }
  const Matrix& left() const { return left_; }
  const Matrix& right() const { return right_; }
  const std::vector<double>& left_sq_norms() const { return left_sq_norms_; }
  const std::vector<double>& right_sq_norms() const { return right_sq_norms_; }
  /// Whether float32 tiles can be made of float32 sums.
  bool fits_float32() const { return fits_float32_; }
  bool has_sparse_columns() const { return has_sparse_columns_; }

 private:
  Kernel kernel_;
  Matrix left_, right_;
  std::vector<double> left_sq_norms_, right_sq_norms_;
  bool fits_float32_ = true, has_sparse_columns_ = false;
};

/// Some rows of the left matrix, at most most_rows(), made ready to meet columns: rows of the right
/// one. One at a time in a thread.
template <class T>
class ReadyRows {
 public:
  /// How many rows to make ready at a time, at most kKernelTile.
  static std::int64_t most_rows(const KernelValues& values);

  ReadyRows(const KernelValues& values, std::span<const std::int64_t> rows);
  ~ReadyRows();
  ReadyRows(const ReadyRows&) = delete;
  ReadyRows& operator=(const ReadyRows&) = delete;

  /// The values for at most kKernelTile columns: row r begins at r * kKernelTile. Valid until the next
  /// call.
  const T* tile(std::span<const std::int64_t> columns);

  /// The same rounded to float32, for T = double.
  const float* rounded_tile(std::span<const std::int64_t> columns);

 private:
  void push(const KernelShape& shape, std::span<const std::int64_t> columns, T* out);
  void sum_features(const KernelShape& shape, std::span<const std::int64_t> columns, T* out);
  KernelTile<T> with_extras(const KernelShape& shape, std::span<const std::int64_t> columns,
                            T* sums) const;
  void fold_packed(const KernelShape& shape, std::span<const std::int64_t> columns, T* out);
  template <class P>
  void scatter_into(std::vector<P>& panels);
  void multiply_scattered(std::span<const std::int64_t> columns, T* out);

  const KernelValues& values_;
  std::span<const std::int64_t> rows_;
  std::int64_t panel_size_ = 0;
  bool is_packed_ = false, is_scattered_ = false;
};

/// out[i * n_columns + j] = K(rows[i], columns[j])
template <class T>
void kernel_block(const KernelValues& values, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> columns, std::span<T> out, int n_threads);

/// out[j * k + c] = sum over the left rows i of coef[i * k + c] K(i, j), for every right row j, summed
/// in float64 from values of precision T. Rows whose coefficients are all 0 are passed over.
template <class T>
void kernel_sums(const KernelValues& values, std::span<const double> coef, std::int64_t k,
                 std::span<double> out, int n_threads);

/// Half a unit in the last place of a float64.
constexpr double kRoundingUnit = 0x1p-53;

/// How exact float64 values are among the rows of one matrix.
struct KernelRounding {
  std::vector<double>
      sizes;     ///< |K(i, j)| <= sizes[i] sizes[j] for a positive semi-definite kernel
  double error;  ///< |computed K(i, j) - K(i, j)| <= error sizes[i] sizes[j]
};

/// Of values in float64, or of those of precise_kernel_sums.
KernelRounding kernel_rounding(const Kernel& kernel, const Matrix& matrix, bool is_precise,
                               int n_threads);

/// out[j * k + c] = sum over i of coef[i * k + c] K(i, j), values and sums in long double, for the n_points
/// rows of a row-major table.
void precise_kernel_sums(const Kernel& kernel, std::span<const double> rows,
                         std::int64_t n_features, std::span<const double> coef, std::int64_t k,
                         std::span<double> out, int n_threads);

/// out[i] = K(i, i); left and right are the same matrix.
void kernel_diagonal(const KernelValues& values, std::span<double> out, int n_threads);

}  // namespace hedgerow
