//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A whole program as C: its kernels, its constants, and its plan as a function.
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/CSource.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

using namespace zyx;
using namespace zyx::artifact;

namespace {

/// Of an element in a prototype. Floats that C has not are their bits.
const char *typeOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "bool";
  case DType::I8:
    return "int8_t";
  case DType::I16:
    return "int16_t";
  case DType::I32:
    return "int32_t";
  case DType::I64:
    return "int64_t";
  case DType::U8:
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return "uint8_t";
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return "uint16_t";
  case DType::U32:
    return "uint32_t";
  case DType::U64:
    return "uint64_t";
  case DType::F32:
    return "float";
  case DType::F64:
    return "double";
  }
  return nullptr;
}

/// Buffers are not constant, though nobody writes these.
constexpr const char *constants = "(unsigned char *)zyx_constants + ";

/// What C11, and the text of kernels, mean by themselves.
bool isReserved(const std::string &name) {
  static const std::set<std::string> words = {
      "auto",     "break",  "case",     "char",   "const",  "continue", "default", "do",     "double",  "else",
      "enum",     "extern", "float",    "for",    "goto",   "if",       "inline",  "int",    "long",    "register",
      "restrict", "return", "short",    "signed", "sizeof", "static",   "struct",  "switch", "typedef", "union",
      "unsigned", "void",   "volatile", "while",  "bool",   "true",     "false",   "main",   "asm",     "typeof"};
  return words.contains(name) || name.starts_with("zyx") || name.ends_with("_t");
}

bool isIdentifier(const std::string &name) {
  const auto isLetter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  // Names that begin with a line are the compiler's.
  return !name.empty() && name[0] != '_' && isLetter(name[0]) &&
         std::ranges::all_of(name, [&](unsigned char c) { return isLetter(c) || std::isdigit(c); });
}

/// The functions of C's own library that the headers of the text declare, and compilers without a header.
bool isOfLibrary(const std::string &name) {
  static const std::set<std::string> real = {
      "acos",      "acosh",     "asin",       "asinh", "atan",      "atan2",  "atanh", "cbrt",   "ceil",    "copysign",
      "cos",       "cosh",      "erf",        "erfc",  "exp",       "exp2",   "expm1", "fabs",   "fdim",    "floor",
      "fma",       "fmax",      "fmin",       "fmod",  "frexp",     "hypot",  "ilogb", "ldexp",  "lgamma",  "llrint",
      "llround",   "log",       "log10",      "log1p", "log2",      "logb",   "lrint", "lround", "modf",    "nan",
      "nearbyint", "nextafter", "nexttoward", "pow",   "remainder", "remquo", "rint",  "round",  "scalbln", "scalbn",
      "sin",       "sinh",      "sqrt",       "tan",   "tanh",      "tgamma", "trunc",
  };
  static const std::set<std::string> others = {
      "abort",       "abs",           "atexit",      "atof",    "atoi",     "atol",      "atoll",          "bsearch",
      "calloc",      "div",           "exit",        "free",    "getenv",   "labs",      "ldiv",           "llabs",
      "lldiv",       "malloc",        "qsort",       "rand",    "realloc",  "srand",     "system",         "fpclassify",
      "signbit",     "isfinite",      "isinf",       "isnan",   "isnormal", "isgreater", "isgreaterequal", "isless",
      "islessequal", "islessgreater", "isunordered", "memchr",  "memcmp",   "memcpy",    "memmove",        "memset",
      "strcat",      "strchr",        "strcmp",      "strcoll", "strcpy",   "strcspn",   "strerror",       "strlen",
      "strncat",     "strncmp",       "strncpy",     "strpbrk", "strrchr",  "strspn",    "strstr",         "strtod",
      "strtof",      "strtok",        "strtol",      "strtold", "strtoll",  "strtoul",   "strtoull",       "strxfrm",
      "printf",      "puts",
  };
  if (real.contains(name) || others.contains(name))
    return true;
  return (name.ends_with("f") || name.ends_with("l")) && real.contains(name.substr(0, name.size() - 1));
}

class ProgramPrinter {
public:
  explicit ProgramPrinter(const Artifact &program) : program(program) {}

