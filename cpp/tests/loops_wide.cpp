// The loops with vectors of 64 bytes, for any machine: the code of the widest instruction set is
// tested where it cannot run.
#define HEDGEROW_LOOPS wide_loops
#define HEDGEROW_ISA_NAME "wide"
#define HEDGEROW_VECTOR_BYTES 64
#include "../src/hot/loops.inl"
