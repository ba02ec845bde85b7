//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs kernels of tiles on this machine, under many schedules and vector widths, and compares their
// buffers with the interpreter's. Behind every buffer lies memory that may not be touched.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_CODEGENLOOPS_LOWERTILES_H
#define ZYX_TEST_UNIT_CODEGENLOOPS_LOWERTILES_H

#include "TileInterpreter.h"

#include "../Target/SharedObject.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Tile/Passes.h"
#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/CPU/CPU.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <sys/mman.h>

namespace zyx::kernel {

using namespace mlir;

/// Memory that ends where a page begins that cannot be read.
class Guarded {
public:
  explicit Guarded(const std::vector<std::byte> &bytes) : size(bytes.size()) {
    mapped = (size + page - 1) / page * page + page;
    base = static_cast<std::byte *>(
        mmap(nullptr, mapped + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + mapped, page, PROT_NONE);
    std::copy(bytes.begin(), bytes.end(), data());
  }
  Guarded(const Guarded &) = delete;
  ~Guarded() { munmap(base, mapped + page); }
  std::byte *data() { return base + mapped - size; }

private:
  static constexpr size_t page = 4096;
  size_t size, mapped;
  std::byte *base;
};

class LowerTiles : public testing::Test {
protected:
  LowerTiles() {
    context.loadDialect<KernelDialect, arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                        math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  /// Compiles and runs one variant, and compares. False where the schedule or lowering refuses.
  bool runs(const std::string &text, const std::string &schedule, int64_t vectorBytes) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      refusal = diagnostic.str();
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "does not parse: " << refusal;
      return false;
    }
    auto func = *module->getOps<FuncOp>().begin();
    std::vector<TestBuffer> wanted = makeBuffers(func, 1), given = wanted;
    if (failed(interpret(func, wanted))) {
      ADD_FAILURE() << refusal;
      return false;
    }
    PassManager first(&context);
    module.get()->setAttr(targetAttrName, TargetAttr::get(&context, "cpu"));
    if (schedule == "choose")
      first.addPass(zyx::schedule::createChooseSchedulePass());
    else if (!schedule.empty())
      func->setAttr("schedule", parseAttribute("#kernel.schedule<[" + schedule + "]>", &context));
    first.addPass(createApplySchedulePass());
    first.addPass(createCanonicalizerPass());
    first.addPass(createCSEPass());
    first.enableVerifier(false);
    if (failed(first.run(*module)))
      return false;
    if (failed(verify(*module))) {
      ADD_FAILURE() << "the schedule makes what does not verify: " << refusal;
      return false;
    }
    // Every processor lowers further what this one's vectors were chosen for.
    Builder builder(&context);
    const NamedAttribute facts[] = {builder.getNamedAttr("vector.bytes", builder.getI64IntegerAttr(vectorBytes))};
    module.get()->setAttr(targetAttrName, TargetAttr::get(&context, "aarch64", builder.getDictionaryAttr(facts)));
    PassManager second(&context);
    second.addPass(createStageReusedPass());
    second.addPass(createSettleMemoryPass());
    second.addPass(createLowerTilesPass());
    second.enableVerifier(false);
    if (failed(second.run(*module)))
      return false;
    if (failed(verify(*module))) {
      ADD_FAILURE() << "the lowering makes what does not verify: " << refusal;
      return false;
    }
    PassManager third(&context);
    third.addPass(createExpandMathPass());
    third.addPass(createCanonicalizerPass());
    third.addPass(createCSEPass());
    VerifyFormPassOptions form;
    form.form = {"lowered"};
    form.expanded = true;
    third.addPass(createVerifyFormPass(form));
    EXPECT_TRUE(succeeded(third.run(*module))) << refusal;
    func = *module->getOps<FuncOp>().begin();
    int64_t programs = 1;
    func.walk([&](GridOp grid) {
      for (auto [extent, step] : llvm::zip_equal(grid.getStaticExtents(), grid.getSteps()))
        programs *= llvm::divideCeil(extent, step);
    });
    PassManager fourth(&context);
    fourth.addPass(createConvertKernelToLLVMPass());
    if (failed(fourth.run(*module))) {
      ADD_FAILURE() << "does not convert: " << refusal;
      return false;
    }
    auto bytes = zyx::target::emitSharedObject(*module, *zyx::target::lookUpTarget("cpu"));
    if (!bytes) {
      ADD_FAILURE() << bytes.status().toString();
      return false;
    }
    SharedObject object(*bytes);
    struct Args {
      void *const *buffers;
      const int64_t *scalars;
    };
    auto *function = object.find<void (*)(const Args *, int64_t, int64_t)>("k");
    if (!function) {
      ADD_FAILURE() << object.error();
      return false;
    }
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<void *> pointers;
    for (const TestBuffer &buffer : given) {
      memory.push_back(std::make_unique<Guarded>(encode(buffer)));
      pointers.push_back(memory.back()->data());
    }
    Args args{pointers.data(), nullptr};
    function(&args, 0, programs);
    compare(wanted, memory);
    return true;
  }

