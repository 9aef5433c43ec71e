#include "working_block.hpp"

#include <algorithm>

#include "hedgerow/parallel.hpp"

namespace hedgerow {

WorkingBlock::WorkingBlock(std::int64_t n_places, bool has_two_groups) {
  constexpr std::int64_t kUnit = 2 * kPairGroup;
  const std::int64_t n = std::max<std::int64_t>((n_places + kUnit - 1) / kUnit, 1) * kUnit;
  begins_[0] = 0;
  begins_[1] = has_two_groups ? n / 2 : n;
  begins_[2] = n;
  slot_.assign(static_cast<std::size_t>(n), kEmpty);
  last_wanted_.assign(static_cast<std::size_t>(n), 0);
  kernel_.assign(static_cast<std::size_t>(n * ld()), 0.0f);
}

void WorkingBlock::admit(std::int64_t group, std::span<const std::int64_t> wanted) {
  ++clock_;
  std::vector<std::int64_t> strangers;
  for (const std::int64_t slot : wanted) {
    if (slot >= static_cast<std::int64_t>(place_of_.size()))
      place_of_.resize(static_cast<std::size_t>(2 * slot + 1), kEmpty);
    if (place_of_[slot] == kEmpty)
      strangers.push_back(slot);
    else
      last_wanted_[place_of_[slot]] = clock_;
  }
  std::vector<std::int64_t> places;
  for (std::int64_t p = begin(group); p < begin(group + 1); ++p)
    if (last_wanted_[p] < clock_) places.push_back(p);
  const std::size_t n = std::min(strangers.size(), places.size());
  std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n), places.end(),
                   [&](std::int64_t a, std::int64_t b) {
                     return last_wanted_[a] != last_wanted_[b] ? last_wanted_[a] < last_wanted_[b]
                                                               : a < b;
                   });
  std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t s = 0; s < n; ++s) {
    const std::int64_t place = places[s];
    if (slot_[place] != kEmpty) place_of_[slot_[place]] = kEmpty;
    slot_[place] = strangers[s];
    place_of_[strangers[s]] = place;
    last_wanted_[place] = clock_;
    new_places_.push_back(place);
  }
}

void WorkingBlock::compute_new(RowStore& store, std::int64_t n_sides) {
  std::sort(new_places_.begin(), new_places_.end());
  const std::int64_t n = n_places();
  std::vector<std::int64_t> rows, columns;
  for (const std::int64_t place : new_places_) rows.push_back(slot_[place] / n_sides);
  // An empty place has the values of any point: it never moves.
  for (std::int64_t p = 0; p < n; ++p)
    columns.push_back(slot_[p] == kEmpty ? rows.empty() ? 0 : rows[0] : slot_[p] / n_sides);
  computed_.resize(std::max(computed_.size(), rows.size() * static_cast<std::size_t>(n)));
  store.block(rows, columns, computed_.data(), n);
  for (std::size_t k = 0; k < rows.size(); ++k)
    std::copy_n(computed_.data() + static_cast<std::int64_t>(k) * n, n,
                kernel_.data() + new_places_[k] * ld());
  mirror(new_places_, store.n_threads());
  new_places_.clear();
}

/// Copies the rows of some places to their columns, some rows at a time so that lines stay in the cache.
void WorkingBlock::mirror(std::span<const std::int64_t> places, int n_threads) {
  constexpr std::int64_t kRows = 32;
  const std::int64_t n = n_places();
  parallel_for((n + kRows - 1) / kRows, n_threads, [&](std::int64_t task) {
    const std::int64_t first = task * kRows, last = std::min(first + kRows, n);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const float* row = computed_.data() + static_cast<std::int64_t>(k) * n;
      for (std::int64_t i = first; i < last; ++i) kernel_[i * ld() + places[k]] = row[i];
    }
  });
}

}  // namespace hedgerow
