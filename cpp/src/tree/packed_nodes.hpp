// What packing trees, walking down them and storing them have in common.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "hedgerow/tree/forest.hpp"

namespace hedgerow {

/// The bit of a set in a node that stands for what is missing.
constexpr int kMissingBit = 63;
constexpr std::uint64_t kMissingIsIn = std::uint64_t{1} << kMissingBit;

inline double set_in_node(std::uint64_t categories, bool missing_left) {
  const std::uint64_t known = categories & ~kMissingIsIn;
  return std::bit_cast<double>(missing_left ? known | kMissingIsIn : known);
}

/// A leaf as the last node of the last tree; `place` is its own from the tree's first node.
template <class T>
PackedNode<T> leaf_at(std::int32_t place) {
  return {std::numeric_limits<T>::infinity(), kMissingLeft, place};
}

}  // namespace hedgerow
