//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs kernels of tiles on this machine, under many schedules and vector widths, and compares their
// buffers with the interpreter's. Behind every buffer lies memory that may not be touched.
//===----------------------------------------------------------------------===//
#include "TileInterpreter.h"

#include "../Target/SharedObject.h"

#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/CPU/CPU.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/AsmParser/AsmParser.h"
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

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Memory that ends where a page begins that cannot be read.
class Guarded {
public:
  explicit Guarded(const std::vector<std::byte> &bytes) : size(bytes.size()) {
    mapped = (size + page - 1) / page * page + page;
    base = static_cast<std::byte *>(mmap(nullptr, mapped + page, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + mapped, page, PROT_NONE);
    std::memcpy(data(), bytes.data(), size);
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
    if (schedule == "choose")
      first.addPass(zyx::schedule::createChooseSchedulePass());
    else if (!schedule.empty())
      func->setAttr("schedule", parseAttribute("#kernel.schedule<[" + schedule + "]>", &context));
    first.addPass(createApplySchedulePass());
    first.enableVerifier(false);
    if (failed(first.run(*module)))
      return false;
    if (failed(verify(*module))) {
      ADD_FAILURE() << "the schedule makes what does not verify: " << refusal;
      return false;
    }
    PassManager second(&context);
    second.addPass(createStageReusedPass());
    LowerTilesPassOptions options;
    options.vectorBytes = vectorBytes;
    second.addPass(createLowerTilesPass(options));
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
    form.form = "lowered";
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
  Writer &view(const std::string &name, std::vector<int64_t> shape, const std::string &element,
               std::string map = "") {
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
             (axes.empty() ? "" : " axes [" + axes + "]") + bounds[name] + " : " + types[name] + " -> " +
             tiles[name] + "\n";
    return *this;
  }
  Writer &in(const std::string &name, std::vector<int64_t> shape, const std::string &element,
             const std::string &axes, const std::string &map = "") {
    return view(name, std::move(shape), element, map).load(name, axes);
  }
  Writer &op(const std::string &line) {
    lines += "  " + line + "\n";
    return *this;
  }
  Writer &out(const std::string &tile, const std::string &name, std::vector<int64_t> shape,
              const std::string &element, const std::string &map = "") {
    view(name, std::move(shape), element, map);
    return store(tile, name);
  }
  Writer &store(const std::string &tile, const std::string &name) {
    lines += "  kernel.store %" + tile + ", %" + name + ".v[" + zeros[name] + "]" + bounds[name] + " : " +
             tiles[name] + ", " + types[name] + "\n";
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

} // namespace

TEST_F(LowerTiles, Elementwise) {
  for (const char *type : {"f32", "f64", "f16", "bf16"})
    for (std::vector<int64_t> shape : {std::vector<int64_t>{37}, {5, 19}, {1, 7}, {3, 1, 33}, {2, 3, 5}}) {
      std::string axes = shape.size() == 1 ? "\"i\"" : shape.size() == 2 ? "\"i\", \"j\"" : "\"i\", \"j\", \"l\"";
      std::string tile = "tensor<";
      for (int64_t extent : shape)
        tile += std::to_string(extent) + "x";
      tile += std::string(type) + ">";
      check(Writer()
                .in("x", shape, type, axes)
                .in("y", shape, type, axes)
                .op("%s = arith.addf %x, %y : " + tile)
                .op("%t = arith.mulf %s, %x : " + tile)
                .out("t", "z", shape, type),
            4);
    }
}

TEST_F(LowerTiles, RankZero) {
  check(Writer().in("x", {}, "f32", "").op("%s = arith.addf %x, %x : tensor<f32>").out("s", "y", {}, "f32"));
}

TEST_F(LowerTiles, ExtentZero) {
  check(Writer().in("x", {0}, "f32", "\"i\"").op("%s = arith.addf %x, %x : tensor<0xf32>").out("s", "y", {0}, "f32"));
  check(Writer()
            .in("x", {3, 0}, "f32", "\"i\", \"j\"")
            .op("%s = kernel.reduce add %x dims [1] : tensor<3x0xf32> -> tensor<3xf32>")
            .out("s", "y", {3}, "f32"));
  check(Writer()
            .in("x", {0, 3}, "f32", "\"i\", \"j\"")
            .op("%s = kernel.reduce max %x dims [0] : tensor<0x3xf32> -> tensor<3xf32>")
            .out("s", "y", {3}, "f32"));
  for (auto [m, n, k] : {std::tuple{3, 4, 0}, {0, 4, 3}, {3, 0, 4}})
    check(Writer()
              .in("x", {m, k}, "f32", "\"m\", \"k\"")
              .in("y", {k, n}, "f32", "\"k\", \"n\"")
              .op("%z = arith.constant dense<0.0> : tensor<" + std::to_string(m) + "x" + std::to_string(n) + "xf32>")
              .op("%d = kernel.dot %x, %y, %z : tensor<" + std::to_string(m) + "x" + std::to_string(k) +
                  "xf32>, tensor<" + std::to_string(k) + "x" + std::to_string(n) + "xf32> -> tensor<" +
                  std::to_string(m) + "x" + std::to_string(n) + "xf32>")
              .out("d", "o", {m, n}, "f32"));
}

TEST_F(LowerTiles, Integers) {
  for (const char *type : {"i8", "i16", "i32", "i64"}) {
    std::string t = "tensor<3x21x" + std::string(type) + ">";
    check(Writer()
              .in("x", {3, 21}, type, "\"i\", \"j\"")
              .op("%c = arith.constant dense<2> : " + t)
              .op("%p = arith.muli %x, %c : " + t)
              .op("%s = kernel.reduce add %p dims [1] : " + t + " -> tensor<3x" + type + ">")
              .op("%m = kernel.reduce umax %x dims [0] : " + t + " -> tensor<21x" + type + ">")
              .out("s", "y", {3}, type)
              .out("m", "z", {21}, type),
          6);
  }
}

// Lanes that do not exist must not divide by what they hold: here lane 25 holds zero.
TEST_F(LowerTiles, DivisionUnderAMask) {
  for (const char *op : {"arith.divsi", "arith.remsi"})
    check(Writer()
              .in("x", {21}, "i32", "\"i\"")
              .op("%t = kernel.iota dim 0 axes [\"i\"] : tensor<21xi32>")
              .op("%c = arith.constant dense<25> : tensor<21xi32>")
              .op("%d = arith.subi %c, %t : tensor<21xi32>")
              .op("%q = " + std::string(op) + " %x, %d : tensor<21xi32>")
              .out("q", "z", {21}, "i32"));
}

TEST_F(LowerTiles, MixedWidths) {
  check(Writer()
            .in("x", {5, 23}, "i8", "\"i\", \"j\"")
            .in("y", {5, 23}, "f64", "\"i\", \"j\"")
            .in("b", {5, 23}, "i1", "\"i\", \"j\"")
            .op("%w = arith.sitofp %x : tensor<5x23xi8> to tensor<5x23xf64>")
            .op("%s = arith.addf %w, %y : tensor<5x23xf64>")
            .op("%t = arith.select %b, %s, %y : tensor<5x23xi1>, tensor<5x23xf64>")
            .op("%u = arith.truncf %t : tensor<5x23xf64> to tensor<5x23xf16>")
            .op("%c = arith.cmpf olt, %t, %y : tensor<5x23xf64>")
            .out("u", "z", {5, 23}, "f16")
            .out("c", "d", {5, 23}, "i1"));
  check(Writer()
            .in("b", {3, 70}, "i1", "\"i\", \"j\"")
            .op("%r = kernel.reduce or %b dims [1] : tensor<3x70xi1> -> tensor<3xi1>")
            .op("%a = kernel.reduce and %b dims [0] : tensor<3x70xi1> -> tensor<70xi1>")
            .out("r", "y", {3}, "i1")
            .out("a", "z", {70}, "i1"));
}

TEST_F(LowerTiles, Strides) {
  // Transposed, repeated, and backwards.
  check(Writer()
            .in("x", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [1, 7]>")
            .in("y", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [0, 1]>")
            .in("z", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [1, 0]>")
            .in("w", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [18, -1] offset 17>")
            .op("%a = arith.addf %x, %y : tensor<7x18xf32>")
            .op("%b = arith.mulf %z, %w : tensor<7x18xf32>")
            .op("%c = arith.addf %a, %b : tensor<7x18xf32>")
            .out("c", "o", {7, 18}, "f32")
            .out("a", "p", {7, 18}, "f32", "<[7, 18] strides [1, 7]>"),
        30);
  check(Writer()
            .in("x", {7, 18}, "f32", "\"i\", \"j\"")
            .op("%t = kernel.transpose %x order [1, 0] : tensor<7x18xf32> -> tensor<18x7xf32>")
            .out("t", "o", {18, 7}, "f32"));
}

TEST_F(LowerTiles, ValidIntervalsAndBlocks) {
  check(Writer()
            .in("x", {9, 20}, "f32", "\"i\", \"j\"", "<[9, 20] strides [16, 1] offset -18 valid [1 : 8, 2 : 18]>")
            .op("%t = arith.addf %x, %x : tensor<9x20xf32>")
            .op("%s = kernel.reduce add %x dims [1] : tensor<9x20xf32> -> tensor<9xf32>")
            .out("t", "o", {9, 20}, "f32")
            .out("s", "p", {9}, "f32"),
        20);
  check(Writer()
            .in("x", {21}, "f32", "\"i\"", "<[21] strides [1]>, <[3, 7] strides [1, 3]>")
            .in("y", {21}, "f32", "\"i\"", "<[21] strides [1]>, <[3, 7] strides [5, 1] offset -1 valid [0 : 3, 1 : 6]>")
            .op("%t = arith.addf %x, %y : tensor<21xf32>")
            .out("t", "o", {21}, "f32"));
}

// What does not exist is `other`, not zero.
TEST_F(LowerTiles, Other) {
  check(Writer()
            .op("%five = arith.constant 5.0 : f32")
            .view("x", {20}, "f32", "<[20] strides [1] offset -2 valid [2 : 18]>")
            .load("x", "\"i\"", "other %five : f32")
            .op("%t = arith.addf %x, %x : tensor<20xf32>")
            .out("t", "o", {20}, "f32"));
}

TEST_F(LowerTiles, Reductions) {
  for (const char *kind : {"add", "max", "min"})
    for (const char *dims : {"[0]", "[1]", "[2]", "[0, 1]", "[0, 2]", "[1, 2]", "[0, 1, 2]"}) {
      std::vector<int64_t> shape = {3, 5, 37}, kept;
      std::string result = "tensor<";
      for (int64_t i = 0; i < 3; ++i)
        if (std::string(dims).find(std::to_string(i)) == std::string::npos) {
          kept.push_back(shape[i]);
          result += std::to_string(shape[i]) + "x";
        }
      check(Writer()
                .in("x", shape, "f32", "\"i\", \"j\", \"l\"")
                .op("%s = kernel.reduce " + std::string(kind) + " %x dims " + dims + " : tensor<3x5x37xf32> -> " +
                    result + "f32>")
                .out("s", "y", kept, "f32"),
            6);
    }
  // f8E4M3FN has no infinity to begin with.
  check(Writer()
            .in("x", {3, 21}, "f8E4M3FN", "\"i\", \"j\"")
            .op("%s = kernel.reduce max %x dims [1] : tensor<3x21xf8E4M3FN> -> tensor<3xf8E4M3FN>")
            .out("s", "y", {3}, "f8E4M3FN"),
        4);
  // Columns, with a rest.
  check(Writer()
            .in("x", {29, 133}, "f32", "\"i\", \"j\"")
            .op("%s = kernel.reduce add %x dims [0] : tensor<29x133xf32> -> tensor<133xf32>")
            .out("s", "y", {133}, "f32"));
}

TEST_F(LowerTiles, RowNormalised) {
  check(Writer()
            .in("x", {6, 45}, "f32", "\"i\", \"j\"")
            .op("%m = kernel.reduce max %x dims [1] : tensor<6x45xf32> -> tensor<6xf32>")
            .op("%mb = kernel.broadcast %m dims [0] : tensor<6xf32> -> tensor<6x45xf32>")
            .op("%d = arith.subf %x, %mb : tensor<6x45xf32>")
            .op("%e = math.exp %d : tensor<6x45xf32>")
            .op("%s = kernel.reduce add %e dims [1] : tensor<6x45xf32> -> tensor<6xf32>")
            .op("%sb = kernel.broadcast %s dims [0] : tensor<6xf32> -> tensor<6x45xf32>")
            .op("%q = arith.divf %e, %sb : tensor<6x45xf32>")
            .out("q", "y", {6, 45}, "f32"),
        40);
}

TEST_F(LowerTiles, Scans) {
  for (const char *dim : {"0", "1"})
    for (const char *exclusive : {"", " exclusive"})
      check(Writer()
                .in("x", {7, 21}, "f32", "\"i\", \"j\"")
                .op("%t = arith.addf %x, %x : tensor<7x21xf32>")
                .op("%s = kernel.scan add %t dim " + std::string(dim) + exclusive + " : tensor<7x21xf32>")
                .op("%u = arith.addf %s, %t : tensor<7x21xf32>")
                .out("u", "y", {7, 21}, "f32"),
            8);
}

/// A product with everything in front of and behind it.
static std::string product(int64_t m, int64_t n, int64_t k, const std::string &factor, const std::string &sum,
                           bool epilogue, const std::string &rightMap = "", const std::string &leftMap = "") {
  auto t = [](int64_t a, int64_t b, const std::string &type) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" + type + ">";
  };
  bool isFloat = sum[0] != 'i';
  std::string add = isFloat ? "arith.addf" : "arith.addi";
  Writer w;
  w.in("x", {m, k}, factor, "\"m\", \"k\"", leftMap).in("y", {k, n}, factor, "\"k\", \"n\"", rightMap);
  w.op("%z = arith.constant dense<" + std::string(isFloat ? "0.0" : "0") + "> : " + t(m, n, sum));
  w.op("%d = kernel.dot %x, %y, %z : " + t(m, k, factor) + ", " + t(k, n, factor) + " -> " + t(m, n, sum));
  if (!epilogue)
    return w.out("d", "o", {m, n}, sum);
  w.in("r", {n}, sum, "\"n\"").in("c", {m}, sum, "\"m\"");
  w.op("%rb = kernel.broadcast %r dims [1] : tensor<" + std::to_string(n) + "x" + sum + "> -> " + t(m, n, sum));
  w.op("%cb = kernel.broadcast %c dims [0] : tensor<" + std::to_string(m) + "x" + sum + "> -> " + t(m, n, sum));
  w.op("%e = " + add + " %d, %rb : " + t(m, n, sum));
  w.op("%f = " + add + " %e, %cb : " + t(m, n, sum));
  return w.out("f", "o", {m, n}, sum).out("d", "p", {m, n}, sum);
}

TEST_F(LowerTiles, Dots) {
  for (auto [m, n, k] : {std::tuple{1, 1, 1}, {1, 33, 5}, {7, 1, 9}, {8, 32, 1}, {5, 17, 6}, {13, 50, 11}, {33, 70, 3}})
    for (bool epilogue : {false, true})
      check(product(m, n, k, "f32", "f32", epilogue), 12);
  check(product(9, 40, 6, "bf16", "f32", true));
  check(product(9, 40, 6, "f16", "f32", true));
  check(product(9, 40, 6, "i8", "i32", true));
  check(product(9, 40, 6, "f64", "f64", true));
}

TEST_F(LowerTiles, DotOfATransposedFactor) {
  for (auto [m, n, k] : {std::tuple{5, 33, 6}, {9, 65, 4}, {40, 49, 7}})
    check(product(m, n, k, "f32", "f32", true,
                  "<[" + std::to_string(k) + ", " + std::to_string(n) + "] strides [1, " + std::to_string(k) + "]>"),
          24);
}

/// Factors that are packed through squares of vectors, with rests of every kind.
TEST_F(LowerTiles, DotOfTwoTransposedFactors) {
  auto transposed = [](int64_t rows, int64_t columns) {
    return "<[" + std::to_string(rows) + ", " + std::to_string(columns) + "] strides [1, " + std::to_string(rows) + "]>";
  };
  for (auto [m, n, k] : {std::tuple{37, 33, 21}, {16, 16, 16}, {19, 70, 35}})
    check(product(m, n, k, "f32", "f32", true, transposed(k, n), transposed(m, k)), 24);
  check(product(21, 35, 19, "bf16", "f32", true, transposed(19, 35), transposed(21, 19)), 24);
  check(product(21, 35, 19, "f64", "f64", true, transposed(19, 35), transposed(21, 19)), 24);
}

/// Blocks in a grid that none of the sizes divide, in pieces of the contraction, packed or not.
TEST_F(LowerTiles, DotInBlocks) {
  const char *packs[] = {"", ", pack lhs", ", pack rhs", ", pack lhs rhs"};
  for (auto [m, n, k] : {std::tuple{29, 75, 23}, {12, 32, 8}, {1, 40, 9}, {40, 1, 9}})
    for (const char *pack : packs)
      for (const char *grid : {"", "#kernel.grid_step<\"m\", 10>, #kernel.grid_step<\"n\", 40>, "})
        for (const char *blocks : {"<4 x 32, rows 8, depth 8", "<5 x 20, rows 10, depth 23", "<12 x 16, rows 12, depth 5"})
          for (int64_t vectorBytes : {64, 32, 0}) {
            std::string text = product(m, n, k, "f32", "f32", true);
            std::string schedule = std::string(grid) + "#kernel.block_step<" + blocks + pack + ">>";
            SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
            bool ran = runs(text, schedule, vectorBytes);
            EXPECT_TRUE(ran) << refusal;
            if (HasFailure())
              return;
          }
}

/// The sum is carried by a loop, and another for the rest, as a tile in memory.
TEST_F(LowerTiles, DotInALoopOverTheContraction) {
  for (auto [m, n, k] : {std::tuple{5, 33, 18}, {1, 1, 7}, {9, 40, 16}})
    for (const char *grid : {"", "#kernel.grid_step<\"m\", 4>, #kernel.grid_step<\"n\", 24>, "})
      for (int64_t vectorBytes : {64, 32, 0}) {
        std::string text = product(m, n, k, "f32", "f32", true);
        std::string schedule = std::string(grid) + "#kernel.loop_step<\"k\", 4>";
        SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
        bool ran = runs(text, schedule, vectorBytes);
        EXPECT_TRUE(ran) << refusal;
        if (HasFailure())
          return;
      }
}

/// Vectors along the contraction, with and without a rest, of factors in either direction.
TEST_F(LowerTiles, DotAlongDepth) {
  for (auto [m, n, k] : {std::tuple{3, 14, 35}, {1, 9, 64}, {8, 6, 7}, {5, 1, 40}})
    for (const char *map : {"", "along"})
      for (const char *blocks : {"<2 x 6 along depth, rows 2, depth 64", "<4 x 3 along depth, rows 4, depth 20"})
        for (int64_t vectorBytes : {64, 32, 0}) {
          std::string right = "<[" + std::to_string(k) + ", " + std::to_string(n) + "] strides [1, " +
                              std::to_string(k) + "]>";
          std::string text = product(m, n, k, "f32", "f32", true, *map ? right : "");
          std::string schedule = std::string("#kernel.block_step<") + blocks + ">>";
          SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
          bool ran = runs(text, schedule, vectorBytes);
          EXPECT_TRUE(ran) << refusal;
          if (HasFailure())
            return;
        }
}

TEST_F(LowerTiles, DotInBatches) {
  check(Writer()
            .in("x", {3, 5, 6}, "f32", "\"b\", \"m\", \"k\"")
            .in("y", {3, 6, 19}, "f32", "\"b\", \"k\", \"n\"")
            .op("%z = arith.constant dense<1.0> : tensor<3x5x19xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<3x5x6xf32>, tensor<3x6x19xf32> -> tensor<3x5x19xf32>")
            .op("%r = arith.addf %d, %d : tensor<3x5x19xf32>")
            .out("r", "o", {3, 5, 19}, "f32"),
        24);
}

TEST_F(LowerTiles, DotThenReduce) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 19}, "f32", "\"k\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x19xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x19xf32> -> tensor<4x19xf32>")
            .op("%r = kernel.reduce add %d dims [1] : tensor<4x19xf32> -> tensor<4xf32>")
            .op("%c = kernel.reduce max %d dims [0] : tensor<4x19xf32> -> tensor<19xf32>")
            .out("r", "o", {4}, "f32")
            .out("c", "p", {19}, "f32"),
        24);
}

TEST_F(LowerTiles, DotThenScan) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 19}, "f32", "\"k\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x19xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x19xf32> -> tensor<4x19xf32>")
            .op("%s = kernel.scan add %d dim 1 : tensor<4x19xf32>")
            .out("s", "o", {4, 19}, "f32"),
        24);
}

