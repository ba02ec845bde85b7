//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_TEXT_KERNELPRINTER_H
#define ZYX_LIB_TARGET_TEXT_KERNELPRINTER_H

#include "zyx/Base/Status.h"
#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Backend/Uniform.h"
#include "zyx/Target/Info/TargetInfo.h"
#include "zyx/Target/Text/Language.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>
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

/// The walk over one kernel, of which -zyx-kernel-scalarize has left scalars, vectors that the language has, and views
/// of one dimension: structure in Printer.cpp, memory and values in PrintValues.cpp.
class KernelPrinter {
public:
  /// `stackBytes` is what a thread may have on its own, of a language of threads.
  KernelPrinter(const Language &language, int64_t stackBytes, bool hasPlaces)
      : lang(language), mostPrivateBytes(stackBytes), hasPlaces(hasPlaces) {}
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
  void print(kernel::IdOp id);
  void print(kernel::BarrierOp barrier);
  Status print(kernel::LoadOp load);
  Status print(kernel::StoreOp store);
  Status print(mlir::arith::ConstantOp constant);
  /// The results of an op, each by its expression; of vectors by that of each lane where they have none together.
  Status printResults(mlir::Operation *op);
  /// The lanes of the result, which are named anew.
  Status printLanes(mlir::Operation *op);
  /// Expressions by results, of the lanes that `width` and `lane` say.
  using Texts = llvm::SmallVector<std::string, 2>;
  Result<Texts> textsOf(mlir::Operation *op);
  Result<Texts> conversionOf(mlir::Operation *op);
  /// The double-width product as two values.
  Result<Texts> extendedOf(mlir::Operation *op);
  std::string literal(Element element, mlir::Attribute attribute);

  static Status refuse(mlir::Operation *op, const llvm::Twine &why);
  Result<Element> elementOf(mlir::Operation *op, mlir::Type type);
  Result<const OpText *> textOf(mlir::Operation *op, Element element);
  /// What templates say of the types of an op and of its operands, which come as these texts.
  llvm::SmallVector<Hole> holesOf(Element operand, Element result, llvm::ArrayRef<std::string> operands);
  Result<std::string> extended(mlir::Operation *op, Element element, const std::string &value);
  Result<std::string> truncated(mlir::Operation *op, Element element, const std::string &value);
  bool isDead(mlir::Operation *op);

  void line(const llvm::Twine &content) {
    text += std::string(2 * depth, ' ') + content.str();
    if (place != toldPlace)
      text += "  // " + (toldPlace = place);
    text += '\n';
  }
  /// What follows comes from where the op does, if that is known.
  void comeTo(mlir::Operation *op);
  /// Declares a value that has this expression.
  void define(mlir::Value value, Element element, const std::string &expression);
  std::string fresh(const char *prefix) { return prefix + std::to_string(counter++); }
  /// A value, or of a vector the lane at work.
  std::string name(mlir::Value value) {
    const std::string &whole = names[value.getAsOpaquePointer()];
    return width != 1 || lanesOf(value.getType()) == 1 ? whole : laneText(value, lane);
  }
  /// A lane of bools is an integer, which is tested where a bool is asked for.
  std::string laneText(mlir::Value value, size_t which, bool isTested = true);
  static size_t lanesOf(mlir::Type type) { return static_cast<size_t>(kernel::lanesOf(type)); }
  const std::string &bind(mlir::Value value, std::string text) {
    return names[value.getAsOpaquePointer()] = std::move(text);
  }
  /// A variable for a value, which `other` has, too.
  void declare(const char *form, mlir::Value value, mlir::Value other, mlir::Value init, const std::string &type,
               llvm::SmallVectorImpl<std::string> &variables);
  /// The type of so many elements, and that of signed integers; empty where there is none.
  std::string valueType(Element element, size_t lanes = 1) { return typeOf(lang.values, element, lanes); }
  std::string signedType(Element element, size_t lanes) { return typeOf(lang.signedValues, element, lanes); }
  std::string typeOf(const std::array<const char *, numElements> &names, Element element, size_t lanes);
  const char *memoryType(Element element) { return lang.memory[static_cast<size_t>(element)]; }
  /// Bits of an element that lies in a word with others; 0 where each is by itself.
  unsigned packedBits(Element element) const;
  /// Integers that are computed with in wider words.
  bool isInWord(Element element) const { return element != Element::Bool && packedBits(element) != 0; }
  std::string cut(Element element, const std::string &value);
  /// Whether neighbours in a word are written by other threads.
  bool hasOtherWriters(mlir::Value view) const;
  /// The type of a buffer's or an array's elements, or of the words that they lie in.
  std::string elementType(mlir::Value memory, Element element, bool hasOthers) {
    if (const int64_t lanes = vectorsOf(memory); lanes != 1)
      return valueType(element, static_cast<size_t>(lanes));
    return packedBits(element) == 0 ? memoryType(element) : hasOthers ? lang.packed->sharedWord : lang.packed->word;
  }
  /// Lanes of the vectors that memory consists of.
  int64_t vectorsOf(mlir::Value memory) const {
    return lang.vectors && lang.vectors->isOfMemory ? kernel::memoryLanesOf(memory) : 1;
  }
  std::string notKept(Element element);
  std::string integer(Element element, uint64_t value);
  std::string indexLiteral(int64_t value) { return integer(lang.index, static_cast<uint64_t>(value)); }
  /// The element that a load or a store is about, of words its place in them; and what a load gives where nothing is
  /// read.
  llvm::SmallVector<Hole> placeOf(Element element, mlir::Value view, mlir::ValueRange indices);
  std::string zeroOf(Element element);
  /// A vector of these lanes, of which bools have been tested.
  std::string make(Element element, llvm::ArrayRef<std::string> lanes, bool isTested = true);
  /// A condition or a bound of an op, which the threads of a workgroup have in common where a barrier is in it: what
  /// comes out of memory is handed around.
  std::string uniform(mlir::Operation *around, mlir::Value value);
  /// variables = values, as if at once.
  void assign(llvm::ArrayRef<std::string> variables, llvm::ArrayRef<std::string> values,
              llvm::ArrayRef<std::string> types);
  Status typesOf(mlir::Operation *op, mlir::TypeRange types, llvm::SmallVectorImpl<std::string> &names);

  const Language &lang;
  /// References to its strings stay valid while it grows.
  std::unordered_map<void *, std::string> names;
  llvm::DenseMap<mlir::Operation *, bool> dead;
  /// Found when it is asked for first.
  std::optional<llvm::DenseSet<mlir::Operation *>> ofMemory;
  /// Buffers that the kernel writes.
  llvm::SmallDenseSet<mlir::Value, 8> written;
  unsigned counter = 0, depth = 0;
  /// How many lanes of vectors a text is about, all of them or one, and which.
  size_t width = 1, lane = 0;
  int64_t privateBytes = 0;
  const int64_t mostPrivateBytes;
  const bool hasPlaces;
  /// "softmax.mlir:3" of what is printed, and of the line that said so last.
  std::string place, toldPlace;
  ThreadUse use;
  std::string kernelName;
  /// Lines for the beginning of the kernel: what threads share is declared there.
  std::string sharedArrays;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_TEXT_KERNELPRINTER_H
