#include "worker/last_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace parity {
namespace {

TEST(LastWordsTest, NothingIsLeftOfNothing) {
  for (const char* const output : {"", "\n", " \n\t\n\r\n\n"})
    EXPECT_EQ(LastWords(output), "");
}

TEST(LastWordsTest, TheLastThreeLinesAreJoined) {
  EXPECT_EQ(LastWords("one"), "one");
  EXPECT_EQ(LastWords("one\ntwo\n\nthree\n  four\r\n"), "two | three | four");
}

TEST(LastWordsTest, NoiseOfTheLibrariesIsLeftOut) {
  std::string output = "terminate called\n";
  for (int i = 0; i < 1000; ++i)
    output += "Schema error: Trying to register schema with name Add\n";
  EXPECT_EQ(LastWords(output), "terminate called");
}

TEST(LastWordsTest, LongLinesAreCutBetweenCharacters) {
  std::string line;
  for (int i = 0; i < 200; ++i) line += "é";
  std::string expected;
  for (int i = 0; i < 150; ++i) expected += "é";
  EXPECT_EQ(LastWords(line), expected + "…");
}

TEST(LastWordsTest, WhatCannotBePrintedIsReplaced) {
  EXPECT_EQ(LastWords("a\x1b[31mred\x07 \xff\xc3 é\xe2\x82"), "ared? ?? é??");
}

TEST(LastWordsTest, ColoursAreLeftOut) {
  EXPECT_EQ(LastWords("\x1b[1;31mred\x1b[m\n\x1b[m\n"), "red");
  EXPECT_EQ(LastWords("cut \x1b[1;3"), "cut ");
}

TEST(LastWordsTest, MemoryTroubleIsRecognised) {
  for (const char* const text :
       {"what():  std::bad_alloc",
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 "
        "bytes. Error code 12 (Cannot allocate memory)",
        "bfc_arena: Failed to allocate memory for requested buffer of size 4",
        "libtorch_cpu.so: failed to map segment from shared object"}) {
    EXPECT_TRUE(MentionsNoMemory(text)) << text;
  }
  for (const char* const text : {"", "an assertion failed", "memory format"})
    EXPECT_FALSE(MentionsNoMemory(text)) << text;
}

}  // namespace
}  // namespace parity
