//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/Backend.h"
#include "../../../lib/Target/SPIRV/KernelConversion.h"
#include "zyx/Pipelines/Backends.h"
#include "zyx/Pipelines/InitAll.h"
#include "zyx/Target/CPU/CPU.h"
#include "zyx/Target/Text/C.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::target;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Backends : public testing::Test {
protected:
  Backends() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Why no machine of the record runs a kernel of these attributes and this body; empty where it does.
  std::string refusal(const char *target, const std::string &attributes, const std::string &body = "") {
    const std::string form = body.find("kernel.roles") == std::string::npos ? "lowered" : "machine";
    const std::string text = "kernel.func @k() attributes {form = #kernel.form<" + form + ">" +
                             (attributes.empty() ? "" : ", ") + attributes + "} {\n" + body + "  kernel.return\n}\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
    if (!module)
      return "the text does not parse";
    const TargetInfo info = *lookUpTarget(target);
    return (*pipelines::backends().find(info))->supports(*module->getOps<kernel::FuncOp>().begin(), info).message();
  }

  static std::string sharedBytes(int64_t bytes) {
    return "  %a = kernel.alloc : !kernel.view<" + std::to_string(bytes) + "xi8, shared>\n";
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

} // namespace

TEST_F(Backends, EveryRecordHasOne) {
  EXPECT_THAT(pipelines::backends().names(), ElementsAre("CPU", "Text/C", "NVVM", "ROCDL", "OpenCL", "SPIRV", "WGSL"));
  for (const std::string &name : targetNames()) {
    Result<const Backend *> backend = pipelines::backends().find(*lookUpTarget(name));
    ASSERT_TRUE(backend) << backend.status().toString();
    const std::string_view found = (*backend)->name();
    EXPECT_EQ(found, name == "c"                                 ? "Text/C"
                     : name == "cuda" || name.starts_with("sm_") ? "NVVM"
                     : name.starts_with("gfx")                   ? "ROCDL"
                     : name.starts_with("opencl")                ? "OpenCL"
                     : name.starts_with("vulkan")                ? "SPIRV"
                     : name.starts_with("webgpu")                ? "WGSL"
                                                                 : "CPU")
        << name;
  }
}

TEST_F(Backends, RegistriesHoldWhatIsAdded) {
  BackendRegistry none;
  EXPECT_EQ(none.find(*lookUpTarget("c")).status().message(), "no backend makes code for target 'c'; there are none");
  ASSERT_TRUE(registerCPUBackend(none).isOk());
  EXPECT_EQ(none.find(*lookUpTarget("c")).status().message(), "no backend makes code for target 'c'; there are CPU");
  EXPECT_EQ(registerCPUBackend(none).message(), "backend 'CPU' is registered twice");
  ASSERT_TRUE(registerCBackend(none).isOk());
  EXPECT_THAT(none.names(), ElementsAre("CPU", "Text/C"));
}

TEST_F(Backends, ReasonsNameKernelAndPlace) {
  EXPECT_EQ(
      refusal("cpu", "threads = 64 : i64"),
      "test.mlir:1:1: kernel 'k' asks for 64 threads in a cluster of 1; a processor runs a program by one thread");
  EXPECT_EQ(refusal("c", "threads = 64 : i64"),
            "test.mlir:1:1: kernel 'k' asks for 64 threads in a cluster of 1; C runs a program by one thread");
  for (const char *target : {"cpu", "c", "cuda", "sm_90a"})
    EXPECT_EQ(refusal(target, ""), "") << target;
}

TEST_F(Backends, MachineFormIsOfGPUs) {
  const char *roles =
      "  kernel.roles {\n    kernel.role \"r\" count 1 threads 32 {\n    ^bb0(%i: index):\n    }\n  }\n";
  EXPECT_THAT(refusal("cpu", "threads = 32 : i64", roles), HasSubstr("is in the machine form, which is of GPUs"));
  EXPECT_THAT(refusal("c", "threads = 32 : i64", roles), HasSubstr("is in the machine form, which is of GPUs"));
  EXPECT_THAT(refusal("gfx942", "threads = 32 : i64", roles),
              HasSubstr("is in the machine form, which is not lowered for AMD's GPUs"));
  EXPECT_THAT(refusal("vulkan", "threads = 32 : i64", roles),
              HasSubstr("is in the machine form, which is not lowered for Vulkan"));
  EXPECT_THAT(refusal("vulkan", "threads = 32 : i64, cluster = 2 : i64"),
              HasSubstr("needs 2 workgroups of a cluster; target 'vulkan' has 1"));
  EXPECT_THAT(refusal("vulkan", "threads = 512 : i64"),
              HasSubstr("needs 512 threads of a workgroup; target 'vulkan' has 256"));
  EXPECT_THAT(refusal("webgpu", "threads = 32 : i64", roles),
              HasSubstr("is in the machine form, which is not lowered for WGSL"));
  EXPECT_THAT(refusal("opencl", "threads = 32 : i64", roles),
              HasSubstr("is in the machine form, which is not lowered for OpenCL C"));
  EXPECT_THAT(refusal("opencl", "threads = 32 : i64, cluster = 2 : i64"),
              HasSubstr("needs 2 workgroups of a cluster; target 'opencl' has 1"));
  EXPECT_EQ(refusal("sm_90a", "threads = 32 : i64", roles), "");
}