TEST_F(LowerTiles, DotOfADot) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 9}, "f32", "\"k\", \"n\"")
            .in("w", {9, 18}, "f32", "\"n\", \"p\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x9xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x9xf32> -> tensor<4x9xf32>")
            .op("%r = arith.maximumf %d, %z : tensor<4x9xf32>")
            .op("%z2 = arith.constant dense<0.0> : tensor<4x18xf32>")
            .op("%e = kernel.dot %r, %w, %z2 : tensor<4x9xf32>, tensor<9x18xf32> -> tensor<4x18xf32>")
            .out("e", "o", {4, 18}, "f32"),
        24);
}

TEST_F(LowerTiles, TwoDots) {
  // Of different vectors: f32 and f64.
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 19}, "f32", "\"k\", \"n\"")
            .in("v", {4, 6}, "f64", "\"m\", \"l\"")
            .in("w", {6, 19}, "f64", "\"l\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x19xf32>")
            .op("%z2 = arith.constant dense<0.0> : tensor<4x19xf64>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x19xf32> -> tensor<4x19xf32>")
            .op("%e = kernel.dot %v, %w, %z2 : tensor<4x6xf64>, tensor<6x19xf64> -> tensor<4x19xf64>")
            .op("%f = arith.extf %d : tensor<4x19xf32> to tensor<4x19xf64>")
            .op("%s = arith.addf %e, %f : tensor<4x19xf64>")
            .out("s", "o", {4, 19}, "f64"),
        24);
  // One transposed.
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 5}, "f32", "\"k\", \"n\"")
            .in("v", {5, 6}, "f32", "\"n\", \"l\"")
            .in("w", {6, 4}, "f32", "\"l\", \"m\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x5xf32>")
            .op("%z2 = arith.constant dense<0.0> : tensor<5x4xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>")
            .op("%e = kernel.dot %v, %w, %z2 : tensor<5x6xf32>, tensor<6x4xf32> -> tensor<5x4xf32>")
            .op("%t = kernel.transpose %e order [1, 0] : tensor<5x4xf32> -> tensor<4x5xf32>")
            .op("%s = arith.addf %d, %t : tensor<4x5xf32>")
            .out("s", "o", {4, 5}, "f32"),
        24);
}

