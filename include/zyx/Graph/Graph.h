//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_GRAPH_H
#define ZYX_GRAPH_GRAPH_H

#include "zyx/Base/ChunkedVector.h"
#include "zyx/Base/Hash.h"
#include "zyx/Base/Shape.h"
#include "zyx/Graph/Implementation.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zyx::graph {

/// The ops of the graph, generated from GraphOps.td: names, arities and kinds come from
/// GraphOps.inc, which `utils/gen-graph-inc.py` writes and a test keeps fresh.
enum class Op : uint8_t {
#define ZYX_GRAPH_OP(Name, name, arity, number) Name = number,
#include "zyx/Graph/GraphOps.inc"
};
/// In UnaryKind.h.
enum class UnaryKind : uint8_t;
enum class BinaryKind : uint8_t {
#define ZYX_GRAPH_BINARY(Name, name) Name,
#include "zyx/Graph/GraphOps.inc"
};
enum class ReduceKind : uint8_t {
#define ZYX_GRAPH_REDUCE(Name, name) Name,
#include "zyx/Graph/GraphOps.inc"
};
enum class ScatterKind : uint8_t {
#define ZYX_GRAPH_SCATTER(Name, name) Name,
#include "zyx/Graph/GraphOps.inc"
};
enum class SortKind : uint8_t {
#define ZYX_GRAPH_SORT(Name, name) Name,
#include "zyx/Graph/GraphOps.inc"
};
std::string_view toString(Op op);
std::string_view toString(UnaryKind kind);
std::string_view toString(BinaryKind kind);
std::string_view toString(ReduceKind kind);
std::string_view toString(ScatterKind kind);
std::string_view toString(SortKind kind);
/// Whether a number is that of an op.
bool isOp(uint8_t number);
/// The arity of ops that take any number of operands from 1 on.
inline constexpr int variadic = -1;
/// How many operands the op takes, or `variadic`.
int arity(Op op);

/// Constants are splats or at most this many bytes; more is a parameter, bound at load.
inline constexpr int64_t maxConstantBytes = 4096;

/// A body lies inside of at most one less than this many others.
inline constexpr int maxBodyDepth = 16;

/// Index of a node in its graph's arena. Operands have smaller indices than their users.
using NodeId = uint32_t;

class Graph;

/// The graph inside of a loop or a custom op, in one form: named "body", with inputs "arg0", ...
/// and outputs "result0", ..., and without nodes that no output needs. So two bodies are equal if
/// they compute the same in the same way. Immutable and shared; copies are cheap.
class Body {
public:
  /// No body.
  Body() = default;
  /// Refuses a graph that is no program, that has no output, that uses parameters which are none of
  /// its inputs, or that has more bodies inside of bodies than maxBodyDepth allows.
  static Result<Body> create(const Graph &graph);

  explicit operator bool() const { return contents != nullptr; }
  const Graph &graph() const;
  /// The graph's canonical hash.
  const Hash128 &hash() const;
  /// 1, and one more for each body around the innermost one inside of it.
  int depth() const;
  /// By hash.
  bool operator==(const Body &other) const;

private:
  struct Contents;
  std::shared_ptr<const Contents> contents;
};

/// The trips of a loop whose first operand, an i64 of rank 0, says how many there are.
inline constexpr int64_t tripsAreData = -1;
/// The trips of a loop that goes on while its first carried value, a bool of rank 0, is true.
inline constexpr int64_t tripsAreWhile = -2;

/// What a node has beside its operands. One plain struct for all ops; unused members stay at
/// their defaults, so that equality and hashing need no switch.
struct Attributes {
  /// UnaryKind, BinaryKind, ReduceKind (of scan, too), ScatterKind or SortKind, as a number.
  uint8_t kind = 0;
  /// reduce, flip, window: dimensions, increasing. permute: the operand's dimension for each result
  /// dimension. gather, iota, concat, scan, sort, scatter: one dimension.
  std::vector<int64_t> dims;
  /// pad: per dimension, how many elements are added before the first and after the last (removed,
  /// where negative), and between each two.
  std::vector<int64_t> low, high, interior;
  /// window: for each of `dims`, the elements of a window, and the steps in the operand from one
  /// window to the next and from one element of a window to the next.
  std::vector<int64_t> size, stride, dilation;
  /// constant: the dense little-endian elements, or one element that is repeated (`splat`).
  /// custom: the text that configures it.
  std::vector<std::byte> value;
  bool splat = false;
  /// scan: without the element itself.
  bool exclusive = false;
  /// scan: from the last element on. sort: descending.
  bool reverse = false;
  /// parameter: its name. transfer: the device. custom: what it is called.
  std::string name;
  /// custom: kernels of the user's own, by target.
  std::vector<Implementation> implementations;
  /// loop, custom: what it evaluates.
  Body body;
  /// loop, custom: which result of the op the node is. Nodes that differ in this alone are one op.
  int64_t result = 0;
  /// loop: how often the body is evaluated, `tripsAreData` or `tripsAreWhile`.
  int64_t trips = 0;
  bool operator==(const Attributes &) const = default;
};