  void compare(const std::vector<TestBuffer> &wanted, const std::vector<std::unique_ptr<Guarded>> &memory) {
    for (auto [b, buffer] : llvm::enumerate(wanted)) {
      std::vector<double> got = decode(buffer.element, memory[b]->data(), buffer.elements.size());
      unsigned bits = buffer.element.getIntOrFloatBitWidth();
      double relative = !isa<FloatType>(buffer.element) ? 0 : bits <= 16 ? 0.02 : 1e-6;
      for (size_t i = 0; i != got.size(); ++i) {
        double want = buffer.elements[i];
        bool same = got[i] == want || (std::isnan(want) && std::isnan(got[i])) ||
                    std::abs(got[i] - want) <= relative * std::max(1.0, std::abs(want));
        if (!same) {
          ADD_FAILURE() << "buffer " << b << ", element " << i << ": " << got[i] << " instead of " << want;
          break;
        }
      }
    }
  }

  /// The names of axes that a kernel's loads and iotas use.
  static std::vector<std::string> axisNames(const std::string &text) {
    std::set<std::string> names;
    for (size_t at = text.find("axes ["); at != std::string::npos; at = text.find("axes [", at + 1)) {
      StringRef list = StringRef(text).substr(at + 6).take_until([](char c) { return c == ']'; });
      SmallVector<StringRef> parts;
      list.split(parts, '"');
      for (size_t i = 1; i < parts.size(); i += 2)
        names.insert(parts[i].str());
    }
    return {names.begin(), names.end()};
  }

