//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelPrinter.h"

#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/Math/IR/Math.h"
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

/// Stack that a kernel may use: worker threads have 1 MiB.
constexpr int64_t maxPrivateBytes = 512 << 10;

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

Result<Element> KernelPrinter::elementOf(Operation *op, Type type) {
  if (type.isIndex())
    return lang.index;
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
  string name;
  llvm::raw_string_ostream(name) << type;
  return refuse(op, Twine("has the type ") + name + ", which is no scalar of " + lang.name);
}

string KernelPrinter::integer(Element element, uint64_t value) {
  return expand(lang.literals[static_cast<size_t>(element)], {{'n', std::to_string(value)}});
}

void KernelPrinter::define(Value value, Element element, const string &expression) {
  const string &made = bind(value, fresh("v"));
  line(expand(lang.constant, {{'T', valueType(element)}, {'v', made}, {'e', expression}}));
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

Status KernelPrinter::print(ViewOp view) {
  ZYX_RETURN_IF_ERROR(elementOf(view, view.getType().getElementType()).status());
  bind(view, string(name(view.getBuffer())));
  return {};
}

Status KernelPrinter::print(AllocOp alloc) {
  ViewType type = alloc.getType();
  const bool isShared = type.getSpace() != Space::Private;
  if (isShared && groupThreads == 1)
    return refuse(alloc, "asks for shared memory, which one thread does not have");
  ZYX_ASSIGN_OR_RETURN(const Element element, elementOf(alloc, type.getElementType()));
  const string &array = bind(alloc, fresh("p"));
  const int64_t begin = privateBytes;
  if (!isShared)
    privateBytes += bytesOf(alloc);
  if (privateBytes > maxPrivateBytes && scratchBytes == 0)
    return refuse(alloc, Twine("brings the kernel's private memory to ") + Twine(privateBytes) +
                             " bytes; the stack has room for " + Twine(maxPrivateBytes));
  const string declaration = expand(isShared       ? lang.threads->sharedArray
                                    : scratchBytes ? lang.threads->scratchArray
                                                   : lang.privateArray,
                                    {{'T', memoryType(element)},
                                     {'v', array},
                                     {'n', std::to_string(std::max<int64_t>(type.getDimSize(0), 1))},
                                     {'e', std::to_string(begin)},
                                     {'s', std::to_string(scratchBytes)}});
  if (isShared)
    sharedArrays += "  " + declaration + '\n';
  else
    line(declaration);
  return {};
}

Status KernelPrinter::print(IdOp id) {
  if (!lang.threads || id.getKind() != IdKind::Thread)
    return refuse(id, Twine("has no text in ") + lang.name);
  if (groupThreads == 1)
    bind(id, indexLiteral(0));
  else
    define(id, lang.index, lang.threads->thread);
  return {};
}

Status KernelPrinter::print(BarrierOp barrier) {
  if (!lang.threads || barrier.getScope() != Scope::Workgroup)
    return refuse(barrier, Twine("has no text in ") + lang.name);
  if (groupThreads != 1 && !uniform.isReachedByAll(barrier))
    return refuse(barrier, "is not reached by all threads of the workgroup, or it is not known");
  if (groupThreads != 1)
    line(readsBack ? lang.threads->barrierOfAll : lang.threads->barrier);
  return {};
}

string KernelPrinter::elementAt(Value view, ValueRange indices) {
  return expand(lang.element, {{'v', name(view)}, {'e', name(indices.front())}});
}

string KernelPrinter::zeroOf(Element element) {
  if (element == Element::Bool)
    return lang.literalBool[0];
  const bool isFloat = element == Element::F32 || element == Element::F64;
  return isFloat ? expand(lang.literals[static_cast<size_t>(element)], {{'n', "0x0p+0"}}) : integer(element, 0);
}

Status KernelPrinter::print(LoadOp load) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(load, load.getType()));
  string value = elementAt(load.getView(), load.getIndices());
  if (element == Element::Bool)
    value = expand(lang.loadBool, {{'e', value}});
  if (load.getMask()) {
    const string other = load.getOther() ? name(load.getOther()) : zeroOf(element);
    value = expand(lang.choice, {{'e', name(load.getMask())}, {'a', value}, {'b', other}});
  }
  define(load.getResult(), element, value);
  return {};
}

