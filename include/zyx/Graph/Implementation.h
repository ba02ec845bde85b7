//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_IMPLEMENTATION_H
#define ZYX_GRAPH_IMPLEMENTATION_H

#include "zyx/Base/Shape.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zyx::graph {

/// What the text of an implementation is written in: the kernel dialect, C11, or NVIDIA's assembly.
enum class Language : uint8_t { Kernel = 0, C = 1, PTX = 2 };
std::string_view toString(Language language);
/// The inverse of toString.
std::optional<Language> parseLanguage(std::string_view name);

/// A kernel of the user's own, which a custom op runs on one kind of machine in the place of its body.
/// docs/custom-kernels.md says what a kernel is given in each language.
struct Implementation {
  Language language = Language::Kernel;
  /// The name of a target ("sm_90a") or of a kind of device ("cpu", "cuda").
  std::string target;
  /// The function in the text.
  std::string entry;
  std::string text;
  /// Those of the op that it is for. Written out, because a text does not say them all.
  std::vector<TensorType> operands, results;
  /// PTX: workgroups of a launch. C: the programs that calls share among them, by threads.
  int64_t groups = 1;
  /// PTX: threads of a workgroup, and bytes of shared memory beyond what the text declares.
  int64_t threads = 1, sharedBytes = 0;
  bool operator==(const Implementation &) const = default;
};

/// Refuses an implementation that is malformed, or not for an op of these operands and results. `op` starts the
/// message.
Status checkImplementation(const std::string &op, const Implementation &implementation,
                           std::span<const TensorType> operands, std::span<const TensorType> results);
/// Of a list also that two are for one target.
Status checkImplementations(const std::string &op, std::span<const Implementation> implementations,
                            std::span<const TensorType> operands, std::span<const TensorType> results);

} // namespace zyx::graph

#endif // ZYX_GRAPH_IMPLEMENTATION_H
