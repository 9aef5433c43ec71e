// Bootstrap resamples as counts: how often each of n units comes up in n draws with replacement.
#pragma once

#include <cstdint>
#include <span>

namespace hedgerow {

/// Writes one resample after the other, `size` counts each, drawn from `stream` and the next one.
///
/// Poisson counts of a rate a little below one are, given their sum, multinomial; the few draws
/// that are missing are made one by one. The sum of independent multinomial counts over the same
/// cells is multinomial, so the result is exact whatever the sum was; a resample that came out too
/// long is drawn anew one by one. Nearly always one random byte a unit is enough.
/// A count above 255 would wrap, but has a probability below 1 / 255!.
void multinomial_counts(std::uint64_t seed, std::uint64_t stream, std::int64_t size,
                        std::span<std::uint8_t> counts);

}  // namespace hedgerow
