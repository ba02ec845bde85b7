//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// C functions of the user's own: docs/custom-kernels.md.
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/C.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace zyx::target {
namespace {

/// What is called for a range of programs.
constexpr const char *symbol = "zyx_external_kernel";

/// How C sees an element: floats that it lacks are their bits, a bool is a byte.
std::string typeOf(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  const unsigned bits = std::max(8u, element.getIntOrFloatBitWidth());
  return (isa<FloatType>(element) || element.isInteger(1) ? "uint" : "int") + std::to_string(bits) + "_t";
}

/// The function that the text defines, and the one around it, with the buffers' types and what is behind them.
std::string printSource(kernel::FuncOp kernel, StringRef entry, StringRef text) {
  const bool hasRange = kernel.getPrograms().value_or(1) > 1;
  std::string parameters, arguments;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    const std::string pointer = typeOf(cast<kernel::BufferType>(type).getElementType()) + " *";
    const bool isRead = i + kernel.getExternalAttr().getNumResults() < kernel.getNumArguments();
    parameters += (i == 0 ? "" : ", ") + std::string(isRead ? "const " : "") + pointer;
    arguments += (i == 0 ? "" : ", ") + ("arguments->buffers[" + std::to_string(i) + "]");
  }
  std::string source = "#include <stdint.h>\n";
  source += "void " + entry.str() + "(" + parameters + (hasRange ? ", int64_t, int64_t" : "") + ");\n";
  source += "#line 1 \"" + entry.str() + ".c\"\n" + text.str() + "\n#line 1 \"" + symbol + ".c\"\n";
  source += "struct zyx_external_arguments {\n  void *const *buffers;\n  const int64_t *scalars;\n};\n";
  source += std::string("void ") + symbol +
            "(const struct zyx_external_arguments *arguments, int64_t begin, int64_t end) {\n  " +
            (hasRange ? "" : "(void)begin, (void)end;\n  ") + entry.str() + "(" + arguments +
            (hasRange ? ", begin, end" : "") + ");\n}\n";
  return source;
}

} // namespace

Result<ExternalCode> compileExternalC(kernel::FuncOp kernel, const COptions &options) {
  kernel::ExternalAttr external = kernel.getExternalAttr();
  COptions strict = options;
  // A function that is nowhere is found here, and not when the code is loaded.
  strict.flags.push_back("-Wl,-z,defs");
  Result<std::vector<std::byte>> code =
      compileC(printSource(kernel, external.getEntry().getValue(), external.getText().getValue()), strict);
  if (!code)
    return refuseExternal(kernel,
                          "is no function '" + external.getEntry().str() + "' in C: " + code.status().message());
  return ExternalCode{{"elf-so", std::move(*code)}, symbol};
}

} // namespace zyx::target