  Result<std::string> print() {
    const std::string function = program.entry == "main" ? "zyx_main" : program.entry;
    if (function != "zyx_main" && !isNameOfCFunction(function))
      return Status::invalidArgument("the entry '" + program.entry + "' is no name that a function of C may have");
    ZYX_RETURN_IF_ERROR(layOut());
    text = "/* The program '" + program.entry +
           "' by zyx " ZYX_VERSION ", which needs libc and libm alone.\n"
           " *\n"
           " *   cc -std=c11 -O3 -ffp-contract=off -fno-math-errno -c FILE.c\n"
           " *\n"
           " * Arrays are dense and row-major. Floats of 16 and 8 bits are their bits. Returns 0, or 1 where there is\n"
           " * no memory for temporaries (" +
           std::to_string(memorySize) + " bytes). Several threads may call it at once. */\n";
    for (const CodeBlob &blob : program.code)
      text.append(reinterpret_cast<const char *>(blob.bytes.data()), blob.bytes.size());
    text += "\n#include <stdlib.h>\n\n";
    printConstants();
    printPlan(function);
    printEntry(function);
    return std::move(text);
  }

private:
  /// Temporaries, then what the init makes, which each call makes again: no call knows of others.
  Status layOut() {
    for (const CodeBlob &blob : program.code)
      if (blob.format != "c")
        return Status::unsupported("a program with code in format '" + blob.format + "' is no C source");
    const auto aligned = [](uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
    keptBegin = aligned(program.arenaSize);
    memorySize = keptBegin + aligned(program.keptSize);
    return Status::ok();
  }

  void line(const std::string &what) { text += std::string(2 * depth, ' ') + what + "\n"; }

  void printConstants() {
    if (program.constants.empty())
      return;
    // Of characters: what an object of another type holds must not be read as floats. A string, which compilers read
    // much faster than a list of numbers.
    text += "static const _Alignas(" + std::to_string(alignment) + ") unsigned char zyx_constants[" +
            std::to_string(program.constants.size()) + "] =";
    constexpr size_t perLine = 64;
    for (size_t i = 0; i < program.constants.size(); ++i) {
      text += i % perLine == 0 ? "\n  \"" : "";
      const auto byte = static_cast<unsigned char>(program.constants[i]);
      if (std::isalnum(byte) || byte == ' ' || byte == '.' || byte == '-') {
        text += static_cast<char>(byte);
      } else {
        const char octal[] = {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
                              static_cast<char>('0' + byte % 8)};
        text.append(octal, sizeof(octal));
      }
      text += i % perLine == perLine - 1 || i + 1 == program.constants.size() ? "\"" : "";
    }
    text += ";\n\n";
  }

  std::string addressOf(const Buffer &buffer) const {
    const std::string position = std::to_string(buffer.position);
    switch (buffer.kind) {
    case BufferKind::Input:
      return "inputs[" + position + "]";
    case BufferKind::Output:
      return "outputs[" + position + "]";
    case BufferKind::Arena:
      return "memory + " + position;
    case BufferKind::Kept:
      return "memory + " + std::to_string(keptBegin + buffer.position);
    case BufferKind::Constant:
      return std::string(constants) + position;
    }
    return "";
  }
  std::string addressOf(const BufferRef &ref) const {
    return "b[" + std::to_string(ref.buffer) + "] + " + std::to_string(ref.offset);
  }

  void printPlan(const std::string &function) {
    const bool fills = std::ranges::any_of(
        program.commands, [](const Command &command) { return std::holds_alternative<Fill>(command.action); });
    if (fills)
      text += "static void zyx_fill(unsigned char *to, uint64_t size, uint64_t pattern, uint64_t bytes) {\n"
              "  for (uint64_t i = 0; i < size; i += bytes)\n"
              "    memcpy(to + i, &pattern, bytes);\n"
              "}\n\n";
    text += "static int zyx_run_" + function + "(unsigned char *const *inputs, unsigned char *const *outputs) {\n";
    depth = 1;
    line("(void)inputs, (void)outputs;");
    if (memorySize != 0) {
      line("unsigned char *const memory = aligned_alloc(" + std::to_string(alignment) + ", " +
           std::to_string(memorySize) + ");");
      line("if (!memory)");
      line("  return 1;");
    }
    if (!program.buffers.empty()) {
      line("unsigned char *const b[] = {");
      for (const Buffer &buffer : program.buffers)
        line("    " + addressOf(buffer) + ",");
      line("};");
      line("(void)b;");
    }
    printCommands(0, program.commands.size());
    if (memorySize != 0)
      line("free(memory);");
    line("return 0;");
    text += "}\n\n";
  }

  /// In their order, which satisfies whatever they wait for.
  void printCommands(size_t begin, size_t end) {
    while (begin < end) {
      const Command &command = program.commands[begin++];
      if (const auto *launch = std::get_if<Launch>(&command.action))
        print(*launch);
      else if (const auto *copy = std::get_if<Copy>(&command.action))
        line("memmove(" + addressOf(copy->destination) + ", " + addressOf(copy->source) + ", " +
             std::to_string(copy->size) + ");");
      else if (const auto *fill = std::get_if<Fill>(&command.action))
        line("zyx_fill(" + addressOf(fill->destination) + ", " + std::to_string(fill->size) + ", UINT64_C(" +
             std::to_string(fill->pattern) + "), " + std::to_string(fill->patternSize) + ");");
      else if (const auto *loop = std::get_if<Loop>(&command.action)) {
        print(*loop, begin);
        begin += loop->body;
      }
    }
  }

  void print(const Launch &launch) {
    std::string buffers, scalars;
    for (const BufferRef &ref : launch.buffers)
      buffers += (buffers.empty() ? "" : ", ") + addressOf(ref);
    for (int64_t scalar : launch.scalars)
      scalars += (scalars.empty() ? "" : ", ") + number(scalar);
    line("{");
    ++depth;
    if (!buffers.empty())
      line("void *const buffers[] = {" + buffers + "};");
    if (!scalars.empty())
      line("const int64_t scalars[] = {" + scalars + "};");
    line(std::string("const zyx_args args = {") + (buffers.empty() ? "NULL" : "buffers") + ", " +
         (scalars.empty() ? "NULL" : "scalars") + "};");
    line(program.kernels[launch.kernel].symbol + "(&args, 0, " +
         number(launch.grid[0] * launch.grid[1] * launch.grid[2]) + ");");
    --depth;
    line("}");
  }

  void print(const Loop &loop, size_t first) {
    const std::string pass = "pass" + std::to_string(depth), passes = "passes" + std::to_string(depth);
    line("{");
    ++depth;
    const std::string end =
        loop.isWhile() ? "*(const unsigned char *)(" + addressOf(*loop.count) + ") != 0" : pass + " < " + passes;
    if (!loop.isWhile())
      line("int64_t " + passes + " = " + number(loop.trips) + ";");
    if (loop.count && !loop.isWhile())
      line("memcpy(&" + passes + ", " + addressOf(*loop.count) + ", sizeof(" + passes + "));");
    line("for (int64_t " + pass + " = 0; " + end + "; ++" + pass + ") {");
    ++depth;
    if (loop.index)
      line("memcpy(" + addressOf(*loop.index) + ", &" + pass + ", sizeof(" + pass + "));");
    if (loop.bodies.empty())
      printCommands(first, first + loop.body);
    for (size_t i = 0; i < loop.bodies.size(); first += loop.bodies[i++]) {
      line("if (" + pass + " % " + std::to_string(loop.bodies.size()) + " == " + std::to_string(i) + ") {");
      ++depth;
      printCommands(first, first + loop.bodies[i]);
      --depth;
      line("}");
    }
    --depth;
    line("}");
    --depth;
    line("}");
  }

  static std::string number(int64_t value) {
    return value == std::numeric_limits<int64_t>::min() ? "INT64_MIN" : "INT64_C(" + std::to_string(value) + ")";
  }

  /// The names of arguments, where they are names in C; else what they are by position.
  std::vector<std::string> namesOf(const std::vector<Argument> &arguments, const char *otherwise,
                                   std::set<std::string> &taken) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::string name = arguments[i].name;
      if (!isIdentifier(name) || isReserved(name) || taken.contains(name))
        name = otherwise + std::to_string(i);
      while (!taken.insert(name).second)
        name += "_";
      names.push_back(name);
    }
    return names;
  }

  void printEntry(const std::string &function) {
    std::set<std::string> taken = {function};
    const std::vector<std::string> inputs = namesOf(program.inputs, "in", taken),
                                   outputs = namesOf(program.outputs, "out", taken);
    std::string parameters, given, made;
    for (size_t i = 0; i < inputs.size(); ++i) {
      parameters += std::string(parameters.empty() ? "" : ", ") + "const " + typeOf(program.inputs[i].type.dtype) +
                    " *" + inputs[i];
      given += std::string(given.empty() ? "" : ", ") + "(unsigned char *)" + inputs[i];
      text += "/* " + inputs[i] + ": " + toString(program.inputs[i].type) + " */\n";
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      parameters +=
          std::string(parameters.empty() ? "" : ", ") + typeOf(program.outputs[i].type.dtype) + " *" + outputs[i];
      made += std::string(made.empty() ? "" : ", ") + "(unsigned char *)" + outputs[i];
      text += "/* " + outputs[i] + ": " + toString(program.outputs[i].type) + ", a result */\n";
    }
    depth = 1;
    text += "int " + function + "(" + (parameters.empty() ? "void" : parameters) + ") {\n";
    if (!given.empty())
      line("unsigned char *const zyx_inputs[] = {" + given + "};");
    if (!made.empty())
      line("unsigned char *const zyx_outputs[] = {" + made + "};");
    line("return zyx_run_" + function + "(" + (given.empty() ? "NULL" : "zyx_inputs") + ", " +
         (made.empty() ? "NULL" : "zyx_outputs") + ");");
    text += "}\n";
  }

  const Artifact &program;
  uint64_t keptBegin = 0, memorySize = 0;
  size_t depth = 0;
  std::string text;
};

} // namespace

bool artifact::isNameOfCFunction(const std::string &name) {
  return isIdentifier(name) && !isReserved(name) && !isOfLibrary(name);
}

Result<std::string> artifact::printCSource(const Artifact &program) { return ProgramPrinter(program).print(); }
