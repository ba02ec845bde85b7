//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loops of the spirv dialect. MLIR's own patterns make the body of a loop its continue block, and leave no header for a
// test that has control flow.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using spirv::StorageClass;

namespace {

class Loop {
public:
  explicit Loop(Operation *op) : op(op), b(op), loc(op->getLoc()) {}

  void convert(scf::ForOp loop) {
    Values carried = variables(loop.getInductionVar().getType()), results = variables(loop.getResultTypes());
    assign(carried, loop.getLowerBound());
    assign(results, loop.getInitArgs());
    carried.append(results);
    const auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    convertLoop(
        results, [&] { return arith::CmpIOp::create(b, loc, predicate, read(carried[0])[0], loop.getUpperBound()); },
        [&] {
          assign(results, inlineBlock(loop.getBody(), read(carried)));
          assign(carried[0], arith::AddIOp::create(b, loc, read(carried[0])[0], loop.getStep()).getResult());
        });
  }

  void convert(scf::WhileOp loop) {
    const Values before = variables(loop.getInits().getTypes()), after = variables(loop.getResultTypes());
    assign(before, loop.getInits());
    convertLoop(
        after,
        [&] {
          const Values ended = inlineBlock(loop.getBeforeBody(), read(before));
          assign(after, ArrayRef(ended).drop_front());
          return ended[0];
        },
        [&] { assign(before, inlineBlock(loop.getAfterBody(), read(after))); });
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
  /// Does what a block does with these arguments. Returns what it ends with.
  Values inlineBlock(Block *from, ValueRange arguments) {
    Block *into = b.getInsertionBlock();
    b.inlineBlockBefore(from, into, into->end(), arguments);
    const Values ended(into->back().getOperands());
    b.eraseOp(&into->back());
    return ended;
  }
  void goTo(Block *from, Block *to) {
    b.setInsertionPointToEnd(from);
    spirv::BranchOp::create(b, loc, to);
  }
  /// The header is a block of its own: what a test computes may have control flow.
  template <typename Test, typename Body> void convertLoop(ValueRange results, Test test, Body body) {
    auto loop = spirv::LoopOp::create(b, loc, spirv::LoopControl::None);
    loop.addEntryAndMergeBlock(b);
    std::array<Block *, 4> blocks;
    for (Block *&each : blocks)
      each = b.createBlock(loop.getMergeBlock());
    auto [header, tested, inside, next] = blocks;
    goTo(loop.getEntryBlock(), header);
    goTo(header, tested);
    b.setInsertionPointToEnd(tested);
    Value isInside = test();
    spirv::BranchConditionalOp::create(b, loc, isInside, inside, ValueRange(), loop.getMergeBlock(), ValueRange());
    b.setInsertionPointToEnd(inside);
    body();
    goTo(inside, next);
    goTo(next, header);
    b.setInsertionPoint(op);
    b.replaceOp(op, read(results));
  }

  Operation *op;
  IRRewriter b;
  const Location loc;
};

} // namespace

/// Inner ops come first.
void zyx::target::convertLoops(Operation *kernel) {
  kernel->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<scf::ForOp, scf::WhileOp>([](auto each) { Loop(each).convert(each); });
  });
}
