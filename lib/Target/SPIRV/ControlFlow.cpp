//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Structured control flow of the spirv dialect. MLIR's own patterns make the body of a loop its continue block, and
// leave no header for a test that has control flow.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using spirv::StorageClass;

namespace {

class ControlFlow {
public:
  explicit ControlFlow(Operation *op) : op(op), b(op), loc(op->getLoc()) {}

  void convert(scf::ForOp loop) {
    Values carried = variables(loop.getInductionVar().getType()), results = variables(loop.getResultTypes());
    assign(carried, loop.getLowerBound());
    assign(results, loop.getInitArgs());
    carried.append(results);
    const auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    convertLoop(
        results,
        [&](Block *) { return arith::CmpIOp::create(b, loc, predicate, read(carried[0])[0], loop.getUpperBound()); },
        [&](Block *inside) {
          assign(results, inlineBlock(loop.getBody(), inside, read(carried)));
          assign(carried[0], arith::AddIOp::create(b, loc, read(carried[0])[0], loop.getStep()).getResult());
        });
  }

  void convert(scf::WhileOp loop) {
    const Values before = variables(loop.getInits().getTypes()), after = variables(loop.getResultTypes());
    assign(before, loop.getInits());
    convertLoop(
        after,
        [&](Block *tested) {
          const Values ended = inlineBlock(loop.getBeforeBody(), tested, read(before));
          assign(after, ArrayRef(ended).drop_front());
          return ended[0];
        },
        [&](Block *inside) { assign(before, inlineBlock(loop.getAfterBody(), inside, read(after))); });
  }

  void convert(scf::IfOp branch) {
    const Values results = variables(branch.getResultTypes());
    auto selection = spirv::SelectionOp::create(b, loc, spirv::SelectionControl::None);
    auto [entry, first, second, merge] = blocksOf<4>(selection);
    branchIf(entry, branch.getCondition(), first, second);
    for (auto [side, into] : {std::pair(branch.thenBlock(), first), std::pair(branch.elseBlock(), second)}) {
      if (side)
        assign(results, inlineBlock(side, into, {}));
      goTo(into, merge);
    }
    finish(results);
  }

private:
  using Values = SmallVector<Value>;

  /// Variables of the function, which hold what control flow carries.
  Values variables(TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) -> Value {
      return spirv::VariableOp::create(b, loc, spirv::PointerType::get(type, StorageClass::Function),
                                       StorageClass::Function, Value());
    });
  }
  void assign(ValueRange variables, ValueRange all) {
    for (auto [variable, value] : llvm::zip_equal(variables, all))
      spirv::StoreOp::create(b, loc, variable, value);
  }
  Values read(ValueRange variables) {
    return llvm::map_to_vector(variables,
                               [&](Value variable) -> Value { return spirv::LoadOp::create(b, loc, variable); });
  }
  /// Puts what `from` does, with these arguments, at the end of `into`. Returns what it ends with.
  Values inlineBlock(Block *from, Block *into, ValueRange arguments) {
    for (auto [argument, value] : llvm::zip_equal(from->getArguments(), arguments))
      argument.replaceAllUsesWith(value);
    Operation *end = from->getTerminator();
    Values ended(end->getOperands());
    end->erase();
    into->getOperations().splice(into->end(), from->getOperations());
    b.setInsertionPointToEnd(into);
    return ended;
  }
  void goTo(Block *from, Block *to) {
    b.setInsertionPointToEnd(from);
    spirv::BranchOp::create(b, loc, to);
  }
  void branchIf(Block *from, Value condition, Block *first, Block *second) {
    b.setInsertionPointToEnd(from);
    spirv::BranchConditionalOp::create(b, loc, condition, first, ValueRange(), second, ValueRange());
  }
  /// The blocks of a loop or a selection, of which the last one merges.
  template <size_t N, typename Op> std::array<Block *, N> blocksOf(Op op) {
    std::array<Block *, N> blocks;
    for (Block *&each : blocks)
      op.getBody().push_back(each = new Block);
    b.setInsertionPointToEnd(blocks[N - 1]);
    spirv::MergeOp::create(b, loc);
    return blocks;
  }
  /// The header is a block of its own: what a test computes may have control flow.
  template <typename Test, typename Body> void convertLoop(ValueRange results, Test test, Body body) {
    auto loop = spirv::LoopOp::create(b, loc, spirv::LoopControl::None);
    auto [entry, header, tested, inside, next, merge] = blocksOf<6>(loop);
    goTo(entry, header);
    goTo(header, tested);
    b.setInsertionPointToEnd(tested);
    branchIf(tested, test(tested), inside, merge);
    b.setInsertionPointToEnd(inside);
    body(inside);
    goTo(inside, next);
    goTo(next, header);
    finish(results);
  }
  void finish(ValueRange results) {
    b.setInsertionPoint(op);
    op->replaceAllUsesWith(read(results));
    op->erase();
  }

  Operation *op;
  OpBuilder b;
  const Location loc;
};

} // namespace

/// Inner ops come first.
void zyx::target::convertControlFlow(Operation *kernel) {
  kernel->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<scf::ForOp, scf::WhileOp, scf::IfOp>(
        [](auto each) { ControlFlow(each).convert(each); });
  });
}
