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

Status KernelConversion::convert(ViewOp view) {
  Type element = view.getType().getElementType();
  ZYX_RETURN_IF_ERROR(typeOf(view, element).status());
  descriptors[view] = {.base = values.at(view.getBuffer()),
                       .isNonPrivate = nonPrivateBuffers.contains(view.getBuffer()),
                       .element = element};
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
  auto array = spirv::ArrayType::get(memoryType(descriptor.element),
                                     static_cast<unsigned>(std::max<int64_t>(type.getDimSize(0), 1)));
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

/// Reads only where the mask is set.
Status KernelConversion::convert(LoadOp load) {
  ZYX_ASSIGN_OR_RETURN(Type type, typeOf(load, load.getType()));
  const ViewDescriptor &descriptor = descriptors.find(load.getView())->second;
  Value at = values.at(load.getIndices().front());
  if (!load.getMask()) {
    values[load] = readElement(descriptor, at);
    return {};
  }
  Value other = load.getOther() ? values.at(load.getOther()) : scalars().zero(type);
  ZYX_ASSIGN_OR_RETURN(Values result, variables(load, load.getType()));
  auto take = [&](Value value) {
    assign(result, {value});
    return Status();
  };
  ZYX_RETURN_IF_ERROR(branch(
      values.at(load.getMask()), [&] { return take(readElement(descriptor, at)); }, [&] { return take(other); }));
  bindRead(result, load.getResult());
  return {};
}

Status KernelConversion::convert(StoreOp store) {
  ZYX_RETURN_IF_ERROR(typeOf(store, store.getValue().getType()).status());
  const ViewDescriptor &descriptor = descriptors.find(store.getView())->second;
  auto write = [&] {
    writeElement(descriptor, values.at(store.getIndices().front()), values.at(store.getValue()));
    return Status();
  };
  return store.getMask() ? branch(values.at(store.getMask()), write, [] { return Status(); }) : write();
}

} // namespace zyx::target
