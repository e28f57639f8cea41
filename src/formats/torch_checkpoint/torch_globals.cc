#include "formats/torch_checkpoint/torch_globals.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/elements/elements.h"
#include "formats/text/utf8.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

struct Allowed {
  std::string_view module;
  std::string_view name;
  GlobalRole role;
};

constexpr std::array kAllowed = {
    Allowed{"collections", "OrderedDict", GlobalRole::kDict},
    Allowed{"collections", "Counter", GlobalRole::kDict},
    Allowed{"builtins", "dict", GlobalRole::kDict},
    Allowed{"__builtin__", "dict", GlobalRole::kDict},
    Allowed{"builtins", "set", GlobalRole::kSet},
    Allowed{"__builtin__", "set", GlobalRole::kSet},
    Allowed{"builtins", "frozenset", GlobalRole::kSet},
    Allowed{"__builtin__", "frozenset", GlobalRole::kSet},
    Allowed{"builtins", "bytearray", GlobalRole::kOpaque},
    Allowed{"__builtin__", "bytearray", GlobalRole::kOpaque},
    Allowed{"builtins", "complex", GlobalRole::kOpaque},
    Allowed{"__builtin__", "complex", GlobalRole::kOpaque},
    Allowed{"_codecs", "encode", GlobalRole::kOpaque},
    Allowed{"torch", "device", GlobalRole::kOpaque},
    Allowed{"torch", "Size", GlobalRole::kSize},
    Allowed{"torch", "Tensor", GlobalRole::kOpaque},
    Allowed{"torch.nn.parameter", "Parameter", GlobalRole::kOpaque},
    Allowed{"torch.nn.parameter", "Buffer", GlobalRole::kOpaque},
    Allowed{"torch._utils", "_rebuild_tensor", GlobalRole::kRebuildTensor},
    Allowed{"torch._utils", "_rebuild_tensor_v2", GlobalRole::kRebuildTensor},
    Allowed{"torch._utils", "_rebuild_tensor_v3", GlobalRole::kRebuildTensorV3},
    Allowed{"torch._utils", "_rebuild_parameter",
            GlobalRole::kRebuildParameter},
    Allowed{"torch._utils", "_rebuild_parameter_with_state",
            GlobalRole::kRebuildParameter},
    Allowed{"torch._tensor", "_rebuild_from_type_v2",
            GlobalRole::kRebuildFromType},
    Allowed{"torch", "UntypedStorage", GlobalRole::kStorageType},
    Allowed{"torch.storage", "UntypedStorage", GlobalRole::kStorageType},
    Allowed{"torch.storage", "_UntypedStorage", GlobalRole::kStorageType},
    Allowed{"torch.storage", "TypedStorage", GlobalRole::kOpaque},
    Allowed{"torch.storage", "_TypedStorage", GlobalRole::kOpaque},
};

struct StorageType {
  std::string_view name;  // without "Storage"
  DType dtype;
};

constexpr std::array kStorageTypes = {
    StorageType{"Float", DType::kFloat32},
    StorageType{"Double", DType::kFloat64},
    StorageType{"Half", DType::kFloat16},
    StorageType{"BFloat16", DType::kBFloat16},
    StorageType{"Long", DType::kInt64},
    StorageType{"Int", DType::kInt32},
    StorageType{"Short", DType::kInt16},
    StorageType{"Char", DType::kInt8},
    StorageType{"Byte", DType::kUInt8},
    StorageType{"Bool", DType::kBool},
    StorageType{"ComplexFloat", DType::kComplex64},
    StorageType{"ComplexDouble", DType::kComplex128},
};

std::unexpected<Error> Corrupt(std::string message) {
  return Fail(ErrorCode::kCorrupt, std::move(message));
}

