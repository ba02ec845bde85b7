//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Pipelines/Dot.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"

using namespace mlir;
using namespace zyx;

namespace {

/// "tensor<4x8xf32>" and "!plan.buffer<f32[4x8]>" without what says that it is a tensor.
std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  StringRef inner = text;
  if (inner.contains('<') && inner.ends_with(">"))
    inner = inner.drop_back().split('<').second;
  return inner.str();
}

/// The op as it prints, up to its types and without its operands: "reduce add dims = [1]". An op with
/// a body prints arguments of it in the same line, and is its name and its attributes.
std::string describe(Operation *op) {
  if (op->getNumRegions() != 0) {
    std::string words = op->getName().stripDialect().str();
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (attribute.getName() != "operandSegmentSizes") {
        llvm::raw_string_ostream stream(words);
        stream << ' ' << attribute.getName().getValue() << " = ";
        attribute.getValue().print(stream, /*elideType=*/true);
      }
    return words;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope().skipRegions().elideLargeElementsAttrs(8));
  StringRef line = StringRef(text).split('\n').first;
  size_t name = line.find(op->getName().getStringRef());
  line = line.substr(name == StringRef::npos ? 0 : name).split(" : ").first;
  if (line.contains('.'))
    line = line.split('.').second;
  std::string words;
  for (size_t at = 0; at < line.size();) {
    if (line[at] != '%') {
      words += line[at++];
      continue;
    }
    at = line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_#$-", at + 1);
    at = at == StringRef::npos ? line.size() : at;
    if (line.substr(at).starts_with(", "))
      at += 2;
  }
  // What is long, and what held nothing but operands.
  constexpr StringRef elided = "dense_resource<__elided__>";
  if (size_t at = words.find(elided); at != std::string::npos)
    words.replace(at, elided.size(), "dense<...>");
  for (StringRef empty : {"[]", "()", " ,", "  "})
    for (size_t at; (at = words.find(empty)) != std::string::npos;)
      words.replace(at, empty.size(), empty == "  " ? " " : "");
  return StringRef(words).trim().str();
}

class Drawing {
public:
  void begin(StringRef name) {
    numNodes = numGroups = 0;
    nodes.clear();
    edges.clear();
    text += "digraph \"" + escape(name) +
            "\" {\n  rankdir=TB\n  node [shape=box, fontname=\"monospace\", fontsize=10]\n"
            "  edge [fontname=\"monospace\", fontsize=9]\n";
  }
  void end() { text += edges + "}\n"; }

  /// Lines of a label are separated by '\n'.
  unsigned node(StringRef label, bool isData = false) {
    line() += "n" + std::to_string(numNodes) + " [label=\"" + escape(label) + "\"" + (isData ? ", shape=ellipse" : "") +
              "]\n";
    return numNodes++;
  }
  void edge(unsigned from, unsigned to, StringRef label = "", bool dashed = false) {
    edges += "  n" + std::to_string(from) + " -> n" + std::to_string(to);
    if (!label.empty())
      edges += " [label=\"" + escape(label) + "\"]";
    if (dashed)
      edges += " [style=dashed]";
    edges += "\n";
  }
  void beginFrame(StringRef label) {
    line() += "subgraph cluster_" + std::to_string(numGroups++) + " {\n";
    ++depth;
    line() += "label=\"" + escape(label) + "\"\n";
  }
  void endFrame() {
    --depth;
    line() += "}\n";
  }
  unsigned groups() const { return numGroups; }

  /// The box that stands for a value.
  llvm::DenseMap<Value, unsigned> nodes;
  std::string text;

private:
  std::string &line() { return text.append(2 * depth, ' '); }
  static std::string escape(StringRef label) {
    std::string escaped;
    for (char c : label)
      escaped += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
    return escaped;
  }
  /// An edge inside a frame would draw both of its ends into it, so edges come last.
  std::string edges;
  unsigned numNodes = 0, numGroups = 0, depth = 1;
};

//===----------------------------------------------------------------------===//
// Graphs and groups
//===----------------------------------------------------------------------===//

void drawBlock(Drawing &drawing, Block &block);