TEST_F(LowerTiles, DotRepeatedAlongAnotherAxis) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 5}, "f32", "\"k\", \"n\"")
            .in("b", {40, 4, 5}, "f32", "\"b\", \"m\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x5xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>")
            .op("%r = kernel.broadcast %d dims [1, 2] : tensor<4x5xf32> -> tensor<40x4x5xf32>")
            .op("%s = arith.addf %b, %r : tensor<40x4x5xf32>")
            .out("s", "o", {40, 4, 5}, "f32"),
        24);
}

TEST_F(LowerTiles, Gathers) {
  for (const char *index : {"i8", "i32", "i64"})
    check(Writer()
              .view("x", {3, 11}, "f32")
              .in("i", {4, 21}, index, "\"i\", \"j\"")
              .in("j", {21}, index, "\"j\"")
              .op("%jb = kernel.broadcast %j dims [1] : tensor<21x" + std::string(index) + "> -> tensor<4x21x" + index +
                  ">")
              .op("%g = kernel.gather %x.v[%i, %jb] : !kernel.view<3x11xf32, global>, tensor<4x21x" +
                  std::string(index) + ">, tensor<4x21x" + index + "> -> tensor<4x21xf32>")
              .op("%s = arith.addf %g, %g : tensor<4x21xf32>")
              .out("s", "o", {4, 21}, "f32"));
}

