//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/RecurrentShape.h"

using namespace zyx::graph::ir;

using Kind = ElementStep::Kind;

int64_t zyx::graph::ir::rowLength(const ElementLoop &loop, const ElementStep &dot) {
  return static_cast<int64_t>(dot.operands.size()) * loop.domain.back();
}

llvm::SmallVector<llvm::SmallVector<unsigned>> zyx::graph::ir::groupDots(const ElementLoop &loop) {
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  for (auto [number, step] : llvm::enumerate(loop.steps)) {
    if (step.kind != Kind::Dot)
      continue;
    auto *group = llvm::find_if(groups, [&, &operands = step.operands](llvm::ArrayRef<unsigned> known) {
      return loop.steps[known.front()].operands == operands;
    });
    if (group == groups.end())
      group = &groups.emplace_back();
    group->push_back(number);
  }
  return groups;
}

namespace {

/// One way to divide a loop.
class Trial {
public:
  Trial(const ElementLoop &loop, const ClusterFacts &machine)
      : loop(loop), machine(machine), groups(groupDots(loop)), columns(loop.domain.back()),
        rows(loop.numPoints() / columns) {}

  std::optional<RecurrentShape> best();

private:
  bool complete(RecurrentShape &shape) const;
  double cyclesByLaunches() const;

  const ElementLoop &loop;
  const ClusterFacts &machine;
  const llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  const int64_t columns, rows;
};

} // namespace

/// Finds the number of threads and what a trip takes; false where something does not fit.
bool Trial::complete(RecurrentShape &shape) const {
  const int64_t warp = machine.warpSize;
  // Addresses, indices and what ops make in between.
  constexpr int64_t otherRegisters = 40;
  // To the others of a cluster and back, to those of a workgroup, from a load of shared memory to the next one that
  // depends on it, and what a point computes.
  constexpr double clusterMeeting = 500, workgroupMeeting = 60, latency = 30, elements = 150;
  // Of the rate of products.
  constexpr double reached = 0.6;
  const int64_t points = shape.rows * shape.columns;
  shape.threads = static_cast<int64_t>(
      llvm::alignTo(std::max(shape.parts * shape.columns * shape.rowGroups, points), static_cast<uint64_t>(warp)));
  if (shape.threads > machine.workgroupThreads)
    return false;
  int64_t weights = 0, sharedBytes = 0, most = 0;
  shape.cycles = elements;
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
    const double chain = turns * (latency + 4.0 * static_cast<double>(pieces * dots));
    shape.cycles += std::max({products / machine.lanesPerCycle / reached, read, chain}) + workgroupMeeting + latency +
                    2.0 * static_cast<double>(shape.parts * dots) +
                    (shape.cluster > 1 ? clusterMeeting : workgroupMeeting);
  }
  sharedBytes += most * points * shape.parts * 4;
  int64_t carried = static_cast<int64_t>(loop.carried.size());
  for (const ElementStep &step : loop.steps)
    carried += step.kind == Kind::Load ? 2 : 0;
  const int64_t each = std::min(machine.threadRegisters, machine.registers / shape.threads / 8 * 8);
  return weights + carried + most * shape.lanes + otherRegisters <= each && sharedBytes <= machine.sharedBytes;
}

/// Of a trip that is a product and a kernel of elements, on the whole machine.
double Trial::cyclesByLaunches() const {
  constexpr double launches = 2, reached = 0.4;
  double products = 0;
  for (llvm::ArrayRef<unsigned> group : groups)
    products += static_cast<double>(static_cast<int64_t>(group.size()) * rowLength(loop, loop.steps[group.front()]) *
                                    loop.numPoints());
  return launches * machine.launchCycles +
         products / (static_cast<double>(machine.cores) * machine.lanesPerCycle * reached);
}

std::optional<RecurrentShape> Trial::best() {
  // Clusters do not fill the machine: their workgroups are neighbours.
  constexpr double filled = 0.875;
  constexpr int64_t mostParts = 32;
  std::optional<RecurrentShape> best;
  for (int64_t cluster = 1; cluster <= machine.clusterSize; cluster *= 2) {
    const auto room = static_cast<int64_t>(filled * static_cast<double>(machine.cores) / static_cast<double>(cluster));
    if (room == 0)
      break;
    const auto least = static_cast<int64_t>(llvm::divideCeil(rows, room));
    for (int64_t parts = 1; parts <= mostParts; parts *= 2)
      for (int64_t groups = 1; groups < 2 * least; groups *= 2) {
        RecurrentShape shape;
        shape.cluster = cluster;
        shape.rows = least;
        shape.columns = static_cast<int64_t>(llvm::divideCeil(columns, cluster));
        shape.parts = parts;
        shape.rowGroups = std::min(groups, least);
        if (complete(shape) && (!best || shape.cycles < best->cycles))
          best = shape;
      }
  }
  return best && best->cycles < cyclesByLaunches() ? best : std::nullopt;
}

std::optional<RecurrentShape> RecurrentShape::choose(const ElementLoop &loop, const ClusterFacts &machine) {
  if (machine.clusterSize <= 1 || machine.sharedBytes == 0)
    return std::nullopt;
  return Trial(loop, machine).best();
}
