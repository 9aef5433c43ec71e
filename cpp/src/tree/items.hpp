// What a grower moves about: a row with its target and weight, as small as the problem allows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace hedgerow::tree {

/// For tallies that must see the rows one by one.
struct NoBin {};

template <class Bin>
bool has_rows(std::span<const Bin> bin) {
  return std::ranges::any_of(bin, [](Bin entry) { return entry != 0; });
}

/// A row of one of up to 2^16 classes, whose weight is how often it is there.
struct ClassItem {
  std::uint32_t row;
  std::uint16_t y;
  std::uint16_t times;
  std::uint32_t count() const { return times; }
  std::int64_t weight() const { return times; }
};

/// The same with any weight.
struct WeightedClassItem {
  double w;
  std::uint32_t row;
  std::uint32_t times;
  std::int32_t y;
  std::uint32_t count() const { return times; }
  double weight() const { return w; }
};

/// A row with a number to predict.
struct RegressionItem {
  double y;
  double w;
  std::uint32_t row;
  std::uint32_t times;
  std::uint32_t count() const { return times; }
  double weight() const { return w; }
};

/// A row with several targets, which are looked up.
struct RowItem {
  double w;
  std::uint32_t row;
  std::uint32_t times;
  std::uint32_t count() const { return times; }
  double weight() const { return w; }
};

}  // namespace hedgerow::tree
