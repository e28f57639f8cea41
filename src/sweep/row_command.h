// The command lines that make and run one combination of a sweep.
#ifndef PARITY_SWEEP_ROW_COMMAND_H_
#define PARITY_SWEEP_ROW_COMMAND_H_

#include <string>
#include <string_view>

#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/validation.h"

namespace parity {

// The text as one word of a POSIX shell, quoted only where need be.
[[nodiscard]] std::string ShellWord(std::string_view text);

// "onnx-parity export … --output model.onnx --validate …": exports the network
// in this way and validates it on this runtime. `runtime` is the runtime's name
// on the axis.
[[nodiscard]] std::string ExportCommand(const MattingConfig& config,
                                        const MattingExportOptions& graph,
                                        const ValidationOptions& options,
                                        std::string_view runtime);

// "onnx-parity validate MODEL …" of a model that is there already.
[[nodiscard]] std::string ValidateCommand(const ValidationOptions& options,
                                          std::string_view runtime);

}  // namespace parity

#endif  // PARITY_SWEEP_ROW_COMMAND_H_
