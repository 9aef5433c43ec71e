// Dual coordinate descent for several hyperplanes over the same rows: one read of a row serves all
// of them, and the rules of dual_rules.inl are followed by as many hyperplanes at once as a
// register has lanes.

typedef int64_t Choices
    __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));  // -1 for yes, 0 for no

template <int... lane>
inline Choices load_choices(const int8_t* from, LaneList<lane...>) {
  return Choices{static_cast<int64_t>(from[lane])...};
}

inline bool any(Choices choices) {
  int64_t found = 0;
  HEDGEROW_UNROLL for (int lane = 0; lane < kLanes; ++lane) found |= choices[lane];
  return found != 0;
}

inline Doubles least(Doubles a, Doubles b) { return a < b ? a : b; }
inline Doubles most(Doubles a, Doubles b) { return a > b ? a : b; }

// One row, for the hyperplanes of one register.
struct LanePoint {
  Doubles beta;
  Doubles weight;
  Doubles diagonal;
};

struct LaneVisit {
  Doubles beta;
  Doubles left;
  Doubles right;
};

// The hinge and its square.
struct LaneBox {
  BoxShape shape;
  double target;

  LaneVisit visit(const LanePoint& point, Doubles score) const {
    const auto is_negative = point.weight < 0.0;
    const Doubles end = point.weight * shape.top, zero = {};
    const Doubles lower = is_negative ? end : zero, upper = is_negative ? zero : end;
    const Doubles curvature = shape.softness / magnitude(point.weight);
    const Doubles gradient =
        score - (is_negative ? broadcast(-target) : broadcast(target)) + curvature * point.beta;
    const Doubles best = point.beta - gradient / (point.diagonal + curvature);
    const Doubles beta = least(most(best, lower), upper);
    return {.beta = magnitude(beta) < kInfinity ? beta : point.beta,
            .left = point.beta <= lower ? broadcast(-kInfinity) : gradient,
            .right = point.beta >= upper ? broadcast(kInfinity) : gradient};
  }
};

// As Logistic, whose comments hold here too; lanes that have arrived wait for the others.
struct LaneLogistic {
  double target;

  static Doubles log_odds(Doubles z, Doubles c) { return log(z / (c - z)); }

  static Doubles solve(Doubles c, Doubles q, Doubles z_0, Doubles slope, Doubles z,
                       Doubles odds_log) {
    Doubles found = z;
    Choices waiting = z == z;
    for (int step = 0; step < Logistic::kMostSteps && any(waiting); ++step) {
      const Doubles odds = z / (c - z), entropy = 1.0 + odds, square = q * z;
      const Doubles both = entropy + square;
      const Doubles newton = -(odds_log + q * (z - z_0) + slope) / both;
      const Doubles last =
          z * (1.0 + newton + 0.5 * newton * newton * entropy * (1.0 - odds) / both);
      const Choices is_last = magnitude(newton) < Logistic::kSmallStep;
      found = waiting & is_last ? last : found;
      waiting &= ~is_last;
      if (!any(waiting)) break;
      const Doubles linear = (entropy + q * z_0 - slope - odds_log) / both;
      const Doubles next = z * ((square > entropy) & (linear > 0.0) ? linear : exp(newton));
      const Doubles inside = least(most(next, Logistic::kLeastShare * c), 0.5 * c);
      found = waiting ? inside : found;
      waiting &= inside != z;
      z = inside;
      odds_log = log_odds(z, c);
    }
    return found;
  }

  LaneVisit visit(const LanePoint& point, Doubles score) const {
    const Doubles one = broadcast(1.0), c = magnitude(point.weight);
    const Doubles label = point.weight < 0.0 ? -one : one;
    const Doubles alpha = point.beta * label, slope = label * score - target;
    const Choices is_small = point.diagonal * (0.5 * c - alpha) + slope >= 0.0;
    const Doubles z_0 = is_small ? alpha : c - alpha, way = is_small ? slope : -slope;
    const Doubles odds_log = log_odds(z_0, c);
    const Choices is_inside = (z_0 > 0.0) & (z_0 <= 0.5 * c);
    Doubles z = z_0, start_log = odds_log;
    if (any(~is_inside)) {
      const Doubles low = most(exp(least(-way, Doubles{})), broadcast(Logistic::kLeastShare));
      z = is_inside ? z_0 : 0.5 * c * (z_0 > 0.0 ? one : low);
      start_log = is_inside ? odds_log : log_odds(z, c);
    }
    z = solve(c, point.diagonal, z_0, way, z, start_log);
    const Doubles found = label * (is_small ? z : least(c - z, c * Logistic::kMostShare));
    const Doubles gradient =
        found == point.beta ? Doubles{} : (is_small ? label : -label) * (odds_log + way);
    return {found, gradient, gradient};
  }
};

