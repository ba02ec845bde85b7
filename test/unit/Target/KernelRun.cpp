//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelRun.h"

#include "SharedObject.h"

#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/CPU/CPU.h"
#include "zyx/Target/Text/C.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <ostream>

namespace zyx::target {

void PrintTo(const Way &way, std::ostream *stream) { *stream << way.target << " by " << way.lanes; }

bool canRun(const Way &way) {
#if defined(__x86_64__)
  if (std::string(way.target) == "x86-64-v3")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  return true;
#else
  return std::string(way.target).rfind("x86", 0) != 0;
#endif
}

struct CompiledKernels::Loaded {
  explicit Loaded(const std::vector<std::byte> &bytes) : object(bytes) {}
  SharedObject object;
};
CompiledKernels::CompiledKernels(std::unique_ptr<Loaded> loaded) : loaded(std::move(loaded)) {}
CompiledKernels::CompiledKernels(CompiledKernels &&) = default;
CompiledKernels::~CompiledKernels() = default;

Result<CompiledKernels> CompiledKernels::compile(const std::string &text, const Way &way) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<kernel::KernelDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect, mlir::math::MathDialect,
                      mlir::vector::VectorDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return Status::invalidArgument("the test's kernel does not parse:\n" + text);
  ZYX_ASSIGN_OR_RETURN(TargetInfo target, lookUpTarget(way.target));
  std::vector<std::byte> bytes;
  // What the C compiler warns about fails the test.
  if (target.device == "c") {
    mlir::PassManager manager(&context);
    addScalarLowering(manager);
    if (failed(manager.run(*module)))
      return Status::compileFailed("the test's kernel does not lower");
    ZYX_ASSIGN_OR_RETURN(std::string source, printC(*module));
    COptions options;
    options.flags = {"-Wall", "-Wextra", "-Werror", "-pedantic"};
    ZYX_ASSIGN_OR_RETURN(bytes, compileC(source, options));
  } else {
    mlir::PassManager manager(&context);
    manager.addPass(kernel::createConvertKernelToLLVMPass());
    if (failed(manager.run(*module)))
      return Status::compileFailed("the test's kernel does not lower");
    ZYX_ASSIGN_OR_RETURN(bytes, emitSharedObject(*module, target));
  }
  auto loaded = std::make_unique<Loaded>(bytes);
  if (!loaded->object.error().empty())
    return Status::internal(loaded->object.error());
  return CompiledKernels(std::move(loaded));
}

artifact::KernelFunction CompiledKernels::find(const char *name) const {
  return loaded->object.find<artifact::KernelFunction>(name);
}

void CompiledKernels::run(const char *name, std::vector<void *> buffers, int64_t begin, int64_t end,
                          std::vector<int64_t> scalars) const {
  artifact::KernelArgs args{buffers.data(), scalars.data()};
  find(name)(&args, begin, end);
}

std::string elementwise(const std::vector<std::string> &inputs, const std::string &output, const std::string &code,
                        int64_t n, int64_t lanes) {
  auto typed = [&](const std::string &type) {
    return lanes == 1 ? type : "vector<" + std::to_string(lanes) + "x" + type + ">";
  };
  std::string head = "kernel.func @k(", views, loads;
  auto buffer = [&](const std::string &name, const std::string &type) {
    head += "%" + name + "_: !kernel.buffer<" + type + ", global>";
    views += "  %" + name + "s = kernel.view %" + name + "_ map #all : !kernel.buffer<" + type +
             ", global> -> !kernel.view<" + std::to_string(n) + "x" + type + ", global>\n";
  };
  char name = 'a';
  for (const std::string &type : inputs) {
    buffer(std::string(1, name), type);
    head += ", ";
    loads += std::string("    %") + name + " = kernel.load %" + name + "s[%i] : !kernel.view<" + std::to_string(n) +
             "x" + type + ", global> -> " + typed(type) + "\n";
    ++name;
  }
  buffer("r", output);
  std::string body;
  for (size_t i = 0; i < code.size();) {
    if (code[i] == '$') {
      size_t end = i + 1;
      while (end < code.size() && isalnum(static_cast<unsigned char>(code[end])))
        ++end;
      body += typed(code.substr(i + 1, end - i - 1));
      i = end;
    } else if (code[i] == '#' && code[i + 1] == '(') {
      size_t end = code.find(')', i);
      std::string value = code.substr(i + 2, end - i - 2);
      body += lanes == 1 ? value : "dense<" + value + ">";
      i = end + 1;
    } else {
      body += code[i++];
    }
  }
  return "#all = #kernel.map<[#kernel.block<[" + std::to_string(n) + "] strides [1]>]>\n" + head +
         ") attributes {form = #kernel.form<lowered>} {\n" + views + "  kernel.grid (%i) in [" + std::to_string(n) +
         "] step [" + std::to_string(lanes) + "] {\n" + loads + body +
         "\n    kernel.store %r, %rs[%i] : " + typed(output) + ", !kernel.view<" + std::to_string(n) + "x" + output +
         ", global>\n  }\n  kernel.return\n}\n";
}

} // namespace zyx::target
