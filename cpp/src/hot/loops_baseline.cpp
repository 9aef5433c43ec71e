#define HEDGEROW_LOOPS baseline_loops
#define HEDGEROW_ISA_NAME "baseline"
#define HEDGEROW_VECTOR_BYTES 16
#include "loops.inl"
