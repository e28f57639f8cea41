#include "validate/case_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "graph/model.h"
#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {
namespace {

// Sizes for axes that the model leaves open.
struct CaseProfile {
  std::string name;
  std::string generator;
  std::int64_t batch;
  std::int64_t height;
  std::int64_t width;
};

constexpr std::int64_t kOtherAxis = 16;  // sequence lengths, feature counts, …

// The largest square picture of at most `refine_sample_pixels` that is no
// larger than 256: all its cells are selected.
std::int64_t SaturatedSize(const std::optional<MattingConfig>& network) {
  constexpr std::int64_t kLargest = 256;
  constexpr std::int64_t kSmallest = 16;
  if (!network || network->refine_mode != RefineMode::kSampling)
    return kLargest;
  const auto side = static_cast<std::int64_t>(
      std::sqrt(static_cast<double>(network->refine_sample_pixels)));
  return std::clamp(side / 4 * 4, kSmallest, kLargest);
}

std::vector<CaseProfile> DefaultProfiles(
    const std::optional<MattingConfig>& network) {
  const std::int64_t saturated = SaturatedSize(network);
  return {{.name = "standard",
           .generator = "normal",
           .batch = 1,
           .height = 720,
           .width = 1280},
          {.name = "image",
           .generator = "scene",
           .batch = 2,
           .height = 372,
           .width = 532},
          {.name = "saturated",
           .generator = "saturated",
           .batch = 1,
           .height = saturated,
           .width = saturated}};
}

std::int64_t OpenAxis(const CaseProfile& profile, std::size_t rank,
                      std::size_t axis) {
  if (axis == 0 && rank > 1) return profile.batch;
  if (rank == 4 && axis == 1) return 3;
  if (rank == 4) return axis == 2 ? profile.height : profile.width;
  return kOtherAxis;
}

bool HasOpenAxis(const Contract& contract, std::string_view dimension) {
  return std::ranges::any_of(contract.inputs, [&](const ValueInfo& input) {
    return input.shape &&
           std::ranges::any_of(*input.shape, [&](const Dimension& d) {
             return !d.value && d.name == dimension;
           });
  });
}

std::string NamesOf(const std::vector<ValueInfo>& values) {
  std::string names;
  for (const ValueInfo& value : values)
    names += (names.empty() ? "" : ", ") + value.name;
  return names;
}

Status CheckShape(const ValueInfo& input, const Shape& shape) {
  if (!input.shape) return {};
  bool fits = input.shape->size() == shape.size();
  for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
    const Dimension& dimension = (*input.shape)[axis];
    fits = !dimension.value || *dimension.value == shape[axis];
  }
  if (fits) return {};
  return Fail(ErrorCode::kInvalidArgument,
              std::format("--shape {}={} does not fit the model's {}",
                          input.name, ToString(shape), ToString(input)));
}

// Fills the open axes of the inputs, giving a named dimension one size
// throughout.
class ShapeResolver {
 public:
  ShapeResolver(const CaseOptions& options, const CaseProfile& profile)
      : options_(options), profile_(profile), sizes_(options.dimensions) {}

  [[nodiscard]] Result<Shape> Resolve(const ValueInfo& input) {
    if (const auto given = options_.shapes.find(input.name);
        given != options_.shapes.end()) {
      PARITY_RETURN_IF_ERROR(CheckShape(input, given->second));
      Remember(input, given->second);
      return given->second;
    }
    if (!input.shape) {
      return Fail(
          ErrorCode::kInvalidArgument,
          std::format("input {} declares no shape; give one with --shape {}=…",
                      input.name, input.name));
    }
    Shape shape;
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
      const Dimension& dimension = (*input.shape)[axis];
      if (dimension.value) {
        shape.push_back(*dimension.value);
        continue;
      }
      const std::int64_t open = OpenAxis(profile_, input.shape->size(), axis);
      shape.push_back(
          dimension.name.empty()
              ? open
              : sizes_.try_emplace(dimension.name, open).first->second);
    }
    return shape;
  }

  // Shapes given by hand decide the names they touch, wherever the input stands
  // in the order.
  void Remember(const ValueInfo& input, const Shape& shape) {
    if (!input.shape || input.shape->size() != shape.size()) return;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::string& name = (*input.shape)[axis].name;
      if (!name.empty()) sizes_.try_emplace(name, shape[axis]);
    }
  }

 private:
  const CaseOptions& options_;
  const CaseProfile& profile_;
  std::map<std::string, std::int64_t> sizes_;
};

