//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/WriteProgram.h"

#include "zyx/Base/File.h"
#include "zyx/Dialect/Graph/IR/GraphDialect.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/IO/Npy.h"

#include "mlir/Parser/Parser.h"

#include <map>
#include <sstream>

namespace zyx::smith {

std::string toText(const graph::Graph &graph) {
  mlir::DialectRegistry registry;
  registry.insert<graph::ir::GraphDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string text;
  llvm::raw_string_ostream stream(text);
  graph::ir::importGraph(graph, &context)->print(stream);
  return text + "\n";
}

Result<graph::Graph> fromText(const std::string &text) {
  mlir::DialectRegistry registry;
  registry.insert<graph::ir::GraphDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return Status::invalidArgument("the text of a program does not parse");
  for (mlir::func::FuncOp entry : module->getOps<mlir::func::FuncOp>())
    return graph::ir::exportGraph(entry);
  return Status::invalidArgument("the text of a program has no function");
}

/// The program with the inputs `values` as constants.
static Result<Program> withConstants(const Program &program, const std::map<graph::NodeId, HostTensor> &values) {
  Program made;
  made.graph.name = program.graph.name;
  std::map<graph::NodeId, graph::NodeId> placed;
  for (graph::NodeId id : program.graph.reachable()) {
    const graph::Node &node = program.graph.node(id);
    if (const auto found = values.find(id); found != values.end()) {
      ZYX_ASSIGN_OR_RETURN(placed[id], made.graph.constant(node.type, found->second.data));
      continue;
    }
    std::vector<graph::NodeId> operands;
    for (graph::NodeId operand : node.operands)
      operands.push_back(placed.at(operand));
    ZYX_ASSIGN_OR_RETURN(placed[id], made.graph.add(node.op, operands, node.attributes, node.type));
  }
  for (size_t i = 0; i < program.graph.inputs.size(); ++i)
    if (const graph::NodeId id = program.graph.inputs[i]; placed.contains(id) && !values.contains(id)) {
      made.graph.inputs.push_back(placed[id]);
      made.tensors.push_back(program.tensors[i]);
    }
  for (const graph::Output &output : program.graph.outputs)
    made.graph.outputs.push_back({output.name, placed.at(output.node)});
  return made;
}

Status writeProgram(const Program &program, const std::string &path, const std::string &device,
                    const std::string &comment) {
  std::map<graph::NodeId, HostTensor> values;
  for (size_t i = 0; i < program.graph.inputs.size(); ++i) {
    const HostTensor &value = program.tensors[i];
    if (!io::encodeNpy(value).isOk() && static_cast<int64_t>(value.data.size()) <= graph::maxConstantBytes)
      values[program.graph.inputs[i]] = value;
  }
  ZYX_ASSIGN_OR_RETURN(const Program constants, withConstants(program, values));
  const Program written = conformance::withWeights(constants);
  std::string command = "zyx-run " + path + " --device=" + device + " --random=1";
  for (size_t i = 0; i < written.graph.inputs.size(); ++i) {
    const std::string &name = written.graph.node(written.graph.inputs[i]).attributes.name;
    if (!io::encodeNpy(written.tensors[i]).isOk())
      continue;
    const std::string file = path + "." + name + ".npy";
    ZYX_RETURN_IF_ERROR(io::writeNpy(file, written.tensors[i]));
    command += " --input=" + name + "=" + file;
  }
  if (!device.empty())
    command = "// " + command + " --print\n";
  else
    command.clear();
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);)
    text += "// " + line + "\n";
  text += command + toText(written.graph);
  const auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return writeFileAtomically(path, {begin, text.size()});
}

} // namespace zyx::smith
