// Hyperplanes for several classes at once. The weights of one feature lie side by side, one a class
// and then zeros up to a multiple of kClassGroup, so that one read of a row serves all hyperplanes.

// Calls use(j, value) for the entries of a row.
template <class T, class Use>
inline void for_entries(DenseRow<T> x, Use use) {
  for (int64_t j = 0; j < x.size; ++j) use(j, static_cast<double>(x.values[j]));
}

template <class T, class I, class Use>
inline void for_entries(SparseRow<T, I> x, Use use) {
  for (int64_t p = 0; p < x.size; ++p)
    use(static_cast<int64_t>(x.indices[p]), static_cast<double>(x.values[p]));
}

constexpr int64_t kVectorsAtOnce = 4;

// out = the products of x with n * kLanes hyperplanes that begin at w.
template <int n, class Row>
inline void some_products(Row x, const double* w, int64_t stride, double* out) {
  Doubles sums[n] = {};
  for_entries(x, [&](int64_t j, double value) {
    const Doubles values = broadcast(value);
    HEDGEROW_UNROLL for (int a = 0; a < n; ++a) sums[a] +=
        values * load(w + j * stride + a * kLanes);
  });
  for (int a = 0; a < n; ++a) store(out + a * kLanes, sums[a]);
}

// As many hyperplanes at once as are left, up to n * kLanes.
template <int n, class Row>
inline void products(Row x, const double* w, int64_t stride, double* out, int64_t k) {
  if constexpr (n > 0) {
    if (k + n * kLanes <= stride)
      some_products<n>(x, w + k, stride, out + k);
    else
      products<n - 1>(x, w, stride, out, k);
  }
}

template <class Row>
inline void products(Row x, const double* w, int64_t stride, double* out) {
  for (int64_t k = 0; k < stride; k += kVectorsAtOnce * kLanes)
    products<kVectorsAtOnce>(x, w, stride, out, k);
}

// w += the outer product of x and the moves.
template <class Row>
inline void add_outer_product(Row x, const double* moves, double* w, int64_t stride) {
  for_entries(x, [&](int64_t j, double value) {
    const Doubles values = broadcast(value);
    double* at = w + j * stride;
    for (int64_t k = 0; k < stride; k += kLanes)
      store(at + k, load(at + k) + values * load(moves + k));
  });
}

// What the slopes of one row say: of the classes whose alpha can rise all must have the same slope,
// and those at their bound no larger one.
struct ClassSlopes {
  double highest_bound;
  double highest_free;
  double lowest_free;
  int64_t n_free;

  double violation() const { return most(highest_bound, highest_free) - lowest_free; }

  // By how much the row is held where it is: no class but one can move, and that one only up.
  double hold() const { return n_free == 1 ? lowest_free - highest_bound : -kInfinity; }
};

inline ClassSlopes class_slopes(const ClassDual& dual, int64_t i, const double* slopes) {
  const double* alpha = dual.alpha + i * dual.n_classes;
  ClassSlopes found{-kInfinity, -kInfinity, kInfinity, 0};
  for (int64_t k = 0; k < dual.n_classes; ++k) {
    const bool is_free = alpha[k] < (k == dual.label[i] ? dual.weight[i] : 0.0);
    if (is_free) {
      found.highest_free = most(found.highest_free, slopes[k]);
      found.lowest_free = least(found.lowest_free, slopes[k]);
      ++found.n_free;
    } else {
      found.highest_bound = most(found.highest_bound, slopes[k]);
    }
  }
  return found;
}

// Scores become slopes.
inline void add_costs(const ClassDual& dual, int64_t i, double* scores) {
  for (int64_t k = 0; k < dual.n_classes; ++k)
    scores[k] += dual.intercept[k] + (k == dual.label[i] ? 0.0 : 1.0);
}

inline bool class_row_rests(const ClassSlopes& slopes, int64_t i, ClassSweep& sweep) {
  if (slopes.hold() > sweep.rest_above) {
    sweep.active[i] = 0;
    ++sweep.n_resting;
    return true;
  }
  sweep.violation = most(sweep.violation, slopes.violation());
  return false;
}

// The beta with sum of max(0, tops_k - beta) = total: Newton's method from the left, where the sum
// is convex and too large, leaves fewer of them above the level with each step.
inline double water_level(const double* tops, int64_t n, double total) {
  double highest = -kInfinity;
  for (int64_t k = 0; k < n; ++k) highest = most(highest, tops[k]);
  double level = highest - total;
  for (int64_t n_before = n + 1;;) {
    double sum = 0.0;
    int64_t n_above = 0;
    for (int64_t k = 0; k < n; ++k) {
      sum += tops[k] > level ? tops[k] - highest : 0.0;
      n_above += tops[k] > level;
    }
    if (n_above == 0 || n_above >= n_before) return level;
    level = highest + (sum - total) / static_cast<double>(n_above);
    n_before = n_above;
  }
}

