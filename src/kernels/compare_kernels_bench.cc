// Comparing two 1x3x2160x3840 float32 tensors against merely reading both once,
// with the same threads over the same blocks: counters read_ms, compare_ms and
// ratio, from the fastest of alternating runs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/splitmix.h"
#include "kernels/compare_kernels.h"
#include "kernels/cpu_targets.h"  // IWYU pragma: keep
#include "parity/compare.h"
#include "parity/dtype.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare_kernels_bench.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
#include <hwy/targets.h>

HWY_BEFORE_NAMESPACE();
namespace parity::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The least that a loop over memory can do: every bit goes into the result.
std::uint64_t XorWords(const std::uint64_t* words, std::size_t count) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t step = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * step <= count; i += 2 * step) {
    a = hn::Xor(a, hn::LoadU(d, words + i));
    b = hn::Xor(b, hn::LoadU(d, words + i + step));
  }
  std::uint64_t result = hn::ReduceSum(d, hn::Xor(a, b));
  for (; i < count; ++i) result ^= words[i];
  return result;
}

}  // namespace parity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parity {
namespace {

HWY_EXPORT(XorWords);

constexpr std::int64_t kBlockBytes = std::int64_t{65536} * 4;

std::uint64_t ReadBoth(const Tensor& first, const Tensor& second) {
  const auto size = static_cast<std::int64_t>(first.bytes().size());
  const std::int64_t blocks = (size + kBlockBytes - 1) / kBlockBytes;
  std::vector<std::uint64_t> partial(static_cast<std::size_t>(blocks));
  ParallelFor(blocks, 0, [&](std::int64_t block) {
    const auto begin = static_cast<std::size_t>(block * kBlockBytes / 8);
    const auto count = static_cast<std::size_t>(
        std::min(kBlockBytes, size - block * kBlockBytes) / 8);
    partial[static_cast<std::size_t>(block)] =
        HWY_DYNAMIC_DISPATCH(XorWords)(first.As<std::uint64_t>().data() + begin,
                                       count) ^
        HWY_DYNAMIC_DISPATCH(XorWords)(
            second.As<std::uint64_t>().data() + begin, count);
  });
  std::uint64_t all = 0;
  for (const std::uint64_t part : partial) all ^= part;
  return all;
}

Tensor Noise(const std::string& name, const Shape& shape, double base,
             double scale) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, shape);
  const SplitMixStream shared("pixels", 0);
  const SplitMixStream own(name, 0);
  const auto values = tensor.MutableAs<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<float>(base * shared.Uniform(i) + scale * own.Uniform(i));
  return tensor;
}

template <class Function>
double Seconds(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

// `scale`: size of the differences. `target`: a CPU target, 0 for the best.
void CompareAgainstRead(benchmark::State& state, double scale,
                        std::int64_t target) {
  const Shape shape{1, 3, 2160, 3840};
  const Tensor expected = Noise("expected", shape, 1, scale);
  const Tensor actual = Noise("actual", shape, 1, scale);
  ForceCompareTarget(target);
  double read = std::numeric_limits<double>::infinity();
  double compare = read;
  for (auto _ : state) {
    read = std::min(read, Seconds([&] {
                      benchmark::DoNotOptimize(ReadBoth(expected, actual));
                    }));
    const double seconds = Seconds([&] {
      benchmark::DoNotOptimize(
          Compare(expected.view(), actual.view(), Tolerance{}));
    });
    compare = std::min(compare, seconds);
    state.SetIterationTime(seconds);
  }
  state.SetLabel(std::string(CompareKernelTarget()));
  ForceCompareTarget(0);
  state.counters["read_ms"] = read * 1e3;
  state.counters["compare_ms"] = compare * 1e3;
  state.counters["ratio"] = compare / read;
}

void Register(const std::string& name, double scale, std::int64_t target) {
  benchmark::RegisterBenchmark(name.c_str(), CompareAgainstRead, scale, target)
      ->UseManualTime()
      ->Iterations(40)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace parity

int main(int argc, char** argv) {
  parity::Register("compare_4k/matching", 1e-6, 0);
  parity::Register("compare_4k/every_fourth_mismatches", 0.01, 0);
  for (const std::int64_t target : parity::RunnableCompareTargets())
    parity::Register(std::string("compare_4k/") + hwy::TargetName(target), 1e-6,
                     target);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
#endif  // HWY_ONCE
