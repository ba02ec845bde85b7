//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include "zyx/Runtime/DLPack.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::c;

template <typename Managed>
static zyx_error *import(zyx_device *device, Managed *tensor, zyx_tensor_info *info, zyx_buffer **buffer) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    *buffer = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    ZYX_RETURN_IF_ERROR(checkNull(tensor, "tensor"));
    if (info)
      ZYX_RETURN_IF_ERROR(checkStruct(info->struct_size, leastTensorInfo, "info"));
    auto result = std::make_unique<zyx_buffer>();
    result->device = device->device;
    ZYX_ASSIGN_OR_RETURN(ImportedTensor imported, importDLPack(*device->device, tensor));
    result->buffer = std::move(imported.buffer);
    result->type = std::move(imported.type);
    result->isReadOnly = imported.isReadOnly;
    if (info)
      give(info, {0, "", static_cast<zyx_dtype>(result->type.dtype), result->type.shape.size(),
                  result->type.shape.data(), static_cast<size_t>(result->buffer->size())});
    *buffer = result.release();
    return Status::ok();
  });
}

zyx_error *zyx_buffer_from_dlpack(zyx_device *device, struct DLManagedTensorVersioned *tensor, zyx_tensor_info *info,
                                  zyx_buffer **buffer) {
  return import(device, tensor, info, buffer);
}

zyx_error *zyx_buffer_from_old_dlpack(zyx_device *device, struct DLManagedTensor *tensor, zyx_tensor_info *info,
                                      zyx_buffer **buffer) {
  return import(device, tensor, info, buffer);
}

template <typename Managed, typename Make>
static zyx_error *exportBy(Make make, zyx_buffer *buffer, zyx_dtype dtype, size_t rank, const int64_t *dims,
                           Managed **tensor) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(tensor, "tensor"));
    *tensor = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    if (rank != 0)
      ZYX_RETURN_IF_ERROR(checkNull(dims, "dims"));
    ZYX_RETURN_IF_ERROR(checkWritable(*buffer));
    const std::optional<DType> known =
        dtype < 0 || dtype > UINT8_MAX ? std::nullopt : dtypeFromValue(static_cast<uint8_t>(dtype));
    if (!known)
      return Status::invalidArgument("there is no dtype " + std::to_string(dtype));
    TensorType type = {*known, Shape(dims, dims + rank)};
    for (int64_t extent : type.shape)
      if (extent < 0)
        return Status::invalidArgument("an extent is " + std::to_string(extent));
    ZYX_ASSIGN_OR_RETURN(*tensor, make(buffer->device, buffer->buffer, type));
    return Status::ok();
  });
}

zyx_error *zyx_buffer_to_dlpack(zyx_buffer *buffer, zyx_dtype dtype, size_t rank, const int64_t *dims,
                                struct DLManagedTensorVersioned **tensor) {
  return exportBy(exportDLPack, buffer, dtype, rank, dims, tensor);
}

zyx_error *zyx_buffer_to_old_dlpack(zyx_buffer *buffer, zyx_dtype dtype, size_t rank, const int64_t *dims,
                                    struct DLManagedTensor **tensor) {
  return exportBy(exportOldDLPack, buffer, dtype, rank, dims, tensor);
}

zyx_error *zyx_device_get_stream(zyx_device *device, void **stream) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(stream, "stream"));
    *stream = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    *stream = device->device->nativeStream();
    return Status::ok();
  });
}
