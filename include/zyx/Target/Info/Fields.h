//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_FIELDS_H
#define ZYX_TARGET_INFO_FIELDS_H

#include "zyx/Target/Info/TargetInfo.h"

#include <tuple>
#include <type_traits>

/// All fields of a record, one by one: the only list of them beside their declarations. The cache key and the printed
/// form are made of it, and TargetInfoTest counts the members of each group, so that none is forgotten.
namespace zyx::target {

template <typename Group, typename Type> struct Field {
  const char *name;
  Type Group::*member;
};
template <typename Group, typename Type> Field(const char *, Type Group::*) -> Field<Group, Type>;

/// The fields of a group, in the order of their declaration.
template <typename Group> inline constexpr auto fieldsOf = std::tuple<>();

template <>
inline constexpr auto fieldsOf<Identity> = std::tuple{Field{"name", &Identity::name},
                                                      Field{"kind", &Identity::kind},
                                                      Field{"device", &Identity::device},
                                                      Field{"triple", &Identity::triple},
                                                      Field{"cpu", &Identity::cpu},
                                                      Field{"features", &Identity::features},
                                                      Field{"requiredFeatures", &Identity::requiredFeatures},
                                                      Field{"ptxVersion", &Identity::ptxVersion},
                                                      Field{"isAssembledByDriver", &Identity::isAssembledByDriver},
                                                      Field{"cores", &Identity::cores}};

template <>
inline constexpr auto fieldsOf<Arithmetic> = std::tuple{Field{"hasFma", &Arithmetic::hasFma},
                                                        Field{"isFmaExact", &Arithmetic::isFmaExact},
                                                        Field{"hasRounding", &Arithmetic::hasRounding},
                                                        Field{"hasMaximum", &Arithmetic::hasMaximum},
                                                        Field{"hasDoubles", &Arithmetic::hasDoubles},
                                                        Field{"hasHalfConversion", &Arithmetic::hasHalfConversion},
                                                        Field{"hasPackedHalf", &Arithmetic::hasPackedHalf},
                                                        Field{"hasPackedBfloat", &Arithmetic::hasPackedBfloat}};

template <>
inline constexpr auto fieldsOf<VectorFacts> =
    std::tuple{Field{"bytes", &VectorFacts::bytes}, Field{"registers", &VectorFacts::registers},
               Field{"hasMaskedOps", &VectorFacts::hasMaskedOps}};

template <>
inline constexpr auto fieldsOf<SimtFacts> = std::tuple{Field{"subgroupSize", &SimtFacts::subgroupSize},
                                                       Field{"workgroupThreads", &SimtFacts::workgroupThreads},
                                                       Field{"sharedBytes", &SimtFacts::sharedBytes},
                                                       Field{"clusterSize", &SimtFacts::clusterSize},
                                                       Field{"registers", &SimtFacts::registers},
                                                       Field{"threadRegisters", &SimtFacts::threadRegisters},
                                                       Field{"registerStep", &SimtFacts::registerStep},
                                                       Field{"residentThreads", &SimtFacts::residentThreads},
                                                       Field{"residentWorkgroups", &SimtFacts::residentWorkgroups},
                                                       Field{"busyThreads", &SimtFacts::busyThreads},
                                                       Field{"laneBytes", &SimtFacts::laneBytes},
                                                       Field{"laneRegisters", &SimtFacts::laneRegisters},
                                                       Field{"maxBuffers", &SimtFacts::maxBuffers},
                                                       Field{"fusedBuffers", &SimtFacts::fusedBuffers},
                                                       Field{"hasSubgroupOps", &SimtFacts::hasSubgroupOps},
                                                       Field{"hasShuffles", &SimtFacts::hasShuffles},
                                                       Field{"hasSharedFences", &SimtFacts::hasSharedFences},
                                                       Field{"hasCountedBarriers", &SimtFacts::hasCountedBarriers},
                                                       Field{"hasEarlyLaunches", &SimtFacts::hasEarlyLaunches}};

template <>
inline constexpr auto fieldsOf<MatrixInstruction> = std::tuple{Field{"name", &MatrixInstruction::name},
                                                               Field{"m", &MatrixInstruction::m},
                                                               Field{"n", &MatrixInstruction::n},
                                                               Field{"k", &MatrixInstruction::k},
                                                               Field{"threads", &MatrixInstruction::threads},
                                                               Field{"factors", &MatrixInstruction::factors},
                                                               Field{"sums", &MatrixInstruction::sums},
                                                               Field{"lhs", &MatrixInstruction::lhs},
                                                               Field{"rhs", &MatrixInstruction::rhs},
                                                               Field{"isAsync", &MatrixInstruction::isAsync}};

template <>
inline constexpr auto fieldsOf<MatrixFacts> =
    std::tuple{Field{"instructions", &MatrixFacts::instructions},
               Field{"allowsReducedPrecision", &MatrixFacts::allowsReducedPrecision}};

template <>
inline constexpr auto fieldsOf<CopyFacts> =
    std::tuple{Field{"engine", &CopyFacts::engine},           Field{"alignmentBytes", &CopyFacts::alignmentBytes},
               Field{"dimensions", &CopyFacts::dimensions},   Field{"dimensionElements", &CopyFacts::dimensionElements},
               Field{"strideBytes", &CopyFacts::strideBytes}, Field{"boxElements", &CopyFacts::boxElements},
               Field{"boxPixels", &CopyFacts::boxPixels}};

template <>
inline constexpr auto fieldsOf<MemoryFacts> = std::tuple{Field{"l1Bytes", &MemoryFacts::l1Bytes},
                                                         Field{"l2Bytes", &MemoryFacts::l2Bytes},
                                                         Field{"privateBytes", &MemoryFacts::privateBytes},
                                                         Field{"stackBytes", &MemoryFacts::stackBytes},
                                                         Field{"transactionBytes", &MemoryFacts::transactionBytes},
                                                         Field{"scatteredBytes", &MemoryFacts::scatteredBytes},
                                                         Field{"lineBytes", &MemoryFacts::lineBytes},
                                                         Field{"instructionBytes", &MemoryFacts::instructionBytes},
                                                         Field{"codeBytes", &MemoryFacts::codeBytes},
                                                         Field{"isTyped", &MemoryFacts::isTyped}};

template <>
inline constexpr auto fieldsOf<CostFacts> =
    std::tuple{Field{"megahertz", &CostFacts::megahertz},
               Field{"launchCycles", &CostFacts::launchCycles},
               Field{"memoryBytesPerCycle", &CostFacts::memoryBytesPerCycle},
               Field{"cacheBytesPerCycle", &CostFacts::cacheBytesPerCycle},
               Field{"matrixProductsPerCycle", &CostFacts::matrixProductsPerCycle},
               Field{"divideOps", &CostFacts::divideOps},
               Field{"rootOps", &CostFacts::rootOps},
               Field{"inverseRootOps", &CostFacts::inverseRootOps},
               Field{"functionOps", &CostFacts::functionOps},
               Field{"longFunctionOps", &CostFacts::longFunctionOps},
               Field{"integerDivideOps", &CostFacts::integerDivideOps},
               Field{"gatherCycles", &CostFacts::gatherCycles},
               Field{"strideCycles", &CostFacts::strideCycles},
               Field{"packCycles", &CostFacts::packCycles},
               Field{"laneProductsPerCycle", &CostFacts::laneProductsPerCycle},
               Field{"streamBytes", &CostFacts::streamBytes},
               Field{"lanesPerCycle", &CostFacts::lanesPerCycle},
               Field{"sharedBytesPerCycle", &CostFacts::sharedBytesPerCycle},
               Field{"convertOps", &CostFacts::convertOps},
               Field{"simtF32ProductsPerCycle", &CostFacts::simtF32ProductsPerCycle},
               Field{"threadProductsPerCycle", &CostFacts::threadProductsPerCycle},
               Field{"threadF32ProductsPerCycle", &CostFacts::threadF32ProductsPerCycle},
               Field{"tileCycles", &CostFacts::tileCycles},
               Field{"simtF32TileCycles", &CostFacts::simtF32TileCycles},
               Field{"sliceCycles", &CostFacts::sliceCycles},
               Field{"clusterBarrierCycles", &CostFacts::clusterBarrierCycles},
               Field{"distributedSharedBytesPerCycle", &CostFacts::distributedSharedBytesPerCycle},
               Field{"opCycles", &CostFacts::opCycles},
               Field{"readCycles", &CostFacts::readCycles},
               Field{"productCycles", &CostFacts::productCycles},
               Field{"sharedLatencyCycles", &CostFacts::sharedLatencyCycles},
               Field{"workgroupBarrierCycles", &CostFacts::workgroupBarrierCycles},
               Field{"clusterLatencyCycles", &CostFacts::clusterLatencyCycles},
               Field{"codeBytesPerCycle", &CostFacts::codeBytesPerCycle},
               Field{"readingThreads", &CostFacts::readingThreads},
               Field{"busySubgroups", &CostFacts::busySubgroups}};

template <>
inline constexpr auto fieldsOf<SharedProductCosts> =
    std::tuple{Field{"sliceCycles", &SharedProductCosts::sliceCycles},
               Field{"tileCycles", &SharedProductCosts::tileCycles},
               Field{"waitCycles", &SharedProductCosts::waitCycles},
               Field{"busyCycles", &SharedProductCosts::busyCycles},
               Field{"nearReadCycles", &SharedProductCosts::nearReadCycles},
               Field{"readCycles", &SharedProductCosts::readCycles},
               Field{"bringCycles", &SharedProductCosts::bringCycles},
               Field{"subgroupShare", &SharedProductCosts::subgroupShare},
               Field{"instructionCycles", &SharedProductCosts::instructionCycles},
               Field{"blockCycles", &SharedProductCosts::blockCycles},
               Field{"integerLoss", &SharedProductCosts::integerLoss},
               Field{"attentionBlockCycles", &SharedProductCosts::attentionBlockCycles}};

/// The groups of a record beside its identity.
inline constexpr auto groups = std::tuple{Field{"arithmetic", &TargetInfo::arithmetic},
                                          Field{"vector", &TargetInfo::vector},
                                          Field{"simt", &TargetInfo::simt},
                                          Field{"matrix", &TargetInfo::matrix},
                                          Field{"copies", &TargetInfo::copies},
                                          Field{"memory", &TargetInfo::memory},
                                          Field{"costs", &TargetInfo::costs},
                                          Field{"sharedProducts", &TargetInfo::sharedProducts}};

/// Calls `visit(name, field)` for each field of a group.
template <typename Group, typename Visit> void forEachFieldOf(Group &group, Visit &&visit) {
  std::apply([&](const auto &...field) { (visit(field.name, group.*field.member), ...); },
             fieldsOf<std::remove_const_t<Group>>);
}

/// Calls `visit(group, name, field)` for each field of a record, constant or not: visit("simt", "subgroupSize", 32).
template <typename Info, typename Visit> void forEachField(Info &info, Visit &&visit) {
  using Base = std::conditional_t<std::is_const_v<Info>, const Identity, Identity>;
  auto visitGroup = [&](const char *group, auto &members) {
    forEachFieldOf(members, [&](const char *name, auto &field) { visit(group, name, field); });
  };
  visitGroup("identity", static_cast<Base &>(info));
  std::apply([&](const auto &...group) { (visitGroup(group.name, info.*group.member), ...); }, groups);
}

} // namespace zyx::target

#endif // ZYX_TARGET_INFO_FIELDS_H
