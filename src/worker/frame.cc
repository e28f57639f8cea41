#include "worker/frame.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <format>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {
namespace {

// Little-endian, as everything this project writes.
struct FrameHeader {
  std::uint32_t magic;
  std::uint32_t text_bytes;
  std::uint32_t descriptor_count;  // 0 or 1
  std::uint32_t reserved;          // 0
};
static_assert(sizeof(FrameHeader) == 16);
constexpr std::uint32_t kMagic = 0x31465750;  // "PWF1"

// Room for more descriptors than are allowed, so that surplus ones are seen and
// closed instead of cut off.
constexpr std::size_t kControlBytes = CMSG_SPACE(8 * sizeof(int));

bool IsGone(int reason) { return reason == EPIPE || reason == ECONNRESET; }

std::unexpected<Error> SocketError(int reason) {
  return Fail(ErrorCode::kIo, IsGone(reason)
                                  ? "the connection was closed"
                                  : std::format("the connection failed: {}",
                                                std::strerror(reason)));
}

// One sendmsg() of `bytes`, with `descriptor` unless negative. The number of
// bytes taken, 0 when the socket is full.
Result<std::size_t> SendSome(int socket, std::span<const std::byte> bytes,
                             int descriptor) {
  struct iovec block{.iov_base = const_cast<std::byte*>(bytes.data()),
                     .iov_len = bytes.size()};
  struct msghdr message{};
  message.msg_iov = &block;
  message.msg_iovlen = 1;
  alignas(struct cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))>
      control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return SocketError(errno);
}

Status SendAll(int socket, std::span<const std::byte> bytes, int descriptor,
               const FrameWaiter& wait) {
  while (!bytes.empty()) {
    PARITY_RETURN_IF_ERROR(wait(Direction::kWrite));
    PARITY_ASSIGN_OR_RETURN(const std::size_t sent,
                            SendSome(socket, bytes, descriptor));
    // The descriptor travels with the first byte.
    if (sent > 0) descriptor = -1;
    bytes = bytes.subspan(sent);
  }
  return {};
}

// Takes the descriptors of a received message: keeps the first, closes the
// rest. Returns how many there were.
std::size_t TakeDescriptors(struct msghdr& message, UniqueFd& first) {
  std::size_t count = 0;
  for (struct cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
      continue;
    const std::size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < here; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      UniqueFd descriptor(number);
      if (count++ == 0 && !first.valid()) first = std::move(descriptor);
    }
  }
  return count;
}

struct Received {
  std::size_t bytes = 0;
  std::size_t descriptors = 0;
  bool closed = false;
};

Result<Received> ReceiveSome(int socket, std::span<std::byte> bytes,
                             UniqueFd& descriptor) {
  struct iovec block{.iov_base = bytes.data(), .iov_len = bytes.size()};
  alignas(struct cmsghdr) std::array<std::byte, kControlBytes> control{};
  struct msghdr message{};
  message.msg_iov = &block;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count =
      ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return Received{};
    if (IsGone(errno)) return Received{.closed = true};
    return SocketError(errno);
  }
  return Received{.bytes = static_cast<std::size_t>(count),
                  .descriptors = TakeDescriptors(message, descriptor),
                  .closed = count == 0};
}

// Fills `bytes` and returns how many of them came before the end of the
// connection.
Result<std::size_t> ReceiveAll(int socket, std::span<std::byte> bytes,
                               UniqueFd& descriptor, std::size_t& descriptors,
                               const FrameWaiter& wait) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    PARITY_RETURN_IF_ERROR(wait(Direction::kRead));
    PARITY_ASSIGN_OR_RETURN(
        const Received received,
        ReceiveSome(socket, bytes.subspan(filled), descriptor));
    filled += received.bytes;
    descriptors += received.descriptors;
    if (received.closed) break;
  }
  return filled;
}

Status CheckHeader(const FrameHeader& header) {
  if (header.magic != kMagic || header.reserved != 0 ||
      header.descriptor_count > 1) {
    return Fail(ErrorCode::kCorrupt,
                std::format("no message begins with the bytes {:08x} {:08x} "
                            "{:08x} {:08x}",
                            header.magic, header.text_bytes,
                            header.descriptor_count, header.reserved));
  }
  if (header.text_bytes > kMaxFrameText) {
    return Fail(ErrorCode::kCorrupt,
                std::format("a message of {} bytes is longer than {}",
                            header.text_bytes, kMaxFrameText));
  }
  return {};
}

}  // namespace

FrameWaiter WaitForever(int socket) {
  return [socket](Direction direction) -> Status {
    const short events = direction == Direction::kRead ? POLLIN : POLLOUT;
    struct pollfd waiting{.fd = socket, .events = events, .revents = 0};
    while (::poll(&waiting, 1, -1) < 0) {
      if (errno != EINTR) return SocketError(errno);
    }
    return {};
  };
}

Status SendFrame(int socket, std::string_view text, int descriptor,
                 const FrameWaiter& wait) {
  if (text.size() > kMaxFrameText) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("a message of {} bytes is longer than {}",
                            text.size(), kMaxFrameText));
  }
  const FrameHeader header{
      .magic = kMagic,
      .text_bytes = static_cast<std::uint32_t>(text.size()),
      .descriptor_count = descriptor >= 0 ? 1U : 0U,
      .reserved = 0};
  PARITY_RETURN_IF_ERROR(
      SendAll(socket, std::as_bytes(std::span(&header, 1)), descriptor, wait));
  return SendAll(socket, std::as_bytes(std::span(text)), -1, wait);
}

Result<std::optional<Frame>> ReceiveFrame(int socket, const FrameWaiter& wait) {
  Frame frame;
  std::size_t descriptors = 0;
  FrameHeader header{};
  PARITY_ASSIGN_OR_RETURN(
      const std::size_t header_bytes,
      ReceiveAll(socket, std::as_writable_bytes(std::span(&header, 1)),
                 frame.descriptor, descriptors, wait));
  if (header_bytes == 0) return std::optional<Frame>();
  if (header_bytes == sizeof(header)) {
    PARITY_RETURN_IF_ERROR(CheckHeader(header));
    frame.text.resize(header.text_bytes);
    PARITY_ASSIGN_OR_RETURN(
        const std::size_t text_bytes,
        ReceiveAll(socket, std::as_writable_bytes(std::span(frame.text)),
                   frame.descriptor, descriptors, wait));
    if (text_bytes == frame.text.size()) {
      if (descriptors == header.descriptor_count) return frame;
      return Fail(ErrorCode::kCorrupt,
                  std::format("a message announces {} descriptors and has {}",
                              header.descriptor_count, descriptors));
    }
  }
  return Fail(ErrorCode::kCorrupt, "the connection was closed in a message");
}

}  // namespace parity
