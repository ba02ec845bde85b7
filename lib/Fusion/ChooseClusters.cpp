//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseClusters.h"

#include "zyx/Target/Info/Fits.h"

using namespace zyx::graph::ir;
using zyx::target::TargetInfo;
namespace fits = zyx::target::fits::clusters;

using Kind = ElementStep::Kind;

namespace {

/// One way to divide a loop.
class Trial {
public:
  Trial(const ElementLoop &loop, const TargetInfo &machine)
      : loop(loop), machine(machine), groups(groupDots(loop)), columns(loop.domain.back()),
        rows(loop.numPoints() / columns), lanesPerCycle(static_cast<double>(machine.costs.lanesPerCycle)) {}

  std::optional<RecurrentShape> best();

private:
  /// Finds the number of threads, and the cycles of a trip of all rows; nothing where something does not fit.
  std::optional<double> complete(RecurrentShape &shape) const;
  double cyclesByLaunches() const;

  const ElementLoop &loop;
  const TargetInfo &machine;
  const llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  const int64_t columns, rows;
  const double lanesPerCycle;
};

} // namespace

std::optional<double> Trial::complete(RecurrentShape &shape) const {
  const int64_t warp = machine.simt.subgroupSize;
  const int64_t points = shape.rows * shape.columns;
  shape.threads = static_cast<int64_t>(
      llvm::alignTo(std::max(shape.parts * shape.columns * shape.rowGroups, points), static_cast<uint64_t>(warp)));
  if (shape.threads > machine.simt.workgroupThreads)
    return std::nullopt;
  int64_t weights = 0, sharedBytes = 0, most = 0;
  double cycles = fits::pointCycles;
  const auto sharedLatency = static_cast<double>(machine.costs.sharedLatencyCycles);
  const auto workgroupBarrier = static_cast<double>(machine.costs.workgroupBarrierCycles);
  const double turns = static_cast<double>(llvm::divideCeil(shape.rows, shape.rowGroups));
  for (llvm::ArrayRef<unsigned> group : groups) {
    const int64_t length = rowLength(loop, loop.steps[group.front()]), pieces = shape.pieces(length);
    const auto dots = static_cast<int64_t>(group.size());
    most = std::max(most, dots);
    weights += dots * pieces * shape.lanes;
    sharedBytes += 2 * shape.rows * shape.padded(length) * 4;
    const double products = static_cast<double>(dots * shape.padded(length) * points);
    // A warp reads 128 bytes of shared memory in a cycle.
    const double read = static_cast<double>(shape.padded(length) * points) / (warp * shape.lanes) *
                        static_cast<double>(std::max<int64_t>(shape.parts * shape.lanes / warp, 1));
    const double chain =
        turns * static_cast<double>(machine.costs.sharedLatencyCycles + machine.costs.opCycles * pieces * dots);
    cycles += std::max({products / lanesPerCycle / fits::productRate, read, chain}) + workgroupBarrier + sharedLatency +
              2.0 * static_cast<double>(shape.parts * dots) +
              (shape.cluster > 1 ? static_cast<double>(machine.costs.clusterLatencyCycles) : workgroupBarrier);
  }
  sharedBytes += most * points * shape.parts * 4;
  int64_t carried = static_cast<int64_t>(loop.carried.size());
  for (const ElementStep &step : loop.steps)
    carried += step.kind == Kind::Load ? 2 : 0;
  const int64_t each = std::min(machine.simt.threadRegisters, machine.simt.registers / shape.threads / 8 * 8);
  if (weights + carried + most * shape.lanes + fits::otherRegisters > each || sharedBytes > machine.simt.sharedBytes)
    return std::nullopt;
  return cycles;
}

/// Of a trip that is a product and a kernel of elements, on the whole machine.
double Trial::cyclesByLaunches() const {
  double products = 0;
  for (llvm::ArrayRef<unsigned> group : groups)
    products += static_cast<double>(static_cast<int64_t>(group.size()) * rowLength(loop, loop.steps[group.front()]) *
                                    loop.numPoints());
  return fits::launches * static_cast<double>(machine.costs.launchCycles) +
         products / (static_cast<double>(machine.cores) * lanesPerCycle * fits::launchedRate);
}

std::optional<RecurrentShape> Trial::best() {
  std::optional<RecurrentShape> best;
  double least = cyclesByLaunches();
  for (int64_t cluster = 1; cluster <= machine.simt.clusterSize; cluster *= 2) {
    const auto room =
        static_cast<int64_t>(fits::filled * static_cast<double>(machine.cores) / static_cast<double>(cluster));
    if (room == 0)
      break;
    const auto fewestRows = static_cast<int64_t>(llvm::divideCeil(rows, room));
    for (int64_t parts = 1; parts <= fits::mostParts; parts *= 2)
      for (int64_t groups = 1; groups < 2 * fewestRows; groups *= 2) {
        RecurrentShape shape;
        shape.cluster = cluster;
        shape.rows = fewestRows;
        shape.columns = static_cast<int64_t>(llvm::divideCeil(columns, cluster));
        shape.parts = parts;
        shape.rowGroups = std::min(groups, fewestRows);
        if (std::optional<double> cycles = complete(shape); cycles && *cycles < least)
          best = shape, least = *cycles;
      }
  }
  return best;
}

std::optional<RecurrentShape> zyx::fusion::chooseClusters(const ElementLoop &loop, const TargetInfo &machine) {
  if (machine.simt.clusterSize <= 1 || !machine.hasSharedMemory())
    return std::nullopt;
  return Trial(loop, machine).best();
}
