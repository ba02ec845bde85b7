//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Decoder.h"

#include <algorithm>

using namespace zyx::ptx;

static constexpr uint32_t noPlace = 64;

Decoder::Decoder(const ModuleText &text, const KernelText &kernel, Program &program,
                 const std::map<std::string, uint64_t> &globals)
    : kernel(kernel), program(program), text(text), globals(globals) {
  program.name = kernel.name;
  program.clusterGroups = kernel.clusterGroups;
  program.maxThreads = kernel.maxThreads;
  // No register lies at 0.
  program.registerBytes = noPlace;
  for (const auto &[name, bits] : kernel.registers)
    registers[name] = {allot(bits), bits == 1 ? 0 : bits / 8};
  for (const Variable &parameter : kernel.parameters) {
    variables[parameter.name] = {Space::Param, parameter.bytes};
    program.parameters.emplace_back(parameter.bytes, parameter.alignment);
    program.parameterBytes = parameter.bytes + parameter.alignment;
  }
  // Memory of unknown size is what the launch adds, behind what is known.
  uint64_t sharedBytes = 0;
  auto place = [&](const Variable &variable) {
    uint64_t &bytes = variable.space == Space::Local ? program.localBytes : sharedBytes;
    if (variable.space != Space::Local && variable.space != Space::Shared)
      return;
    bytes = (bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
    variables[variable.name] = {variable.space, bytes + (variable.space == Space::Shared ? sharedBegin : 0)};
    bytes += variable.bytes;
  };
  for (const auto *list : {&text.variables, &kernel.variables})
    for (const Variable &variable : *list)
      if (variable.bytes != 0)
        place(variable);
  for (const Variable &variable : text.variables)
    if (variable.bytes == 0)
      place(variable);
  program.sharedBytes = sharedBytes;
}

uint32_t Decoder::allot(unsigned bits) {
  const uint32_t bytes = bits == 1 ? 4 : bits / 8 * lanes, offset = program.registerBytes;
  program.registerBytes += (bytes + 63) / 64 * 64;
  return offset;
}

void Decoder::fail(const std::string &what) const {
  throw Fault("line " + std::to_string(statement->line) + ": " + what + ": " + text.lines[statement->line - 1]);
}

void Decoder::require(bool isTrue, const std::string &what) const {
  if (!isTrue)
    fail(what);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool Decoder::take(std::string_view word) {
  auto found = std::find(left.begin(), left.end(), word);
  if (found == left.end())
    return false;
  left.erase(found);
  return true;
}

size_t Decoder::takeOneOf(std::initializer_list<std::string_view> words) {
  size_t i = 0;
  for (std::string_view word : words) {
    if (take(word))
      return i;
    ++i;
  }
  return i;
}

static Type typeOf(const std::string &word) {
  if (word == "pred")
    return {Type::Predicate, 1};
  if (word == "tf32")
    return {Type::TF32, 32};
  if (word == "e4m3" || word == "e5m2")
    return {word == "e4m3" ? Type::E4M3 : Type::E5M2, 8};
  if (word == "e4m3x2" || word == "e5m2x2")
    return {word == "e4m3x2" ? Type::E4M3 : Type::E5M2, 8, 2};
  const size_t digits = word.rfind("bf", 0) == 0 ? 2 : 1;
  const char first = word[0];
  if (word.size() <= digits || !std::isdigit(static_cast<unsigned char>(word[digits])))
    return {};
  const Type::Kind kind = digits == 2    ? Type::BFloat
                          : first == 'b' ? Type::Bits
                          : first == 'u' ? Type::Unsigned
                          : first == 's' ? Type::Signed
                          : first == 'f' ? Type::Float
                                         : Type::None;
  char *end = nullptr;
  const auto bits = static_cast<unsigned>(std::strtoul(word.c_str() + digits, &end, 10));
  const unsigned count = std::string_view(end) == "x2" ? 2 : 1;
  if (kind == Type::None || (*end && count == 1) ||
      (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128))
    return {};
  return {kind, bits, count};
}

Type Decoder::takeType() {
  for (auto word = left.begin(); word != left.end(); ++word)
    if (const Type type = typeOf(*word); type.kind != Type::None) {
      left.erase(word);
      return type;
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

const Operand &Decoder::operand(size_t i) const {
  require(i < statement->operands.size(), "has too few operands");
  return statement->operands[i];
}

uint64_t Decoder::number(size_t i) const {
  require(operand(i).kind == Operand::Integer, "takes a number as operand " + std::to_string(i));
  return operand(i).bits;
}

RegisterSlice Decoder::find(const Operand &operand) const {
  auto found = registers.find(operand.name);
  require(found != registers.end(), "'" + operand.name + "' is no register");
  return found->second;
}

uint32_t Decoder::constant(uint64_t bits, unsigned bytes) {
  if (bytes < 8)
    bits &= (uint64_t(1) << 8 * bytes) - 1;
  auto [found, isNew] = constants.try_emplace({bits, bytes});
  if (isNew) {
    found->second = allot(bytes * 8);
    program.constants.push_back({{found->second, bytes}, bits});
  }
  return found->second;
}

uint32_t Decoder::special(const std::string &name, unsigned bits) {
  auto [found, isNew] = specials.try_emplace({name, bits});
  if (isNew) {
    found->second = allot(bits);
    program.specials.push_back({{found->second, bits / 8}, name});
  }
  return found->second;
}

uint32_t Decoder::symbol(const Operand &operand, unsigned bits) {
  if (auto found = globals.find(operand.name); found != globals.end())
    return constant(found->second + operand.bits, bits / 8);
  auto found = variables.find(operand.name);
  require(found != variables.end(), "'" + operand.name + "' is not declared");
  const auto [space, place] = found->second;
  // Where a workgroup has its shared memory is only known then.
  return space == Space::Shared ? special("+" + std::to_string(place + operand.bits), bits)
                                : constant(place + operand.bits, bits / 8);
}

static bool isSpecial(const std::string &name) {
  static const char *const known[] = {"%tid.",       "%ntid.",       "%ctaid.",         "%nctaid.",
                                      "%clusterid.", "%nclusterid.", "%cluster_ctaid.", "%cluster_nctaid."};
  for (const char *each : known)
    if (name.rfind(each, 0) == 0)
      return true;
  static const char *const whole[] = {"%cluster_ctarank", "%cluster_nctarank", "%laneid",      "%warpid",
                                      "%lanemask_lt",     "%lanemask_le",      "%lanemask_eq", "%lanemask_gt",
                                      "%lanemask_ge",     "%dynamic_smem_size"};
  return std::find(std::begin(whole), std::end(whole), name) != std::end(whole);
}

uint32_t Decoder::source(const Operand &operand, unsigned bits, Type::Kind kind) {
  const unsigned bytes = bits / 8;
  switch (operand.kind) {
  case Operand::Register: {
    if (isSpecial(operand.name))
      return special(operand.name, bits);
    const RegisterSlice place = find(operand);
    require(place.bytes == (bits == 1 ? 0 : bytes), "'" + operand.name + "' has another width");
    return place.offset;
  }
  case Operand::Symbol:
    return symbol(operand, bits);
  case Operand::Single: {
    if (bits == 64 && kind == Type::Float)
      return constant(
          std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(operand.bits)))),
          bytes);
    require(bits == 32, "takes no number of f32");
    return constant(operand.bits, bytes);
  }
  case Operand::Double:
    if (bits == 32 && kind == Type::Float)
      return constant(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits))), bytes);
    require(bits == 64, "takes no number of f64");
    return constant(operand.bits, bytes);
  case Operand::Integer:
    if (bits == 1)
      return constant(operand.bits ? allLanes : 0, 4);
    return constant(operand.bits, bytes);
  default:
    fail("has an operand of another kind");
  }
}

