// Makes pickles and checkpoints for tests, opcode by opcode.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_MAKER_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/zip/zip_maker.h"

namespace parity::pickle {

template <class T>
std::string Raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

inline std::string Text(std::string_view text) {
  return "X" + Raw(static_cast<std::uint32_t>(text.size())) + std::string(text);
}
inline std::string Int(std::int32_t value) { return "J" + Raw(value); }
inline std::string Global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string Tuple(std::initializer_list<std::string> items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}
inline std::string Ints(const std::vector<std::int32_t>& values) {
  std::string out = "(";
  for (const std::int32_t value : values) out += Int(value);
  return out + "t";
}
inline std::string Call(const std::string& global, const std::string& tuple) {
  return global + tuple + "R";
}
inline std::string Dict(
    const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += Text(key) + value;
  return out + "u";
}
inline std::string Storage(std::string_view type, std::string_view key,
                           std::int32_t count) {
  return Tuple({Text("storage"), Global("torch", type), Text(key), Text("cpu"),
                Int(count)}) +
         "Q";
}
inline std::string Tensor(const std::string& storage, std::int32_t offset,
                          const std::vector<std::int32_t>& size,
                          const std::vector<std::int32_t>& stride) {
  return Call(
      Global("torch._utils", "_rebuild_tensor_v2"),
      Tuple({storage, Int(offset), Ints(size), Ints(stride), "\x89", "N"}));
}
// A float32 tensor of one element over the storage '0'.
inline std::string SmallTensor() {
  return Tensor(Storage("FloatStorage", "0", 1), 0, {1}, {1});
}
inline std::string File(const std::string& body) {
  return "\x80\x02" + body + ".";
}

// A zip checkpoint of one object and its storages, '0', '1', ….
inline std::string Zip(const std::string& object,
                       const std::vector<std::string>& storages,
                       std::string_view byte_order = "little") {
  ZipMaker zip;
  zip.Add("archive/data.pkl", File(object));
  zip.Add("archive/byteorder", byte_order);
  for (std::size_t i = 0; i < storages.size(); ++i)
    zip.Add("archive/data/" + std::to_string(i), storages[i]);
  zip.Add("archive/version", "3\n");
  return zip.Finish();
}

}  // namespace parity::pickle

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_MAKER_H_
