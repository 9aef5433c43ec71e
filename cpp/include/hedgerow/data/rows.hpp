// Views of a data matrix by rows. Plain structs without functions: the hot loops of every
// instruction set see them, and none may leave behind a shared inline function.
#pragma once

#include <cstdint>

namespace hedgerow {

/// Row i holds values[i * row_stride] ... values[i * row_stride + n_cols - 1].
template <class T>
struct DenseRows {
  using Value = T;
  const T* values;
  std::int64_t n_rows;
  std::int64_t n_cols;
  std::int64_t row_stride;
};

/// Compressed rows: row i holds values[p] in column indices[p] for indptr[i] <= p < indptr[i + 1].
/// The columns of one row are distinct, in any order.
template <class T, class I>
struct SparseRows {
  using Value = T;
  const T* values;
  const I* indices;
  const I* indptr;
  std::int64_t n_rows;
  std::int64_t n_cols;
};

}  // namespace hedgerow
