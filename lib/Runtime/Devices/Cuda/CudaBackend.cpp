//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Card.h"
#include "Cuda.h"
#include "CudaGraph.h"

#include "zyx/Base/Config.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

namespace {

/// Of a driver, as it counts: CUDA 12, which describes buffers to the copy engine.
constexpr int copyEngineVersion = 12000;
/// Hopper, whose kernels wait by themselves.
constexpr int earlyCapability = 90;
/// Cards of this process that are open.
std::atomic<int> numOpen = 0;

template <typename HandleT, typename T> HandleT handleOf(T *made) {
  return static_cast<HandleT>(reinterpret_cast<uintptr_t>(made));
}

class CudaBackend : public Backend {
public:
  CudaBackend(const Driver &driver, const Vendor &vendor, std::string name, int index)
      : driver(driver), vendor(vendor), index(index) {
    itsFacts.name = std::move(name);
  }
  ~CudaBackend() override;
  Status open();

  const BackendFacts &facts() const override { return itsFacts; }
  Status enter() override { return driver.statusOf(driver.contextPush(context)); }
  void leave() override {
    Context popped = nullptr;
    (void)driver.contextPop(&popped);
  }

  Result<uint64_t> allocate(StreamHandle stream, uint64_t bytes) override {
    Address address = 0;
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.allocate(&address, bytes, memory, native(stream))));
    return address;
  }
  Status free(StreamHandle stream, uint64_t handle) override {
    return driver.statusOf(driver.deallocate(handle, native(stream)));
  }
  std::optional<uint64_t> freeMemory() override {
    size_t free = 0, all = 0;
    return driver.memoryInfo(&free, &all) == 0 ? std::optional<uint64_t>(free) : std::nullopt;
  }
  Status trim() override { return driver.statusOf(driver.poolTrim(memory, 0)); }
  Result<void *> allocateHost(uint64_t bytes) override {
    void *address = nullptr;
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.allocateHost(&address, bytes, hostPortable | hostMapped)));
    return address;
  }
  void freeHost(void *address) override { (void)driver.deallocateHost(address); }
  Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) override {
    return driver.statusOf(driver.copyIn(to.address(), from, bytes, native(stream)));
  }
  Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) override {
    return driver.statusOf(driver.copyOut(to, from.address(), bytes, native(stream)));
  }
  Status copy(StreamHandle stream, const CopyCommand &copy) override {
    return driver.statusOf(driver.copy(copy.to.address(), copy.from.address(), copy.bytes, native(stream)));
  }
  Status fill(StreamHandle stream, const FillCommand &fill) override;

  Status accept(const artifact::Artifact &artifact) const override { return vendor.checkCode(card, artifact); }
  Result<ModuleHandle> load(const artifact::CodeBlob &code) override;
  void unload(ModuleHandle module) override { (void)driver.moduleUnload(driverHandle<Module>(module)); }
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override;
  Status encode(const artifact::TensorMap &map, MemoryRef memory, EncodedTensorMap &encoded) override;
  Status launch(StreamHandle stream, const LaunchCommand &launch) override {
    return driver.statusOf(driver.launch(driverHandle<Function>(launch.kernel), launch.groups, 1, 1, launch.threads, 1,
                                         1, launch.sharedBytes, native(stream), launch.parameters, nullptr));
  }

  Result<StreamHandle> createStream() override {
    Stream stream = nullptr;
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.streamCreate(&stream, streamNonBlocking)));
    return handleOf<StreamHandle>(stream);
  }
  void destroyStream(StreamHandle stream) override { (void)driver.streamDestroy(native(stream)); }
  void *nativeStream(StreamHandle stream) const override { return native(stream); }
  Result<StreamHandle> adoptStream(void *stream) const override { return handleOf<StreamHandle>(stream); }
  Status synchronize(StreamHandle stream) override { return driver.statusOf(driver.streamSynchronize(native(stream))); }
  Result<EventHandle> createEvent(bool isTimed) override {
    Event event = nullptr;
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.eventCreate(&event, isTimed ? eventDefault : eventNoTiming)));
    return handleOf<EventHandle>(event);
  }
  void destroyEvent(EventHandle event) override { (void)driver.eventDestroy(native(event)); }
  Status record(StreamHandle stream, EventHandle event) override {
    return driver.statusOf(driver.eventRecord(native(event), native(stream)));
  }
  Status wait(StreamHandle stream, EventHandle event) override {
    return driver.statusOf(driver.streamWait(native(stream), native(event), 0));
  }
  Status synchronize(EventHandle event) override { return driver.statusOf(driver.eventSynchronize(native(event))); }
  Result<uint64_t> elapsed(EventHandle begin, EventHandle end) override {
    float milliseconds = 0;
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.eventElapsed(&milliseconds, native(begin), native(end))));
    return static_cast<uint64_t>(milliseconds * 1e6);
  }
  Status hold(StreamHandle stream, const uint32_t *word) override {
    if (!driver.streamWaitValue)
      return Backend::hold(stream, word);
    return driver.statusOf(driver.streamWaitValue(native(stream), reinterpret_cast<Address>(word), 1, waitForEqual));
  }
  std::unique_ptr<CommandGraph> createGraph() override {
    return driver.graphCreate ? std::make_unique<CudaGraph>(driver, context, early) : nullptr;
  }

  bool isPeer(const Backend &other) const override {
    const auto *card = dynamic_cast<const CudaBackend *>(&other);
    return card && &card->driver == &driver && driver.copyPeer;
  }
  bool hasPeers() const override { return driver.copyPeer && numOpen > 1; }
  Status allow(const Backend &reader) override;
  Status copyFromPeer(StreamHandle stream, MemoryRef to, Backend &peer, MemoryRef from, uint64_t bytes) override {
    return driver.statusOf(driver.copyPeer(to.address(), context, from.address(),
                                           static_cast<CudaBackend &>(peer).context, bytes, native(stream)));
  }

