//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelPrinter.h"

#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Target/Backend/RefuseOp.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zyx::target {

using namespace zyx::kernel;
using std::string;

namespace {

constexpr const char *widths[] = {"1", "8", "16", "32", "64", "16", "16", "32", "64", "8", "8"};
constexpr const char *shortNames[] = {"bool", "i8",  "i16", "i32",      "i64",   "f16",
                                      "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2"};

bool isSmallFloat(Element element) {
  return element == Element::F16 || element == Element::BF16 || element == Element::F8E4M3FN ||
         element == Element::F8E5M2;
}

} // namespace

string expand(StringRef text, ArrayRef<Hole> holes) {
  string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const Hole *found = nullptr;
    if (text[i] == '$' && i + 1 < text.size())
      found = llvm::find_if(holes, [&](const Hole &hole) { return hole.name == text[i + 1]; });
    if (!found || found == holes.end()) {
      result += text[i];
      continue;
    }
    result += found->text;
    ++i;
  }
  return result;
}

static std::optional<Element> findElement(Type type) {
  if (type.isInteger(1))
    return Element::Bool;
  if (type.isInteger(8))
    return Element::I8;
  if (type.isInteger(16))
    return Element::I16;
  if (type.isInteger(32))
    return Element::I32;
  if (type.isInteger(64))
    return Element::I64;
  if (type.isF16())
    return Element::F16;
  if (type.isBF16())
    return Element::BF16;
  if (type.isF32())
    return Element::F32;
  if (type.isF64())
    return Element::F64;
  if (isa<Float8E4M3FNType>(type))
    return Element::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return Element::F8E5M2;
  return std::nullopt;
}

Result<Element> KernelPrinter::elementOf(Operation *op, Type type) {
  if (lang.vectors)
    type = getElementTypeOrSelf(type);
  if (type.isIndex())
    return lang.index;
  if (std::optional<Element> element = findElement(type); element && lang.values[static_cast<size_t>(*element)])
    return *element;
  return refuseType(op, type, lang.name);
}

string KernelPrinter::notKept(Element element) {
  return string("has elements of ") + shortNames[static_cast<size_t>(element)] + ", which " + lang.name +
         " keeps in no memory";
}

string KernelPrinter::integer(Element element, uint64_t value) {
  // An index may have fewer digits here than its constant.
  if (element == Element::I32)
    value = static_cast<uint32_t>(value);
  return expand(lang.literals[static_cast<size_t>(element)], {{'n', std::to_string(value)},
                                                              {'l', std::to_string(static_cast<uint32_t>(value))},
                                                              {'h', std::to_string(value >> 32)}});
}

void KernelPrinter::define(Value value, Element element, const string &expression) {
  const string &made = bind(value, fresh("v"));
  line(expand(lang.constant, {{'T', valueType(element, lanesOf(value.getType()))}, {'v', made}, {'e', expression}}));
}

string KernelPrinter::typeOf(const std::array<const char *, numElements> &names, Element element, size_t lanes) {
  const char *own = names[static_cast<size_t>(element)];
  if (lanes == 1 || !lang.vectors)
    return own ? own : "";
  return expand(lang.vectors->type, {{'T', element == Element::Bool ? lang.vectors->bools
                                           : own                    ? own
                                                                    : ""},
                                     {'n', std::to_string(lanes)}});
}

string KernelPrinter::laneText(Value value, size_t which, bool isTested) {
  const string text = expand(lang.vectors->lane, {{'v', names[value.getAsOpaquePointer()]},
                                                  {'n', llvm::utohexstr(which, /*LowerCase=*/true)}});
  return isTested && getElementTypeOrSelf(value).isInteger(1) ? expand(lang.vectors->laneOfBools, {{'e', text}}) : text;
}

string KernelPrinter::make(Element element, ArrayRef<string> lanes, bool isTested) {
  SmallVector<string> all(lanes);
  if (element == Element::Bool && isTested)
    for (string &each : all)
      each = expand(lang.vectors->makeBool, {{'e', each}});
  const string type = valueType(element, lanes.size());
  // Of one number all lanes are made.
  return expand(lang.vectors->make, {{'T', type}, {'e', llvm::all_equal(all) ? all[0] : llvm::join(all, ", ")}});
}

