//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A module of SPIR-V as words, and changes of it that a loader makes before the driver gets it.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKE_VULKAN_MODULE_H
#define ZYX_TEST_FAKE_VULKAN_MODULE_H

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace zyx::test {

using Words = std::vector<uint32_t>;

constexpr uint32_t opExtension = 10, opExtInstImport = 11, opExtInst = 12, opMemoryModel = 14, opExecutionMode = 16,
                   opCapability = 17, opTypeVoid = 19, opTypeBool = 20, opTypeInt = 21, opTypeFloat = 22,
                   opTypeVector = 23, opTypeRuntimeArray = 29, opTypeStruct = 30, opTypePointer = 32, opConstant = 43,
                   opFunction = 54, opVariable = 59, opLoad = 61, opStore = 62, opAccessChain = 65,
                   opInBoundsAccessChain = 66, opDecorate = 71, opMemberDecorate = 72, opConvertUToPtr = 120,
                   opBitcast = 124, opIAdd = 128, opFAdd = 129, opIMul = 132, opFMul = 133, opFDiv = 136,
                   opSelect = 169, opIEqual = 170, opBitwiseAnd = 199, opControlBarrier = 224, opLoopMerge = 246,
                   opExecutionModeId = 331;
constexpr uint32_t noContraction = 42, fma = 50, headerWords = 5, boundAt = 3;

/// What a module declares, and its next name.
struct Module {
  Words words;
  uint32_t set = 0, boolean = 0, integer = 0, real = 0;

  uint32_t fresh() { return words[boundAt]++; }
  template <typename F> void forEach(F &&visit) const {
    for (size_t at = headerWords; at < words.size(); at += words[at] >> 16)
      visit(words[at] & 0xffff, words.data() + at, words[at] >> 16);
  }
  void find() {
    forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
      if (op == opExtInstImport && std::strcmp(reinterpret_cast<const char *>(own + 2), "GLSL.std.450") == 0)
        set = own[1];
      if (op == opTypeBool)
        boolean = own[1];
      if (op == opTypeInt && own[2] == 32)
        integer = own[1];
      if (op == opTypeFloat && own[2] == 32)
        real = own[1];
    });
  }
};

inline void add(Words &into, uint32_t op, const Words &operands) {
  into.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  into.insert(into.end(), operands.begin(), operands.end());
}

/// What `rewrite` leaves alone, for which it returns false, stays.
template <typename F> void rewriteAll(Module &module, F &&rewrite) {
  Words made(module.words.begin(), module.words.begin() + headerWords);
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t length) {
    if (!rewrite(made, op, own))
      made.insert(made.end(), own, own + length);
  });
  made[boundAt] = module.words[boundAt];
  module.words = std::move(made);
}

/// Makes one change; false where there is none of that name.
bool change(Module &module, std::string_view name);

} // namespace zyx::test

#endif // ZYX_TEST_FAKE_VULKAN_MODULE_H
