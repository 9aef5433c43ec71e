// A small test header: TEST(a_sentence_of_fact) { CHECK(...); }
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* sentence;
  void (*body)();
};

std::vector<Test>& all_tests();

/// Counts a failure and says where; the test goes on.
void fail(const std::string& what, std::source_location where);

struct Registration {
  Registration(const char* sentence, void (*body)()) { all_tests().push_back({sentence, body}); }
};

inline void that(bool holds, const char* what,
                 std::source_location where = std::source_location::current()) {
  if (!holds) fail(what, where);
}

/// |actual - expected| <= tolerance; never true of a NaN.
void near(double actual, double expected, double tolerance,
          std::source_location where = std::source_location::current());

/// The call must throw an Error whose message holds `fragment`.
template <class Error>
void throws(const std::function<void()>& call, const std::string& fragment,
            std::source_location where = std::source_location::current()) {
  try {
    call();
  } catch (const Error& error) {
    if (std::string(error.what()).find(fragment) == std::string::npos)
      fail(std::string("the message is: ") + error.what(), where);
    return;
  }
  fail("nothing was thrown", where);
}

}  // namespace check

#define CHECK(condition) check::that(static_cast<bool>(condition), #condition)
#define TEST(sentence)                                                              \
  static void sentence();                                                           \
  static const check::Registration registration_of_##sentence(#sentence, sentence); \
  static void sentence()
