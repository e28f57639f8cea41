#include "formats/torch_checkpoint/pickle_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "formats/torch_checkpoint/pickle_maker.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "formats/zip/zip_maker.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using std::string_literals::operator""s;
using ::testing::HasSubstr;

constexpr std::string_view kOrderedDict = "ccollections\nOrderedDict\n";

TEST(PickleMachineTest, DamagedPicklesAreRefused) {
  for (const std::string& bytes : {
           ""s,                     // no STOP
           "."s,                    // nothing to return
           "N"s,                    // no STOP
           "0."s,                   // pops nothing
           "(."s,                   // returns a mark
           "t."s,                   // no mark
           "(t"s,                   // no STOP
           "\x85."s,                // a tuple of nothing
           "N(\x85."s,              // reaches below the mark
           "Na."s,                  // appends None to nothing
           "NNa."s,                 // appends to None
           ")Na."s,                 // appends to a tuple
           "NNNs."s,                // sets an item of None
           "}(Nu."s,                // a key without value
           "h\x05."s,               // recalls what was never kept
           "q\x01."s,               // keeps nothing
           "X\xff\xff\xff\xffx."s,  // longer than the file
           "\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."s,
           "\x95\xff\xff\xff\xff\xff\xff\xff\x7fN."s,  // a frame beyond the end
           "\x8b\xff\xff\xff\x7fN."s,
           "I12x\n."s,
           "I\n."s,
           "F1.5x\n."s,
           "S'abc\n."s,
           "Sabc\n."s,
           "S'\\q'\n."s,
           "V\\u12\n."s,
           "V\\U00110000\n."s,
           "gx\n."s,
           "g-1\n."s,
           "I12"s,    // no line end
           "\xff."s,  // no opcode
           "NNR."s,   // calls None
           "NNQ."s,   // no storage
           "Pid\n."s,
           std::string(kOrderedDict) + "NR.",      // no arguments
           std::string(kOrderedDict) + "N\x85R.",  // of no pairs
           "ctorch\nfloat32\n)R."s,                // calls a dtype
           "o."s,
           "(o."s,
           "(No."s,
       }) {
    const auto pickle = ReadPickle(AsBytes(bytes));
    ASSERT_FALSE(pickle.has_value()) << testing::PrintToString(bytes);
    EXPECT_EQ(pickle.error().code, ErrorCode::kCorrupt)
        << testing::PrintToString(bytes);
  }
}

