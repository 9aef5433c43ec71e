#include "hedgerow/resample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hedgerow/random.hpp"

namespace hedgerow {
namespace {

using Word = std::array<std::uint8_t, 8>;

/// Poisson counts by inversion: a random byte decides, or leaves two or more counts open.
class PoissonTable {
 public:
  explicit PoissonTable(double rate) {
    double probability = std::exp(-rate), below = 0.0;
    for (std::size_t k = 0; k < cumulative_.size(); ++k) {
      below += probability;
      cumulative_[k] = below;
      probability *= rate / static_cast<double>(k + 1);
    }
    for (std::size_t byte = 0; byte < codes_.size(); ++byte) {
      const double end = static_cast<double>(byte + 1) / 256.0;
      const auto above = std::lower_bound(cumulative_.begin(), cumulative_.end(), end);
      const std::uint8_t lowest = invert(static_cast<double>(byte) / 256.0);
      const bool decided = above - cumulative_.begin() == lowest;
      codes_[byte] = decided ? lowest : kOpen;
    }
  }

  /// The counts of eight random bytes. Looking all of them up before any is resolved keeps the
  /// generator's rounds and the look-ups of neighbouring words in flight together.
  Word counts(std::uint64_t bytes, Philox& more) const {
    Word counts;
    std::uint8_t any = 0;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      counts[j] = codes_[(bytes >> 8 * j) & 255];
      any |= counts[j];
    }
    if (any & kOpen) [[unlikely]]
      for (std::size_t j = 0; j < counts.size(); ++j)
        if (counts[j] == kOpen) {
          const auto byte = static_cast<double>((bytes >> 8 * j) & 255);
          counts[j] = invert((byte + more.uniform()) / 256.0);
        }
    return counts;
  }

 private:
  static constexpr std::uint8_t kOpen = 128;

  /// How many values of the distribution function are not above u.
  std::uint8_t invert(double u) const {
    std::uint8_t k = 0;
    while (k < cumulative_.size() && cumulative_[k] <= u) ++k;
    return k;
  }

  std::array<double, 30> cumulative_;
  std::array<std::uint8_t, 256> codes_;
};

/// Independent Poisson counts; returns their sum, for which four bytes are enough.
std::int64_t draw_poisson(const PoissonTable& table, Philox& bytes, Philox& more,
                          std::span<std::uint8_t> counts) {
  std::size_t i = 0;
  for (; i + 8 <= counts.size(); i += 8) {
    const Word eight = table.counts(bytes.next_u64(), more);
    std::copy(eight.begin(), eight.end(), counts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (i < counts.size()) {
    const Word eight = table.counts(bytes.next_u64(), more);
    std::copy_n(eight.begin(), counts.size() - i, counts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

}  // namespace

void multinomial_counts(std::uint64_t seed, std::uint64_t stream, std::int64_t size,
                        std::span<std::uint8_t> counts) {
  const auto width = static_cast<std::size_t>(size);
  // Three standard deviations of the sum below its target: one resample in 700 is too long.
  const double rate = std::max(0.0, 1.0 - 3.0 / std::sqrt(static_cast<double>(size)));
  const PoissonTable table(rate);
  Philox bytes(seed, stream), more(seed, stream + 1);
  for (std::size_t start = 0; start + width <= counts.size(); start += width) {
    const auto resample = counts.subspan(start, width);
    std::int64_t drawn = draw_poisson(table, bytes, more, resample);
    if (drawn > size) {
      std::fill(resample.begin(), resample.end(), std::uint8_t{0});
      drawn = 0;
    }
    for (; drawn < size; ++drawn) ++resample[more.below(width)];
  }
}

}  // namespace hedgerow
