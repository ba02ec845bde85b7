//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Printer.h"

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <unordered_map>

using namespace mlir;

namespace zyx::target {
namespace {

using namespace zyx::kernel;
using std::string;

/// What stands for a `$x` of a template.
struct Hole {
  char name;
  string text;
};

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

constexpr const char *widths[] = {"1", "8", "16", "32", "64", "16", "16", "32", "64", "8", "8"};
constexpr const char *shortNames[] = {"bool", "i8",  "i16", "i32",      "i64",   "f16",
                                      "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2"};

bool isSmallFloat(Element element) {
  return element == Element::F16 || element == Element::BF16 || element == Element::F8E4M3FN ||
         element == Element::F8E5M2;
}

/// Where the elements of a view lie.
struct Place {
  string array;
  Element element;
  string offsetText;
  SmallVector<string> strides;
};

class Printer {
public:
  Printer(const Language &language) : lang(language) {}
  Status print(FuncOp func);
  string text;

private:
  Status print(Operation *op);
  Status print(Block &block);
  Status print(GridOp grid);
  Status print(scf::ForOp loop);
  Status print(scf::IfOp branch);
  Status print(scf::WhileOp loop);
  Status print(ViewOp view);
  Status print(AllocOp alloc);
  Status print(SubviewOp subview);
  Status print(LoadOp load);
  Status print(StoreOp store);
  Status print(arith::ConstantOp constant);
  Status printExtended(Operation *op);
  Status printConversion(Operation *op);
  Status printExpression(Operation *op);

  static Status refuse(Operation *op, const Twine &why);
  Result<Element> elementOf(Operation *op, Type type);
  Result<const OpText *> textOf(Operation *op, Element element);
  bool isDead(Operation *op);

  void line(const Twine &content) { text += string(2 * depth, ' ') + content.str() + '\n'; }
  /// Declares a value that has this expression.
  void define(Value value, Element element, const string &expression);
  string fresh(const char *prefix) { return prefix + std::to_string(counter++); }
  const string &name(Value value) { return names[value.getAsOpaquePointer()]; }
  const string &bind(Value value, string text) {
    return names[value.getAsOpaquePointer()] = std::move(text);
  }
  const char *valueType(Element element) { return lang.values[static_cast<size_t>(element)]; }
  const char *memoryType(Element element) { return lang.memory[static_cast<size_t>(element)]; }
  string integer(Element element, uint64_t value);
  string indexLiteral(int64_t value) { return integer(lang.index, static_cast<uint64_t>(value)); }
  /// An expression over the symbols of a view.
  string expression(AffineExpr expr, ValueRange symbols);
  string sum(const string &a, const string &b);
  string product(const string &a, const string &b);
  string linear(const Place &place, ValueRange indices);
  const Place &placeOf(Value view);
  /// variables = values, as if at once.
  void assign(ArrayRef<string> variables, ArrayRef<string> values, ArrayRef<Element> elements);
  Status elementsOf(Operation *op, TypeRange types, SmallVectorImpl<Element> &elements);

