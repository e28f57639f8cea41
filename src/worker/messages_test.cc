#include "worker/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backend/backend.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(MessagesTest, RequestsAreAsDocumented) {
  EXPECT_EQ(Encode(WorkerRequest{.memory_limit_bytes = 5}),
            R"({"memory_limit_bytes":5,"protocol":3,"request":"hello"})");
  EXPECT_EQ(
      Encode(WorkerRequest{.kind = RequestKind::kRun,
                           .output_names = {"pha", "fgr"}}),
      R"({"outputs":["pha","fgr"],"repeats":0,"request":"run","trace":false})");
  EXPECT_EQ(Encode(WorkerRequest{.kind = RequestKind::kQuit}),
            R"({"request":"quit"})");
}

TEST(MessagesTest, ALoadRequestKeepsEveryMember) {
  LoadRequest load;
  load.kind = ModelKind::kNetwork;
  load.path = "/models/ü \"x\".onnx";
  load.attributes = {{"refine_mode", "sampling"}, {"scale", "0.25"}};
  load.precision = "float64";
  load.threads = 3;
  load.provider = "CPUExecutionProvider";
  load.optimization = "basic";
  load.runtime_library = "/lib/libonnxruntime.so";
  load.reference_kernels = "native";
  load.output_names = {"pha", "fgr"};
  load.disabled_optimizers = {"ConstantFolding", "MatMulAddFusion"};
  load.taps = {"/conv1/Conv_output_0"};
  load.measured = true;
  load.scratch_folder = "/tmp/scratch";
  const auto decoded = DecodeRequest(
      Encode(WorkerRequest{.kind = RequestKind::kLoad, .load = load}));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->kind, RequestKind::kLoad);
  EXPECT_EQ(decoded->load.kind, ModelKind::kNetwork);
  EXPECT_EQ(decoded->load.path, load.path);
  EXPECT_THAT(
      decoded->load.attributes,
      ElementsAre(Pair("refine_mode", "sampling"), Pair("scale", "0.25")));
  EXPECT_EQ(decoded->load.precision, "float64");
  EXPECT_EQ(decoded->load.threads, 3);
  EXPECT_TRUE(decoded->load.measured);
  EXPECT_EQ(decoded->load.scratch_folder, "/tmp/scratch");
  EXPECT_EQ(decoded->load.provider, "CPUExecutionProvider");
  EXPECT_EQ(decoded->load.optimization, "basic");
  EXPECT_EQ(decoded->load.runtime_library, "/lib/libonnxruntime.so");
  EXPECT_EQ(decoded->load.reference_kernels, "native");
  EXPECT_THAT(decoded->load.output_names, ElementsAre("pha", "fgr"));
  EXPECT_THAT(decoded->load.disabled_optimizers,
              ElementsAre("ConstantFolding", "MatMulAddFusion"));
  EXPECT_THAT(decoded->load.taps, ElementsAre("/conv1/Conv_output_0"));
}

TEST(MessagesTest, ARunRequestKeepsItsWishes) {
  const auto decoded = DecodeRequest(Encode(WorkerRequest{
      .kind = RequestKind::kRun, .output_names = {"y"}, .trace = true}));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_THAT(decoded->output_names, ElementsAre("y"));
  EXPECT_TRUE(decoded->trace);
}

TEST(MessagesTest, ATraceKeepsItsOrderAndDescriptions) {
  RunReply reply;
  reply.trace = {{.name = "a",
                  .op = "Conv",
                  .module = "/conv/Conv",
                  .dtype = DType::kFloat64,
                  .shape = {1, 3}},
                 {.name = "",
                  .op = "aten::topk",
                  .module = "refiner",
                  .dtype = DType::kInt64,
                  .shape = {}}};
  const auto decoded = DecodeRunReply(Encode(reply));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  ASSERT_EQ(decoded->trace.size(), 2U);
  EXPECT_EQ(decoded->trace[0].name, "a");
  EXPECT_EQ(decoded->trace[0].op, "Conv");
  EXPECT_EQ(decoded->trace[0].module, "/conv/Conv");
  EXPECT_EQ(decoded->trace[0].dtype, DType::kFloat64);
  EXPECT_EQ(decoded->trace[0].shape, (Shape{1, 3}));
  EXPECT_EQ(decoded->trace[1].op, "aten::topk");
  EXPECT_EQ(decoded->trace[1].dtype, DType::kInt64);
  EXPECT_EQ(decoded->trace[1].shape, Shape{});
}

