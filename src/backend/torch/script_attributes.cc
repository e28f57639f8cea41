#include "backend/torch/script_attributes.h"

#include <ATen/core/class_type.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/api/module.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "parity/error.h"

namespace parity {
namespace {

constexpr std::size_t kMostListed = 40;

std::optional<bool> ParseBool(std::string_view text) {
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  return std::nullopt;
}

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

c10::TypePtr WithoutOptional(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

bool CanBeSet(const c10::TypePtr& type) {
  switch (WithoutOptional(type)->kind()) {
    case c10::TypeKind::StringType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
      return true;
    default:
      return false;
  }
}

// Nothing when the text is not of that type.
std::optional<c10::IValue> ParseValue(const c10::TypePtr& type,
                                      const std::string& text) {
  if (type->kind() == c10::TypeKind::OptionalType &&
      (text == "none" || text == "None"))
    return c10::IValue();
  switch (WithoutOptional(type)->kind()) {
    case c10::TypeKind::StringType:
      return c10::IValue(text);
    case c10::TypeKind::IntType:
      if (const auto number = ParseNumber<std::int64_t>(text))
        return c10::IValue(*number);
      break;
    case c10::TypeKind::FloatType:
      if (const auto number = ParseNumber<double>(text))
        return c10::IValue(*number);
      break;
    case c10::TypeKind::BoolType:
      if (const auto flag = ParseBool(text)) return c10::IValue(*flag);
      break;
    default:
      break;
  }
  return std::nullopt;
}

// "refine_mode (str), refiner.threshold (float), …"
std::string ListAttributes(const torch::jit::Module& module) {
  std::vector<std::string> found = {"training (bool)"};
  for (const auto& child : module.named_modules()) {
    const c10::ClassTypePtr type = child.value.type();
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
      const std::string& name = type->getAttributeName(i);
      if (name == "training" || name == "_is_full_backward_hook" ||
          !CanBeSet(type->getAttribute(i)))
        continue;
      found.push_back(std::format("{}{}{} ({})", child.name,
                                  child.name.empty() ? "" : ".", name,
                                  type->getAttribute(i)->annotation_str()));
    }
  }
  std::string list;
  for (std::size_t i = 0; i < found.size() && i < kMostListed; ++i)
    list += (i == 0 ? "" : ", ") + found[i];
  if (found.size() > kMostListed)
    list += std::format(" and {} more", found.size() - kMostListed);
  return list;
}

}  // namespace

Status SetScriptAttribute(torch::jit::Module& module, const std::string& path,
                          const std::string& value) {
  if (path == "training") {
    const std::optional<bool> training = ParseBool(value);
    if (!training) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("attribute 'training' is true or false, not "
                              "'{}'",
                              value));
    }
    module.train(*training);
    return {};
  }
  const auto not_found = [&] {
    return Fail(ErrorCode::kNotFound,
                std::format("the TorchScript module has no attribute '{}'; it "
                            "has {}",
                            path, ListAttributes(module)));
  };
  torch::jit::Module owner = module;
  std::string_view rest = path;
  for (std::size_t dot = rest.find('.'); dot != std::string_view::npos;
       dot = rest.find('.')) {
    const std::string name(rest.substr(0, dot));
    if (!owner.hasattr(name) || !owner.attr(name).isModule())
      return not_found();
    owner = owner.attr(name).toModule();
    rest.remove_prefix(dot + 1);
  }
  const std::string name(rest);
  const c10::ClassTypePtr type = owner.type();
  if (type->hasConstant(name)) {
    return Fail(ErrorCode::kUnsupported,
                std::format("attribute '{}' is a constant of the TorchScript "
                            "code and cannot be set",
                            path));
  }
  if (!type->hasAttribute(name)) return not_found();
  const c10::TypePtr attribute = type->getAttribute(name);
  if (!CanBeSet(attribute)) {
    return Fail(ErrorCode::kUnsupported,
                std::format("attribute '{}' is of type {}: only str, int, "
                            "float and bool can be set",
                            path, attribute->annotation_str()));
  }
  const std::optional<c10::IValue> parsed = ParseValue(attribute, value);
  if (!parsed) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("attribute '{}' is of type {}, which '{}' is not",
                            path, attribute->annotation_str(), value));
  }
  owner.setattr(name, *parsed);
  return {};
}

}  // namespace parity
