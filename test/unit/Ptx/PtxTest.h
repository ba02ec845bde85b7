//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels of a few lines of PTX, run by the interpreter.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_PTX_PTXTEST_H
#define ZYX_TEST_UNIT_PTX_PTXTEST_H

#include "../../fake-cuda/ptx/Machine.h"

#include <gmock/gmock.h>

#include <bit>
#include <numeric>

namespace zyx::test {

/// Registers, and %rd1 and %rd2 as what the kernel reads and writes; %r1 is the thread, %rd3 and %rd4 its words of
/// both.
inline std::string kernel(const std::string &body, const std::string &before = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 dynamic[];\n" +
         before +
         ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.reg .b64 %fd<9>;\n.reg .b32 "
         "%f<40>;\n"
         "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd3, %rd1, %rd5;\nadd.s64 %rd4, %rd2, %rd5;\n" +
         body + "\nret;\n}\n";
}

struct Run {
  unsigned threads = 32, groups = 1;
  uint64_t sharedBytes = 0, seed = 0;
};

/// What the kernel writes, of words.
template <typename In, typename Out>
std::vector<Out> run(const std::string &text, std::vector<In> in, size_t count, Run how = {}) {
  const std::unique_ptr<ptx::Module> module = ptx::load(text);
  std::vector<Out> out(count);
  ptx::Launch launch;
  launch.module = module.get();
  launch.program = &module->programs.front();
  launch.threads[0] = how.threads;
  launch.groups[0] = how.groups;
  launch.dynamicSharedBytes = how.sharedBytes;
  launch.options.seed = how.seed;
  launch.options.limit = 1 << 20;
  const uint64_t places[] = {reinterpret_cast<uint64_t>(in.data()), reinterpret_cast<uint64_t>(out.data())};
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data(), places, 16);
  launch.memory = {{places[0], places[0] + in.size() * sizeof(In)}, {places[1], places[1] + count * sizeof(Out)}};
  ptx::run(launch);
  return out;
}

/// The words that one lane gets of an instruction or a few: in %r2, %r3 and %r4, and the result in %r9.
inline uint32_t compute(const std::string &body, std::vector<uint32_t> in) {
  in.resize(4);
  return run<uint32_t, uint32_t>(
      kernel("ld.global.b32 %r2, [%rd1];\nld.global.b32 %r3, [%rd1+4];\nld.global.b32 %r4, [%rd1+8];\n" + body +
             "\nst.global.b32 [%rd4], %r9;"),
      in, 32)[7];
}
inline uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

/// What is said of a kernel that fails.
inline std::string faultOf(const std::string &text, Run how = {}) {
  try {
    run<uint32_t, uint32_t>(text, std::vector<uint32_t>(1024), 1024, how);
  } catch (const ptx::Fault &fault) {
    return fault.what();
  }
  return "";
}

} // namespace zyx::test

#endif // ZYX_TEST_UNIT_PTX_PTXTEST_H
