//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelReuse.h"

#include "zyx/Base/Envelope.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::pipelines;

// The byte form of a kept kernel: mark, version, checksum of all that follows; key, facts, remarks, code.
static constexpr Envelope envelope{"\x7fZYXCODE", 3, Envelope::Checksum::Bits128};

KernelReuse::KernelReuse(const Options &options, const target::Emitter &emitter)
    : kernels(options.kernels),
      // Whoever wants texts checked wants the compilation itself.
      isOn(kernels.lookup && kernels.store && !options.verifyRoundtrip && !emitter.keptFormat().empty()),
      machine(std::string("zyx " ZYX_VERSION " ") + std::string(emitter.keptFormat()) +
              (options.optimise ? " " : " unoptimised ") + options.target.cacheKey() + "\n") {}

Hash128 KernelReuse::identify(kernel::FuncOp scheduled) const {
  std::string text = machine;
  if (!scheduled.getParts())
    return hashBytes(std::string_view(text + plan::textWithoutName(scheduled)));
  // Names of parts are those of a program.
  auto module = scheduled->getParentOfType<ModuleOp>();
  for (auto [name, arguments] : llvm::zip_equal(scheduled.getPartsAttr().getAsRange<FlatSymbolRefAttr>(),
                                                scheduled.getPartArgumentsAttr().getAsRange<DenseI64ArrayAttr>())) {
    text += plan::textWithoutName(module.lookupSymbol<kernel::FuncOp>(name.getValue()));
    llvm::raw_string_ostream(text) << arguments << '\n';
  }
  return hashBytes(std::string_view(text));
}

/// Of bytes that anybody may have kept: nothing but what `store` has written for the key.
static std::optional<KeptKernel> read(const std::string &key, std::span<const std::byte> bytes) {
  const Envelope::Opened opened = envelope.open(bytes);
  if (opened.state != Envelope::State::Whole)
    return std::nullopt;
  ByteReader from(opened.contents);
  if (from.string("key") != key)
    return std::nullopt;
  KeptKernel kernel;
  kernel.facts = plan::readKernelFacts(from);
  kernel.remarks = from.string("remarks");
  const std::span<const std::byte> code = from.blob("code");
  if (!from.status() || from.remaining() != 0)
    return std::nullopt;
  kernel.code.assign(code.begin(), code.end());
  return kernel;
}

const KeptKernel *KernelReuse::find(const Hash128 &identity) {
  if (!isOn)
    return nullptr;
  const std::string key = identity.toHex();
  auto [found, isNew] = known.try_emplace(key);
  if (isNew)
    if (std::optional<std::vector<std::byte>> bytes = kernels.lookup(key))
      found->second = read(key, *bytes);
  return found->second ? &*found->second : nullptr;
}

void KernelReuse::store(std::vector<std::vector<std::byte>> codes) {
  if (!isOn)
    return;
  for (auto &&[kernel, code] : llvm::zip(compiled, codes)) {
    if (!kernel)
      continue;
    const std::string key = kernel->facts.identity.toHex();
    ByteWriter contents;
    contents.string(key);
    plan::write(kernel->facts, contents);
    contents.string(kernel->remarks);
    contents.blob(code);
    kernels.store(key, envelope.seal(contents.view()));
  }
}
