#include "kernel/row_store.hpp"

#include <algorithm>

#include "hedgerow/system/parallel.hpp"

namespace hedgerow {
PieceStore::PieceStore(std::int64_t piece_size, std::int64_t most_pieces)
    : piece_size_(piece_size), most_pieces_(most_pieces) {}

float* PieceStore::take() {
  if (free_.empty()) {
    // In pages as they come: asked for large ones, a host that takes back free memory needed 3 to 4
    // seconds a GB to hand them out, against 0.7.
    constexpr std::int64_t kPiecesPerSlab = 4096;
    slabs_.push_back(std::make_unique_for_overwrite<float[]>(
        static_cast<std::size_t>(kPiecesPerSlab * piece_size_)));
    for (std::int64_t p = kPiecesPerSlab; p-- > 0;)
      free_.push_back(slabs_.back().get() + p * piece_size_);
  }
  float* piece = free_.back();
  free_.pop_back();
  ++n_taken_;
  return piece;
}

void PieceStore::give_back(float* piece) {
  free_.push_back(piece);
  --n_taken_;
}

RowStore::RowStore(const KernelSource& source, std::int64_t bytes, int n_threads)
    : source_(source),
      n_threads_(source.is_threaded() ? n_threads : 1),
      store_(kBlock, bytes / (kBlock * static_cast<std::int64_t>(sizeof(float)))) {}

void RowStore::append(std::span<const std::int64_t> points) {
  for (std::size_t p = 0; p < points.size(); p += kBlock) {
    const auto some = points.subspan(p, std::min<std::size_t>(kBlock, points.size() - p));
    block_of_.insert(block_of_.end(), some.size(), static_cast<std::int64_t>(blocks_.size()));
    blocks_.push_back({n_points(), n_points() + static_cast<std::int64_t>(some.size())});
    points_.insert(points_.end(), some.begin(), some.end());
  }
  pieces_.resize(points_.size());
  last_used_.resize(points_.size(), 0);
  for (auto& of_row : pieces_) of_row.resize(blocks_.size(), nullptr);
}

std::vector<std::int64_t> RowStore::ends() const {
  std::vector<std::int64_t> ends;
  for (const Block& block : blocks_) ends.push_back(block.end);
  return ends;
}

std::span<const std::int64_t> RowStore::points_of(std::int64_t block) const {
  return std::span(points_).subspan(blocks_[block].begin,
                                    blocks_[block].end - blocks_[block].begin);
}

std::vector<std::int64_t> RowStore::points_at(std::span<const std::int64_t> positions) const {
  std::vector<std::int64_t> points(positions.size());
  for (std::size_t p = 0; p < positions.size(); ++p) points[p] = points_[positions[p]];
  return points;
}

/// Gives up the rows that were used longest ago until so many pieces are free, but none used now.
void RowStore::evict(std::int64_t n_pieces) {
  std::vector<std::int64_t> kept;
  for (std::int64_t r = 0; r < n_points(); ++r)
    if (last_used_[r] > 0 && last_used_[r] < clock_) kept.push_back(r);
  std::sort(kept.begin(), kept.end(), [&](std::int64_t a, std::int64_t b) {
    return last_used_[a] != last_used_[b] ? last_used_[a] < last_used_[b] : a < b;
  });
  for (const std::int64_t r : kept) {
    if (store_.n_free() >= n_pieces) return;
    for (float*& piece : pieces_[r]) {
      if (piece) store_.give_back(piece);
      piece = nullptr;
    }
    last_used_[r] = 0;
  }
}

std::vector<std::vector<std::int64_t>> RowStore::make_room(std::span<const std::int64_t> rows) {
  ++clock_;
  std::vector<std::vector<std::int64_t>> missing(blocks_.size());
  std::int64_t n_missing = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    last_used_[rows[i]] = clock_;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (pieces_[rows[i]][b]) continue;
      missing[b].push_back(static_cast<std::int64_t>(i));
      ++n_missing;
    }
  }
  if (store_.n_free() < n_missing) evict(n_missing);
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (const std::int64_t i : missing[b])
      if (store_.n_free() > 0) pieces_[rows[i]][b] = store_.take();
  return missing;
}

