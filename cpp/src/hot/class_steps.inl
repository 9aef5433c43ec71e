// Points for all classes at once, on a block of kernel values that is in the cache: what
// class_sweeps.inl does with a row, but the scores are kept instead of hyperplanes.

inline ClassSlopes slopes_at(const ClassSteps& s, int64_t p, double* slopes) {
  for (int64_t k = 0; k < s.dual.n_classes; ++k) slopes[k] = s.scores[k * s.n_points + p];
  add_costs(s.dual, p, slopes);
  return class_slopes(s.dual, p, slopes);
}

inline void add_moves(ClassSteps& s, int64_t p, const double* moves) {
  const float* kernel = s.kernel + p * s.ld;
  for (int64_t k = 0; k < s.dual.n_classes; ++k) {
    if (moves[k] == 0.0) continue;
    double* scores = s.scores + k * s.n_points;
    for (int64_t q = 0; q < s.n_points; q += kLanes)
      store(scores + q, load(scores + q) + moves[k] * load(kernel + q));
  }
}

void class_steps(ClassSteps& s) {
  double* slopes = s.scratch;
  double* moves = s.scratch + s.dual.n_classes;
  s.n_steps = 0;
  s.violation = 0.0;
  for (int64_t p = 0; p < s.n_points && s.n_steps < s.max_steps; ++p) {
    const double violation = slopes_at(s, p, slopes).violation();
    s.violation = most(s.violation, violation);
    if (violation <= s.tolerance) continue;
    move_to_best(s.dual, p, slopes, moves);
    add_moves(s, p, moves);
    ++s.n_steps;
  }
}

void class_violations(const ClassSteps& s, double* out) {
  for (int64_t p = 0; p < s.n_points; ++p)
    out[p] = most(slopes_at(s, p, s.scratch).violation(), 0.0);
}