/// True where no printed op needs what this one computes.
bool KernelPrinter::isDead(Operation *op) {
  auto known = dead.find(op);
  if (known != dead.end())
    return known->second;
  bool result = (isa<LoadOp>(op) || isMemoryEffectFree(op)) && !op->hasTrait<OpTrait::IsTerminator>() &&
                // How many programs there are, a launch says.
                llvm::all_of(op->getUsers(), [&](Operation *user) { return isa<GridOp>(user) || isDead(user); });
  return dead[op] = result;
}

//===----------------------------------------------------------------------===//
// Places in memory
//===----------------------------------------------------------------------===//

unsigned KernelPrinter::packedBits(Element element) const {
  const StringRef width = element == Element::Bool ? "8" : widths[static_cast<size_t>(element)];
  return !lang.packed ? 0 : width == "8" ? 8 : width == "16" ? 16 : 0;
}

string KernelPrinter::cut(Element element, const string &value) {
  return isInWord(element) ? expand(lang.packed->low, {{'0', value}, {'W', widths[static_cast<size_t>(element)]}})
                           : value;
}

bool KernelPrinter::hasOtherWriters(Value view) const {
  if (auto whole = view.getDefiningOp<ViewOp>())
    return written.contains(whole.getBuffer());
  return cast<ViewType>(view.getType()).getSpace() != Space::Private;
}

Status KernelPrinter::print(ViewOp view) {
  ZYX_ASSIGN_OR_RETURN(const Element element, elementOf(view, view.getType().getElementType()));
  if (!memoryType(element))
    return refuse(view, notKept(element));
  bind(view, string(name(view.getBuffer())));
  return {};
}

Status KernelPrinter::print(AllocOp alloc) {
  ViewType type = alloc.getType();
  const bool isShared = type.getSpace() != Space::Private;
  ZYX_ASSIGN_OR_RETURN(const Element element, elementOf(alloc, type.getElementType()));
  const bool isOutside = isShared && lang.threads && lang.threads->isDeclaredOutside;
  const string &array = bind(alloc, fresh("p") + (isOutside ? "_" + kernelName : ""));
  const int64_t begin = privateBytes;
  if (!memoryType(element))
    return refuse(alloc, notKept(element));
  if (!isShared && use.scratchBytes != 0 && !lang.threads->scratchArray)
    return refuse(alloc, Twine("brings the kernel's private memory to ") + Twine(use.scratchBytes) +
                             " bytes; a thread has room for " + Twine(mostPrivateBytes));
  if (!isShared)
    privateBytes += bytesOf(alloc);
  if (privateBytes > mostPrivateBytes && use.scratchBytes == 0)
    return refuse(alloc, Twine("brings the kernel's private memory to ") + Twine(privateBytes) +
                             " bytes; the stack has room for " + Twine(mostPrivateBytes));
  const unsigned bits = packedBits(element);
  const int64_t places =
      bits == 0 ? type.getDimSize(0) / vectorsOf(alloc) : llvm::divideCeil(type.getDimSize(0) * bits, 32);
  const string declaration = expand(isShared           ? lang.threads->sharedArray
                                    : use.scratchBytes ? lang.threads->scratchArray
                                                       : lang.privateArray,
                                    {{'T', elementType(alloc, element, isShared)},
                                     {'v', array},
                                     {'n', std::to_string(std::max<int64_t>(places, 1))},
                                     {'e', std::to_string(begin)},
                                     {'s', std::to_string(use.scratchBytes)}});
  if (isShared)
    sharedArrays += (isOutside ? "" : "  ") + declaration + '\n';
  else
    line(declaration);
  return {};
}

SmallVector<Hole> KernelPrinter::placeOf(Element element, Value view, ValueRange indices) {
  const bool isByte = packedBits(element) == 8;
  return {{'v', name(view)},         {'e', name(indices.front())}, {'k', isByte ? "2" : "1"},
          {'m', isByte ? "3" : "1"}, {'b', isByte ? "3" : "4"},    {'f', isByte ? "255" : "65535"}};
}

string KernelPrinter::zeroOf(Element element) {
  if (element == Element::Bool)
    return lang.literalBool[0];
  if (element == Element::F32 && lang.onlyNormalLiterals)
    return expand(lang.bitsF32, {{'n', "0x0"}});
  const bool isFloat = element == Element::F32 || element == Element::F64;
  return isFloat ? expand(lang.literals[static_cast<size_t>(element)], {{'n', "0x0p+0"}}) : integer(element, 0);
}