  const Language &lang;
  /// References to its strings stay valid while it grows.
  std::unordered_map<void *, string> names;
  DenseMap<Value, Place> places;
  DenseMap<Operation *, bool> dead;
  unsigned counter = 0, depth = 0;
  int64_t privateBytes = 0;
};

/// Stack that a kernel may use: worker threads have 1 MiB.
constexpr int64_t maxPrivateBytes = 512 << 10;

Status Printer::refuse(Operation *op, const Twine &why) {
  string where;
  llvm::raw_string_ostream stream(where);
  op->getLoc().print(stream);
  return Status::unsupported("'" + op->getName().getStringRef().str() + "' " + why.str() + " at " + where);
}

Result<Element> Printer::elementOf(Operation *op, Type type) {
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

string Printer::integer(Element element, uint64_t value) {
  return expand(lang.literals[static_cast<size_t>(element)], {{'n', std::to_string(value)}});
}

void Printer::define(Value value, Element element, const string &expression) {
  bind(value, fresh("v"));
  line(expand(lang.constant, {{'T', valueType(element)}, {'v', name(value)}, {'e', expression}}));
}

/// True where no printed op needs what this one computes.
bool Printer::isDead(Operation *op) {
  auto known = dead.find(op);
  if (known != dead.end())
    return known->second;
  bool result = (isa<LoadOp>(op) || isMemoryEffectFree(op)) && !op->hasTrait<OpTrait::IsTerminator>() &&
                llvm::all_of(op->getUsers(), [&](Operation *user) { return isDead(user); });
  return dead[op] = result;
}

//===----------------------------------------------------------------------===//
// Places in memory
//===----------------------------------------------------------------------===//

string Printer::sum(const string &a, const string &b) {
  string zero = indexLiteral(0);
  return a == zero ? b : b == zero ? a : "(" + a + " + " + b + ")";
}

string Printer::product(const string &a, const string &b) {
  string zero = indexLiteral(0), one = indexLiteral(1);
  if (a == zero || b == zero)
    return zero;
  return a == one ? b : b == one ? a : a + " * " + b;
}

string Printer::expression(AffineExpr expr, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return indexLiteral(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return name(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  string a = expression(binary.getLHS(), symbols), b = expression(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return sum(a, b);
  case AffineExprKind::Mul:
    return "(" + product(a, b) + ")";
  // Sizes are not negative, so that rounding up and down need no signs.
  case AffineExprKind::FloorDiv:
    return "(" + a + " / " + b + ")";
  case AffineExprKind::CeilDiv:
    return "((" + a + " + " + b + " - " + indexLiteral(1) + ") / " + b + ")";
  default:
    return "(" + a + " % " + b + ")";
  }
}

string Printer::linear(const Place &place, ValueRange indices) {
  string result = place.offsetText;
  for (auto [i, stride] : llvm::zip(indices, place.strides))
    result = sum(result, product(name(i), stride));
  return result;
}

const Place &Printer::placeOf(Value view) {
  auto found = places.find(view);
  ZYX_ASSERT(found != places.end(), "views are no scalars, so that no control flow yields one");
  return found->second;
}

Status Printer::print(ViewOp view) {
  BlockAttr block = view.getMap().front();
  if (!view.getMap().isSingleBlock() || block.hasValid())
    return refuse(view, "has a map that is not one whole block");
  Place place;
  place.array = name(view.getBuffer());
  ZYX_ASSIGN_OR_RETURN(place.element, elementOf(view, view.getType().getElementType()));
  place.offsetText = expression(block.getOffset(), view.getSymbols());
  for (AffineExpr stride : block.getStrides())
    place.strides.push_back(expression(stride, view.getSymbols()));
  places[view] = std::move(place);
  return {};
}

Status Printer::print(AllocOp alloc) {
  ViewType type = alloc.getType();
  if (type.getSpace() != Space::Private)
    return refuse(alloc, "asks for shared memory, which one thread does not have");
  Place place;
  ZYX_ASSIGN_OR_RETURN(place.element, elementOf(alloc, type.getElementType()));
  place.array = fresh("p");
  place.offsetText = indexLiteral(0);
  int64_t elements = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    place.strides.insert(place.strides.begin(), indexLiteral(elements));
    elements *= extent;
  }
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  privateBytes += llvm::alignTo(elements * std::max<int64_t>(bits, 8) / 8, 64);
  if (privateBytes > maxPrivateBytes)
    return refuse(alloc, Twine("brings the kernel's private memory to ") + Twine(privateBytes) +
                             " bytes; the stack has room for " + Twine(maxPrivateBytes));
  line(expand(lang.privateArray, {{'T', memoryType(place.element)},
                                {'v', place.array},
                                {'n', std::to_string(std::max<int64_t>(elements, 1))}}));
  places[alloc] = std::move(place);
  return {};
}

Status Printer::print(SubviewOp subview) {
  Place place = placeOf(subview.getView());
  place.offsetText = linear(place, subview.getIndices());
  place.strides.erase(place.strides.begin(), place.strides.end() - subview.getType().getRank());
  places[subview] = std::move(place);
  return {};
}

Status Printer::print(LoadOp load) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(load, load.getType()));
  const Place &place = placeOf(load.getView());
  string value = expand(lang.element, {{'v', place.array}, {'e', linear(place, load.getIndices())}});
  if (element == Element::Bool)
    value = expand(lang.loadBool, {{'e', value}});
  if (load.getMask()) {
    string other = element == Element::Bool  ? lang.literalBool[0]
                   : element == Element::F32 || element == Element::F64
                       ? expand(lang.literals[static_cast<size_t>(element)], {{'n', "0x0p+0"}})
                       : integer(element, 0);
    if (load.getOther())
      other = name(load.getOther());
    value = expand(lang.choice, {{'e', name(load.getMask())}, {'a', value}, {'b', other}});
  }
  define(load.getResult(), element, value);
  return {};
}

Status Printer::print(StoreOp store) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(store, store.getValue().getType()));
  const Place &place = placeOf(store.getView());
  string value = name(store.getValue());
  if (element == Element::Bool)
    value = expand(lang.storeBool, {{'e', value}});
  string target = expand(lang.element, {{'v', place.array}, {'e', linear(place, store.getIndices())}});
  string assignment = expand(lang.assignment, {{'v', target}, {'e', value}});
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

Status Printer::print(arith::ConstantOp constant) {
  ZYX_ASSIGN_OR_RETURN(Element element, elementOf(constant, constant.getType()));
  string text;
  const char *form = lang.literals[static_cast<size_t>(element)];
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
    text = element == Element::Bool ? lang.literalBool[integer.getValue().getBoolValue()]
                                    : expand(form, {{'n', std::to_string(integer.getValue().getZExtValue())}});
    bind(constant, text);
    return {};
  }
  APFloat value = cast<FloatAttr>(constant.getValue()).getValue();
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
string tableName(Operation *op) {
  string name = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    name += " " + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    name += " " + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (isa<arith::TruncIOp>(op) && op->getResult(0).getType().isInteger(1))
    name += " bool";
  return name;
}

Result<const OpText *> Printer::textOf(Operation *op, Element element) {
  string wanted = tableName(op);
  for (const OpText &entry : lang.ops)
    if (wanted == entry.op && (entry.elements & just(element)))
      return &entry;
  return refuse(op, Twine("of ") + shortNames[static_cast<size_t>(element)] + " has no text in " + lang.name);
}

Status Printer::printExpression(Operation *op) {
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
Status Printer::printConversion(Operation *op) {
  ZYX_ASSIGN_OR_RETURN(Element from, elementOf(op, op->getOperand(0).getType()));
  ZYX_ASSIGN_OR_RETURN(Element to, elementOf(op, op->getResult(0).getType()));
  string value = name(op->getOperand(0));
  bool integers = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
  if (integers) {
    // f64 holds every i32, so that rounding is once; see the conversion to LLVM for i64.
    ZYX_ASSIGN_OR_RETURN(const OpText *entry, textOf(op, from));
    const char *signedType = lang.signedValues[static_cast<size_t>(from)];
    Element through = isSmallFloat(to) ? Element::F64 : to;
    value = expand(entry->text, {{'0', value}, {'T', valueType(through)}, {'S', signedType ? signedType : ""}});
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
Status Printer::printExtended(Operation *op) {
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

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

Status Printer::elementsOf(Operation *op, TypeRange types, SmallVectorImpl<Element> &elements) {
  for (Type type : types) {
    ZYX_ASSIGN_OR_RETURN(Element element, elementOf(op, type));
    elements.push_back(element);
  }
  return {};
}

void Printer::assign(ArrayRef<string> variables, ArrayRef<string> values, ArrayRef<Element> elements) {
  SmallVector<string> sources(values);
  for (size_t i = 0; i < variables.size(); ++i)
    // A variable that is read after it is written needs its old value.
    for (size_t j = i + 1; j < variables.size(); ++j)
      if (sources[j] == variables[i]) {
        string old = fresh("t");
        line(expand(lang.constant, {{'T', valueType(elements[j])}, {'v', old}, {'e', sources[j]}}));
        sources[j] = old;
      }
  for (auto [variable, source] : llvm::zip(variables, sources))
    if (variable != source)
      line(expand(lang.assignment, {{'v', variable}, {'e', source}}));
}

Status Printer::print(scf::ForOp loop) {
  SmallVector<Element> elements;
  ZYX_RETURN_IF_ERROR(elementsOf(loop, loop.getResultTypes(), elements));
  SmallVector<string> variables;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    variables.push_back(fresh("a"));
    bind(loop.getRegionIterArg(i), variables[i]);
    bind(loop.getResult(i), variables[i]);
    line(expand(lang.variable, {{'T', valueType(elements[i])}, {'v', variables[i]}, {'e', name(init)}}));
  }
  ZYX_ASSIGN_OR_RETURN(Element counter, elementOf(loop, loop.getInductionVar().getType()));
  string induction = bind(loop.getInductionVar(), fresh("i"));
  const char *signedType = lang.signedValues[static_cast<size_t>(counter)];
  line(expand(lang.forBegin, {{'T', valueType(counter)},
                            {'S', signedType ? signedType : ""},
                            {'v', induction},
                            {'a', name(loop.getLowerBound())},
                            {'b', name(loop.getUpperBound())},
                            {'c', name(loop.getStep())}}));
  ++depth;
  ZYX_RETURN_IF_ERROR(print(*loop.getBody()));
  SmallVector<string> values;
  for (Value value : loop.getYieldedValues())
    values.push_back(name(value));
  assign(variables, values, elements);
  --depth;
  line(lang.blockEnd);
  return {};
}

Status Printer::print(scf::IfOp branch) {
  SmallVector<Element> elements;
  ZYX_RETURN_IF_ERROR(elementsOf(branch, branch.getResultTypes(), elements));
  SmallVector<string> variables;
  for (auto [result, element] : llvm::zip(branch.getResults(), elements)) {
    variables.push_back(bind(result, fresh("a")));
    line(expand(lang.uninitialised, {{'T', valueType(element)}, {'v', name(result)}}));
  }
  auto side = [&](Block &block) -> Status {
    ++depth;
    ZYX_RETURN_IF_ERROR(print(block));
    for (auto [variable, value] : llvm::zip(variables, block.getTerminator()->getOperands()))
      line(expand(lang.assignment, {{'v', variable}, {'e', name(value)}}));
    --depth;
    return {};
  };
  line(expand(lang.ifBegin, {{'e', name(branch.getCondition())}}));
  ZYX_RETURN_IF_ERROR(side(*branch.thenBlock()));
  if (branch.elseBlock()) {
    line(lang.elseBegin);
    ZYX_RETURN_IF_ERROR(side(*branch.elseBlock()));
  }
  line(lang.blockEnd);
  return {};
}

Status Printer::print(scf::WhileOp loop) {
  SmallVector<Element> carried, results;
  ZYX_RETURN_IF_ERROR(elementsOf(loop, loop.getInits().getTypes(), carried));
  ZYX_RETURN_IF_ERROR(elementsOf(loop, loop.getResultTypes(), results));
  SmallVector<string> before, after, values;
  for (auto [argument, init, element] : llvm::zip(loop.getBeforeArguments(), loop.getInits(), carried)) {
    before.push_back(bind(argument, fresh("a")));
    line(expand(lang.variable, {{'T', valueType(element)}, {'v', name(argument)}, {'e', name(init)}}));
  }
  for (auto [argument, result, element] : llvm::zip(loop.getAfterArguments(), loop.getResults(), results)) {
    after.push_back(bind(argument, bind(result, fresh("a"))));
    line(expand(lang.uninitialised, {{'T', valueType(element)}, {'v', name(result)}}));
  }
  line(lang.foreverBegin);
  ++depth;
  ZYX_RETURN_IF_ERROR(print(*loop.getBeforeBody()));
  for (Value value : loop.getConditionOp().getArgs())
    values.push_back(name(value));
  assign(after, values, results);
  line(expand(lang.breakUnless, {{'e', name(loop.getConditionOp().getCondition())}}));
  ZYX_RETURN_IF_ERROR(print(*loop.getAfterBody()));
  values.clear();
  for (Value value : loop.getYieldOp().getOperands())
    values.push_back(name(value));
  assign(before, values, carried);
  --depth;
  line(lang.blockEnd);
  return {};
}

Status Printer::print(GridOp grid) {
  string program = fresh("g");
  SmallVector<string> counts;
  for (auto [extent, step] : llvm::zip(grid.getMixedExtents(), grid.getSteps())) {
    if (auto value = getConstantIntValue(extent)) {
      counts.push_back(indexLiteral(llvm::divideCeil(*value, step)));
      continue;
    }
    const string &size = name(cast<Value>(extent));
    counts.push_back(step == 1 ? size
                               : "((" + size + " + " + indexLiteral(step - 1) + ") / " + indexLiteral(step) + ")");
  }
  line(expand(lang.programs, {{'T', valueType(lang.index)}, {'v', program}}));
  ++depth;
  string rest = program;
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    string position = dim == 0 ? rest : "(" + rest + " % " + counts[dim] + ")";
    rest = "(" + rest + " / " + counts[dim] + ")";
    Value index = grid.getIndices()[dim];
    if (!index.use_empty())
      define(index, lang.index, product(position, indexLiteral(grid.getSteps()[dim])));
  }
  ZYX_RETURN_IF_ERROR(print(grid.getBody().front()));
  --depth;
  line(lang.blockEnd);
  return {};
}

Status Printer::print(Operation *op) {
  if (isDead(op))
    return {};
  if (auto view = dyn_cast<ViewOp>(op))
    return print(view);
  if (auto alloc = dyn_cast<AllocOp>(op))
    return print(alloc);
  if (auto subview = dyn_cast<SubviewOp>(op))
    return print(subview);
  if (auto load = dyn_cast<LoadOp>(op))
    return print(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return print(store);
  if (auto grid = dyn_cast<GridOp>(op))
    return print(grid);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return print(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return print(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return print(loop);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return print(constant);
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
    return printExtended(op);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return printConversion(op);
  return printExpression(op);
}

Status Printer::print(Block &block) {
  for (Operation &op : block.without_terminator())
    ZYX_RETURN_IF_ERROR(print(&op));
  return {};
}

bool isIdentifier(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// True where the text has the name as a word.
bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !llvm::isAlnum(text[at - 1])) && (end == text.size() || !llvm::isAlnum(text[end])))
      return true;
  }
  return false;
}

Status Printer::print(FuncOp func) {
  if (func.getThreads().value_or(1) != 1 || func.getCluster().value_or(1) != 1)
    return refuse(func, "asks for several threads a program; it is printed for one");
  if (!func.getBody().hasOneBlock())
    return refuse(func, "has a body of several blocks, where loops and branches must be scf");
  if (!isIdentifier(func.getName()) ||
      llvm::any_of(lang.reserved, [&](const char *word) { return func.getName() == word; }))
    return refuse(func, Twine("is named '") + func.getName() + "', which no function in " + lang.name + " may be");
  llvm::SmallDenseSet<Value, 8> written;
  func.walk([&](StoreOp store) {
    if (auto view = store.getView().getDefiningOp<ViewOp>())
      written.insert(view.getBuffer());
  });
  Block &body = func.getBody().front();
  SmallVector<std::pair<string, string>> declarations;
  unsigned buffers = 0, scalars = 0;
  for (Value argument : body.getArguments()) {
    auto buffer = dyn_cast<BufferType>(argument.getType());
    if (!buffer && !argument.getType().isIntOrIndex())
      return refuse(func, "takes a scalar that is no integer; scalars are passed as 64-bit integers");
    ZYX_ASSIGN_OR_RETURN(Element element, elementOf(func, buffer ? buffer.getElementType() : argument.getType()));
    unsigned number = buffer ? buffers++ : scalars++;
    const string &name = bind(argument, (buffer ? "b" : "n") + std::to_string(number));
    const char *form = !buffer ? lang.scalar : written.contains(argument) ? lang.bufferWritten : lang.bufferRead;
    declarations.emplace_back(name, expand(form, {{'T', buffer ? memoryType(element) : valueType(element)},
                                                  {'v', name},
                                                  {'n', std::to_string(number)}}));
  }
  bool hasGrid = !body.getOps<GridOp>().empty();
  depth = hasGrid ? 1 : 2;
  ZYX_RETURN_IF_ERROR(print(body));
  string code = std::move(text);
  // Arguments that only the caller's grid depends on are left out.
  text.clear();
  depth = 0;
  line(expand(lang.kernelBegin, {{'v', func.getName().str()}}));
  ++depth;
  for (const auto &[name, declaration] : declarations)
    if (mentions(code, name))
      line(declaration);
  if (!hasGrid)
    line(lang.oneProgram);
  text += code;
  if (!hasGrid)
    line(lang.blockEnd);
  --depth;
  line(lang.blockEnd);
  return {};
}

} // namespace

Result<std::string> printKernels(ModuleOp module, const Language &language) {
  string kernels;
  for (FuncOp func : module.getOps<FuncOp>()) {
    Printer printer(language);
    ZYX_RETURN_IF_ERROR(printer.print(func));
    kernels += "\n" + printer.text;
  }
  // A helper is printed before what uses it, and after what it uses.
  for (const Helper &helper : llvm::reverse(language.helpers))
    if (StringRef(kernels).contains(helper.name))
      kernels = "\n" + string(helper.text) + kernels;
  return language.head + kernels;
}

} // namespace zyx::target
