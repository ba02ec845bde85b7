//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A driver of HIP over the host's memory: the fake driver of CUDA under HIP's names. Memory, copies, fills, streams and
// events work. Code objects are loaded as far as their metadata: what a kernel is launched with has to fit it. Nothing
// executes code of AMD's GPUs, so a launch writes nothing.
//
// FAKE_HIP_ARCHITECTURE names the card, gfx942 by default. With FAKE_HIP_LOG each kernel that is found and each launch
// is a line on stderr.
//===----------------------------------------------------------------------===//
#include "../fake-cuda/FakeCuda.cpp"

#include <elf.h>
#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

/// The module flags of ELF's header for AMD's GPUs, by name: LLVM's EF_AMDGPU_MACH.
constexpr std::pair<const char *, unsigned> machines[] = {{"gfx942", 0x4c}, {"gfx1100", 0x41}, {"gfx1201", 0x4e}};
constexpr uint16_t machineAMDGPU = 224;
constexpr uint32_t noteMetadata = 32;
constexpr uint64_t groupBytes = 64 << 10;

std::string architecture() {
  const char *given = std::getenv("FAKE_HIP_ARCHITECTURE");
  return given ? given : "gfx942";
}
bool isLogged() { return std::getenv("FAKE_HIP_LOG") != nullptr; }

/// Of a code object for this card; null where it is none. The image says how long it is.
Json readMetadata(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != machineAMDGPU)
    return nullptr;
  const std::string name = architecture();
  for (const auto &[known, machine] : machines)
    if (name == known && (header.e_flags & 0xff) != machine)
      return nullptr;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_NOTE)
      continue;
    Elf64_Nhdr note;
    const char *at = image + section.sh_offset;
    std::memcpy(&note, at, sizeof(note));
    const char *text = at + sizeof(note) + (note.n_namesz + 3) / 4 * 4;
    if (note.n_type == noteMetadata)
      return Json::from_msgpack(text, text + note.n_descsz, /*strict=*/false, /*allow_exceptions=*/false);
  }
  return nullptr;
}

/// Kernels by the functions that were given out.
std::map<Function, Json> &kernels() {
  static auto &all = *new std::map<Function, Json>;
  return all;
}
std::map<Module, Json> &images() {
  static auto &all = *new std::map<Module, Json>;
  return all;
}

/// Why a launch does not fit what the code object says of the kernel; empty where it does.
std::string refuse(const Json &kernel, unsigned groups, unsigned threads, unsigned sharedBytes, void **parameters) {
  const auto number = [&](const char *field) { return kernel.value(field, uint64_t(0)); };
  if (groups == 0 || threads == 0 || threads > number(".max_flat_workgroup_size"))
    return "has workgroups of " + std::to_string(threads) + " threads";
  if (sharedBytes + number(".group_segment_fixed_size") > groupBytes)
    return "has " + std::to_string(sharedBytes) + " bytes of shared memory";
  if (number(".private_segment_fixed_size") != 0 || kernel.value(".uses_dynamic_stack", true))
    return "has scratch memory";
  if (number(".wavefront_size") != (architecture() == "gfx942" ? 64 : 32))
    return "has waves of " + std::to_string(number(".wavefront_size")) + " threads";
  size_t index = 0;
  for (const Json &argument : kernel.value(".args", Json::array())) {
    const std::string kind = argument.value(".value_kind", "");
    if (kind.starts_with("hidden_"))
      continue;
    uint64_t value = 0;
    if (argument.value(".size", 0) != sizeof(value))
      return "has an argument of another size";
    std::memcpy(&value, parameters[index++], sizeof(value));
    // Without scratch memory of ours its address is null.
    if (kind == "global_buffer" && value != 0 && !isAlive(value, 1, current))
      return "reads or writes memory that is not the card's, as argument " + std::to_string(index - 1);
  }
  return "";
}

} // namespace

// What is the same under another name. The three below are not.
#define hipModuleLoadDataEx fakeModuleLoad
#define hipModuleGetFunction fakeModuleFunction
#define hipModuleLaunchKernel fakeLaunch
#define ZYX_ALIAS(member, symbol, hip, parameters) extern "C" Code hip parameters __attribute__((alias(#symbol)));
ZYX_DRIVER_FUNCTIONS(ZYX_ALIAS)
#undef ZYX_ALIAS
#undef hipModuleLoadDataEx
#undef hipModuleGetFunction
#undef hipModuleLaunchKernel

extern "C" {

int hipGetDevicePropertiesR0600(void *properties, int device) {
  auto *const bytes = static_cast<char *>(properties);
  const auto put = [&](size_t offset, auto value) { std::memcpy(bytes + offset, &value, sizeof(value)); };
  std::strcpy(bytes, "Fake card");
  put(288, state().facts.memoryBytes);
  put(296, groupBytes);
  put(308, architecture() == "gfx942" ? 64 : 32);
  put(320, 1024);
  put(348, state().facts.kilohertz);
  put(388, 4);
  std::strcpy(bytes + 1160, (architecture() + ":sramecc+:xnack-").c_str());
  return device < state().facts.devices ? success : 101;
}

int hipModuleLoadDataEx(Module *module, const void *image, unsigned, int *, void **) {
  return onDevice([&] {
    Json metadata = readMetadata(static_cast<const char *>(image));
    if (!metadata.is_object())
      return badImage;
    ++state().facts.modules;
    *module = new ModuleTag{};
    images()[*module] = std::move(metadata);
    return success;
  });
}

int hipModuleGetFunction(Function *function, Module module, const char *name) {
  return onDevice([&] {
    for (const Json &kernel : images().at(module).value("amdhsa.kernels", Json::array())) {
      if (kernel.value(".name", "") != name)
        continue;
      FunctionTag &made = module->functions[name];
      made.name = name;
      *function = &made;
      kernels()[&made] = kernel;
      if (isLogged())
        std::fprintf(stderr, "fake-hip: %s has %d arguments\n", name, [&] {
          int count = 0;
          for (const Json &argument : kernel.value(".args", Json::array()))
            count += !argument.value(".value_kind", "").starts_with("hidden_");
          return count;
        }());
      return success;
    }
    return notFound;
  });
}

int hipModuleLaunchKernel(Function function, unsigned groups, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                          unsigned sharedBytes, Stream stream, void **parameters, void **) {
  return onStream(stream, [&] {
    const std::string reason = refuse(kernels().at(function), groups, threads, sharedBytes, parameters);
    if (isLogged())
      std::fprintf(stderr, "fake-hip: launch of %s: %u workgroups of %u threads, %u bytes%s%s\n",
                   function->name.c_str(), groups, threads, sharedBytes, reason.empty() ? "" : ": ", reason.c_str());
    if (!reason.empty())
      return invalid;
    ++state().facts.launches;
    state().facts.lastGroups = groups;
    state().facts.lastThreads = threads;
    return enqueue(stream, [] {});
  });
}

} // extern "C"
