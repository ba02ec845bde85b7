//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The specification of the host's side of a program.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_IR_PLANOPS_TD
#define ZYX_DIALECT_PLAN_IR_PLANOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "zyx/Dialect/Plan/IR/PlanInterfaces.td"
include "zyx/Dialect/Plan/IR/PlanTypes.td"

// Printed in full, `!plan.buffer<f32[4]>`, alone as in lists.
def Plan_Buffer : Type<CPred<"::llvm::isa<::zyx::plan::BufferType>($_self)">, "buffer">;

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

// Work of a device. It waits for events and ends with one.
class Plan_CommandOp<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, traits # [DeclareOpInterfaceMethods<Plan_CommandOpInterface,
        ["getReadBuffers", "getWrittenBuffers"]>]> {
  let results = (outs Plan_EventType:$event);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Plan_FuncOp : Plan_Op<"func", [FunctionOpInterface, IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "One entry";
  let description = [{
    Arguments are buffers. Each has one of the attributes `plan.input` and `plan.output`, whose value
    is the name by which a caller binds it; names of inputs differ from each other, and so do names
    of outputs. Inputs come before outputs and are never written. Caller's buffers do not overlap where
    one of them is an output.

    Inputs that also have the attribute `plan.weight` keep their contents from run to run.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
    "::llvm::ArrayRef<::mlir::DictionaryAttr>":$argAttrs)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral inputAttr = "plan.input";
    static constexpr ::llvm::StringLiteral outputAttr = "plan.output";
    static constexpr ::llvm::StringLiteral weightAttr = "plan.weight";
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The name of argument `index` where it is an input (an output), else a null attribute.
    ::mlir::StringAttr getInputName(unsigned index);
    ::mlir::StringAttr getOutputName(unsigned index);
    bool isWeight(unsigned index);
    /// What runs once for many runs, if there is something.
    InitOp getInit();
  }];
}

def Plan_ReturnOp : Plan_Op<"return", [Pure, ReturnLike, Terminator,
    ParentOneOf<["FuncOp", "LoopOp", "InitOp"]>]> {
  let summary = "End of an entry, of its init, or of one pass of a loop";
  let assemblyFormat = "attr-dict";
}

