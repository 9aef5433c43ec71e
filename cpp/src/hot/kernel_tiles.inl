// Kernel values of some rows against some columns, a tile at a time: sums over the features by
// register blocks of packed rows, or over the stored values of sparse ones; then the formula of the
// kernel while the tile is in the cache. T is the precision of the tile.

// --- Sums over the features -------------------------------------------------------------------------

// A register block is kStripRows x kStripVectors vectors of sums; with a vector of each operand they
// fill the registers there are.
constexpr int64_t kStripRows = HEDGEROW_VECTOR_BYTES == 64 ? 12 : 6;
constexpr int64_t kStripVectors = 2;

template <class T>
constexpr int64_t kStripCols = kStripVectors * LanesOf<T>::n;

struct AddProduct {
  template <class V>
  V operator()(V sum, V x, V z) const {
    return sum + x * z;
  }
};

struct AddSquare {
  template <class V>
  V operator()(V sum, V x, V z) const {
    const V difference = x - z;
    return sum + difference * difference;
  }
};

struct AddDistance {
  Doubles operator()(Doubles sum, Doubles x, Doubles z) const { return sum + magnitude(x - z); }
};

struct AddLesser {
  Doubles operator()(Doubles sum, Doubles x, Doubles z) const { return sum + (x < z ? x : z); }
};

struct AddChiSquared {
  Doubles operator()(Doubles sum, Doubles x, Doubles z) const {
    const Doubles difference = x - z, total = x + z;
    const Doubles quotient = difference * difference / (total > 0.0 ? total : broadcast(1.0));
    return sum + (total > 0.0 ? quotient : Doubles{});
  }
};

// cos(x) as a series in x^2, for |x| <= pi; what is left out is below 2^-56.
constexpr double kCosSeries[16] = {1.0,
                                   -1.0 / 2,
                                   1.0 / 24,
                                   -1.0 / 720,
                                   1.0 / 40320,
                                   -1.0 / 3628800,
                                   1.0 / 479001600,
                                   -1.0 / 87178291200,
                                   1.0 / 20922789888000,
                                   -1.0 / 6402373705728000,
                                   1.0 / 2432902008176640000,
                                   -1.0 / 1.1240007277776077e21,
                                   1.0 / 6.2044840173323944e23,
                                   -1.0 / 4.0329146112660565e26,
                                   1.0 / 3.0488834461171386e29,
                                   -1.0 / 2.6525285981219107e32};

inline Doubles cosine(Doubles x) {
  constexpr double kRounder = 0x1.8p52, kTurnHead = 0x1.921fb54442d18p+2,
                   kTurnTail = 0x1.1a62633145c07p-52;
  const Doubles turns = (x * 0x1.45f306dc9c883p-3 + kRounder) - kRounder;
  const Doubles rest = (x - turns * kTurnHead) - turns * kTurnTail;
  return polynomial<16>(rest * rest, kCosSeries);
}

struct MultiplyWavelet {
  double gamma;
  Doubles operator()(Doubles product, Doubles x, Doubles z) const {
    constexpr double kFar =
        64.0;  // where exp(-u^2 / 2) is 0, and a cosine of a huge u would not be finite
    Doubles u = gamma * (x - z);
    u = u > kFar ? broadcast(kFar) : u;
    u = u < -kFar ? broadcast(-kFar) : u;
    return product * cosine(1.75 * u) * exp(-0.5 * u * u);
  }
};

// Folds `depth` features of a strip of rows and a strip of columns into the tile. Packed operands lie
// feature after feature.
template <class T, class Fold>
inline void fold_block(Fold fold, int64_t depth, const T* rows, const T* cols, T* tile,
                       int64_t ld) {
  using Vector = typename LanesOf<T>::Vector;
  Vector sums[kStripRows][kStripVectors];
  HEDGEROW_UNROLL for (int r = 0; r < kStripRows; ++r)
      HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v) sums[r][v] =
          load_lanes(tile + r * ld + v * LanesOf<T>::n);
  for (int64_t k = 0; k < depth; ++k) {
    Vector z[kStripVectors];
    HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v) z[v] =
        load_lanes(cols + k * kStripCols<T> + v * LanesOf<T>::n);
    HEDGEROW_UNROLL for (int r = 0; r < kStripRows; ++r) {
      const Vector x = rows[k * kStripRows + r] - Vector{};
      HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v) sums[r][v] =
          fold(sums[r][v], x, z[v]);
    }
  }
  HEDGEROW_UNROLL for (int r = 0; r < kStripRows; ++r)
      HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v)
          store_lanes(tile + r * ld + v * LanesOf<T>::n, sums[r][v]);
}

template <class T, class Fold>
inline void fold_strips(Fold fold, const PackedTile<T>& packed, T* tile, int64_t ld) {
  for (int64_t c = 0; c < packed.n_cols; c += kStripCols<T>)
    for (int64_t r = 0; r < packed.n_rows; r += kStripRows)
      fold_block<T>(fold, packed.depth, packed.rows + r * packed.stride,
                    packed.cols + c * packed.stride, tile + r * ld + c, ld);
}

