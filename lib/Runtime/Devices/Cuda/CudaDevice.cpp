//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Loading.h"
#include "Cuda.h"

#include <algorithm>
#include <charconv>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;
using artifact::Artifact;

namespace {

/// Of a driver, as it counts: CUDA 12, which describes buffers to the copy engine.
constexpr int copyEngineVersion = 12000;

/// Modules of the driver, unloaded with their last user.
class LoadedCode {
public:
  explicit LoadedCode(std::shared_ptr<Card> card) : card(std::move(card)) {}
  LoadedCode(LoadedCode &&other) noexcept
      : functions(std::move(other.functions)), card(std::move(other.card)), modules(std::exchange(other.modules, {})) {}
  ~LoadedCode() {
    if (modules.empty())
      return;
    const PushedContext inside(*card);
    for (Module module : modules)
      (void)card->api().moduleUnload(module);
  }

  Status load(const Artifact &artifact);

  /// Of the artifact's kernels.
  std::vector<Function> functions;

private:
  Status loadModule(const artifact::CodeBlob &code);

  std::shared_ptr<Card> card;
  std::vector<Module> modules;
};

/// Whether code for an architecture, "sm_90a", runs on the card.
Status checkArchitecture(const Card &card, const std::string &architecture, bool isText) {
  int number = 0;
  const char *begin = architecture.data() + std::min<size_t>(3, architecture.size());
  const char *end = architecture.data() + architecture.size();
  auto [rest, error] = std::from_chars(begin, end, number);
  if (!architecture.starts_with("sm_") || error != std::errc() || end - rest > 1)
    return Status::dataCorruption("code for the unknown architecture '" + architecture + "'");
  const int capability = card.facts().capability;
  const bool runs = rest != end ? capability == number
                    : isText    ? capability >= number
                                : capability / 10 == number / 10 && capability >= number;
  if (runs)
    return Status::ok();
  return Status::unsupported("code for " + architecture + " does not run on " + card.facts().description);
}

Status LoadedCode::loadModule(const artifact::CodeBlob &code) {
  // Text has to end with a zero; what a cubin ends with does not matter.
  std::vector<std::byte> image = code.bytes;
  image.push_back(std::byte(0));
  std::vector<char> log(16 << 10);
  int options[] = {jitErrorLog, jitErrorLogSize};
  void *arguments[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  Module module = nullptr;
  Status status = card->check(card->api().moduleLoad(&module, image.data(), 2, options, arguments),
                              "load code of format '" + code.format + "'");
  if (status.isOk())
    modules.push_back(module);
  else if (log.front())
    status = Status(status.code(), status.message() + ": " + log.data());
  return status;
}

Status LoadedCode::load(const Artifact &artifact) {
  if (artifact.target != "cuda")
    return Status::unsupported("code for '" + artifact.target + "' does not run on a card of NVIDIA's");
  const PushedContext inside(*card);
  ZYX_RETURN_IF_ERROR(inside.status());
  for (const artifact::CodeBlob &code : artifact.code) {
    if (code.format != "ptx" && code.format != "cubin")
      return Status::unsupported("code of format '" + code.format + "' is not known to a card of NVIDIA's");
    for (const std::string &architecture : artifact.cpuFeatures)
      ZYX_RETURN_IF_ERROR(checkArchitecture(*card, architecture, code.format == "ptx"));
    ZYX_RETURN_IF_ERROR(loadModule(code));
  }
  for (const artifact::Kernel &kernel : artifact.kernels) {
    Function function = nullptr;
    ZYX_RETURN_IF_ERROR(card->check(card->api().moduleFunction(&function, modules[kernel.code], kernel.symbol.c_str()),
                                    "find kernel " + kernel.name + " in its code"));
    if (!kernel.tensorMaps.empty()) {
      int version = 0;
      ZYX_RETURN_IF_ERROR(card->check(card->api().driverVersion(&version), "ask for the driver's version"));
      if (version < copyEngineVersion || !card->api().tensorMapEncode || !card->api().tensorMapEncodePixels)
        return Status::unsupported("kernel " + kernel.name + " needs a driver of CUDA 12");
    }
    if (kernel.sharedBytes != 0)
      ZYX_RETURN_IF_ERROR(card->check(
          card->api().functionSet(function, functionSharedBytes, static_cast<int>(kernel.sharedBytes)),
          "give kernel " + kernel.name + " " + std::to_string(kernel.sharedBytes) + " bytes of shared memory"));
    functions.push_back(function);
  }
  return Status::ok();
}

class CudaProgram : public LoadedProgram {
public:
  CudaProgram(Device &owner, std::shared_ptr<Card> card, Artifact source, LoadedCode code,
              std::shared_ptr<Buffer> constants, std::shared_ptr<Buffer> scratch)
      : LoadedProgram(owner, std::move(source), std::move(constants)), card(std::move(card)), code(std::move(code)),
        scratch(std::move(scratch)) {}

  std::unique_ptr<Replay> record() const override {
    return recordReplay(card, source, code.functions, scratch->handle(), device().queue());
  }

private:
  std::shared_ptr<Card> card;
  LoadedCode code;
  std::shared_ptr<Buffer> scratch;
};

class CudaDevice : public LoadingDevice {
public:
  CudaDevice(std::shared_ptr<Card> card, uint64_t memoryLimit, std::unique_ptr<Queue> submissions)
      : LoadingDevice(card->name(), createPool(card, memoryLimit)), card(card), submissions(std::move(submissions)) {}

  Queue &queue() override { return *submissions; }
  std::string target() const override { return targetOf(card->facts().capability); }
  std::string identity() const override { return card->facts().description + ", " + card->facts().driver; }
  /// Kernels load and store 16 bytes at once.
  uint64_t alignment() const override { return 16; }

private:
  Result<std::shared_ptr<Program>> loadVerified(Artifact artifact) override {
    LoadedCode code(card);
    ZYX_RETURN_IF_ERROR(code.load(artifact));
    uint64_t scratchBytes = 0;
    for (const artifact::Command &command : artifact.commands)
      if (const auto *launch = std::get_if<artifact::Launch>(&command.action))
        scratchBytes = std::max(scratchBytes,
                                shapeOf(artifact.kernels[launch->kernel],
                                        launch->grid[0] * launch->grid[1] * launch->grid[2], card->facts().processors)
                                    .scratchBytes);
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> scratch, Buffer::allocate(pool(), scratchBytes));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants, placeConstants(artifact));
    return std::shared_ptr<Program>(std::make_shared<CudaProgram>(*this, card, std::move(artifact), std::move(code),
                                                                  std::move(constants), std::move(scratch)));
  }