Status KernelPrinter::print(StoreOp store) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(store, store.getValue().getType()));
  string value = name(store.getValue());
  if (element == Element::Bool)
    value = expand(lang.storeBool, {{'e', value}});
  string assignment = expand(lang.assignment, {{'v', elementAt(store.getView(), store.getIndices())}, {'e', value}});
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

Status KernelPrinter::print(arith::ConstantOp constant) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(constant, constant.getType()));
  string text;
  const char *form = lang.literals[static_cast<size_t>(element)];
  Attribute own = constant.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(own)) {
    text = element == Element::Bool ? lang.literalBool[integer.getValue().getBoolValue()]
                                    : expand(form, {{'n', std::to_string(integer.getValue().getZExtValue())}});
    bind(constant, text);
    return {};
  }
  APFloat value = cast<FloatAttr>(own).getValue();
  APInt bits = value.bitcastToAPInt();
  string hexadecimal = "0x" + llvm::utohexstr(bits.getZExtValue(), /*LowerCase=*/true);
  if (isSmallFloat(element)) {
    text = expand(form, {{'n', std::to_string(bits.getZExtValue())}});
  } else if (!value.isFinite()) {
    text = expand(element == Element::F32 ? lang.bitsF32 : lang.bitsF64, {{'n', hexadecimal}});
  } else {
    char digits[64];
    value.convertToHexString(digits, 0, /*UpperCase=*/false, APFloat::rmNearestTiesToEven);
    text = expand(form, {{'n', digits}});
    if (value.isNegative())
      text = "(" + text + ")";
  }
  bind(constant, text);
  return {};
}

/// The op's name in the tables.
static string tableName(Operation *op) {
  string name = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    name += " " + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    name += " " + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (isa<arith::TruncIOp>(op) && op->getResult(0).getType().isInteger(1))
    name += " bool";
  return name;
}

Result<const OpText *> KernelPrinter::textOf(Operation *op, Element element) {
  string wanted = tableName(op);
  for (ArrayRef<OpText> table : lang.ops)
    for (const OpText &entry : table)
      if (wanted == entry.op && (entry.elements & just(element)))
        return &entry;
  return refuse(op, Twine("of ") + shortNames[static_cast<size_t>(element)] + " has no text in " + lang.name);
}

Status KernelPrinter::printExpression(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return refuse(op, Twine("has no text in ") + lang.name);
  // A select is chosen by what it selects.
  Value decisive = isa<arith::SelectOp>(op) ? op->getOperand(1) : op->getOperand(0);
  ZYX_ASSIGN_OR_RETURN(Element operand, elementOf(op, decisive.getType()));
  ZYX_ASSIGN_OR_RETURN(Element result, elementOf(op, op->getResult(0).getType()));
  // Arithmetic on small floats is in f32, rounded after each op.
  bool widened = isSmallFloat(operand) && !isa<arith::SelectOp, arith::BitcastOp>(op);
  if (widened && isa<math::FmaOp>(op))
    return refuse(op, "of a small float would be rounded twice");
  Element computed = widened ? Element::F32 : operand;
  ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, computed));
  const char *signedType = lang.signedValues[static_cast<size_t>(computed)];
  SmallVector<Hole> holes = {{'T', valueType(result)},
                             {'S', signedType ? signedType : ""},
                             {'N', shortNames[static_cast<size_t>(computed)]},
                             {'R', shortNames[static_cast<size_t>(result)]},
                             {'W', widths[static_cast<size_t>(computed)]}};
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    string text = name(value);
    if (widened)
      text = expand(lang.extend, {{'0', text}, {'N', shortNames[static_cast<size_t>(operand)]}});
    holes.push_back({static_cast<char>('0' + i), text});
  }
  string expression = expand(entry->text, holes);
  if (widened && isSmallFloat(result))
    expression = expand(lang.truncateF32, {{'0', expression}, {'N', shortNames[static_cast<size_t>(result)]}});
  define(op->getResult(0), result, expression);
  return {};
}

