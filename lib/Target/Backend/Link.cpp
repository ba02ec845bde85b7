//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/Link.h"

#include "zyx/Base/File.h"
#include "zyx/Base/ProcessMutex.h"
#include "zyx/Base/TempFolder.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

#include <span>

LLD_HAS_DRIVER(elf)

namespace zyx::target {
namespace {

bool mayBeUndefined(llvm::StringRef name) {
  return name == "memcpy" || name == "memmove" || name == "memset" || name == "_GLOBAL_OFFSET_TABLE_";
}

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

} // namespace

Status checkUndefinedSymbols(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernels"));
  if (!file)
    return Status::internal("cannot read the generated object: " + text(file.takeError()));
  std::string needed;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      llvm::Error broken = !flags ? flags.takeError() : name.takeError();
      return Status::internal("cannot read the generated object: " + text(std::move(broken)));
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() && !mayBeUndefined(*name))
      needed += (needed.empty() ? "" : ", ") + name->str();
  }
  if (needed.empty())
    return Status::ok();
  return Status::compileFailed("kernels may not call library functions, but the processor has no "
                               "instruction for what became a call of " +
                               needed);
}

Result<std::vector<std::byte>> linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects,
                                                llvm::ArrayRef<const char *> options) {
  // lld keeps its state in globals: one link at a time. After a crash inside it may not run again.
  static constinit ProcessMutex mutex;
  static bool usable = true;

  size_t size = 0;
  for (llvm::StringRef object : objects)
    size += object.size();
  ZYX_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::createInMemory(size));
  std::vector<std::string> inputs;
  for (llvm::StringRef object : objects) {
    ZYX_ASSIGN_OR_RETURN(std::string input, folder.write((std::to_string(inputs.size()) + ".o").c_str(),
                                                         std::as_bytes(std::span(object.data(), object.size()))));
    inputs.push_back(std::move(input));
  }
  std::string output = folder.file("kernels.so");
  {
    const ProcessMutex::Guard lock(mutex);
    ZYX_RETURN_IF_ERROR(lock.check());
    std::vector<const char *> arguments = {"ld.lld",          "-shared", "-nostdlib",   "--threads=1",
                                           "--build-id=none", "-o",      output.c_str()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    for (const std::string &input : inputs)
      arguments.push_back(input.c_str());
    std::string messages;
    llvm::raw_string_ostream stream(messages);
    lld::Result result{1, false};
    if (usable)
      result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    else
      messages = "lld crashed before";
    usable = result.canRunAgain;
    if (result.retCode != 0)
      return Status::compileFailed("cannot link the kernels: " + messages);
  }
  return readFile(output);
}

} // namespace zyx::target
