// What dual coordinate descent does with one row: the rules, one for each kind of conjugate.

constexpr double kInfinity = __builtin_inf();

inline double least(double a, double b) { return a < b ? a : b; }
inline double most(double a, double b) { return a > b ? a : b; }

// Where a row's beta goes, and the slopes of the objective to the left and to the right of where it
// was: -infinity and infinity if that way is barred. Down is left if left > 0, right if right < 0.
struct Visit {
  double beta;
  double left;
  double right;
};

// Conjugates that are linear or quadratic on both sides of 0, on an interval.
struct Box {
  BoxShape shape;

  struct Interval {
    double lower;
    double upper;
  };

  Interval interval(const DualPoint& point) const {
    const double end = point.weight * shape.top;
    if (shape.two_sided) return {-__builtin_fabs(end), __builtin_fabs(end)};
    return {least(end, 0.0), most(end, 0.0)};
  }

  // A row whose diagonal is 0 has an infinite step: it goes to the end of its interval, or stays if
  // there is none. Comparisons are written such that 0 * infinity takes beta to 0.
  Visit visit(const DualPoint& point, double score) const {
    const auto [lower, upper] = interval(point);
    const double curvature = shape.softness / __builtin_fabs(point.weight);
    const double gradient = score - point.target + curvature * point.beta;
    const double above = gradient + shape.epsilon;  // the slope where beta > 0
    const double below = gradient - shape.epsilon;  // the slope where beta < 0
    const double best = most(point.beta - above * point.inverse_diagonal, 0.0) +
                        least(point.beta - below * point.inverse_diagonal, 0.0);
    const double beta = least(most(best, lower), upper);
    return {.beta = __builtin_fabs(beta) < kInfinity ? beta : point.beta,
            .left = point.beta <= lower ? -kInfinity
                    : point.beta > 0.0  ? above
                                        : below,
            .right = point.beta >= upper ? kInfinity
                     : point.beta >= 0.0 ? above
                                         : below};
  }
};

// The entropy alpha log(alpha / c) + (c - alpha) log(1 - alpha / c), the conjugate of the logistic
// loss, whose slope is log(alpha / (c - alpha)).
//
// The equation is solved for z, which is alpha or c - alpha, whichever is below c / 2 in the
// solution, so that no digits are lost near either end:
//
//   log(z / (c - z)) + q (z - z_0) + slope = 0
//
// The left side is convex in log z and concave in z: of Newton's steps, that in z falls short of
// the solution and that in log z goes beyond it, and each is nearly exact where its term outweighs
// the other. Yu, Huang, Lin (2011), "Dual coordinate descent methods for logistic regression and
// maximum entropy models", Machine Learning 85.
struct Logistic {
  static constexpr int kMostSteps = 50;
  static constexpr double kSmallStep = 1e-3;  // relative; the next one would be its cube
  static constexpr double kLeastShare = 0x1p-1000;
  static constexpr double kMostShare = 1.0 - 0x1p-53;

  struct Equation {
    double c;
    double q;
    double z_0;
    double slope;
  };

  // Where to begin if z_0 is at an end of its interval, or in the upper half.
  static double start(const Equation& equation) {
    if (equation.z_0 > 0.0) return 0.5 * equation.c;
    return 0.5 * equation.c * most(__builtin_exp(least(-equation.slope, 0.0)), kLeastShare);
  }

  // Begins at z, of which the log odds are given.
  static double solve(const Equation& equation, double z, double log_odds) {
    const auto [c, q, z_0, slope] = equation;
    for (int step = 0; step < kMostSteps; ++step) {
      const double odds = z / (c - z);
      const double entropy = 1.0 + odds, square = q * z;  // derivatives by log z
      const double both = entropy + square;
      const double newton = -(log_odds + q * (z - z_0) + slope) / both;
      if (__builtin_fabs(newton) < kSmallStep)
        return z * (1.0 + newton + 0.5 * newton * newton * entropy * (1.0 - odds) / both);
      const double linear = (entropy + q * z_0 - slope - log_odds) / both;  // 1 + newton
      const bool in_z = square > entropy && linear > 0.0;
      const double next = z * (in_z ? linear : __builtin_exp(newton));
      const double inside = least(most(next, kLeastShare * c), 0.5 * c);
      if (inside == z) return z;  // the solution is too small a number
      z = inside;
      log_odds = __builtin_log(z / (c - z));
    }
    return z;
  }

  Visit visit(const DualPoint& point, double score) const {
    const double label = __builtin_copysign(1.0, point.weight), c = point.weight * label;
    const double q = 1.0 / point.inverse_diagonal, alpha = point.beta * label;
    const double slope = label * (score - point.target);
    const bool is_small = q * (0.5 * c - alpha) + slope >= 0.0;  // alpha is z
    const Equation equation =
        is_small ? Equation{c, q, alpha, slope} : Equation{c, q, c - alpha, -slope};
    const double z_0 = equation.z_0, log_odds = __builtin_log(z_0 / (c - z_0));
    double z;
    if (z_0 > 0.0 && z_0 <= 0.5 * c) {
      z = solve(equation, z_0, log_odds);
    } else {
      z = start(equation);
      z = solve(equation, z, __builtin_log(z / (c - z)));
    }
    const double found = label * (is_small ? z : least(c - z, c * kMostShare));
    if (found == point.beta) return {found, 0.0, 0.0};  // as near as numbers get
    const double gradient = (is_small ? label : -label) * (log_odds + equation.slope);
    return {found, gradient, gradient};
  }
};
