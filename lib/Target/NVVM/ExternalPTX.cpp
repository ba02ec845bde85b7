//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// PTX of the user's own: docs/custom-kernels.md.
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/Toolchain.h"
#include "zyx/Target/NVVM/NVVM.h"

#include "llvm/ADT/StringExtras.h"

#include <span>

using namespace zyx;
using namespace zyx::target;

namespace {

/// The text with a blank in the place of each comment.
std::string withoutComments(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    const size_t begin = std::min(text.find("//"), text.find("/*"));
    result += text.take_front(begin).str();
    text = text.drop_front(std::min(begin, text.size()));
    if (text.empty())
      break;
    const bool isLine = text.starts_with("//");
    const size_t end = isLine ? text.find('\n') : text.find("*/", 2);
    text = text.drop_front(end == text.npos ? text.size() : end + (isLine ? 0 : 2));
    result += ' ';
  }
  return result;
}

/// The parameters of an entry, as they are written; none where the text has no such entry.
std::optional<llvm::SmallVector<llvm::StringRef>> parametersOf(llvm::StringRef text, llvm::StringRef entry) {
  while (true) {
    const size_t at = text.find(".entry");
    if (at == text.npos)
      return std::nullopt;
    text = text.drop_front(at + llvm::StringRef(".entry").size()).ltrim();
    const llvm::StringRef name =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '%'; });
    if (name != entry)
      continue;
    llvm::StringRef behind = text.drop_front(name.size()).ltrim();
    llvm::SmallVector<llvm::StringRef> parameters;
    if (!behind.consume_front("("))
      return parameters;
    behind.take_front(behind.find(')')).split(parameters, ',', -1, /*KeepEmpty=*/false);
    llvm::erase_if(parameters, [](llvm::StringRef parameter) { return parameter.trim().empty(); });
    return parameters;
  }
}

/// Whether a parameter is an address.
bool isAddress(llvm::StringRef parameter) {
  return !parameter.contains('[') &&
         (parameter.contains(".u64") || parameter.contains(".b64") || parameter.contains(".s64"));
}

} // namespace

Result<ExternalCode> target::assembleExternal(kernel::FuncOp kernel, const TargetInfo &target) {
  kernel::ExternalAttr external = kernel.getExternalAttr();
  const std::string entry = external.getEntry().str(), text = external.getText().str() + "\n";
  const std::string plain = withoutComments(text);
  const auto parameters = parametersOf(plain, entry);
  if (!parameters)
    return refuseExternal(kernel, "has no entry '" + entry + "' in its PTX");
  if (parameters->size() != kernel.getNumArguments())
    return refuseExternal(kernel, "has an entry '" + entry + "' of " + std::to_string(parameters->size()) +
                                      " parameters, and the op has " + std::to_string(kernel.getNumArguments()) +
                                      " operands and results");
  for (llvm::StringRef parameter : *parameters)
    if (!isAddress(parameter))
      return refuseExternal(kernel, "has an entry '" + entry + "' with the parameter '" + parameter.trim().str() +
                                        "', which is no address of 64 bits");
  const std::string assembler = target.isAssembledByDriver ? "" : findProgram(ptxasProgram);
  if (assembler.empty()) {
    const auto bytes = std::as_bytes(std::span(text));
    return ExternalCode{{"ptx", {bytes.begin(), bytes.end()}}, entry};
  }
  Result<std::vector<std::byte>> cubin = assemble(text, target, assembler);
  if (!cubin)
    return refuseExternal(kernel, "is no PTX: " + cubin.status().message());
  return ExternalCode{{"cubin", std::move(*cubin)}, entry};
}
