#include "runtimes/npm_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "parity/error.h"
#include "runtimes/testing/fake_npm.h"
#include "runtimes/testing/package_maker.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(NpmClientTest, VersionsAreFetched) {
  const FakeNpm fake;
  fake.Publish("1.20.1", "bytes");
  std::filesystem::create_directory(fake / "to");
  const NpmClient npm(nullptr);
  EXPECT_EQ(npm.LatestVersion().value(), "1.20.1");
  EXPECT_THAT(npm.Integrity("1.20.1").value(), testing::StartsWith("sha512-"));
  const auto file = npm.Download("1.20.1", fake / "to");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(ReadTestFile(file->string()), "bytes");
}

TEST(NpmClientTest, WithoutNpmTheErrorSaysWhatElseThereIs) {
  ::setenv("ONNX_PARITY_NPM", "/no/such/npm", 1);
  const auto answer = NpmClient(nullptr).Integrity("1.20.1");
  ::unsetenv("ONNX_PARITY_NPM");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr("/no/such/npm"), HasSubstr("install npm"),
                    HasSubstr("ONNX_PARITY_NPM"), HasSubstr("--package FILE"),
                    Not(HasSubstr("\n"))));
}

TEST(NpmClientTest, AWrapperThatDoesNotFindNpmMeansTheSame) {
  const FakeNpm fake;
  WriteTestFile(fake / "npm", "#!/bin/sh\nexec /no/such/npm\n");
  const auto answer = NpmClient(nullptr).Integrity("1.20.1");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(answer.error().message, HasSubstr("install npm"));
}

TEST(NpmClientTest, WithoutNetworkTheErrorNamesTheOtherWay) {
  const FakeNpm fake;
  for (const char* code :
       {"ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN"}) {
    fake.FailWith(code, "request failed");
    const auto answer = NpmClient(nullptr).Integrity("1.20.1");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kIo);
    EXPECT_THAT(answer.error().message,
                AllOf(HasSubstr("cannot reach the npm registry"),
                      HasSubstr(code), HasSubstr("onnxruntime-node-1.20.1.tgz"),
                      HasSubstr("--package FILE --integrity sha512-"),
                      Not(HasSubstr("\n"))));
  }
}

TEST(NpmClientTest, AVersionThatDoesNotExistIsAnsweredWithTheNearest) {
  const FakeNpm fake;
  for (const char* version :
       {"1.9.0", "1.16.0", "1.17.0", "1.18.0", "1.20.1", "1.20.3-dev", "1.21.0",
        "1.22.0", "1.23.0", "1.24.0"})
    fake.Publish(version, "x");
  const std::string expected =
      "there is no onnxruntime-node@1.20.2; the nearest are 1.17.0, 1.18.0, "
      "1.20.1, 1.21.0, 1.22.0, 1.23.0";
  const auto answer = NpmClient(nullptr).Integrity("1.20.2");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(answer.error().message, expected);
  // npm 8 has no error for it.
  fake.BeOld();
  const auto old = NpmClient(nullptr).Integrity("1.20.2");
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().message, expected);
}

TEST(NpmClientTest, WhateverElseGoesWrongIsToldInNpmsWords) {
  const FakeNpm fake;
  fake.FailWith("E401", "Unable to authenticate");
  const auto answer = NpmClient(nullptr).Integrity("1.20.1");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, EndsWith(": Unable to authenticate"));
}

TEST(NpmClientTest, WhatOldClientsPrintIsUnderstood) {
  const FakeNpm fake;
  WriteTestFile(fake / "npm",
                "#!/bin/sh\n"
                "echo 'npm WARN config x' >&2\n"
                "echo 'npm ERR! code EINVAL' >&2\n"
                "echo 'npm ERR! The reason' >&2\n"
                "echo 'npm ERR! ' >&2\n"
                "echo 'npm ERR! A complete log of this run is in x' >&2\n"
                "echo 'npm notice New version' >&2\n"
                "exit 1\n");
  const auto answer = NpmClient(nullptr).Integrity("1.20.1");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, EndsWith(": The reason"));
}

TEST(NpmClientTest, OtherAnswersAreNotBelieved) {
  const FakeNpm fake;
  fake.Publish("1.20.1", "x");
  fake.SetIntegrity("1.20.1", "x\"]\nsecond line");
  const auto answer = NpmClient(nullptr).Integrity("1.20.1");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr("not the answer of an npm client"),
                    Not(HasSubstr("\n"))));
}

TEST(NpmClientTest, AnInterruptionEndsADownload) {
  const FakeNpm fake;
  fake.Publish("1.20.1", "x");
  fake.SetPackSeconds("60");
  const std::atomic<bool> interrupted = true;
  const auto file = NpmClient(&interrupted).Download("1.20.1", fake / "to");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace parity