  /// Checks a kernel `@k` without a schedule, with the chosen one, and under random sequences of steps,
  /// of which illegal ones may be refused.
  void check(const std::string &text, unsigned random = 12) {
    for (int64_t vectorBytes : {64, 32, 0}) {
      for (const char *schedule : {"", "choose"}) {
        SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
        bool ran = runs(text, schedule, vectorBytes);
        EXPECT_TRUE(ran) << refusal;
        if (HasFailure())
          return;
      }
    }
    std::vector<std::string> names = axisNames(text);
    if (names.empty())
      return;
    std::mt19937 engine(7);
    auto pick = [&](unsigned below) { return static_cast<unsigned>(engine() % below); };
    for (unsigned i = 0; i != random; ++i) {
      std::vector<std::string> steps;
      auto addSteps = [&](const char *kind, unsigned count) {
        while (count--)
          steps.push_back("#kernel." + std::string(kind) + "<\"" + names[pick(names.size())] + "\", " +
                          std::to_string(1 + pick(20)) + ">");
      };
      addSteps("grid_step", pick(3));
      if (text.find("kernel.dot") != std::string::npos) {
        for (unsigned s = pick(3); s; --s)
          steps.push_back("#kernel.stage_step<" + std::to_string(pick(2)) + ", private>");
        if (pick(2)) {
          unsigned rows = 1 + pick(7), alongDepth = pick(4) == 0;
          steps.push_back("#kernel.block_step<<" + std::to_string(rows) + " x " + std::to_string(1 + pick(40)) +
                          (alongDepth ? " along depth" : "") + ", rows " + std::to_string(rows * (1 + pick(3))) +
                          ", depth " + std::to_string(1 + pick(9)) +
                          std::array{"", ", pack lhs", ", pack rhs", ", pack lhs rhs"}[alongDepth ? 0 : pick(4)] +
                          ">>");
        }
      }
      addSteps("loop_step", pick(4));
      // Most of the other orders are refused.
      if (pick(8) == 0)
        std::shuffle(steps.begin(), steps.end(), engine);
      std::string schedule = llvm::join(steps, ", ");
      int64_t vectorBytes = std::array{64, 32, 0}[pick(3)];
      SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
      runs(text, schedule, vectorBytes);
      if (HasFailure())
        return;
    }
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string refusal;
};

/// Writes kernels: `%NAME` is a tile, `%NAME.v` a view, buffers are numbered as they come.
class Writer {
public:
  /// Declares a buffer and a row-major view, or one with the given map, of all of it.
  Writer &view(const std::string &name, std::vector<int64_t> shape, const std::string &element, std::string map = "") {
    if (map.empty()) {
      std::vector<int64_t> strides(shape.size(), 1);
      for (size_t i = shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * shape[i];
      map = "<[" + list(shape) + "] strides [" + list(strides) + "]>";
    }
    arguments += (arguments.empty() ? "%" : ", %") + name + ".b: !kernel.buffer<" + element + ", global>";
    return viewOf(name, name, shape, element, map);
  }
  /// Another view of a buffer.
  Writer &viewOf(const std::string &name, const std::string &buffer, std::vector<int64_t> shape,
                 const std::string &element, const std::string &map) {
    types[name] = "!kernel.view<" + times(shape) + element + ", global>";
    tiles[name] = "tensor<" + times(shape) + element + ">";
    zeros[name] = zero(shape.size());
    bounds[name] = flags(shape.size());
    lines += "  %" + name + ".v = kernel.view %" + buffer + ".b map <[" + map + "]> : !kernel.buffer<" + element +
             ", global> -> " + types[name] + "\n";
    return *this;
  }
  /// Loads the whole of a view.
  Writer &load(const std::string &name, const std::string &axes, const std::string &extra = "") {
    lines += "  %" + name + " = kernel.load %" + name + ".v[" + zeros[name] + "] " + extra +
             (axes.empty() ? "" : " axes [" + axes + "]") + bounds[name] + " : " + types[name] + " -> " + tiles[name] +
             "\n";
    return *this;
  }
  Writer &in(const std::string &name, std::vector<int64_t> shape, const std::string &element, const std::string &axes,
             const std::string &map = "") {
    return view(name, std::move(shape), element, map).load(name, axes);
  }
  Writer &op(const std::string &line) {
    lines += "  " + line + "\n";
    return *this;
  }
  Writer &out(const std::string &tile, const std::string &name, std::vector<int64_t> shape, const std::string &element,
              const std::string &map = "") {
    view(name, std::move(shape), element, map);
    return store(tile, name);
  }
  Writer &store(const std::string &tile, const std::string &name) {
    lines += "  kernel.store %" + tile + ", %" + name + ".v[" + zeros[name] + "]" + bounds[name] + " : " + tiles[name] +
             ", " + types[name] + "\n";
    return *this;
  }
  std::string text() const {
    return "kernel.func @k(" + arguments + ") {\n  %c0 = arith.constant 0 : index\n" + lines + "  kernel.return\n}\n";
  }
  operator std::string() const { return text(); }

private:
  static std::string list(const std::vector<int64_t> &numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += (text.empty() ? "" : ", ") + std::to_string(number);
    return text;
  }
  static std::string times(const std::vector<int64_t> &numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += std::to_string(number) + "x";
    return text;
  }
  static std::string repeat(const char *what, size_t rank) {
    std::string text;
    for (size_t i = 0; i != rank; ++i)
      text += (i ? ", " : "") + std::string(what);
    return text;
  }
  static std::string zero(size_t rank) { return repeat("%c0", rank); }
  static std::string flags(size_t rank) { return rank ? " in_bounds [" + repeat("true", rank) + "]" : ""; }

  std::string arguments, lines;
  std::map<std::string, std::string> types, tiles, zeros, bounds;
};

} // namespace zyx::kernel

#endif // ZYX_TEST_UNIT_CODEGENLOOPS_LOWERTILES_H
