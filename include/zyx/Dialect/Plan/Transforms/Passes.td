//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_TRANSFORMS_PASSES_TD
#define ZYX_DIALECT_PLAN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignArenaPass : Pass<"zyx-plan-assign-arena", "::zyx::plan::FuncOp"> {
  let summary = "Give every temporary an offset in one arena";
  let description = [{
    A temporary lives from the first command that uses it to the last, in the order of the text; one
    from outside of a loop that uses it lives as long as the loop. Large
    ones are placed first, each in the smallest gap that fits among those whose lives meet its own; a
    temporary that no command uses disappears. What is kept gets an arena of its own, in which nothing shares
    bytes.

    ```mlir
    %t = plan.alloc : !plan.buffer<f32[100]>
    %u = plan.alloc : !plan.buffer<f32[100]>
    // becomes
    %arena = plan.arena : !plan.buffer<u8[832]>
    %t = plan.slice %arena[0] : !plan.buffer<u8[832]> -> !plan.buffer<f32[100]>
    %u = plan.slice %arena[448] : !plan.buffer<u8[832]> -> !plan.buffer<f32[100]>
    ```

    A remark of category `zyx-plan` gives the arena's bytes and those of all temporaries.
  }];
}

def HoistInitPass : Pass<"zyx-plan-hoist-init", "::zyx::plan::FuncOp"> {
  let summary = "Run once what depends on weights alone";
  let description = [{
    Commands that read nothing but weights, constants and what such commands have written move into
    `plan.init`, those inside of loops too. What other commands read of it is kept from run to run: so
    a command stays where it is if that were more than twice the bytes of the weights that it depends
    on, and a MiB, and so do those that write most if that were more in all. One that writes an output stays, and one whose buffer others write, too.

    ```mlir
    %t = plan.alloc : !plan.buffer<f32[8]>
    %0 = plan.launch @a ins(%w : ...) outs(%t : ...)
    %1 = plan.launch @b ins(%x, %t : ...) outs(%y : ...)
    // becomes
    %t = plan.alloc kept : !plan.buffer<f32[8]>
    plan.init {
      %0 = plan.launch @a ins(%w : ...) outs(%t : ...)
    }
    %1 = plan.launch @b ins(%x, %t : ...) outs(%y : ...)
    ```

    A remark of category `zyx-plan` gives the number of commands and the bytes that are kept.
  }];
}

def InsertWaitsPass : Pass<"zyx-plan-insert-waits", "::zyx::plan::FuncOp"> {
  let summary = "Say which commands must wait for which";
  let description = [{
    A command depends on an earlier one that writes bytes it reads or writes, or reads bytes it writes.
    Its wait list becomes the shortest one from which all its dependencies follow; a list from before is
    replaced. A loop reads and writes what its commands do, and the commands of its body wait for each
    other.

    ```mlir
    %0 = plan.launch @a ins(%x : ...) outs(%t : ...)
    %1 = plan.launch @b ins(%t : ...) outs(%u : ...)
    %2 = plan.launch @c ins(%t, %u : ...) outs(%y : ...)
    // becomes
    %0 = plan.launch @a ins(%x : ...) outs(%t : ...)
    %1 = plan.launch @b ins(%t : ...) outs(%u : ...) wait(%0)
    %2 = plan.launch @c ins(%t, %u : ...) outs(%y : ...) wait(%1)
    ```
  }];
}

#endif // ZYX_DIALECT_PLAN_TRANSFORMS_PASSES_TD
