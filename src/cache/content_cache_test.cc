#include "cache/content_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/cache_lock.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

constexpr std::int64_t kLarge = 1'000'000'000;
constexpr std::size_t kHeadSize = 128;

std::string Key(int number) { return std::format("{:064x}", number); }

std::vector<std::span<const std::byte>> Pieces(std::string_view text) {
  return {std::as_bytes(std::span(text.data(), text.size()))};
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A process of its own that does `deed` and ends with its result.
pid_t Fork(const std::function<int()>& deed) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(deed());
  return pid;
}

int Wait(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class ContentCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "content-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] ContentCache Open(std::int64_t max_bytes = kLarge) const {
    return *ContentCache::Open(Folder(), max_bytes);
  }
  [[nodiscard]] fs::path Folder() const { return root_ / "cache"; }
  [[nodiscard]] fs::path EntryOf(int number) const {
    return Folder() / (Key(number) + ".entry");
  }
  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(Folder()))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  // As if the entry had been used that long ago.
  void Age(int number, std::chrono::seconds age) const {
    fs::last_write_time(EntryOf(number),
                        fs::file_time_type::clock::now() - age);
  }

  // The payload as text; nothing when there is none.
  static std::optional<std::string> Get(ContentCache& cache, int number) {
    const auto payload = cache.Get(Key(number));
    if (!payload) ADD_FAILURE() << payload.error().message;
    if (!payload || !*payload) return std::nullopt;
    const auto bytes = (*payload)->bytes;
    return std::string(reinterpret_cast<const char*>(bytes.data()),
                       bytes.size());
  }
  static void Put(ContentCache& cache, int number, std::string_view text) {
    const Status put = cache.Put(Key(number), Pieces(text));
    EXPECT_TRUE(put.has_value()) << put.error().message;
  }

  fs::path root_;
};

TEST_F(ContentCacheTest, WhatWasPutIsFoundByEveryoneWhoOpensTheFolder) {
  ContentCache cache = Open();
  EXPECT_EQ(Get(cache, 1), std::nullopt);
  const std::string two = "two";
  std::vector<std::span<const std::byte>> pieces = Pieces("one ");
  pieces.push_back(Pieces(two).front());
  ASSERT_TRUE(cache.Put(Key(1), pieces).has_value());
  Put(cache, 2, "");
  ContentCache other = Open();
  EXPECT_EQ(Get(other, 1), "one two");
  EXPECT_EQ(Get(other, 2), "");
  EXPECT_EQ(Get(other, 3), std::nullopt);
  Put(other, 1, "again");
  EXPECT_EQ(Get(cache, 1), "again");
  cache.Remove(Key(1));
  EXPECT_EQ(Get(cache, 1), std::nullopt);
  EXPECT_THAT(cache.TakeNotes(), IsEmpty());
  EXPECT_THAT(Names(), ElementsAre(Key(2) + ".entry"));
}

TEST_F(ContentCacheTest, TheBytesOfAnEntryAreAsSpecified) {
  ContentCache cache = Open();
  Put(cache, 7, "payload");
  std::string expected = "PARITYCE";
  expected += std::string("\1\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0", 16);
  // (printf '%064x' 7; printf payload) | sha256sum
  expected +=
      "115c14b0754d63cd575cefd6cb33118278d91a5effa3b00ab2514ed597963eb6";
  expected.append(40, '\0');
  expected += "payload";
  EXPECT_EQ(ReadFile(EntryOf(7)), expected);
}

TEST_F(ContentCacheTest, EveryTruncationAndBitFlipIsAnAbsentEntry) {
  ContentCache cache = Open();
  Put(cache, 1, "some payload");
  const std::string good = ReadFile(EntryOf(1));
  ASSERT_EQ(good.size(), kHeadSize + 12);
  const auto expect_absent = [&](const std::string& damaged) {
    WriteFile(EntryOf(1), damaged);
    EXPECT_EQ(Get(cache, 1), std::nullopt);
    EXPECT_FALSE(fs::exists(EntryOf(1)));
    EXPECT_THAT(cache.TakeNotes(), ElementsAre(HasSubstr("damaged")));
  };
  for (std::size_t size = 0; size < good.size(); ++size) {
    SCOPED_TRACE(size);
    expect_absent(good.substr(0, size));
  }
  expect_absent(good + "x");
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    SCOPED_TRACE(bit);
    std::string damaged = good;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    expect_absent(damaged);
  }
  WriteFile(EntryOf(1), good);
  EXPECT_EQ(Get(cache, 1), "some payload");
}

TEST_F(ContentCacheTest, AnEntryUnderAnotherNameIsNotTakenForIt) {
  ContentCache cache = Open();
  Put(cache, 1, "one");
  fs::rename(EntryOf(1), EntryOf(2));
  EXPECT_EQ(Get(cache, 2), std::nullopt);
}

