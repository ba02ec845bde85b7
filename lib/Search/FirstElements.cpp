//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sorts for the sake of the largest or smallest elements: top-k is a sort and a slice.
//===----------------------------------------------------------------------===//
#include "FirstElements.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

/// How many elements of a dimension a reader sees from its begin on, at most; all of them where it is no slice.
static int64_t countRead(Operation *reader, Value source, int64_t dim) {
  const int64_t extent = cast<RankedTensorType>(source.getType()).getDimSize(dim);
  auto pad = dyn_cast<PadOp>(reader);
  if (!pad || pad.getX() != source || pad.getHigh()[dim] >= 0)
    return extent;
  return std::max<int64_t>(extent + pad.getHigh()[dim], 0);
}

void zyx::search::noteFirstElements(Block &block, bool note) {
  for (auto sort : block.getOps<SortOp>()) {
    Value result = sort.getResult();
    const auto dim = static_cast<int64_t>(sort.getDim());
    int64_t most = 0;
    for (Operation *reader : result.getUsers())
      most = std::max(most, countRead(reader, result, dim));
    sort->removeAttr(firstElementsAttrName);
    if (note && most < cast<RankedTensorType>(result.getType()).getDimSize(dim))
      sort->setAttr(firstElementsAttrName, Builder(sort.getContext()).getI64IntegerAttr(most));
  }
}