/// The body of a group in a frame: its arguments are the operands, its results what it yields.
void drawGroup(Drawing &drawing, graph::ir::GroupOp group) {
  Block &body = group.getBlock();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), group.getInputs()))
    drawing.nodes[argument] = drawing.nodes.lookup(operand);
  drawing.beginFrame("group " + std::to_string(drawing.groups()));
  drawBlock(drawing, body);
  drawing.endFrame();
  for (auto [result, yielded] : llvm::zip(group.getOutputs(), body.getTerminator()->getOperands()))
    drawing.nodes[result] = drawing.nodes.lookup(yielded);
}

/// What an argument of a body is to the op around it.
std::string describeArgument(Operation *op, unsigned number) {
  auto loop = dyn_cast<graph::ir::LoopOp>(op);
  if (!loop)
    return "argument " + std::to_string(number);
  if (number == 0)
    return "index";
  const unsigned carried = loop.getInitial().size();
  return number <= carried ? "carried " + std::to_string(number - 1)
                           : "invariant " + std::to_string(number - 1 - carried);
}

void drawBlock(Drawing &drawing, Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto group = dyn_cast<graph::ir::GroupOp>(op)) {
      drawGroup(drawing, group);
      continue;
    }
    std::string label = describe(&op);
    for (Value result : op.getResults())
      label += "\n" + describe(result.getType());
    unsigned node = drawing.node(label);
    for (Value operand : op.getOperands())
      drawing.edge(drawing.nodes.lookup(operand), node);
    for (Value result : op.getResults())
      drawing.nodes[result] = node;
    for (Region &region : op.getRegions())
      for (Block &body : region) {
        drawing.beginFrame(op.getName().stripDialect());
        for (BlockArgument argument : body.getArguments())
          drawing.nodes[argument] =
              drawing.node(describeArgument(&op, argument.getArgNumber()) + "\n" + describe(argument.getType()),
                           /*isData=*/true);
        for (BlockArgument argument : body.getArguments())
          drawing.edge(node, drawing.nodes.lookup(argument), "", /*dashed=*/true);
        drawBlock(drawing, body);
        const unsigned yield = drawing.node("yield", /*isData=*/true);
        for (Value yielded : body.getTerminator()->getOperands())
          drawing.edge(drawing.nodes.lookup(yielded), yield);
        drawing.endFrame();
      }
  }
}

