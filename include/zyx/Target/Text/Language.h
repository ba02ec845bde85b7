//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_TEXT_LANGUAGE_H
#define ZYX_TARGET_TEXT_LANGUAGE_H

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>

/// What the printer of kernels must know about a language. A language is one such table and
/// nothing else: the walk over a kernel is the same for all.
namespace zyx::target {

/// Types of elements. Integers have no sign: their ops have.
enum class Element : uint8_t { Bool, I8, I16, I32, I64, F16, BF16, F32, F64, F8E4M3FN, F8E5M2 };
inline constexpr size_t numElements = 11;

/// A set of elements, as bits.
using Elements = uint16_t;
constexpr Elements just(Element element) { return Elements(1u << static_cast<unsigned>(element)); }
inline constexpr Elements narrowInts = just(Element::I8) | just(Element::I16);
inline constexpr Elements wideInts = just(Element::I32) | just(Element::I64);
inline constexpr Elements ints = narrowInts | wideInts;
inline constexpr Elements floats = just(Element::F32) | just(Element::F64);
inline constexpr Elements allElements = (1u << numElements) - 1;

/// How one op is written. The first entry of a list with this name that takes the element of the
/// op's first operand counts.
struct OpText {
  /// "arith.addi"; with the predicate for comparisons: "arith.cmpi slt"; "arith.trunci bool"; "arith.extui i64" and
  /// others that make 64 bits of something else, in front of those of any number of bits.
  const char *op;
  Elements elements;
  /// $0, $1, ... are the operands, `$T` is the result's type and `$R` its short name ("i32"); `$F` is the first
  /// operand's type, `$S` its signed one, `$I` that of signed integers as wide, `$N` its short name, `$W` its width in
  /// bits, `$w` the result's and `$f` what ends the names of its functions. `$a` and `$b` are the operands with a sign;
  /// `$u` is the first one as the result's type, and `$s` that of the first one with a sign.
  const char *text;
  /// The elements of which vectors are written so, too, in a language that has them.
  Elements together = 0;
};

/// A helper of the language's prelude; printed where something printed mentions its name.
struct Helper {
  const char *name;
  const char *text;
};

/// What a language of threads has beside. There kernels are written with a parameter for each buffer and scalar, as
/// `kernelBegin` has them in the place of `$p`, and with one for scratch memory and for the number of programs.
struct ThreadLanguage {
  /// The parameters number `$n`, in a language that has such.
  const char *bufferParameter = nullptr, *scalarParameter = nullptr;
  /// Begin of a kernel whose programs are workgroups of `$n` threads. `$g` are parameters of one that has subgroups.
  const char *groupBegin, *subgroupParameters = "";
  /// A buffer of type `$T` that is read and written by the threads of a workgroup.
  const char *bufferShared;
  /// The thread's number in its workgroup and in its subgroup, the subgroup's number, and how many there are.
  const char *thread = "thread", *lane = "lane", *subgroup = "subgroup", *subgroups = "subgroups";
  /// Waits for the threads of a workgroup, which see what others wrote to shared memory, or to buffers, too.
  const char *barrier, *barrierOfAll;
  /// Makes an integer `$v`, the same one for all threads, of `$e`, of which its threads have equal ones. For languages
  /// that want to know a branch around a barrier uniform: null where none does.
  std::array<const char *, 2> uniform = {};
  /// `$n` elements of type `$T` that a workgroup has, and that a thread has `$e` bytes behind the beginning of its
  /// `$s` bytes of scratch memory, where a launch gives such.
  const char *sharedArray, *scratchArray = nullptr;
  /// Buffers and shared arrays are declared in front of the kernel, by names that no other kernel has, and no parameter
  /// stands for them.
  bool isDeclaredOutside = false;
  /// Scalars that a launch has room for.
  unsigned mostScalars = ~0u;
};

/// What a language of C's family has beside that has vectors of 2, 4 and so on elements. A vector of bools is one of
/// integers of 32 bits, -1 or 0, and so is a comparison, of integers as wide as what it compares. What has no text for
/// vectors is written lane by lane.
struct VectorLanguage {
  /// The type of `$n` elements of type `$T`; those that bools are. Null is what a language has not that only has
  /// vectors of memory.
  const char *type, *bools = nullptr;
  /// Lane `$n` of a vector `$v`, and whether it holds; a vector of type `$T` with lanes `$e`; the lane of a bool `$e`.
  const char *lane, *laneOfBools = nullptr, *make, *makeBool = nullptr;
  /// `$n` elements of an array `$v` of space `$q` (global, local) from `$e` on, read as type `$T`, and set to `$x`;
  /// bools of such bytes, and bytes of bools `$e`.
  const char *load, *store, *loadBools = nullptr, *storeBools = nullptr;
  /// A vector `$0` as type `$T` by value, and by bits; bools as numbers of that type.
  const char *convert = nullptr, *reinterpret = nullptr, *number = nullptr;
  /// Small floats to f32 and back; null where there is no text.
  std::array<const char *, numElements> extend = {}, truncateF32 = {};
  /// Memory has the types that it is declared with, and vectors are what it consists of, or no access of it is one: in
  /// such an access `$e` counts vectors. Of languages that are spelled out.
  bool isOfMemory = false;
};

/// What a language has beside whose memory has words of 32 bits and no less: elements of 8 and 16 bits lie side by
/// side. It computes in words, too: what an op makes of 8 and 16 bits is cut, and bits above are 0. Of an array `$v`,
/// `$e` is an element's number; 2^`$k` of them lie in a word, `$m` is one less; 2^`$b` bits has each, and `$f` has them
/// all set.
struct PackedLanguage {
  /// A word of memory that a thread has alone, or that is only read, and of memory of which others write neighbours.
  const char *word, *sharedWord;
  const char *load, *sharedLoad;
  /// Statements that make the element `$x`, and leave those beside it as they are, whoever writes them meanwhile.
  const char *store, *sharedStore;
  /// The low `$W` bits of a word `$0`, and the signed word of a number of so many.
  const char *low, *withSign;
};

struct Language {
  const char *name;
  /// Names of types by Element: of values, of elements in memory, and of signed integers (null for
  /// what has none).
  std::array<const char *, numElements> values, memory, signedValues;
  /// The element that stands for `index`.
  Element index;
  /// What ends the names of functions of f32.
  const char *suffixF32;
  /// A value `$0` as type `$T`.
  const char *cast;

