//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace zyx::plan;

#include "zyx/Dialect/Plan/IR/PlanInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "zyx/Dialect/Plan/IR/PlanOps.cpp.inc"

static uint64_t bufferBytes(Value buffer) { return cast<BufferType>(buffer.getType()).getByteSize(); }

Storage zyx::plan::getStorage(Value buffer) {
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    uint64_t begin = slice.getOffset();
    return {slice.getArena(), begin, begin + bufferBytes(buffer)};
  }
  return {buffer, 0, bufferBytes(buffer)};
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  call_interface_impl::addArgAndResultAttrs(builder, state, argAttrs, /*resultAttrs=*/{},
                                            getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name));
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  block.addArguments(type.getInputs(), SmallVector<Location>(type.getNumInputs(), state.location));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

StringAttr FuncOp::getInputName(unsigned index) { return getArgAttrOfType<StringAttr>(index, inputAttr); }

StringAttr FuncOp::getOutputName(unsigned index) { return getArgAttrOfType<StringAttr>(index, outputAttr); }

bool FuncOp::isWeight(unsigned index) { return static_cast<bool>(getArgAttr(index, weightAttr)); }

InitOp FuncOp::getInit() {
  auto inits = getBody().getOps<InitOp>();
  return inits.empty() ? InitOp() : *inits.begin();
}

LogicalResult FuncOp::verify() {
  if (getNumResults() != 0)
    return emitOpError("returns a value; outputs are arguments with 'plan.output'");
  llvm::StringSet<> inputs, outputs;
  for (unsigned i = 0; i < getNumArguments(); ++i) {
    if (!isa<BufferType>(getArgumentTypes()[i]))
      return emitOpError("argument #") << i << " is not a buffer";
    StringAttr input = getInputName(i), output = getOutputName(i);
    if (!input == !output)
      return emitOpError("argument #") << i << " needs one of 'plan.input' and 'plan.output'";
    if (input && !outputs.empty())
      return emitOpError("input '") << input.getValue() << "' comes after an output";
    if (output && isWeight(i))
      return emitOpError("output '") << output.getValue() << "' is a weight";
    StringAttr name = input ? input : output;
    if (name.empty())
      return emitOpError("argument #") << i << " has an empty name";
    if (!(input ? inputs : outputs).insert(name.getValue()).second)
      return emitOpError("has two ") << (input ? "inputs" : "outputs") << " named '" << name.getValue() << "'";
  }
  unsigned arenas = 0, keptArenas = 0, inits = 0, commands = 0;
  for (Operation &op : getBody().front()) {
    if (auto arena = dyn_cast<ArenaOp>(op))
      ++(arena.getKept() ? keptArenas : arenas);
    commands += isa<CommandOpInterface>(op);
    if (!isa<InitOp>(op))
      continue;
    if (++inits > 1)
      return op.emitOpError("is the second one of its plan");
    if (commands != 0)
      return op.emitOpError("comes behind a command");
  }
  if (arenas > 1)
    return emitOpError("has ") << arenas << " arenas; one holds all temporaries";
  if (keptArenas > 1)
    return emitOpError("has ") << keptArenas << " kept arenas; one holds all that stays";
  return success();
}

/// Whether a buffer keeps its contents from run to run.
static bool isKept(const Storage &storage) {
  if (auto alloc = storage.base.getDefiningOp<AllocOp>())
    return alloc.getKept();
  auto arena = storage.base.getDefiningOp<ArenaOp>();
  return arena && arena.getKept();
}

