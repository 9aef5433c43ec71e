// From sums over the features to kernel values, in place on a tile.

// e^x to within two units in the last place where the result is a normal number; below that what comes
// out is tiny all the same.
inline Floats exp(Floats x) {
  constexpr float kRounder = 0x1.8p23f, kLow = -87.0f, kHigh = 88.0f;
  x = x < kLow ? kLow - Floats{} : x;
  x = x > kHigh ? kHigh - Floats{} : x;
  const Floats rounded = x * 0x1.715476p+0f + kRounder;
  const Floats k = rounded - kRounder;
  const Floats rest = (x - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
  const Floats square = rest * rest;
  const Floats tail = (1.0f / 2 + rest * (1.0f / 6)) + square * (1.0f / 24 + rest * (1.0f / 120)) +
                      square * square * (1.0f / 720 + rest * (1.0f / 5040));
  const Floats scaled = 1.0f + (rest + square * tail);
  const HalfWords exponent = reinterpret_cast<HalfWords>(rounded) << 23;
  return reinterpret_cast<Floats>(reinterpret_cast<HalfWords>(scaled) + exponent);
}

// e^x for x <= 0, to within 2^-51 of it; what would be less than 1e-304 comes out as about that.
inline Doubles exp_of_negative(Doubles x) {
  constexpr double kRounder = 0x1.8p52, kLow = -700.0;
  x = x < kLow ? broadcast(kLow) : x;
  const Doubles rounded = x * 0x1.71547652b82fep+0 + kRounder;
  const Doubles k = rounded - kRounder;
  const Doubles rest = (x - k * kLog2Head) - k * kLog2Tail;
  const Doubles scaled = 1.0 + (rest + rest * rest * polynomial<12>(rest, kExpSeries));
  return from_bits(bits_of(scaled) + (bits_of(rounded) << 52));
}

inline Floats exp_of_negative(Floats x) { return exp(x); }

template <class V>
inline V whole_power(V x, int degree) {
  V result = x - x + 1;
  for (; degree > 0; degree >>= 1, x *= x)
    if (degree & 1) result *= x;
  return result;
}

// form(sum, of_row, of_column) for every entry; `of` are values that go with rows and columns.
template <class T, class Form>
inline void for_entries(const KernelTile<T>& tile, Form form) {
  for (int64_t r = 0; r < tile.n_rows; ++r) {
    T* entries = tile.values + r * tile.ld;
    for (int64_t c = 0; c < tile.n_cols; c += LanesOf<T>::n)
      store_lanes(entries + c,
                  form(load_lanes(entries + c), tile.of_rows[r], load_lanes(tile.of_cols + c)));
  }
}

template <class T>
void finish_tile(const KernelShape& shape, const KernelTile<T>& tile) {
  using V = typename LanesOf<T>::Vector;
  const T gamma = static_cast<T>(shape.gamma), coef0 = static_cast<T>(shape.coef0);
  const int degree = shape.degree;
  switch (shape.kind) {
    case KernelKind::polynomial:
      return for_entries(tile,
                         [=](V s, T, V) -> V { return whole_power<V>(gamma * s + coef0, degree); });
    case KernelKind::rbf:
      return for_entries(tile, [=](V s, T x, V z) -> V {
        const V exponent = gamma * ((s + s) - (x + z));
        return exp_of_negative(exponent < T{0} ? exponent : V{});
      });
    case KernelKind::rbf_of_differences:
      return for_entries(tile, [=](V s, T, V) -> V { return exp_of_negative(-gamma * s); });
    case KernelKind::sigmoid:
      return for_entries(tile, [=](V s, T, V) -> V {
        return T{1} - T{2} / (exp(T{2} * (gamma * s + coef0)) + T{1});
      });
    case KernelKind::cosine:
      return for_entries(tile, [](V s, T x, V z) -> V { return s * (x * z); });
    case KernelKind::laplacian:
    case KernelKind::chi_squared:
      return for_entries(tile, [=](V s, T, V) -> V { return exp(-gamma * s); });
    case KernelKind::additive_chi_squared:
      return for_entries(tile, [](V s, T, V) -> V { return -s; });
    default:
      return;
  }
}

// The RBF values of exact sums, rounded only then: where norms are large beside distances, float32 sums
// would lose what matters.
void finish_rbf_rounded(double gamma, const KernelTile<double>& tile, float* out, int64_t ld) {
  constexpr int n = LanesOf<float>::n;
  for (int64_t r = 0; r < tile.n_rows; ++r) {
    const double* sums = tile.values + r * tile.ld;
    const double of_row = tile.of_rows[r];
    for (int64_t c = 0; c < tile.n_cols; c += n) {
      float exponents[n];
      HEDGEROW_UNROLL for (int half = 0; half < 2; ++half) {
        const int64_t k = c + half * kLanes;
        const Doubles s = load(sums + k);
        const Doubles exponent = gamma * ((s + s) - (of_row + load(tile.of_cols + k)));
        HEDGEROW_UNROLL for (int lane = 0; lane < kLanes; ++lane) exponents[half * kLanes + lane] =
            static_cast<float>(exponent[lane]);
      }
      const Floats exponent = load_lanes(exponents);
      store_lanes(out + r * ld + c, exp(exponent < 0.0f ? exponent : Floats{}));
    }
  }
}

// g[c] += sum over r of delta[r] rows[r][c]
template <class T>
void add_kernel_rows(const T* const* rows, const double* delta, int64_t n_rows, int64_t n_cols,
                     double* g) {
  constexpr int kTogether = 4;
  int64_t r = 0;
  for (; r + kTogether <= n_rows; r += kTogether) {
    int64_t c = 0;
    for (; c + kLanes <= n_cols; c += kLanes) {
      Doubles sum = load(g + c);
      HEDGEROW_UNROLL for (int s = 0; s < kTogether; ++s) sum +=
          delta[r + s] * load(rows[r + s] + c);
      store(g + c, sum);
    }
    for (; c < n_cols; ++c)
      for (int s = 0; s < kTogether; ++s)
        g[c] += delta[r + s] * static_cast<double>(rows[r + s][c]);
  }
  for (; r < n_rows; ++r)
    for (int64_t c = 0; c < n_cols; ++c) g[c] += delta[r] * static_cast<double>(rows[r][c]);
}

// --- Weighted sums of a tile ------------------------------------------------------------------------

// Sums that are taken side by side: of so many rows and lines.
constexpr int kWeighedRows = 4, kWeighedLines = HEDGEROW_VECTOR_BYTES == 64 ? 4 : 2;

// Each sum has a vector of its own, so that its order is the same in every block.
template <int n_rows, int n_lines, class T>
inline void weigh_block(const WeighedTile<T>& tile, int64_t r, int64_t l) {
  const T* values = tile.values + r * tile.ld;
  const double* coef = tile.coef + l * tile.n_cols;
  Doubles sums[n_rows][n_lines] = {};
  for (int64_t c = 0; c < tile.n_cols; c += kLanes) {
    Doubles weights[n_lines];
    HEDGEROW_UNROLL for (int j = 0; j < n_lines; ++j) weights[j] = load(coef + j * tile.n_cols + c);
    HEDGEROW_UNROLL for (int i = 0; i < n_rows; ++i) {
      const Doubles value = load(values + i * tile.ld + c);
      HEDGEROW_UNROLL for (int j = 0; j < n_lines; ++j) sums[i][j] += weights[j] * value;
    }
  }
  HEDGEROW_UNROLL for (int i = 0; i < n_rows; ++i) HEDGEROW_UNROLL for (int j = 0; j < n_lines; ++j)
      tile.sums[(r + i) * tile.n_hyperplanes + tile.hyperplanes[l + j]] += lane_sum(sums[i][j]);
}

template <int n_rows, class T>
inline void weigh_rows(const WeighedTile<T>& tile, int64_t r) {
  int64_t l = 0;
  for (; l + kWeighedLines <= tile.n_lines; l += kWeighedLines)
    weigh_block<n_rows, kWeighedLines>(tile, r, l);
  for (; l < tile.n_lines; ++l) weigh_block<n_rows, 1>(tile, r, l);
}

template <class T>
void weigh_tile(const WeighedTile<T>& tile) {
  int64_t r = 0;
  for (; r + kWeighedRows <= tile.n_rows; r += kWeighedRows) weigh_rows<kWeighedRows>(tile, r);
  for (; r < tile.n_rows; ++r) weigh_rows<1>(tile, r);
}