// Follows the rule for kLanes hyperplanes of row i; returns their moves, 0 for hyperplanes the row
// rests for.
template <class Rule>
inline Doubles lane_moves(const Rule& rule, JointSweep& sweep, int64_t i, int64_t k,
                          Doubles score) {
  const int64_t at = i * sweep.stride + k;
  const LanePoint point{load(sweep.beta + at), load(sweep.weight + at),
                        broadcast(sweep.diagonal[i])};
  const LaneVisit visit = rule.visit(point, score);
  const Choices active = load_choices(sweep.active + at, AllLanes{});
  const Choices rests = active & (visit.left < load(sweep.rest_below + k)) &
                        (visit.right > load(sweep.rest_above + k));
  const Choices counts = active & ~rests;
  if (any(rests))
    for (int64_t lane = 0; lane < kLanes; ++lane)
      if (rests[lane]) sweep.active[at + lane] = 0;
  const Doubles highest = load(sweep.slope_max + k), lowest = load(sweep.slope_min + k);
  store(sweep.slope_max + k, counts & (visit.left > highest) ? visit.left : highest);
  store(sweep.slope_min + k, counts & (visit.right < lowest) ? visit.right : lowest);
  return counts ? visit.beta - point.beta : Doubles{};
}

template <class Rule, class Rows>
inline void joint_sweep(const Rule& rule, const Rows& rows, JointSweep& sweep) {
  double* scores = sweep.scratch;
  double* moves = sweep.scratch + sweep.stride;
  const int64_t row_bytes = sweep.stride * static_cast<int64_t>(sizeof(double));
  for (int64_t t = 0; t < sweep.n_order; ++t) {
    if (t + kVisitsAhead < sweep.n_order) {
      const int64_t ahead = sweep.order[t + kVisitsAhead];
      prefetch(row(rows, ahead));
      prefetch(sweep.beta + ahead * sweep.stride, row_bytes);
      prefetch(sweep.weight + ahead * sweep.stride, row_bytes);
    }
    const int64_t i = sweep.order[t];
    const auto x = row(rows, i);
    products(x, sweep.w, sweep.stride, scores);
    Choices moved = {};
    for (int64_t k = 0; k < sweep.stride; k += kLanes) {
      const Doubles move =
          lane_moves(rule, sweep, i, k, load(scores + k) + load(sweep.intercept + k));
      store(moves + k, move);
      moved |= move != 0.0;
      double* beta = sweep.beta + i * sweep.stride + k;
      store(beta, load(beta) + move);
      store(sweep.excess + k, load(sweep.excess + k) + move);
      store(sweep.intercept + k, load(sweep.intercept + k) + sweep.rho * move);
    }
    if (any(moved)) add_outer_product(x, moves, sweep.w, sweep.stride);
  }
}

template <class Rows>
void box_joint_sweep(const Rows& rows, JointSweep& sweep) {
  joint_sweep(LaneBox{sweep.box, sweep.target}, rows, sweep);
}

template <class Rows>
void logistic_joint_sweep(const Rows& rows, JointSweep& sweep) {
  joint_sweep(LaneLogistic{sweep.target}, rows, sweep);
}

void box_joint_look(const double* scores, JointSweep& sweep) {
  for (int64_t t = 0; t < sweep.n_order; ++t)
    for (int64_t k = 0; k < sweep.stride; k += kLanes) {
      const int64_t i = sweep.order[t];
      lane_moves(LaneBox{sweep.box, sweep.target}, sweep, i, k,
                 load(scores + i * sweep.stride + k));
    }
}

// w += the sum of x_i v_i' over begin <= i < end, v_i being row i of v.
template <class Rows>
void add_class_hyperplanes(const Rows& rows, int64_t begin, int64_t end, const double* v, double* w,
                           int64_t stride) {
  for (int64_t i = begin; i < end; ++i) add_outer_product(row(rows, i), v + i * stride, w, stride);
}
