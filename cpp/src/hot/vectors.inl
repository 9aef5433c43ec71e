// Vectors of float64, one register wide.

constexpr int64_t kLanes = HEDGEROW_VECTOR_BYTES / sizeof(double);

typedef double Doubles __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
typedef uint64_t Words __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));

template <int...>
struct LaneList {};

#if HEDGEROW_VECTOR_BYTES == 16
using AllLanes = LaneList<0, 1>;
#elif HEDGEROW_VECTOR_BYTES == 32
using AllLanes = LaneList<0, 1, 2, 3>;
#else
using AllLanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7>;
#endif

#if defined(__clang__)
#define HEDGEROW_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HEDGEROW_UNROLL _Pragma("GCC unroll 8")
#endif

inline Doubles load(const double* from) {
  Doubles lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

// Lane by lane: GCC 12 makes one instruction of this, but three or more of a converted vector.
template <int... lane>
inline Doubles load(const float* from, LaneList<lane...>) {
  return Doubles{static_cast<double>(from[lane])...};
}

inline Doubles load(const float* from) { return load(from, AllLanes{}); }

inline void store(double* to, Doubles lanes) { __builtin_memcpy(to, &lanes, sizeof lanes); }

inline Doubles broadcast(double value) { return value - Doubles{}; }

inline Doubles magnitude(Doubles v) {
  return reinterpret_cast<Doubles>(reinterpret_cast<Words>(v) & (~uint64_t{0} >> 1));
}

struct WholeVector {
  Doubles load(const double* from) const { return hedgerow::load(from); }
  void store(double* to, Doubles lanes) const { hedgerow::store(to, lanes); }
};

// The first n lanes; the others are read as 0 and not written.
struct FirstLanes {
  int64_t n;

  Doubles load(const double* from) const {
    Doubles lanes = {};
    __builtin_memcpy(&lanes, from, static_cast<uint64_t>(n) * sizeof(double));
    return lanes;
  }

  void store(double* to, Doubles lanes) const {
    __builtin_memcpy(to, &lanes, static_cast<uint64_t>(n) * sizeof(double));
  }
};

// Calls body(lanes, i) for begin <= i < end in steps of kLanes, where `lanes` loads and stores as
// many of them as there are.
template <class Body>
inline void for_lanes(int64_t begin, int64_t end, Body body) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) body(WholeVector{}, i);
  if (i < end) body(FirstLanes{end - i}, i);
}

// Lanes change places with those `distance` away.
template <int distance, int... lane>
inline Doubles swap_lanes(Doubles v, LaneList<lane...>) {
  return __builtin_shufflevector(v, v, (lane ^ distance)...);
}

// The upper half is added to the lower half until one lane is left.
template <int half = kLanes / 2>
inline double lane_sum(Doubles v) {
  if constexpr (half == 1)
    return v[0] + v[1];
  else
    return lane_sum<half / 2>(v + swap_lanes<half>(v, AllLanes{}));
}

// Of each block of 2 x 2 squares of order `order`, spread over two vectors, the two squares off the
// diagonal change places.
template <int order, int... lane>
inline void swap_squares(Doubles& upper, Doubles& lower, LaneList<lane...>) {
  constexpr int lanes = kLanes;
  const Doubles above = upper, below = lower;
  upper = __builtin_shufflevector(above, below, (lane & order ? lane - order + lanes : lane)...);
  lower = __builtin_shufflevector(above, below, (lane & order ? lane + lanes : lane + order)...);
}

// Transposes a square of kLanes vectors: single values first, then squares of 2, then of 4.
template <int order = 1>
inline void transpose(Doubles (&square)[kLanes]) {
  if constexpr (order < kLanes) {
    HEDGEROW_UNROLL for (int r = 0; r < kLanes; ++r)
      if (!(r & order)) swap_squares<order>(square[r], square[r + order], AllLanes{});
    transpose<2 * order>(square);
  }
}