TEST_F(Backends, CopiesNeedTensorMaps) {
  // Rows that are 67 elements apart begin at no multiple of 16 bytes.
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    kernel.func @k(%x: !kernel.buffer<bf16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
      %c0 = arith.constant 0 : index
      %v = kernel.view %x map <[<[64, 67] strides [67, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x67xbf16, global>
      %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>
      kernel.roles {
        kernel.role "r" count 1 threads 128 single {
        ^bb0(%i: index):
          kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<64x67xbf16, global>
        }
      }
      kernel.return
    })",
                                                        &context, "test.mlir");
  ASSERT_TRUE(module);
  std::string diagnostic;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &each) { diagnostic += each.str(); });
  const TargetInfo hopper = *lookUpTarget("sm_90a");
  EXPECT_EQ(
      (*pipelines::backends().find(hopper))->supports(*module->getOps<kernel::FuncOp>().begin(), hopper).message(),
      "test.mlir:2:5: kernel 'k' copies what no tensor map describes");
  EXPECT_THAT(diagnostic, HasSubstr("with a stride of 67 elements"));
}

TEST_F(Backends, SharedMemoryIsTheRecords) {
  EXPECT_THAT(refusal("c", "", sharedBytes(64)), HasSubstr("allocates shared memory, which C has not"));
  EXPECT_EQ(refusal("sm_90a", "threads = 128 : i64", sharedBytes(200 << 10)), "");
  EXPECT_THAT(refusal("sm_80", "threads = 128 : i64", sharedBytes(200 << 10)),
              HasSubstr("kernel 'k' needs 204800 bytes of shared memory; target 'sm_80' has 166912"));
}

TEST_F(Backends, WorkgroupsAndClustersAreTheRecords) {
  EXPECT_EQ(refusal("gfx942", "threads = 1024 : i64"), "");
  EXPECT_THAT(refusal("gfx942", "threads = 64 : i64", sharedBytes(65 << 10)),
              HasSubstr("kernel 'k' needs 66560 bytes of shared memory; target 'gfx942' has 65536"));
  EXPECT_EQ(refusal("sm_90a", "threads = 1024 : i64, cluster = 8 : i64"), "");
  EXPECT_THAT(refusal("sm_90a", "threads = 1025 : i64"),
              HasSubstr("needs 1025 threads of a workgroup; target 'sm_90a' has 1024"));
  EXPECT_THAT(refusal("sm_80", "threads = 128 : i64, cluster = 2 : i64"),
              HasSubstr("needs 2 workgroups of a cluster; target 'sm_80' has 1"));
}

TEST_F(Backends, KeepCodeOnlyWhereTheySay) {
  // C is one text: nothing of it can be kept by itself.
  const TargetInfo info = *lookUpTarget("c");
  Result<std::unique_ptr<Emitter>> emitter = (*pipelines::backends().find(info))->createEmitter(info, {}, 1);
  ASSERT_TRUE(emitter) << emitter.status().toString();
  EXPECT_EQ((*emitter)->keptFormat(), "");
  EXPECT_THAT((*emitter)->addKept({}).message(), HasSubstr("this emitter keeps no code of a module"));
}

TEST_F(Backends, ModulesOfSPIRVAreValid) {
  context.loadDialect<mlir::spirv::SPIRVDialect>();
  auto serialized = [&](const std::string &requires_) {
    const std::string text = "spirv.module Logical GLSL450" + requires_ + " {}";
    auto module = mlir::parseSourceString<mlir::spirv::ModuleOp>(text, &context, "test.mlir");
    return serializeModule(*module);
  };
  // A header, a capability and the memory model.
  EXPECT_GT(serialized(" requires #spirv.vce<v1.5, [Shader], []>")->size(), 5 * sizeof(uint32_t));
  // What a module needs is part of it.
  const auto invalid = serialized("");
  ASSERT_FALSE(invalid.isOk());
  EXPECT_THAT(invalid.status().message(), HasSubstr("the compiler made a module of SPIR-V that is not valid"));
}
