//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a module has of fma, and what else a driver may be slow with: each change makes one thing another one, by which
// a card tells what that costs. Results may be wrong then, but for what is said otherwise.
//===----------------------------------------------------------------------===//
#include "Module.h"

#include <algorithm>
#include <map>
#include <set>

using namespace zyx::test;

namespace {

constexpr uint32_t vulkanModel = 3, simpleModel = 1, vulkanModelCapability = 5345, nonPrivate = 0x20;
constexpr uint32_t makeAvailable = 0x2000, makeVisible = 0x4000, infinitiesCapability = 4466;
constexpr uint32_t denormalsMode = 4459, infinitiesMode = 4461, roundingMode = 4462;
constexpr uint32_t workgroupStorage = 4, addressStorage = 5349;

/// GLSL's Fma in the place of a product and a sum that a driver may make one op.
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

/// Each result of Fma that is a denormal is 0.
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

void dropModes(Module &module, std::initializer_list<uint32_t> modes) {
  rewriteAll(module, [&](Words &, uint32_t op, const uint32_t *own) {
    return op == opExecutionMode && std::find(modes.begin(), modes.end(), own[2]) != modes.end();
  });
}

/// Quotients are products.
void multiply(Module &module) {
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opFDiv)
      add(made, opFMul, {own[1], own[2], own[3], own[4]});
    return op == opFDiv;
  });
}

/// Exponentials are what they are of.
void copyExponents(Module &module) {
  constexpr uint32_t exp2 = 29, copy = 83;
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    const bool isOne = op == opExtInst && own[3] == module.set && own[4] == exp2;
    if (isOne)
      add(made, copy, {own[1], own[2], own[5]});
    return isOne;
  });
}

/// Any two floats may be joined.
void loosen(Module &module) {
  rewriteAll(module,
             [&](Words &, uint32_t op, const uint32_t *own) { return op == opDecorate && own[2] == noContraction; });
}

/// No access says that other threads see it. A module of the model GLSL450 can say no such thing.
void makePrivate(Module &module) {
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t length) {
    const uint32_t mask = op == opLoad ? 4 : 3;
    if ((op == opLoad || op == opStore) && length > mask)
      const_cast<uint32_t *>(own)[mask] &= ~nonPrivate;
  });
}

/// Bits of the semantics of barriers are taken away.
void weakenBarriers(Module &module, uint32_t bits) {
  std::set<uint32_t> semantics;
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
    if (op == opControlBarrier)
      semantics.insert(own[3]);
  });
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
    if (op == opConstant && semantics.count(own[2]))
      const_cast<uint32_t *>(own)[3] &= ~bits;
  });
}

/// The memory model of GLSL, as most programs of Vulkan have it. Results stay right: barriers order shared memory.
void simplifyMemory(Module &module) {
  makePrivate(module);
  weakenBarriers(module, makeAvailable | makeVisible);
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opMemoryModel && own[2] == vulkanModel) {
      add(made, op, {own[1], simpleModel});
      return true;
    }
    return op == opCapability && own[1] == vulkanModelCapability;
  });
}

/// A constant 0 of 32 bits, declared before the first function.
uint32_t zeroOf(Module &module) {
  const uint32_t zero = module.fresh();
  bool isDeclared = false;
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *) {
    if (op == opFunction && !isDeclared) {
      isDeclared = true;
      if (!module.integer)
        add(made, opTypeInt, {module.integer = module.fresh(), 32, 0});
      add(made, opConstant, {module.integer, zero, 0});
    }
    return false;
  });
  return zero;
}

/// A single element of an array of vectors is the first lane of one, not one that is computed.
void takeFirstLanes(Module &module) {
  std::set<uint32_t> shared, constants;
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
    if (op == opVariable && own[3] == workgroupStorage)
      shared.insert(own[2]);
    if (op == opConstant)
      constants.insert(own[2]);
  });
  bool hasAny = false;
  const auto isComputed = [&](uint32_t op, const uint32_t *own) {
    return op == opAccessChain && own[0] >> 16 == 6 && shared.count(own[3]) && !constants.count(own[5]);
  };
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) { hasAny |= isComputed(op, own); });
  if (!hasAny)
    return;
  const uint32_t zero = zeroOf(module);
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (!isComputed(op, own))
      return false;
    add(made, op, {own[1], own[2], own[3], own[4], zero});
    return true;
  });
}

void controlLoops(Module &module, uint32_t control) {
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opLoopMerge)
      add(made, op, {own[1], own[2], control});
    return op == opLoopMerge;
  });
}

