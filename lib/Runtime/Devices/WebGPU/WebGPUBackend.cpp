//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A panic of wgpu-native ends the process, and it panics where something invalid is submitted. So each call that makes
// an object is between error scopes, what is encoded is checked before, and behind a failure nothing is submitted.
//===----------------------------------------------------------------------===//
#include "../Stream/Bundled.h"
#include "../Stream/FoundDevices.h"
#include "../Stream/QueueBackend.h"
#include "Driver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::webgpu;

namespace {

/// Sets of buffers that are kept.
constexpr size_t mostBindGroups = 4096;
/// Allocations have multiples of these bytes.
constexpr uint64_t allocationAlignment = 256;

/// What WebGPU does with whole words alone: a.x words that the bytes from b.x to b.y touch, of which the first
/// one and the last one may be written in part. They are set to a.zw in turns, or, where b.w is set, to what is
/// b.z bytes further on in `source`.
constexpr const char *bytesText = R"(struct Arguments { a: vec4<u32>, b: vec4<u32> }
var<immediate> args: Arguments;
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> source: array<u32>;
@compute @workgroup_size(64)
fn k_bytes(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let bits = (args.b.z & 3u) * 8u;
  for (var i: u32 = id.x; i < args.a.x; i += groups.x * 64u) {
    let at = (args.b.x >> 2u) + i;
    var value = select(args.a.z, args.a.w, (at & 1u) != 0u);
    if (args.b.w != 0u) {
      let place = (i32(args.b.z) >> 2u) + i32(at);
      value = (source[max(place, 0)] >> bits) | ((source[place + 1] << 1u) << (31u - bits));
    }
    let mask = select(0xffffffffu, 0xffffffffu << ((args.b.x & 3u) * 8u), i == 0u) &
               select(0xffffffffu, 0xffffffffu >> (((0u - args.b.y) & 3u) * 8u), i == args.a.x - 1u);
    words[at] = (words[at] & ~mask) | (value & mask);
  }
}
)";

struct Memory {
  Owned<WGPUBuffer> buffer;
  uint64_t bytes = 0;
};
struct LoadedKernel {
  artifact::Kernel facts;
  Owned<WGPUComputePipeline> pipeline = nullptr;
  Owned<WGPUBindGroupLayout> layout = nullptr;
};
struct LoadedModule {
  Owned<WGPUShaderModule> shader;
  std::deque<LoadedKernel> kernels;
};
/// What the driver says, of who asks and of who answers: an answer after a device that is lost may come on any thread,
/// when the call is over that asked.
struct Answer {
  uint32_t status = 0;
  uint64_t value = 0;
  std::string text;
  std::atomic<bool> isThere = false;
};
/// Of a call whose answer may have a value between its status and its text.
template <typename Info> Info callbackOf(const std::shared_ptr<Answer> &its) {
  constexpr auto callback = [](auto status, auto... rest) {
    const std::tuple all(rest...);
    constexpr size_t text = sizeof...(rest) - 3;
    const std::unique_ptr<std::shared_ptr<Answer>> owned(
        static_cast<std::shared_ptr<Answer> *>(std::get<text + 1>(all)));
    Answer &answer = **owned;
    answer.status = status;
    if constexpr (text == 1)
      answer.value = uint64_t(std::get<0>(all));
    answer.text = textOf(std::get<text>(all));
    answer.isThere = true;
  };
  return {nullptr, WGPUCallbackMode_AllowSpontaneous, callback, new std::shared_ptr<Answer>(its), nullptr};
}

/// Numbers of a launch: as many as the device has room for are handed over.
using Arguments = std::array<uint32_t, mostArgumentWords>;

/// How many words bytes touch.
uint64_t wordsOf(uint64_t begin, uint64_t bytes) { return (begin % 4 + bytes + 3) / 4; }

