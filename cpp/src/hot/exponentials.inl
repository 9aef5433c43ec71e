// e^x and log(1 + x), lane by lane, to within two units in the last place.

// log 2 as head + tail; the head has so few bits that its products with exponents are exact.
constexpr double kLog2Head = 0x1.62e42fefa3p-1;
constexpr double kLog2Tail = 0x1.3de6af278ece6p-42;

inline Words bits_of(Doubles v) { return reinterpret_cast<Words>(v); }
inline Doubles from_bits(Words bits) { return reinterpret_cast<Doubles>(bits); }

// x^n for a power of 2.
template <int n>
inline Doubles power(Doubles x) {
  if constexpr (n == 1)
    return x;
  else
    return power<n / 2>(x) * power<n / 2>(x);
}

// The sum of coefficients[i] x^i over 0 <= i < n <= 16, cut in half again and again: so few steps
// wait for one another.
template <int n>
inline Doubles polynomial(Doubles x, const double* coefficients) {
  constexpr int half = n > 8 ? 8 : n > 4 ? 4 : n > 2 ? 2 : 1;
  if constexpr (n == 1)
    return broadcast(coefficients[0]);
  else
    return polynomial<half>(x, coefficients) +
           power<half>(x) * polynomial<n - half>(x, coefficients + half);
}

// (e^x - 1 - x) / x^2; what is left out comes to less than 2^-57 of e^x where |x| <= log(2) / 2.
constexpr double kExpSeries[12] = {
    1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,
    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

// x = k log(2) + rest. Beyond the limits e^x is infinite or 0 in float64, and so is what comes out.
// A sum with the rounder is rounded to an integer, which its last bits hold.
inline Doubles exp(Doubles x) {
  constexpr double kRounder = 0x1.8p52;
  constexpr double kLow = -746.0, kHigh = 710.0;
  x = x < kLow ? broadcast(kLow) : x;
  x = x > kHigh ? broadcast(kHigh) : x;
  const Doubles rounded = x * 0x1.71547652b82fep+0 + kRounder;
  const Doubles k = rounded - kRounder;
  const Doubles rest = (x - k * kLog2Head) - k * kLog2Tail;
  const Doubles scaled = 1.0 + (rest + rest * rest * polynomial<12>(rest, kExpSeries));
  // 2^k is made of two factors: by itself it may be too large or too small a number.
  const Words exponent = bits_of(rounded) - bits_of(broadcast(kRounder)) + 2048;
  const Words half = exponent >> 1;
  return scaled * from_bits((half - 1) << 52) * from_bits((exponent - half - 1) << 52);
}

// (log((1 + s) / (1 - s)) - 2 s) / (2 s^3) as a function of s^2; what is left out comes to less
// than 2^-60 of the logarithm where 1 / sqrt(2) <= (1 + s) / (1 - s) <= sqrt(2).
constexpr double kLogSeries[10] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                   1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};

// log(sum + lost), where `lost` is far below the last place of `sum`: sum = 2^k (1 + f), and f takes
// up what was lost. log(1 + f) = 2 s + 2 s^3 (...) with s = f / (2 + f), and 2 s = f - s f.
inline Doubles log(Doubles sum, Doubles lost) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;  // the bits of 1 / sqrt(2)
  const Words exponent = (bits_of(sum) - kRootHalf + (uint64_t{1024} << 52)) >> 52;  // k + 1024
  const Doubles k = from_bits(exponent | 0x4330000000000000u) - (0x1p52 + 1024.0);
  const Doubles scaled = from_bits(bits_of(sum) - ((exponent - 1024) << 52));
  const Doubles rest = lost * from_bits((2047 - exponent) << 52);  // far out 2^-k is no number
  const Doubles f = (scaled - 1.0) + (lost == 0.0 ? lost : rest);
  const Doubles s = f / (2.0 + f), square = s * s;
  const Doubles series = 2.0 * square * polynomial<10>(square, kLogSeries);
  return k * kLog2Head + (f - (s * (f - series) - k * kLog2Tail));
}

// For x > -1; what is lost when 1 + x is rounded counts where it can.
inline Doubles log1p(Doubles x) {
  const Doubles sum = 1.0 + x, lost = x - (sum - 1.0);
  return x <= __DBL_MAX__ ? log(sum, x < 0x1p60 ? lost : Doubles{}) : x;
}

// For x >= 0 that is 0 or no smaller than numbers with all their digits are.
inline Doubles log(Doubles x) {
  return x <= 0.0 ? broadcast(-__builtin_inf()) : x <= __DBL_MAX__ ? log(x, Doubles{}) : x;
}

void exp(const double* x, int64_t n, double* out) {
  for_lanes(0, n, [=](auto lanes, int64_t i) { lanes.store(out + i, exp(lanes.load(x + i))); });
}

void log1p(const double* x, int64_t n, double* out) {
  for_lanes(0, n, [=](auto lanes, int64_t i) { lanes.store(out + i, log1p(lanes.load(x + i))); });
}