/// An address is an element of an array behind a pointer of a block, as GLSL's buffer references have it, in the place
/// of a sum of integers. With `isReadOnly` blocks that are only read say so. Results stay right.
void chain(Module &module, bool isReadOnly) {
  struct Definition {
    uint32_t op, a, b;
  };
  std::map<uint32_t, Definition> defined;
  std::map<uint32_t, uint32_t> vectors, pointees;
  uint32_t ofReal = 0;
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
    if (op == opIAdd || op == opIMul)
      defined[own[2]] = {op, own[3], own[4]};
    if (op == opConstant || op == opConvertUToPtr)
      defined[own[2]] = {op, own[3], 0};
    if (op == opTypeVector)
      vectors[own[1]] = own[2];
    if (op == opTypePointer && own[2] == addressStorage) {
      pointees[own[1]] = own[3];
      if (own[3] == module.real)
        ofReal = own[1];
    }
  });
  const auto match = [&](uint32_t address, uint32_t &base, uint32_t &index) {
    const auto sum = defined.find(address);
    if (sum == defined.end() || sum->second.op != opIAdd)
      return false;
    const auto product = defined.find(sum->second.b);
    if (product == defined.end() || product->second.op != opIMul)
      return false;
    const auto factor = defined.find(product->second.b);
    base = sum->second.a;
    index = product->second.a;
    return factor != defined.end() && factor->second.op == opConstant && factor->second.a == 4;
  };
  std::set<uint32_t> written;
  bool hasAny = false;
  module.forEach([&](uint32_t op, const uint32_t *own, uint32_t) {
    uint32_t base = 0, index = 0;
    if (op == opStore && defined.count(own[1]) && defined[own[1]].op == opConvertUToPtr &&
        match(defined[own[1]].a, base, index))
      written.insert(base);
    hasAny |= op == opConvertUToPtr && match(own[3], base, index);
  });
  if (!hasAny || !module.real)
    return;
  const uint32_t zero = zeroOf(module), array = module.fresh(), blocks[] = {module.fresh(), module.fresh()},
                 ofBlocks[] = {module.fresh(), module.fresh()};
  const bool isNew = ofReal == 0;
  if (isNew)
    ofReal = module.fresh();
  bool isDecorated = false, isDeclared = false;
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op >= opTypeVoid && op <= opTypePointer && !isDecorated) {
      isDecorated = true;
      add(made, opDecorate, {array, 6 /*ArrayStride*/, 4});
      for (const uint32_t block : blocks) {
        add(made, opDecorate, {block, 2 /*Block*/});
        add(made, opMemberDecorate, {block, 0, 35 /*Offset*/, 0});
      }
      add(made, opMemberDecorate, {blocks[1], 0, 24 /*NonWritable*/});
    }
    if (op == opFunction && !isDeclared) {
      isDeclared = true;
      add(made, opTypeRuntimeArray, {array, module.real});
      for (int which : {0, 1}) {
        add(made, opTypeStruct, {blocks[which], array});
        add(made, opTypePointer, {ofBlocks[which], addressStorage, blocks[which]});
      }
      if (isNew)
        add(made, opTypePointer, {ofReal, addressStorage, module.real});
    }
    uint32_t base = 0, index = 0;
    if (op != opConvertUToPtr || !match(own[3], base, index))
      return false;
    const uint32_t pointee = pointees[own[1]];
    const bool isVector = vectors.count(pointee) && vectors[pointee] == module.real;
    if (pointee != module.real && !isVector)
      return false;
    const uint32_t block = module.fresh(), element = isVector ? module.fresh() : own[2];
    add(made, opConvertUToPtr, {ofBlocks[isReadOnly && !written.count(base)], block, base});
    add(made, opInBoundsAccessChain, {ofReal, element, block, zero, index});
    if (isVector)
      add(made, opBitcast, {own[1], own[2], element});
    return true;
  });
}

/// What may be made of floats is said by SPV_KHR_float_controls2: products and sums may be joined, and nothing else.
void sayFastMath(Module &module) {
  const uint32_t mayJoin = module.fresh();
  constexpr uint32_t contract = 0x10000, fastMathDefault = 6028, fastMathMode = 40, capability = 6029;
  if (!module.integer || !module.real)
    return;
  bool isDeclared = false, isExtended = false;
  rewriteAll(module, [&](Words &made, uint32_t op, const uint32_t *own) {
    if (op == opCapability && own[1] == infinitiesCapability) {
      add(made, op, {capability});
      return true;
    }
    if (!isExtended && (op == opExtInstImport || op == opMemoryModel)) {
      isExtended = true;
      Words name(6, 0);
      std::memcpy(name.data(), "SPV_KHR_float_controls2", 23);
      add(made, opExtension, name);
    }
    if (op == opFunction && !isDeclared) {
      isDeclared = true;
      add(made, opConstant, {module.integer, mayJoin, contract});
    }
    if (op == opExecutionMode && own[2] == infinitiesMode) {
      if (own[3] == 32)
        add(made, opExecutionModeId, {own[1], fastMathDefault, module.real, mayJoin});
      return true;
    }
    if (op == opDecorate && own[2] == noContraction) {
      add(made, op, {own[1], fastMathMode, 0});
      return true;
    }
    return false;
  });
}

} // namespace

bool zyx::test::change(Module &module, std::string_view name) {
  static constexpr uint32_t allBits = ~0u;
  static const std::pair<std::string_view, void (*)(Module &)> changes[] = {
      {"join", join},
      {"flush", flush},
      {"no-denormals", [](Module &its) { dropModes(its, {denormalsMode}); }},
      {"no-infinities", [](Module &its) { dropModes(its, {infinitiesMode}); }},
      {"no-rounding", [](Module &its) { dropModes(its, {roundingMode}); }},
      {"no-modes", [](Module &its) { dropModes(its, {denormalsMode, infinitiesMode, roundingMode}); }},
      {"no-quotients", multiply},
      {"no-exponentials", copyExponents},
      {"loose", loosen},
      {"private", makePrivate},
      {"light-barriers", [](Module &its) { weakenBarriers(its, makeAvailable | makeVisible); }},
      {"bare-barriers", [](Module &its) { weakenBarriers(its, allBits); }},
      {"glsl450", simplifyMemory},
      {"first-lanes", takeFirstLanes},
      {"chains", [](Module &its) { chain(its, false); }},
      {"read-only", [](Module &its) { chain(its, true); }},
      {"unroll", [](Module &its) { controlLoops(its, 1); }},
      {"no-unroll", [](Module &its) { controlLoops(its, 2); }},
      {"fast-math", sayFastMath},
  };
  const auto *const found =
      std::find_if(std::begin(changes), std::end(changes), [&](const auto &each) { return each.first == name; });
  if (found == std::end(changes))
    return false;
  found->second(module);
  return true;
}
