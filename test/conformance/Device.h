//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_DEVICE_H
#define ZYX_TEST_CONFORMANCE_DEVICE_H

#include "Bounds.h"

#include "zyx/Artifact/Artifact.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zyx::conformance {

/// The program with every second input as a weight; these come last.
Program withWeights(const Program &program);

/// What is compared with the interpreter.
class Device {
public:
  virtual ~Device() = default;
  /// What the next graphs' random choices are drawn from, where the device makes some.
  virtual void setSeed(uint64_t seed) {}
  /// Fails where the device, or the compiler for it, refuses the graph; with an internal error where
  /// something is wrong with what was made of it.
  virtual Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) = 0;
  /// Whether it runs nothing: then what compiles is right, and `run` gives no results.
  virtual bool isCompiler() const { return false; }
  /// Whether every bit must be the interpreter's, also where the meaning leaves a freedom.
  virtual bool isExact() const { return false; }
  /// What it may round in the graph that it ran last.
  virtual Roundings roundings() const { return {}; }
};

/// How a device of zyx::session compiles: as always; one op per kernel and no schedules; or with
/// a random legal schedule for each kernel.
enum class Optimise : uint8_t { Default, None, Schedules };
/// The inverse of "default", "none", "schedules".
std::optional<Optimise> parseOptimise(std::string_view name);
std::string_view toString(Optimise optimise);

/// Compiles with schedules that a seed draws: test::compileDrawn of test/lib/Pipelines/DrawnSchedules.h, for programs
/// that contain the compiler. The compiler's library draws none.
using CompileDrawn = Result<artifact::Artifact> (*)(const graph::Graph &graph, const std::string &target,
                                                    const std::string &isa, uint64_t seed);

/// `isa` is the instruction set of code for "cpu", as in session::CompileOptions; `target` the record that code is
/// compiled for, the device's own where it is empty. Every second input is a weight, unless there shall be none.
/// Without `compileDrawn` Optimise::Schedules is refused.
std::unique_ptr<Device> openDevice(const std::string &name, Optimise optimise, const std::string &isa = "native",
                                   bool hasWeights = true, const std::string &target = "",
                                   CompileDrawn compileDrawn = nullptr);
/// Compiles for the record `target` and runs nothing, so that no device needs to be there. With a folder each piece of
/// code is written there once, as HASH.FORMAT.
std::unique_ptr<Device> openCompiler(const std::string &target, Optimise optimise, bool hasWeights = true,
                                     CompileDrawn compileDrawn = nullptr, std::string codeFolder = {});
/// Whether a device is there, asked by a process of its own: a driver of a GPU does not survive a fork, and cases run
/// in children.
Status findDevice(const std::string &name);
/// Compiles for an instruction set that this machine may lack, and runs each artifact by a command: an
/// emulator and, behind it, the program of test/emulated.
std::unique_ptr<Device> openEmulated(const std::string &isa, std::vector<std::string> command, bool hasWeights = true);
/// The interpreter with one bit of each output wrong: what the suite must find.
std::unique_ptr<Device> openCorrupted();

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_DEVICE_H
