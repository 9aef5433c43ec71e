// Bootstrap counts: how often each row is drawn, one byte each.

typedef int8_t SignedBytes __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));

constexpr int64_t kVectorBytes = HEDGEROW_VECTOR_BYTES;

inline SignedBytes load_bytes(const void* from) {
  SignedBytes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline SignedBytes broadcast_byte(int8_t value) { return SignedBytes{} + value; }

// Writes the positions of the bits that are set; bit 8 j + k of word w stands for unit
// 64 k + 8 w + j. Most words have at most four, whose places are written without asking.
inline int64_t list_bits(const uint64_t* words, uint16_t* positions) {
  uint16_t* end = positions;
  for (int w = 0; w < 8; ++w) {
    uint64_t bits = words[w];
    uint16_t* next = end;
    end += __builtin_popcountll(bits);
    do {
      HEDGEROW_UNROLL for (int a = 0; a < 4; ++a) {
        // The bit on top keeps the count of zeros defined when none is left.
        const int bit = __builtin_ctzll(bits | uint64_t{1} << 63);
        *next++ = static_cast<uint16_t>(64 * (bit & 7) + 8 * w + (bit >> 3));
        bits &= bits - 1;
      }
    } while (bits != 0);
  }
  return end - positions;
}

// Units are looked at in eight stretches of 64 bytes, and bit k of byte j tells whether byte j of
// stretch k is open: so far this needs no exchange between lanes, and it is the same for vectors of
// any width.
int64_t poisson_counts(const uint64_t* words, const int8_t* cuts, uint8_t* counts, uint16_t* open) {
  constexpr int n_vectors = 64 / kVectorBytes;
  SignedBytes open_bits[n_vectors] = {};
  SignedBytes cut[kPoissonCuts];
  for (int c = 0; c < kPoissonCuts; ++c) cut[c] = broadcast_byte(cuts[c]);
  for (int k = 0; k < 8; ++k) HEDGEROW_UNROLL for (int v = 0; v < n_vectors; ++v) {
      const int64_t start = 64 * k + kVectorBytes * v;
      const SignedBytes byte = load_bytes(words + start / 8);
      SignedBytes count = {}, is_above;
      HEDGEROW_UNROLL for (int c = 0; c < kPoissonCuts; ++c) {
        is_above = byte > cut[c];
        count -= is_above;
      }
      __builtin_memcpy(counts + start, &count, sizeof count);
      open_bits[v] |= is_above & broadcast_byte(static_cast<int8_t>(1 << k));
    }
  uint64_t bits[8];
  __builtin_memcpy(bits, open_bits, sizeof bits);
  return list_bits(bits, open);
}

typedef uint16_t Shorts __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));

// The sum of n bytes: term(i) gives those from i on, a vector or a single one. Both bytes of a lane
// of 16 bits add at most 510 to it, so that 128 vectors fit.
template <class Vector, class Scalar>
inline int64_t sum_bytes(int64_t n, Vector vector_term, Scalar scalar_term) {
  int64_t total = 0, i = 0;
  while (i + kVectorBytes <= n) {
    Shorts sums = {};
    for (int v = 0; v < 128 && i + kVectorBytes <= n; ++v, i += kVectorBytes) {
      const Shorts pairs = reinterpret_cast<Shorts>(vector_term(i));
      sums += (pairs & 255) + (pairs >> 8);
    }
    for (int64_t lane = 0; lane < kVectorBytes / 2; ++lane) total += sums[lane];
  }
  for (; i < n; ++i) total += scalar_term(i);
  return total;
}

int64_t sum_counts(const uint8_t* counts, int64_t n) {
  return sum_bytes(
      n, [=](int64_t i) { return load_bytes(counts + i); }, [=](int64_t i) { return counts[i]; });
}