TEST_F(ContentCacheTest, WhatWasNotUsedForLongestGoesFirst) {
  const std::string payload(1000 - kHeadSize, 'p');
  ContentCache cache = Open(3000);
  for (const int number : {1, 2, 3}) Put(cache, number, payload);
  Age(1, std::chrono::seconds(30));
  Age(2, std::chrono::seconds(20));
  Age(3, std::chrono::seconds(10));
  EXPECT_EQ(Get(cache, 1), payload);  // used: now the newest
  Put(cache, 4, payload);
  EXPECT_THAT(Names(), ElementsAre(Key(1) + ".entry", Key(3) + ".entry",
                                   Key(4) + ".entry"));
  // As large as the bound: all others make room.
  const std::string whole(3000 - kHeadSize, 'w');
  Put(cache, 5, whole);
  EXPECT_THAT(Names(), ElementsAre(Key(5) + ".entry"));
  EXPECT_EQ(Get(cache, 5), whole);
  EXPECT_THAT(cache.TakeNotes(), IsEmpty());
}

TEST_F(ContentCacheTest, WhatIsLargerThanTheBoundIsNotKeptAndEvictsNothing) {
  ContentCache cache = Open(1000);
  Put(cache, 1, "small");
  Put(cache, 2, std::string(1000, 'x'));
  EXPECT_THAT(cache.TakeNotes(), ElementsAre(HasSubstr("was not kept")));
  EXPECT_THAT(Names(), ElementsAre(Key(1) + ".entry"));
}

TEST_F(ContentCacheTest, APayloadOutlivesItsEviction) {
  ContentCache cache = Open(1000);
  Put(cache, 1, std::string(500, 'a'));
  const auto held = cache.Get(Key(1));
  Put(cache, 2, std::string(500, 'b'));
  EXPECT_EQ(Get(cache, 1), std::nullopt);
  const auto bytes = (*held)->bytes;
  EXPECT_TRUE(std::ranges::all_of(
      bytes, [](std::byte b) { return b == std::byte{'a'}; }));
  EXPECT_EQ(bytes.size(), 500U);
}

TEST_F(ContentCacheTest, FilesOfOthersAreLeftAlone) {
  fs::create_directories(Folder());
  for (const char* name : {"notes.txt", "1.entry", "x.entry.1.partial"})
    WriteFile(Folder() / name, std::string(5000, 'x'));
  ContentCache cache = Open(500);
  Put(cache, 1, "a");
  EXPECT_EQ(Get(cache, 1), "a");
  EXPECT_THAT(Names(), SizeIs(4));
}

TEST_F(ContentCacheTest, LeftoversOfKilledProcessesAreRemovedAtOpen) {
  {
    const ContentCache made = Open();
  }
  const pid_t dead = Fork([] { return 0; });
  Wait(dead);
  const auto partial = [&](int number, pid_t pid) {
    return Folder() / std::format("{}.entry.{}.partial", Key(number), pid);
  };
  const auto write = [&](const fs::path& path, std::chrono::seconds age) {
    WriteFile(path, "half");
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  };
  using std::chrono::hours;
  using std::chrono::minutes;
  write(partial(1, dead), minutes(2));
  write(partial(2, dead), minutes(0));        // a process of another host?
  write(partial(3, ::getpid()), minutes(2));  // still being written
  write(partial(4, ::getpid()), hours(2));    // of an earlier process
  WriteFile(Folder() / (Key(5) + ".lock"), "");
  const auto held = Open().Lock(Key(6), nullptr);
  ASSERT_TRUE(held.has_value());
  const ContentCache cache = Open();
  EXPECT_THAT(Names(), ElementsAre(partial(2, dead).filename().string(),
                                   partial(3, ::getpid()).filename().string(),
                                   Key(6) + ".lock"));
}

TEST_F(ContentCacheTest, AFolderThatCannotBeUsedIsOneLineThatNamesIt) {
  WriteFile(root_ / "file", "");
  for (const fs::path& folder :
       {root_ / "file", root_ / "file" / "below", fs::path("/proc/nowhere")}) {
    const auto cache = ContentCache::Open(folder, kLarge);
    ASSERT_FALSE(cache.has_value()) << folder;
    EXPECT_EQ(cache.error().code, ErrorCode::kIo);
    EXPECT_THAT(cache.error().message, HasSubstr(folder.string()));
  }
}

TEST_F(ContentCacheTest, AFolderThatMayNotBeWrittenIsAnError) {
  {
    const ContentCache made = Open();
  }
  fs::permissions(root_, fs::perms(0755));
  fs::permissions(Folder(), fs::perms(0555));
  const pid_t child = Fork([&] {
    // The superuser may write anywhere.
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 1;
    const auto cache = ContentCache::Open(Folder(), kLarge);
    if (cache) return 2;
    return cache.error().message.ends_with("Permission denied") ? 0 : 3;
  });
  EXPECT_EQ(Wait(child), 0);
  fs::permissions(Folder(), fs::perms::owner_all);
}

