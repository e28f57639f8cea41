#include "formats/torch_checkpoint/checkpoint_tensors.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/status_macros.h"
#include "formats/elements/elements.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "formats/torch_checkpoint/state_dict.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::uint64_t kCopiesAlways = std::uint64_t{64} << 20;
constexpr std::uint64_t kCopiesPerByte = 8;

class TensorMaker {
 public:
  TensorMaker(const StorageLoader& load, const TensorMaking& making)
      : load_(load),
        big_endian_(making.big_endian),
        copy_budget_(kCopiesAlways + kCopiesPerByte * making.file_size) {}

  Result<Tensor> Make(const NamedDescription& description) {
    PARITY_ASSIGN_OR_RETURN(const StorageBytes storage,
                            Load(description.tensor->storage.key));
    Result<Tensor> tensor = View(*description.tensor, storage);
    if (!tensor) {
      return std::unexpected(std::move(tensor).error().In(
          std::format("tensor '{}'", description.name)));
    }
    return tensor;
  }

 private:
  Result<StorageBytes> Load(std::string_view key) {
    const auto found = loaded_.find(key);
    if (found != loaded_.end()) return found->second;
    PARITY_ASSIGN_OR_RETURN(StorageBytes storage, load_(key));
    loaded_.emplace(key, storage);
    return storage;
  }

  Result<Tensor> View(const TensorDescription& description,
                      const StorageBytes& storage) {
    const StorageReference& reference = description.storage;
    if (storage.bytes.size() != reference.size) {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("its storage '{}' has {} bytes where the pickle "
                      "says {}",
                      reference.key, storage.bytes.size(), reference.size));
    }
    const auto block =
        storage.bytes.subspan(static_cast<std::size_t>(reference.view_begin),
                              static_cast<std::size_t>(reference.view_size));
    const StridedLayout layout{.shape = description.shape,
                               .strides = description.strides,
                               .offset = description.offset};
    PARITY_ASSIGN_OR_RETURN(const std::int64_t extent, Extent(layout));
    const std::int64_t size = ByteSize(description.dtype);
    if (extent > static_cast<std::int64_t>(block.size()) / size) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("reaches element {} of a storage of {}", extent,
                              static_cast<std::int64_t>(block.size()) / size));
    }
    PARITY_ASSIGN_OR_RETURN(const std::int64_t count,
                            ElementCount(description.shape));
    Tensor tensor;
    if (IsContiguous(layout) && !big_endian_) {
      const std::int64_t first = count == 0 ? 0 : layout.offset;
      PARITY_ASSIGN_OR_RETURN(
          tensor,
          Tensor::Borrow(description.dtype, description.shape,
                         block.subspan(static_cast<std::size_t>(first * size),
                                       static_cast<std::size_t>(count * size)),
                         storage.owner));
    } else {
      PARITY_ASSIGN_OR_RETURN(tensor,
                              CopyOf(description.dtype, layout, count, block));
    }
    PARITY_RETURN_IF_ERROR(CheckBools(tensor.view()));
    return tensor;
  }

  Result<Tensor> CopyOf(DType dtype, const StridedLayout& layout,
                        std::int64_t count, std::span<const std::byte> block) {
    const auto size = static_cast<std::uint64_t>(ByteSize(dtype));
    if (static_cast<std::uint64_t>(count) > copy_budget_ / size) {
      return Fail(ErrorCode::kUnsupported,
                  std::format("repeats the elements of its storage to a shape "
                              "of {}; save it contiguous",
                              ToString(layout.shape)));
    }
    copy_budget_ -= static_cast<std::uint64_t>(count) * size;
    PARITY_ASSIGN_OR_RETURN(Tensor tensor, Gather(dtype, layout, block));
    if (big_endian_) ReverseByteOrder(dtype, tensor.mutable_bytes());
    return tensor;
  }

  const StorageLoader& load_;
  bool big_endian_;
  std::uint64_t copy_budget_;
  std::unordered_map<std::string_view, StorageBytes> loaded_;
};

}  // namespace

Result<NamedTensors> MakeTensors(std::span<const NamedDescription> descriptions,
                                 const StorageLoader& load,
                                 const TensorMaking& making) {
  TensorMaker maker(load, making);
  NamedTensors tensors;
  tensors.reserve(descriptions.size());
  for (const NamedDescription& description : descriptions) {
    PARITY_ASSIGN_OR_RETURN(Tensor tensor, maker.Make(description));
    tensors.push_back({.name = description.name, .tensor = std::move(tensor)});
  }
  return tensors;
}

}  // namespace parity
