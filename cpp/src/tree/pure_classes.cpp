#include <algorithm>

#include "hedgerow/tree/tree.hpp"

namespace hedgerow {
namespace {

/// If one share is 1 and the others are nothing, then their mean class is that one: quicker found
/// than by looking at one share after the other, and only then are they looked at. Values that
/// replaced those of the leaves need not be shares.
std::int32_t pure_class(std::span<const double> shares) {
  constexpr std::size_t n_sums = 4;  // so that no sum waits for the one before
  double sums[n_sums] = {}, first = 0;
  std::size_t k = 0;
  for (; k + n_sums <= shares.size(); k += n_sums, first += n_sums)
    for (std::size_t j = 0; j < n_sums; ++j)
      sums[j] += (first + static_cast<double>(j)) * shares[k + j];
  for (; k < shares.size(); ++k) sums[0] += static_cast<double>(k) * shares[k];
  const double mean = (sums[0] + sums[1]) + (sums[2] + sums[3]) + 0.5;
  if (!(mean >= 0 && mean < static_cast<double>(shares.size()))) return kNotPure;
  const auto likely = static_cast<std::size_t>(mean);
  const bool is_pure = shares[likely] == 1.0 && std::ranges::count(shares, 0.0) + 1 ==
                                                    static_cast<std::ptrdiff_t>(shares.size());
  return is_pure ? static_cast<std::int32_t>(likely) : kNotPure;
}

}  // namespace

std::vector<std::int32_t> pure_classes(const FlatTree& tree) {
  const auto n_outputs = static_cast<std::size_t>(tree.n_outputs);
  const std::size_t width = static_cast<std::size_t>(tree.value_width) / n_outputs;
  std::vector<std::int32_t> pure(tree.feature.size() * n_outputs, kNotPure);
  for (std::size_t i = 0; i < pure.size(); ++i) {
    if (tree.left[i / n_outputs] != kNoChild) continue;
    pure[i] = pure_class({&tree.value[i * width], width});
  }
  return pure;
}

}  // namespace hedgerow
