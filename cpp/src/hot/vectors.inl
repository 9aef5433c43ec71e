// Vectors of float64, one register wide; and of float32, for kernel values.

constexpr int64_t kLanes = HEDGEROW_VECTOR_BYTES / sizeof(double);

typedef double Doubles __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
typedef float Floats __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
typedef uint32_t HalfWords __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
typedef uint64_t Words __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));

template <int...>
struct LaneList {};

template <int n, int... lane>
struct LanesBelow : LanesBelow<n - 1, n - 1, lane...> {};
template <int... lane>
struct LanesBelow<0, lane...> {
  using List = LaneList<lane...>;
};

using AllLanes = LanesBelow<kLanes>::List;

#if defined(__clang__)
#define HEDGEROW_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HEDGEROW_UNROLL _Pragma("GCC unroll 16")
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

template <class T>
struct LanesOf;
template <>
struct LanesOf<float> {
  using Vector = Floats;
  static constexpr int n = HEDGEROW_VECTOR_BYTES / sizeof(float);
};
template <>
struct LanesOf<double> {
  using Vector = Doubles;
  static constexpr int n = kLanes;
};

template <class T>
inline typename LanesOf<T>::Vector load_lanes(const T* from) {
  typename LanesOf<T>::Vector lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class T, class Vector>
inline void store_lanes(T* to, Vector lanes) {
  __builtin_memcpy(to, &lanes, sizeof lanes);
}

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
template <int order, class Vector, int... lane>
inline void swap_squares(Vector& upper, Vector& lower, LaneList<lane...>) {
  constexpr int lanes = sizeof...(lane);
  const Vector above = upper, below = lower;
  upper = __builtin_shufflevector(above, below, (lane & order ? lane - order + lanes : lane)...);
  lower = __builtin_shufflevector(above, below, (lane & order ? lane + lanes : lane + order)...);
}

// Transposes a square of as many vectors as they have lanes: single values first, then squares of 2,
// then of 4.
template <int order = 1, class Vector, int lanes>
inline void transpose(Vector (&square)[lanes]) {
  if constexpr (order < lanes) {
    HEDGEROW_UNROLL for (int r = 0; r < lanes; ++r) if (!(r & order))
        swap_squares<order>(square[r], square[r + order], typename LanesBelow<lanes>::List{});
    transpose<2 * order>(square);
  }
}
