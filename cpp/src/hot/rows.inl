// One row, dense or sparse, and what can be done with it; then the loops over many rows.

template <class T>
struct DenseRow {
  const T* values;
  int64_t size;
};

template <class T, class I>
struct SparseRow {
  const T* values;
  const I* indices;
  int64_t size;
};

template <class T>
inline DenseRow<T> row(const DenseRows<T>& rows, int64_t i) {
  return {rows.values + i * rows.row_stride, rows.n_cols};
}

template <class T, class I>
inline SparseRow<T, I> row(const SparseRows<T, I>& rows, int64_t i) {
  const int64_t begin = rows.indptr[i];
  return {rows.values + begin, rows.indices + begin, rows.indptr[i + 1] - begin};
}

// Sum of term(j) over 0 <= j < n; Term gives kLanes terms at once, or one.
template <class Vector, class Scalar>
inline double sum_terms(int64_t n, Vector vector_term, Scalar scalar_term) {
  Doubles sums[4] = {};
  int64_t j = 0;
  for (; j + 4 * kLanes <= n; j += 4 * kLanes)
    for (int a = 0; a < 4; ++a) sums[a] += vector_term(j + a * kLanes);
  for (; j + kLanes <= n; j += kLanes) sums[0] += vector_term(j);
  double total = lane_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; j < n; ++j) total += scalar_term(j);
  return total;
}

template <class T>
inline double dot(DenseRow<T> x, const double* w) {
  return sum_terms(
      x.size, [=](int64_t j) { return load(x.values + j) * load(w + j); },
      [=](int64_t j) { return static_cast<double>(x.values[j]) * w[j]; });
}

template <class T, class I>
inline double dot(SparseRow<T, I> x, const double* w) {
  double sums[4] = {};
  int64_t p = 0;
  for (; p + 4 <= x.size; p += 4)
    for (int a = 0; a < 4; ++a)
      sums[a] += static_cast<double>(x.values[p + a]) * w[x.indices[p + a]];
  double total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; p < x.size; ++p) total += static_cast<double>(x.values[p]) * w[x.indices[p]];
  return total;
}

template <class T>
inline double sq_norm(DenseRow<T> x) {
  return sum_terms(
      x.size,
      [=](int64_t j) {
        const Doubles lanes = load(x.values + j);
        return lanes * lanes;
      },
      [=](int64_t j) {
        const double value = x.values[j];
        return value * value;
      });
}

template <class T, class I>
inline double sq_norm(SparseRow<T, I> x) {
  return sq_norm(DenseRow<T>{x.values, x.size});
}

// w += scale * x
template <class T>
inline void add(DenseRow<T> x, double scale, double* w) {
  const Doubles scales = broadcast(scale);
  int64_t j = 0;
  for (; j + kLanes <= x.size; j += kLanes) store(w + j, load(w + j) + scales * load(x.values + j));
  for (; j < x.size; ++j) w[j] += scale * static_cast<double>(x.values[j]);
}

template <class T, class I>
inline void add(SparseRow<T, I> x, double scale, double* w) {
  int64_t p = 0;
  for (; p + 4 <= x.size; p += 4) {
    double sums[4];
    HEDGEROW_UNROLL for (int a = 0; a < 4; ++a) sums[a] =
        w[x.indices[p + a]] + scale * static_cast<double>(x.values[p + a]);
    HEDGEROW_UNROLL for (int a = 0; a < 4; ++a) w[x.indices[p + a]] = sums[a];
  }
  for (; p < x.size; ++p) w[x.indices[p]] += scale * static_cast<double>(x.values[p]);
}

// w += the sum of four scaled rows: w is read and written once, not four times.
template <class T>
inline void add_four(const DenseRow<T> (&x)[4], const double (&scale)[4], double* w) {
  const Doubles scales[4] = {broadcast(scale[0]), broadcast(scale[1]), broadcast(scale[2]),
                             broadcast(scale[3])};
  int64_t j = 0;
  for (; j + kLanes <= x[0].size; j += kLanes) {
    Doubles lanes = load(w + j);
    for (int a = 0; a < 4; ++a) lanes += scales[a] * load(x[a].values + j);
    store(w + j, lanes);
  }
  for (; j < x[0].size; ++j) {
    double sum = w[j];
    for (int a = 0; a < 4; ++a) sum += scale[a] * static_cast<double>(x[a].values[j]);
    w[j] = sum;
  }
}

template <class Rows>
void scores(const Rows& rows, int64_t begin, int64_t end, int64_t k, const double* coef,
            const double* intercept, double* out) {
  for (int64_t i = begin; i < end; ++i) {
    const auto x = row(rows, i);
    for (int64_t c = 0; c < k; ++c) *out++ = dot(x, coef + c * rows.n_cols) + intercept[c];
  }
}