def Plan_InitOp : Plan_Op<"init", [HasParent<"FuncOp">, NoRegionArguments,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "What runs once for many runs";
  let description = [{
    The commands in the region run before the first run, and again before the first one after a weight
    was bound or written. They read weights, constants and what they compute themselves; what they
    write to kept memory stays there for all runs. A plan has at most one, before all its commands,
    which need not wait for it.

    ```mlir
    plan.func @main(%x: !plan.buffer<f32[4]> {plan.input = "x"}, %w: !plan.buffer<f32[4]> {plan.input = "w", plan.weight},
                    %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
      %k = plan.alloc kept : !plan.buffer<f32[4]>
      plan.init {
        %0 = plan.launch @exp ins(%w : !plan.buffer<f32[4]>) outs(%k : !plan.buffer<f32[4]>)
      }
      %1 = plan.launch @mul ins(%x, %k : !plan.buffer<f32[4]>, !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
      plan.return
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$body attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Plan_AllocOp : Plan_Op<"alloc"> {
  let summary = "A temporary";
  let description = [{
    Uninitialised memory that no other buffer shares. Inside of a loop each pass has its own. Where it is
    `kept` it stays as it is from run to run, and only `plan.init` writes it.

    `%t = plan.alloc : !plan.buffer<f32[256x1024]>`
  }];
  let arguments = (ins UnitAttr:$kept);
  let results = (outs Res<Plan_Buffer, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`kept` $kept^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_ArenaOp : Plan_Op<"arena"> {
  let summary = "The memory of all temporaries";
  let description = [{
    One allocation of u8, 64-byte aligned, uninitialised at the start of every run, and of `plan.init`. A
    plan has at most one, and one that is `kept`, in which all memory lies that stays from run to run.

    `%arena = plan.arena : !plan.buffer<u8[65536]>`
  }];
  let arguments = (ins UnitAttr:$kept);
  let results = (outs Res<Plan_Buffer, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`kept` $kept^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_SliceOp : Plan_Op<"slice", [Pure]> {
  let summary = "A buffer inside the arena";
  let description = [{
    Begins `offset` bytes into the arena, a multiple of 64.

    `%t = plan.slice %arena[4096] : !plan.buffer<u8[65536]> -> !plan.buffer<f32[1000]>`
  }];
  let arguments = (ins Plan_Buffer:$arena, I64Attr:$offset);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$arena `[` $offset `]` attr-dict `:` type($arena) `->` type($result)";
  let hasVerifier = 1;
}

def Plan_ConstantOp : Plan_Op<"constant", [Pure]> {
  let summary = "A buffer of known bytes";
  let description = [{
    The little-endian elements, at most 4096 bytes: more data is an input. It is never written.

    `%two = plan.constant [0, 0, 0, 64] : !plan.buffer<f32[1]>`
  }];
  let arguments = (ins DenseI8ArrayAttr:$value);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_CommandOp<"launch", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Run a kernel";
  let description = [{
    The kernel's arguments are `ins`, which it reads, `outs`, which it writes entirely, and `scalars`.
    No buffer of `outs` overlaps another one. The extents of the grid are the kernel's own. `flops`
    counts the arithmetic of the whole launch (0: unknown) and `bytes` the memory that it touches (0: all of
    its buffers); a runtime decides by them whether threads pay.

    With `updates`, the kernel writes a part of each of `outs` and may read it first; the rest stays as it was.

    ```mlir
    %e = plan.launch @softmax ins(%x : !plan.buffer<f32[8x64]>) outs(%y : !plan.buffer<f32[8x64]>)
           flops 4096 wait(%a, %b)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_Buffer>:$ins,
    Variadic<Plan_Buffer>:$outs, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scalars,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$flops,
    Variadic<Plan_EventType>:$wait, UnitAttr:$updates,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$bytes);
  let assemblyFormat = [{
    $kernel (`ins` `(` $ins^ `:` type($ins) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
    (`updates` $updates^)? (`scalars` $scalars^)? (`flops` $flops^)? (`bytes` $bytes^)?
    (`wait` `(` $wait^ `)`)? attr-dict
  }];
}

def Plan_CopyOp : Plan_CommandOp<"copy"> {
  let summary = "Copy a buffer";
  let description = [{
    Both have the same size in bytes and do not overlap.

    `%e = plan.copy %x to %y : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>`
  }];
  let arguments = (ins Plan_Buffer:$source, Plan_Buffer:$destination,
    Variadic<Plan_EventType>:$wait);
  let assemblyFormat = [{
    $source `to` $destination (`wait` `(` $wait^ `)`)? attr-dict
    `:` type($source) `to` type($destination)
  }];
}

def Plan_FillOp : Plan_CommandOp<"fill"> {
  let summary = "Repeat one element";
  let description = [{
    `bits` are the bits of the element as an integer: 1.0 in f32 is 1065353216.

    `%e = plan.fill %y bits 1065353216 : !plan.buffer<f32[4]>`
  }];
  let arguments = (ins Plan_Buffer:$destination, I64Attr:$bits, Variadic<Plan_EventType>:$wait);
  let assemblyFormat = [{
    $destination `bits` $bits (`wait` `(` $wait^ `)`)? attr-dict `:` type($destination)
  }];
}

def Plan_LoopOp : Plan_CommandOp<"loop", [AttrSizedOperandSegments, NoRegionArguments,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Run commands again and again";
  let description = [{
    The body runs `trips` times, or as often as the i64 in the buffer `count` says when the loop
    starts (never where it is negative). A `count` that is a bool is read before each pass, and the
    loop ends where it is false. Each pass begins when the one before has ended, and the loop
    has happened when its last pass has. Before a pass its number, from 0, is written to the buffer
    `index`. What a body writes to buffers from outside stays there for the next pass: so values are
    carried. The waits in the body are on commands of the same pass.

    A loop may have several bodies, which passes run in turns: of `n` bodies, pass `i` runs number `i mod n`. They
    do the same to other buffers, so that what one pass makes need not be copied to where the next one reads it.

    ```mlir
    %e = plan.loop trips 16 index(%i : !plan.buffer<i64[]>) {
      %0 = plan.launch @step ins(%h, %i : !plan.buffer<f32[4]>, !plan.buffer<i64[]>) outs(%n : !plan.buffer<f32[4]>)
      %1 = plan.copy %n to %h wait(%0) : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
    } wait(%a)
    %f = plan.loop count(%go : !plan.buffer<bool[]>) {
      %0 = plan.launch @step ins(%h : !plan.buffer<f32[4]>) outs(%go, %h : !plan.buffer<bool[]>, !plan.buffer<f32[4]>)
    } wait(%e)
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$trips, Optional<Plan_Buffer>:$count,
    Optional<Plan_Buffer>:$index, Variadic<Plan_EventType>:$wait);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    (`trips` $trips^)? (`count` `(` $count^ `:` type($count) `)`)?
    (`index` `(` $index^ `:` type($index) `)`)? $bodies (`wait` `(` $wait^ `)`)? attr-dict
  }];
}

#endif // ZYX_DIALECT_PLAN_IR_PLANOPS_TD