TEST_F(LowerTiles, Iotas) {
  for (const char *type : {"i8", "i32", "i64"})
    check(Writer()
              .op("%c100 = arith.constant 100 : index")
              .op("%t = kernel.iota dim 1 base %c100 axes [\"i\", \"j\"] : tensor<5x61x" + std::string(type) + ">")
              .op("%u = kernel.iota dim 0 axes [\"i\", \"j\"] : tensor<5x61x" + std::string(type) + ">")
              .op("%s = arith.addi %t, %u : tensor<5x61x" + std::string(type) + ">")
              .out("s", "o", {5, 61}, type),
          20);
}

TEST_F(LowerTiles, OutputsOverDifferentAxes) {
  check(Writer()
            .in("x", {6, 20}, "f32", "\"i\", \"j\"")
            .in("b", {20}, "f32", "\"j\"")
            .op("%bb = kernel.broadcast %b dims [1] : tensor<20xf32> -> tensor<6x20xf32>")
            .op("%s = arith.addf %x, %bb : tensor<6x20xf32>")
            .op("%t = arith.mulf %b, %b : tensor<20xf32>")
            .op("%r = kernel.reduce add %s dims [1] : tensor<6x20xf32> -> tensor<6xf32>")
            .out("s", "o", {6, 20}, "f32")
            .out("t", "p", {20}, "f32")
            .out("r", "q", {6}, "f32"),
        40);
}

// The bias stays before the loop over rows when columns are split after it.
TEST_F(LowerTiles, LoopsOverTwoAxes) {
  check(Writer()
            .in("x", {6, 20}, "f32", "\"i\", \"j\"")
            .in("b", {20}, "f32", "\"j\"")
            .in("c", {20}, "f32", "\"j\"")
            .op("%d = arith.addf %b, %c : tensor<20xf32>")
            .op("%bb = kernel.broadcast %d dims [1] : tensor<20xf32> -> tensor<6x20xf32>")
            .op("%s = arith.addf %x, %bb : tensor<6x20xf32>")
            .out("s", "o", {6, 20}, "f32"),
        60);
}

TEST_F(LowerTiles, UnitDimensionsComeAndGo) {
  check(Writer()
            .in("x", {6, 1, 20}, "f32", "\"i\", \"u\", \"j\"")
            .op("%r = kernel.reshape %x : tensor<6x1x20xf32> -> tensor<1x6x20x1xf32>")
            .op("%s = arith.addf %r, %r : tensor<1x6x20x1xf32>")
            .out("s", "o", {1, 6, 20, 1}, "f32"),
        20);
}
