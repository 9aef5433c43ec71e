// Where a solver has its kernel values from: it asks for blocks of rows, whoever computes them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hedgerow/kernel/kernel.hpp"

namespace hedgerow {

/// A piece of a block of kernel values: the rows [row, row + n_rows) of those asked for and the columns
/// [column, column + n_columns); its row r begins at values + r * ld.
struct KernelPiece {
  std::int64_t row, n_rows;
  std::int64_t column, n_columns;
  const float* values;
  std::int64_t ld;
};

/// The kernel values among n_points points.
class KernelSource {
 public:
  virtual ~KernelSource() = default;

  virtual std::int64_t n_points() const = 0;

  /// Calls use(piece) for pieces that together are K(rows, columns); a piece is gone after the call.
  virtual void for_pieces(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                          const std::function<void(const KernelPiece&)>& use) const = 0;

  /// Whether computing a value costs little more than reading it from memory.
  virtual bool is_cheap() const = 0;

  /// Whether several threads may ask at the same time.
  virtual bool is_threaded() const = 0;
};

/// Built-in kernels among the rows of a matrix.
class MatrixKernelSource : public KernelSource {
 public:
  MatrixKernelSource(Kernel kernel, const Matrix& matrix, int n_threads)
      : values_(std::move(kernel), matrix, matrix, n_threads) {}

  std::int64_t n_points() const override { return n_rows(values_.left()); }
  void for_pieces(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                  const std::function<void(const KernelPiece&)>& use) const override;
  bool is_cheap() const override { return true; }
  bool is_threaded() const override { return true; }

 private:
  KernelValues values_;
};

/// The points of two classes, one after the other; values within a class are given, as many pairs of
/// classes share them, and those between the classes come from a source of all points.
class PairSource : public KernelSource {
 public:
  /// Row-major squares of values, which must outlive it.
  PairSource(std::shared_ptr<const KernelSource> all, std::span<const float> within_first,
             std::span<const float> within_second);

  std::int64_t n_points() const override { return all_->n_points(); }
  void for_pieces(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                  const std::function<void(const KernelPiece&)>& use) const override;
  bool is_cheap() const override { return all_->is_cheap(); }
  bool is_threaded() const override { return all_->is_threaded(); }

 private:
  struct Stretch;  ///< of points in one class
  std::vector<Stretch> stretches(std::span<const std::int64_t> points) const;
  void pass_on_within(const Stretch& rows, const Stretch& columns,
                      const std::function<void(const KernelPiece&)>& use) const;

  std::shared_ptr<const KernelSource> all_;
  std::int64_t n_first_;
  std::span<const float> within_[2];
};

/// The points of another source times signs: their values are multiplied by the signs of both.
class SignedSource : public KernelSource {
 public:
  /// One sign a point.
  SignedSource(std::shared_ptr<const KernelSource> plain, std::vector<float> signs);

  std::int64_t n_points() const override { return plain_->n_points(); }
  void for_pieces(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                  const std::function<void(const KernelPiece&)>& use) const override;
  bool is_cheap() const override { return plain_->is_cheap(); }
  bool is_threaded() const override { return plain_->is_threaded(); }

 private:
  std::shared_ptr<const KernelSource> plain_;
  std::vector<float> signs_;
};

}  // namespace hedgerow
