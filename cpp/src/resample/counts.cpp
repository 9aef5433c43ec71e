#include "hedgerow/resample/counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/random.hpp"

namespace hedgerow {
namespace {

/// Poisson numbers from random bytes. Of the 256 bytes a number of probability p has the whole part
/// of 256 p to itself. The few bytes left over are open: with each of them a random word draws from
/// what the fractional parts leave, so that every number has its very probability in the end.
class PoissonLaw {
 public:
  /// The rate is above 0 and at most 1: then only numbers below kPoissonCuts have bytes.
  explicit PoissonLaw(double rate) {
    double share = 256.0 * std::exp(-rate), last_byte = -129.0, n_open = 0.0;
    std::array<double, kMostDraws> rests;
    for (std::size_t k = 0; k < rests.size(); ++k) {
      last_byte += std::floor(share);
      if (k < cuts_.size()) cuts_[k] = static_cast<std::int8_t>(last_byte);
      n_open += share - std::floor(share);
      rests[k] = n_open;
      share *= rate / static_cast<double>(k + 1);
    }
    for (std::size_t k = 0; k + 1 < rests.size(); ++k)
      rests_[k] =
          static_cast<std::uint64_t>(std::ldexp(std::min(rests[k] / n_open, 1.0 - 0x1p-53), 64));
  }

  /// Draws n_units counts, at most kPoissonUnits, and writes all kPoissonUnits.
  void draw(std::size_t n_units, Philox& bytes, Philox& words, std::uint8_t* counts) const {
    std::array<std::uint64_t, kPoissonUnits / 8> beginnings;
    const std::size_t n_words = (n_units + 7) / 8;
    bytes.fill(std::span(beginnings).first(n_words));
    // The lowest byte is never open.
    std::fill(beginnings.begin() + static_cast<std::ptrdiff_t>(n_words), beginnings.end(),
              0x8080808080808080u);
    std::array<std::uint16_t, kPoissonUnits + 4> open;
    const std::int64_t n_open =
        hot().poisson_counts(beginnings.data(), cuts_.data(), counts, open.data());
    for (const std::uint16_t unit : std::span(open).first(static_cast<std::size_t>(n_open)))
      counts[unit] = draw_rest(words.next_u64());
  }

 private:
  /// A larger number has a probability below the rounding errors.
  static constexpr std::size_t kMostDraws = 24;
  static constexpr std::size_t kUsual = 8;

  /// Numbers up to kUsual are told without branches, which no processor could foresee.
  std::uint8_t draw_rest(std::uint64_t word) const {
    std::uint8_t count = 0;
    for (std::size_t k = 0; k < kUsual; ++k) count += word >= rests_[k];
    if (count == kUsual) [[unlikely]]
      while (count < rests_.size() && word >= rests_[count]) ++count;
    return count;
  }

  /// The last byte, as a signed number, of each count; those above the last cut are open.
  std::array<std::int8_t, kPoissonCuts> cuts_;
  /// The distribution function of what is left over, as shares of 2^64.
  std::array<std::uint64_t, kMostDraws - 1> rests_;
};

/// Draws independent Poisson counts; returns their sum.
std::int64_t draw_poisson(const PoissonLaw& law, Philox& bytes, Philox& words,
                          std::span<std::uint8_t> counts) {
  std::size_t start = 0;
  for (; start + kPoissonUnits <= counts.size(); start += kPoissonUnits)
    law.draw(kPoissonUnits, bytes, words, counts.data() + start);
  std::array<std::uint8_t, kPoissonUnits> last;
  const auto left = counts.subspan(start);
  law.draw(left.size(), bytes, words, last.data());
  std::copy_n(last.begin(), left.size(), left.begin());
  return hot().sum_counts(counts.data(), static_cast<std::int64_t>(counts.size()));
}

/// Adds draws of single units.
void add_draws(std::int64_t n_draws, Philox& words, std::span<std::uint8_t> counts) {
  std::array<std::uint64_t, 256> units;
  while (n_draws > 0) {
    const auto some = std::span(units).first(
        static_cast<std::size_t>(std::min<std::int64_t>(n_draws, units.size())));
    words.fill_below(counts.size(), some);
    for (const std::uint64_t unit : some) ++counts[unit];
    n_draws -= static_cast<std::int64_t>(some.size());
  }
}

}  // namespace

void multinomial_counts(std::uint64_t seed, std::uint64_t stream, std::int64_t size,
                        std::span<std::uint8_t> counts) {
  const auto width = static_cast<std::size_t>(size);
  // Two standard deviations of the sum below its target: one resample in 44 is drawn again. Of up
  // to four units all draws are made one by one; of five the rate is 0.106.
  const double rate = 1.0 - 2.0 / std::sqrt(static_cast<double>(size));
  const PoissonLaw law(std::max(rate, 0.1));
  Philox bytes(seed, stream), words(seed, stream + 1);
  for (std::size_t start = 0; start + width <= counts.size(); start += width) {
    const auto resample = counts.subspan(start, width);
    std::int64_t n_drawn = 0;
    if (rate > 0.0) do {
        n_drawn = draw_poisson(law, bytes, words, resample);
      } while (n_drawn > size);
    else
      std::ranges::fill(resample, std::uint8_t{0});
    add_draws(size - n_drawn, words, resample);
  }
}

}  // namespace hedgerow
