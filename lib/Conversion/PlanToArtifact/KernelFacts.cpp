//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/PlanToArtifact/KernelFacts.h"

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
  facts.groupThreads = info->threads > 1 ? static_cast<uint32_t>(info->threads) : 0;
  facts.clusterGroups = info->cluster > 1 ? static_cast<uint32_t>(info->cluster) : 0;
  facts.sharedBytes = static_cast<uint32_t>(info->sharedBytes);
  facts.tensorMaps = describe(info->tensorMaps);
  facts.identity = identity;
  return facts;
}

namespace {

template <typename T> void putNumbers(ByteWriter &to, const std::vector<T> &numbers) {
  to.u64(numbers.size());
  for (T number : numbers)
    to.u64(static_cast<uint64_t>(number));
}

template <typename T> void getNumbers(ByteReader &from, std::vector<T> &numbers) {
  numbers.resize(from.count("numbers of a tensor map", 8));
  for (T &number : numbers)
    number = static_cast<T>(from.u64("number of a tensor map"));
}

} // namespace

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
  for (const artifact::TensorMap &map : facts.tensorMaps) {
    to.u32(map.buffer);
    to.u64(map.offset);
    to.u32(map.elementBytes);
    putNumbers(to, map.extents);
    putNumbers(to, map.strides);
    putNumbers(to, map.box);
    to.u32(map.swizzle);
    putNumbers(to, map.low);
    putNumbers(to, map.high);
    putNumbers(to, map.steps);
  }
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
  facts.tensorMaps.resize(from.count("tensor maps", 68));
  for (artifact::TensorMap &map : facts.tensorMaps) {
    map.buffer = from.u32("buffer of a tensor map");
    map.offset = from.u64("offset of a tensor map");
    map.elementBytes = from.u32("elements of a tensor map");
    getNumbers(from, map.extents);
    getNumbers(from, map.strides);
    getNumbers(from, map.box);
    map.swizzle = from.u32("swizzle of a tensor map");
    getNumbers(from, map.low);
    getNumbers(from, map.high);
    getNumbers(from, map.steps);
  }
  facts.identity.high = from.u64("identity");
  facts.identity.low = from.u64("identity");
  return facts;
}
