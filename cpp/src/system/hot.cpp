#include "hedgerow/system/hot.hpp"

#include <cstdlib>
#include <stdexcept>

namespace hedgerow {

extern const HotLoops baseline_loops;
#ifdef HEDGEROW_X86_LOOPS
extern const HotLoops avx2_loops;
extern const HotLoops avx512_loops;
#endif

namespace {

std::vector<const HotLoops*> supported_loops() {
  std::vector<const HotLoops*> loops{&baseline_loops};
#ifdef HEDGEROW_X86_LOOPS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw");
  if (avx2) loops.push_back(&avx2_loops);
  if (avx512) loops.push_back(&avx512_loops);
#endif
  return loops;
}

const HotLoops& choose() {
  const char* wanted = std::getenv("HEDGEROW_ISA");
  return wanted ? hot(wanted) : *supported_loops().back();
}

}  // namespace

const HotLoops& hot() {
  static const HotLoops& chosen = choose();
  return chosen;
}

const HotLoops& hot(std::string_view isa) {
  std::string names;
  for (const HotLoops* loops : supported_loops()) {
    if (loops->isa == isa) return *loops;
    names += (names.empty() ? "" : ", ") + std::string(loops->isa);
  }
  throw std::invalid_argument("HEDGEROW_ISA is '" + std::string(isa) +
                              "', which this machine cannot run: use one of " + names +
                              ", or leave it unset.");
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const HotLoops* loops : supported_loops()) names.emplace_back(loops->isa);
  return names;
}

}  // namespace hedgerow