/// Space of the memory of a vector's access, as OpenCL names it.
static const char *spaceOf(Value view) {
  return cast<ViewType>(view.getType()).getSpace() == Space::Shared ? "local" : "global";
}

Status KernelPrinter::print(LoadOp load) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(load, load.getType()));
  const size_t lanes = lanesOf(load.getType());
  if (lanes != 1) {
    const string value = expand(lang.vectors->load, {{'v', name(load.getView())},
                                                     {'e', name(load.getIndices().front())},
                                                     {'n', std::to_string(lanes)},
                                                     {'T', valueType(element, lanes)},
                                                     {'q', spaceOf(load.getView())}});
    define(load.getResult(), element,
           element == Element::Bool ? expand(lang.vectors->loadBools, {{'e', value}, {'T', valueType(element, lanes)}})
                                    : value);
    return {};
  }
  // A place that is known and outside is an error in some languages, even where nothing is read.
  const string other = load.getMask() ? load.getOther() ? name(load.getOther()) : zeroOf(element) : "";
  if (load.getMask() && matchPattern(load.getMask(), m_Zero())) {
    define(load.getResult(), element, other);
    return {};
  }
  const char *form = packedBits(element) == 0          ? lang.element
                     : hasOtherWriters(load.getView()) ? lang.packed->sharedLoad
                                                       : lang.packed->load;
  string value = expand(form, placeOf(element, load.getView(), load.getIndices()));
  if (element == Element::Bool)
    value = expand(lang.loadBool, {{'e', value}});
  if (load.getMask()) {
    value = expand(lang.choice, {{'e', name(load.getMask())}, {'a', value}, {'b', other}});
  }
  define(load.getResult(), element, value);
  return {};
}

Status KernelPrinter::print(StoreOp store) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(store, store.getValue().getType()));
  if (const size_t lanes = lanesOf(store.getValue().getType()); lanes != 1) {
    const string count = std::to_string(lanes), &value = names[store.getValue().getAsOpaquePointer()];
    line(expand(
        lang.vectors->store,
        {{'v', name(store.getView())},
         {'e', name(store.getIndices().front())},
         {'x', element == Element::Bool ? expand(lang.vectors->storeBools, {{'e', value}, {'n', count}}) : value},
         {'n', count},
         {'T', valueType(element, lanes)},
         {'q', spaceOf(store.getView())}}));
    return {};
  }
  if (store.getMask() && matchPattern(store.getMask(), m_Zero()))
    return {};
  string value = name(store.getValue());
  if (element == Element::Bool)
    value = expand(lang.storeBool, {{'e', value}});
  SmallVector<Hole> place = placeOf(element, store.getView(), store.getIndices());
  string assignment;
  if (packedBits(element) == 0) {
    assignment = expand(lang.assignment, {{'v', expand(lang.element, place)}, {'e', value}});
  } else {
    place.push_back({'x', value});
    assignment = expand(hasOtherWriters(store.getView()) ? lang.packed->sharedStore : lang.packed->store, place);
  }
  if (!store.getMask()) {
    line(assignment);
    return {};
  }
  line(expand(lang.ifBegin, {{'e', name(store.getMask())}}));
  ++depth;
  line(assignment);
  --depth;
  line(lang.blockEnd);
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

string KernelPrinter::literal(Element element, Attribute attribute) {
  const char *form = lang.literals[static_cast<size_t>(element)];
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return element == Element::Bool ? lang.literalBool[integer.getValue().getBoolValue()]
                                    : this->integer(element, integer.getValue().getZExtValue());
  APFloat value = cast<FloatAttr>(attribute).getValue();
  APInt bits = value.bitcastToAPInt();
  string hexadecimal = "0x" + llvm::utohexstr(bits.getZExtValue(), /*LowerCase=*/true);
  if (isSmallFloat(element))
    return expand(form, {{'n', std::to_string(bits.getZExtValue())}});
  if (!value.isFinite() || (lang.onlyNormalLiterals && (value.isZero() || value.isDenormal())))
    return expand(element == Element::F32 ? lang.bitsF32 : lang.bitsF64, {{'n', hexadecimal}});
  char digits[64];
  value.convertToHexString(digits, 0, /*UpperCase=*/false, APFloat::rmNearestTiesToEven);
  string text = expand(form, {{'n', digits}});
  return value.isNegative() ? "(" + text + ")" : text;
}