uint32_t Decoder::destination(const Operand &operand, unsigned bits) {
  // What nobody wants goes somewhere.
  if (operand.kind == Operand::Sink)
    return allot(bits);
  require(operand.kind == Operand::Register, "gives a result to what is no register");
  const RegisterSlice place = find(operand);
  require(place.bytes == (bits == 1 ? 0 : bits / 8), "'" + operand.name + "' has another width");
  return place.offset;
}

RegisterSlice Decoder::wide(const Operand &operand, unsigned bits, bool isDestination) {
  if (operand.kind == Operand::Sink && isDestination)
    return {};
  if (operand.kind == Operand::Register && !isSpecial(operand.name)) {
    const RegisterSlice place = find(operand);
    require(place.bytes * 8 >= bits, "'" + operand.name + "' is too narrow");
    return place;
  }
  require(!isDestination, "gives a result to what is no register");
  const unsigned width = std::max(bits, 8u);
  return {source(operand, width), width / 8};
}

uint32_t Decoder::address(const Operand &operand, int64_t &value, bool &isLong) {
  require(operand.kind == Operand::Memory && !operand.parts.empty(), "takes an address in brackets");
  const Operand &base = operand.parts[0];
  value = static_cast<int64_t>(operand.bits);
  if (base.kind == Operand::Register) {
    const RegisterSlice place = find(base);
    require(place.bytes == 4 || place.bytes == 8, "an address has 32 or 64 bits");
    isLong = place.bytes == 8;
    return place.offset;
  }
  isLong = true;
  return source(base, 64);
}