TEST(MessagesTest, TracesThatAreNoneAreRefused) {
  const std::string start =
      R"({"outputs":[],"changed_inputs":[],"run_ms":1,"peak_rss_bytes":1,)";
  for (const char* const trace :
       {R"("trace":1})", R"("trace":[1]})", R"("trace":[{}]})",
        R"("trace":[{"name":"a","op":"b","module":"c","dtype":"float33",)"
        R"("shape":[]}]})",
        R"("trace":[{"name":"a","op":"b","module":"c","dtype":"float32",)"
        R"("shape":["1"]}]})"}) {
    const auto decoded = DecodeRunReply(start + trace);
    ASSERT_FALSE(decoded.has_value()) << trace;
    EXPECT_EQ(decoded.error().code, ErrorCode::kWorkerDied);
  }
}

TEST(MessagesTest, RepliesKeepEveryMember) {
  const auto load = DecodeLoadReply(Encode(LoadResult{.version = "X 1.0",
                                                      .input_names = {"src"},
                                                      .output_names = {"pha"},
                                                      .notes = {"a", "b"},
                                                      .kernels = "native",
                                                      .load_ms = 1.5}));
  ASSERT_TRUE(load.has_value()) << load.error().message;
  EXPECT_EQ(load->version, "X 1.0");
  EXPECT_THAT(load->input_names, ElementsAre("src"));
  EXPECT_THAT(load->output_names, ElementsAre("pha"));
  EXPECT_THAT(load->notes, ElementsAre("a", "b"));
  EXPECT_EQ(load->kernels, "native");
  EXPECT_EQ(load->load_ms, 1.5);

  const auto run =
      DecodeRunReply(Encode(RunReply{.output_names = {"b", "a"},
                                     .changed_inputs = {"src"},
                                     .run_ms = 2.5,
                                     .repeat_ms = {1.5, 0.1},
                                     .provider_nodes = {{"Cpu", 7}},
                                     .peak_rss_bytes = 1LL << 40}));
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_THAT(run->output_names, ElementsAre("b", "a"));
  EXPECT_THAT(run->changed_inputs, ElementsAre("src"));
  EXPECT_EQ(run->run_ms, 2.5);
  EXPECT_THAT(run->repeat_ms, ElementsAre(1.5, 0.1));
  EXPECT_THAT(run->provider_nodes, ElementsAre(Pair("Cpu", 7)));
  EXPECT_EQ(run->peak_rss_bytes, 1LL << 40);
}

TEST(MessagesTest, AnErrorArrivesInPlaceOfEveryReply) {
  for (const ErrorCode code :
       {ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kUnsupported,
        ErrorCode::kIncompatible, ErrorCode::kInvalidArgument, ErrorCode::kIo,
        ErrorCode::kBackend, ErrorCode::kWorkerDied, ErrorCode::kInterrupted}) {
    const std::string text = Encode(Error{.code = code, .message = "why"});
    EXPECT_EQ(DecodeHelloReply(text).error().code, code);
    EXPECT_EQ(DecodeLoadReply(text).error().code, code);
    EXPECT_EQ(DecodeRunReply(text).error().code, code);
    EXPECT_EQ(DecodeRunReply(text).error().message, "why");
  }
}

TEST(MessagesTest, BytesThatAreNoTextAreReplacedAndNotThrownAt) {
  const auto decoded = DecodeRunReply(
      Encode(Error{.code = ErrorCode::kBackend, .message = "name \xff\xfe"}));
  EXPECT_EQ(decoded.error().message, "name \uFFFD\uFFFD");
}

TEST(MessagesTest, TextsThatAreNoMessageAreRefused) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "no JSON object"},
      {"{", "no JSON object"},
      {"[]", "no JSON object"},
      {"\xff", "no JSON object"},
      {std::string(100'000, '['), "no JSON object"},
      {"{}", "without a proper 'outputs'"},
      {R"({"outputs":{}})", "without a proper 'outputs'"},
      {R"({"outputs":[1]})", "without a proper 'outputs'"},
      {R"({"outputs":[]})", "without a proper 'changed_inputs'"},
      {R"({"outputs":[],"changed_inputs":[],"run_ms":"1"})",
       "without a proper 'run_ms'"},
      {R"({"outputs":[],"changed_inputs":[],"run_ms":1,"peak_rss_bytes":1.5})",
       "without a proper 'peak_rss_bytes'"},
      {R"({"error":1})", "without a proper 'error'"},
      {R"({"error":{"code":"backend"}})", "without a proper 'message'"},
  };
  for (const Case& c : cases) {
    const auto decoded = DecodeRunReply(c.text);
    ASSERT_FALSE(decoded.has_value()) << c.text;
    EXPECT_EQ(decoded.error().code, ErrorCode::kWorkerDied);
    EXPECT_THAT(decoded.error().message, HasSubstr(c.message));
  }
}

TEST(MessagesTest, RequestsThatAreNoneAreRefused) {
  for (const char* const text :
       {"{}", R"({"request":"dance"})", R"({"request":1})",
        R"({"request":"hello"})", R"({"request":"run"})",
        R"({"request":"load","kind":"jpeg"})"}) {
    EXPECT_FALSE(DecodeRequest(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace parity