class WebGPUBackend final : public FoundDevice<QueueBackend, Driver, AdapterFound> {
public:
  using FoundDevice::FoundDevice;
  ~WebGPUBackend() override {
    if (device && checkLost().isOk())
      (void)settle();
  }
  Status open() {
    // Of a device that is lost, or of an error that no scope has.
    constexpr auto fails = [](const WGPUDevice *, auto kind, WGPUStringView text, void *self, void *) {
      constexpr bool isOfDevice = std::is_same_v<decltype(kind), WGPUDeviceLostReason>;
      if (!isOfDevice || uint32_t(kind) != WGPUDeviceLostReason_Destroyed)
        static_cast<WebGPUBackend *>(self)->lose((isOfDevice ? "the device is lost: " : "") + textOf(text));
    };
    WGPUDeviceDescriptor info = {};
    info.requiredFeatureCount = found.features.size();
    info.requiredFeatures = found.features.data();
    info.requiredLimits = &found.limits;
    info.deviceLostCallbackInfo = {nullptr, WGPUCallbackMode_AllowSpontaneous, fails, this, nullptr};
    info.uncapturedErrorCallbackInfo = {nullptr, fails, this, nullptr};
    const auto given = ask<WGPURequestDeviceCallbackInfo>(
        [&](auto callback) { return driver.AdapterRequestDevice(found.adapter.get(), &info, callback); });
    if (given->status != WGPUStatus_Success || given->value == 0)
      return Status::internal(textOf({itsFacts.identity, " gives no device: ", given->text}));
    device = {reinterpret_cast<WGPUDevice>(given->value), driver.DeviceRelease};
    queue = {driver.DeviceGetQueue(device.get()), driver.QueueRelease};
    ZYX_ASSIGN_OR_RETURN(ownModule.shader, makeShader(bytesText));
    return makeKernel(ownModule.shader.get(), bytesKernel, "k_bytes");
  }