void Decoder::list(Instruction &made, const std::vector<RegisterSlice> &places) {
  made.first = static_cast<uint32_t>(program.places.size());
  made.count = static_cast<uint32_t>(places.size());
  program.places.insert(program.places.end(), places.begin(), places.end());
}

//===----------------------------------------------------------------------===//
// Kernels and modules
//===----------------------------------------------------------------------===//

static bool decodeControl(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "bra") {
    decoder.take("uni");
    auto found = decoder.kernel.labels.find(decoder.operand(0).name);
    decoder.require(found != decoder.kernel.labels.end(), "there is no such label");
    made.kind = Instruction::Branch;
    made.target = found->second;
    return true;
  }
  if (opcode == "ret" || opcode == "exit") {
    decoder.take("uni");
    made.kind = Instruction::Exit;
    return true;
  }
  if (opcode == "trap") {
    made.execute = [](Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
      machine.fail(warp, at, static_cast<unsigned>(std::countr_zero(mask)), "trap");
    };
    return true;
  }
  return false;
}

void Decoder::run() {
  for (const Statement &each : kernel.statements) {
    statement = &each;
    left.assign(each.words.begin() + 1, each.words.end());
    Instruction made;
    made.line = each.line;
    made.cost = IssueCost::of(each.words);
    for (const char *hint : {"L1::no_allocate", "cg", "cv", "volatile", "relaxed", "acquire"})
      made.isPastL1 |= std::find(each.words.begin(), each.words.end(), hint) != each.words.end();
    if (!each.guard.empty()) {
      auto found = registers.find(each.guard);
      require(found != registers.end() && found->second.bytes == 0, "'" + each.guard + "' is no predicate");
      made.guard = found->second.offset;
      made.isGuardNegated = each.isGuardNegated;
    }
    bool isKnown = false;
    for (auto *decode : {decodeControl, decodeMove, decodeCompare, decodeInteger, decodeLogic, decodeFloat, decodeHalf,
                         decodeConvert, decodeMemory, decodeWarp, decodeMatrix, decodeCopy, decodeBarrier})
      if ((isKnown = decode(*this, made)))
        break;
    require(isKnown, "the instruction '" + each.words[0] + "' is not known");
    require(left.empty(), "'" + (left.empty() ? "" : left.front()) + "' is not known of '" + each.words[0] + "'");
    program.code.push_back(made);
  }
  // Behind the last instruction a kernel is over.
  Instruction end;
  end.kind = Instruction::Exit;
  end.line = kernel.statements.empty() ? 0 : kernel.statements.back().line;
  program.code.push_back(end);
}

std::unique_ptr<zyx::ptx::Module> zyx::ptx::load(std::string_view text) {
  const ModuleText parsed = parse(text);
  auto module = std::make_unique<Module>();
  module->lines = parsed.lines;
  std::map<std::string, uint64_t> globals;
  for (const Variable &variable : parsed.variables) {
    if (variable.space != Space::Global && variable.space != Space::Const)
      continue;
    Module::Global global;
    global.memory = std::make_unique<uint8_t[]>(variable.bytes + variable.alignment + 16);
    const auto begin = reinterpret_cast<uint64_t>(global.memory.get());
    global.address = (begin + variable.alignment - 1) / variable.alignment * variable.alignment;
    global.bytes = variable.bytes;
    std::copy(variable.initial.begin(), variable.initial.end(), reinterpret_cast<uint8_t *>(global.address));
    globals[variable.name] = global.address;
    module->globals.push_back(std::move(global));
  }
  for (const KernelText &kernel : parsed.kernels) {
    module->programs.emplace_back();
    Decoder(parsed, kernel, module->programs.back(), globals).run();
  }
  return module;
}
