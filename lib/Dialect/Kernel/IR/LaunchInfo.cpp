//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"

#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace zyx::kernel;

static GridDimension dimensionOf(FuncOp func, OpFoldResult extent, int64_t step) {
  GridDimension dimension;
  dimension.extent = getConstantIntValue(extent);
  dimension.step = step;
  if (auto argument = dyn_cast_or_null<BlockArgument>(dyn_cast<Value>(extent));
      argument && argument.getOwner() == &func.getBody().front())
    dimension.argument = argument.getArgNumber();
  return dimension;
}

FailureOr<LaunchInfo> zyx::kernel::launchInfoOf(FuncOp func, const zyx::target::TargetInfo *machine) {
  LaunchInfo info;
  info.programs = func.getPrograms();
  info.threads = static_cast<int64_t>(func.getThreads().value_or(1));
  info.cluster = static_cast<int64_t>(func.getCluster().value_or(1));
  info.privateBytes = bytesOf(func, Space::Private);
  auto grids = func.getBody().getOps<GridOp>();
  if (!grids.empty())
    for (auto [extent, step] : llvm::zip((*grids.begin()).getMixedExtents(), (*grids.begin()).getSteps()))
      info.grid.push_back(dimensionOf(func, extent, step));

  // Threads of the machine form that only start copies have no use for addresses.
  bool hasAddresses = true;
  if (func.getForm() == Form::Machine) {
    FailureOr<SmallVector<TensorMap>> maps = tensorMapsOf(func, machine);
    if (failed(maps))
      return failure();
    info.tensorMaps = std::move(*maps);
    info.sharedBytes = placeShared(func).bytes;
    hasAddresses = accessesGlobalMemory(func);
  } else if (ExternalAttr external = func.getExternalAttr()) {
    info.sharedBytes = external.getSharedBytes();
  } else {
    info.sharedBytes = bytesOf(func, Space::Shared);
  }
  for (unsigned i = 0; i < info.tensorMaps.size(); ++i)
    info.parameters.push_back({LaunchParameter::Kind::TensorMap, i});
  for (BlockArgument argument : func.getBody().getArguments()) {
    const bool isBuffer = isa<BufferType>(argument.getType());
    if (isBuffer && !hasAddresses)
      continue;
    info.parameters.push_back(
        {isBuffer ? LaunchParameter::Kind::Address : LaunchParameter::Kind::Scalar, argument.getArgNumber()});
  }
  return info;
}

std::optional<std::array<int64_t, 3>> LaunchInfo::countPrograms() const {
  if (grid.empty())
    return std::array<int64_t, 3>{1, 1, programs.value_or(1)};
  SmallVector<int64_t> counts(3, 1);
  for (const GridDimension &dimension : grid) {
    if (!dimension.extent)
      return std::nullopt;
    counts.push_back(llvm::divideCeil(*dimension.extent, dimension.step));
  }
  std::array<int64_t, 3> last;
  std::copy(counts.end() - 3, counts.end(), last.begin());
  for (int64_t leading : ArrayRef(counts).drop_back(3))
    last[0] *= leading;
  return last;
}

void zyx::kernel::print(const LaunchInfo &info, llvm::raw_ostream &os) {
  os << "threads " << info.threads << " shared " << info.sharedBytes << '\n';
  if (info.cluster > 1)
    os << "cluster " << info.cluster << '\n';
  if (info.privateBytes != 0)
    os << "private " << info.privateBytes << '\n';
  if (info.programs)
    os << "programs " << *info.programs << '\n';
  for (const GridDimension &dimension : info.grid) {
    os << "grid ";
    if (dimension.extent)
      os << *dimension.extent;
    else if (dimension.argument)
      os << "argument " << *dimension.argument;
    else
      os << "computed";
    os << " step " << dimension.step << '\n';
  }
  for (const LaunchParameter &parameter : info.parameters) {
    if (parameter.kind != LaunchParameter::Kind::TensorMap) {
      os << (parameter.kind == LaunchParameter::Kind::Address ? "address of argument " : "scalar of argument ")
         << parameter.number << '\n';
      continue;
    }
    const TensorMap &map = info.tensorMaps[parameter.number];
    os << "tensor map of argument " << map.buffer << " element " << map.element << " box [";
    llvm::interleaveComma(map.box, os);
    os << "] swizzle " << map.swizzle << " symbols [";
    llvm::interleaveComma(map.symbols, os);
    os << "] map " << map.map;
    if (map.pixels)
      os << " pixels " << map.pixels;
    os << '\n';
  }
}
