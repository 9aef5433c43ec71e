// The solvers' inner loops: rows visited in a given order, each seeing what the last one changed.

// Rows come in random order: asking for one a few visits ahead hides most of the wait for memory.
constexpr int64_t kVisitsAhead = 4;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kPrefetchBytes = 32 * kLineBytes;

// A function that does nothing but ask for memory has no effect in the compiler's eyes: unless it is
// inlined at once, calls of it are dropped.
#define HEDGEROW_ASK __attribute__((always_inline)) inline

// The number of lines asked for depends on the size alone, which is easier to predict than where the
// first begins; the last byte may be on one more.
HEDGEROW_ASK void prefetch(const void* begin, int64_t bytes) {
  const char* line = static_cast<const char*>(begin);
  const int64_t asked = bytes < kPrefetchBytes ? bytes : kPrefetchBytes;
  for (int64_t offset = 0; offset < asked; offset += kLineBytes) __builtin_prefetch(line + offset);
  __builtin_prefetch(line + (asked > 0 ? asked - 1 : 0));
}

template <class T>
HEDGEROW_ASK void prefetch(DenseRow<T> x) {
  prefetch(x.values, x.size * static_cast<int64_t>(sizeof(T)));
}

template <class T, class I>
HEDGEROW_ASK void prefetch(SparseRow<T, I> x) {
  prefetch(x.values, x.size * static_cast<int64_t>(sizeof(T)));
  prefetch(x.indices, x.size * static_cast<int64_t>(sizeof(I)));
}

// Whether the row is to rest; if not, its slopes count.
inline bool rests(const Visit& visit, int64_t i, DualSweep& sweep) {
  if (visit.left < sweep.shrink_below && visit.right > sweep.shrink_above) {
    sweep.active[i] = 0;
    ++sweep.n_shrunk;
    return true;
  }
  if (visit.left > sweep.slope_max) sweep.slope_max = visit.left;
  if (visit.right < sweep.slope_min) sweep.slope_min = visit.right;
  return false;
}

template <class Rule, class Rows>
inline void dual_sweep(const Rule& rule, const Rows& rows, DualSweep& shared) {
  DualSweep sweep = shared;
  for (int64_t t = 0; t < sweep.n_order; ++t) {
    if (t + kVisitsAhead < sweep.n_order) {
      const int64_t ahead = sweep.order[t + kVisitsAhead];
      prefetch(row(rows, ahead));
      __builtin_prefetch(sweep.points + ahead);
    }
    const int64_t i = sweep.order[t];
    const auto x = row(rows, i);
    DualPoint& point = sweep.points[i];
    const double score = dot(x, sweep.w) + (sweep.shift + sweep.rho * sweep.excess);
    const Visit visit = rule.visit(point, score);
    if (rests(visit, i, sweep)) continue;
    const double move = visit.beta - point.beta;
    if (move == 0.0) continue;
    point.beta = visit.beta;
    sweep.excess += move;
    add(x, move, sweep.w);
  }
  shared = sweep;
}

template <class Rule>
inline void dual_look(const Rule& rule, const double* scores, DualSweep& sweep) {
  for (int64_t t = 0; t < sweep.n_order; ++t) {
    const int64_t i = sweep.order[t];
    rests(rule.visit(sweep.points[i], scores[i]), i, sweep);
  }
}

template <class Rows>
void box_sweep(const Rows& rows, DualSweep& sweep) {
  dual_sweep(Box{sweep.box}, rows, sweep);
}

template <class Rows>
void logistic_sweep(const Rows& rows, DualSweep& sweep) {
  dual_sweep(Logistic{}, rows, sweep);
}

void box_look(const double* scores, DualSweep& sweep) { dual_look(Box{sweep.box}, scores, sweep); }

void logistic_look(const double* scores, DualSweep& sweep) { dual_look(Logistic{}, scores, sweep); }

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
