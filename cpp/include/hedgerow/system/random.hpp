// Random numbers: Philox4x64-10, a keyed function of a counter, so that every (seed, stream) is an
// independent sequence and nothing is shared between users or threads.
//
// Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3", SC11.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace hedgerow {

class Philox {
 public:
  using Block = std::array<std::uint64_t, 4>;

  Philox(std::uint64_t seed, std::uint64_t stream) : key_{seed, stream} {}

  /// The ten-round bijection of a 256-bit counter under a 128-bit key.
  static Block bijection(Block counter, std::array<std::uint64_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
      const Product first = multiply(0xD2E7470EE14C6C93u, counter[0]);
      const Product second = multiply(0xCA5A826395121157u, counter[2]);
      counter = {second.high ^ counter[1] ^ key[0], second.low, first.high ^ counter[3] ^ key[1],
                 first.low};
      key[0] += 0x9E3779B97F4A7C15u;
      key[1] += 0xBB67AE8584CAA73Bu;
    }
    return counter;
  }

  /// The counter is advanced before each block, as NumPy does: both give the same stream.
  std::uint64_t next_u64() {
    if (used_ == block_.size()) {
      advance();
      block_ = bijection(counter_, key_);
      used_ = 0;
    }
    return block_[used_++];
  }

  /// The next words of the stream. Blocks do not wait for each other: the CPU has two at a time.
  void fill(std::span<std::uint64_t> words) {
    std::size_t i = 0;
    for (; i < words.size() && used_ < block_.size(); ++i) words[i] = block_[used_++];
    for (; i + block_.size() <= words.size(); i += block_.size()) {
      advance();
      const Block block = bijection(counter_, key_);
      for (std::size_t j = 0; j < block.size(); ++j) words[i + j] = block[j];
    }
    for (; i < words.size(); ++i) words[i] = next_u64();
  }

  /// Uniform on the multiples of 2^-53 in [0, 1).
  double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

  /// Uniform on 0 ... n - 1 without bias; n must be positive.
  ///
  /// Lemire (2019), "Fast random integer generation in an interval", ACM TOMACS 29(1).
  std::uint64_t below(std::uint64_t n) { return several_below<1>(n)[0]; }

  /// Numbers uniform on 0 ... n - 1 without bias, several from one word where n is small.
  void fill_below(std::uint64_t n, std::span<std::uint64_t> numbers) {
    // At most 2^56 outcomes of a word: one in 256 needs a second look.
    if (n <= std::uint64_t{1} << 14) return fill_below_by<4>(n, numbers);
    if (n <= std::uint64_t{1} << 28) return fill_below_by<2>(n, numbers);
    fill_below_by<1>(n, numbers);
  }

  /// Fisher-Yates, from the end.
  void shuffle(std::span<std::int64_t> items) {
    for (std::size_t left = items.size(); left > 1; --left)
      std::swap(items[left - 1], items[below(left)]);
  }

 private:
  struct Product {
    std::uint64_t high, low;
  };

  static Product multiply(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
  }

  /// k independent numbers below n from one word, which n^k must fit. What is left of the word after
  /// the first number, the low half of the product, is scaled for the second, and so on; the last
  /// rest tells whether the word is one of the few that would favour some outcomes.
  ///
  /// Brackett-Rozinsky, Lemire (2025), "Batched ranged random integer generation", Software:
  /// Practice and Experience 55(1).
  template <std::size_t k>
  std::array<std::uint64_t, k> several_below(std::uint64_t n) {
    std::uint64_t n_outcomes = 1;
    for (std::size_t j = 0; j < k; ++j) n_outcomes *= n;
    std::array<std::uint64_t, k> numbers;
    const auto scale = [&](std::uint64_t rest) {
      for (std::uint64_t& number : numbers) {
        const Product product = multiply(rest, n);
        number = product.high;
        rest = product.low;
      }
      return rest;
    };
    std::uint64_t rest = scale(next_u64());
    if (rest < n_outcomes) [[unlikely]] {
      const std::uint64_t threshold = (0 - n_outcomes) % n_outcomes;
      while (rest < threshold) rest = scale(next_u64());
    }
    return numbers;
  }

  template <std::size_t k>
  void fill_below_by(std::uint64_t n, std::span<std::uint64_t> numbers) {
    for (; numbers.size() >= k; numbers = numbers.subspan(k))
      std::ranges::copy(several_below<k>(n), numbers.begin());
    for (std::uint64_t& number : numbers) number = below(n);
  }

  void advance() {
    for (std::uint64_t& word : counter_)
      if (++word != 0) return;
  }

  std::array<std::uint64_t, 2> key_;
  Block counter_{};
  Block block_{};
  std::size_t used_ = 4;
};

}  // namespace hedgerow
