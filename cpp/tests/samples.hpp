// Random data for tests, and sums to judge by.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/random.hpp"

namespace samples {

using hedgerow::Matrix;

inline const std::vector<std::int64_t> kOddSizes{0, 1, 2, 3, 17, 65, 130};

/// n values in (-1, 1), a third of them 0, all of them float32 numbers.
inline std::vector<double> values(std::int64_t n, std::uint64_t seed) {
  hedgerow::Philox random(seed, 0);
  std::vector<double> drawn(static_cast<std::size_t>(n));
  for (double& value : drawn) {
    const double uniform = random.uniform();
    value = static_cast<float>(uniform < 1.0 / 3.0 ? 0.0 : 3.0 * uniform - 2.0);
  }
  return drawn;
}

template <class T, class I>
struct Compressed {
  std::vector<T> values;
  std::vector<I> indices, indptr{0};

  /// Every other row lists its columns backwards: no order may be relied on.
  Compressed(const std::vector<double>& x, std::int64_t n, std::int64_t d) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t p = 0; p < d; ++p) {
        const std::int64_t j = i % 2 ? d - 1 - p : p;
        if (x[i * d + j] == 0.0) continue;
        values.push_back(static_cast<T>(x[i * d + j]));
        indices.push_back(static_cast<I>(j));
      }
      indptr.push_back(static_cast<I>(values.size()));
    }
  }
};

/// The same numbers in all six formats. The dense ones have rows longer than they use.
class Sample {
 public:
  Sample(std::int64_t n, std::int64_t d, std::uint64_t seed = 1)
      : Sample(n, d, values(n * d, seed)) {}

  Sample(std::int64_t n, std::int64_t d, std::vector<double> x)
      : n(n),
        d(d),
        x(std::move(x)),
        f32_i32_(this->x, n, d),
        f32_i64_(this->x, n, d),
        f64_i32_(this->x, n, d),
        f64_i64_(this->x, n, d) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < d + 1; ++j) {
        const double value = j < d ? this->x[i * d + j] : kUnread;
        f64_.push_back(value);
        f32_.push_back(static_cast<float>(value));
      }
  }

  /// Views: only of a sample that has a name, and lives on.
  std::vector<Matrix> formats() const& {
    return {hedgerow::DenseRows<float>{f32_.data(), n, d, d + 1},
            hedgerow::DenseRows<double>{f64_.data(), n, d, d + 1},
            view(f32_i32_),
            view(f32_i64_),
            view(f64_i32_),
            view(f64_i64_)};
  }

  std::vector<Matrix> formats() && = delete;

  double at(std::int64_t i, std::int64_t j) const { return x[i * d + j]; }

  const std::int64_t n, d;
  const std::vector<double> x;

 private:
  static constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();

  template <class T, class I>
  Matrix view(const Compressed<T, I>& rows) const {
    return hedgerow::SparseRows<T, I>{rows.values.data(), rows.indices.data(), rows.indptr.data(),
                                      n, d};
  }

  std::vector<float> f32_;
  std::vector<double> f64_;
  Compressed<float, std::int32_t> f32_i32_;
  Compressed<float, std::int64_t> f32_i64_;
  Compressed<double, std::int32_t> f64_i32_;
  Compressed<double, std::int64_t> f64_i64_;
};

/// A sum taken the obvious way in long double. In float64, summing n products of three factors in
/// any order errs by at most (n + 3) epsilon times the sum of magnitudes.
struct Sum {
  long double value = 0.0L, magnitude = 0.0L;
  int n_terms = 0;

  void add(long double term) {
    value += term;
    magnitude += std::abs(term);
    ++n_terms;
  }

  void judge(double actual, std::source_location where = std::source_location::current()) const {
    const double bound = (n_terms + 3) * std::numeric_limits<double>::epsilon();
    check::near(actual, static_cast<double>(value), bound * static_cast<double>(magnitude), where);
  }
};

}  // namespace samples
