#define HEDGEROW_LOOPS avx512_loops
#define HEDGEROW_ISA_NAME "avx512"
#define HEDGEROW_VECTOR_BYTES 64
#include "loops.inl"