int64_t sum_selected(const uint8_t* counts, const uint8_t* selected, int64_t n) {
  return sum_bytes(
      n, [=](int64_t i) { return load_bytes(counts + i) & load_bytes(selected + i); },
      [=](int64_t i) { return counts[i] & selected[i]; });
}

constexpr int64_t kStretch = 512;

// Byte j of every word as a number: 2^52 plus a small integer has the integer as its last bits.
inline Doubles numbers(Words words, int j) {
  const Words bits = ((words >> (8 * j)) & 255) | 0x4330000000000000u;
  return reinterpret_cast<Doubles>(bits) - 0x1p52;
}

// Rows in the order in which `numbers` takes them: first byte 0 of all words of a vector, then byte
// 1 ...; zeros up to kStretch.
inline void pack_column(const double* column, int64_t n, double* out) {
  for (int64_t first = 0; first < kStretch; first += kVectorBytes)
    for (int64_t j = 0; j < 8; ++j)
      for (int64_t word = 0; word < kLanes; ++word) {
        const int64_t row = first + 8 * word + j;
        *out++ = row < n ? column[row] : 0.0;
      }
}

// out[c] += sum of counts[i] * columns[c][i] over a stretch, with enough sums side by side that no
// addition waits for the one before.
template <int n_columns>
inline void add_products(const uint8_t* counts, const double (*columns)[kStretch], double* out) {
  constexpr int n_sums = n_columns <= 2 ? 4 : 2;
  Doubles sums[n_columns][n_sums] = {};
  for (int64_t i = 0; i < kStretch; i += kVectorBytes) {
    const Words words = reinterpret_cast<Words>(load_bytes(counts + i));
    HEDGEROW_UNROLL for (int j = 0; j < 8; ++j) {
      const Doubles count = numbers(words, j);
      HEDGEROW_UNROLL for (int c = 0; c < n_columns; ++c) sums[c][j % n_sums] +=
          count * load(columns[c] + i + j * kLanes);
    }
  }
  HEDGEROW_UNROLL for (int c = 0; c < n_columns; ++c) {
    HEDGEROW_UNROLL for (int a = 1; a < n_sums; ++a) sums[c][0] += sums[c][a];
    out[c] += lane_sum(sums[c][0]);
  }
}

// Up to four columns of a stretch for all resamples: they stay in the first-level cache.
template <int n_columns>
inline void add_stretch(const CountTable& table, int64_t begin, const double* columns, double* out,
                        int64_t out_stride) {
  const int64_t left = table.n_rows - begin, n = left < kStretch ? left : kStretch;
  double packed[n_columns][kStretch];
  for (int c = 0; c < n_columns; ++c) pack_column(columns + c * table.n_rows + begin, n, packed[c]);
  for (int64_t r = 0; r < table.n_resamples; ++r) {
    const uint8_t* counts = table.counts + r * table.n_rows + begin;
    uint8_t filled[kStretch];
    if (n < kStretch) {
      __builtin_memset(filled, 0, kStretch);
      __builtin_memcpy(filled, counts, static_cast<uint64_t>(n));
      counts = filled;
    }
    add_products<n_columns>(counts, packed, out + r * out_stride);
  }
}

void count_sums(const CountTable& table, const double* columns, int64_t n_columns, double* out) {
  for (int64_t k = 0; k < table.n_resamples * n_columns; ++k) out[k] = 0.0;
  for (int64_t c = 0; c < n_columns; c += 4)
    for (int64_t begin = 0; begin < table.n_rows; begin += kStretch) {
      const double* some = columns + c * table.n_rows;
      switch (n_columns - c) {
        case 1:
          add_stretch<1>(table, begin, some, out + c, n_columns);
          break;
        case 2:
          add_stretch<2>(table, begin, some, out + c, n_columns);
          break;
        case 3:
          add_stretch<3>(table, begin, some, out + c, n_columns);
          break;
        default:
          add_stretch<4>(table, begin, some, out + c, n_columns);
      }
    }
}
