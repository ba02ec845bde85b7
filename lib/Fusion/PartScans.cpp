//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"
#include "ScanParts.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <numeric>

namespace zyx::fusion {
#define GEN_PASS_DEF_PARTSCANSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::target::TargetInfo;

int64_t zyx::fusion::countScanParts(int64_t outer, int64_t extent, int64_t inner, const TargetInfo &machine) {
  // A workgroup scans a row, or some columns side by side. Shorter parts are not worth two kernels more.
  constexpr int64_t fewestElements = int64_t(1) << 14, shortest = 1024, fewestParts = 4, columns = 8;
  const int64_t groups = outer * static_cast<int64_t>(llvm::divideCeil(inner, columns));
  if (extent < fewestElements || 2 * groups * fewestParts > machine.cores)
    return 1;
  // A workgroup for each core.
  const int64_t most = std::min(machine.cores / groups, extent / shortest);
  for (int64_t parts = most; parts >= fewestParts; --parts)
    if (extent % parts == 0)
      return parts;
  return 1;
}

static int64_t countParts(ScanOp scan, const TargetInfo &machine) {
  auto type = cast<RankedTensorType>(scan.getX().getType());
  // What has fewer bits would be rounded twice.
  if (!machine.hasSubgroups() || scan.getExclusive() || type.getElementTypeBitWidth() < 32 ||
      !zyx::fusion::getCombine(scan.getKind()) || type.getNumElements() == 0)
    return 1;
  ArrayRef<int64_t> shape = type.getShape();
  auto count = [](ArrayRef<int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  };
  return zyx::fusion::countScanParts(count(shape.take_front(scan.getDim())), shape[scan.getDim()],
                                     count(shape.drop_front(scan.getDim() + 1)), machine);
}

/// Whether a kernel reads a value where it lies, under any extents: the result of another scan or of a sort, or an
/// input.
static bool isStored(Value value) { return !value.getDefiningOp() || isa<ScanOp, SortOp>(value.getDefiningOp()); }

/// What is computed of a scan's parts, element by element, has the parts as well, and they are joined behind that: no
/// reshape lies in between, so that it is computed where the parts are put together.
static void joinBehindReader(ReshapeOp joined) {
  const auto type = cast<RankedTensorType>(joined.getType());
  const ArrayRef<int64_t> parts = cast<RankedTensorType>(joined.getX().getType()).getShape();
  while (joined->hasOneUse()) {
    Operation *reader = *joined->user_begin();
    if (!isElementwise(reader) || llvm::any_of(reader->getOperands(), [&](Value operand) {
          return operand != joined.getResult() && !isStored(operand) && !zyx::fusion::getSplat(operand);
        }))
      return;
    OpBuilder builder(reader);
    SmallVector<Value> operands;
    for (Value operand : reader->getOperands()) {
      auto apart = cast<RankedTensorType>(operand.getType()).clone(parts);
      if (operand == joined.getResult())
        operands.push_back(joined.getX());
      else if (ConstantOp splat = zyx::fusion::getSplat(operand))
        operands.push_back(ConstantOp::create(builder, reader->getLoc(), apart, splat.getValue().resizeSplat(apart)));
      else
        operands.push_back(ReshapeOp::create(builder, reader->getLoc(), apart, operand));
    }
    Value result = reader->getResult(0);
    auto own = cast<RankedTensorType>(result.getType());
    Value computed = zyx::fusion::cloneWith(builder, reader, operands, own.clone(parts));
    auto behind = ReshapeOp::create(builder, reader->getLoc(), own.clone(type.getShape()), computed);
    result.replaceAllUsesWith(behind.getResult());
    reader->erase();
    joined.erase();
    joined = behind;
  }
}

static void partScans(Block &block, const TargetInfo &machine) {
  for (auto scan : llvm::make_early_inc_range(block.getOps<ScanOp>())) {
    const int64_t parts = countParts(scan, machine);
    if (parts == 1)
      continue;
    OpBuilder builder(scan);
    Location loc = scan.getLoc();
    auto type = cast<RankedTensorType>(scan.getX().getType());
    Type element = type.getElementType();
    const auto dim = static_cast<int64_t>(scan.getDim());
    const int64_t each = type.getDimSize(scan.getDim()) / parts;
    SmallVector<int64_t> none(type.getRank() + 1, 0), low(none), high(none), ofParts(type.getShape());
    ofParts[dim] = parts;
    SmallVector<int64_t> apart(ofParts), one(ofParts);
    apart.insert(apart.begin() + dim + 1, each);
    one.insert(one.begin() + dim + 1, 1);
    auto scanOf = [&](Value x, int64_t along, bool exclusive) -> Value {
      return ScanOp::create(builder, loc, x.getType(), scan.getKind(), x, along, exclusive, scan.getReverse());
    };
    Value own = scanOf(ReshapeOp::create(builder, loc, type.clone(apart), scan.getX()), dim + 1, false);
    // What a part has all together stands at its end, from which the parts behind it begin.
    (scan.getReverse() ? high : low)[dim + 1] = 1 - each;
    auto scalar = RankedTensorType::get({}, element);
    Value fill = ConstantOp::create(builder, loc, scalar,
                                    DenseElementsAttr::get(scalar, Attribute(builder.getZeroAttr(element))));
    Value whole = PadOp::create(builder, loc, own, fill, low, high, none);
    Value before = scanOf(ReshapeOp::create(builder, loc, type.clone(ofParts), whole), dim, true);
    before = ReshapeOp::create(builder, loc, type.clone(one), before);
    before = ExpandOp::create(builder, loc, type.clone(apart), before);
    // The first part begins with its first element: -0 stays -0.
    auto place = RankedTensorType::get(apart, builder.getI32Type());
    auto first = DenseElementsAttr::get(
        place, Attribute(builder.getI32IntegerAttr(static_cast<int32_t>(scan.getReverse() ? parts - 1 : 0))));
    Value isFirst = BinaryOp::create(builder, loc, BinaryKind::Eq, IotaOp::create(builder, loc, place, dim).getResult(),
                                     ConstantOp::create(builder, loc, place, first).getResult());
    Value all = BinaryOp::create(builder, loc, *zyx::fusion::getCombine(scan.getKind()), before, own);
    Value result = SelectOp::create(builder, loc, isFirst, own, all);
    auto joined = ReshapeOp::create(builder, loc, type, result);
    scan.replaceAllUsesWith(joined.getResult());
    scan.erase();
    joinBehindReader(joined);
  }
}

namespace {

struct PartScans : zyx::fusion::impl::PartScansPassBase<PartScans> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { partScans(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