private:
  static Stream native(StreamHandle stream) { return driverHandle<Stream>(stream); }
  static Event native(EventHandle event) { return driverHandle<Event>(event); }
  Status openPool();
  /// How graphs are made, as ZYX_CUDA_GRAPHS says it.
  Status chooseGraphs();
  /// Two different words, and then twice as many bytes with each copy.
  Status fillByCopies(Address to, uint32_t low, uint32_t high, uint64_t bytes, Stream stream);

  const Driver &driver;
  const Vendor &vendor;
  const int index;
  BackendFacts itsFacts;
  CardFacts card;
  Ordinal ordinal = 0;
  Context context = nullptr;
  /// What allocations come from: a pool of our own, so that nobody else's memory is kept or let go.
  MemoryPoolHandle memory = nullptr;
  bool isCounted = false;
  EarlyKernels early;
};

Status CudaBackend::open() {
  ZYX_ASSIGN_OR_RETURN(card, vendor.readFacts(driver, index));
  ZYX_RETURN_IF_ERROR(vendor.checkCard(card));
  itsFacts.device = deviceFacts(vendor, card);
  itsFacts.place = {vendor.dlpackKind, index};
  itsFacts.target = itsFacts.device.target;
  itsFacts.identity = itsFacts.device.identity;
  itsFacts.alignment = itsFacts.device.alignment;
  itsFacts.processors = card.processors;
  itsFacts.largestCopyInGraph = card.largestCopyInGraph;
  ZYX_RETURN_IF_ERROR(chooseGraphs());
  const std::string action = "open device '" + itsFacts.name + "'";
  ZYX_RETURN_IF_ERROR(driver.check(driver.deviceGet(&ordinal, index), action));
  ZYX_RETURN_IF_ERROR(driver.check(driver.contextRetain(&context, ordinal), action));
  ZYX_RETURN_IF_ERROR(driver.check(driver.contextPush(context), action));
  Status status = openPool();
  leave();
  isCounted = status.isOk();
  numOpen += isCounted;
  return status;
}

