//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/DLPack.h"

#include <algorithm>
#include <cstddef>

using namespace zyx;
using namespace zyx::runtime;

namespace {

// The layout that DLPack 1 documents, and its numbers. zyx builds without that header.

struct DLDevice {
  int32_t kind, number;
};
constexpr int32_t pinnedKind = 3;

struct Dense {
  void *data;
  DLDevice place;
  int32_t rank;
  DLPackElement element;
  int64_t *shape;
  /// In elements; null where the tensor is row-major.
  int64_t *strides;
  uint64_t offset;
};

struct Old {
  Dense tensor;
  void *context;
  void (*release)(Old *);
};

struct Versioned {
  uint32_t major, minor;
  void *context;
  void (*release)(Versioned *);
  uint64_t flags;
  Dense tensor;
};
constexpr uint32_t majorVersion = 1, minorVersion = 0;
constexpr uint64_t flagReadOnly = 1;
static_assert(sizeof(Dense) == 48 && offsetof(Dense, offset) == 40 && offsetof(Versioned, tensor) == 32 &&
              offsetof(Old, release) == 56);

constexpr int32_t maxRank = 64;

/// Dense and row-major; extents of 1, and tensors of no element, may have any stride.
bool isRowMajor(const Dense &tensor, const Shape &shape) {
  if (!tensor.strides || std::ranges::count(shape, 0) != 0)
    return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && tensor.strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

Result<TensorType> typeOf(const Dense &tensor) {
  if (tensor.rank < 0 || tensor.rank > maxRank || (tensor.rank != 0 && !tensor.shape))
    return Status::invalidArgument("the DLPack tensor has rank " + std::to_string(tensor.rank) +
                                   (tensor.shape ? "" : " and no shape"));
  TensorType type;
  ZYX_ASSIGN_OR_RETURN(type.dtype, dtypeOf(tensor.element));
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] < 0)
      return Status::invalidArgument("the DLPack tensor has the extent " + std::to_string(tensor.shape[i]));
    type.shape.push_back(tensor.shape[i]);
  }
  return type;
}

/// `managed` is taken over by the last step, which is the only one that may not fail; `release` gives it back.
Result<ImportedTensor> import(Device &device, const Dense &tensor, void *managed, void (*release)(void *)) {
  ImportedTensor result;
  ZYX_ASSIGN_OR_RETURN(result.type, typeOf(tensor));
  ZYX_ASSIGN_OR_RETURN(const int64_t bytes, byteSize(result.type));
  if (!isRowMajor(tensor, result.type.shape))
    return Status::unsupported("the DLPack tensor is not dense and row-major; its owner can copy it to be so");
  if (!tensor.data && bytes != 0)
    return Status::invalidArgument("the DLPack tensor has no data");
  const DLPackPlace own = device.dlpackPlace();
  const bool isHere = (tensor.place.kind == own.kind && tensor.place.number == own.number) ||
                      (own.kind == DLPackPlace::host && tensor.place.kind == pinnedKind);
  if (!isHere)
    return Status::unsupported("the DLPack tensor lies on a device of kind " + std::to_string(tensor.place.kind) +
                               " and number " + std::to_string(tensor.place.number) + ", and device '" + device.name() +
                               "' is kind " + std::to_string(own.kind) + " and number " + std::to_string(own.number));
  // Nothing is released while a step may fail.
  auto isTaken = std::make_shared<bool>(false);
  std::shared_ptr<void> owner(managed, [isTaken, release](void *given) {
    if (*isTaken)
      release(given);
  });
  ZYX_ASSIGN_OR_RETURN(result.buffer, device.borrow(reinterpret_cast<uint64_t>(tensor.data) + tensor.offset,
                                                    static_cast<uint64_t>(bytes), std::move(owner)));
  *isTaken = true;
  return result;
}

template <typename Managed> void releaseManaged(void *given) {
  auto *managed = static_cast<Managed *>(given);
  if (managed->release)
    managed->release(managed);
}

/// What an exported tensor keeps; destroyed in the opposite order.
struct Exported {
  std::shared_ptr<Device> device;
  std::shared_ptr<Buffer> buffer;
  std::vector<int64_t> shape, strides;
  // One of the two is given out.
  Versioned versioned = {};
  Old old = {};
};

