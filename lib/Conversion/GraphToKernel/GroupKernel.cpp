//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GroupKernel.h"

#include "Elements.h"

#include "zyx/Dialect/Graph/IR/PlainTypes.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

GroupKernel openKernel(GroupOp group, ArrayRef<ConstantOp> constants, StringRef name, OpBuilder &builder,
                       ConvertedGroup &result) {
  Block &block = group.getBlock();
  ValueRange inputs = block.getArguments(), outputs = block.getTerminator()->getOperands();
  SmallVector<Type> types;
  auto addBuffer = [&](Type element) {
    types.push_back(kernel::BufferType::get(builder.getContext(), toSignless(element), kernel::Space::Global));
  };
  for (Value input : inputs)
    addBuffer(getElementTypeOrSelf(input.getType()));
  for (ConstantOp constant : constants) {
    addBuffer(getElementTypeOrSelf(constant.getType()));
    result.constants.push_back(constant.getValue());
  }
  for (Value output : outputs)
    addBuffer(getElementTypeOrSelf(output.getType()));
  for (const TensorType &type : result.scratch)
    addBuffer(toElementType(type.dtype, builder.getContext()));

  result.kernel = kernel::FuncOp::create(builder, group.getLoc(), name, builder.getFunctionType(types, {}));
  Block &body = result.kernel.getBody().front();
  builder.setInsertionPointToStart(&body);
  GroupKernel opened;
  auto argument = body.args_begin();
  for (Value input : inputs)
    opened.buffers[input] = *argument++;
  for (ConstantOp constant : constants)
    opened.buffers[constant.getResult()] = *argument++;
  opened.outputs.assign(argument, argument + outputs.size());
  opened.scratch.assign(argument + outputs.size(), body.args_end());
  return opened;
}

} // namespace zyx::lowering
