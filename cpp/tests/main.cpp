// Runs every test, or those whose sentence holds the first argument. Returns 77, "skipped", if
// HEDGEROW_ISA names an instruction set this machine cannot run.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "check.hpp"
#include "hedgerow/system/hot.hpp"

namespace check {

static int n_failures = 0;

std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

void fail(const std::string& what, std::source_location where) {
  ++n_failures;
  std::fprintf(stderr, "%s:%u: %s\n", where.file_name(), static_cast<unsigned>(where.line()),
               what.c_str());
}

void near(double actual, double expected, double tolerance, std::source_location where) {
  if (std::abs(actual - expected) <= tolerance) return;
  char text[160];
  std::snprintf(text, sizeof text, "%.17g is not within %.3g of %.17g", actual, tolerance,
                expected);
  fail(text, where);
}

}  // namespace check

static bool passes(const check::Test& test) {
  const int before = check::n_failures;
  try {
    test.body();
  } catch (const std::exception& error) {
    check::fail(std::string("threw: ") + error.what(), std::source_location::current());
  }
  if (check::n_failures == before) return true;
  std::fprintf(stderr, "FAILED %s\n", test.sentence);
  return false;
}

int main(int argc, char** argv) {
  try {
    hedgerow::hot();
  } catch (const std::invalid_argument& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  int n_run = 0, n_failed = 0;
  for (const check::Test& test : check::all_tests()) {
    if (argc > 1 && !std::strstr(test.sentence, argv[1])) continue;
    ++n_run;
    n_failed += !passes(test);
  }
  std::printf("%d tests with the %s loops, %d failed\n", n_run, hedgerow::hot().isa, n_failed);
  return n_failed > 0 || n_run == 0;
}
