// The solvers' inner loops: rows visited in a given order, each seeing what the last one changed.

// Rows come in random order: asking for one a few visits ahead hides most of the wait for memory.
constexpr int64_t kVisitsAhead = 4;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kPrefetchBytes = 32 * kLineBytes;

inline void prefetch(const void* begin, int64_t bytes) {
  const char* line = static_cast<const char*>(begin);
  const int64_t asked = bytes < kPrefetchBytes ? bytes : kPrefetchBytes;
  for (int64_t offset = 0; offset < asked; offset += kLineBytes) __builtin_prefetch(line + offset);
}

template <class T>
inline void prefetch(DenseRow<T> x) {
  prefetch(x.values, x.size * static_cast<int64_t>(sizeof(T)));
}

template <class T, class I>
inline void prefetch(SparseRow<T, I> x) {
  prefetch(x.values, x.size * static_cast<int64_t>(sizeof(T)));
  prefetch(x.indices, x.size * static_cast<int64_t>(sizeof(I)));
}

// The alpha that minimises over one row. A row whose diagonal is 0 goes to the bound its gradient
// points at (its step is infinite), or stays where that bound is infinite.
inline double step(const DualPoint& point, double gradient) {
  double alpha = point.alpha - gradient * point.inverse_diagonal;
  if (!(alpha > 0.0)) alpha = 0.0;
  if (alpha > point.upper) alpha = point.upper;
  return alpha <= __DBL_MAX__ ? alpha : point.alpha;
}

// The part of the gradient that feasible moves see. At a bound the gradient also tells whether
// the row may leave the active set.
struct Projection {
  double gradient;
  bool shrink;
};

inline Projection project(const DualPoint& point, double gradient, const DualSweep& sweep) {
  if (point.alpha <= 0.0)
    return {gradient < 0.0 ? gradient : 0.0, gradient > sweep.shrink_above};
  if (point.alpha >= point.upper)
    return {gradient > 0.0 ? gradient : 0.0, gradient < sweep.shrink_below};
  return {gradient, false};
}

template <class Rows>
void dual_sweep(const Rows& rows, DualSweep& sweep) {
  double pg_max = sweep.pg_max, pg_min = sweep.pg_min, label_alpha = sweep.label_alpha;
  for (int64_t t = 0; t < sweep.n_order; ++t) {
    if (t + kVisitsAhead < sweep.n_order) {
      const int64_t ahead = sweep.order[t + kVisitsAhead];
      prefetch(row(rows, ahead));
      prefetch(sweep.points + ahead, sizeof(DualPoint));
    }
    const int64_t i = sweep.order[t];
    const auto x = row(rows, i);
    DualPoint& point = sweep.points[i];
    const double score = dot(x, sweep.w) + (sweep.shift + sweep.rho * label_alpha);
    const double gradient = point.label * score - 1.0 + point.curvature * point.alpha;
    const Projection projection = project(point, gradient, sweep);
    if (projection.shrink) {
      sweep.active[i] = 0;
      ++sweep.n_shrunk;
      continue;
    }
    if (projection.gradient == 0.0) continue;
    if (projection.gradient > pg_max) pg_max = projection.gradient;
    if (projection.gradient < pg_min) pg_min = projection.gradient;
    const double alpha = step(point, gradient);
    const double move = (alpha - point.alpha) * point.label;
    point.alpha = alpha;
    if (move == 0.0) continue;
    label_alpha += move;
    add(x, move, sweep.w);
  }
  sweep.label_alpha = label_alpha;
  sweep.pg_max = pg_max;
  sweep.pg_min = pg_min;
}

template <class Rows>
int64_t perceptron_pass(const Rows& rows, PerceptronPass& pass) {
  int64_t n_mistakes = 0;
  double intercept = pass.intercept;
  for (int64_t t = 0; t < pass.n_order; ++t) {
    if (t + kVisitsAhead < pass.n_order) prefetch(row(rows, pass.order[t + kVisitsAhead]));
    const int64_t i = pass.order[t];
    if (pass.weight[i] == 0.0) continue;
    const auto x = row(rows, i);
    if (pass.y[i] * (dot(x, pass.coef) + intercept) > 0.0) continue;
    const double move = pass.step * pass.weight[i] * pass.y[i];
    add(x, move, pass.coef);
    if (pass.fit_intercept) intercept += move;
    pass.mistakes[n_mistakes++] = t;
  }
  pass.intercept = intercept;
  return n_mistakes;
}
