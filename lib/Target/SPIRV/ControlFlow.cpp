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

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using spirv::StorageClass;

namespace {

class ControlFlow {
public:
  explicit ControlFlow(Operation *op) : b(op), loc(op->getLoc()) {}

  void convert(scf::ForOp op);
  void convert(scf::IfOp op);
  void convert(scf::WhileOp op);

private:
  using Values = SmallVector<Value>;
  /// Variables of the function, which hold what control flow carries.
  Values variables(TypeRange types);
  void assign(const Values &variables, ValueRange all);
  Values read(const Values &variables);
  /// Puts what `from` does, with these arguments, at the end of `into`. Returns what it ends with.
  Values inlineBlock(Block *from, Block *into, ValueRange arguments);
  void branch(Block *from, Block *to) {
    b.setInsertionPointToEnd(from);
    spirv::BranchOp::create(b, loc, to);
  }

  OpBuilder b;
  const Location loc;
};

ControlFlow::Values ControlFlow::variables(TypeRange types) {
  return llvm::map_to_vector(types, [&](Type type) -> Value {
    return spirv::VariableOp::create(b, loc, spirv::PointerType::get(type, StorageClass::Function),
                                     StorageClass::Function, Value());
  });
}

void ControlFlow::assign(const Values &variables, ValueRange all) {
  for (auto [variable, value] : llvm::zip_equal(variables, all))
    spirv::StoreOp::create(b, loc, variable, value);
}

ControlFlow::Values ControlFlow::read(const Values &variables) {
  return llvm::map_to_vector(variables,
                             [&](Value variable) -> Value { return spirv::LoadOp::create(b, loc, variable); });
}

ControlFlow::Values ControlFlow::inlineBlock(Block *from, Block *into, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(from->getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  Operation *end = from->getTerminator();
  Values ended(end->getOperands());
  end->erase();
  into->getOperations().splice(into->end(), from->getOperations());
  b.setInsertionPointToEnd(into);
  return ended;
}

/// The blocks of a loop or a selection, of which the last one merges.
template <typename Op, size_t N> static std::array<Block *, N> blocksOf(OpBuilder &b, Op op) {
  std::array<Block *, N> blocks;
  for (Block *&each : blocks)
    op.getBody().push_back(each = new Block);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(blocks[N - 1]);
  spirv::MergeOp::create(b, op.getLoc());
  return blocks;
}

/// The header is a block of its own: what a test computes may have control flow.
void ControlFlow::convert(scf::ForOp op) {
  SmallVector<Type> types = {op.getInductionVar().getType()};
  llvm::append_range(types, op.getResultTypes());
  Values carried = variables(types), counter = {carried[0]}, results(llvm::drop_begin(carried));
  assign(counter, op.getLowerBound());
  assign(results, op.getInitArgs());
  auto loop = spirv::LoopOp::create(b, loc, spirv::LoopControl::None);
  auto [entry, header, tested, inside, next, merge] = blocksOf<spirv::LoopOp, 6>(b, loop);
  branch(entry, header);
  branch(header, tested);
  b.setInsertionPointToEnd(tested);
  auto predicate = op.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value isInside = arith::CmpIOp::create(b, loc, predicate, read(counter)[0], op.getUpperBound());
  spirv::BranchConditionalOp::create(b, loc, isInside, inside, ValueRange(), merge, ValueRange());
  b.setInsertionPointToEnd(inside);
  assign(results, inlineBlock(op.getBody(), inside, read(carried)));
  branch(inside, next);
  b.setInsertionPointToEnd(next);
  assign(counter, arith::AddIOp::create(b, loc, read(counter)[0], op.getStep()).getResult());
  branch(next, header);
  b.setInsertionPoint(op);
  op->replaceAllUsesWith(read(results));
}

void ControlFlow::convert(scf::WhileOp op) {
  Values before = variables(op.getInits().getTypes()), after = variables(op.getResultTypes());
  assign(before, op.getInits());
  auto loop = spirv::LoopOp::create(b, loc, spirv::LoopControl::None);
  auto [entry, header, tested, inside, next, merge] = blocksOf<spirv::LoopOp, 6>(b, loop);
  branch(entry, header);
  branch(header, tested);
  branch(next, header);
  b.setInsertionPointToEnd(tested);
  const Values ended = inlineBlock(op.getBeforeBody(), tested, read(before));
  assign(after, ArrayRef(ended).drop_front());
  spirv::BranchConditionalOp::create(b, loc, ended[0], inside, ValueRange(), merge, ValueRange());
  b.setInsertionPointToEnd(inside);
  assign(before, inlineBlock(op.getAfterBody(), inside, read(after)));
  branch(inside, next);
  b.setInsertionPoint(op);
  op->replaceAllUsesWith(read(after));
}

void ControlFlow::convert(scf::IfOp op) {
  Values results = variables(op.getResultTypes());
  auto selection = spirv::SelectionOp::create(b, loc, spirv::SelectionControl::None);
  auto [entry, first, second, merge] = blocksOf<spirv::SelectionOp, 4>(b, selection);
  b.setInsertionPointToEnd(entry);
  spirv::BranchConditionalOp::create(b, loc, op.getCondition(), first, ValueRange(), second, ValueRange());
  for (auto [side, into] : {std::pair(op.thenBlock(), first), std::pair(op.elseBlock(), second)}) {
    if (side)
      assign(results, inlineBlock(side, into, {}));
    branch(into, merge);
  }
  b.setInsertionPoint(op);
  op->replaceAllUsesWith(read(results));
}

} // namespace

/// Inner ops come first.
void zyx::target::convertControlFlow(Operation *kernel) {
  kernel->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<scf::ForOp, scf::WhileOp, scf::IfOp>([](auto each) {
      ControlFlow(each).convert(each);
      each.erase();
    });
  });
}
