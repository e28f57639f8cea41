#include "formats/torch_checkpoint/state_dict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/torch_checkpoint/pickle_machine.h"
#include "formats/torch_checkpoint/pickle_maker.h"
#include "formats/zip/zip_maker.h"
#include "parity/error.h"

namespace parity {
namespace {

using pickle::Dict;
using pickle::Int;
using pickle::SmallTensor;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Found {
  std::vector<std::string> names;
  std::vector<std::string> notes;
  std::string error;
};

Found Find(const std::string& body) {
  const std::string bytes = pickle::File(body);
  const auto read = ReadPickle(AsBytes(bytes));
  EXPECT_TRUE(read.has_value()) << read.error().message;
  Found found;
  const auto state_dict = FindStateDict(*read);
  if (!state_dict) {
    found.error = state_dict.error().message;
    return found;
  }
  for (const NamedDescription& entry : state_dict->tensors)
    found.names.push_back(entry.name);
  found.notes = state_dict->notes;
  return found;
}

TEST(StateDictTest, WhatHoldsNoStateDictIsExplained) {
  const std::string tensors = Dict({{"w", SmallTensor()}});
  struct Case {
    std::string body;
    std::string_view message;
  };
  for (const Case& c :
       {Case{"N", "holds no dictionary"},
        Case{"](" + tensors + "e", "holds no dictionary"},
        Case{SmallTensor(), "a single tensor"}, Case{"}", "no tensors"},
        Case{Dict({{"epoch", Int(1)}}), "no tensors"},
        Case{"}(" + Int(1) + SmallTensor() + "u", "no tensors"},
        Case{Dict({{"a", tensors}, {"b", tensors}}),
             "several sets of tensors ('a', 'b')"}}) {
    EXPECT_THAT(Find(c.body).error, HasSubstr(c.message));
  }
}

TEST(StateDictTest, DictionariesThatContainThemselvesEnd) {
  // d = {}; d["model"] = d
  const std::string error =
      Find("}q\x01" + pickle::Text("model") + "h\x01s").error;
  EXPECT_FALSE(error.empty());
}

TEST(StateDictTest, PlainDictionariesNeedNoNotes) {
  const Found found = Find(Dict({{"b", SmallTensor()}, {"a", SmallTensor()}}));
  EXPECT_THAT(found.names, ElementsAre("b", "a"));
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(StateDictTest, UsualNamesWinOverOtherEntries) {
  const std::string wanted = Dict({{"w", SmallTensor()}});
  const Found found = Find(Dict({{"loss", SmallTensor()},
                                 {"other", Dict({{"x", SmallTensor()}})},
                                 {"model", wanted}}));
  EXPECT_THAT(found.names, ElementsAre("w"));
  EXPECT_THAT(found.notes, ElementsAre("tensors found under 'model'"));
}

TEST(StateDictTest, TheOnlyDictionaryOfTensorsIsFound) {
  const std::string optimizer = Dict({{"state", "}"}, {"lr", Int(1)}});
  const Found found = Find(Dict(
      {{"optimizer", optimizer}, {"matting", Dict({{"w", SmallTensor()}})}}));
  EXPECT_THAT(found.names, ElementsAre("w"));
  EXPECT_THAT(found.notes, ElementsAre("tensors found under 'matting'"));
}

TEST(StateDictTest, NestedUsualNamesAreFollowed) {
  const Found found = Find(
      Dict({{"model", Dict({{"state_dict", Dict({{"w", SmallTensor()}})}})}}));
  EXPECT_THAT(found.notes,
              ElementsAre("tensors found under 'model.state_dict'"));
}

TEST(StateDictTest, WrapperPrefixesAreStrippedOnlyWhenShared) {
  struct Case {
    std::vector<std::string> names;
    std::vector<std::string> expected;
    std::vector<std::string> notes;
  };
  for (const Case& c : {
           Case{{"module.a", "module.b"},
                {"a", "b"},
                {"stripped the common prefix 'module.'"}},
           Case{{"module.a", "b"}, {"module.a", "b"}, {}},
           Case{{"module.a", "module."}, {"module.a", "module."}, {}},
           Case{{"_orig_mod.module.a"},
                {"a"},
                {"stripped the common prefix '_orig_mod.module.'"}},
           Case{{"model.a", "model.b"}, {"model.a", "model.b"}, {}},
       }) {
    std::vector<std::pair<std::string, std::string>> items;
    items.reserve(c.names.size());
    for (const std::string& name : c.names)
      items.emplace_back(name, SmallTensor());
    const Found found = Find(Dict(items));
    EXPECT_THAT(found.names, ElementsAreArray(c.expected));
    EXPECT_THAT(found.notes, ElementsAreArray(c.notes));
  }
}

TEST(StateDictTest, KeysSetTwiceKeepTheLastValue) {
  const Found found =
      Find(Dict({{"a", Int(1)}, {"b", SmallTensor()}, {"a", SmallTensor()}}));
  EXPECT_THAT(found.names, ElementsAre("a", "b"));
}

TEST(StateDictTest, IgnoredEntriesAreNoted) {
  const Found found = Find(Dict({{"w", SmallTensor()}, {"steps", Int(3)}}));
  EXPECT_THAT(found.names, ElementsAre("w"));
  EXPECT_THAT(found.notes, ElementsAre("ignored what is no tensor: 'steps'"));
}

TEST(StateDictTest, NamesThatAreNoUtf8AreRefused) {
  EXPECT_THAT(Find(Dict({{"\xff", SmallTensor()}})).error,
              HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace parity
