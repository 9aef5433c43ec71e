// Vectors of float64, one register wide.

constexpr int64_t kLanes = HEDGEROW_VECTOR_BYTES / sizeof(double);

typedef double Doubles __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
typedef float Floats __attribute__((vector_size(HEDGEROW_VECTOR_BYTES / 2)));

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

inline Doubles load(const float* from) {
  Floats lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return __builtin_convertvector(lanes, Doubles);
}

inline void store(double* to, Doubles lanes) { __builtin_memcpy(to, &lanes, sizeof lanes); }

inline Doubles broadcast(double value) { return value - Doubles{}; }

// ZIP_LOW and ZIP_HIGH name the lanes of the interleaved lower and upper halves of two vectors.
// lane_sum adds the upper half to the lower half until one lane is left.
#if HEDGEROW_VECTOR_BYTES == 16
#define HEDGEROW_ZIP_LOW 0, 2
#define HEDGEROW_ZIP_HIGH 1, 3
inline double lane_sum(Doubles v) { return v[0] + v[1]; }
#elif HEDGEROW_VECTOR_BYTES == 32
#define HEDGEROW_ZIP_LOW 0, 4, 1, 5
#define HEDGEROW_ZIP_HIGH 2, 6, 3, 7
inline double lane_sum(Doubles v) {
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
  return v[0] + v[1];
}
#else
#define HEDGEROW_ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HEDGEROW_ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
inline double lane_sum(Doubles v) {
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
  return v[0] + v[1];
}
#endif

// Transposes a square of kLanes vectors: each round of interleaving rows r and r + kLanes / 2
// rotates the bits of every element's address (row, lane) by one.
inline void transpose(Doubles (&square)[kLanes]) {
  for (int64_t round = 1; round < kLanes; round *= 2) {
    Doubles zipped[kLanes];
    for (int64_t r = 0; r < kLanes / 2; ++r) {
      const Doubles low = square[r], high = square[r + kLanes / 2];
      zipped[2 * r] = __builtin_shufflevector(low, high, HEDGEROW_ZIP_LOW);
      zipped[2 * r + 1] = __builtin_shufflevector(low, high, HEDGEROW_ZIP_HIGH);
    }
    for (int64_t r = 0; r < kLanes; ++r) square[r] = zipped[r];
  }
}
