//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_IR_PLANDIALECT_TD
#define ZYX_DIALECT_PLAN_IR_PLANDIALECT_TD

include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::zyx::plan";
  let summary = "The host's side: memory, launches, and what waits for what";
  let description = [{
    A `plan.func` is one entry: a list of commands on buffers, some of which a `plan.loop` repeats. Inputs and outputs are its
    arguments, named by `plan.input` and `plan.output`; the outputs are written in place, and
    nothing is returned.

    ```mlir
    plan.func @scale(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                     %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
      %t = plan.alloc : !plan.buffer<f32[4]>
      %0 = plan.launch @exp ins(%x : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
      %1 = plan.launch @log ins(%t : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>) wait(%0)
      plan.return
    }
    ```

    **Order.** Running the commands in the order of the text, one at a time, is always right. What
    may overlap is said by events: a command starts when the events in its `wait` have happened. A
    plan without waits has not been through `-zyx-plan-insert-waits` yet and means the order of the
    text. The entry is done when all its commands are.

    **Memory.** Temporaries are `plan.alloc`s until `-zyx-plan-assign-arena` gives them offsets in
    one arena. After that two buffers may share bytes, and the waits keep their uses apart. Inside
    one command no buffer overlaps another that is written.

    **Init.** What depends on weights alone is in a `plan.init`: it runs once for many runs, and what it
    leaves in kept memory is there for all of them.

    Kernels are named by symbol. A plan knows one thing more about them: how many arguments a launch
    passes. That is the number of the function's own arguments. Machine code has other ones, those of its
    calling convention, and says by the attribute `plan.arguments` how many its kernel had.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// On a function of machine code: the number of arguments that a launch of it passes, an i64.
    static constexpr ::llvm::StringLiteral argumentsAttr = "plan.arguments";
  }];
}

#endif // ZYX_DIALECT_PLAN_IR_PLANDIALECT_TD