struct Node {
  Node(Op op, Attributes attributes, std::span<const NodeId> operands, TensorType type);

private:
  Node(Op op, const Attributes *shared, Attributes attributes, std::span<const NodeId> operands, TensorType type);
  /// None where they are shared by all graphs.
  std::shared_ptr<const Attributes> owned;

public:
  Op op;
  /// Most nodes have no more than a kind: those of one kind share them.
  const Attributes &attributes;
  std::vector<NodeId> operands;
  TensorType type;
};

/// Infers the type of a node from its operands, and refuses with a reason what is malformed.
/// `requested` is the result type as written; ops whose result does not follow from their operands
/// (constant, parameter, reshape, expand, cast, bitcast, iota, random_bits) check it, the others
/// ignore it. This is the only place where shapes and dtypes are inferred: tensors and the MLIR
/// dialect call it.
///
/// Only parameters and constants are held to maxTensorBytes: a view or the operand of a reduce need
/// not exist in memory (the product inside an 8192^3 matmul has 2 TiB), so every other type must
/// only have a byte count that fits in 63 bits.
Result<TensorType> inferType(Op op, const Attributes &attributes, std::span<const TensorType> operands,
                             const TensorType &requested);
/// The same for operands that lie apart; none is null.
Result<TensorType> inferType(Op op, const Attributes &attributes, std::span<const TensorType *const> operands,
                             const TensorType &requested);

/// Where a node came from, for diagnostics; no part of its identity. The name of the file belongs to the
/// graph whose node's location it is; a graph that is given one makes a copy.
struct Location {
  std::string_view file;
  uint32_t line = 0, column = 0;
};

/// An output of a graph: a node and the name a caller asks for it by.
struct Output {
  std::string name;
  NodeId node;
};

/// A tensor program as plain data: a hash-consed arena of nodes. Adding a node that exists returns
/// the existing one. Not thread-safe.
class Graph {
public:
  /// Refuses what inferType refuses, operands that do not exist, and a second parameter of the same
  /// name and another type. A constant whose elements are all the same bits becomes a splat, one
  /// without elements becomes dense and empty, so that each value has one form.
  Result<NodeId> add(Op op, std::span<const NodeId> operands, Attributes attributes, TensorType requested = {},
                     Location location = {});

  /// Adds one node for each result of the body in `attributes`: the results of one op.
  Result<std::vector<NodeId>> addResults(Op op, std::span<const NodeId> operands, Attributes attributes,
                                         Location location = {});
  /// Another result of the op of which `id` is one; none where that was not added.
  std::optional<NodeId> otherResult(NodeId id, size_t result) const;
  /// Adds the nodes of a body on these arguments, and returns what is then its outputs.
  Result<std::vector<NodeId>> inlineBody(const Body &body, std::span<const NodeId> arguments);

  const Node &node(NodeId id) const { return nodes[id]; }
  Location location(NodeId id) const {
    const PackedLocation &place = locations[id];
    return {place.file == 0 ? std::string_view() : files[place.file - 1], place.line, place.column};
  }
  size_t size() const { return nodes.size(); }

  /// Inputs are parameter nodes in the order of the entry's arguments; other parameters are bound
  /// by name at load. The builders do not append to them: the order is the caller's to say.
  std::vector<NodeId> inputs;
  /// The last so many of the inputs are weights: they keep their values from run to run, and what
  /// depends on them alone may be computed once for many runs.
  size_t numWeights = 0;
  std::vector<Output> outputs;
  /// Makes every parameter an input: those that are none yet follow as weights, in the order of their
  /// nodes.
  void bindParameters();
  /// The entry's name.
  std::string name = "main";