// A full disk, played by a limit on the size of files.
TEST_F(ContentCacheTest, WhatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  const std::string payload(100'000, 'x');
  const pid_t child = Fork([&] {
    ContentCache cache = Open();
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 50'000, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status put = cache.Put(Key(1), Pieces(payload));
    if (put.has_value()) return 1;
    if (put.error().code != ErrorCode::kIo) return 2;
    if (put.error().message != "File too large") return 3;
    return Names().empty() ? 0 : 4;
  });
  EXPECT_EQ(Wait(child), 0);
}

TEST_F(ContentCacheTest, ManyProcessesNeverSeeWrongBytes) {
  constexpr int kKeys = 6;
  const auto payload = [](int number) {
    return std::string(1000 + 3000 * static_cast<std::size_t>(number),
                       static_cast<char>('a' + number));
  };
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    int found = 0;
    for (int i = 0; i < 300; ++i) {
      auto cache = ContentCache::Open(Folder(), 30'000);
      if (!cache) return 1;
      const int number = static_cast<int>(random() % kKeys);
      const auto got = cache->Get(Key(number));
      if (!got) return 2;
      if (*got) {
        const std::string expected = payload(number);
        if (!std::ranges::equal((*got)->bytes, Pieces(expected).front()))
          return 3;
        ++found;
      } else if (!cache->Put(Key(number), Pieces(payload(number)))) {
        return 4;
      }
      if (!cache->TakeNotes().empty()) return 5;
    }
    return found > 0 ? 0 : 6;
  };
  std::vector<pid_t> children;
  children.reserve(8);
  for (unsigned i = 0; i < 8; ++i)
    children.push_back(Fork([&, i] { return work(i); }));
  for (const pid_t child : children) EXPECT_EQ(Wait(child), 0);
  std::int64_t total = 0;
  for (const auto& entry : fs::directory_iterator(Folder())) {
    EXPECT_EQ(entry.path().extension(), ".entry");
    total += static_cast<std::int64_t>(entry.file_size());
  }
  EXPECT_LE(total, 30'000);
}

TEST_F(ContentCacheTest, ThreadsMayPutTheSameEntryAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      ContentCache cache = Open();
      const std::string own(1000 * static_cast<std::size_t>(i + 1), 'x');
      for (int k = 0; k < 50; ++k) {
        Put(cache, 1, own);
        const auto got = Get(cache, 1);
        ASSERT_TRUE(got.has_value());
        EXPECT_EQ(got->size() % 1000, 0U);
      }
      EXPECT_THAT(cache.TakeNotes(), IsEmpty());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Names(), ElementsAre(Key(1) + ".entry"));
}

TEST_F(ContentCacheTest, OneOfManyProcessesComputes) {
  {
    const ContentCache made = Open();
  }
  std::vector<pid_t> children;
  children.reserve(8);
  for (int i = 0; i < 8; ++i) {
    children.push_back(Fork([&] {
      ContentCache cache = Open();
      const auto lock = cache.Lock(Key(1), nullptr);
      if (!lock) return 10;
      if (Get(cache, 1)) return 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Put(cache, 1, "computed");
      return 1;
    }));
  }
  int computed = 0;
  for (const pid_t child : children) computed += Wait(child);
  EXPECT_EQ(computed, 1);
  // No lock file stays behind.
  EXPECT_THAT(Names(), ElementsAre(Key(1) + ".entry"));
}

TEST_F(ContentCacheTest, TheLockOfAKilledProcessIsFree) {
  {
    const ContentCache made = Open();
  }
  const pid_t holder = Fork([&] {
    const auto lock = Open().Lock(Key(1), nullptr);
    WriteFile(root_ / "held", "");
    while (true) ::pause();
    return 0;
  });
  while (!fs::exists(root_ / "held"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const fs::path lock = Folder() / (Key(1) + ".lock");
  const auto taken = CacheLock::TryAcquire(lock);
  ASSERT_TRUE(taken.has_value());
  EXPECT_FALSE(taken->has_value());
  std::atomic<bool> got = false;
  std::thread waiter([&] {
    const auto waited = Open().Lock(Key(1), nullptr);
    got = waited.has_value();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(got);
  ::kill(holder, SIGKILL);
  Wait(holder);
  waiter.join();
  EXPECT_TRUE(got);
  EXPECT_FALSE(fs::exists(lock));
}

TEST_F(ContentCacheTest, ThreadsOfOneProcessExcludeEachOtherToo) {
  const ContentCache cache = Open();
  const auto lock = cache.Lock(Key(1), nullptr);
  ASSERT_TRUE(lock.has_value());
  EXPECT_TRUE(cache.Lock(Key(2), nullptr).has_value());
  const std::atomic<bool> interrupted = true;
  EXPECT_EQ(Open().Lock(Key(1), &interrupted).error().code,
            ErrorCode::kInterrupted);
}

TEST_F(ContentCacheTest, AWaitEndsWhenTheUserWantsToStop) {
  const ContentCache cache = Open();
  const auto lock = cache.Lock(Key(1), nullptr);
  std::atomic<bool> interrupted = false;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupted = true;
  });
  const auto waited = Open().Lock(Key(1), &interrupted);
  user.join();
  ASSERT_FALSE(waited.has_value());
  EXPECT_EQ(waited.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace parity
