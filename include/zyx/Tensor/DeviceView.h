//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_DEVICEVIEW_H
#define ZYX_TENSOR_DEVICEVIEW_H

#include "zyx/Runtime/Device.h"
#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// Elements in row-major order in the memory of the tensor's device, for other libraries to read: nobody may write
/// them, as tensors do not change. No call takes that memory for a result while `owner` lives.
struct DeviceView {
  std::shared_ptr<runtime::Device> device;
  std::shared_ptr<runtime::Buffer> buffer;
  std::shared_ptr<const void> owner;
};
/// Computes the elements where that was not done, and waits for them, so that each stream of the device may read them.
/// Refused where the tensor lies on the interpreter, which has no device.
DeviceView deviceView(const Tensor &x, Place where = Place::current());
/// The same for one stream of the host program (Device::letStreamWait): what is put there later is behind what makes
/// the elements, and the host waits until that was handed to the device alone.
DeviceView deviceViewOn(const Tensor &x, void *stream, Place where = Place::current());
/// Where the memory of the tensor's device lies, by DLPack's numbers. Computes nothing.
runtime::DLPackPlace dlpackPlaceOf(const Tensor &x);
/// Where the memory of the current device lies, and its stream, behind which other libraries put what makes elements.
runtime::DLPackPlace currentDLPackPlace(void *&stream, Place where = Place::current());

/// The current device, where it has a stream that other libraries know; refused elsewhere.
std::shared_ptr<runtime::Device> currentStreamDevice(void *&stream, Place where = Place::current());

/// A tensor over memory of the current device that somebody else has, who keeps it until `owner` is let go, which may
/// be on any thread. Nobody may write it from then on. What is there must be behind all work that the device's stream
/// has by now. Bools, and elements that are not aligned as the device wants them, are copied.
Tensor fromDeviceMemory(TensorType type, uint64_t address, std::shared_ptr<const void> owner,
                        Place where = Place::current());

/// A tensor of the current device without elements: an argument of a Jit whose memory each call has anew. Nothing else
/// may be made of it.
Tensor openArgument(TensorType type, Place where = Place::current());
/// Memory as fromDeviceMemory() has it, or of the host, where the device computes there.
struct ForeignMemory {
  uint64_t address = 0;
  std::shared_ptr<const void> owner;
};
/// What tensors of openArgument() read from now on, or nothing. Where an element of one is not aligned as the device
/// wants it, none is bound, and the result is false.
bool bindArguments(std::span<const Tensor> arguments, std::span<ForeignMemory> memory, Place where = Place::current());
void unbindArguments(std::span<const Tensor> arguments);

} // namespace zyx

#endif // ZYX_TENSOR_DEVICEVIEW_H
