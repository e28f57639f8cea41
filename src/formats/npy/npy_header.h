// The header of a .npy file: a Python dictionary literal, read by its grammar
// and never evaluated.
//
// header := "{" { key ":" value "," } "}" with optional last comma, spaces and
// a line end; the keys are exactly 'descr', 'fortran_order' and 'shape'.
#ifndef PARITY_FORMATS_NPY_NPY_HEADER_H_
#define PARITY_FORMATS_NPY_NPY_HEADER_H_

#include <string_view>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct NpyHeader {
  DType dtype = DType::kFloat32;
  bool big_endian = false;
  bool fortran_order = false;  // the first axis is the fastest
  Shape shape;
};

// Errors: kCorrupt outside the grammar; kUnsupported for element types that
// have no DType (objects, texts, records, dates, long doubles), by name.
[[nodiscard]] Result<NpyHeader> ParseNpyHeader(std::string_view text);

}  // namespace parity

#endif  // PARITY_FORMATS_NPY_NPY_HEADER_H_
