// Sequential minimal optimisation on a block of kernel values that is in the cache.
//
// slope = -gradient. A pair (i, j) moves by t > 0: beta_i rises and beta_j falls. i has the steepest
// way up; j, among those that may fall, promises the largest decrease of the objective,
// 1/2 (slope_i - slope_j)^2 / curvature. The violation is the largest slope_i less the least slope_j.

// Less curvature than this is rounding.
constexpr double kLeastCurvature = 1e-12;

struct Steepest {
  double slope;
  int64_t at;
};

// The largest lane of `best`, and of equal ones that which comes first.
inline Steepest best_lane(Doubles best, Doubles at) {
  Steepest found{best[0], static_cast<int64_t>(at[0])};
  for (int lane = 1; lane < kLanes; ++lane) {
    const auto here = static_cast<int64_t>(at[lane]);
    if (best[lane] > found.slope || (best[lane] == found.slope && here < found.at))
      found = {best[lane], here};
  }
  return found;
}

inline Doubles count_up() {
  Doubles lanes;
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = lane;
  return lanes;
}

// Of the variables that may rise, the one with the largest slope; begin is a multiple of kLanes.
inline Steepest steepest_rise(const PairSteps& s, int64_t begin, int64_t end) {
  Doubles best = broadcast(-__builtin_inf()), at = {}, here = count_up() + double(begin);
  for (int64_t k = begin; k < end; k += kLanes, here += double(kLanes)) {
    const Doubles slope = load(s.slope + k) + load(s.no_rise + k);
    at = slope > best ? here : at;
    best = slope > best ? slope : best;
  }
  return best_lane(best, at);
}

struct Partner {
  double drop;  ///< of the objective, twice
  int64_t at;
  double largest_difference;
};

// The best j for the given i.
inline Partner best_partner(const PairSteps& s, int64_t begin, int64_t end, Steepest i) {
  const float* kernel = s.kernel + i.at * s.ld;
  const double own = s.diagonal[i.at];
  Doubles best = {}, at = broadcast(-1.0), here = count_up() + double(begin);
  Doubles largest = broadcast(-__builtin_inf());
  for (int64_t k = begin; k < end; k += kLanes, here += double(kLanes)) {
    const Doubles difference = i.slope - (load(s.slope + k) + load(s.no_fall + k));
    Doubles curvature = (own + load(s.diagonal + k)) - 2.0 * load(kernel + k);
    curvature = curvature > kLeastCurvature ? curvature : broadcast(kLeastCurvature);
    largest = difference > largest ? difference : largest;
    const Doubles drop = difference > 0.0 ? difference * difference / curvature : Doubles{};
    at = drop > best ? here : at;
    best = drop > best ? drop : best;
  }
  const Steepest found = best_lane(best, at);
  return {found.slope, found.at, best_lane(largest, Doubles{}).slope};
}

// Puts beta where the step leads, onto its bound if it gets there.
inline void settle(PairSteps& s, int64_t i, double beta, bool at_lower, bool at_upper) {
  if (at_lower) beta = s.lower[i];
  if (at_upper) beta = s.upper[i];
  s.beta[i] = beta;
  s.no_rise[i] = beta >= s.upper[i] ? -__builtin_inf() : 0.0;
  s.no_fall[i] = beta <= s.lower[i] ? __builtin_inf() : 0.0;
}

inline void move_pair(PairSteps& s, int64_t i, int64_t j) {
  const float* of_i = s.kernel + i * s.ld;
  const float* of_j = s.kernel + j * s.ld;
  double curvature = s.diagonal[i] + s.diagonal[j] - 2.0 * static_cast<double>(of_i[j]);
  curvature = curvature > kLeastCurvature ? curvature : kLeastCurvature;
  const double free = (s.slope[i] - s.slope[j]) / curvature;
  const double room_i = s.upper[i] - s.beta[i], room_j = s.beta[j] - s.lower[j];
  double t = free < room_i ? free : room_i;
  t = t < room_j ? t : room_j;
  settle(s, i, s.beta[i] + t, false, t >= room_i);
  settle(s, j, s.beta[j] - t, t >= room_j, false);
  for (int64_t k = 0; k < s.ends[1]; k += kLanes)
    store(s.slope + k, load(s.slope + k) - t * (load(of_i + k) - load(of_j + k)));
  s.slope[i] -= t * s.ridge[i];
  s.slope[j] += t * s.ridge[j];
}

void pair_steps(PairSteps& s) {
  for (s.n_steps = 0;; ++s.n_steps) {
    const Steepest first = steepest_rise(s, 0, s.ends[0]);
    const Steepest second = steepest_rise(s, s.ends[0], s.ends[1]);
    const Partner of_first = best_partner(s, 0, s.ends[0], first);
    const Partner of_second = s.ends[1] > s.ends[0] ? best_partner(s, s.ends[0], s.ends[1], second)
                                                    : Partner{0.0, -1, -__builtin_inf()};
    const double violation = of_first.largest_difference > of_second.largest_difference
                                 ? of_first.largest_difference
                                 : of_second.largest_difference;
    s.violation = violation > 0.0 ? violation : 0.0;
    const bool is_first = of_first.drop >= of_second.drop;
    const int64_t j = is_first ? of_first.at : of_second.at;
    if (s.violation <= s.tolerance || s.n_steps == s.max_steps || j < 0) return;
    move_pair(s, is_first ? first.at : second.at, j);
  }
}

// The variable whose step alone promises the largest decrease, and the largest violation.
inline Partner best_single(const PairSteps& s) {
  Doubles best = {}, at = broadcast(-1.0), here = count_up(), largest = {};
  for (int64_t k = 0; k < s.ends[1]; k += kLanes, here += double(kLanes)) {
    const Doubles slope = load(s.slope + k);
    const Doubles rise = slope + load(s.no_rise + k), fall = -(slope + load(s.no_fall + k));
    const Doubles way = rise > fall ? rise : fall;
    Doubles curvature = load(s.diagonal + k);
    curvature = curvature > kLeastCurvature ? curvature : broadcast(kLeastCurvature);
    largest = way > largest ? way : largest;
    const Doubles drop = way > 0.0 ? way * way / curvature : Doubles{};
    at = drop > best ? here : at;
    best = drop > best ? drop : best;
  }
  const Steepest found = best_lane(best, at);
  return {found.slope, found.at, best_lane(largest, Doubles{}).slope};
}

inline void move_single(PairSteps& s, int64_t i) {
  const float* of_i = s.kernel + i * s.ld;
  const double curvature = s.diagonal[i] > kLeastCurvature ? s.diagonal[i] : kLeastCurvature;
  const double goal = s.beta[i] + s.slope[i] / curvature, before = s.beta[i];
  settle(s, i, goal, goal <= s.lower[i], goal >= s.upper[i]);
  const double t = s.beta[i] - before;
  for (int64_t k = 0; k < s.ends[1]; k += kLanes)
    store(s.slope + k, load(s.slope + k) - t * load(of_i + k));
  s.slope[i] -= t * s.ridge[i];
}

void single_steps(PairSteps& s) {
  for (s.n_steps = 0;; ++s.n_steps) {
    const Partner found = best_single(s);
    s.violation = found.largest_difference;
    if (s.violation <= s.tolerance || s.n_steps == s.max_steps || found.at < 0) return;
    move_single(s, found.at);
  }
}
