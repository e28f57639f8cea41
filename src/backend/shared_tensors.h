// Tensors in shared memory: written once, read by any number of processes.
#ifndef PARITY_BACKEND_SHARED_TENSORS_H_
#define PARITY_BACKEND_SHARED_TENSORS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// A set of tensors as a safetensors image in a sealed memory file: nobody can
// change or shorten it any more. Thread-safe.
class SharedTensors {
 public:
  // Copies `tensors` into a new image. `name` is for errors, and for whoever
  // looks into /proc. Errors: kIo when there is no memory left, and those of
  // writing safetensors.
  [[nodiscard]] static Result<std::shared_ptr<const SharedTensors>> Make(
      const NamedTensors& tensors, std::string_view name);

  // The image that another process has made. Errors: kCorrupt when it is not
  // sealed, or not safetensors.
  [[nodiscard]] static Result<std::shared_ptr<const SharedTensors>> Open(
      UniqueFd descriptor, std::string_view name);

  // They borrow from the image and keep it alive by themselves.
  [[nodiscard]] const NamedTensors& tensors() const { return tensors_; }

  // The same tensors in the same order, on pages of their own as soon as
  // someone writes to them. Errors: kIo.
  [[nodiscard]] Result<NamedTensors> CopyOnWrite() const;

  // To be passed on to other processes.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  SharedTensors(UniqueFd descriptor, NamedTensors tensors, std::string name)
      : descriptor_(std::move(descriptor)),
        tensors_(std::move(tensors)),
        name_(std::move(name)) {}

  UniqueFd descriptor_;
  NamedTensors tensors_;
  std::string name_;
};

// The usual way to give a run its inputs: an image of them, for
// RunRequest::shared_inputs, and its tensors() for RunRequest::inputs.
[[nodiscard]] inline Result<std::shared_ptr<const SharedTensors>> Share(
    const NamedTensors& tensors) {
  return SharedTensors::Make(tensors, "inputs");
}

}  // namespace parity

#endif  // PARITY_BACKEND_SHARED_TENSORS_H_
