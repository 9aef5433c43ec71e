// Losses of the residual; loss/loss_pass.hpp has their formulas. Rows without weight come to 0 in every
// sum, and so do the lanes beyond the last row.

// What a loss makes of some rows; cost is its conjugate at alpha.
struct LossTerms {
  Doubles alpha, curvature, smooth, value, cost;
};

inline Doubles positive_part(Doubles v) { return v > 0.0 ? v : Doubles{}; }

template <bool two_sided, bool bounded>
struct ClippedLoss {
  double epsilon;
  double steepness;

  LossTerms operator()(Doubles r, Doubles weight, Doubles shift) const {
    const Doubles slope = weight * steepness;
    const Doubles alpha = clip(shift + slope * r, slope, weight);
    const Doubles size = magnitude(alpha), move = alpha - shift;
    const Doubles curvature = (alpha != 0.0) & (size < upper(weight)) ? slope : Doubles{};
    const Doubles ratio = weight > 0.0 ? move / weight : Doubles{};
    const Doubles excess = positive_part(two_sided ? magnitude(r) - epsilon : r);
    const Doubles tube = two_sided ? epsilon * size : Doubles{};
    const Doubles smooth = alpha * r - tube - move * ratio * (0.5 / steepness);
    if constexpr (bounded) return {alpha, curvature, smooth, weight * excess, tube};
    const Doubles share = weight > 0.0 ? alpha / weight : Doubles{};
    return {alpha, curvature, smooth, weight * excess * excess, tube + 0.25 * alpha * share};
  }

 private:
  static Doubles upper(Doubles weight) {
    if constexpr (bounded) return weight;
    return weight > 0.0 ? broadcast(__builtin_inf()) : Doubles{};
  }

  Doubles clip(Doubles u, Doubles slope, Doubles weight) const {
    const Doubles size = positive_part(two_sided ? magnitude(u) - slope * epsilon : u);
    const Doubles most = upper(weight), clipped = size < most ? size : most;
    if constexpr (!two_sided) return clipped;
    return u < 0.0 ? -clipped : clipped;
  }
};

// Everything by e^-|r|, which neither overflows nor loses what is small.
struct LogisticLoss {
  LossTerms operator()(Doubles r, Doubles weight, Doubles) const {
    const Doubles size = magnitude(r), power = exp(-size);
    const Doubles likely = 1.0 / (1.0 + power), unlikely = power * likely;
    const Doubles alpha = weight * (r < 0.0 ? unlikely : likely);
    const Doubles beyond = log1p(power);
    const Doubles value = weight * (positive_part(r) + beyond);
    return {alpha, weight * likely * unlikely, value, value, -weight * (size * unlikely + beyond)};
  }
};

// Calls use(loss) with the loss of that shape.
template <class Use>
inline void with_loss(const LossShape& shape, Use use) {
  const double epsilon = shape.epsilon, steepness = shape.steepness;
  switch (shape.kind) {
    case LossKind::one_sided:
      return shape.bounded ? use(ClippedLoss<false, true>{epsilon, steepness})
                           : use(ClippedLoss<false, false>{epsilon, steepness});
    case LossKind::two_sided:
      return shape.bounded ? use(ClippedLoss<true, true>{epsilon, steepness})
                           : use(ClippedLoss<true, false>{epsilon, steepness});
    case LossKind::logistic:
      return use(LogisticLoss{});
  }
}

template <class Lanes>
inline Doubles load_shift(Lanes lanes, const double* shift, int64_t i) {
  return shift ? lanes.load(shift + i) : Doubles{};
}

void loss_at(const LossShape& shape, const LossRows& rows, int64_t begin, int64_t end,
             LossSums& sums) {
  with_loss(shape, [&](auto loss) {
    Doubles balance = {}, smooth = {}, value = {}, gain = {};
    for_lanes(begin, end, [&](auto lanes, int64_t i) {
      const Doubles weight = lanes.load(rows.weight + i);
      const LossTerms terms =
          loss(lanes.load(rows.residual + i), weight, load_shift(lanes, rows.shift, i));
      lanes.store(rows.alpha + i, terms.alpha);
      lanes.store(rows.curvature + i, terms.curvature);
      balance += terms.alpha * lanes.load(rows.y + i);
      smooth += terms.smooth;
      value += terms.value;
      gain += terms.alpha * lanes.load(rows.target + i) - terms.cost;
    });
    sums.balance += lane_sum(balance);
    sums.smooth += lane_sum(smooth);
    sums.value += lane_sum(value);
    sums.gain += lane_sum(gain);
  });
}

void loss_along(const LossShape& shape, const LossLine& line, int64_t begin, int64_t end,
                LossCurve& curve) {
  with_loss(shape, [&](auto loss) {
    Doubles value = {}, slope = {}, curvature = {};
    for_lanes(begin, end, [&](auto lanes, int64_t i) {
      const Doubles change = lanes.load(line.change + i);
      const Doubles r = lanes.load(line.residual + i) + line.step * change;
      const LossTerms terms =
          loss(r, lanes.load(line.weight + i), load_shift(lanes, line.shift, i));
      value += terms.smooth;
      slope += terms.alpha * change;
      curvature += terms.curvature * change * change;
    });
    curve.value += lane_sum(value);
    curve.slope += lane_sum(slope);
    curve.curvature += lane_sum(curvature);
  });
}

// Rows are taken in chunks that are still in the second-level cache when they are read again, and
// eight at a time: they fill whole vectors.
constexpr int64_t kChunkBytes = 64 << 10;
constexpr int64_t kChunkStep = 8;
constexpr int64_t kMostChunkRows = 512;

template <class T>
inline int64_t chunk_end(const DenseRows<T>& rows, int64_t begin, int64_t end) {
  const int64_t row_bytes = rows.n_cols * static_cast<int64_t>(sizeof(T)) + 1;
  const int64_t n_steps = at_most(kMostChunkRows, kChunkBytes / row_bytes) / kChunkStep;
  return at_most(end, begin + (n_steps > 0 ? n_steps : 1) * kChunkStep);
}

template <class T, class I>
inline int64_t chunk_end(const SparseRows<T, I>& rows, int64_t begin, int64_t end) {
  constexpr int64_t n_values = kChunkBytes / (sizeof(T) + sizeof(I));
  const int64_t limit = rows.indptr[begin] + n_values, last = at_most(end, begin + kMostChunkRows);
  int64_t stop = at_most(last, begin + kChunkStep);
  for (int64_t next; stop < last; stop = next) {
    next = at_most(last, stop + kChunkStep);
    if (rows.indptr[next] > limit) break;
  }
  return stop;
}

// Scores become residuals.
inline void subtract_margins(const LossRows& rows, int64_t begin, int64_t end) {
  for_lanes(begin, end, [&](auto lanes, int64_t i) {
    const Doubles score = lanes.load(rows.residual + i);
    lanes.store(rows.residual + i, lanes.load(rows.target + i) - lanes.load(rows.y + i) * score);
  });
}

template <class Rows>
void loss_pass(const Rows& rows, LossPass& pass) {
  const LossRows& at = pass.rows;
  for (int64_t begin = pass.begin, end; begin < pass.end; begin = end) {
    end = chunk_end(rows, begin, pass.end);
    scores(rows, begin, end, 1, pass.w, &pass.intercept, at.residual + begin);
    subtract_margins(at, begin, end);
    loss_at(pass.shape, at, begin, end, pass.sums);
    add_rows(rows, begin, end, [&](int64_t i) { return at.alpha[i] * at.y[i]; }, pass.combined);
  }
}
