// Dense matrix products and triangular solves on tiles that fit the caches.

// A tile of C is kTileRows x kTileCols vectors of partial sums: with the operands they fill the 16
// registers of the narrower instruction sets.
constexpr int64_t kTileRows = 4;
constexpr int64_t kTileCols = 3;

// Of B, kPanelRows rows of kTileDepth values stay in the first-level cache while A streams past.
constexpr int64_t kPanelRows = 4 * kTileCols;

// C += alpha A B' for M rows of A and N rows of B. The last k % kLanes terms are summed apart: with
// a loop among them, the partial sums would be kept in memory.
template <int M, int N>
void multiply_tile(int64_t k, double alpha, const double* a, int64_t lda, const double* b,
                   int64_t ldb, double* c, int64_t ldc) {
  Doubles sums[M][N];
  HEDGEROW_UNROLL for (int i = 0; i < M; ++i) HEDGEROW_UNROLL for (int j = 0; j < N; ++j)
      sums[i][j] = Doubles{};
  int64_t l = 0;
  for (; l + kLanes <= k; l += kLanes) {
    Doubles right[N];
    for (int j = 0; j < N; ++j) right[j] = load(b + j * ldb + l);
    for (int i = 0; i < M; ++i) {
      const Doubles left = load(a + i * lda + l);
      for (int j = 0; j < N; ++j) sums[i][j] += left * right[j];
    }
  }
  HEDGEROW_UNROLL for (int i = 0; i < M; ++i) HEDGEROW_UNROLL for (int j = 0; j < N; ++j)
      c[i * ldc + j] += alpha * lane_sum(sums[i][j]);
  for (; l < k; ++l)
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) c[i * ldc + j] += alpha * a[i * lda + l] * b[j * ldb + l];
}

using MultiplyTile = void (*)(int64_t, double, const double*, int64_t, const double*, int64_t,
                              double*, int64_t);

constexpr MultiplyTile kMultiplyTile[kTileRows][kTileCols] = {
    {multiply_tile<1, 1>, multiply_tile<1, 2>, multiply_tile<1, 3>},
    {multiply_tile<2, 1>, multiply_tile<2, 2>, multiply_tile<2, 3>},
    {multiply_tile<3, 1>, multiply_tile<3, 2>, multiply_tile<3, 3>},
    {multiply_tile<4, 1>, multiply_tile<4, 2>, multiply_tile<4, 3>}};

inline int64_t at_most(int64_t limit, int64_t value) { return value < limit ? value : limit; }

// One panel of B, one stretch of the summation.
inline void multiply_panel(int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                           int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i += kTileRows) {
    const MultiplyTile* multiply = kMultiplyTile[at_most(kTileRows, m - i) - 1];
    for (int64_t j = 0; j < n; j += kTileCols)
      multiply[at_most(kTileCols, n - j) - 1](k, alpha, a + i * lda, lda, b + j * ldb, ldb,
                                              c + i * ldc + j, ldc);
  }
}

void gemm_nt(int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
             const double* b, int64_t ldb, double* c, int64_t ldc) {
  for (int64_t l = 0; l < k; l += kTileDepth)
    for (int64_t j = 0; j < n; j += kPanelRows)
      multiply_panel(m, at_most(kPanelRows, n - j), at_most(kTileDepth, k - l), alpha, a + l, lda,
                     b + j * ldb + l, ldb, c + j, ldc);
}

void gemm_nt_lower(int64_t m, int64_t k, double alpha, const double* a, int64_t lda,
                   const double* b, int64_t ldb, double* c, int64_t ldc) {
  for (int64_t l = 0; l < k; l += kTileDepth)
    for (int64_t j = 0; j < m; j += kPanelRows)
      multiply_panel(m - j, at_most(kPanelRows, m - j), at_most(kTileDepth, k - l), alpha,
                     a + j * lda + l, lda, b + j * ldb + l, ldb, c + j * ldc + j, ldc);
}

template <class T>
void pack(const DenseRows<T>& rows, int64_t begin, int64_t end, double* out, int64_t ld) {
  for (int64_t i = begin; i < end; ++i, out += ld) {
    const DenseRow<T> x = row(rows, i);
    int64_t j = 0;
    for (; j + kLanes <= x.size; j += kLanes) store(out + j, load(x.values + j));
    for (; j < x.size; ++j) out[j] = x.values[j];
  }
}

// Asking for later rows made packing rows of 100 values from memory measurably faster.
constexpr int64_t kRowsAhead = 16;