LogicalResult InitOp::verifyRegions() {
  auto refuse = [&](Operation *op, const char *reason) { return WalkResult(op->emitOpError(reason)); };
  WalkResult walked = getBody().walk([&](Operation *op) -> WalkResult {
    auto command = dyn_cast<CommandOpInterface>(op);
    if (!command)
      return isa<ArenaOp>(op) ? refuse(op, "belongs outside of 'plan.init'") : WalkResult::advance();
    for (Value buffer : command.getReadBuffers())
      if (auto argument = dyn_cast<BlockArgument>(getStorage(buffer).base))
        if (!cast<FuncOp>((*this)->getParentOp()).isWeight(argument.getArgNumber()))
          return refuse(op, "reads what is no weight, once for many runs");
    for (Value buffer : command.getWrittenBuffers()) {
      const Storage storage = getStorage(buffer);
      if (isa<BlockArgument>(storage.base))
        return refuse(op, "writes an output once for many runs");
      // The bytes of a temporary of the runs are another one's in between.
      if (auto alloc = storage.base.getDefiningOp<AllocOp>(); alloc && !isKept(storage) && !(*this)->isAncestor(alloc))
        return refuse(op, "writes a buffer outside of 'plan.init' that is not kept");
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (getKept() && !isa<FuncOp>((*this)->getParentOp()))
    return emitOpError("is kept, and belongs outside of other ops");
  return success();
}

LogicalResult ArenaOp::verify() {
  auto type = cast<BufferType>(getType());
  if (type.getDtype() != zyx::DType::U8 || type.getShape().size() != 1)
    return emitOpError("is a buffer of u8 of rank 1, not ") << type;
  return success();
}

LogicalResult SliceOp::verify() {
  if (!getArena().getDefiningOp<ArenaOp>())
    return emitOpError("cuts from something that is no plan.arena");
  if (getOffset() % alignment != 0)
    return emitOpError("begins at byte ") << getOffset() << ", which is no multiple of " << alignment;
  Storage storage = getStorage(getResult());
  uint64_t size = bufferBytes(getArena());
  if (storage.begin > size || storage.end > size)
    return emitOpError("ends at byte ") << storage.end << " of an arena of " << size << " bytes";
  return success();
}

LogicalResult ConstantOp::verify() {
  uint64_t size = bufferBytes(getResult());
  if (getValue().size() != size)
    return emitOpError("has ") << getValue().size() << " bytes for a buffer of " << size;
  if (size > maxConstantBytes)
    return emitOpError("has ") << size << " bytes; more than " << maxConstantBytes << " are an input";
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static LogicalResult verifyWritten(Operation *command, Value written) {
  Storage storage = getStorage(written);
  if (storage.base.getDefiningOp<ConstantOp>())
    return command->emitOpError("writes a constant");
  if (auto argument = dyn_cast<BlockArgument>(storage.base)) {
    auto func = dyn_cast<FuncOp>(argument.getOwner()->getParentOp());
    if (!func || func.getInputName(argument.getArgNumber()))
      return command->emitOpError("writes an input");
  }
  if (isKept(storage) && !command->getParentOfType<InitOp>())
    return command->emitOpError("writes kept memory outside of 'plan.init'");
  return success();
}

/// Refuses a command that writes what must not be written, or that reads or writes the same bytes
/// through two operands.
static LogicalResult verifyCommand(Operation *command, ValueRange reads, ValueRange writes) {
  for (auto [i, written] : llvm::enumerate(writes)) {
    if (failed(verifyWritten(command, written)))
      return failure();
    Storage storage = getStorage(written);
    auto overlapsWritten = [&](Value other) { return getStorage(other).overlaps(storage); };
    if (llvm::any_of(reads, overlapsWritten))
      return command->emitOpError("writes bytes that it also reads");
    if (llvm::any_of(writes.drop_front(i + 1), overlapsWritten))
      return command->emitOpError("writes the same bytes twice");
  }
  return success();
}

SmallVector<Value> LaunchOp::getReadBuffers() {
  SmallVector<Value> buffers = getIns();
  if (getUpdates())
    llvm::append_range(buffers, getOuts());
  return buffers;
}
SmallVector<Value> LaunchOp::getWrittenBuffers() { return getOuts(); }
LogicalResult LaunchOp::verify() { return verifyCommand(*this, getIns(), getOuts()); }

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!symbol)
    return emitOpError("launches '") << getKernel() << "', which does not exist";
  auto function = dyn_cast<FunctionOpInterface>(symbol);
  if (!function || isa<FuncOp>(symbol))
    return emitOpError("launches '") << getKernel() << "', which is no kernel";
  const size_t passed = getIns().size() + getOuts().size() + getScalars().size();
  // Machine code is called by a convention of its target's.
  auto declared = symbol->getAttrOfType<IntegerAttr>(PlanDialect::argumentsAttr);
  const size_t taken = declared ? declared.getValue().getZExtValue() : function.getNumArguments();
  if (taken != passed)
    return emitOpError("passes ") << passed << " arguments to '" << getKernel() << "', which has " << taken;
  return success();
}

SmallVector<Value> CopyOp::getReadBuffers() { return {getSource()}; }
SmallVector<Value> CopyOp::getWrittenBuffers() { return {getDestination()}; }
LogicalResult CopyOp::verify() {
  if (bufferBytes(getSource()) != bufferBytes(getDestination()))
    return emitOpError("copies ") << bufferBytes(getSource()) << " bytes to a buffer of "
                                  << bufferBytes(getDestination());
  return verifyCommand(*this, getSource(), getDestination());
}

SmallVector<Value> FillOp::getReadBuffers() { return {}; }
SmallVector<Value> FillOp::getWrittenBuffers() { return {getDestination()}; }
LogicalResult FillOp::verify() {
  zyx::DType dtype = cast<BufferType>(getDestination().getType()).getDtype();
  int64_t bytes = zyx::byteSize(dtype);
  if (bytes < 8 && (static_cast<uint64_t>(getBits()) >> (8 * bytes)) != 0)
    return emitOpError("has bits beyond the ") << bytes << " bytes of " << StringRef(zyx::toString(dtype));
  return verifyCommand(*this, {}, getDestination());
}

SmallVector<Value> LoopOp::getReadBuffers() {
  SmallVector<Value> buffers;
  if (getCount())
    buffers.push_back(getCount());
  for (Region &body : getBodies())
    for (auto command : body.getOps<CommandOpInterface>())
      buffers.append(command.getReadBuffers());
  return buffers;
}

SmallVector<Value> LoopOp::getWrittenBuffers() {
  SmallVector<Value> buffers;
  if (getIndex())
    buffers.push_back(getIndex());
  for (Region &body : getBodies())
    for (auto command : body.getOps<CommandOpInterface>())
      buffers.append(command.getWrittenBuffers());
  return buffers;
}

LogicalResult LoopOp::verify() {
  if (getBodies().empty())
    return emitOpError("has no body");
  if (getTrips().has_value() == static_cast<bool>(getCount()))
    return emitOpError("needs either 'trips' or a 'count'");
  if (IntegerAttr trips = getTripsAttr(); trips && trips.getInt() < 0)
    return emitOpError("runs its body ") << trips.getInt() << " times";
  for (Value number : {getCount(), getIndex()}) {
    if (!number)
      continue;
    auto type = cast<BufferType>(number.getType());
    if (number != getIndex() && type.getDtype() == zyx::DType::Bool && type.getByteSize() == 1)
      continue;
    if (type.getDtype() != zyx::DType::I64 || type.getByteSize() != sizeof(int64_t))
      return emitOpError("has a count and an index of one i64, not ") << type;
  }
  return getIndex() ? verifyWritten(*this, getIndex()) : success();
}

LogicalResult LoopOp::verifyRegions() {
  for (Region &body : getBodies())
    for (Operation &op : body.front()) {
      if (isa<ArenaOp>(op))
        return op.emitOpError("belongs outside of loops");
      if (auto command = dyn_cast<CommandOpInterface>(op))
        for (OpOperand &event : command.getWaitMutable())
          if (event.get().getParentBlock() != op.getBlock())
            return op.emitOpError("waits for a command outside of its body");
    }
  return success();
}
