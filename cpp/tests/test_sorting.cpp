#include "../src/tree/sorting.hpp"
#include "check.hpp"
#include "hedgerow/system/random.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace hedgerow;
using namespace hedgerow::tree;

TEST(keys_are_sorted_by_code_and_stay_in_order_otherwise) {
  Philox random(1, 2);
  Sorter sorter;
  for (const std::size_t n : {1u, 2u, 7u, 8u, 9u, 31u, 32u, 33u, 100u, 1000u, 5000u})
    for (const std::uint64_t range : {1ull, 2ull, 250ull, 70000ull, 1ull << 26, 1ull << 31}) {
      const auto low = static_cast<std::uint32_t>(random.below(1000));
      std::vector<Key> keys(n);
      for (std::size_t i = 0; i < n; ++i)
        keys[i] = make_key(low + static_cast<std::uint32_t>(random.below(range)),
                           static_cast<Load>(n - i));
      std::vector<Key> expected = keys;
      std::ranges::stable_sort(expected, {}, code_of);
      const auto [least, most] = std::ranges::minmax_element(keys);
      const auto sorted = sorter.sort(keys, code_of(*least), code_of(*most));
      CHECK(std::ranges::equal(sorted, expected));
      const auto wide = sorter.sort(keys, 0, code_of(*most));
      CHECK(std::ranges::equal(wide, expected));
    }
}
