//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Devices.h"

#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::graph;

TEST(DevicesTest, OneDeviceIsNamed) {
  Graph g;
  const NodeId x = *g.parameter("x", {DType::F32, {4}});
  EXPECT_FALSE(namesDevices(g));
  EXPECT_TRUE(checkDevices(g, "cpu").isOk());
  Attributes attributes;
  attributes.name = "cuda";
  const NodeId y = *g.add(Op::Transfer, {{x}}, attributes, {}, {"model.mlir", 3, 5});
  EXPECT_TRUE(namesDevices(g));
  // The first card has two names.
  EXPECT_TRUE(checkDevices(g, "cuda").isOk());
  EXPECT_TRUE(checkDevices(g, "cuda:0").isOk());
  EXPECT_EQ(checkDevices(g, "cpu").message(),
            "model.mlir:3:5: transfer of f32[4] to 'cuda' in a program for 'cpu': a program has one device");
  EXPECT_FALSE(checkDevices(g, "cuda:1").isOk());
  EXPECT_FALSE(checkDevices(g, "cuda:10").isOk());
  (void)*g.transfer(y, "cuda:1");
  EXPECT_EQ(checkDevices(g, "cuda").message(),
            "transfer of f32[4] to 'cuda:1' in a program for 'cuda': a program has one device");
}

TEST(DevicesTest, BodiesNameDevicesToo) {
  Graph body;
  body.inputs = {*body.parameter("x", {DType::F32, {2}})};
  body.outputs = {{"y", *body.transfer(body.inputs[0], "cpu:1")}};
  Graph g;
  const NodeId x = *g.parameter("x", {DType::F32, {2}});
  ASSERT_TRUE(g.custom("there", "", *Body::create(body), {{x}}).isOk());
  EXPECT_TRUE(namesDevices(g));
  EXPECT_TRUE(checkDevices(g, "cpu:1").isOk());
  EXPECT_EQ(checkDevices(g, "cpu").message(),
            "transfer of f32[2] to 'cpu:1' in a program for 'cpu': a program has one device");
}