// The row's best alpha. A row without a diagonal has scores that no alpha changes, and gives all to the
// class that costs most.
inline void best_alpha(const ClassDual& dual, int64_t i, const double* slopes, double* best) {
  const double* alpha = dual.alpha + i * dual.n_classes;
  const int64_t n = dual.n_classes, label = dual.label[i];
  const double diagonal = dual.diagonal[i], c = dual.weight[i];
  if (diagonal <= 0.0) {
    int64_t worst = label;
    for (int64_t k = 0; k < n; ++k) worst = slopes[k] > slopes[worst] ? k : worst;
    for (int64_t k = 0; k < n; ++k) best[k] = k == worst ? -c : 0.0;
    best[label] += c;
    return;
  }
  for (int64_t k = 0; k < n; ++k) best[k] = slopes[k] - diagonal * alpha[k];
  best[label] += diagonal * c;
  const double level = water_level(best, n, diagonal * c);
  const bool at_bound = best[label] <= level;
  double given = 0.0;  // what the other classes take, exactly 0 if they take nothing
  for (int64_t k = 0; k < n; ++k) {
    best[k] = k == label ? 0.0 : -(most(best[k] - level, 0.0) / diagonal);
    given -= best[k];
  }
  best[label] = at_bound ? c : least(given, c);
}

// Gives a row its best alpha, and says by how much each has moved.
inline void move_to_best(ClassDual& dual, int64_t i, const double* slopes, double* moves) {
  best_alpha(dual, i, slopes, moves);
  double* alpha = dual.alpha + i * dual.n_classes;
  for (int64_t k = 0; k < dual.n_classes; ++k) {
    const double best = moves[k];
    moves[k] -= alpha[k];
    alpha[k] = best;
    dual.excess[k] += moves[k];
    dual.intercept[k] += dual.rho * moves[k];
  }
}

template <class Rows>
void class_sweep(const Rows& rows, ClassSweep& shared) {
  ClassSweep sweep = shared;
  double* slopes = sweep.scratch;
  double* moves = sweep.scratch + sweep.stride;
  for (int64_t k = 0; k < sweep.stride; ++k) moves[k] = 0.0;
  for (int64_t t = 0; t < sweep.n_order; ++t) {
    if (t + kVisitsAhead < sweep.n_order) {
      const int64_t ahead = sweep.order[t + kVisitsAhead];
      prefetch(row(rows, ahead));
      prefetch(sweep.dual.alpha + ahead * sweep.dual.n_classes,
               sweep.dual.n_classes * static_cast<int64_t>(sizeof(double)));
    }
    const int64_t i = sweep.order[t];
    const auto x = row(rows, i);
    products(x, sweep.w, sweep.stride, slopes);
    add_costs(sweep.dual, i, slopes);
    const ClassSlopes found = class_slopes(sweep.dual, i, slopes);
    if (class_row_rests(found, i, sweep) || found.violation() <= 0.0) continue;
    move_to_best(sweep.dual, i, slopes, moves);
    add_outer_product(x, moves, sweep.w, sweep.stride);
  }
  shared = sweep;
}

// out[(i - begin) * n_classes + k] = the score of class k for begin <= i < end
template <class Rows>
void class_scores(const Rows& rows, int64_t begin, int64_t end, const ClassHyperplanes& hyperplanes,
                  double* scratch, double* out) {
  for (int64_t i = begin; i < end; ++i) {
    products(row(rows, i), hyperplanes.w, hyperplanes.stride, scratch);
    for (int64_t k = 0; k < hyperplanes.n_classes; ++k)
      *out++ = scratch[k] + hyperplanes.intercept[k];
  }
}

void class_look(const double* scores, ClassSweep& sweep) {
  const int64_t n_classes = sweep.dual.n_classes;
  double* slopes = sweep.scratch;
  for (int64_t t = 0; t < sweep.n_order; ++t) {
    const int64_t i = sweep.order[t];
    for (int64_t k = 0; k < n_classes; ++k)
      slopes[k] = scores[i * n_classes + k] + (k == sweep.dual.label[i] ? 0.0 : 1.0);
    class_row_rests(class_slopes(sweep.dual, i, slopes), i, sweep);
  }
}