template <class T>
void pack_transposed(const DenseRows<T>& rows, const int64_t* selected, int64_t n_selected,
                     const double* scale, double* out, int64_t ld) {
  int64_t r = 0;
  for (; r + kLanes <= n_selected; r += kLanes) {
    const Doubles scales = load(scale + r);
    const T *x[kLanes], *later[kLanes];
    for (int64_t s = 0; s < kLanes; ++s) {
      x[s] = row(rows, selected[r + s]).values;
      later[s] = row(rows, selected[at_most(n_selected - 1, r + s + kRowsAhead)]).values;
    }
    int64_t j = 0;
    for (; j + kLanes <= rows.n_cols; j += kLanes) {
      Doubles square[kLanes];
      HEDGEROW_UNROLL for (int64_t s = 0; s < kLanes; ++s) {
        __builtin_prefetch(later[s] + j);
        square[s] = load(x[s] + j);
      }
      transpose(square);
      HEDGEROW_UNROLL for (int64_t s = 0; s < kLanes; ++s)
          store(out + (j + s) * ld + r, square[s] * scales);
    }
    for (; j < rows.n_cols; ++j)
      for (int64_t s = 0; s < kLanes; ++s) out[j * ld + r + s] = x[s][j] * scale[r + s];
  }
  for (; r < n_selected; ++r) {
    const DenseRow<T> x = row(rows, selected[r]);
    for (int64_t j = 0; j < x.size; ++j) out[j * ld + r] = x.values[j] * scale[r];
  }
}

int64_t factor(int64_t m, double* a, int64_t lda) {
  for (int64_t i = 0; i < m; ++i) {
    double* left = a + i * lda;
    for (int64_t j = 0; j < i; ++j)
      left[j] = (left[j] - dot(DenseRow<double>{a + j * lda, j}, left)) / a[j * lda + j];
    const double pivot = left[i] - sq_norm(DenseRow<double>{left, i});
    if (!(pivot > 0.0 && pivot <= __DBL_MAX__)) return i;
    left[i] = __builtin_sqrt(pivot);
  }
  return -1;
}

// out[j * ld_out + r] = in[r * ld_in + j] for 0 <= r < m, 0 <= j < n
void turn(int64_t m, int64_t n, const double* in, int64_t ld_in, double* out, int64_t ld_out) {
  int64_t r = 0;
  for (; r + kLanes <= m; r += kLanes) {
    int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
      Doubles square[kLanes];
      HEDGEROW_UNROLL for (int s = 0; s < kLanes; ++s) square[s] = load(in + (r + s) * ld_in + j);
      transpose(square);
      HEDGEROW_UNROLL for (int s = 0; s < kLanes; ++s) store(out + (j + s) * ld_out + r, square[s]);
    }
    for (; j < n; ++j)
      for (int s = 0; s < kLanes; ++s) out[j * ld_out + r + s] = in[(r + s) * ld_in + j];
  }
  for (; r < m; ++r)
    for (int64_t j = 0; j < n; ++j) out[j * ld_out + r] = in[r * ld_in + j];
}

// Rows of B are solved for together, one per lane: the recurrence runs along a row, so within one
// it could not be vectorised. `turned` holds the rows transposed, kSolveRows to a line.
constexpr int64_t kSolveVectors = 8;
constexpr int64_t kSolveRows = kSolveVectors * kLanes;

inline void substitute(int64_t n, const double* l, int64_t ldl, double* turned) {
  for (int64_t j = 0; j < n; ++j) {
    Doubles rest[kSolveVectors];
    for (int s = 0; s < kSolveVectors; ++s) rest[s] = load(turned + j * kSolveRows + s * kLanes);
    for (int64_t p = 0; p < j; ++p) {
      const Doubles scale = broadcast(l[j * ldl + p]);
      for (int s = 0; s < kSolveVectors; ++s)
        rest[s] -= scale * load(turned + p * kSolveRows + s * kLanes);
    }
    const Doubles pivot = broadcast(l[j * ldl + j]);
    for (int s = 0; s < kSolveVectors; ++s)
      store(turned + j * kSolveRows + s * kLanes, rest[s] / pivot);
  }
}

void solve_rows(int64_t m, int64_t n, const double* l, int64_t ldl, double* b, int64_t ldb) {
  double turned[kTileOrder * kSolveRows] = {};  // lanes without a row are solved for as well
  for (int64_t begin = 0; begin < m; begin += kSolveRows, b += kSolveRows * ldb) {
    const int64_t n_rows = at_most(kSolveRows, m - begin);
    turn(n_rows, n, b, ldb, turned, kSolveRows);
    substitute(n, l, ldl, turned);
    turn(n, n_rows, turned, kSolveRows, b, ldb);
  }
}

void solve_factored(int64_t m, const double* l, double* b) {
  for (int64_t i = 0; i < m; ++i) {
    const double* left = l + i * m;
    b[i] = (b[i] - dot(DenseRow<double>{left, i}, b)) / left[i];
  }
  for (int64_t i = m; i-- > 0;) {
    const double* left = l + i * m;
    b[i] /= left[i];
    add(DenseRow<double>{left, i}, -b[i], b);
  }
}
