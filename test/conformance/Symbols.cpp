//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Reads symbols by itself, not by what the compiler checks its objects with.
#include "Symbols.h"

#include <cstring>
#include <elf.h>

namespace zyx::conformance {

namespace {

/// `count` records from `offset` on; none where they do not lie inside.
template <typename T>
std::optional<std::vector<T>> readRecords(std::span<const std::byte> bytes, uint64_t offset, uint64_t count) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T))
    return std::nullopt;
  std::vector<T> records(count);
  if (count != 0)
    std::memcpy(records.data(), bytes.data() + offset, count * sizeof(T));
  return records;
}

} // namespace

Result<std::vector<std::string>> undefinedSymbols(std::span<const std::byte> sharedObject) {
  const Status broken = Status::dataCorruption("the code is no whole ELF64 shared object");
  const auto header = readRecords<Elf64_Ehdr>(sharedObject, 0, 1);
  if (!header || std::memcmp((*header)[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      (*header)[0].e_ident[EI_CLASS] != ELFCLASS64)
    return broken;
  const auto sections = readRecords<Elf64_Shdr>(sharedObject, (*header)[0].e_shoff, (*header)[0].e_shnum);
  if (!sections)
    return broken;
  std::vector<std::string> names;
  bool hasTable = false;
  for (const Elf64_Shdr &section : *sections) {
    if (section.sh_type != SHT_DYNSYM)
      continue;
    hasTable = true;
    const auto symbols = readRecords<Elf64_Sym>(sharedObject, section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    if (!symbols || section.sh_link >= sections->size())
      return broken;
    const Elf64_Shdr &strings = (*sections)[section.sh_link];
    const auto text = readRecords<char>(sharedObject, strings.sh_offset, strings.sh_size);
    if (!text || text->empty() || text->back() != 0)
      return broken;
    for (const Elf64_Sym &symbol : *symbols) {
      if (symbol.st_name >= text->size())
        return broken;
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0)
        names.emplace_back(text->data() + symbol.st_name);
    }
  }
  if (!hasTable)
    return broken;
  return names;
}

Status checkSymbols(const artifact::Artifact &artifact) {
  if (artifact.target != "cpu")
    return Status::ok();
  std::string called;
  for (const artifact::CodeBlob &code : artifact.code) {
    const Result<std::vector<std::string>> names = undefinedSymbols(code.bytes);
    if (!names)
      return Status::internal(names.status().message());
    for (const std::string &name : *names)
      if (name != "memcpy" && name != "memmove" && name != "memset")
        called += (called.empty() ? "" : ", ") + name;
  }
  if (called.empty())
    return Status::ok();
  return Status::internal("the kernels' code calls " + called);
}

} // namespace zyx::conformance