/// Conversions between types of floats, and of integers to small floats.
Status KernelPrinter::printConversion(Operation *op) {
  ZYX_ASSIGN_OR_RETURN(Element from, elementOf(op, op->getOperand(0).getType()));
  ZYX_ASSIGN_OR_RETURN(Element to, elementOf(op, op->getResult(0).getType()));
  string value = name(op->getOperand(0));
  bool integers = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
  if (integers && isSmallFloat(to) && lang.smallFromI64) {
    const bool isSigned = isa<arith::SIToFPOp>(op);
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    const char *signedType = lang.signedValues[static_cast<size_t>(from)];
    // A bool that is true and signed is -1, by the table.
    const string wide = expand(from == Element::Bool ? entry->text
                               : isSigned            ? "($T)($S)$0"
                                                     : "($T)$0",
                               {{'0', value}, {'T', valueType(Element::I64)}, {'S', signedType ? signedType : ""}});
    define(op->getResult(0), to,
           expand(isSigned ? lang.smallFromI64 : lang.smallFromU64,
                  {{'0', wide}, {'N', shortNames[static_cast<size_t>(to)]}}));
    return {};
  }
  if (integers) {
    // f64 holds every i32, so that rounding is once. What it rounds of an i64 is too large for all
    // small floats but bf16.
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    const char *signedType = lang.signedValues[static_cast<size_t>(from)];
    Element through = isSmallFloat(to) ? Element::F64 : to;
    const char *text = entry->text;
    if (from == Element::I64 && to == Element::BF16)
      text = isa<arith::SIToFPOp>(op) ? lang.oddFromI64 : lang.oddFromU64;
    value = expand(text, {{'0', value}, {'T', valueType(through)}, {'S', signedType ? signedType : ""}});
    from = through;
  }
  if (isSmallFloat(from)) {
    value = expand(lang.extend, {{'0', value}, {'N', shortNames[static_cast<size_t>(from)]}});
    from = Element::F32;
  }
  if (isSmallFloat(to)) {
    const char *form = from == Element::F64 ? lang.truncateF64 : lang.truncateF32;
    value = expand(form, {{'0', value}, {'N', shortNames[static_cast<size_t>(to)]}});
  } else if (from != to) {
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    value = expand(entry->text, {{'0', value}, {'T', valueType(to)}});
  }
  define(op->getResult(0), to, value);
  return {};
}

/// The double-width product as two values.
Status KernelPrinter::printExtended(Operation *op) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(op, op->getOperand(0).getType()));
  ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, element));
  SmallVector<Hole> holes = {{'0', name(op->getOperand(0))},
                             {'1', name(op->getOperand(1))},
                             {'T', valueType(element)},
                             {'S', lang.signedValues[static_cast<size_t>(element)]},
                             {'W', widths[static_cast<size_t>(element)]}};
  // "low part | high part"
  auto [low, high] = StringRef(entry->text).split('|');
  if (!op->getResult(0).use_empty())
    define(op->getResult(0), element, expand(low, holes));
  if (!op->getResult(1).use_empty())
    define(op->getResult(1), element, expand(high, holes));
  return {};
}

Status KernelPrinter::refuse(Operation *op, const Twine &why) {
  string where;
  llvm::raw_string_ostream stream(where);
  op->getLoc().print(stream);
  return Status::unsupported("'" + op->getName().getStringRef().str() + "' " + why.str() + " at " + where);
}

} // namespace zyx::target