TEST(PickleMachineTest, GlobalsOffTheListAreNamedHoweverTheyAreSpelled) {
  for (const std::string& bytes : {
           "cposix\nsystem\n)R."s,
           "cposix\nsystem\n."s,
           "(X\x02\0\0\0lsiposix\nsystem\n."s,
           "\x8c\x05posix\x8c\x06system\x93."s,
           "(cposix\nsystem\nX\x02\0\0\0lso."s,
           "U\x05posix\x94U\x06system\x93)\x81."s,
       }) {
    const auto pickle = ReadPickle(AsBytes(bytes));
    ASSERT_FALSE(pickle.has_value());
    EXPECT_EQ(pickle.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(pickle.error().message,
                HasSubstr("names the global 'posix.system', which this reader "
                          "never calls"));
  }
}

TEST(PickleMachineTest, RelativesOfAllowedGlobalsAreStillRefused) {
  for (const std::string_view name :
       {"builtins\neval", "builtins\ngetattr", "torch\nload",
        "torch._utils\n_rebuild_tensor_v2.__globals__", "torch.hub\nload",
        "torch.storage\n_load_from_bytes", "collections\nnamedtuple",
        "torch\nFloatStorageX", "torch\nStorage", "\n", "os\nsystem"}) {
    const std::string bytes = "c" + std::string(name) + "\n.";
    const auto pickle = ReadPickle(AsBytes(bytes));
    ASSERT_FALSE(pickle.has_value()) << name;
    EXPECT_EQ(pickle.error().code, ErrorCode::kUnsupported) << name;
  }
}

TEST(PickleMachineTest, ModulesAndSpecialTensorsGetAdvice) {
  struct Case {
    std::string bytes;
    std::string_view message;
  };
  for (const Case& c :
       {Case{"ctorch.nn.modules.conv\nConv2d\n)\x81.",
             "torch.save(model.state_dict(), FILE)"},
        Case{"c__main__\nNet\n)\x81}(U\x0b_parameters}U\x08_modules}ub.",
             "torch.save(model.state_dict(), FILE)"},
        Case{"ctorch._utils\n_rebuild_qtensor\n.", "quantized"},
        Case{"ctorch\nQInt8Storage\n.", "quantized"},
        Case{"ctorch._utils\n_rebuild_sparse_tensor\n.", "sparse"},
        Case{"ctorch\nfloat8_e4m3fn\n.", "8-bit float"}}) {
    const auto pickle = ReadPickle(AsBytes(c.bytes));
    ASSERT_FALSE(pickle.has_value());
    EXPECT_EQ(pickle.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(pickle.error().message, HasSubstr(c.message));
  }
}

TEST(PickleMachineTest, DeepNestingAndCyclesCostNoRecursion) {
  const std::string nested =
      std::string(1'000'000, ']') + std::string(999'999, 'a') + ".";
  EXPECT_TRUE(ReadPickle(AsBytes(nested)).has_value());
  // A list that contains itself.
  EXPECT_TRUE(ReadPickle(AsBytes("]q\x01h\x01"
                                 "a."s))
                  .has_value());
}

TEST(PickleMachineTest, RepeatedCopiesAreStopped) {
  // A list of 1000 items, turned into a set again and again.
  std::string bytes =
      "](" + std::string(1000, 'N') + "e\x85q\x01" + "cbuiltins\nset\nq\x02";
  for (int i = 0; i < 1000; ++i) bytes += "h\x02h\x01R";
  const auto pickle = ReadPickle(AsBytes(bytes + "."));
  ASSERT_FALSE(pickle.has_value());
  EXPECT_THAT(pickle.error().message, HasSubstr("without end"));
}

TEST(PickleMachineTest, ValueFloodsAreStopped) {
  const std::string flood((std::size_t{1} << 24) + 10, 'N');
  const auto pickle = ReadPickle(AsBytes(flood + "."));
  ASSERT_FALSE(pickle.has_value());
  EXPECT_EQ(pickle.error().code, ErrorCode::kUnsupported);
}

std::int64_t IntOf(std::string_view bytes) {
  const auto pickle = ReadPickle(AsBytes(bytes));
  EXPECT_TRUE(pickle.has_value()) << pickle.error().message;
  if (!pickle) return std::numeric_limits<std::int64_t>::min();
  const auto* const value = pickle->heap.Get<std::int64_t>(pickle->root);
  EXPECT_NE(value, nullptr);
  return value == nullptr ? 0 : *value;
}

TEST(PickleMachineTest, IntegersOfEveryOpcodeAreRead) {
  EXPECT_EQ(IntOf("I-12\n."), -12);
  EXPECT_EQ(IntOf("L77L\n."), 77);
  EXPECT_EQ(IntOf("K\xff."), 255);
  EXPECT_EQ(IntOf("M\xff\xff."), 65535);
  EXPECT_EQ(IntOf("J\xfe\xff\xff\xff."), -2);
  EXPECT_EQ(IntOf("\x8a\0."s), 0);
  EXPECT_EQ(IntOf("\x8a\x01\xff."), -1);
  EXPECT_EQ(IntOf("\x8a\x02\xff\0."s), 255);
  EXPECT_EQ(IntOf("\x8a\x08\0\0\0\0\0\0\0\x80."s),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(IntOf("\x8b\x02\0\0\0\x34\x12."s), 0x1234);
}

std::string TextOf(std::string_view bytes) {
  const auto pickle = ReadPickle(AsBytes(bytes));
  EXPECT_TRUE(pickle.has_value()) << pickle.error().message;
  if (!pickle) return "?";
  const auto* const value = pickle->heap.Get<std::string_view>(pickle->root);
  EXPECT_NE(value, nullptr);
  return value == nullptr ? "?" : std::string(*value);
}

TEST(PickleMachineTest, TextsOfEveryOpcodeAreRead) {
  EXPECT_EQ(TextOf("S'it\\'s \\x41\\n'\n."), "it's A\n");
  EXPECT_EQ(TextOf("T\x02\0\0\0ab."s), "ab");
  EXPECT_EQ(TextOf("U\x02"
                   "ab."),
            "ab");
  EXPECT_EQ(TextOf("Va\\u00e4\\U0001f600\xe4\n."), "aä😀ä");
  EXPECT_EQ(TextOf("X\x02\0\0\0ab."s), "ab");
  EXPECT_EQ(TextOf("\x8c\x02"
                   "ab."),
            "ab");
  EXPECT_EQ(TextOf("\x8d\x02\0\0\0\0\0\0\0ab."s), "ab");
}

TEST(PickleMachineTest, FloatsAreRead) {
  for (const std::string& bytes : {"F0.25\n."s, "G\x3f\xd0\0\0\0\0\0\0."s}) {
    const auto pickle = ReadPickle(AsBytes(bytes));
    ASSERT_TRUE(pickle.has_value()) << pickle.error().message;
    EXPECT_EQ(*pickle->heap.Get<double>(pickle->root), 0.25);
  }
}

TEST(PickleMachineTest, CollectionsOfEveryProtocolAreRead) {
  struct Case {
    std::string bytes;
    PickleSequence::Kind kind;
    std::size_t size;
  };
  using enum PickleSequence::Kind;
  for (const Case& c : {
           Case{").", kTuple, 0},
           Case{"(NNNNt.", kTuple, 4},
           Case{"NNN\x87.", kTuple, 3},
           Case{"].", kList, 0},
           Case{"(NNl.", kList, 2},
           Case{"](NNe.", kList, 2},
           Case{"]Na.", kList, 1},
           Case{"\x8f(NN\x90.", kSet, 2},
           Case{"(NN\x91.", kSet, 2},
           Case{"c__builtin__\nset\n](NNe\x85R.", kSet, 2},
           Case{"ctorch\nSize\nK\x01K\x02\x86\x85R.", kTuple, 2},
           // POP, POP_MARK, DUP, and the memo in all widths
           Case{"NN0](NNe(NN12q\x01r\x02\0\0\0p3\n\x94"
                "0h\x01j\x02\0\0\0g3\n000."s,
                kList, 2},
       }) {
    const auto pickle = ReadPickle(AsBytes(c.bytes));
    ASSERT_TRUE(pickle.has_value()) << pickle.error().message << c.bytes;
    const auto* const value = pickle->heap.Get<PickleSequence>(pickle->root);
    ASSERT_NE(value, nullptr) << c.bytes;
    EXPECT_EQ(value->kind, c.kind) << c.bytes;
    EXPECT_EQ(value->items.size(), c.size) << c.bytes;
  }
}

TEST(PickleMachineTest, DictionariesOfEverySpellingAreRead) {
  const std::string ordered(kOrderedDict);
  for (const std::string& bytes : {
           "}U\x01kK\x07s."s,
           "(U\x01kK\x07"
           "d."s,
           "}(U\x01kK\x07u."s,
           ordered + ")RU\x01kK\x07s.",
           ordered + ")\x81U\x01kK\x07s.",
           ordered + ")}\x92U\x01kK\x07s.",
           ordered + "](]U\x01k"
                     "aK\x07"
                     "ae\x85R.",
           ordered + "}U\x01kK\x07s\x85R.",
           ordered + ")R}U\x09_metadata}sbU\x01kK\x07s.",
       }) {
    const auto pickle = ReadPickle(AsBytes(bytes));
    ASSERT_TRUE(pickle.has_value()) << pickle.error().message << bytes;
    const auto* const dict = pickle->heap.Get<PickleDict>(pickle->root);
    ASSERT_NE(dict, nullptr) << bytes;
    ASSERT_EQ(dict->items.size(), 1U) << bytes;
    EXPECT_EQ(*pickle->heap.Get<std::string_view>(dict->items[0].first), "k");
    EXPECT_EQ(*pickle->heap.Get<std::int64_t>(dict->items[0].second), 7);
  }
}

TEST(PickleMachineTest, TensorsOfEveryRebuildFunctionAreDescribed) {
  const std::string storage = pickle::Storage("FloatStorage", "key", 24);
  const std::string untyped =
      pickle::Tuple(
          {pickle::Text("storage"), pickle::Global("torch", "UntypedStorage"),
           pickle::Text("key"), pickle::Text("cpu"), pickle::Int(96)}) +
      "Q";
  const std::string layout =
      pickle::Int(6) + pickle::Ints({2, 3}) + pickle::Ints({3, 1});
  const std::string v2 = pickle::Global("torch._utils", "_rebuild_tensor_v2");
  const std::string tensor =
      pickle::Call(v2, pickle::Tuple({storage, layout, "\x89N"}));
  for (const std::string& body : {
           tensor,
           pickle::Call(pickle::Global("torch._utils", "_rebuild_tensor"),
                        pickle::Tuple({storage, layout})),
           pickle::Call(pickle::Global("torch._utils", "_rebuild_tensor_v3"),
                        pickle::Tuple({untyped, layout, "\x89N",
                                       pickle::Global("torch", "float32")})),
           pickle::Call(pickle::Global("torch._utils", "_rebuild_parameter"),
                        pickle::Tuple({tensor, "\x88N"})),
           pickle::Call(
               pickle::Global("torch._tensor", "_rebuild_from_type_v2"),
               pickle::Tuple({v2,
                              pickle::Global("torch.nn.parameter", "Parameter"),
                              pickle::Tuple({storage, layout, "\x89N"}), "}"})),
       }) {
    const std::string bytes = pickle::File(body);
    const auto pickle = ReadPickle(AsBytes(bytes));
    ASSERT_TRUE(pickle.has_value()) << pickle.error().message;
    const auto* const value =
        pickle->heap.Get<std::unique_ptr<TensorDescription>>(pickle->root);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ((*value)->storage.key, "key");
    EXPECT_EQ((*value)->storage.size, 96U);
    EXPECT_EQ((*value)->dtype, DType::kFloat32);
    EXPECT_EQ((*value)->offset, 6);
    EXPECT_EQ((*value)->shape, (Shape{2, 3}));
    EXPECT_EQ((*value)->strides, (Shape{3, 1}));
  }
}

}  // namespace
}  // namespace parity
