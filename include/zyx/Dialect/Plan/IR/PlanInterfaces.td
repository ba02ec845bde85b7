//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_IR_PLANINTERFACES_TD
#define ZYX_DIALECT_PLAN_IR_PLANINTERFACES_TD

include "mlir/IR/OpBase.td"

def Plan_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::zyx::plan";
  let description = "What a device does for the plan: it reads and writes buffers, and ends with an event.";
  let methods = [
    InterfaceMethod<"Buffers whose contents matter to the command, those of its body included.",
      "::llvm::SmallVector<::mlir::Value>", "getReadBuffers">,
    InterfaceMethod<"Buffers that it writes, or that its body does.",
      "::llvm::SmallVector<::mlir::Value>", "getWrittenBuffers">,
    InterfaceMethod<"The events it waits for.",
      "::mlir::MutableOperandRange", "getWaitMutable">,
    InterfaceMethod<"The event of its end.", "::mlir::Value", "getEvent">];
}

#endif // ZYX_DIALECT_PLAN_IR_PLANINTERFACES_TD
