// Statistics of ranks: one walk over the rows in sorted order, with as many resamples side by side
// as a vector has lanes. Each lane adds in the order of the rows, so that a resample's result does
// not depend on its neighbours.

typedef int32_t LaneInts __attribute__((vector_size(kLanes * sizeof(int32_t))));

// The same row of kLanes resamples.
struct Lanes {
  const uint8_t* counts[kLanes];

  // Resamples from `first` on; the last one stands in for those that are not there.
  Lanes(const CountTable& table, int64_t first) {
    for (int64_t a = 0; a < kLanes; ++a) {
      const int64_t r = first + a < table.n_resamples ? first + a : table.n_resamples - 1;
      counts[a] = table.counts + r * table.n_rows;
    }
  }

  Doubles at(int64_t row) const {
    LaneInts lanes;
    HEDGEROW_UNROLL for (int64_t a = 0; a < kLanes; ++a) lanes[a] = counts[a][row];
    return __builtin_convertvector(lanes, Doubles);
  }
};

inline void store_first(Doubles lanes, int64_t n, double* out) {
  for (int64_t a = 0; a < kLanes && a < n; ++a) out[a] = lanes[a];
}

// A row drawn w times after c others has the ranks c + 1 ... c + w, the sum of which is
// w (2 c + w + 1) / 2.
void gini_coefficients(const CountTable& table, const int64_t* order, const double* values,
                       double* out) {
  for (int64_t r = 0; r < table.n_resamples; r += kLanes) {
    const Lanes lanes(table, r);
    Doubles n = {}, ranked = {}, total = {};
    for (int64_t i = 0; i < table.n_rows; ++i) {
      const Doubles count = lanes.at(order[i]), after = n + count;
      const Doubles value = count * broadcast(values[i]);
      ranked += value * (n + after);
      total += value;
      n = after;
    }
    store_first(ranked / (n * total) - 1.0, table.n_resamples - r, out + r);
  }
}

// Of rows with one score the negatives come first; those of them that a positive one meets count
// half.
void auc(const CountTable& table, const ScoreOrder& order, double* out) {
  for (int64_t r = 0; r < table.n_resamples; r += kLanes) {
    const Lanes lanes(table, r);
    Doubles negatives = {}, tied = {}, positives = {}, ordered = {};
    for (int64_t i = 0; i < table.n_rows; ++i) {
      const Doubles count = lanes.at(order.rows[i]);
      const Doubles negative = count * broadcast(order.is_negative[i]);
      const Doubles positive = count - negative;
      negatives += negative;
      tied = tied * broadcast(order.is_tied[i]) + negative;
      positives += positive;
      ordered += positive * (negatives - 0.5 * tied);
    }
    store_first(ordered / (positives * negatives), table.n_resamples - r, out + r);
  }
}
