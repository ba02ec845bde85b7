//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_TEXT_KERNELPRINTER_H
#define ZYX_LIB_TARGET_TEXT_KERNELPRINTER_H

#include "zyx/Base/Status.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Backend/Uniform.h"
#include "zyx/Target/Info/TargetInfo.h"
#include "zyx/Target/Text/Language.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>
#include <unordered_map>

namespace zyx::target {

/// What stands for a `$x` of a template.
struct Hole {
  char name;
  std::string text;
};

/// The text with its holes filled.
std::string expand(llvm::StringRef text, llvm::ArrayRef<Hole> holes);

/// The walk over one kernel, of which -zyx-kernel-scalarize has left scalars and views of one dimension: structure in
/// Printer.cpp, memory and values in PrintValues.cpp.
class KernelPrinter {
public:
  /// `privateBytes` is what a thread may have on its own, of a language of threads.
  KernelPrinter(const Language &language, int64_t privateBytes) : lang(language), mostPrivateBytes(privateBytes) {}
  Status print(kernel::FuncOp func);
  std::string text;

private:
  Status print(mlir::Operation *op);
  Status print(mlir::Block &block);
  Status print(kernel::GridOp grid);
  Status print(mlir::scf::ForOp loop);
  Status print(mlir::scf::IfOp branch);
  Status print(mlir::scf::WhileOp loop);
  Status print(kernel::ViewOp view);
  Status print(kernel::AllocOp alloc);
  Status print(kernel::IdOp id);
  Status print(kernel::BarrierOp barrier);
  Status print(kernel::LoadOp load);
  Status print(kernel::StoreOp store);
  Status print(mlir::arith::ConstantOp constant);
  Status printExtended(mlir::Operation *op);
  Status printConversion(mlir::Operation *op);
  Status printExpression(mlir::Operation *op);

  static Status refuse(mlir::Operation *op, const llvm::Twine &why);
  Result<Element> elementOf(mlir::Operation *op, mlir::Type type);
  Result<const OpText *> textOf(mlir::Operation *op, Element element);
  bool isDead(mlir::Operation *op);

  void line(const llvm::Twine &content) { text += std::string(2 * depth, ' ') + content.str() + '\n'; }
  /// Declares a value that has this expression.
  void define(mlir::Value value, Element element, const std::string &expression);
  std::string fresh(const char *prefix) { return prefix + std::to_string(counter++); }
  const std::string &name(mlir::Value value) { return names[value.getAsOpaquePointer()]; }
  const std::string &bind(mlir::Value value, std::string text) {
    return names[value.getAsOpaquePointer()] = std::move(text);
  }
  /// A variable for a value, which `other` has, too.
  void declare(const char *form, mlir::Value value, mlir::Value other, mlir::Value init, Element element,
               llvm::SmallVectorImpl<std::string> &variables);
  const char *valueType(Element element) { return lang.values[static_cast<size_t>(element)]; }
  const char *memoryType(Element element) { return lang.memory[static_cast<size_t>(element)]; }
  std::string integer(Element element, uint64_t value);
  std::string indexLiteral(int64_t value) { return integer(lang.index, static_cast<uint64_t>(value)); }
  /// The element that a load or a store is about, and what a load gives where nothing is read.
  std::string elementAt(mlir::Value view, mlir::ValueRange indices);
  std::string zeroOf(Element element);
  /// variables = values, as if at once.
  void assign(llvm::ArrayRef<std::string> variables, llvm::ArrayRef<std::string> values,
              llvm::ArrayRef<Element> elements);
  Status elementsOf(mlir::Operation *op, mlir::TypeRange types, llvm::SmallVectorImpl<Element> &elements);

  const Language &lang;
  /// References to its strings stay valid while it grows.
  std::unordered_map<void *, std::string> names;
  llvm::DenseMap<mlir::Operation *, bool> dead;
  unsigned counter = 0, depth = 0;
  int64_t privateBytes = 0;
  const int64_t mostPrivateBytes;
  /// Of a language of threads: those of a workgroup that has a program together, or 1; bytes of scratch memory that
  /// each has, or 0; and whether they read of buffers what others of their workgroup wrote there.
  int64_t groupThreads = 1, scratchBytes = 0;
  bool readsBack = false;
  Uniform uniform;
  /// Lines for the beginning of the kernel: what threads share is declared there.
  std::string sharedArrays;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_TEXT_KERNELPRINTER_H
