//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Contexts, creation, and reading.
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Tensor.h"
#include "zyx/Tensor/Files.h"

#include "Detail.h"
#include "zyx/Base/Float.h"
#include "zyx/Tensor/Tape.h"

#include <cmath>
#include <numeric>

using namespace zyx;
using namespace zyx::detail;

//===----------------------------------------------------------------------===//
// Errors and contexts
//===----------------------------------------------------------------------===//

Error::Error(Status status, std::source_location where)
    : reason(std::move(status)), place(where),
      text((*where.file_name() ? std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " : "") +
           reason.toString()) {}

Error Error::ofCaller(std::string_view caller, std::source_location where) const {
  Status status(code(), std::string(caller) + ": " + reason.message());
  if (!reason.device().empty())
    status = status.withDevice(reason.device(), reason.backendCode());
  if (!reason.where().empty())
    status = status.withWhere(reason.where());
  if (const Status cause = reason.cause(); !cause.isOk())
    status = status.withCause(cause);
  return Error(std::move(status), where);
}

Context::Context(ContextOptions options, std::source_location where)
    : state(valueOrThrow(State::create(std::move(options)), where)) {}
const ContextOptions &Context::options() const { return state->options; }
std::string Context::device(std::source_location where) const {
  throwIfError(state->checkProcess(), where);
  return state->currentDeviceName();
}
const Config &Context::config() const { return state->config; }
ContextCounters Context::counters() const { return state->counters(); }
void Context::sync(std::source_location where) const { throwIfError(state->sync(), where); }
Context Context::current(std::source_location where) { return Context(State::current(where)); }

ContextScope::ContextScope(Context context) : before(State::ofScope()) { State::ofScope() = std::move(context.state); }
ContextScope::~ContextScope() { State::ofScope() = std::move(before); }

DeviceScope::DeviceScope(const std::string &name, Context context, std::source_location where)
    : scopes(DeviceScopes::ofThisThread()) {
  const uint16_t device = valueOrThrow(context.state->openDevice(name), where);
  number = scopes->begin(std::move(context.state), device);
}
DeviceScope::~DeviceScope() { scopes->end(number); }
bool DeviceScope::isOfThisThread() const { return scopes == DeviceScopes::ofThisThread(); }

Tape::Tape(Context context) : state(std::move(context.state)) { state->beginTape(); }
Tape::~Tape() { state->endTape(); }

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

State &zyx::detail::stateOf(const Tensor &x) { return *State::handleOf(x)->state; }

Tensor zyx::detail::makeIn(State &state, Op op, std::span<const Tensor> operands, graph::Attributes attributes,
                           const Place &where, TensorType requested) {
  return valueOrThrow(state.add(op, operands, std::move(attributes), std::move(requested), where), where);
}

Tensor zyx::detail::makeNode(Op op, std::initializer_list<Tensor> operands, graph::Attributes attributes,
                             const Place &where, TensorType requested) {
  for (const Tensor &operand : operands)
    if (!operand.isDefined())
      refuse(std::string(toString(op)) + ": there is no tensor in this place", where);
  return makeIn(stateOf(*operands.begin()), op, {operands.begin(), operands.size()}, std::move(attributes), where,
                std::move(requested));
}

Tensor zyx::detail::makeUnary(graph::UnaryKind kind, const Tensor &x, const Place &where) {
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  return makeNode(Op::Unary, {x}, std::move(attributes), where);
}

Tensor zyx::detail::makeBinary(graph::BinaryKind kind, const Tensor &a, const Tensor &b, const Place &where) {
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  return makeNode(Op::Binary, {a, b}, std::move(attributes), where);
}

Tensor zyx::detail::makeReduce(graph::ReduceKind kind, const Tensor &x, Dims dims, const Place &where) {
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = std::move(dims);
  return makeNode(Op::Reduce, {x}, std::move(attributes), where);
}

Tensor zyx::detail::constantIn(State &state, double value, DType dtype, const Place &where) {
  graph::Attributes attributes;
  attributes.splat = true;
  attributes.value = encodeElement(value, dtype);
  return makeIn(state, Op::Constant, {}, std::move(attributes), where, {dtype, {}});
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Tensor Tensor::constant(DType dtype, std::span<const std::byte> element, Place where) {
  graph::Attributes attributes;
  attributes.splat = true;
  attributes.value.assign(element.begin(), element.end());
  return makeIn(*State::current(where), Op::Constant, {}, std::move(attributes), where, {dtype, {}});
}

Tensor Tensor::fromBytes(TensorType type, std::span<const std::byte> bytes, Place where) {
  return valueOrThrow(State::current(where)->addData(std::move(type), bytes, where), where);
}

Tensor Tensor::borrow(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                      Place where) {
  return valueOrThrow(State::current(where)->addBorrowed(std::move(type), bytes, std::move(owner), where), where);
}

Tensor Tensor::fromFile(const std::string &path, DType dtype, Shape shape, uint64_t offset, Place where) {
  return valueOrThrow(State::current(where)->addFile(path, offset, {dtype, std::move(shape)}, where), where);
}

Tensor zyx::fromFile(std::shared_ptr<const ReadOnlyFile> file, TensorType type, uint64_t offset, std::string what,
                     Place where) {
  return valueOrThrow(State::current(where)->addFile(std::move(file), offset, std::move(type), std::move(what), where),
                      where);
}

Tensor zyx::dequantise(const Tensor &blocks, BlockFormat format, Shape shape, Place where) {
  if (!blocks.isDefined())
    refuse("dequantise: there is no tensor in this place", where);
  return valueOrThrow(stateOf(blocks).dequantise(blocks, format, shape, where), where);
}

Tensor Tensor::full(Shape shape, double value, DType dtype, Place where) {
  if (!isRepresentable(value, dtype))
    refuse("full: no " + std::string(zyx::toString(dtype)) + " is " + std::to_string(value), where);
  return expandTo(constantIn(*State::current(where), value, dtype, where), shape, where);
}

Tensor Tensor::arange(int64_t start, int64_t stop, int64_t step, DType dtype, Place where) {
  if (step == 0)
    refuse("arange: a step of 0 goes nowhere", where);
  const __int128 distance = step > 0 ? __int128(stop) - start : __int128(start) - stop;
  const __int128 size = step > 0 ? __int128(step) : -__int128(step);
  const int64_t count = distance <= 0 ? 0 : static_cast<int64_t>((distance + size - 1) / size);
  graph::Attributes attributes;
  attributes.dims = {0};
  Tensor positions = makeIn(*State::current(where), Op::Iota, {}, std::move(attributes), where, {DType::I64, {count}});
  const Tensor numbers = Operand(positions, where) * Operand(step, where) + Operand(start, where);
  return numbers.cast(dtype, where);
}

Tensor Tensor::eye(int64_t rows, DType dtype, Place where) {
  const Tensor positions = arange(0, rows, 1, DType::I64, where);
  return (Operand(positions.unsqueeze(1, where), where) == Operand(positions, where)).cast(dtype, where);
}

//===----------------------------------------------------------------------===//
// What a tensor is
//===----------------------------------------------------------------------===//

const TensorType &Tensor::type() const & {
  static const TensorType none;
  return handle ? handle->type : none;
}

int64_t Tensor::size(int64_t dim, Place where) const { return shape()[dimension(dim, rank(), "size", where)]; }

int64_t Tensor::numel() const {
  return std::accumulate(shape().begin(), shape().end(), int64_t(1), std::multiplies<>());
}

Context Tensor::context(Place where) const {
  if (!handle)
    refuse("context: there is no tensor in this place", where);
  return Context(handle->state);
}

std::string Tensor::device() const { return handle ? handle->state->deviceOf(*this) : ""; }

Tensor Tensor::to(const std::string &device, Place where) const {
  if (!handle)
    refuse("to: there is no tensor in this place", where);
  return valueOrThrow(handle->state->transfer(*this, device, where), where);
}

Tensor::operator bool() const {
  const Place where = Place::current();
  if (!isDefined())
    refuse("bool: there is no tensor in this place; isDefined() tells that", where);
  if (dtype() != DType::Bool || numel() != 1)
    refuse("bool: " + handle->state->describe(*this) + " is not one bool; any(), all() or item() make one", where);
  if (handle->state->isOpen(*this))
    refuse("bool: " + handle->state->describe(*this) +
               " depends on the arguments of a function that a Jit or a loop captures, and has no value yet: a branch "
               "would be that of the first call in all others; where() chooses by data",
           where);
  return item<bool>(where);
}

Tensor Tensor::operator[](const Index &index) const {
  if (!isDefined())
    refuse("operator[]: there is no tensor in this place", index.where);
  if (index.position)
    return select(0, *index.position, index.where);
  if (index.slice)
    return slice({*index.slice}, index.where);
  return take(*this, index.positions, 0, index.where);
}

void Tensor::expectDType(DType dtype, Place where) const {
  if (!handle)
    refuse("there is no tensor to read", where);
  if (dtype != this->dtype())
    refuse("a tensor of " + std::string(zyx::toString(this->dtype())) + " is read as " +
               std::string(zyx::toString(dtype)) + "; cast it",
           where);
}

void Tensor::expectSingle(Place where) const {
  if (numel() != 1)
    refuse("item: a tensor of shape " + zyx::toString(shape()) + " has not one element", where);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Tensor &Tensor::realize(Place where) const {
  zyx::realize({this, 1}, where);
  return *this;
}

bool Tensor::isRealized() const { return handle && handle->state->isRealized(*this); }

uint64_t Tensor::id(Place where) const {
  if (!handle)
    refuse("id: there is no tensor in this place", where);
  return handle->state->idOf(*this);
}

Tensor Tensor::detach(Place where) const {
  if (!handle)
    refuse("detach: there is no tensor in this place", where);
  return valueOrThrow(handle->state->detach(*this, where), where);
}

std::vector<std::byte> Tensor::bytes(Place where) const {
  if (!handle)
    refuse("there is no tensor to read", where);
  return valueOrThrow(handle->state->read(*this, where), where);
}

static void realizeAs(std::span<const Tensor> tensors, const PendingUpdate *pending, const Place &where) {
  if (tensors.empty())
    return;
  if (!tensors.front().isDefined())
    refuse("realize: there is no tensor in this place", where);
  throwIfError(stateOf(tensors.front()).realize(tensors, where, pending), where);
}

void zyx::realize(Tensors tensors, Place where) { realizeAs(tensors, nullptr, where); }
void zyx::realize(Tensors tensors, const PendingUpdate &pending, Place where) { realizeAs(tensors, &pending, where); }

std::vector<Tensor> zyx::gradient(const Tensor &target, Tensors sources, const GradientOptions &options, Place where) {
  if (!target.isDefined())
    refuse("gradient: there is no tensor in this place", where);
  return valueOrThrow(stateOf(target).gradient(target, sources, options, where), where);
}

std::vector<Tensor> zyx::gradient(const Tensor &target, Tensors sources, const Tensor &seed, Place where) {
  return gradient(target, sources, GradientOptions{.seed = seed}, where);
}

std::vector<Tensor> zyx::gradient(const Tensor &target, Tensors sources, Place where) {
  return gradient(target, sources, GradientOptions{}, where);
}