// out += the sum of weight(i) x_i; rows of weight 0 are not read.
template <class T, class Weight>
inline void add_rows(const DenseRows<T>& rows, int64_t begin, int64_t end, Weight weight,
                     double* out) {
  DenseRow<T> waiting[4];
  double scale[4];
  int n_waiting = 0;
  for (int64_t i = begin; i < end; ++i) {
    const double v = weight(i);
    if (v == 0.0) continue;
    waiting[n_waiting] = row(rows, i);
    scale[n_waiting++] = v;
    if (n_waiting == 4) {
      add_four(waiting, scale, out);
      n_waiting = 0;
    }
  }
  for (int a = 0; a < n_waiting; ++a) add(waiting[a], scale[a], out);
}

template <class T, class I, class Weight>
inline void add_rows(const SparseRows<T, I>& rows, int64_t begin, int64_t end, Weight weight,
                     double* out) {
  for (int64_t i = begin; i < end; ++i) {
    const double v = weight(i);
    if (v != 0.0) add(row(rows, i), v, out);
  }
}

template <class Rows>
void add_weighted(const Rows& rows, int64_t begin, int64_t end, const double* v, double* out) {
  add_rows(rows, begin, end, [=](int64_t i) { return v[i]; }, out);
}

template <class T>
inline void add_squares(DenseRow<T> x, double scale, double* out) {
  const Doubles scales = broadcast(scale);
  int64_t j = 0;
  for (; j + kLanes <= x.size; j += kLanes) {
    const Doubles lanes = load(x.values + j);
    store(out + j, load(out + j) + scales * lanes * lanes);
  }
  for (; j < x.size; ++j) {
    const double value = x.values[j];
    out[j] += scale * value * value;
  }
}

template <class T, class I>
inline void add_squares(SparseRow<T, I> x, double scale, double* out) {
  for (int64_t p = 0; p < x.size; ++p) {
    const double value = x.values[p];
    out[x.indices[p]] += scale * value * value;
  }
}

template <class Rows>
void add_weighted_squares(const Rows& rows, int64_t begin, int64_t end, const double* v,
                          double* out) {
  for (int64_t i = begin; i < end; ++i)
    if (v[i] != 0.0) add_squares(row(rows, i), v[i], out);
}

// out += the sum of v_i (z_i . p) z_i with z_i = (x_i, constant), or x_i if constant is 0.
template <class Rows>
void add_gram_product(const Rows& rows, int64_t begin, int64_t end, const double* v,
                      double constant, const double* p, double* out) {
  const double offset = constant == 0.0 ? 0.0 : constant * p[rows.n_cols];
  double total = 0.0;
  for (int64_t i = begin; i < end; ++i) {
    if (v[i] == 0.0) continue;
    const auto x = row(rows, i);
    const double scale = v[i] * (dot(x, p) + offset);
    add(x, scale, out);
    total += scale;
  }
  if (constant != 0.0) out[rows.n_cols] += constant * total;
}

template <class Rows>
void sq_norms(const Rows& rows, int64_t begin, int64_t end, double* out) {
  for (int64_t i = begin; i < end; ++i) out[i] = sq_norm(row(rows, i));
}

// 0 * x is 0 exactly if x is finite, and a sum of such terms is 0 exactly if all are. A value that is
// too large is not finite any more when it is scaled.
template <class T>
int64_t first_beyond(const T* values, int64_t n, double scale) {
  constexpr int64_t kStretch = 4096;
  for (int64_t begin = 0; begin < n; begin += kStretch) {
    const T* stretch = values + begin;
    const int64_t length = n - begin < kStretch ? n - begin : kStretch;
    const double zero = sum_terms(
        length, [=](int64_t j) { return load(stretch + j) * scale * Doubles{}; },
        [=](int64_t j) { return static_cast<double>(stretch[j]) * scale * 0.0; });
    if (zero == 0.0) continue;
    for (int64_t j = 0; j < length; ++j)
      if (!(static_cast<double>(stretch[j]) * scale * 0.0 == 0.0)) return begin + j;
  }
  return -1;
}

template <class T, class I>
void add_outer(const SparseRows<T, I>& rows, const int64_t* selected, int64_t n_selected,
               const double* v, double constant, double* out, int64_t ld) {
  for (int64_t s = 0; s < n_selected; ++s) {
    const SparseRow<T, I> x = row(rows, selected[s]);
    const double weight = v[selected[s]];
    for (int64_t p = 0; p < x.size; ++p) {
      const int64_t j = x.indices[p];
      const double scaled = weight * static_cast<double>(x.values[p]);
      for (int64_t q = 0; q <= p; ++q) {
        const int64_t k = x.indices[q];
        double& entry = j > k ? out[j * ld + k] : out[k * ld + j];
        entry += scaled * static_cast<double>(x.values[q]);
      }
    }
    if (constant == 0.0) continue;
    double* last = out + rows.n_cols * ld;
    add(x, weight * constant, last);
    last[rows.n_cols] += weight * constant * constant;
  }
}
