#include "backend/torch/exception_text.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "parity/error.h"

namespace parity {
namespace {

TEST(OneLineTest, KeepsTheSentenceThatSaysWhy) {
  struct Case {
    std::string what;
    std::string expected;
  };
  for (const Case& c : {
           Case{"", "libtorch failed without saying why"},
           Case{"\n \n\t", "libtorch failed without saying why"},
           Case{"one line", "one line"},
           Case{"  first:\n\n  detail\nrest\n", "first: detail"},
           Case{"bad size\nException raised from f at a.cpp:1 (most recent "
                "call first):\nframe #0: x + 0x1 (0x2 in libc10.so)\n",
                "bad size"},
           Case{"The following operation failed in the TorchScript "
                "interpreter.\n"
                "Traceback of TorchScript, serialized code (most recent call "
                "last):\n  File \"code/__torch__.py\", line 8, in forward\n"
                "    x: Tensor) -> Tensor:\n    return torch.matmul(x, w)\n"
                "           ~~~~~~~~~~~~ <--- HERE\n"
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied\n",
                "mat1 and mat2 shapes cannot be multiplied (at 'return "
                "torch.matmul(x, w)')"},
           Case{"Traceback of TorchScript (most recent call last):\n"
                "builtins.ValueError: no such mode: 7\n",
                "builtins.ValueError: no such mode: 7"},
           Case{"bell \a and\ttab", "bell   and tab"},
       }) {
    EXPECT_EQ(OneLine(c.what), c.expected) << c.what;
  }
}

TEST(OneLineTest, LongTextsEndBetweenCharacters) {
  std::string text;
  while (text.size() < 2000) text += "€";
  const std::string line = OneLine("a" + text);
  EXPECT_LE(line.size(), 600U);
  EXPECT_GT(line.size(), 590U);
  EXPECT_EQ(line.size() % 3, 1U);
}

TEST(CatchTorchTest, WhatIsThrownBecomesAnError) {
  const Status standard =
      CatchTorch([]() -> Status { throw std::runtime_error("went wrong"); });
  ASSERT_FALSE(standard.has_value());
  EXPECT_EQ(standard.error().code, ErrorCode::kBackend);
  EXPECT_EQ(standard.error().message, "went wrong");

  const Status torch = CatchTorch([]() -> Status {
    TORCH_CHECK(false, "shape '", 3, "' is invalid");
    return {};
  });
  ASSERT_FALSE(torch.has_value());
  EXPECT_EQ(torch.error().message, "shape '3' is invalid");
}

TEST(CatchTorchTest, ResultsPassThrough) {
  EXPECT_EQ(*CatchTorch([]() -> Result<int> { return 7; }), 7);
  const Result<int> failed = CatchTorch(
      []() -> Result<int> { return Fail(ErrorCode::kNotFound, "gone"); });
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace parity
