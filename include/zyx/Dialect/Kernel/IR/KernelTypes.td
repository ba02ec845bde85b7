//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_KERNELTYPES_TD
#define ZYX_DIALECT_KERNEL_IR_KERNELTYPES_TD

include "zyx/Dialect/Kernel/IR/KernelAttrs.td"

class Kernel_Type<string name, string typeMnemonic> : TypeDef<Kernel_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Kernel_BufferType : Kernel_Type<"Buffer", "buffer"> {
  let summary = "A run of elements handed to a kernel";
  let description = "`!kernel.buffer<f32, global>`. Buffers of one kernel do not overlap.";
  let parameters = (ins "::mlir::Type":$elementType, EnumParameter<Kernel_Space>:$space);
  let assemblyFormat = "`<` $elementType `,` $space `>`";
}

def Kernel_ViewType : Kernel_Type<"View", "view"> {
  let summary = "A shaped way to look at memory";
  let description = [{
    `!kernel.view<256x1024xf32, global>`, `!kernel.view<?x?xbf16, global>`, and with a layout
    `!kernel.view<4x128x64xbf16, shared, #kernel.shared<swizzle = 128>>`. Where its elements lie is
    said by the op that made it.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
    EnumParameter<Kernel_Space>:$space, "::mlir::Attribute":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
    "::mlir::Type":$elementType, "::zyx::kernel::Space":$space,
    CArg<"::mlir::Attribute", "{}">:$layout), [{
      return $_get(elementType.getContext(), shape, elementType, space, layout);
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getDimSize(unsigned i) const { return getShape()[i]; }
    bool isDynamicDim(unsigned i) const { return ::mlir::ShapedType::isDynamic(getShape()[i]); }
    bool hasStaticShape() const { return !::mlir::ShapedType::isDynamicShape(getShape()); }
  }];
}

def Kernel_BarriersType : Kernel_Type<"Barriers", "barriers"> {
  let summary = "A row of transaction barriers in shared memory";
  let description = [{
    `!kernel.barriers<4>`. Each has a phase that flips when as many arrivals as it was made for, and
    all bytes that it was told to expect, have come.
  }];
  let parameters = (ins "unsigned":$count);
  let assemblyFormat = "`<` $count `>`";
}

#endif // ZYX_DIALECT_KERNEL_IR_KERNELTYPES_TD
