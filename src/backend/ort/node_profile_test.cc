#include "backend/ort/node_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(NodeProfileTest, NodesAreCountedPerProvider) {
  EXPECT_THAT(CountProviderNodes(R"([
        {"cat":"Session","name":"model_run","args":{}},
        {"cat":"Node","name":"a_fence_before","args":{"provider":"A"}},
        {"cat":"Node","name":"a_kernel_time","args":{"provider":"A","node_index":"0"}},
        {"cat":"Node","name":"b_kernel_time","args":{"provider":"B","node_index":"1"}},
        {"cat":"Node","name":"c_kernel_time","args":{"provider":"A","node_index":"2"}}])"),
              ElementsAre(Pair("A", 2), Pair("B", 1)));
}

TEST(NodeProfileTest, ANodeThatRanTwiceCountsOnce) {
  EXPECT_THAT(CountProviderNodes(R"([
        {"cat":"Node","name":"a_kernel_time","args":{"provider":"A","node_index":"0"}},
        {"cat":"Node","name":"a_kernel_time","args":{"provider":"A","node_index":"0"}}])"),
              ElementsAre(Pair("A", 1)));
}

TEST(NodeProfileTest, NodesWithoutNamesAreToldApartByTheirIndex) {
  EXPECT_THAT(CountProviderNodes(R"([
        {"cat":"Node","name":"_kernel_time","args":{"provider":"A","node_index":"0"}},
        {"cat":"Node","name":"_kernel_time","args":{"provider":"A","node_index":"1"}}])"),
              ElementsAre(Pair("A", 2)));
}

TEST(NodeProfileTest, WhatIsNoProfileTellsNothing) {
  EXPECT_THAT(CountProviderNodes(""), IsEmpty());
  EXPECT_THAT(CountProviderNodes("[{\"cat\":\"Node\""), IsEmpty());
  EXPECT_THAT(CountProviderNodes("{}"), IsEmpty());
  EXPECT_THAT(CountProviderNodes(R"([1, {"cat":"Node","name":3}])"), IsEmpty());
  EXPECT_THAT(CountProviderNodes(
                  R"([{"cat":"Node","name":"a_kernel_time","args":[]}])"),
              IsEmpty());
}

}  // namespace
}  // namespace parity
