#include "worker/frame.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

class FrameTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()),
              0);
    near_ = UniqueFd(ends[0]);
    far_ = UniqueFd(ends[1]);
  }

  void SendBytes(std::string_view bytes) const {
    ASSERT_EQ(::send(near_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] Status Send(std::string_view text, int descriptor = -1) const {
    return SendFrame(near_.get(), text, descriptor, WaitForever(near_.get()));
  }
  [[nodiscard]] Result<std::optional<Frame>> Receive() const {
    return ReceiveFrame(far_.get(), WaitForever(far_.get()));
  }

  UniqueFd near_;
  UniqueFd far_;
};

// A header as docs/worker_protocol.md lays it out.
std::string Header(std::string_view magic, unsigned char length,
                   unsigned char descriptors, unsigned char reserved) {
  std::string header(magic);
  for (const unsigned char field : {length, descriptors, reserved}) {
    header += static_cast<char>(field);
    header += std::string(3, '\0');
  }
  return header;
}

TEST_F(FrameTest, BytesOnTheSocketAreAsDocumented) {
  ASSERT_TRUE(Send("{}").has_value());
  std::array<char, 64> bytes{};
  const ssize_t count = ::recv(far_.get(), bytes.data(), bytes.size(), 0);
  ASSERT_EQ(count, 18);
  EXPECT_EQ(std::string(bytes.data(), 18), Header("PWF1", 2, 0, 0) + "{}");
}

TEST_F(FrameTest, TextsOfAllSizesArriveInOrder) {
  const std::string large(5'000'000, 'x');
  std::jthread sender([&] {
    EXPECT_TRUE(Send("").has_value());
    EXPECT_TRUE(Send("one").has_value());
    EXPECT_TRUE(Send(large).has_value());
  });
  for (const std::string& expected :
       {std::string(), std::string("one"), large}) {
    const auto frame = Receive();
    ASSERT_TRUE(frame.has_value() && frame->has_value());
    EXPECT_EQ((*frame)->text, expected);
    EXPECT_FALSE((*frame)->descriptor.valid());
  }
}

TEST_F(FrameTest, ADescriptorArrivesWithItsOwnFrameAndClosesOnExec) {
  const UniqueFd memory(::memfd_create("m", MFD_CLOEXEC));
  ASSERT_EQ(::pwrite(memory.get(), "abc", 3, 0), 3);
  ASSERT_TRUE(Send("first").has_value());
  ASSERT_TRUE(Send("second", memory.get()).has_value());
  ASSERT_TRUE(Send("third").has_value());
  EXPECT_FALSE((*Receive())->descriptor.valid());
  const auto frame = Receive();
  ASSERT_TRUE(frame.has_value() && frame->has_value());
  EXPECT_EQ((*frame)->text, "second");
  std::array<char, 3> content{};
  ASSERT_EQ(::pread((*frame)->descriptor.get(), content.data(), 3, 0), 3);
  EXPECT_EQ(std::string(content.data(), 3), "abc");
  EXPECT_NE(::fcntl((*frame)->descriptor.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE((*Receive())->descriptor.valid());
}

TEST_F(FrameTest, TheEndBetweenFramesIsNoError) {
  ASSERT_TRUE(Send("last").has_value());
  near_.reset();
  EXPECT_TRUE((*Receive()).has_value());
  const auto end = Receive();
  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(end->has_value());
}

TEST_F(FrameTest, TheEndWithinAFrameIsAnErrorAtEveryOffset) {
  const std::string whole = Header("PWF1", 4, 0, 0) + "{  }";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    SetUp();
    SendBytes(whole.substr(0, length));
    near_.reset();
    const auto frame = Receive();
    ASSERT_FALSE(frame.has_value());
    EXPECT_EQ(frame.error().message, "the connection was closed in a message");
  }
}

TEST_F(FrameTest, HeadersThatAreNoneAreRefused) {
  struct Case {
    std::string bytes;
    std::string message;
  };
  std::string endless = Header("PWF1", 0, 0, 0);
  endless.replace(4, 4, "\xFF\xFF\xFF\xFF");
  const std::array cases = {
      Case{Header("PWF2", 0, 0, 0), "no message begins with"},
      Case{Header("PWF1", 0, 2, 0), "no message begins with"},
      Case{Header("PWF1", 0, 0, 1), "no message begins with"},
      Case{"Hello, I print on any descriptor", "no message begins with"},
      Case{endless, "a message of 4294967295 bytes is longer than"},
      Case{Header("PWF1", 0, 1, 0), "announces 1 descriptors and has 0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    SetUp();
    SendBytes(c.bytes);
    const auto frame = Receive();
    ASSERT_FALSE(frame.has_value());
    EXPECT_EQ(frame.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(frame.error().message, HasSubstr(c.message));
  }
}

TEST_F(FrameTest, SurplusDescriptorsAreRefusedAndClosed) {
  const std::string header = Header("PWF1", 0, 1, 0);
  const std::array<int, 3> sent = {near_.get(), near_.get(), near_.get()};
  struct iovec block{.iov_base = const_cast<char*>(header.data()),
                     .iov_len = header.size()};
  alignas(struct cmsghdr) std::array<char, CMSG_SPACE(sizeof(sent))> control{};
  struct msghdr message{};
  message.msg_iov = &block;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  struct cmsghdr* const ancillary = CMSG_FIRSTHDR(&message);
  ancillary->cmsg_level = SOL_SOCKET;
  ancillary->cmsg_type = SCM_RIGHTS;
  ancillary->cmsg_len = CMSG_LEN(sizeof(sent));
  std::memcpy(CMSG_DATA(ancillary), sent.data(), sizeof(sent));
  const int next_free = ::dup(0);
  ::close(next_free);
  ASSERT_EQ(::sendmsg(near_.get(), &message, 0), 16);
  const auto frame = Receive();
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error().message,
            "a message announces 1 descriptors and has 3");
  const UniqueFd now_free(::dup(0));
  EXPECT_EQ(now_free.get(), next_free);
}

TEST_F(FrameTest, SendingToNobodyIsAnErrorAndNoSignal) {
  far_.reset();
  const Status sent = Send("{}");
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().message, "the connection was closed");
}

TEST_F(FrameTest, TooLongATextIsNotSent) {
  const Status sent = Send(std::string(kMaxFrameText + 1, ' '));
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(FrameTest, AnErrorOfTheWaiterEndsTheWait) {
  const auto give_up = [](Direction) -> Status {
    return Fail(ErrorCode::kInterrupted, "enough");
  };
  EXPECT_EQ(ReceiveFrame(far_.get(), give_up).error().message, "enough");
  EXPECT_EQ(SendFrame(near_.get(), "{}", -1, give_up).error().message,
            "enough");
}

}  // namespace
}  // namespace parity
