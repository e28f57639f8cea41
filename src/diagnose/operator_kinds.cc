#include "diagnose/operator_kinds.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parity {
namespace {

using Names = std::vector<std::string_view>;

// ONNX operators whose counterparts have other names, written without
// underscores. A name that ends in '*' stands for all that begin so.
const std::unordered_map<std::string_view, Names>& OtherNames() {
  static const std::unordered_map<std::string_view, Names> names = {
      {"ArgMax", {"argmax", "max"}},
      {"ArgMin", {"argmin", "min"}},
      {"And", {"logicaland", "bitwiseand", "mul"}},
      {"AveragePool", {"avgpool*", "adaptiveavgpool*"}},
      {"BatchNormalization", {"batchnorm*", "cudnnbatchnorm"}},
      {"Cast", {"to", "tocopy", "typeas"}},
      {"Clip", {"clamp*", "clip", "hardtanh", "relu6"}},
      {"Concat", {"cat", "concat*", "stack", "hstack", "vstack"}},
      {"Conv", {"conv*", "slowconv*", "mkldnnconv*", "batchnorm*"}},
      {"ConvTranspose", {"conv*", "slowconv*", "batchnorm*"}},
      {"DepthToSpace", {"pixelshuffle"}},
      {"Div", {"div", "truedivide", "divide", "floordivide", "reciprocal"}},
      {"Einsum", {"einsum", "bmm", "matmul"}},
      {"Equal", {"eq"}},
      {"Expand", {"expand*", "broadcastto", "repeat"}},
      {"Flatten", {"flatten", "view", "reshape"}},
      {"Gather", {"index", "indexselect", "embedding", "select", "take"}},
      {"GatherElements", {"gather", "takealongdim"}},
      {"GatherND", {"index", "gather"}},
      {"Gemm", {"addmm", "linear", "mm", "matmul"}},
      {"GlobalAveragePool", {"adaptiveavgpool*", "mean"}},
      {"GlobalMaxPool", {"adaptivemaxpool*", "amax", "max"}},
      {"Greater", {"gt"}},
      {"GreaterOrEqual", {"ge"}},
      {"GridSample", {"gridsampler*"}},
      {"GroupNormalization", {"groupnorm"}},
      {"InstanceNormalization", {"instancenorm", "batchnorm*", "groupnorm"}},
      {"LayerNormalization", {"layernorm"}},
      {"Less", {"lt"}},
      {"LessOrEqual", {"le"}},
      {"MatMul", {"matmul", "mm", "bmm", "linear", "addmm", "baddbmm", "mv"}},
      {"Max", {"max", "maximum", "clampmin", "amax"}},
      {"MaxPool", {"maxpool*", "adaptivemaxpool*"}},
      {"Min", {"min", "minimum", "clampmax", "amin"}},
      {"Mod", {"remainder", "fmod"}},
      {"Not", {"logicalnot", "bitwisenot"}},
      {"Or", {"logicalor", "bitwiseor"}},
      {"Pad", {"pad", "constantpadnd", "reflectionpad*", "replicationpad*"}},
      {"Pow", {"pow", "square"}},
      {"ReduceL1", {"norm", "linalgvectornorm"}},
      {"ReduceL2", {"norm", "linalgvectornorm"}},
      {"ReduceLogSumExp", {"logsumexp"}},
      {"ReduceMax", {"max", "amax"}},
      {"ReduceMean", {"mean", "adaptiveavgpool*"}},
      {"ReduceMin", {"min", "amin"}},
      {"ReduceProd", {"prod"}},
      {"ReduceSum", {"sum"}},
      {"Reshape", {"view", "reshape", "unsafeview", "flatten", "unflatten"}},
      {"Resize", {"upsample*", "interpolate"}},
      {"ScatterElements", {"scatter*", "indexput*"}},
      {"ScatterND", {"indexput*", "scatter*", "copy", "slicescatter"}},
      {"Slice", {"slice", "narrow", "select", "slicecopy"}},
      {"SpaceToDepth", {"pixelunshuffle"}},
      {"Split", {"split*", "chunk", "unsafesplit*", "slice"}},
      {"Sub", {"sub", "rsub", "subtract"}},
      {"Sum", {"sum", "add"}},
      {"Tile", {"repeat", "tile"}},
      {"TopK", {"topk", "sort", "argsort", "msort", "kthvalue"}},
      {"Transpose", {"permute", "transpose", "t", "movedim", "swapaxes"}},
      {"Upsample", {"upsample*", "interpolate"}},
      {"Where", {"where", "maskedfill"}},
  };
  return names;
}

std::string LowerWithoutUnderscores(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '_')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

// "aten::native_batch_norm.out" → "batchnorm".
std::string PlainTorchName(std::string_view torch_op) {
  if (const std::size_t colons = torch_op.rfind("::");
      colons != std::string_view::npos)
    torch_op.remove_prefix(colons + 2);
  torch_op = torch_op.substr(0, torch_op.find('.'));
  std::string plain = LowerWithoutUnderscores(torch_op);
  if (plain.starts_with("native")) plain.erase(0, 6);
  return plain;
}

bool Fits(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

}  // namespace

bool IsCounterpart(std::string_view onnx_op, std::string_view torch_op) {
  const std::string plain = PlainTorchName(torch_op);
  if (plain.empty()) return false;
  if (plain == LowerWithoutUnderscores(onnx_op)) return true;
  const auto found = OtherNames().find(onnx_op);
  return found != OtherNames().end() &&
         std::ranges::any_of(found->second, [&](std::string_view pattern) {
           return Fits(plain, pattern);
         });
}

}  // namespace parity
