//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CARD_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CARD_H

#include "Driver.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Runtime/DeviceFacts.h"

#include <string>

namespace zyx::runtime::cuda {

/// What a card is.
struct CardFacts {
  std::string description;
  /// What drives it: "CUDA 13.0, driver 580.159.04".
  std::string driver;
  /// Of NVIDIA's the compute capability, 90 for 9.0; of AMD's the architecture, "gfx942".
  int capability = 0;
  std::string architecture;
  int processors = 1;
  /// The highest clock; threads of a block and of a warp, and shared memory of a block, at most.
  int kilohertz = 0, groupThreads = 0, warpThreads = 0, groupBytes = 0;
  uint64_t memoryBytes = 0;
  /// As BackendFacts says it.
  uint64_t largestCopyInGraph = UINT64_MAX;
};

/// What cards of one vendor are, beside what the two drivers have in common.
struct Vendor {
  Family family;
  /// The kind of its devices: "cuda", "hip".
  const char *kind;
  /// Where their memory is, by DLPack's numbers.
  int32_t dlpackKind;
  Result<CardFacts> (*readFacts)(const Driver &driver, int index);
  /// What the facts that vendors count in their own ways say: target, architecture, lanes.
  void (*describe)(const CardFacts &card, DeviceFacts &facts);
  /// Refuses a card that the compiler makes no code for.
  Status (*checkCard)(const CardFacts &card);
  /// Refuses code that the card cannot run.
  Status (*checkCode)(const CardFacts &card, const artifact::Artifact &artifact);
};
extern const Vendor nvidia, amd;

/// What is known of a card without its context: all but the memory that is free.
DeviceFacts deviceFacts(const Vendor &vendor, const CardFacts &card);
/// How many cards there are.
Result<int> countCards(const Driver &driver, const Vendor &vendor);
/// The record of targets that code for such a card is compiled with: "sm_90a", or "cuda" for a card that
/// has none of its own.
std::string targetOf(int capability);
/// Additions of f32 that a multiprocessor begins in a cycle, by the tables of CUDA's programming guide.
unsigned lanesOf(int capability);

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CARD_H