  Result<uint64_t> allocate(StreamHandle, uint64_t bytes) override {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(checkLost());
    bytes = (bytes + allocationAlignment - 1) / allocationAlignment * allocationAlignment;
    ZYX_RETURN_IF_ERROR(checkAllocation(bytes, itsFacts.name, found.largestBytes));
    ZYX_ASSIGN_OR_RETURN(
        Owned<WGPUBuffer> buffer,
        makeBuffer(WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, bytes));
    return memories.add({std::move(buffer), bytes}, bytes);
  }
  /// The driver keeps it for commands that are not over, and for those that were not handed over.
  Status free(StreamHandle, uint64_t handle) override {
    const std::lock_guard lock(mutex);
    std::erase_if(bindGroups, [&](const auto &each) { return std::ranges::count(each.first, handle) != 0; });
    (void)memories.take(handle);
    return Status::ok();
  }
  /// Written before what is encoded and not handed over yet. Of words that it has in part, the rest stays as it is.
  Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) override {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(handOver());
    const auto *data = static_cast<const unsigned char *>(from);
    const uint64_t head = std::min(bytes, (4 - to.offset % 4) % 4), whole = (bytes - head) / 4 * 4;
    if (whole != 0)
      driver.QueueWriteBuffer(queue.get(), memories.find(to).buffer.get(), to.offset + head, data + head, whole);
    for (const auto &[begin, end] : {std::pair(uint64_t(0), head), std::pair(head + whole, bytes)}) {
      uint64_t pattern = 0;
      std::memcpy(&pattern, data + begin, end - begin);
      if (begin != end)
        ZYX_RETURN_IF_ERROR(fill(stream, {{to.handle, to.offset + begin}, end - begin, pattern, sizeof pattern}));
    }
    return checkLost();
  }
  Status download(StreamHandle, void *to, MemoryRef from, uint64_t bytes) override {
    const std::lock_guard lock(mutex);
    const uint64_t wholeBytes = 4 * wordsOf(from.offset, bytes);
    if (reader.bytes < wholeBytes) {
      reader = {};
      ZYX_ASSIGN_OR_RETURN(reader.buffer, makeBuffer(WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, wholeBytes));
      reader.bytes = wholeBytes;
    }
    ZYX_RETURN_IF_ERROR(copyWords(reader.buffer, 0, memories.find(from).buffer, from.offset / 4 * 4, wholeBytes));
    ZYX_RETURN_IF_ERROR(handOver());
    const auto mapped = ask<WGPUBufferMapCallbackInfo>([&](auto callback) {
      return driver.BufferMapAsync(reader.buffer.get(), WGPUMapMode_Read, 0, wholeBytes, callback);
    });
    if (mapped->isThere && mapped->status != WGPUMapAsyncStatus_Success)
      lose("cannot map a buffer: " + mapped->text);
    ZYX_RETURN_IF_ERROR(checkLost());
    const void *bytesRead = driver.BufferGetConstMappedRange(reader.buffer.get(), 0, wholeBytes);
    std::memcpy(to, static_cast<const char *>(bytesRead) + from.offset % 4, bytes);
    driver.BufferUnmap(reader.buffer.get());
    return checkLost();
  }
  /// WebGPU copies between two buffers alone.
  Status copy(StreamHandle, const CopyCommand &copy) override {
    const std::lock_guard lock(mutex);
    if (copy.from.handle == copy.to.handle || (copy.to.offset | copy.from.offset | copy.bytes) % 4 != 0)
      return setBytes(copy.to, copy.bytes, 0, copy.from);
    return copyWords(memories.find(copy.to).buffer, copy.to.offset, memories.find(copy.from).buffer, copy.from.offset,
                     copy.bytes);
  }
  Status fill(StreamHandle, const FillCommand &fill) override {
    const std::lock_guard lock(mutex);
    const uint64_t pattern = fill.repeated();
    if (pattern != 0 || (fill.to.offset | fill.bytes) % 4 != 0)
      return setBytes(fill.to, fill.bytes, std::rotl(pattern, static_cast<int>(8 * (fill.to.offset % 8))), {});
    pass.reset();
    ZYX_ASSIGN_OR_RETURN(WGPUCommandEncoder into, commands());
    driver.CommandEncoderClearBuffer(into, memories.find(fill.to).buffer.get(), fill.to.offset, fill.bytes);
    return Status::ok();
  }

  Result<ModuleHandle> load(const artifact::CodeBlob &code) override {
    const std::lock_guard lock(mutex);
    auto shader = makeShader({reinterpret_cast<const char *>(code.bytes.data()), code.bytes.size()});
    ZYX_RETURN_IF_ERROR(shader.status());
    return handleOf<ModuleHandle>(new LoadedModule{*std::move(shader), {}});
  }
  void unload(ModuleHandle module) override {
    const std::lock_guard lock(mutex);
    // Their layouts, by which they are found, may be another kernel's next.
    bindGroups.clear();
    delete objectOf<LoadedModule>(module);
  }
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(checkLimits(kernel, itsFacts.name,
                                    {found.facts.workgroupThreads, found.facts.sharedBytes,
                                     found.limits.maxStorageBuffersPerShaderStage, argumentWords - 2}));
    LoadedModule &owner = *objectOf<LoadedModule>(module);
    LoadedKernel &made = owner.kernels.emplace_back(LoadedKernel{kernel});
    ZYX_RETURN_IF_ERROR(makeKernel(owner.shader.get(), made, "k_" + kernel.symbol));
    return handleOf<KernelHandle>(&made);
  }
  Status launch(StreamHandle, const LaunchCommand &launch) override {
    const std::lock_guard lock(mutex);
    const LoadedKernel &kernel = *objectOf<LoadedKernel>(launch.kernel);
    const uint64_t programs = launch.arguments.back().value;
    if (programs == 0)
      return Status::ok();
    // Threads add to the number of a program until it is as large.
    if (programs > uint64_t(1) << 31)
      return Status::unsupported(textOf({"kernel ", kernel.facts.name, " has ", std::to_string(programs),
                                         " programs, more than numbers of 32 bits count"}));
    std::vector<MemoryRef> buffers;
    Arguments values = {static_cast<uint32_t>(programs), 0};
    for (const KernelArgument &each : launch.arguments.first(kernel.facts.numBuffers))
      buffers.push_back(each.memory);
    for (uint32_t i = 0; i < kernel.facts.numScalars; ++i) {
      const auto value = static_cast<int64_t>(launch.arguments[kernel.facts.numBuffers + i].value);
      values[2 + i] = static_cast<uint32_t>(value);
      if (value != static_cast<int32_t>(value))
        return Status::unsupported(textOf({"kernel ", kernel.facts.name, " gets the number ", std::to_string(value),
                                           ", which has more than 32 bits"}));
    }
    // wgpu-native lets a kernel write what it reads by another name.
    if (driver.isDawn())
      for (uint32_t i : overlapping(kernel.facts, buffers))
        ZYX_RETURN_IF_ERROR(copyApart(buffers[i], kernel.facts.bufferBytes[i], i));
    return dispatch(kernel, buffers, values, launch.groupsOf(threadsOfGroup));
  }

