//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_IR_PLANTYPES_TD
#define ZYX_DIALECT_PLAN_IR_PLANTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "zyx/Dialect/Plan/IR/PlanDialect.td"

class Plan_Type<string name, string typeMnemonic> : TypeDef<Plan_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Plan_BufferType : Plan_Type<"Buffer", "buffer"> {
  let summary = "Memory for one dense row-major tensor";
  let description = [{
    `!plan.buffer<f32[256x1024]>`, `!plan.buffer<u8[0x3]>`, and `!plan.buffer<i64[]>` for rank 0. The
    element types are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, f8e4m3fn and f8e5m2; a bool takes
    one byte. At most 2^40 bytes.
  }];
  let parameters = (ins "::zyx::DType":$dtype, ArrayRefParameter<"int64_t">:$shape);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilder<(ins "const ::zyx::TensorType &":$type), [{
    return $_get($_ctxt, type.dtype, ::llvm::ArrayRef<int64_t>(type.shape));
  }]>];
  let extraClassDeclaration = [{
    ::zyx::TensorType getTensorType() const;
    uint64_t getByteSize() const;
  }];
}

def Plan_EventType : Plan_Type<"Event", "event"> {
  let summary = "The end of a command";
}

#endif // ZYX_DIALECT_PLAN_IR_PLANTYPES_TD