Status CudaBackend::chooseGraphs() {
  // As AMD's.
  if (!driver.graphCreate)
    return Status::ok();
  // On an H200 the other ways take time away from some programs, and cost others more: docs/device-cuda.md.
  const char *named = zyxVariable("CUDA_GRAPHS");
  const std::string_view words = named ? named : "chain", kernels = words.substr(0, words.find(','));
  itsFacts.hasBranches = words.ends_with("branches");
  early.areChosen = kernels == "chosen";
  const bool areEarly = early.areChosen || kernels == "early";
  if (words != "chain" && words != "branches" &&
      (!areEarly || (words != kernels && words.substr(kernels.size()) != ",branches")))
    return Status::invalidArgument("ZYX_CUDA_GRAPHS is '" + std::string(words) +
                                   "'; it may be chain, chosen, early, branches, chosen,branches or early,branches");
  itsFacts.takesArguments = true;
  early.areAllowed = areEarly && driver.graphAddDependencies && card.capability >= earlyCapability;
  early.processors = static_cast<uint64_t>(card.processors);
  return Status::ok();
}

Status CudaBackend::openPool() {
  size_t free = 0, all = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.memoryInfo(&free, &all), "ask how much memory is free"));
  itsFacts.freeBytes = free;
  PoolProperties properties;
  properties.device = ordinal;
  ZYX_RETURN_IF_ERROR(driver.check(driver.poolCreate(&memory, &properties), "make a memory pool"));
  // What is freed is kept for the next who asks.
  uint64_t everything = UINT64_MAX;
  return driver.check(driver.poolSet(memory, poolReleaseThreshold, &everything), "set up the device's memory pool");
}

CudaBackend::~CudaBackend() {
  numOpen -= isCounted;
  if (!context)
    return;
  if (memory && enter().isOk()) {
    (void)driver.poolDestroy(memory);
    leave();
  }
  (void)driver.contextRelease(ordinal);
}

Status CudaBackend::fillByCopies(Address to, uint32_t low, uint32_t high, uint64_t bytes, Stream stream) {
  ZYX_RETURN_IF_ERROR(driver.statusOf(driver.fill32(to, low, 1, stream)));
  ZYX_RETURN_IF_ERROR(driver.statusOf(driver.fill32(to + 4, high, 1, stream)));
  for (uint64_t done = 8; done < bytes; done *= 2)
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.copy(to + done, to, std::min(done, bytes - done), stream)));
  return Status::ok();
}

Status CudaBackend::fill(StreamHandle handle, const FillCommand &fill) {
  const Stream stream = native(handle);
  const Address to = fill.to.address();
  const auto low = static_cast<uint32_t>(fill.pattern), high = static_cast<uint32_t>(fill.pattern >> 32);
  switch (fill.patternBytes) {
  case 1:
    return driver.statusOf(driver.fill8(to, static_cast<uint8_t>(low), fill.bytes, stream));
  case 2:
    return driver.statusOf(driver.fill16(to, static_cast<uint16_t>(low), fill.bytes / 2, stream));
  case 4:
    return driver.statusOf(driver.fill32(to, low, fill.bytes / 4, stream));
  default:
    if (low == high)
      return driver.statusOf(driver.fill32(to, low, fill.bytes / 4, stream));
    if (!driver.fillRows32)
      return fillByCopies(to, low, high, fill.bytes, stream);
    // Both halves as columns of rows of 8 bytes.
    ZYX_RETURN_IF_ERROR(driver.statusOf(driver.fillRows32(to, 8, low, 1, fill.bytes / 8, stream)));
    return driver.statusOf(driver.fillRows32(to + 4, 8, high, 1, fill.bytes / 8, stream));
  }
}

