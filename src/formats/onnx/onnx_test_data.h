// Reads and writes the ONNX project's test data: a folder test_data_set_N with
// input_0.pb, input_1.pb, … and output_0.pb, …, each one TensorProto.
// Spec: docs/formats/onnx.md
#ifndef PARITY_FORMATS_ONNX_ONNX_TEST_DATA_H_
#define PARITY_FORMATS_ONNX_ONNX_TEST_DATA_H_

#include <filesystem>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Inputs and the outputs they gave. A tensor without a name in its file has the
// file's: "input_0".
struct RecordedSet {
  NamedTensors inputs;
  NamedTensors outputs;
};

// One TensorProto, borrowed from the file's mapping where aligned. Errors:
// those of opening; kCorrupt when it is no TensorProto; kUnsupported for
// sequences, optional values, strings, float8 and 4-bit elements. All name the
// file.
[[nodiscard]] Result<NamedTensor> ReadTensorProto(
    const std::filesystem::path& path);

// In the order of their numbers, which may have gaps (inputs left out); other
// files are ignored. Errors: kNotFound when the folder does not exist or has
// neither inputs nor outputs; kCorrupt when two inputs or two outputs have one
// name; those of ReadTensorProto().
[[nodiscard]] Result<RecordedSet> ReadTestDataSet(
    const std::filesystem::path& folder);

// Makes the folder if needed; every file is replaced as a whole. Errors: kIo;
// kInvalidArgument when the folder has numbered files beyond those of `set`,
// which a reader would take for part of it.
[[nodiscard]] Status WriteTestDataSet(const RecordedSet& set,
                                      const std::filesystem::path& folder);

}  // namespace parity

#endif  // PARITY_FORMATS_ONNX_ONNX_TEST_DATA_H_
