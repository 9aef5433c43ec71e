// Lines of a LIBSVM (svmlight) file as compressed rows.
//
//   line   label [qid:number] index:value ... [# remark]
//
// Numbers are what Python's float() makes of the same characters, to the last bit, but for
// underscores; they must be finite. Indices are kept as they are written and increase along a line.
// Lines without a token are passed over.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hedgerow {

struct LibsvmRows {
  std::vector<double> labels;
  std::vector<double> values;
  std::vector<std::int32_t> indices;
  std::vector<std::int32_t> begins;  ///< of each row among the values, and their number in the end
  std::int64_t n_lines = 0;          ///< read without a fault
  bool is_whole = true;              ///< else the line after those cannot be understood
};

/// Reads the lines of a text of less than 2^31 bytes, the last with or without its line feed.
LibsvmRows parse_libsvm(std::string_view text);

}  // namespace hedgerow
