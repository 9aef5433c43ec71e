#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "hedgerow/system/random.hpp"

using hedgerow::Philox;

TEST(philox_gives_the_known_answers_of_random123) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  const Philox::Block of_zeros{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                               0x7e68b68aec7ba23b};
  const Philox::Block of_ones{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6,
                              0xa09caebf594f0ba0};
  CHECK(Philox::bijection({0, 0, 0, 0}, {0, 0}) == of_zeros);
  CHECK(Philox::bijection({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) == of_ones);
}

TEST(the_stream_is_the_bijection_of_1_then_2_then_3) {
  Philox random(7, 9);
  for (std::uint64_t counter = 1; counter < 4; ++counter)
    for (const std::uint64_t word : Philox::bijection({counter, 0, 0, 0}, {7, 9}))
      CHECK(random.next_u64() == word);
}

TEST(filling_goes_on_where_the_last_word_was) {
  Philox one_by_one(7, 9), filled(7, 9);
  for (const std::size_t n : {0, 1, 2, 3, 4, 5, 8, 11, 64}) {
    std::vector<std::uint64_t> words(n);
    filled.fill(words);
    for (const std::uint64_t word : words) CHECK(word == one_by_one.next_u64());
    CHECK(filled.next_u64() == one_by_one.next_u64());
  }
}

TEST(streams_and_seeds_differ) {
  const std::uint64_t word = Philox(1, 2).next_u64();
  CHECK(word != Philox(1, 3).next_u64());
  CHECK(word != Philox(2, 2).next_u64());
  CHECK(word == Philox(1, 2).next_u64());
}

TEST(uniform_lies_in_0_1_and_has_mean_a_half) {
  Philox random(3, 0);
  constexpr int kDraws = 100000;
  double sum = 0.0;
  bool inside = true;
  for (int t = 0; t < kDraws; ++t) {
    const double u = random.uniform();
    inside = inside && 0.0 <= u && u < 1.0;
    sum += u;
  }
  CHECK(inside);
  check::near(sum / kDraws, 0.5, 5 * 0.2887 / 316.2);  // five standard errors
}

TEST(below_is_unbiased_even_where_the_remainder_is_large) {
  // 2^64 words on 3 * 2^62 values: without rejection every third value would come twice as often.
  constexpr std::uint64_t kBound = std::uint64_t{3} << 62;
  Philox random(5, 0);
  std::array<int, 3> counts{};
  constexpr int kDraws = 30000;
  for (int t = 0; t < kDraws; ++t) ++counts.at(random.below(kBound) % 3);
  for (const int count : counts)
    check::near(count, kDraws / 3.0, 5 * 81.7);  // five standard deviations
}

TEST(numbers_of_one_word_are_uniform_and_independent) {
  Philox random(6, 0);
  constexpr int kBatches = 250000;
  std::vector<std::uint64_t> numbers(4 * kBatches);
  random.fill_below(5, numbers);
  std::array<int, 625> seen{};
  for (std::size_t b = 0; b < numbers.size(); b += 4)
    ++seen.at(125 * numbers[b] + 25 * numbers[b + 1] + 5 * numbers[b + 2] + numbers[b + 3]);
  double chi_square = 0.0;
  for (const int count : seen) chi_square += (count - 400.0) * (count - 400.0) / 400.0;
  check::near(chi_square, 624.0, 5 * 35.3);  // five standard deviations, sqrt(2 * 624) each
}

TEST(numbers_below_any_bound_are_below_it_and_reach_its_end) {
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 14, (std::uint64_t{1} << 14) + 1,
        (std::uint64_t{1} << 28) + 1, std::uint64_t{3} << 62}) {
    std::vector<std::uint64_t> numbers(403);
    Philox(8, bound).fill_below(bound, numbers);
    const std::uint64_t largest = std::ranges::max(numbers);
    CHECK(largest < bound);
    CHECK(largest >= bound - bound / 8 - 1);  // all 403 below it: a probability below 1e-23
  }
}

TEST(below_1_is_0_and_below_2_is_fair) {
  Philox random(6, 0);
  CHECK(random.below(1) == 0);
  int ones = 0;
  for (int t = 0; t < 10000; ++t) ones += static_cast<int>(random.below(2));
  check::near(ones, 5000, 5 * 50);  // five standard deviations
}

TEST(shuffle_makes_each_permutation_equally_often) {
  Philox random(8, 0);
  std::array<int, 27> counts{};
  constexpr int kDraws = 12000;
  for (int t = 0; t < kDraws; ++t) {
    std::array<std::int64_t, 3> items{0, 1, 2};
    random.shuffle(items);
    ++counts.at(9 * items[0] + 3 * items[1] + items[2]);
  }
  CHECK(std::count(counts.begin(), counts.end(), 0) == 27 - 6);
  for (const int count : counts)
    if (count > 0) check::near(count, kDraws / 6.0, 5 * 40.8);  // five standard deviations
}

TEST(shuffle_leaves_nothing_and_one_item_alone) {
  std::vector<std::int64_t> none, one{4};
  Philox random(1, 1);
  random.shuffle(none);
  random.shuffle(one);
  CHECK(none.empty() && one[0] == 4);
}
