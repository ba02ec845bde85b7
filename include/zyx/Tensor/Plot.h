//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_PLOT_H
#define ZYX_TENSOR_PLOT_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// How far on its way to machine code a plot shows what tensors are made of.
enum class PlotStage {
  /// Each op with its type and the place of its call; values that are there, with their elements where they
  /// are few. Nothing is computed.
  Tensors,
  /// The simplified ops, with a frame around each group that becomes a kernel. What already has a value is
  /// an input of the program.
  Groups,
  /// Launches of kernels and copies, with the memory between them.
  Kernels,
};

/// A drawing in the language of Graphviz. Groups and kernels need the compiler: contexts on the interpreter have
/// none, and tensors that are all realized neither.
std::string plotDot(Tensors tensors, PlotStage stage = PlotStage::Tensors, Place where = Place::current());

/// The same into a file: a ".dot" or ".gv" as it is, a ".svg" by the program `dot` of Graphviz, which is looked for
/// on the PATH; throws where it is not found or fails.
void plot(Tensors tensors, const std::string &path, PlotStage stage = PlotStage::Tensors,
          Place where = Place::current());

/// The program that computes the tensors, as text that zyx-compile and zyx-run read: simplified ops, behind
/// inputs for all that already has a value. Needs the compiler, as groups and kernels do; nothing is computed.
std::string programText(Tensors tensors, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_PLOT_H
