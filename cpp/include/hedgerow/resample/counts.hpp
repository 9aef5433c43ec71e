// Bootstrap resamples as counts: how often each of n units comes up in n draws with replacement.
#pragma once

#include <cstdint>
#include <span>

namespace hedgerow {

/// Writes one resample after the other, `size` counts each, drawn from `stream` and the next one.
/// The counts are the same for every instruction set.
///
/// Let the counts be independent Poisson numbers first, and N their sum. Given N they are
/// multinomial: N draws of equally likely units. If N exceeds the size all of them are drawn again,
/// which changes the law of N and nothing else; then the missing draws are made one by one. N draws
/// and size - N further ones, all independent, are size draws whatever N was, so the result is
/// exactly multinomial for any rate of the Poisson numbers; a rate a little below one is quick.
/// Only the Poisson probabilities are rounded, to double precision.
/// A count above 255 would wrap, but has a probability below 1 / 255!.
void multinomial_counts(std::uint64_t seed, std::uint64_t stream, std::int64_t size,
                        std::span<std::uint8_t> counts);

}  // namespace hedgerow
