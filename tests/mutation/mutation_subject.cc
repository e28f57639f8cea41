#include "mutation_subject.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <format>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "benign_variants.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/safetensors/safetensors_writer.h"
#include "generate/generator.h"
#include "graph/model.h"
#include "networks/background_matting.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::uint64_t kWeightsSeed = 0;

struct MattingSubject {
  std::string name;
  MattingConfig config;
  MattingExportOptions options;
};

// Small enough that a fault and its diagnosis take seconds: 384 cells, of which
// 32 are refined.
std::vector<MattingSubject> MattingSubjects() {
  return {
      {.name = "matting-sampling",
       .config = {.refine_sample_pixels = 512},
       .options = {}},
      {.name = "matting-thresholding",
       .config = {.refine_mode = RefineMode::kThresholding},
       .options = {.crop = CropMethod::kGather,
                   .replace = ReplaceMethod::kScatterNd,
                   .opset_version = 17,
                   .constant_folding = false}},
  };
}

constexpr const char* kCases[] = {"01-encoder-decoder-dynamic",
                                  "02-thirty-convolutions", "10-batch-of-three",
                                  "11-opset-eleven"};

using SharedWeights = std::shared_ptr<const NamedTensors>;

Result<Model> Export(const MattingConfig& config, const SharedWeights& weights,
                     MattingExportOptions options) {
  options.weights_source = std::format("synthetic seed {}", kWeightsSeed);
  PARITY_ASSIGN_OR_RETURN(MattingExport built,
                          BuildBackgroundMatting(config, *weights, options));
  return std::move(built.model);
}

Status WriteScene(const std::filesystem::path& path) {
  std::vector<InputSpec> specs;
  for (const char* name : {"src", "bgr"}) {
    specs.push_back({.name = name,
                     .dtype = DType::kFloat32,
                     .shape = {1, 3, 64, 96},
                     .generator = GeneratorKind::kScene});
  }
  PARITY_ASSIGN_OR_RETURN(const NamedTensors tensors, GenerateInputs(specs, 0));
  PARITY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  PARITY_RETURN_IF_ERROR(WriteSafetensors(file, tensors, {}));
  return file.Commit();
}

// Every choice of the exporter that its default is not.
void AddExports(const MattingSubject& subject, const SharedWeights& weights,
                std::vector<BenignForm>& forms) {
  const auto add = [&](std::string name, const MattingExportOptions& options) {
    forms.push_back({.name = std::move(name),
                     .make = [config = subject.config, weights, options] {
                       return Export(config, weights, options);
                     }});
  };
  for (int opset = 11; opset <= 20; ++opset) {
    MattingExportOptions options = subject.options;
    options.opset_version = opset;
    add(std::format("opset {}", opset), options);
  }
  for (const CropMethod crop :
       {CropMethod::kUnfold, CropMethod::kRoiAlign, CropMethod::kGather}) {
    for (const ReplaceMethod replace :
         {ReplaceMethod::kScatterNd, ReplaceMethod::kScatterElement}) {
      MattingExportOptions options = subject.options;
      options.crop = crop;
      options.replace = replace;
      add(std::format("{} and {}", Name(crop), Name(replace)), options);
    }
  }
  MattingExportOptions options = subject.options;
  options.constant_folding = !options.constant_folding;
  add(options.constant_folding ? "folded" : "not folded", options);
}

void AddVariants(const Model& model, std::vector<BenignForm>& forms) {
  for (const char* level : {"disabled", "basic", "extended", "all"}) {
    forms.push_back({.name = std::format("optimization {}", level),
                     .make = [model] { return Result<Model>(model); },
                     .optimization = level});
  }
  constexpr std::uint64_t kSeeds = 2;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const BenignKind kind : kBenignKinds) {
      forms.push_back({.name = std::format("{} {}", Name(kind), seed),
                       .make = [model, kind, seed] {
                         return BenignVariant(model, kind, seed);
                       }});
    }
  }
}

Result<MutationSubject> MakeMatting(const MattingSubject& matting,
                                    const std::filesystem::path& folder) {
  PARITY_ASSIGN_OR_RETURN(NamedTensors tensors,
                          SyntheticWeights(matting.config, kWeightsSeed));
  const auto weights = std::make_shared<const NamedTensors>(std::move(tensors));
  MutationSubject subject;
  subject.name = matting.name;
  PARITY_ASSIGN_OR_RETURN(subject.model,
                          Export(matting.config, weights, matting.options));
  subject.inputs = {folder / (matting.name + ".safetensors")};
  PARITY_RETURN_IF_ERROR(WriteScene(subject.inputs[0]));
  AddExports(matting, weights, subject.benign);
  AddVariants(subject.model, subject.benign);
  return subject;
}

Result<MutationSubject> ReadCase(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(PARITY_TEST_DATA) / "cases" / name;
  MutationSubject subject;
  subject.name = name;
  PARITY_ASSIGN_OR_RETURN(subject.model, ReadOnnxModel(folder / "model.onnx"));
  subject.reference.torchscript = folder / "reference.pt";
  std::ifstream file(folder / "case.json");
  const nlohmann::json label = nlohmann::json::parse(file);
  label.at("reference").at("outputs").get_to(subject.reference.output_names);
  for (const auto& entry :
       std::filesystem::directory_iterator(folder / "inputs"))
    subject.inputs.push_back(entry.path());
  std::ranges::sort(subject.inputs);
  AddVariants(subject.model, subject.benign);
  return subject;
}

}  // namespace

std::vector<std::string> SubjectNames() {
  std::vector<std::string> names;
  for (MattingSubject& matting : MattingSubjects())
    names.push_back(std::move(matting.name));
  names.insert(names.end(), std::begin(kCases), std::end(kCases));
  return names;
}

Result<MutationSubject> MakeSubject(const std::string& name,
                                    const std::filesystem::path& folder) {
  for (const MattingSubject& matting : MattingSubjects()) {
    if (matting.name == name) return MakeMatting(matting, folder);
  }
  if (std::ranges::contains(kCases, name)) return ReadCase(name);
  return Fail(ErrorCode::kNotFound,
              std::format("no subject of the name '{}'", name));
}

}  // namespace parity
