#define HEDGEROW_LOOPS avx2_loops
#define HEDGEROW_ISA_NAME "avx2"
#define HEDGEROW_VECTOR_BYTES 32
#include "loops.inl"
