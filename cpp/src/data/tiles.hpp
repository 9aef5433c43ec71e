// Dense products cut into tiles: what row_gram and cholesky have in common.
#pragma once

#include <cstdint>

#include "hedgerow/system/hot.hpp"

namespace hedgerow {

/// Packed rows are a cache line longer than they need be: rows a power of two apart would fight for
/// the same few places in the cache.
constexpr std::int64_t kPackedStride = kTileDepth + 8;

/// C += alpha A B' over the columns of A and B; a tile at most in rows, any number of columns.
template <class T>
void multiply_rows(const DenseRows<T>& a, const DenseRows<T>& b, double alpha, double* c,
                   std::int64_t ldc);

/// Copies what is below the diagonal of the m x m matrix to above it.
void mirror_lower(double* a, std::int64_t m, int n_threads);

inline std::int64_t n_tiles(std::int64_t length) { return (length + kTileOrder - 1) / kTileOrder; }

}  // namespace hedgerow