template <class T>
inline int64_t feature(DenseRow<T>, int64_t k) {
  return k;
}

template <class T, class I>
inline int64_t feature(SparseRow<T, I> row, int64_t k) {
  return row.indices[k];
}

// One row against n strips of columns. Each sum is taken in the order of fold_block, whose bits it has;
// features that a sparse row does not store would have added 0.
template <int n, class T, class Fold, class Row>
inline void fold_row_block(Fold fold, Row row, const PackedTile<T>& packed, int64_t c, T* out) {
  using Vector = typename LanesOf<T>::Vector;
  const T* strips = packed.cols + c * packed.stride;
  Vector sums[n][kStripVectors];
  HEDGEROW_UNROLL for (int s = 0; s < n; ++s)
      HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v) sums[s][v] =
          load_lanes(out + c + (s * kStripVectors + v) * LanesOf<T>::n);
  for (int64_t k = 0; k < row.size; ++k) {
    const Vector x = static_cast<T>(row.values[k]) - Vector{};
    const T* lines = strips + feature(row, k) * kStripCols<T>;
    HEDGEROW_UNROLL for (int s = 0; s < n; ++s)
        HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v) sums[s][v] =
            fold(sums[s][v], x,
                 load_lanes(lines + s * packed.stride * kStripCols<T> + v * LanesOf<T>::n));
  }
  HEDGEROW_UNROLL for (int s = 0; s < n; ++s)
      HEDGEROW_UNROLL for (int v = 0; v < kStripVectors; ++v)
          store_lanes(out + c + (s * kStripVectors + v) * LanesOf<T>::n, sums[s][v]);
}

template <class T, class Fold, class Row>
inline void fold_one_row(Fold fold, Row row, const PackedTile<T>& packed, T* out) {
  constexpr int kTogether = 4;
  int64_t c = 0;
  for (; c + kTogether * kStripCols<T> <= packed.n_cols; c += kTogether * kStripCols<T>)
    fold_row_block<kTogether>(fold, row, packed, c, out);
  for (; c < packed.n_cols; c += kStripCols<T>) fold_row_block<1>(fold, row, packed, c, out);
}

template <class T, class S, class I>
void packed_products(const SparseRows<S, I>& rows, int64_t i, const PackedTile<T>& packed, T* out) {
  for (int64_t c = 0; c < packed.n_cols; ++c) out[c] = T{0};
  fold_one_row(AddProduct{}, row(rows, i), packed, out);
}

// Calls use(fold) with what a kernel does with the features; in float32 there are fewer kernels.
template <class T, class Use>
inline void with_fold(const KernelShape& shape, Use use) {
  if (shape.kind == KernelKind::rbf_of_differences) return use(AddSquare{});
  if constexpr (sizeof(T) == 4)
    return use(AddProduct{});
  else
    switch (shape.kind) {
      case KernelKind::laplacian:
        return use(AddDistance{});
      case KernelKind::intersection:
        return use(AddLesser{});
      case KernelKind::chi_squared:
      case KernelKind::additive_chi_squared:
        return use(AddChiSquared{});
      case KernelKind::wavelet:
        return use(MultiplyWavelet{shape.gamma});
      default:
        return use(AddProduct{});
    }
}

void fold_features(const KernelShape& shape, const PackedTile<float>& packed, float* tile,
                   int64_t ld) {
  with_fold<float>(shape, [&](auto fold) { fold_strips(fold, packed, tile, ld); });
}

void fold_features(const KernelShape& shape, const PackedTile<double>& packed, double* tile,
                   int64_t ld) {
  with_fold<double>(shape, [&](auto fold) { fold_strips(fold, packed, tile, ld); });
}

void fold_row(const KernelShape& shape, const float* x, const PackedTile<float>& packed,
              float* out) {
  with_fold<float>(
      shape, [&](auto fold) { fold_one_row(fold, DenseRow<float>{x, packed.depth}, packed, out); });
}

void fold_row(const KernelShape& shape, const double* x, const PackedTile<double>& packed,
              double* out) {
  with_fold<double>(shape, [&](auto fold) {
    fold_one_row(fold, DenseRow<double>{x, packed.depth}, packed, out);
  });
}

// --- Packing: strips of `width` rows, feature after feature, zeros where there are no more rows ----

template <class T, class S>
inline void pack_row(DenseRow<S> x, int64_t begin, int64_t end, int64_t width, T* out) {
  for (int64_t k = begin; k < end; ++k) out[(k - begin) * width] = static_cast<T>(x.values[k]);
}

template <class T, class S, class I>
inline void pack_row(SparseRow<S, I> x, int64_t begin, int64_t end, int64_t width, T* out) {
  for (int64_t k = 0; k < end - begin; ++k) out[k * width] = T{0};
  for (int64_t p = 0; p < x.size; ++p)
    if (x.indices[p] >= begin && x.indices[p] < end)
      out[(x.indices[p] - begin) * width] = static_cast<T>(x.values[p]);
}