Result<PlannedCase> PlanCase(const Contract& contract,
                             const CaseOptions& options,
                             const CaseProfile& profile) {
  PlannedCase planned{.name = profile.name,
                      .seed = options.seed,
                      .inputs = {},
                      .inputs_file = {}};
  ShapeResolver resolver(options, profile);
  for (const ValueInfo& input : contract.inputs) {
    if (const auto given = options.shapes.find(input.name);
        given != options.shapes.end())
      resolver.Remember(input, given->second);
  }
  for (const ValueInfo& input : contract.inputs) {
    if (!input.other_type.empty() || !input.dtype) {
      return Fail(
          ErrorCode::kUnsupported,
          std::format("input {} is {}, which cannot be generated; give tensors "
                      "with --inputs",
                      input.name,
                      input.other_type.empty() ? "of no declared dtype"
                                               : "a " + input.other_type));
    }
    PlannedInput next{.name = input.name,
                      .dtype = *input.dtype,
                      .shape = {},
                      .generator = profile.generator,
                      .value = 0.5,
                      .image = {}};
    if (profile.generator == "saturated") {
      // White against black: the ends of the range, alternating over the
      // inputs.
      next.generator = "constant";
      next.value = planned.inputs.size() % 2 == 0 ? 1 : 0;
    }
    if (const auto image = options.images.find(input.name);
        image != options.images.end()) {
      next.image = image->second;
    }
    if (next.image.empty() || input.shape) {
      PARITY_ASSIGN_OR_RETURN(next.shape, resolver.Resolve(input));
    }
    planned.inputs.push_back(std::move(next));
  }
  return planned;
}

Status CheckNames(const Contract& contract, const CaseOptions& options) {
  const auto is_input = [&](const std::string& name) {
    return std::ranges::any_of(contract.inputs, [&](const ValueInfo& input) {
      return input.name == name;
    });
  };
  const auto unknown = [&](std::string_view flag, const std::string& name) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} {}: the model has no such input; it has {}",
                            flag, name, NamesOf(contract.inputs)));
  };
  for (const auto& [name, shape] : options.shapes) {
    if (!is_input(name)) return unknown("--shape", name);
  }
  for (const auto& [name, path] : options.images) {
    if (!is_input(name)) return unknown("--image", name);
  }
  for (const auto& [name, size] : options.dimensions) {
    if (!HasOpenAxis(contract, name)) {
      return Fail(
          ErrorCode::kInvalidArgument,
          std::format(
              "--dim {}: no input of the model has a dimension of that name",
              name));
    }
  }
  return {};
}

// Planned names are unique, so that a report's line points to one file.
std::string UniqueName(const std::filesystem::path& file,
                       const std::vector<PlannedCase>& cases) {
  std::string stem = file.filename().empty()
                         ? file.parent_path().filename().string()
                         : file.stem().string();
  std::string name = stem;
  for (int i = 2; std::ranges::contains(cases, name, &PlannedCase::name); ++i)
    name = std::format("{}-{}", stem, i);
  return name;
}

Result<std::vector<PlannedCase>> SelectCases(
    std::vector<PlannedCase> cases, const std::vector<std::string>& only) {
  if (only.empty()) return cases;
  std::vector<PlannedCase> selected;
  for (const std::string& name : only) {
    const auto found = std::ranges::find(cases, name, &PlannedCase::name);
    if (found == cases.end()) {
      std::string known;
      for (const PlannedCase& planned : cases)
        known += (known.empty() ? "" : ", ") + planned.name;
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("--case {}: there is no such case; there are {}",
                              name, known));
    }
    selected.push_back(*found);
  }
  return selected;
}

}  // namespace

Result<std::vector<PlannedCase>> PlanCases(
    const Contract& contract, const CaseOptions& options,
    const std::optional<MattingConfig>& network) {
  PARITY_RETURN_IF_ERROR(CheckNames(contract, options));
  std::vector<PlannedCase> cases;
  cases.reserve(options.inputs.size());
  for (const std::filesystem::path& file : options.inputs) {
    cases.push_back({.name = UniqueName(file, cases),
                     .seed = options.seed,
                     .inputs = {},
                     .inputs_file = file});
  }
  std::vector<CaseProfile> profiles = DefaultProfiles(network);
  const bool custom = !options.shapes.empty() || !options.dimensions.empty() ||
                      !options.images.empty() || !options.generator.empty();
  if (custom) {
    profiles.resize(1);
    profiles[0].name = "custom";
    if (!options.generator.empty()) profiles[0].generator = options.generator;
  }
  if (custom || options.inputs.empty()) {
    for (const CaseProfile& profile : profiles) {
      PARITY_ASSIGN_OR_RETURN(PlannedCase planned,
                              PlanCase(contract, options, profile));
      cases.push_back(std::move(planned));
    }
  }
  return SelectCases(std::move(cases), options.only);
}

}  // namespace parity