private:
  /// What a call is answered, or nothing behind a device that is lost.
  template <typename Info, typename Call> std::shared_ptr<const Answer> ask(Call call) {
    const auto its = std::make_shared<Answer>();
    const WGPUFuture future = call(callbackOf<Info>(its));
    while (!its->isThere && device && checkLost().isOk())
      driver.wait(found.instance.get(), device.get(), driver.isDawn() ? future.id : 0);
    return its;
  }
  /// Makes an object between error scopes; what went wrong is the driver's text. Objects of errors are no null.
  template <typename From, typename Info, typename T, typename... More>
  Result<Owned<T>> make(const std::string &what, T (*create)(From, const Info *, More...), void (*release)(T),
                        From from, const std::type_identity_t<Info> &info, std::type_identity_t<More>... more) {
    for (WGPUErrorFilter filter : {WGPUErrorFilter_OutOfMemory, WGPUErrorFilter_Validation})
      driver.DevicePushErrorScope(device.get(), filter);
    Owned<T> made;
    if (T object = create(from, &info, more...))
      made = {object, release};
    Status status = popScope();
    const Status outer = popScope();
    if (status.isOk())
      status = outer.isOk() && !made ? Status::internal("nothing was made") : outer;
    if (status.isOk())
      return made;
    ZYX_RETURN_IF_ERROR(checkLost());
    return cannot(what, status);
  }
  Status popScope() {
    const auto popped = ask<WGPUPopErrorScopeCallbackInfo>(
        [&](auto callback) { return driver.DevicePopErrorScope(device.get(), callback); });
    return popped->value <= WGPUErrorType_NoError
               ? Status::ok()
               : driverFailure(popped->text, popped->value == WGPUErrorType_OutOfMemory, /*isLost=*/false);
  }
  Result<Owned<WGPUBuffer>> makeBuffer(WGPUBufferUsage usage, uint64_t bytes) {
    return make("allocate " + std::to_string(bytes) + " bytes", driver.DeviceCreateBuffer, driver.BufferRelease,
                device.get(), {nullptr, {}, usage, bytes, 0});
  }
  /// Loops of kernels end: wgpu-native need not count them. Dawn wants to be told what wgpu-native does not know.
  Result<Owned<WGPUShaderModule>> makeShader(std::string_view text) {
    const std::string whole = textOf({driver.isDawn() && found.hasSubgroups ? "enable subgroups; " : "", text});
    WGPUShaderSourceWGSL source = {{nullptr, WGPUSType_ShaderSourceWGSL}, {whole.data(), whole.size()}};
    if (driver.isDawn())
      return make("compile kernels", driver.DeviceCreateShaderModule, driver.ShaderModuleRelease, device.get(),
                  {&source.chain, {}});
    return make("compile kernels", driver.DeviceCreateShaderModuleTrusted, driver.ShaderModuleRelease, device.get(),
                {&source.chain, {}}, WGPUShaderRuntimeChecks_BoundsChecks);
  }
  Status makeKernel(WGPUShaderModule shader, LoadedKernel &kernel, const std::string &entry) {
    std::vector<WGPUBindGroupLayoutEntry> entries(kernel.facts.numBuffers);
    for (uint32_t i = 0; i < kernel.facts.numBuffers; ++i) {
      entries[i].binding = i;
      entries[i].visibility = WGPUShaderStage_Compute;
      entries[i].buffer.type = WGPUBufferBindingType_Storage;
    }
    const std::string what = "lay out kernel " + kernel.facts.name;
    ZYX_ASSIGN_OR_RETURN(kernel.layout, make(what, driver.DeviceCreateBindGroupLayout, driver.BindGroupLayoutRelease,
                                             device.get(), {nullptr, {}, entries.size(), entries.data()}));
    const WGPUBindGroupLayout layouts[] = {kernel.layout.get()};
    ZYX_ASSIGN_OR_RETURN(const auto whole, make(what, driver.DeviceCreatePipelineLayout, driver.PipelineLayoutRelease,
                                                device.get(), {nullptr, {}, 1, layouts, 4 * argumentWords}));
    ZYX_ASSIGN_OR_RETURN(kernel.pipeline,
                         make("compile kernel " + kernel.facts.name, driver.DeviceCreateComputePipeline,
                              driver.ComputePipelineRelease, device.get(),
                              {nullptr, {}, whole.get(), {nullptr, shader, {entry.data(), entry.size()}, 0, nullptr}}));
    return Status::ok();
  }
  Status beginList() override {
    encoder = {driver.DeviceCreateCommandEncoder(device.get(), nullptr), driver.CommandEncoderRelease};
    return Status::ok();
  }
  Status submitList(uint64_t &next) override {
    pass.reset();
    const Owned<WGPUCommandEncoder> ended = std::exchange(encoder, nullptr);
    ZYX_RETURN_IF_ERROR(checkLost());
    const auto made =
        make("hand over commands", driver.CommandEncoderFinish, driver.CommandBufferRelease, ended.get(), {});
    if (!made)
      lose(made.status().message());
    // Submitting what is invalid would end the process.
    ZYX_RETURN_IF_ERROR(checkLost());
    next = driver.submit(queue.get(), made->get());
    return checkLost();
  }
  Status waitFor(uint64_t awaited) override {
    if (awaited != 0 && checkLost().isOk())
      driver.wait(found.instance.get(), device.get(), awaited);
    return checkLost();
  }
  Status handOver() {
    flush();
    return checkLost();
  }
  /// What the next command is encoded in. What is lost is so for all streams.
  Result<WGPUCommandEncoder> commands() {
    ZYX_RETURN_IF_ERROR(collect(StreamHandle()));
    ZYX_RETURN_IF_ERROR(checkLost());
    return encoder.get();
  }
  /// Of whole words, between two buffers.
  Status copyWords(const Owned<WGPUBuffer> &to, uint64_t toByte, const Owned<WGPUBuffer> &from, uint64_t fromByte,
                   uint64_t bytes) {
    pass.reset();
    ZYX_ASSIGN_OR_RETURN(WGPUCommandEncoder into, commands());
    driver.CommandEncoderCopyBufferToBuffer(into, from.get(), fromByte, to.get(), toByte, bytes);
    return Status::ok();
  }
  /// Memory of our own for what a launch must not be given twice, for each place among its buffers.
  Result<MemoryRef> makeApart(uint32_t place, uint64_t bytes) {
    auto &[handle, size] = apart[place];
    if (size < bytes) {
      if (std::exchange(size, 0) != 0)
        ZYX_RETURN_IF_ERROR(free({}, handle));
      ZYX_ASSIGN_OR_RETURN(handle, allocate({}, bytes));
      size = bytes;
    }
    return MemoryRef{handle, 0};
  }
  /// In it are whole words then, from that on which the first byte is in.
  Status copyApart(MemoryRef &from, uint64_t bytes, uint32_t place) {
    const uint64_t whole = 4 * wordsOf(from.offset, bytes);
    ZYX_ASSIGN_OR_RETURN(const MemoryRef made, makeApart(place, whole));
    const MemoryRef source = std::exchange(from, {made.handle, from.offset % 4});
    return copyWords(memories.find(from).buffer, 0, memories.find(source).buffer, source.offset / 4 * 4, whole);
  }
  Result<WGPUBindGroup> bind(const LoadedKernel &kernel, std::span<const MemoryRef> buffers) {
    std::vector<uint64_t> key = {reinterpret_cast<uint64_t>(kernel.layout.get())};
    for (const MemoryRef &each : buffers)
      key.insert(key.end(), {each.handle, each.offset});
    if (const auto known = bindGroups.find(key); known != bindGroups.end())
      return known->second.get();
    std::vector<WGPUBindGroupEntry> entries(buffers.size());
    for (uint32_t i = 0; i < buffers.size(); ++i) {
      const Memory memory = memories.find(buffers[i]);
      entries[i].binding = i;
      entries[i].buffer = memory.buffer.get();
      entries[i].offset = buffers[i].offset;
      entries[i].size = memory.bytes - buffers[i].offset;
      if (const std::vector<uint64_t> &bytes = kernel.facts.bufferBytes; !bytes.empty())
        entries[i].size = std::min(entries[i].size, (std::max<uint64_t>(bytes[i], 1) + 15) / 16 * 16);
    }
    if (bindGroups.size() >= mostBindGroups)
      bindGroups.clear();
    ZYX_ASSIGN_OR_RETURN(auto made, make("bind the buffers of kernel " + kernel.facts.name,
                                         driver.DeviceCreateBindGroup, driver.BindGroupRelease, device.get(),
                                         {nullptr, {}, kernel.layout.get(), entries.size(), entries.data()}));
    return bindGroups.emplace(std::move(key), std::move(made)).first->second.get();
  }
  Status dispatch(const LoadedKernel &kernel, std::span<const MemoryRef> buffers, const Arguments &values,
                  uint64_t groups) {
    ZYX_ASSIGN_OR_RETURN(const WGPUBindGroup group, bind(kernel, buffers));
    ZYX_ASSIGN_OR_RETURN(WGPUCommandEncoder into, commands());
    if (!pass)
      pass = {driver.CommandEncoderBeginComputePass(into, nullptr), [this](WGPUComputePassEncoder its) {
                driver.ComputePassEncoderEnd(its);
                driver.ComputePassEncoderRelease(its);
              }};
    driver.ComputePassEncoderSetPipeline(pass.get(), kernel.pipeline.get());
    driver.ComputePassEncoderSetBindGroup(pass.get(), 0, group, 0, nullptr);
    driver.ComputePassEncoderSetImmediates(pass.get(), 0, values.data(), 4 * argumentWords);
    const uint64_t most = found.limits.maxComputeWorkgroupsPerDimension;
    driver.ComputePassEncoderDispatchWorkgroups(pass.get(), static_cast<uint32_t>(std::min(groups, most)), 1, 1);
    return Status::ok();
  }
  /// Sets bytes to a pattern, as it stands at multiples of 8, or to those that lie somewhere else.
  Status setBytes(MemoryRef to, uint64_t bytes, uint64_t pattern, std::optional<MemoryRef> from) {
    const auto low = [](uint64_t number) { return static_cast<uint32_t>(number); };
    ZYX_ASSIGN_OR_RETURN(MemoryRef source, from ? *from : makeApart(0, 4));
    if (source.handle == to.handle)
      ZYX_RETURN_IF_ERROR(copyApart(source, bytes, 0));
    const uint32_t distance = from ? low(source.offset - to.offset) : 0;
    const uint64_t words = wordsOf(to.offset, bytes);
    const Arguments values = {
        low(words),      0, low(pattern), low(pattern >> 32), low(to.offset), low(to.offset + bytes), distance,
        from.has_value()};
    const MemoryRef buffers[] = {{to.handle, 0}, {source.handle, 0}};
    return dispatch(bytesKernel, buffers, values, (words + threadsOfGroup - 1) / threadsOfGroup);
  }

  Owned<WGPUDevice> device;
  Owned<WGPUQueue> queue;
  ObjectTable<Memory> memories;
  Owned<WGPUCommandEncoder> encoder;
  Owned<WGPUComputePassEncoder> pass;
  /// Through which the host reads.
  Memory reader;
  /// By handles and sizes.
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> apart;
  std::map<std::vector<uint64_t>, Owned<WGPUBindGroup>> bindGroups;
  const uint32_t argumentWords = std::min(mostArgumentWords, found.limits.maxImmediateSize / 4);
  LoadedModule ownModule;
  LoadedKernel bytesKernel = {{.numBuffers = 2, .name = "bytes"}};
};

} // namespace

ZYX_BUNDLED_DEVICES(WebGPUBackend, Driver)