std::optional<DType> StorageDType(std::string_view name) {
  constexpr std::string_view kSuffix = "Storage";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  for (const StorageType& type : kStorageTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

std::unexpected<Error> Refuse(std::string_view module, std::string_view name) {
  constexpr std::size_t kLongest = 100;
  const std::string global = std::format("{}.{}", module.substr(0, kLongest),
                                         name.substr(0, kLongest));
  if (!IsUtf8(global)) return Corrupt("names a global that is no text");
  if (module.starts_with("torch.nn.") || module.starts_with("torchvision.")) {
    return Fail(
        ErrorCode::kUnsupported,
        std::format("holds a pickled module (a {}), not a state dict; "
                    "save one with torch.save(model.state_dict(), FILE)",
                    global));
  }
  std::string_view kind;
  if (name.starts_with("_rebuild_q") || name.starts_with("QInt") ||
      name.starts_with("QUInt") || name.starts_with("q")) {
    kind = "quantized tensors";
  } else if (name.starts_with("_rebuild_sparse")) {
    kind = "sparse tensors";
  } else if (name.starts_with("float8") || name.starts_with("Float8")) {
    kind = "8-bit float tensors";
  }
  if (module.starts_with("torch") && !kind.empty()) {
    return Fail(ErrorCode::kUnsupported,
                std::format("holds {} ({}), which this version does not read",
                            kind, global));
  }
  return Fail(
      ErrorCode::kUnsupported,
      std::format("names the global '{}', which this reader never calls",
                  global));
}

Status Spend(std::size_t items, std::size_t& item_budget) {
  if (items > item_budget)
    return Corrupt("the pickle copies the same values without end");
  item_budget -= items;
  return {};
}

// The integers of a tuple, list or torch.Size.
Result<std::vector<std::int64_t>> Integers(const PickleHeap& heap,
                                           PickleRef ref) {
  const auto* const sequence = heap.Get<PickleSequence>(ref);
  if (sequence == nullptr || sequence->items.size() > kMaxRank)
    return Corrupt("a tensor's size or stride is no short tuple");
  std::vector<std::int64_t> values;
  values.reserve(sequence->items.size());
  for (const PickleRef item : sequence->items) {
    const auto* const value = heap.Get<std::int64_t>(item);
    if (value == nullptr)
      return Corrupt("a tensor's size or stride is no integer");
    values.push_back(*value);
  }
  return values;
}

// (storage, offset, size, stride, requires_grad, hooks[, dtype][, metadata])
Result<PickleRef> RebuildTensor(PickleHeap& heap, const PickleSequence& items,
                                bool has_dtype, std::size_t& item_budget) {
  constexpr std::size_t kDTypeArgument = 6;
  if (items.items.size() < (has_dtype ? kDTypeArgument + 1 : 4))
    return Corrupt("a tensor has too few arguments");
  const auto* const storage =
      heap.Get<std::unique_ptr<StorageReference>>(items.items[0]);
  const auto* const offset = heap.Get<std::int64_t>(items.items[1]);
  if (storage == nullptr || offset == nullptr)
    return Corrupt("a tensor has no storage or no offset");
  std::optional<DType> dtype = (*storage)->dtype;
  if (has_dtype) {
    const auto* const global =
        heap.Get<PickleGlobal>(items.items[kDTypeArgument]);
    if (global == nullptr || global->role != GlobalRole::kDType)
      return Corrupt("a tensor's dtype is none");
    dtype = global->dtype;
  }
  auto tensor = std::make_unique<TensorDescription>();
  tensor->storage = **storage;
  tensor->dtype = dtype.value_or(DType::kUInt8);  // as torch reads untyped ones
  tensor->offset = *offset;
  PARITY_ASSIGN_OR_RETURN(tensor->shape, Integers(heap, items.items[2]));
  PARITY_ASSIGN_OR_RETURN(tensor->strides, Integers(heap, items.items[3]));
  PARITY_RETURN_IF_ERROR(
      Spend(tensor->shape.size() + tensor->strides.size(), item_budget));
  return heap.Add(std::move(tensor));
}

// (tensor, requires_grad, hooks[, state]): the tensor itself.
Result<PickleRef> RebuildParameter(const PickleHeap& heap,
                                   const PickleSequence& arguments) {
  if (arguments.items.empty() || heap.Get<std::unique_ptr<TensorDescription>>(
                                     arguments.items[0]) == nullptr) {
    return Corrupt("a parameter holds no tensor");
  }
  return arguments.items[0];
}

// (function, type, arguments, state): function(*arguments), once.
Result<PickleRef> RebuildFromType(PickleHeap& heap,
                                  const PickleSequence& arguments,
                                  std::size_t& item_budget) {
  if (arguments.items.size() < 3)
    return Corrupt("a tensor of a subclass has too few arguments");
  const auto* const function = heap.Get<PickleGlobal>(arguments.items[0]);
  const bool nested =
      function != nullptr && function->role == GlobalRole::kRebuildFromType;
  if (nested) return Corrupt("a tensor of a subclass is nested in another");
  return CallGlobal(heap, arguments.items[0], arguments.items[2], item_budget);
}

// dict(), dict(other), dict([(key, value), …]).
Result<PickleRef> MakeDict(PickleHeap& heap, const PickleSequence& arguments,
                           std::size_t& item_budget) {
  PickleDict dict;
  if (arguments.items.empty()) return heap.Add(std::move(dict));
  if (const auto* const other = heap.Get<PickleDict>(arguments.items[0])) {
    PARITY_RETURN_IF_ERROR(Spend(other->items.size(), item_budget));
    dict.items = other->items;
    return heap.Add(std::move(dict));
  }
  const auto* const pairs = heap.Get<PickleSequence>(arguments.items[0]);
  if (pairs == nullptr) return Corrupt("a dictionary is made of no pairs");
  PARITY_RETURN_IF_ERROR(Spend(pairs->items.size(), item_budget));
  for (const PickleRef ref : pairs->items) {
    const auto* const pair = heap.Get<PickleSequence>(ref);
    if (pair == nullptr || pair->items.size() != 2)
      return Corrupt("a dictionary is made of no pairs");
    dict.items.emplace_back(pair->items[0], pair->items[1]);
  }
  return heap.Add(std::move(dict));
}

// set([…]) and torch.Size((…)): the items in another kind of sequence.
Result<PickleRef> Convert(PickleHeap& heap, const PickleSequence& arguments,
                          PickleSequence::Kind kind, std::size_t& item_budget) {
  PickleSequence result{.kind = kind, .items = {}};
  if (arguments.items.empty()) return heap.Add(std::move(result));
  const auto* const items = heap.Get<PickleSequence>(arguments.items[0]);
  if (items == nullptr) return Corrupt("a set or size is made of no sequence");
  PARITY_RETURN_IF_ERROR(Spend(items->items.size(), item_budget));
  result.items = items->items;
  return heap.Add(std::move(result));
}

// A count of elements, in bytes.
Result<std::uint64_t> Bytes(const PickleHeap& heap, PickleRef ref,
                            DType dtype) {
  const auto* const count = heap.Get<std::int64_t>(ref);
  const std::int64_t size = ByteSize(dtype);
  if (count == nullptr || *count < 0 ||
      *count > std::numeric_limits<std::int64_t>::max() / size) {
    return Corrupt("a storage's element count is none");
  }
  return static_cast<std::uint64_t>(*count * size);
}

// (view key, first element, element count) of the legacy format.
Status ApplyView(const PickleHeap& heap, PickleRef ref, DType dtype,
                 StorageReference& storage) {
  const PickleSequence* const view = heap.GetTuple(ref);
  if (view == nullptr || view->items.size() != 3)
    return Corrupt("a storage's view is none");
  PARITY_ASSIGN_OR_RETURN(storage.view_begin,
                          Bytes(heap, view->items[1], dtype));
  PARITY_ASSIGN_OR_RETURN(storage.view_size,
                          Bytes(heap, view->items[2], dtype));
  if (storage.view_begin > storage.size ||
      storage.view_size > storage.size - storage.view_begin) {
    return Corrupt("a storage's view leaves the storage");
  }
  return {};
}

}  // namespace

Result<PickleGlobal> FindGlobal(std::string_view module,
                                std::string_view name) {
  for (const Allowed& allowed : kAllowed) {
    if (allowed.module == module && allowed.name == name)
      return PickleGlobal{.role = allowed.role, .dtype = std::nullopt};
  }
  if (module == "torch" || module == "torch.cuda") {
    if (const std::optional<DType> dtype = StorageDType(name))
      return PickleGlobal{.role = GlobalRole::kStorageType, .dtype = dtype};
  }
  if (module == "torch") {
    if (const std::optional<DType> dtype = DTypeFromName(name))
      return PickleGlobal{.role = GlobalRole::kDType, .dtype = dtype};
  }
  return Refuse(module, name);
}

Result<PickleRef> CallGlobal(PickleHeap& heap, PickleRef callable,
                             PickleRef arguments, std::size_t& item_budget) {
  const auto* const global = heap.Get<PickleGlobal>(callable);
  if (global == nullptr) return Corrupt("the pickle calls what is no function");
  const PickleSequence* const items = heap.GetTuple(arguments);
  if (items == nullptr)
    return Corrupt("the pickle calls a function without a tuple of arguments");
  switch (global->role) {
    case GlobalRole::kDict:
      return MakeDict(heap, *items, item_budget);
    case GlobalRole::kSet:
      return Convert(heap, *items, PickleSequence::Kind::kSet, item_budget);
    case GlobalRole::kSize:
      return Convert(heap, *items, PickleSequence::Kind::kTuple, item_budget);
    case GlobalRole::kRebuildTensor:
      return RebuildTensor(heap, *items, false, item_budget);
    case GlobalRole::kRebuildTensorV3:
      return RebuildTensor(heap, *items, true, item_budget);
    case GlobalRole::kRebuildParameter:
      return RebuildParameter(heap, *items);
    case GlobalRole::kRebuildFromType:
      return RebuildFromType(heap, *items, item_budget);
    case GlobalRole::kOpaque:
      return heap.Add(PickleOpaque{});
    case GlobalRole::kStorageType:
    case GlobalRole::kDType:
      break;
  }
  return Corrupt("the pickle calls a storage type or dtype");
}

Result<StorageReference> ResolveStorage(const PickleHeap& heap, PickleRef id) {
  const PickleSequence* const tuple = heap.GetTuple(id);
  if (tuple == nullptr || tuple->items.size() < 5 || tuple->items.size() > 6)
    return Corrupt("a persistent id names no storage");
  const auto* const tag = heap.Get<std::string_view>(tuple->items[0]);
  const auto* const type = heap.Get<PickleGlobal>(tuple->items[1]);
  const auto* const key = heap.Get<std::string_view>(tuple->items[2]);
  if (tag == nullptr || *tag != "storage" || type == nullptr ||
      type->role != GlobalRole::kStorageType || key == nullptr) {
    return Corrupt("a persistent id names no storage");
  }
  StorageReference storage{.key = *key, .dtype = type->dtype};
  const DType unit = type->dtype.value_or(DType::kUInt8);
  PARITY_ASSIGN_OR_RETURN(storage.size, Bytes(heap, tuple->items[4], unit));
  storage.view_size = storage.size;
  const bool has_view = tuple->items.size() == 6 &&
                        heap.Get<PickleNone>(tuple->items[5]) == nullptr;
  if (has_view)
    PARITY_RETURN_IF_ERROR(ApplyView(heap, tuple->items[5], unit, storage));
  return storage;
}

}  // namespace parity
