#include "solver/working_block.hpp"

#include <algorithm>

#include "hedgerow/system/parallel.hpp"

namespace hedgerow {

WorkingBlock::WorkingBlock(std::int64_t n_places, bool has_two_groups) {
  constexpr std::int64_t kUnit = 2 * kPairGroup;
  const std::int64_t n = std::max<std::int64_t>((n_places + kUnit - 1) / kUnit, 1) * kUnit;
  begins_[0] = 0;
  begins_[1] = has_two_groups ? n / 2 : n;
  begins_[2] = n;
  places_.slot.assign(static_cast<std::size_t>(n), kEmpty);
  places_.last_wanted.assign(static_cast<std::size_t>(n), 0);
  places_.computed.assign(static_cast<std::size_t>(n), 0);
  kernel_.assign(static_cast<std::size_t>(n * ld()), 0.0f);
}

void WorkingBlock::put(std::int64_t slot, std::int64_t place) {
  make_known(slot);
  places_.slot[place] = slot;
  place_of_[slot] = place;
}

void WorkingBlock::make_known(std::int64_t slot) {
  if (slot >= static_cast<std::int64_t>(place_of_.size()))
    place_of_.resize(static_cast<std::size_t>(2 * slot + 1), kEmpty);
}

void WorkingBlock::admit(std::int64_t group, std::span<const std::int64_t> wanted) {
  ++clock_;
  std::vector<std::int64_t>& last_wanted = places_.last_wanted;
  std::vector<std::int64_t> strangers;
  for (const std::int64_t slot : wanted) {
    make_known(slot);
    if (place_of_[slot] == kEmpty)
      strangers.push_back(slot);
    else
      last_wanted[place_of_[slot]] = clock_;
  }
  std::vector<std::int64_t> places;
  for (std::int64_t p = begin(group); p < begin(group + 1); ++p)
    if (last_wanted[p] < clock_) places.push_back(p);
  const std::size_t n = std::min(strangers.size(), places.size());
  std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n), places.end(),
                   [&](std::int64_t a, std::int64_t b) {
                     return last_wanted[a] != last_wanted[b] ? last_wanted[a] < last_wanted[b]
                                                             : a < b;
                   });
  std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t s = 0; s < n; ++s) {
    const std::int64_t place = places[s];
    if (slot(place) != kEmpty) place_of_[slot(place)] = kEmpty;
    put(strangers[s], place);
    last_wanted[place] = clock_;
    new_places_.push_back(place);
  }
}

void WorkingBlock::compute_new(RowStore& store, std::int64_t n_sides) {
  std::sort(new_places_.begin(), new_places_.end());
  const std::int64_t n = n_places();
  std::vector<std::int64_t> rows, columns;
  for (const std::int64_t place : new_places_) rows.push_back(slot(place) / n_sides);
  // An empty place has the values of any point: it never moves.
  for (std::int64_t p = 0; p < n; ++p)
    columns.push_back(slot(p) == kEmpty ? rows.empty() ? 0 : rows[0] : slot(p) / n_sides);
  computed_.resize(std::max(computed_.size(), rows.size() * static_cast<std::size_t>(n)));
  store.block(rows, columns, computed_.data(), n);
  for (std::size_t k = 0; k < rows.size(); ++k)
    std::copy_n(computed_.data() + static_cast<std::int64_t>(k) * n, n,
                kernel_.data() + new_places_[k] * ld());
  mirror(new_places_, store.n_threads());
  for (const std::int64_t place : new_places_) places_.computed[place] = clock_;
  new_places_.clear();
}

/// A kernel need not be symmetric to the last bit: each value is computed as it was, by the row of the
/// place that came later.
void WorkingBlock::restore(const WorkingPlaces& places, RowStore& store, std::int64_t n_sides) {
  places_ = places;
  place_of_.clear();
  std::vector<std::int64_t> order;
  for (std::int64_t p = 0; p < n_places(); ++p) {
    if (slot(p) == kEmpty) continue;
    put(slot(p), p);
    order.push_back(p);
  }
  const auto by_turn = [&](std::int64_t a, std::int64_t b) {
    return places.computed[a] < places.computed[b];
  };
  std::stable_sort(order.begin(), order.end(), by_turn);
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::upper_bound(first, order.end(), *first, by_turn);
    clock_ = places.computed[*first];
    new_places_.assign(first, last);
    compute_new(store, n_sides);
    first = last;
  }
  for (const std::int64_t turn : places.last_wanted) clock_ = std::max(clock_, turn);
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