void drawGraph(Drawing &drawing, func::FuncOp entry) {
  drawing.begin(entry.getName());
  for (BlockArgument argument : entry.getArguments())
    drawing.nodes[argument] =
        drawing.node(graph::ir::getArgumentName(entry, argument.getArgNumber()) + "\n" + describe(argument.getType()),
                     /*isData=*/true);
  Block &block = entry.getBody().front();
  drawBlock(drawing, block);
  for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    drawing.edge(drawing.nodes.lookup(value), drawing.node(graph::ir::getResultName(entry, index), /*isData=*/true));
  drawing.end();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

std::string describeCommand(Operation *op) {
  if (auto launch = dyn_cast<plan::LaunchOp>(op))
    return "launch " + launch.getKernel().str() +
           (launch.getFlops() ? "\nflops " + std::to_string(launch.getFlops()) : "");
  if (auto loop = dyn_cast<plan::LoopOp>(op))
    return loop.getTrips() ? "loop\ntrips " + std::to_string(*loop.getTrips()) : "loop";
  return op->getName().stripDialect().str();
}

/// A buffer and where in the arena it lies: "f32[4x8] at 4096".
std::string describeBuffer(Value buffer) {
  std::string text = describe(buffer.getType());
  if (auto slice = buffer.getDefiningOp<plan::SliceOp>())
    text += " at " + std::to_string(slice.getOffset());
  return text;
}

class PlanDrawing {
public:
  PlanDrawing(Drawing &drawing, plan::FuncOp entry) : drawing(drawing), entry(entry) {}

  void draw() {
    drawing.begin(entry.getName());
    for (auto [index, argument] : llvm::enumerate(entry.getArguments()))
      if (StringAttr name = entry.getInputName(index))
        write(argument, drawing.node(name.getValue(), /*isData=*/true));
    drawCommands(entry.getBody().front());
    for (auto [index, argument] : llvm::enumerate(entry.getArguments()))
      if (StringAttr name = entry.getOutputName(index))
        read(argument, drawing.node(name.getValue(), /*isData=*/true));
    drawing.end();
  }

private:
  void drawCommands(Block &block) {
    for (Operation &op : block) {
      if (isa<plan::ConstantOp>(op))
        write(op.getResult(0), drawing.node("constant", /*isData=*/true));
      else if (auto loop = dyn_cast<plan::LoopOp>(op))
        drawLoop(loop);
      else if (auto init = dyn_cast<plan::InitOp>(op))
        drawInit(init);
      else if (auto command = dyn_cast<plan::CommandOpInterface>(op))
        drawCommand(command, command.getReadBuffers(), command.getWrittenBuffers());
    }
  }

  void drawCommand(plan::CommandOpInterface command, ValueRange reads, ValueRange writes) {
    unsigned node = drawing.node(describeCommand(command));
    drawing.nodes[command.getEvent()] = node;
    llvm::DenseSet<unsigned> sources;
    for (Value buffer : reads)
      sources.insert_range(read(buffer, node));
    for (OpOperand &event : command.getWaitMutable())
      if (unsigned other = drawing.nodes.lookup(event.get()); !sources.contains(other))
        drawing.edge(other, node, "", /*dashed=*/true);
    for (Value buffer : writes)
      write(buffer, node);
  }

  void drawInit(plan::InitOp init) {
    drawing.beginFrame("init");
    drawCommands(init.getBody().front());
    drawing.endFrame();
  }

  /// The loop itself is a box that reads how often it runs and writes the number of the pass; its
  /// commands lie in its frame.
  void drawLoop(plan::LoopOp loop) {
    drawing.beginFrame("loop");
    SmallVector<Value> reads, writes;
    if (loop.getCount())
      reads.push_back(loop.getCount());
    if (loop.getIndex())
      writes.push_back(loop.getIndex());
    drawCommand(cast<plan::CommandOpInterface>(loop.getOperation()), reads, writes);
    for (Region &body : loop.getBodies())
      drawCommands(body.front());
    drawing.endFrame();
  }

  /// What lay there before is gone as far as the buffer reaches: memory is used again, in other sizes.
  void write(Value buffer, unsigned node) {
    const plan::Storage storage = plan::getStorage(buffer);
    std::vector<Written> left;
    for (const Written &old : written) {
      if (!old.storage.overlaps(storage)) {
        left.push_back(old);
        continue;
      }
      plan::Storage before = old.storage, behind = old.storage;
      before.end = storage.begin;
      behind.begin = storage.end;
      for (const plan::Storage &rest : {before, behind})
        if (rest.begin < rest.end)
          left.push_back({rest, old.node});
    }
    left.push_back({storage, node});
    written = std::move(left);
  }

  /// The boxes that wrote what is read.
  SmallVector<unsigned> read(Value buffer, unsigned node) {
    SmallVector<unsigned> sources;
    for (const Written &old : written)
      if (old.storage.overlaps(plan::getStorage(buffer)) && !llvm::is_contained(sources, old.node)) {
        drawing.edge(old.node, node, describeBuffer(buffer));
        sources.push_back(old.node);
      }
    return sources;
  }

  /// Who wrote what memory holds now.
  struct Written {
    plan::Storage storage;
    unsigned node;
  };
  std::vector<Written> written;
  Drawing &drawing;
  plan::FuncOp entry;
};

} // namespace

Result<std::string> pipelines::toDot(ModuleOp module) {
  Drawing drawing;
  for (Operation &op : *module.getBody()) {
    if (auto entry = dyn_cast<func::FuncOp>(op)) {
      if (!entry.getBody().hasOneBlock())
        return Status::invalidArgument("function '" + entry.getName().str() +
                                       "' is no entry to draw: it has no one block");
      drawGraph(drawing, entry);
    } else if (auto entry = dyn_cast<plan::FuncOp>(op)) {
      PlanDrawing(drawing, entry).draw();
    }
  }
  if (drawing.text.empty())
    return Status::invalidArgument("there is no entry to draw, neither func.func nor plan.func");
  return drawing.text;
}