Result<ModuleHandle> CudaBackend::load(const artifact::CodeBlob &code) {
  // Text has to end with a zero; what a cubin ends with does not matter.
  std::vector<std::byte> image = code.bytes;
  image.push_back(std::byte(0));
  std::vector<char> log(16 << 10);
  int options[] = {jitErrorLog, jitErrorLogSize};
  void *arguments[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  const unsigned numOptions = vendor.family == Family::CUDA ? 2 : 0;
  Module module = nullptr;
  const Status status = driver.check(driver.moduleLoad(&module, image.data(), numOptions, options, arguments),
                                     "load code of format '" + code.format + "'");
  if (!status.isOk())
    return log.front() ? Status(status.code(), status.message() + ": " + log.data()) : status;
  return handleOf<ModuleHandle>(module);
}

Result<KernelHandle> CudaBackend::find(ModuleHandle module, const artifact::Kernel &kernel) {
  Function function = nullptr;
  ZYX_RETURN_IF_ERROR(
      driver.check(driver.moduleFunction(&function, driverHandle<Module>(module), kernel.symbol.c_str()),
                   "find kernel " + kernel.name + " in its code"));
  if (!kernel.tensorMaps.empty()) {
    int version = 0;
    ZYX_RETURN_IF_ERROR(driver.check(driver.driverVersion(&version), "ask for the driver's version"));
    if (version < copyEngineVersion || !driver.tensorMapEncode || !driver.tensorMapEncodePixels)
      return Status::unsupported("kernel " + kernel.name + " needs a driver of CUDA 12");
  }
  if (kernel.sharedBytes != 0 && driver.functionSet)
    ZYX_RETURN_IF_ERROR(driver.check(
        driver.functionSet(function, functionSharedBytes, static_cast<int>(kernel.sharedBytes)),
        "give kernel " + kernel.name + " " + std::to_string(kernel.sharedBytes) + " bytes of shared memory"));
  return handleOf<KernelHandle>(function);
}

Status CudaBackend::encode(const artifact::TensorMap &map, MemoryRef memory, EncodedTensorMap &encoded) {
  auto *const made = reinterpret_cast<TensorMap *>(&encoded);
  static_assert(sizeof(*made) == sizeof(encoded) && alignof(TensorMap) == alignof(EncodedTensorMap));
  const int type = map.elementBytes == 1 ? tensorMapBytes : map.elementBytes == 2 ? tensorMapShorts : tensorMapWords;
  const int swizzle = map.swizzle == 32 ? 1 : map.swizzle == 64 ? 2 : 3;
  const auto rank = static_cast<unsigned>(map.extents.size());
  void *const address = reinterpret_cast<void *>(memory.address());
  // Of pixels the steps along positions, which are behind the channels.
  std::array<unsigned, artifact::maxTensorMapRank> steps = {1, 1, 1, 1, 1};
  std::copy(map.steps.begin(), map.steps.end(), steps.begin() + 1);
  return driver.statusOf(
      map.low.empty() ? driver.tensorMapEncode(made, type, rank, address, map.extents.data(), map.strides.data(),
                                               map.box.data(), steps.data(), tensorMapNotInterleaved, swizzle,
                                               tensorMapFetches256Bytes, tensorMapFillsZero)
                      : driver.tensorMapEncodePixels(made, type, rank, address, map.extents.data(), map.strides.data(),
                                                     map.low.data(), map.high.data(), map.box[0], map.box[1],
                                                     steps.data(), tensorMapNotInterleaved, swizzle,
                                                     tensorMapFetches256Bytes, tensorMapFillsZero));
}

Status CudaBackend::allow(const Backend &reader) {
  const Ordinal theirs = static_cast<const CudaBackend &>(reader).ordinal;
  if (theirs == ordinal)
    return Status::ok();
  int reaches = 0;
  ZYX_RETURN_IF_ERROR(driver.statusOf(driver.deviceReaches(&reaches, theirs, ordinal)));
  if (!reaches)
    return Status::unsupported("the cards are not connected");
  const PoolAccess access = {.device = theirs};
  return driver.statusOf(driver.poolAccess(memory, &access, 1));
}

} // namespace

Result<std::unique_ptr<Backend>> cuda::openCard(const Vendor &vendor, std::string name, int index) {
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, Driver::open(vendor.family));
  ZYX_ASSIGN_OR_RETURN(const int count, countCards(*driver, vendor));
  if (index >= count)
    return Status::notFound("there is no device '" + name + "': the driver has " + std::to_string(count));
  auto card = std::make_unique<CudaBackend>(*driver, vendor, std::move(name), index);
  ZYX_RETURN_IF_ERROR(card->open());
  return std::unique_ptr<Backend>(std::move(card));
}
