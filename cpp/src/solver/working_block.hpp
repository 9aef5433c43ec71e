// The variables that a round solves for, and the kernel values among them.
//
// A variable stays where it is put until its place is needed for another, so only what is new is
// computed. With two groups each has half of the places: pairs are taken within one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/system/hot.hpp"
#include "hedgerow/solver/working_places.hpp"
#include "kernel/row_store.hpp"

namespace hedgerow {

class WorkingBlock {
 public:
  static constexpr std::int64_t kEmpty = -1;

  WorkingBlock(std::int64_t n_places, bool has_two_groups);

  std::int64_t n_places() const { return static_cast<std::int64_t>(places_.slot.size()); }
  /// Where the places of a group begin; of group 2, where they end.
  std::int64_t begin(std::int64_t group) const { return begins_[group]; }
  std::int64_t slot(std::int64_t place) const { return places_.slot[place]; }
  /// The values among the variables; row p begins at p * ld().
  const float* kernel() const { return kernel_.data(); }
  std::int64_t ld() const { return n_places() + kPadding; }

  /// Lets the wanted variables of a group in, at most half as many as it has places; each takes the
  /// place of the one that was wanted longest ago.
  void admit(std::int64_t group, std::span<const std::int64_t> wanted);

  /// Computes the values of those let in; a slot is of the point at position slot / n_sides.
  void compute_new(RowStore& store, std::int64_t n_sides);

  /// Which variable is where; its values are no part of it.
  const WorkingPlaces& places() const { return places_; }

  /// Puts the variables where they were, and computes their values again.
  void restore(const WorkingPlaces& places, RowStore& store, std::int64_t n_sides);

 private:
  /// Rows a power of two apart would fight for the same few places in the cache.
  static constexpr std::int64_t kPadding = 16;

  void make_known(std::int64_t slot);
  void put(std::int64_t slot, std::int64_t place);
  void mirror(std::span<const std::int64_t> places, int n_threads);

  std::int64_t begins_[3];
  WorkingPlaces places_;
  std::vector<std::int64_t> place_of_;  ///< by slot
  std::vector<std::int64_t> new_places_;
  std::vector<float> kernel_;
  std::vector<float> computed_;  ///< kept: fresh memory every round costs more than computing
  std::int64_t clock_ = 0;
};

}  // namespace hedgerow