  // Builders for C++ callers; each is `add` with the attributes filled in.
  Result<NodeId> parameter(std::string name, TensorType type);
  Result<NodeId> constant(TensorType type, std::vector<std::byte> value);
  Result<NodeId> splat(TensorType type, std::vector<std::byte> element);
  Result<NodeId> reshape(NodeId x, Shape shape);
  Result<NodeId> expand(NodeId x, Shape shape);
  Result<NodeId> permute(NodeId x, std::vector<int64_t> order);
  Result<NodeId> reduce(ReduceKind kind, NodeId x, std::vector<int64_t> dims);
  Result<NodeId> cast(NodeId x, DType dtype);
  Result<NodeId> unary(UnaryKind kind, NodeId x);
  Result<NodeId> binary(BinaryKind kind, NodeId a, NodeId b);
  Result<NodeId> select(NodeId condition, NodeId a, NodeId b);
  Result<NodeId> iota(TensorType type, int64_t dim);
  Result<NodeId> gather(NodeId x, NodeId indices, int64_t dim);
  Result<NodeId> flip(NodeId x, std::vector<int64_t> dims);
  Result<NodeId> pad(NodeId x, NodeId fill, std::vector<int64_t> low, std::vector<int64_t> high,
                     std::vector<int64_t> interior);
  Result<NodeId> window(NodeId x, std::vector<int64_t> dims, std::vector<int64_t> size, std::vector<int64_t> stride,
                        std::vector<int64_t> dilation);
  Result<NodeId> concat(std::span<const NodeId> parts, int64_t dim);
  Result<NodeId> bitcast(NodeId x, DType dtype);
  Result<NodeId> transfer(NodeId x, std::string device);
  /// The carried values after the last trip. The body takes the index, the carried values and the
  /// invariants, and yields the carried values of the next trip.
  Result<std::vector<NodeId>> loop(Body body, int64_t trips, std::span<const NodeId> initial,
                                   std::span<const NodeId> invariants = {});
  /// The same with a number of trips that is data; negative ones are none.
  Result<std::vector<NodeId>> countedLoop(Body body, NodeId count, std::span<const NodeId> initial,
                                          std::span<const NodeId> invariants = {});
  /// The same while the first carried value, a bool of rank 0, is true before a trip.
  Result<std::vector<NodeId>> whileLoop(Body body, std::span<const NodeId> initial,
                                        std::span<const NodeId> invariants = {});
  Result<std::vector<NodeId>> custom(std::string name, std::string_view config, Body body,
                                     std::span<const NodeId> operands,
                                     std::vector<Implementation> implementations = {});
  Result<NodeId> scan(ReduceKind kind, NodeId x, int64_t dim, bool exclusive = false, bool reverse = false);
  Result<NodeId> sort(SortKind kind, NodeId x, int64_t dim, bool descending = false);
  Result<NodeId> scatter(ScatterKind kind, NodeId x, NodeId indices, NodeId updates, int64_t dim);
  Result<NodeId> randomBits(NodeId seed, Shape shape);

  /// Refuses a graph that is no program: an input that is no parameter or is listed twice, an
  /// output without a node or a name, two outputs of one name, or more weights than inputs.
  Status verify() const;

  /// The nodes that outputs need, operands before users, in the order in which a depth-first walk
  /// from the first output finishes them: the same for two graphs that compute the same in the same
  /// way, whatever else their arenas hold.
  std::vector<NodeId> reachable() const;

  /// Hash of what the graph computes: reachable nodes in canonical order, inputs and outputs with
  /// their names, with no locations.
  Hash128 canonicalHash() const;

  /// The versioned, checksummed byte form of the whole arena, locations included. `deserialize`
  /// validates everything: what it accepts is a well-formed graph that verifies.
  std::vector<std::byte> serialize() const;
  static Result<Graph> deserialize(std::span<const std::byte> bytes);

private:
  /// `depth` counts the bodies around the graph.
  static Result<Graph> deserialize(std::span<const std::byte> bytes, int depth);
  size_t slotFor(uint64_t hash, Op op, const Attributes &attributes, std::span<const NodeId> operands,
                 const TensorType &type) const;
  void growTable();
  uint32_t fileNumber(std::string_view file);

  ChunkedVector<Node> nodes;
  /// A location with the number of its file, from 1; 0 is no file.
  struct PackedLocation {
    uint32_t file = 0, line = 0, column = 0;
  };
  ChunkedVector<PackedLocation> locations;
  /// A deque, so that names stay where they are.
  std::deque<std::string> files;
  std::unordered_map<std::string, uint32_t> fileNumbers;
  uint32_t latestFile = 0;
  /// An open-addressing table of nodes by the upper and lower halves of their hashes: the lower one says
  /// where to begin; a power of two of slots.
  struct Slot {
    NodeId node;
    uint32_t upper;
  };
  std::vector<Slot> table;
  ChunkedVector<uint64_t> hashes;
  std::unordered_map<std::string, NodeId> parameters;
};

} // namespace zyx::graph

#endif // ZYX_GRAPH_GRAPH_H
