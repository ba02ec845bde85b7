//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Toolchain.h"

#include "zyx/Base/File.h"
#include "zyx/Target/Info/Toolchain.h"

#include <cstring>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

using namespace zyx;
using namespace zyx::session;

/// The note that `--build-id` makes the linker write: a hash of the file's contents. Empty where
/// there is none.
static std::string readBuildId(const std::string &path) {
  Result<ReadOnlyFile> file = ReadOnlyFile::open(path);
  Elf64_Ehdr header;
  if (!file || !file->read(0, std::as_writable_bytes(std::span(&header, 1))) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!file->read(header.e_phoff, std::as_writable_bytes(std::span(segments))))
    return "";
  constexpr uint64_t maxNotes = 1 << 16;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > maxNotes)
      continue;
    std::vector<std::byte> notes(segment.p_filesz);
    if (!file->read(segment.p_offset, notes))
      return "";
    auto aligned = [](uint64_t size) { return (size + 3) & ~uint64_t(3); };
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
      Elf64_Nhdr note;
      std::memcpy(&note, notes.data() + at, sizeof(note));
      const uint64_t name = at + sizeof(note), value = name + aligned(note.n_namesz);
      at = value + aligned(note.n_descsz);
      if (at > notes.size())
        break;
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
          std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
        continue;
      std::string hex;
      for (uint64_t i = 0; i < note.n_descsz; ++i) {
        static constexpr char digits[] = "0123456789abcdef";
        const auto byte = std::to_integer<unsigned>(notes[value + i]);
        hex += {digits[byte >> 4], digits[byte & 15]};
      }
      return hex;
    }
  }
  return "";
}

std::string session::fileIdentity(const std::string &path) {
  if (std::string id = readBuildId(path); !id.empty())
    return "build " + id;
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return "";
  return "file " + std::to_string(info.st_size) + " " + std::to_string(info.st_ino) + " " +
         std::to_string(info.st_ctim.tv_sec) + "." + std::to_string(info.st_ctim.tv_nsec);
}

std::string session::toolchainKey(const std::string &target) {
  std::string key = "zyx " ZYX_VERSION ", compiler " + fileIdentity(Compiler::chosen()) + ", target ";
  Result<target::TargetInfo> record = target::lookUpTarget(target);
  // The compiler says that there is none.
  if (!record)
    return key + target + "; ";
  key += record->cacheKey();
  for (const target::ToolProgram &program : target::programsOf(*record))
    key += std::string(", ") + program.name + " " + fileIdentity(target::findProgram(program));
  return key + "; ";
}

std::vector<Tool> session::loadedTools() {
  std::vector<Tool> tools;
  auto add = [](dl_phdr_info *info, size_t, void *into) {
    std::string_view path = info->dlpi_name ? info->dlpi_name : "";
    std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("libLLVM") || name.starts_with("libMLIR"))
      static_cast<std::vector<Tool> *>(into)->push_back({std::string(path), fileIdentity(std::string(path))});
    return 0;
  };
  ::dl_iterate_phdr(add, &tools);
  return tools;
}
