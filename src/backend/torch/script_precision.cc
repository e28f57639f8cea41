#include "backend/torch/script_precision.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarType.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backend/torch/script_graphs.h"

namespace parity {
namespace {

bool MustChange(const at::Tensor& tensor, c10::ScalarType type) {
  return tensor.is_floating_point() && tensor.scalar_type() != type;
}

void ConvertTensor(const at::Tensor& tensor, c10::ScalarType type) {
  if (MustChange(tensor, type)) tensor.set_data(tensor.to(type));
}

void ConvertConstant(torch::jit::Node& node, c10::ScalarType type) {
  if (node.kind() != c10::prim::Constant ||
      !node.hasAttribute(c10::attr::value) ||
      node.kindOf(c10::attr::value) != torch::jit::AttributeKind::t)
    return;
  const at::Tensor& constant = node.t(c10::attr::value);
  if (!MustChange(constant, type)) return;
  node.t_(c10::attr::value, constant.to(type));
  node.output()->inferTypeFrom(node.t(c10::attr::value));
}

// In graphs a dtype is an integer like any other: what tells it is the name of
// the argument it is given to.
void ConvertDTypeArguments(torch::jit::Node& node, c10::ScalarType type) {
  const c10::FunctionSchema* const schema = node.maybeSchema();
  if (schema == nullptr) return;
  const std::size_t count =
      std::min(schema->arguments().size(), node.inputs().size());
  for (std::size_t i = 0; i < count; ++i) {
    if (schema->arguments()[i].name() != "dtype") continue;
    const std::optional<c10::IValue> value =
        torch::jit::toIValue(node.input(i));
    if (!value || !value->isInt()) continue;
    const auto written = static_cast<c10::ScalarType>(value->toInt());
    if (!c10::isFloatingType(written) || written == type) continue;
    const torch::jit::WithInsertPoint before(&node);
    node.replaceInput(
        i, node.owningGraph()->insertConstant(static_cast<std::int64_t>(type)));
  }
}

}  // namespace

void ConvertScript(const torch::jit::Module& module, c10::ScalarType type) {
  for (const at::Tensor& tensor : module.parameters())
    ConvertTensor(tensor, type);
  for (const at::Tensor& tensor : module.buffers()) ConvertTensor(tensor, type);
  ForEachScriptNode(module, [type](torch::jit::Node& node) {
    ConvertConstant(node, type);
    ConvertDTypeArguments(node, type);
  });
}

DefaultPrecision::DefaultPrecision(std::optional<c10::ScalarType> precision)
    : before_(c10::get_default_dtype_as_scalartype()) {
  if (precision == c10::ScalarType::Double)
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(*precision));
}

DefaultPrecision::~DefaultPrecision() {
  c10::set_default_dtype(c10::scalarTypeToTypeMeta(before_));
}

}  // namespace parity