Status KernelPrinter::print(arith::ConstantOp constant) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(constant, constant.getType()));
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    SmallVector<string> lanes;
    for (Attribute each : dense.getValues<Attribute>())
      lanes.push_back(literal(element, each));
    define(constant, element, make(element, lanes));
  } else {
    bind(constant, literal(element, constant.getValue()));
  }
  return {};
}

/// The op's name in the tables.
static string tableName(Operation *op) {
  string name = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    name += " " + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    name += " " + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (auto combine = dyn_cast<SubgroupReduceOp>(op))
    name += " " + stringifyCombine(combine.getKind()).str();
  if (isa<arith::TruncIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    name += " bool";
  return name;
}

Result<const OpText *> KernelPrinter::textOf(Operation *op, Element element) {
  string wanted = tableName(op);
  // Casts of indices are conversions of integers as wide.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    const auto bitsOf = [&](Value value) {
      Type type = getElementTypeOrSelf(value);
      return type.isIndex() ? lang.index == Element::I32 ? 32 : 64 : type.getIntOrFloatBitWidth();
    };
    const unsigned from = bitsOf(op->getOperand(0)), to = bitsOf(op->getResult(0));
    wanted = to == 1                       ? "arith.trunci bool"
             : to <= from                  ? "arith.trunci"
             : isa<arith::IndexCastOp>(op) ? "arith.extsi"
                                           : "arith.extui";
  }
  const bool isLong = getElementTypeOrSelf(op->getResult(0)).isInteger(64) && element != Element::I64;
  const string longer = isLong ? wanted + " i64" : wanted;
  for (ArrayRef<OpText> table : lang.ops)
    for (const OpText &entry : table)
      if ((wanted == entry.op || longer == entry.op) &&
          ((width == 1 ? entry.elements : entry.together) & just(element)))
        return &entry;
  return refuse(op, Twine("of ") + shortNames[static_cast<size_t>(element)] + " has no text in " + lang.name);
}

SmallVector<Hole> KernelPrinter::holesOf(Element operand, Element result, ArrayRef<string> operands) {
  const auto from = static_cast<size_t>(operand), to = static_cast<size_t>(result);
  const string type = valueType(result, width);
  const string signedOperand = signedType(isInWord(operand) ? Element::I32 : operand, width);
  constexpr Element sameWidth[] = {Element::I32, Element::I8,  Element::I16, Element::I32, Element::I64, Element::I16,
                                   Element::I16, Element::I32, Element::I64, Element::I8,  Element::I8};
  SmallVector<Hole> holes = {{'T', type},
                             {'S', signedOperand},
                             {'F', valueType(operand, width)},
                             {'I', signedType(sameWidth[from], width)},
                             {'N', shortNames[from]},
                             {'R', shortNames[to]},
                             {'W', widths[from]},
                             {'w', widths[to]},
                             {'f', operand == Element::F32 ? lang.suffixF32 : ""}};
  // Casts, or functions of vectors.
  const auto as = [&](const char *ofVectors, const string &itsType, const string &value) {
    return expand(width == 1 ? lang.cast : ofVectors, {{'T', itsType}, {'0', value}});
  };
  const auto withSign = [&](const string &value) {
    return isInWord(operand) ? expand(lang.packed->withSign, {{'0', value}, {'W', widths[from]}})
                             : as(lang.vectors ? lang.vectors->reinterpret : "", signedOperand, value);
  };
  for (auto [i, value] : llvm::enumerate(operands)) {
    holes.push_back({static_cast<char>('0' + i), value});
    if (i < 2 && !signedOperand.empty())
      holes.push_back({static_cast<char>('a' + i), withSign(value)});
  }
  const char *convert = !lang.vectors ? "" : operand == Element::Bool ? lang.vectors->number : lang.vectors->convert;
  holes.push_back({'u', as(convert, type, operands[0])});
  if (!signedOperand.empty())
    holes.push_back({'s', as(convert, type, withSign(operands[0]))});
  return holes;
}

Result<string> KernelPrinter::extended(Operation *op, Element element, const string &value) {
  const char *text = width == 1 ? lang.extend : lang.vectors->extend[static_cast<size_t>(element)];
  if (!text)
    return refuse(op, "has no text for vectors");
  return expand(text, {{'0', value}, {'N', shortNames[static_cast<size_t>(element)]}, {'n', std::to_string(width)}});
}