Result<std::unique_ptr<Exported>> exportTo(std::shared_ptr<Device> device, std::shared_ptr<Buffer> buffer,
                                           const TensorType &type) {
  if (const Result<int64_t> bytes = type.isSymbolic() ? Result<int64_t>(-1) : byteSize(type);
      !bytes || static_cast<uint64_t>(*bytes) != buffer->size())
    return Status::invalidArgument("a buffer of " + std::to_string(buffer->size()) + " bytes is no " + toString(type));
  auto result = std::make_unique<Exported>();
  result->shape.assign(type.shape.begin(), type.shape.end());
  result->strides.resize(result->shape.size());
  int64_t stride = 1;
  for (size_t i = result->shape.size(); i-- > 0;) {
    result->strides[i] = stride;
    stride *= std::max<int64_t>(result->shape[i], 1);
  }
  ZYX_RETURN_IF_ERROR(buffer->wait(/*toWrite=*/false));
  const DLPackPlace place = device->dlpackPlace();
  void *data = buffer->size() ? reinterpret_cast<void *>(buffer->handle()) : nullptr;
  const Dense tensor = {data,
                        {place.kind, place.number},
                        static_cast<int32_t>(result->shape.size()),
                        dlpackElement(type.dtype),
                        result->shape.data(),
                        result->strides.data(),
                        0};
  result->device = std::move(device);
  result->buffer = std::move(buffer);
  result->versioned = {majorVersion, minorVersion,
                       result.get(), [](Versioned *given) { delete static_cast<Exported *>(given->context); },
                       /*flags=*/0,  tensor};
  result->old = {tensor, result.get(), [](Old *given) { delete static_cast<Exported *>(given->context); }};
  return result;
}

} // namespace

DLPackElement runtime::dlpackElement(DType dtype) {
  enum Code : uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Bool = 6, F8E4M3FN = 10, F8E5M2 = 12 };
  const uint8_t code = dtype == DType::Bool       ? Bool
                       : dtype == DType::BF16     ? BFloat
                       : dtype == DType::F8E4M3FN ? F8E4M3FN
                       : dtype == DType::F8E5M2   ? F8E5M2
                       : isFloat(dtype)           ? Float
                       : isSignedInteger(dtype)   ? Int
                                                  : UInt;
  return {code, static_cast<uint8_t>(8 * byteSize(dtype)), 1};
}

Result<DType> runtime::dtypeOf(const DLPackElement &element) {
  for (DType dtype : allDTypes())
    if (dlpackElement(dtype) == element)
      return dtype;
  return Status::unsupported("zyx has no dtype of DLPack's code " + std::to_string(element.code) + " with " +
                             std::to_string(element.bits) + " bits and " + std::to_string(element.lanes) + " lanes");
}

Result<ImportedTensor> runtime::importDLPack(Device &device, DLManagedTensorVersioned *tensor) {
  auto *versioned = reinterpret_cast<Versioned *>(tensor);
  if (versioned->major != majorVersion)
    return Status::unsupported("the tensor is of DLPack " + std::to_string(versioned->major) + "." +
                               std::to_string(versioned->minor) + "; zyx knows version " +
                               std::to_string(majorVersion));
  const bool isReadOnly = versioned->flags & flagReadOnly;
  ZYX_ASSIGN_OR_RETURN(ImportedTensor result, import(device, versioned->tensor, versioned, releaseManaged<Versioned>));
  result.isReadOnly = isReadOnly;
  return result;
}

Result<ImportedTensor> runtime::importDLPack(Device &device, DLManagedTensor *tensor) {
  auto *old = reinterpret_cast<Old *>(tensor);
  return import(device, old->tensor, old, releaseManaged<Old>);
}

Result<DLManagedTensorVersioned *> runtime::exportDLPack(std::shared_ptr<Device> device, std::shared_ptr<Buffer> buffer,
                                                         const TensorType &type) {
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Exported> made, exportTo(std::move(device), std::move(buffer), type));
  return reinterpret_cast<DLManagedTensorVersioned *>(&made.release()->versioned);
}

Result<DLManagedTensor *> runtime::exportOldDLPack(std::shared_ptr<Device> device, std::shared_ptr<Buffer> buffer,
                                                   const TensorType &type) {
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Exported> made, exportTo(std::move(device), std::move(buffer), type));
  return reinterpret_cast<DLManagedTensor *>(&made.release()->old);
}