  std::shared_ptr<Card> card;
  // Destroyed first: its work uses the others.
  std::unique_ptr<Queue> submissions;
};

} // namespace

Result<std::shared_ptr<Device>> runtime::createCudaDevice(std::string name, const DeviceOptions &options) {
  int index = 0;
  if (const size_t colon = name.find(':'); colon != std::string::npos) {
    const char *end = name.data() + name.size();
    auto [rest, error] = std::from_chars(name.data() + colon + 1, end, index);
    if (error != std::errc() || rest != end || index < 0)
      return Status::invalidArgument("'" + name + "' names no card: a number follows the colon, as in cuda:1");
  }
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Card> card, Card::open(std::move(name), index));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, createThreadQueue());
  const uint64_t limit = options.memoryLimit ? options.memoryLimit : card->facts().freeBytes;
  return std::shared_ptr<Device>(std::make_shared<CudaDevice>(std::move(card), limit, std::move(queue)));
}

std::vector<DeviceListing> runtime::listCudaDevices() {
  auto absent = [](const Status &why) { return std::vector<DeviceListing>{{"cuda", false, why.message()}}; };
  Result<const Driver *> driver = Driver::open();
  if (!driver)
    return absent(driver.status());
  Result<int> count = countCards(**driver);
  if (!count)
    return absent(count.status());
  std::vector<DeviceListing> listings;
  for (int i = 0; i < *count; ++i) {
    const std::string name = i == 0 ? "cuda" : "cuda:" + std::to_string(i);
    Result<CardFacts> facts = readFacts(**driver, i);
    listings.push_back({name, facts.isOk(), facts ? facts->description : facts.status().message()});
  }
  return listings.empty() ? absent(Status::notFound("the driver has no device")) : listings;
}
