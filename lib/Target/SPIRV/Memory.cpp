//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Where the elements of views lie, and how they are read and written.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

using namespace mlir;

namespace zyx::target {

using namespace zyx::kernel;
using spirv::StorageClass;

constexpr unsigned byteBits = 8;

Value KernelConversion::expression(AffineExpr expr, ValueRange symbols) {
  Scalars its = scalars();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return its.index(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return valueOf(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = expression(binary.getLHS(), symbols), y = expression(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return its.add(x, y);
  case AffineExprKind::Mul:
    return its.mul(x, y);
  // Sizes are not negative, so that rounding up and down need no signs.
  case AffineExprKind::FloorDiv:
    return its.make<spirv::UDivOp>(x, y);
  case AffineExprKind::CeilDiv:
    return its.make<spirv::UDivOp>(its.add(its.add(x, y), its.index(-1)), y);
  default:
    return its.make<spirv::UModOp>(x, y);
  }
}

Value KernelConversion::linear(const ViewDescriptor &descriptor, ValueRange indices, size_t lane) {
  Scalars its = scalars();
  Value result = descriptor.offset;
  for (auto [i, stride] : llvm::zip(indices, descriptor.strides))
    result = its.add(result, its.mul(valueOf(i, lane), stride));
  // The lanes of a vector follow each other along the last dimension.
  if (lane != 0)
    result = its.add(result, its.mul(its.index(static_cast<int64_t>(lane)), descriptor.strides.back()));
  return result;
}

Status KernelConversion::convert(ViewOp view) {
  BlockAttr block = view.getMap().front();
  if (!view.getMap().isSingleBlock() || block.hasValid())
    return refuseOp(view, "has a map that is not one whole block");
  ViewDescriptor descriptor;
  descriptor.base = valueOf(view.getBuffer());
  descriptor.isNonPrivate = nonPrivateBuffers.contains(view.getBuffer());
  descriptor.element = view.getType().getElementType();
  ZYX_RETURN_IF_ERROR(typeOf(view, descriptor.element).status());
  descriptor.offset = expression(block.getOffset(), view.getSymbols());
  for (AffineExpr stride : block.getStrides())
    descriptor.strides.push_back(expression(stride, view.getSymbols()));
  descriptors[view] = std::move(descriptor);
  return {};
}

Status KernelConversion::convert(AllocOp alloc) {
  ViewType type = alloc.getType();
  Scalars its = scalars();
  const bool isShared = type.getSpace() != Space::Private;
  if (isShared && groupThreads == 1)
    return refuseOp(alloc, "asks for shared memory, which one thread does not have");
  ViewDescriptor descriptor;
  descriptor.isAddress = !isShared && scratchBytes != 0;
  descriptor.isNonPrivate = isShared;
  descriptor.element = type.getElementType();
  ZYX_RETURN_IF_ERROR(typeOf(alloc, descriptor.element).status());
  descriptor.offset = its.index(0);
  int64_t elements = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    descriptor.strides.insert(descriptor.strides.begin(), its.index(elements));
    elements *= extent;
  }
  auto array =
      spirv::ArrayType::get(memoryType(descriptor.element), static_cast<unsigned>(std::max<int64_t>(elements, 1)));
  if (descriptor.isAddress) {
    descriptor.base = its.add(scratch, its.index(privateBytes));
  } else if (isShared) {
    unsigned number = 0;
    std::string name = "zyx.shared";
    while (module.lookupSymbol(name))
      name = "zyx.shared" + std::to_string(number++);
    descriptor.base = spirv::AddressOfOp::create(b, loc, global(name, array, StorageClass::Workgroup));
  } else {
    descriptor.base = spirv::VariableOp::create(b, loc, spirv::PointerType::get(array, StorageClass::Function),
                                                StorageClass::Function, Value());
  }
  if (!isShared)
    privateBytes += bytesOf(alloc);
  descriptors[alloc] = std::move(descriptor);
  return {};
}

Status KernelConversion::convert(SubviewOp subview) {
  ViewDescriptor descriptor = descriptors.find(subview.getView())->second;
  descriptor.offset = linear(descriptor, subview.getIndices(), 0);
  descriptor.strides.erase(descriptor.strides.begin(), descriptor.strides.end() - subview.getType().getRank());
  descriptors[subview] = std::move(descriptor);
  return {};
}

Value KernelConversion::pointer(const ViewDescriptor &descriptor, Value at) {
  Scalars its = scalars();
  if (!descriptor.isAddress)
    return spirv::AccessChainOp::create(b, loc, descriptor.base, ValueRange{at});
  Type element = memoryType(descriptor.element);
  Value bytes = its.mul(at, its.index(element.getIntOrFloatBitWidth() / byteBits));
  return spirv::ConvertUToPtrOp::create(b, loc, spirv::PointerType::get(element, StorageClass::PhysicalStorageBuffer),
                                        its.add(descriptor.base, bytes));
}

/// Memory operands: accesses by address say their alignment; memory that other threads of the workgroup read is
/// NonPrivatePointer.
static std::pair<spirv::MemoryAccessAttr, IntegerAttr> accessOf(OpBuilder &b, bool isAddress, bool isNonPrivate,
                                                                Type type) {
  auto access = spirv::MemoryAccess::None;
  if (isAddress)
    access = access | spirv::MemoryAccess::Aligned;
  if (isNonPrivate)
    access = access | spirv::MemoryAccess::NonPrivatePointer;
  return {access == spirv::MemoryAccess::None ? spirv::MemoryAccessAttr()
                                              : spirv::MemoryAccessAttr::get(b.getContext(), access),
          isAddress ? b.getI32IntegerAttr(static_cast<int32_t>(type.getIntOrFloatBitWidth() / byteBits))
                    : IntegerAttr()};
}

Value KernelConversion::readElement(const ViewDescriptor &descriptor, Value at) {
  Type type = memoryType(descriptor.element);
  auto [access, alignment] = accessOf(b, descriptor.isAddress, descriptor.isNonPrivate, type);
  Value value = spirv::LoadOp::create(b, loc, pointer(descriptor, at), access, alignment);
  return descriptor.element.isInteger(1) ? scalars().make<spirv::INotEqualOp>(value, scalars().number(type, 0)) : value;
}

void KernelConversion::writeElement(const ViewDescriptor &descriptor, Value at, Value value) {
  Type type = memoryType(descriptor.element);
  auto [access, alignment] = accessOf(b, descriptor.isAddress, descriptor.isNonPrivate, type);
  if (descriptor.element.isInteger(1))
    value = scalars().select(value, scalars().number(type, 1), scalars().number(type, 0));
  spirv::StoreOp::create(b, loc, pointer(descriptor, at), value, access, alignment);
}

Value KernelConversion::readOr(Value condition, const ViewDescriptor &descriptor, Value at, Value otherwise) {
  const Values result = {spirv::VariableOp::create(
      b, loc, spirv::PointerType::get(otherwise.getType(), StorageClass::Function), StorageClass::Function, Value())};
  [[maybe_unused]] const Status status = branch(
      condition,
      [&] {
        assign(result, {readElement(descriptor, at)});
        return Status();
      },
      [&] {
        assign(result, {otherwise});
        return Status();
      });
  return read(result)[0];
}

Result<Value> KernelConversion::load(LoadOp load, size_t lane) {
  ZYX_ASSIGN_OR_RETURN(Type type, typeOf(load, load.getType()));
  const ViewDescriptor &descriptor = descriptors.find(load.getView())->second;
  Value at = linear(descriptor, load.getIndices(), lane);
  if (!load.getMask())
    return readElement(descriptor, at);
  Value other = load.getOther() ? valueOf(load.getOther(), lane) : zeroOf(type);
  return readOr(valueOf(load.getMask(), lane), descriptor, at, other);
}

Status KernelConversion::store(StoreOp store, size_t lane) {
  ZYX_RETURN_IF_ERROR(typeOf(store, store.getValue().getType()).status());
  const ViewDescriptor &descriptor = descriptors.find(store.getView())->second;
  Value at = linear(descriptor, store.getIndices(), lane), value = valueOf(store.getValue(), lane);
  auto write = [&] {
    writeElement(descriptor, at, value);
    return Status();
  };
  if (store.getMask())
    return branch(valueOf(store.getMask(), lane), write, [] { return Status(); });
  return write();
}

/// An index outside of the view reads zero; indices are signed.
Result<Value> KernelConversion::gather(GatherOp gather, size_t lane) {
  ZYX_ASSIGN_OR_RETURN(Type type, typeOf(gather, gather.getType()));
  if (!gather.getView().getType().hasStaticShape())
    return refuseOp(gather, "reads a view whose extents are not known");
  const ViewDescriptor &descriptor = descriptors.find(gather.getView())->second;
  Scalars its = scalars();
  Value at = descriptor.offset, inside = its.number(b.getI1Type(), 1);
  for (auto [dim, index] : llvm::enumerate(gather.getIndices())) {
    Value wide = its.resize(valueOf(index, lane), b.getI64Type(), /*isSigned=*/true);
    Value isInside = its.make<spirv::ULessThanOp>(
        wide, its.index(gather.getView().getType().getDimSize(static_cast<unsigned>(dim))));
    inside = dim == 0 ? isInside : its.make<spirv::LogicalAndOp>(inside, isInside);
    at = its.add(at, its.mul(wide, descriptor.strides[dim]));
  }
  return readOr(inside, descriptor, at, zeroOf(type));
}

Value KernelConversion::zeroOf(Type type) {
  if (type.isIntOrIndex())
    return scalars().number(type, 0);
  return spirv::ConstantOp::create(b, loc, type, b.getFloatAttr(type, 0)).getResult();
}

} // namespace zyx::target