template <class T, class Rows>
void pack_strips(const Rows& rows, const int64_t* selected, int64_t n_selected, int64_t begin,
                 int64_t end, int64_t width, T* out) {
  for (int64_t strip = 0; strip < n_selected; strip += width, out += width * (end - begin))
    for (int64_t r = 0; r < width; ++r) {
      if (strip + r < n_selected)
        pack_row(row(rows, selected[strip + r]), begin, end, width, out + r);
      else
        for (int64_t k = 0; k < end - begin; ++k) out[k * width + r] = T{0};
    }
}

// --- Sparse columns against scattered rows ---------------------------------------------------------

// A panel of rows lies feature after feature, kScatterRows to a slot. Features that none of the rows
// has share slot 0, which is zero; slots[j] is the slot of feature j.
constexpr int kScatterVectors = 8;

template <class T>
constexpr int64_t kScatterRows = kScatterVectors * LanesOf<T>::n;

// P is the type of the values in the panel, and `width` the rows in a line: those of a tile of another
// precision, perhaps.
template <class P>
struct ScatterPanel {
  int64_t width;
  int32_t* slots;
  int64_t n_slots;
  P* values;

  void put(int64_t feature, int64_t r, P value) {
    if (slots[feature] == 0) {
      __builtin_memset(values + n_slots * width, 0, width * sizeof(P));
      slots[feature] = static_cast<int32_t>(n_slots++);
    }
    values[slots[feature] * width + r] = value;
  }
};

template <class P, class S>
inline void scatter_row(DenseRow<S> x, int64_t r, ScatterPanel<P>& panel) {
  for (int64_t j = 0; j < x.size; ++j)
    if (x.values[j] != S{0}) panel.put(j, r, static_cast<P>(x.values[j]));
}

template <class P, class S, class I>
inline void scatter_row(SparseRow<S, I> x, int64_t r, ScatterPanel<P>& panel) {
  for (int64_t p = 0; p < x.size; ++p) panel.put(x.indices[p], r, static_cast<P>(x.values[p]));
}

template <class S>
inline void forget_row(DenseRow<S> x, int32_t* slots) {
  for (int64_t j = 0; j < x.size; ++j) slots[j] = 0;
}

template <class S, class I>
inline void forget_row(SparseRow<S, I> x, int32_t* slots) {
  for (int64_t p = 0; p < x.size; ++p) slots[x.indices[p]] = 0;
}

template <class P, class Rows>
void scatter(const Rows& rows, const int64_t* selected, int64_t n_selected, int64_t width,
             int32_t* slots, P* values) {
  __builtin_memset(values, 0, width * sizeof(P));
  ScatterPanel<P> panel{width, slots, 1, values};
  for (int64_t r = 0; r < n_selected; ++r) scatter_row(row(rows, selected[r]), r, panel);
}

template <class Rows>
void forget(const Rows& rows, const int64_t* selected, int64_t n_selected, int32_t* slots) {
  for (int64_t r = 0; r < n_selected; ++r) forget_row(row(rows, selected[r]), slots);
}

inline Floats load_as(const float* from, float) { return load_lanes(from); }
inline Doubles load_as(const double* from, double) { return load(from); }
inline Doubles load_as(const float* from, double) { return load(from); }

template <class T, class P, class S, class I>
inline void dot_with_panel(SparseRow<S, I> x, const int32_t* slots, const P* panel, T* out) {
  typename LanesOf<T>::Vector sums[kScatterVectors] = {};
  for (int64_t p = 0; p < x.size; ++p) {
    const P* line = panel + slots[x.indices[p]] * kScatterRows<T>;
    const T value = static_cast<T>(x.values[p]);
    HEDGEROW_UNROLL for (int v = 0; v < kScatterVectors; ++v) sums[v] +=
        value * load_as(line + v * LanesOf<T>::n, T{});
  }
  HEDGEROW_UNROLL for (int v = 0; v < kScatterVectors; ++v)
      store_lanes(out + v * LanesOf<T>::n, sums[v]);
}

// tile[r * ld + c] = <row r of the panel, row selected[c]>, for kScatterRows rows; columns are written
// up to the next multiple of a vector.
template <class T, class P, class S, class I>
void scattered_products(const SparseRows<S, I>& columns, const int64_t* selected,
                        int64_t n_selected, const int32_t* slots, const P* panel, T* tile,
                        int64_t ld) {
  constexpr int n = LanesOf<T>::n;
  T turned[n * kScatterRows<T>];
  for (int64_t c = 0; c < n_selected; c += n) {
    const int64_t breadth = at_most(n, n_selected - c);
    for (int64_t s = 0; s < breadth; ++s)
      dot_with_panel(row(columns, selected[c + s]), slots, panel, turned + s * kScatterRows<T>);
    for (int v = 0; v < kScatterVectors; ++v) {
      typename LanesOf<T>::Vector square[n];
      HEDGEROW_UNROLL for (int s = 0; s < n; ++s) square[s] =
          load_lanes(turned + s * kScatterRows<T> + v * n);
      transpose(square);
      HEDGEROW_UNROLL for (int s = 0; s < n; ++s)
          store_lanes(tile + (v * n + s) * ld + c, square[s]);
    }
  }
}
