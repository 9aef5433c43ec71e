// Subgradient steps, one a row: what a step does to all features is kept in a factor, so that it
// touches the features of its row alone.

template <class Rows>
void averaged_steps(const Rows& rows, AveragedSteps& steps) {
  double* const theta_constant = steps.theta + rows.n_cols;
  double* const lagged_constant = steps.lagged + rows.n_cols;
  double harmonic = steps.harmonic;
  for (int64_t s = 0; s < steps.n_order; ++s) {
    if (s + kVisitsAhead < steps.n_order) prefetch(row(rows, steps.order[s + kVisitsAhead]));
    const int64_t i = steps.order[s];
    const auto x = row(rows, i);
    const double y = steps.y[i];
    double margin = 0.0;
    if (const double t = static_cast<double>(steps.n_before + s); t > 0.0) {
      harmonic += 1.0 / t;
      const double score = dot(x, steps.theta) + steps.constant * *theta_constant;
      margin = y * score * (steps.total_weight / t);
    }
    if (!(margin < steps.target[i])) continue;
    add(x, y, steps.theta);
    add(x, harmonic * y, steps.lagged);
    *theta_constant += steps.constant * y;
    *lagged_constant += harmonic * steps.constant * y;
    ++steps.violations[i];
  }
  steps.harmonic = harmonic;
}

// Below this the factor is multiplied out, long before it or its inverse leave float64.
constexpr double kLeastScale = 1e-50;

inline void fold(double* coef, int64_t n, double& scale) {
  for (int64_t j = 0; j < n; ++j) coef[j] *= scale;
  scale = 1.0;
}

template <class Rows>
void steady_steps(const Rows& rows, SteadySteps& steps) {
  double scale = steps.scale, intercept = steps.intercept;
  for (int64_t s = 0; s < steps.n_order; ++s) {
    if (s + kVisitsAhead < steps.n_order) prefetch(row(rows, steps.order[s + kVisitsAhead]));
    const int64_t i = steps.order[s];
    const auto x = row(rows, i);
    const double y = steps.y[i];
    const double margin = y * (scale * dot(x, steps.coef) + intercept);
    scale *= steps.keep;
    intercept *= steps.keep_intercept;
    if (scale < kLeastScale) fold(steps.coef, rows.n_cols, scale);
    if (!(margin < steps.target[i])) continue;
    const double move = steps.push[i] * y;
    add(x, move / scale, steps.coef);
    intercept += steps.intercept_share * move;
    ++steps.violations[i];
  }
  steps.scale = scale;
  steps.intercept = intercept;
}