  /// Statements, one per line. `$T` is a type, `$v` a variable, `$e` an expression, `$n` a number.
  const char *constant;      // a value that never changes
  const char *variable;      // one that does
  const char *uninitialised; // one that is assigned before it is read
  const char *assignment;
  const char *privateArray; // `$n` elements of type `$T`
  const char *ifBegin;
  const char *elseBegin;
  const char *forBegin; // `$v` from `$a` below `$b` in steps of `$c`
  const char *foreverBegin;
  const char *breakUnless; // leaves the innermost loop unless `$e`
  const char *blockEnd;

  /// Expressions. `$v` is an array, `$e` an index or a value.
  const char *element;
  const char *loadBool; // a bool from its byte `$e`, and the byte of a bool
  const char *storeBool;
  const char *choice; // `$a` where `$e` holds, else `$b`; the other is not evaluated

  /// Small floats to f32, f32 to them, f64 to them. `$N` is the short name of the small type.
  const char *extend, *truncateF32, *truncateF64;
  /// Signed and unsigned 64-bit integers to f64, so that rounding it to bf16 is rounding them.
  const char *oddFromI64, *oddFromU64;
  /// In place of that and of f64: signed and unsigned integers of 64 bits to the small float `$N`.
  const char *smallFromI64 = nullptr, *smallFromU64 = nullptr;
  /// Literals by `$n`, which is an unsigned decimal, a hexadecimal float or bits in hexadecimal; `$l` and `$h` are the
  /// words of an integer.
  const char *literalBool[2];
  std::array<const char *, numElements> literals;
  /// Where a float is no finite number.
  const char *bitsF32, *bitsF64;
  /// Zeros and denormals are told by their bits, too: a driver would compute otherwise with constants.
  bool onlyNormalLiterals = false;
  /// A float `$0` as a value of which a driver does not know how it was computed: written where a result of arithmetic
  /// is computed with. Null where a driver keeps the order of sums and contracts nothing.
  const char *opaque = nullptr;
  /// Kernels are spelled out for it by ops on which all machines agree (Codegen/Scalar): small floats are their bits.
  bool isSpelledOut = false;
  /// Integers of 64 bits, too: by their words.
  bool hasWordsAlone = false;

  /// Lists, of which one behind another has what that has not. A helper uses those in front of it in its list, and any
  /// of the lists behind.
  std::array<llvm::ArrayRef<OpText>, 3> ops;
  std::array<llvm::ArrayRef<Helper>, 3> helpers;

  /// Text at the head of a file, before helpers. In a language that declares the scalars of a launch there, its `$n` is
  /// `headScalar` for each number `$n` up to the last one that a kernel mentions by `scalarUse`.
  const char *head, *headScalar = nullptr, *scalarUse = nullptr;
  /// Begin of a kernel named `$v`, of a buffer argument number `$n` of type `$T` that is read, or
  /// also written, of an integer argument number `$n`; the loop over programs `$v`, and the test
  /// that stands in its place where there is no grid.
  const char *kernelBegin;
  const char *bufferRead, *bufferWritten, *scalar;
  const char *programs, *oneProgram;
  /// Words that no kernel may be named.
  llvm::ArrayRef<const char *> reserved;
  /// Of a language whose programs are threads, or are shared by a workgroup's.
  const ThreadLanguage *threads = nullptr;
  const VectorLanguage *vectors = nullptr;
  const PackedLanguage *packed = nullptr;
};

/// C, of which other languages take what they write as C does: with `uint64_t` and `UINT64_C`.
extern const Language languageOfC;
extern const llvm::ArrayRef<Helper> helpersOfC;
/// What all languages write alike.
extern const llvm::ArrayRef<OpText> opsOfAll;
/// Conversions of small floats by integers alone: from f32, f64 and integers of 64 bits, and to f32.
extern const llvm::ArrayRef<Helper> helpersOfSmallFloats;

} // namespace zyx::target

#endif // ZYX_TARGET_TEXT_LANGUAGE_H
