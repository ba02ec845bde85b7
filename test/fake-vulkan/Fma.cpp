//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Named by ZYX_VULKAN_DRIVER, it is the system's loader, but for what modules have of fma before the driver gets them.
// With FMA=join a product and a sum that a driver may make one op are GLSL's Fma: so a card tells what its Fma does
// that products and sums do not. With FMA=flush each result of Fma that is a denormal is 0, as on NVIDIA's driver, and
// with FMA=join,flush so is what a module leaves open. The others are for times alone, whose results may be wrong: with
// FMA=no-denormals, no-infinities, no-rounding and no-modes modules ask not for this or for nothing, which tells what
// keeps a driver from making one op of two, and with FMA=no-quotients quotients are products.
//===----------------------------------------------------------------------===//
#include <vulkan/vulkan_core.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace {

using Words = std::vector<uint32_t>;

constexpr uint32_t opExtInstImport = 11, opExtInst = 12, opMemoryModel = 14, opTypeBool = 20, opTypeInt = 21,
                   opTypeFloat = 22, opConstant = 43, opFunction = 54, opDecorate = 71, opBitcast = 124, opFAdd = 129,
                   opFMul = 133, opSelect = 169, opIEqual = 170, opBitwiseAnd = 199, opExecutionMode = 16, opFDiv = 136;
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

void add(Words &into, uint32_t op, const Words &operands) {
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

void join(Module &module) {
  std::set<uint32_t> whole;
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> products;
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
    if (op == opDecorate && own[2] == noContraction)
      whole.insert(own[1]);
    if (op == opFMul)
      products[own[2]] = {own[3], own[4]};
  });
  const bool isNew = module.set == 0;
  if (isNew)
    module.set = module.fresh();
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opMemoryModel && isNew) {
      Words import = {module.set, 0, 0, 0, 0};
      std::memcpy(&import[1], "GLSL.std.450", 12);
      add(made, opExtInstImport, import);
    }
    const auto product = op == opFAdd && !whole.count(own[2]) ? products.find(own[3]) : products.end();
    if (product == products.end() || whole.count(own[3]))
      return false;
    add(made, opExtInst, {own[1], own[2], module.set, fma, product->second.first, product->second.second, own[4]});
    return true;
  });
}

void flush(Module &module) {
  const uint32_t exponent = module.fresh(), none = module.fresh(), zero = module.fresh();
  bool isDeclared = false;
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opFunction && !isDeclared && module.real) {
      isDeclared = true;
      if (!module.boolean)
        add(made, opTypeBool, {module.boolean = module.fresh()});
      if (!module.integer)
        add(made, opTypeInt, {module.integer = module.fresh(), 32, 0});
      add(made, opConstant, {module.integer, exponent, 0x7f800000});
      add(made, opConstant, {module.integer, none, 0});
      add(made, opConstant, {module.real, zero, 0});
    }
    if (op != opExtInst || own[3] != module.set || own[4] != fma || own[1] != module.real)
      return false;
    const uint32_t exact = module.fresh(), bits = module.fresh(), its = module.fresh(), isSmall = module.fresh();
    add(made, opExtInst, {own[1], exact, own[3], fma, own[5], own[6], own[7]});
    add(made, opBitcast, {module.integer, bits, exact});
    add(made, opBitwiseAnd, {module.integer, its, bits, exponent});
    add(made, opIEqual, {module.boolean, isSmall, its, none});
    add(made, opSelect, {own[1], own[2], isSmall, zero, exact});
    return true;
  });
}

/// Execution modes that are taken away.
constexpr std::pair<std::string_view, uint32_t> modes[] = {
    {"no-denormals", 4459}, {"no-infinities", 4461}, {"no-rounding", 4462}};

void dropModes(Module &module, std::string_view asked) {
  rewriteAll(module, [&](Words &, uint32_t op, const uint32_t *own) {
    return op == opExecutionMode && std::any_of(std::begin(modes), std::end(modes), [&](const auto &mode) {
             return own[2] == mode.second && (asked == mode.first || asked == "no-modes");
           });
  });
}

void multiply(Module &module) {
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opFDiv)
      add(made, opFMul, {own[1], own[2], own[3], own[4]});
    return op == opFDiv;
  });
}

} // namespace

extern "C" VkResult vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkShaderModule *into) {
  static const auto create = reinterpret_cast<PFN_vkCreateShaderModule>(dlsym(RTLD_NEXT, "vkCreateShaderModule"));
  const char *name = std::getenv("FMA");
  const std::string_view asked = name ? name : "";
  // A name that is none ends the process, lest a test sees an ordinary driver.
  const bool isProbe =
      asked == "no-modes" || asked == "no-quotients" ||
      std::any_of(std::begin(modes), std::end(modes), [&](const auto &mode) { return mode.first == asked; });
  if (asked != "join" && asked != "flush" && asked != "join,flush" && !isProbe)
    std::abort();
  Module module{Words(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t))};
  module.find();
  if (asked.starts_with("join"))
    join(module);
  if (asked.ends_with("flush"))
    flush(module);
  if (asked == "no-quotients")
    multiply(module);
  else if (isProbe)
    dropModes(module, asked);
  VkShaderModuleCreateInfo changed = *info;
  changed.codeSize = module.words.size() * sizeof(uint32_t);
  changed.pCode = module.words.data();
  return create(device, &changed, allocator, into);
}
