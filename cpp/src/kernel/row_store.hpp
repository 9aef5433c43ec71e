// Rows of kernel values over a growing set of points, kept within a budget of bytes.
//
// Points are added at the end and stay: a row is cut where points were added and after every
// kBlock of them, and a piece of a row, once computed, stays valid. Rows that the budget has no room for
// are computed again whenever they are needed: a fit that lacks memory gets slower bit by bit, and comes
// to the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hedgerow/kernel/source.hpp"

namespace hedgerow {

/// Pieces of rows of one size, cut from large slabs and used again.
class PieceStore {
 public:
  PieceStore(std::int64_t piece_size, std::int64_t most_pieces);

  std::int64_t n_free() const { return most_pieces_ - n_taken_; }
  float* take();
  void give_back(float* piece);

 private:
  std::int64_t piece_size_, most_pieces_, n_taken_ = 0;
  std::vector<std::unique_ptr<float[]>> slabs_;
  std::vector<float*> free_;
};

class RowStore {
 public:
  static constexpr std::int64_t kBlock = 1024;

  RowStore(const KernelSource& source, std::int64_t bytes, int n_threads);

  std::int64_t n_points() const { return static_cast<std::int64_t>(points_.size()); }
  std::int64_t point(std::int64_t position) const { return points_[position]; }
  std::span<const std::int64_t> points() const { return points_; }
  /// Where, among the points, the pieces of rows end.
  std::vector<std::int64_t> ends() const;
  int n_threads() const { return n_threads_; }

  /// Adds points; their positions follow those of the points before.
  void append(std::span<const std::int64_t> points);

  /// What rows are multiplied with and added to: for every position c and each of `width` columns k,
  /// g[k * n_points() + c] += sum over r of delta[r * width + k] K(rows[r], c).
  struct Sums {
    std::int64_t width;
    std::span<const double> delta;
    std::span<double> g;
  };

  /// Brings sums up to date; rows are positions, and serve all columns at once.
  void add_rows(std::span<const std::int64_t> rows, const Sums& sums);

  /// out[r * ld + c] = K(rows[r], columns[c]), by position.
  void block(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns, float* out,
             std::int64_t ld);

 private:
  struct Block {
    std::int64_t begin, end;
  };

  /// Gives rows room where they have none, as far as it goes; returns, for each block, which of `rows`
  /// are still to be computed there.
  std::vector<std::vector<std::int64_t>> make_room(std::span<const std::int64_t> rows);
  void evict(std::int64_t n_pieces);
  void add_block(std::int64_t block, std::span<const std::int64_t> rows,
                 std::span<const std::int64_t> missing, const Sums& sums);
  void fill_block(std::int64_t block, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> missing, std::vector<float>& beside);
  void gather(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns, float* out,
              std::int64_t ld);
  void compute(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
               float* out, std::int64_t ld);
  std::span<const std::int64_t> points_of(std::int64_t block) const;
  std::vector<std::int64_t> points_at(std::span<const std::int64_t> positions) const;

  const KernelSource& source_;
  int n_threads_;
  PieceStore store_;
  std::vector<std::int64_t> points_;
  std::vector<std::int64_t> block_of_;  ///< by position
  std::vector<Block> blocks_;
  std::vector<std::vector<float*>> pieces_;  ///< by row, then block; null if not kept
  std::vector<std::int64_t> last_used_;      ///< by row; 0 if nothing of it is kept
  std::int64_t clock_ = 0;
};

}  // namespace hedgerow
