//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/PlanToArtifact/KernelFacts.h"

#include "zyx/Artifact/TensorMapBytes.h"
#include "zyx/Base/Assert.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::plan;

static std::vector<artifact::TensorMap> describe(ArrayRef<kernel::TensorMap> maps) {
  std::vector<artifact::TensorMap> result;
  for (const kernel::TensorMap &map : maps) {
    kernel::BlockAttr block = map.map.front();
    auto number = [](AffineExpr entry) {
      std::optional<int64_t> known = kernel::BlockAttr::constant(entry);
      ZYX_ASSERT(known, "sizes of a plan's kernels are known");
      return static_cast<uint64_t>(*known);
    };
    artifact::TensorMap made;
    made.buffer = map.buffer;
    made.elementBytes = map.element.getIntOrFloatBitWidth() / 8;
    made.offset = number(block.getOffset()) * made.elementBytes;
    made.swizzle = static_cast<uint32_t>(map.swizzle);
    for (AffineExpr extent : llvm::reverse(block.getShape()))
      made.extents.push_back(number(extent));
    for (AffineExpr stride : llvm::reverse(block.getStrides().drop_back()))
      made.strides.push_back(number(stride) * made.elementBytes);
    for (int64_t extent : llvm::reverse(map.box))
      made.box.push_back(static_cast<uint32_t>(extent));
    if (map.pixels) {
      made.low.assign(map.pixels.getLow().rbegin(), map.pixels.getLow().rend());
      made.high.assign(map.pixels.getHigh().rbegin(), map.pixels.getHigh().rend());
      made.steps.assign(map.pixels.getSteps().rbegin(), map.pixels.getSteps().rend());
    }
    result.push_back(std::move(made));
  }
  return result;
}

std::string zyx::plan::textWithoutName(kernel::FuncOp kernel) {
  OwningOpRef<kernel::FuncOp> copy = kernel.clone();
  copy->setName("kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  copy->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope().enableDebugInfo(false));
  return text;
}

KernelFacts zyx::plan::factsOf(kernel::FuncOp lowered, const target::TargetInfo &target, const Hash128 &identity) {
  FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(lowered);
  ZYX_ASSERT(succeeded(info), "the kernel was lowered before");
  KernelFacts facts;
  facts.symbol = lowered.getName().str();
  facts.grid = info->countPrograms();
  // On the stack of whoever calls. Threads of a GPU have little of their own, and then nothing else.
  facts.stackBytes = target.hasSubgroups() && info->privateBytes <= target.memory.privateBytes ? 0 : info->privateBytes;
  // Code of the user's own is launched as it says, though by one thread.
  const bool isByGroup = info->threads > 1 || (lowered.getExternal() && target.hasSubgroups());
  facts.groupThreads = isByGroup ? static_cast<uint32_t>(info->threads) : 0;
  facts.clusterGroups = info->cluster > 1 ? static_cast<uint32_t>(info->cluster) : 0;
  facts.sharedBytes = static_cast<uint32_t>(info->sharedBytes);
  facts.tensorMaps = describe(info->tensorMaps);
  // Nobody knows what code of the user's own does first.
  facts.waits = target.simt.hasEarlyLaunches && !lowered.getExternal();
  facts.identity = identity;
  return facts;
}

void zyx::plan::write(const KernelFacts &facts, ByteWriter &to) {
  to.string(facts.symbol);
  to.u8(facts.grid.has_value());
  for (int64_t extent : facts.grid.value_or(std::array<int64_t, 3>{}))
    to.i64(extent);
  to.u64(facts.stackBytes);
  to.u32(facts.groupThreads);
  to.u32(facts.clusterGroups);
  to.u32(facts.sharedBytes);
  to.u64(facts.tensorMaps.size());
  for (const artifact::TensorMap &map : facts.tensorMaps)
    artifact::put(to, map);
  to.u8(facts.waits);
  to.u64(facts.identity.high);
  to.u64(facts.identity.low);
}

KernelFacts zyx::plan::readKernelFacts(ByteReader &from) {
  KernelFacts facts;
  facts.symbol = from.string("symbol");
  const bool hasGrid = from.u8("whether there is a grid") != 0;
  std::array<int64_t, 3> grid = {};
  for (int64_t &extent : grid)
    extent = from.i64("extent of a grid");
  if (hasGrid)
    facts.grid = grid;
  facts.stackBytes = from.u64("private memory");
  facts.groupThreads = from.u32("threads");
  facts.clusterGroups = from.u32("workgroups of a cluster");
  facts.sharedBytes = from.u32("shared memory");
  facts.tensorMaps.resize(from.count("tensor maps", artifact::leastTensorMapBytes));
  for (artifact::TensorMap &map : facts.tensorMaps)
    artifact::get(from, map);
  facts.waits = from.u8("whether it waits") != 0;
  facts.identity.high = from.u64("identity");
  facts.identity.low = from.u64("identity");
  return facts;
}