/// Computes the missing rows of a block: those that have room into it, the others into `beside`.
void RowStore::fill_block(std::int64_t block, std::span<const std::int64_t> rows,
                          std::span<const std::int64_t> missing, std::vector<float>& beside) {
  if (missing.empty()) return;
  std::vector<std::int64_t> points(missing.size());
  std::vector<float*> lines(missing.size());
  std::int64_t n_beside = 0;
  for (std::size_t m = 0; m < missing.size(); ++m) {
    points[m] = points_[rows[missing[m]]];
    lines[m] = pieces_[rows[missing[m]]][block];
    n_beside += lines[m] == nullptr;
  }
  beside.resize(static_cast<std::size_t>(n_beside * kBlock));
  float* room = beside.data();
  for (float*& line : lines) {
    if (line) continue;
    line = room;
    room += kBlock;
  }
  source_.for_pieces(points, points_of(block), [&](const KernelPiece& piece) {
    for (std::int64_t r = 0; r < piece.n_rows; ++r)
      std::copy_n(piece.values + r * piece.ld, piece.n_columns,
                  lines[piece.row + r] + piece.column);
  });
}

/// The sums are taken in the order of the rows, so that they do not depend on which are kept.
void RowStore::add_block(std::int64_t block, std::span<const std::int64_t> rows,
                         std::span<const std::int64_t> missing, const Sums& sums) {
  const KernelLoops<float>& loops = hot();
  const auto [begin, end] = blocks_[block];
  std::vector<float> beside;
  fill_block(block, rows, missing, beside);
  std::vector<const float*> lines(rows.size());
  const float* next = beside.data();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lines[i] = pieces_[rows[i]][block];
    if (lines[i]) continue;
    lines[i] = next;
    next += kBlock;
  }
  std::vector<const float*> used;
  std::vector<double> delta;
  for (std::int64_t k = 0; k < sums.width; ++k) {
    used.clear(), delta.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double move = sums.delta[static_cast<std::int64_t>(i) * sums.width + k];
      if (move == 0.0) continue;
      used.push_back(lines[i]);
      delta.push_back(move);
    }
    loops.add_kernel_rows(used.data(), delta.data(), static_cast<std::int64_t>(used.size()),
                          end - begin, sums.g.data() + k * n_points() + begin);
  }
}

void RowStore::add_rows(std::span<const std::int64_t> rows, const Sums& sums) {
  const auto missing = make_room(rows);
  parallel_for(static_cast<std::int64_t>(blocks_.size()), n_threads_,
               [&](std::int64_t block) { add_block(block, rows, missing[block], sums); });
}

void RowStore::compute(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                       float* out, std::int64_t ld) {
  const std::vector<std::int64_t> row_points = points_at(rows), all = points_at(columns);
  constexpr std::int64_t kColumns = 256;
  const auto n = static_cast<std::int64_t>(all.size());
  const Cut tasks{n, (n + kColumns - 1) / kColumns};
  parallel_for(tasks.n_pieces, n_threads_, [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task);
    const auto some = std::span(all).subspan(first, tasks.end(task) - first);
    source_.for_pieces(row_points, some, [&](const KernelPiece& piece) {
      for (std::int64_t r = 0; r < piece.n_rows; ++r)
        std::copy_n(piece.values + r * piece.ld, piece.n_columns,
                    out + (piece.row + r) * ld + first + piece.column);
    });
  });
}

void RowStore::gather(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                      float* out, std::int64_t ld) {
  const auto missing = make_room(rows);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    std::vector<float> beside;
    fill_block(static_cast<std::int64_t>(b), rows, missing[b], beside);
  }
  for (std::size_t i = 0; i < rows.size(); ++i, out += ld) {
    const std::vector<float*>& pieces = pieces_[rows[i]];
    if (std::find(pieces.begin(), pieces.end(), nullptr) != pieces.end()) {
      compute(rows.subspan(i, 1), columns, out, ld);
      continue;
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::int64_t b = block_of_[columns[c]];
      out[c] = pieces[b][columns[c] - blocks_[b].begin];
    }
  }
}

void RowStore::block(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                     float* out, std::int64_t ld) {
  if (source_.is_cheap())
    compute(rows, columns, out, ld);
  else
    gather(rows, columns, out, ld);
}

}  // namespace hedgerow