Result<string> KernelPrinter::truncated(Operation *op, Element element, const string &value) {
  const char *text = width == 1 ? lang.truncateF32 : lang.vectors->truncateF32[static_cast<size_t>(element)];
  if (!text)
    return refuse(op, "has no text for vectors");
  return expand(text, {{'0', value}, {'N', shortNames[static_cast<size_t>(element)]}, {'n', std::to_string(width)}});
}

/// Whether a driver that takes sums for those of real numbers would compute both ops at once: (x + y) - y as x.
static bool isRegrouped(Operation *op, Value operand) {
  Operation *first = operand.getDefiningOp();
  // The number of an integer that is a bool's, times one that may be NaN: it would choose between that and 0.
  if (isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(first))
    return operand.getType().isF32() && isa<arith::MulFOp, math::FmaOp>(op);
  if (!operand.getType().isF32() || !isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                                                     math::FmaOp, math::SqrtOp, math::Exp2Op>(first))
    return false;
  return !isa<arith::SelectOp, arith::BitcastOp>(op) && !(isa<math::FmaOp>(op) && isa<math::FmaOp>(first));
}

/// Whether such a driver knows the difference or the quotient, as if there were no infinity: one operand is hidden.
static bool cancels(Operation *op) {
  return isa<arith::SubFOp, arith::DivFOp>(op) && op->getOperand(0) == op->getOperand(1) &&
         op->getOperand(0).getType().isF32();
}

Result<KernelPrinter::Texts> KernelPrinter::textsOf(Operation *op) {
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
    return extendedOf(op);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return conversionOf(op);
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return refuse(op, Twine("has no text in ") + lang.name);
  // A select is chosen by what it selects.
  auto select = dyn_cast<arith::SelectOp>(op);
  Value decisive = op->getOperand(select ? 1 : 0);
  ZYX_ASSIGN_OR_RETURN(Element operand, elementOf(op, decisive.getType()));
  ZYX_ASSIGN_OR_RETURN(Element result, elementOf(op, op->getResult(0).getType()));
  // Arithmetic on small floats is in f32, rounded after each op.
  bool widened = isSmallFloat(operand) && !isa<arith::SelectOp, arith::BitcastOp>(op);
  if (widened && isa<math::FmaOp>(op))
    return refuse(op, "of a small float would be rounded twice");
  Element computed = widened ? Element::F32 : operand;
  ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, computed));
  SmallVector<string> operands;
  for (Value value : op->getOperands()) {
    const bool isHidden = lang.opaque && (cancels(op) ? operands.size() == 1 : isRegrouped(op, value));
    operands.push_back(isHidden ? expand(lang.opaque, {{'0', name(value)}}) : name(value));
    if (widened) {
      ZYX_ASSIGN_OR_RETURN(operands.back(), extended(op, operand, operands.back()));
    }
  }
  SmallVector<Hole> holes = holesOf(computed, result, operands);
  // Vectors of bools are as wide as the language has them, and not as what is compared or selected.
  const auto converted = [&](const string &type, const string &value) {
    return expand(lang.vectors->convert, {{'T', type}, {'0', value}});
  };
  const bool isWide =
      width != 1 && StringRef(widths[static_cast<size_t>(computed)]) != "32" && computed != Element::Bool;
  if (isWide && select && isa<VectorType>(select.getCondition().getType()))
    llvm::find_if(holes, [](const Hole &hole) { return hole.name == '0'; })->text =
        converted(expand("$I", holes), operands[0]);
  string expression = expand(entry->text, holes);
  if (isWide && isa<arith::CmpIOp, arith::CmpFOp>(op))
    expression = converted(valueType(Element::Bool, width), expression);
  if (widened && isSmallFloat(result)) {
    ZYX_ASSIGN_OR_RETURN(expression, truncated(op, result, expression));
  }
  // These have no more bits than their operands.
  return Texts{isa<arith::SelectOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) ? expression
                                                                                    : cut(result, expression)};
}

