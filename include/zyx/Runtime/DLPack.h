//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_DLPACK_H
#define ZYX_RUNTIME_DLPACK_H

#include "zyx/Base/Shape.h"
#include "zyx/Runtime/Device.h"

/// Those of dlpack.h, of version 1 and from before versions. Whoever uses their members includes that header.
extern "C" {
struct DLManagedTensorVersioned;
struct DLManagedTensor;
}

/// Tensors that go from one library to another without a copy.
namespace zyx::runtime {

/// DLPack's name of a dtype (DLDataType).
struct DLPackElement {
  uint8_t code, bits;
  uint16_t lanes;
  bool operator==(const DLPackElement &) const = default;
};
DLPackElement dlpackElement(DType dtype);
/// Unsupported where zyx has no such dtype.
Result<DType> dtypeOf(const DLPackElement &element);

struct ImportedTensor {
  /// Has the memory of the other library; calls its deleter at the end, on the thread of the last owner. Whoever writes
  /// into memory that is read-only breaks the other library's promise.
  std::shared_ptr<Buffer> buffer;
  TensorType type;
  bool isReadOnly = false;
};

/// Takes over the tensor: dense, row-major, of a dtype that zyx has, in memory of the device (for host devices that is
/// the CPU's, and memory of the host that CUDA has pinned). Where it fails nothing is taken: the caller still owns the
/// tensor. InvalidArgument for a tensor that is wrong in itself, Unsupported for one that zyx has no place for.
///
/// What it holds must be there: of a host device when this is called; of a card behind all work that its stream has by
/// then (nativeStream), which is where the other library is asked to put it.
Result<ImportedTensor> importDLPack(Device &device, DLManagedTensorVersioned *tensor);
Result<ImportedTensor> importDLPack(Device &device, DLManagedTensor *tensor);

/// A tensor that shares the buffer's memory, and keeps it and the device until its deleter is called. Waits for the
/// last writer, so that the contents are there for every stream; fails with it. Work of zyx that is begun afterwards
/// knows nothing of the other library's use: whoever has both orders them. InvalidArgument where the type does not have
/// the size of the buffer, or has symbols.
Result<DLManagedTensorVersioned *> exportDLPack(std::shared_ptr<Device> device, std::shared_ptr<Buffer> buffer,
                                                const TensorType &type);
/// The same for libraries that know no versions.
Result<DLManagedTensor *> exportOldDLPack(std::shared_ptr<Device> device, std::shared_ptr<Buffer> buffer,
                                          const TensorType &type);

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_DLPACK_H
