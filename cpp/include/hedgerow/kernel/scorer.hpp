// Scores of rows by support vectors, which are made ready once for all rows to come.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "hedgerow/kernel/kernel.hpp"

namespace hedgerow {

/// Support vectors in strips of columns, as tiles need them, and their squared norms; kernel_scorer.cpp.
template <class T>
struct PackedVectors;

/// The sums of kernel values of rows with support vectors, one for each of some hyperplanes.
///
/// Vectors stand in segments. Each vector has one coefficient a line, and the lines of each segment
/// go to hyperplanes of its own, hyperplanes[segment * n_lines + line]: a vector of one class has a
/// part only in the hyperplanes between that class and others.
///
/// Values have the precision of the rows to score, sums are float64. A row's scores are the same
/// bits alone or among others, dense or sparse, and for any number of threads. Costs n_rows *
/// n_vectors kernel values; memory is a copy of the vectors, dense, for each precision that is
/// used.
class KernelScorer {
 public:
  struct Coefficients {
    std::span<const double> values;  ///< n_vectors for each line
    std::int64_t n_lines;
    std::span<const std::int64_t> segments;  ///< how many vectors each has
    std::span<const std::int64_t> hyperplanes;
    std::int64_t n_hyperplanes;
  };

  /// The vectors must outlive it.
  KernelScorer(Kernel kernel, const Matrix& vectors, const Coefficients& coef);
  ~KernelScorer();

  std::int64_t n_features() const { return n_cols(vectors_); }
  std::int64_t n_hyperplanes() const { return n_hyperplanes_; }

  /// out[i * n_hyperplanes + p], of rows with n_features columns. Several threads may ask at a
  /// time.
  void scores(const Matrix& rows, std::span<double> out, int n_threads) const;

 private:
  /// The part of a segment that lies in a tile; columns [begin, begin + n) are whole vectors, and its
  /// coefficients 0 where they belong to other segments.
  struct Piece {
    std::int64_t tile, begin, n;
    std::int64_t segment;
    std::size_t coef;
  };

  void lay_out(const Coefficients& coef);
  template <class T>
  const PackedVectors<T>& packed(int n_threads) const;
  template <class T, class Value, class Rows>
  void score_block(const PackedVectors<T>& vectors, const Rows& rows, std::int64_t begin,
                   std::int64_t end, double* out) const;

  Kernel kernel_, kernel_of_float32_;
  Matrix vectors_;
  std::int64_t n_lines_, n_hyperplanes_;
  std::vector<std::int64_t> hyperplanes_;
  std::vector<Piece> pieces_;
  std::vector<double> coef_;
  std::vector<double> sq_norms_;
  bool fits_float32_;
  mutable std::once_flag is_packed_[2];
  mutable std::unique_ptr<PackedVectors<float>> narrow_;
  mutable std::unique_ptr<PackedVectors<double>> wide_;
};

}  // namespace hedgerow