/// Conversions between types of floats, and of integers to floats.
Result<KernelPrinter::Texts> KernelPrinter::conversionOf(Operation *op) {
  ZYX_ASSIGN_OR_RETURN(Element from, elementOf(op, op->getOperand(0).getType()));
  ZYX_ASSIGN_OR_RETURN(Element to, elementOf(op, op->getResult(0).getType()));
  string value = name(op->getOperand(0));
  bool integers = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
  if (integers && isSmallFloat(to) && width != 1)
    return refuse(op, "has no text for vectors");
  if (integers && isSmallFloat(to) && lang.smallFromI64) {
    const bool isSigned = isa<arith::SIToFPOp>(op);
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    // A bool that is true and signed is -1, by the table.
    const string wide = expand(from == Element::Bool ? entry->text
                               : isSigned            ? "$s"
                                                     : "$u",
                               holesOf(from, Element::I64, value));
    return Texts{expand(isSigned ? lang.smallFromI64 : lang.smallFromU64,
                        {{'0', wide}, {'N', shortNames[static_cast<size_t>(to)]}})};
  }
  if (integers) {
    // f64 holds every i32, so that rounding is once. What it rounds of an i64 is too large for all
    // small floats but bf16.
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    Element through = isSmallFloat(to) ? Element::F64 : to;
    const char *text = entry->text;
    if (from == Element::I64 && to == Element::BF16)
      text = isa<arith::SIToFPOp>(op) ? lang.oddFromI64 : lang.oddFromU64;
    value = expand(text, holesOf(from, through, value));
    from = through;
  }
  if (isSmallFloat(from)) {
    ZYX_ASSIGN_OR_RETURN(value, extended(op, from, value));
    from = Element::F32;
  }
  if (isSmallFloat(to) && from != Element::F64) {
    ZYX_ASSIGN_OR_RETURN(value, truncated(op, to, value));
  } else if (isSmallFloat(to)) {
    if (width != 1)
      return refuse(op, "has no text for vectors");
    value = expand(lang.truncateF64, {{'0', value}, {'N', shortNames[static_cast<size_t>(to)]}});
  } else if (from != to) {
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    value = expand(entry->text, holesOf(from, to, value));
  }
  return Texts{value};
}

Result<KernelPrinter::Texts> KernelPrinter::extendedOf(Operation *op) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(op, op->getOperand(0).getType()));
  ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, element));
  SmallVector<Hole> holes = holesOf(element, element, {name(op->getOperand(0)), name(op->getOperand(1))});
  // "low part | high part"
  auto [low, high] = StringRef(entry->text).split('|');
  return Texts{cut(element, expand(low, holes)), cut(element, expand(high, holes))};
}

Status KernelPrinter::printResults(Operation *op) {
  width = op->getNumResults() == 0 ? 1 : lanesOf(op->getResult(0).getType());
  const size_t lanes = width;
  Result<Texts> texts = textsOf(op);
  width = 1;
  SmallVector<SmallVector<string>, 2> all(op->getNumResults());
  for (lane = 0; !texts.isOk() && lane < lanes && lanes != 1; ++lane) {
    ZYX_ASSIGN_OR_RETURN(const Texts each, textsOf(op));
    for (auto [own, text] : llvm::zip(all, each))
      own.push_back(text);
  }
  lane = 0;
  if (lanes == 1)
    ZYX_RETURN_IF_ERROR(texts.status());
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    ZYX_ASSIGN_OR_RETURN(const Element element, elementOf(op, result.getType()));
    if (!result.use_empty())
      define(result, element, texts.isOk() ? (*texts)[i] : make(element, all[i]));
  }
  return {};
}

Status KernelPrinter::printLanes(Operation *op) {
  if (!lang.vectors)
    return refuse(op, Twine("has no text in ") + lang.name);
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    bind(extract, laneText(extract.getSource(), static_cast<size_t>(extract.getStaticPosition()[0])));
    return {};
  }
  SmallVector<string> lanes;
  // Lanes of other vectors stay what they are there: bools are not tested to be made again.
  const bool isPermuted =
      llvm::all_of(op->getOperands(), [](Value each) { return each.getDefiningOp<vector::ExtractOp>(); });
  for (Value operand : op->getOperands()) {
    auto extract = operand.getDefiningOp<vector::ExtractOp>();
    lanes.push_back(isPermuted ? laneText(extract.getSource(), static_cast<size_t>(extract.getStaticPosition()[0]),
                                          /*isTested=*/false)
                               : name(operand));
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    lanes.append(lanesOf(broadcast.getType()) - 1, string(lanes[0]));
  else if (!isa<vector::FromElementsOp>(op))
    return refuse(op, Twine("has no text in ") + lang.name);
  ZYX_ASSIGN_OR_RETURN(const Element element, elementOf(op, op->getResult(0).getType()));
  define(op->getResult(0), element, make(element, lanes, !isPermuted));
  return {};
}

Status KernelPrinter::refuse(Operation *op, const Twine &why) { return refuseOp(op, why); }

} // namespace zyx::target
