#include "check.hpp"
#include "hedgerow/data/libsvm.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using hedgerow::parse_libsvm;

TEST(lines_become_compressed_rows) {
  const auto rows = parse_libsvm("+1 1:0.5 3:2 # a remark\n\n-1\tqid:7 0:-.25e1\r\n2.5");
  CHECK(rows.is_whole);
  CHECK(rows.n_lines == 4);
  CHECK((rows.labels == std::vector<double>{1, -1, 2.5}));
  CHECK((rows.values == std::vector<double>{0.5, 2, -2.5}));
  CHECK((rows.indices == std::vector<std::int32_t>{1, 3, 0}));
  CHECK((rows.begins == std::vector<std::int32_t>{0, 2, 3, 3}));
}

TEST(a_line_that_makes_no_sense_ends_the_reading_before_it) {
  for (const std::string bad :
       {"x 1:1", "1 1", "1 1:", "1 :1", "1 -1:1", "1 2:1 1:1", "1 1:1 1:2", "1 1:nan", "inf 1:1",
        "1 1:1e999", "1 1:2:3", "1 1:1_0", "1 99999999999:1", "+-1 1:1", "1 1:0x10", "1,2 1:1"}) {
    const auto rows = parse_libsvm("1 1:1\n" + bad + "\n1 1:1\n");
    CHECK(!rows.is_whole);
    CHECK(rows.n_lines == 1);
    CHECK((rows.labels == std::vector<double>{1}));
  }
}

TEST(numbers_too_small_for_a_double_are_zero) {
  const auto rows = parse_libsvm("-1e-999 1:1e-400 2:5e-324 3:-0." + std::string(400, '0') + "1");
  CHECK(rows.is_whole);
  CHECK(rows.labels[0] == 0.0 && std::signbit(rows.labels[0]));
  CHECK((rows.values == std::vector<double>{0.0, 5e-324, -0.0}));
}

TEST(a_text_without_lines_has_no_rows) {
  for (const char* text : {"", "\n\n", "# nothing", " \t \n"}) {
    const auto rows = parse_libsvm(text);
    CHECK(rows.is_whole && rows.labels.empty());
    CHECK((rows.begins == std::vector<std::int32_t>{0}));
  }
}
