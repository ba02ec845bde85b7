//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx-c/Compiler.h"

#include "Isolation.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/Leftover.h"
#include "zyx/Base/TextLimits.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Graph/Devices.h"
#include "zyx/Graph/Symbols.h"
#include "zyx/Pipelines/InitAll.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Schedule/Choices.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/SourceMgr.h"

#include <mutex>

using namespace zyx;

namespace {

std::vector<std::byte> toBytes(std::string_view text) {
  auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

/// Collects every remark as a line of text.
class RemarkText : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkText(std::string &text) : text(text) {}
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    llvm::raw_string_ostream stream(text);
    if (auto place = remark.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      stream << place.getFilename().getValue() << ':' << place.getLine() << ':' << place.getColumn() << ": ";
    // What is streamed to a remark piece by piece reads as one text.
    for (const mlir::remark::detail::Remark::Arg &piece : remark.getArgs()) {
      if (piece.key != "Remark")
        stream << piece.key << '=';
      stream << piece.val;
    }
    stream << '\n';
  }

private:
  std::string &text;
};

/// A context, which loads its dialects once: that takes as long as a small kernel. One call at a
/// time uses it; all that it keeps of one are constants that equal ones share.
struct KeptContext {
  mlir::MLIRContext context{makeRegistry(), mlir::MLIRContext::Threading::DISABLED};
  unsigned calls = 0;

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
};

/// Contexts that no call uses.
struct Contexts {
  /// A context frees nothing before its end.
  static constexpr unsigned maxCalls = 200;
  static constexpr size_t maxIdle = 8;
  std::mutex mutex;
  std::vector<std::unique_ptr<KeptContext>> idle;

  /// Never freed: what the dialects refer to may be gone before it would be.
  static Contexts &get() {
    static Contexts &all = *new Contexts;
    return all;
  }

  struct GiveBack {
    void operator()(KeptContext *context) const {
      std::unique_ptr<KeptContext> owned(context);
      owned->context.setRemarkEngine(nullptr);
      Contexts &all = get();
      std::lock_guard lock(all.mutex);
      if (++owned->calls < maxCalls && all.idle.size() < maxIdle)
        all.idle.push_back(std::move(owned));
    }
  };
  using Owned = std::unique_ptr<KeptContext, GiveBack>;

  Owned take() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        Owned taken(idle.back().release());
        idle.pop_back();
        return taken;
      }
    }
    Owned made(new KeptContext);
    made->context.printOpOnDiagnostic(false);
    if (isolation::serving())
      isolation::nameInCrashes(made->context);
    return made;
  }
};

/// "file:line:column: error: message", one line per diagnostic and note.
std::string describe(const mlir::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
    stream << place.getFilename().getValue() << ':' << place.getLine() << ':' << place.getColumn() << ": ";
  stream << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ? "error: " : "note: ") << diagnostic;
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    stream << '\n' << describe(note);
  return text;
}

/// The lines of messages about a text, each place with its line of the text and a caret below the column.
std::string withCarets(llvm::StringRef messages, llvm::StringRef text, llvm::StringRef file) {
  constexpr size_t widest = 160;
  llvm::SmallVector<llvm::StringRef> lines;
  std::string shown;
  for (llvm::StringRef rest = messages; !rest.empty();) {
    llvm::StringRef message;
    std::tie(message, rest) = rest.split('\n');
    shown += (shown.empty() ? "" : "\n") + message.str();
    unsigned line = 0, column = 0;
    if (!message.consume_front(file) || !message.consume_front(":") || message.consumeInteger(10, line) ||
        !message.consume_front(":") || message.consumeInteger(10, column) || line == 0 || column == 0)
      continue;
    if (lines.empty())
      text.split(lines, '\n');
    if (line > lines.size() || column > widest || column > lines[line - 1].size() + 1)
      continue;
    const llvm::StringRef source = lines[line - 1].take_front(widest).rtrim();
    std::string caret;
    for (char c : lines[line - 1].take_front(column - 1))
      caret += c == '\t' ? '\t' : ' ';
    shown += "\n" + source.str() + "\n" + caret + "^";
  }
  return shown;
}

Status parse(const zyx_compiler_parse_args &args, zyx_compiler_result &result) {
  std::string name = args.file_name ? args.file_name : "<text>";
  if (args.isolation)
    return isolation::parse(args, name, result);
  // A copy, because the lexer looks at the byte behind the text and wants a zero there.
  std::string text(static_cast<const char *>(args.text.data), args.text.size);
  const bool isBytecode = mlir::isBytecode(llvm::MemoryBufferRef(text, name));
  if (isBytecode && !isolation::serving())
    return Status::invalidArgument(name + ": is MLIR bytecode, which is read in a child process only");
  if (!isBytecode)
    if (Status limits = checkTextLimits(text); !limits.isOk())
      return {limits.code(), name + ": " + limits.message()};

  Contexts::Owned kept = Contexts::get().take();
  mlir::MLIRContext *context = &kept->context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    const std::string text = describe(diagnostic);
    // What an op refused has its reason already.
    const bool isEcho = !messages.empty() && llvm::StringRef(text).ends_with("failed to infer returned types");
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && !isEcho)
      messages += (messages.empty() ? "" : "\n") + text;
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context, name);
  if (!module)
    return Status::invalidArgument(isBytecode ? messages : withCarets(messages, text, name));
  for (mlir::func::FuncOp entry : module->getOps<mlir::func::FuncOp>()) {
    Result<graph::Graph> graph = graph::ir::exportGraph(entry);
    if (!graph.isOk())
      return {graph.status().code(), withCarets(graph.status().message(), text, name)};
    result.graphs.push_back(graph->serialize());
  }
  if (result.graphs.empty())
    return Status::invalidArgument(name + ": has no entry, that is no 'func.func'");
  return Status::ok();
}

Status compile(const zyx_compiler_compile_args &args, zyx_compiler_result &result) {
  std::span<const std::byte> bytes(static_cast<const std::byte *>(args.graph.data), args.graph.size);
  const uint64_t begin = Trace::now();
  if (args.debug)
    enableDebugTopics(splitDebugTopics(args.debug));
  ZYX_ASSIGN_OR_RETURN(graph::Graph graph, graph::Graph::deserialize(bytes));
  ZYX_ASSIGN_OR_RETURN(const target::TargetInfo target,
                       target::lookUpTarget(args.target ? args.target : "cpu", args.isa ? args.isa : "native"));
  // A child does what its parent has let through.
  if (!isolation::serving())
    ZYX_RETURN_IF_ERROR(graph::checkDevices(graph, args.device && *args.device ? args.device : target.device));
  if (args.isolation)
    return isolation::compile(args, graph.name, result);
  graph.bindParameters();
  if (std::set<std::string> symbols = graph::collectSymbols(graph); !symbols.empty())
    return Status::invalidArgument("graph " + graph.name + " has symbols without values, as " + *symbols.begin() +
                                   ": give them by --bind=" + *symbols.begin() +
                                   "=NUMBER, or specialise it before it is compiled");

  pipelines::Options options;
  options.target = target;
  options.verifyRoundtrip = args.verify_roundtrip != 0;
  options.optimise = args.no_optimise == 0;
  if (args.fusion && *args.fusion) {
    std::optional<pipelines::Fusion> fusion = pipelines::parseFusion(args.fusion);
    if (!fusion)
      return Status::invalidArgument("there is no fusion '" + std::string(args.fusion) +
                                     "'; there are weighed, all and none");
    options.fusion = *fusion;
  }
  options.measured = args.measured ? args.measured : "";
  options.listChoices = static_cast<unsigned>(std::min<uint64_t>(args.list_choices, schedule::mostChoices));
  options.onlyKernel = args.only_kernel ? args.only_kernel : "";
  if (args.progress)
    options.progress = [&args](std::string_view stage, size_t done, size_t total) {
      args.progress(args.progress_context, std::string(stage).c_str(), done, total);
    };
  if (args.is_cancelled)
    options.isCancelled = [&args] { return args.is_cancelled(args.cancelled_context) != 0; };
  options.wantsSource = args.c_source != 0;
  if (options.wantsSource && target.device != "c")
    return Status::invalidArgument("a C source is of the target 'c', not '" + target.name + "'");
  Trace trace;
  if (args.trace)
    options.trace = &trace;
  std::optional<pipelines::Phase> stopAfter;
  if (args.stop_after && *args.stop_after) {
    stopAfter = pipelines::parsePhase(args.stop_after);
    if (!stopAfter)
      return Status::invalidArgument("there is no phase '" + std::string(args.stop_after) + "'");
  }

  options.remarks = &result.remarks;
  if (args.lookup_kernel && args.store_kernel) {
    options.kernels.lookup = [&args](const std::string &key) {
      std::optional<std::vector<std::byte>> found;
      auto take = [](void *taker, zyx_compiler_bytes bytes) {
        const auto *begin = static_cast<const std::byte *>(bytes.data);
        static_cast<decltype(found) *>(taker)->emplace(begin, begin + bytes.size);
      };
      if (!args.lookup_kernel(args.kernels_context, key.c_str(), take, &found))
        found.reset();
      return found;
    };
    options.kernels.store = [&args](const std::string &key, std::span<const std::byte> bytes) {
      args.store_kernel(args.kernels_context, key.c_str(), {bytes.data(), bytes.size()});
    };
  }

  Contexts::Owned kept = Contexts::get().take();
  mlir::MLIRContext *context = &kept->context;
  mlir::remark::RemarkCategories categories;
  // `all` alone lets nothing through.
  categories.passed = categories.missed = categories.analysis = categories.failed = ".*";
  // Where this fails there are no remarks, and that is all.
  (void)mlir::remark::enableOptimizationRemarks(*context, std::make_unique<RemarkText>(result.remarks),
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
  mlir::OwningOpRef<mlir::ModuleOp> module = graph::ir::importGraph(graph, context);
  if (isDebugged(DebugTopic::Graph)) {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    printDebug(DebugTopic::Graph, "the text of '" + graph.name + "':\n" + text);
  }
  const uint64_t imported = Trace::now() - begin;
  result.stages.push_back({"import", imported});
  if (options.trace)
    trace.add({"compiler", "import", "", begin, imported});
  if (stopAfter) {
    ZYX_ASSIGN_OR_RETURN(std::string text, (args.dump_dot ? pipelines::compileToDot : pipelines::compileToText)(
                                               *module, options, *stopAfter, result.stages));
    result.output = toBytes(text);
    return Status::ok();
  }
  if (options.listChoices) {
    ZYX_ASSIGN_OR_RETURN(std::vector<pipelines::KernelChoices> kernels,
                         pipelines::listChoices(*module, options, result.stages));
    result.numKernels = kernels.size();
    for (const pipelines::KernelChoices &kernel : kernels)
      for (const auto &[text, cost] : kernel.choices)
        result.choices.push_back({kernel.key, kernel.kernel, text, cost});
    return Status::ok();
  }
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact,
                       pipelines::compile(*module, options, result.stages, &result.numFoundKernels));
  result.numKernels = artifact.kernels.size();
  result.output = artifact.serialize();
  result.spans = trace.spans();
  return Status::ok();
}

/// The caller's struct in our size: members that the caller does not know are zero.
template <typename Args> bool copyArgs(const Args *from, Args &to) {
  if (!from || from->struct_size < sizeof(size_t) + sizeof(zyx_compiler_bytes))
    return false;
  std::memcpy(static_cast<void *>(&to), from, std::min(from->struct_size, sizeof(Args)));
  return true;
}

template <typename Args>
zyx_compiler_result *run(const Args *args, Status (*body)(const Args &, zyx_compiler_result &)) {
  auto *result = new zyx_compiler_result;
  Args copied = {};
  result->status = copyArgs(args, copied) ? body(copied, *result)
                                          : Status::invalidArgument("the arguments are NULL or have no struct_size");
  if (!result->status.isOk()) {
    result->graphs.clear();
    result->output.clear();
    result->choices.clear();
  }
  return result;
}

} // namespace

const char *zyx_compiler_version(void) { return ZYX_VERSION; }

void zyx_compiler_remove_leftovers(void) { removeLeftovers(); }

zyx_compiler_result *zyx_compiler_parse(const zyx_compiler_parse_args *args) { return run(args, parse); }

zyx_compiler_result *zyx_compiler_compile(const zyx_compiler_compile_args *args) { return run(args, compile); }

void zyx_compiler_result_release(zyx_compiler_result *result) { delete result; }

uint32_t zyx_compiler_result_code(const zyx_compiler_result *result) {
  return static_cast<uint32_t>(result->status.code());
}

const char *zyx_compiler_result_message(const zyx_compiler_result *result) { return result->status.message().c_str(); }

size_t zyx_compiler_result_num_graphs(const zyx_compiler_result *result) { return result->graphs.size(); }

zyx_compiler_bytes zyx_compiler_result_graph(const zyx_compiler_result *result, size_t index) {
  if (index >= result->graphs.size())
    return {nullptr, 0};
  return {result->graphs[index].data(), result->graphs[index].size()};
}

zyx_compiler_bytes zyx_compiler_result_output(const zyx_compiler_result *result) {
  return {result->output.data(), result->output.size()};
}

size_t zyx_compiler_result_num_kernels(const zyx_compiler_result *result) { return result->numKernels; }

size_t zyx_compiler_result_num_found_kernels(const zyx_compiler_result *result) { return result->numFoundKernels; }

size_t zyx_compiler_result_num_stages(const zyx_compiler_result *result) { return result->stages.size(); }

int zyx_compiler_result_stage(const zyx_compiler_result *result, size_t index, zyx_compiler_stage *stage) {
  if (!stage || index >= result->stages.size())
    return 0;
  zyx_compiler_stage value = {stage->struct_size, result->stages[index].name.c_str(),
                              result->stages[index].nanoseconds};
  std::memcpy(stage, &value, std::min(stage->struct_size, sizeof(value)));
  return 1;
}

size_t zyx_compiler_result_num_spans(const zyx_compiler_result *result) { return result->spans.size(); }

int zyx_compiler_result_span(const zyx_compiler_result *result, size_t index, zyx_compiler_span *span) {
  if (!span || index >= result->spans.size())
    return 0;
  const Span &of = result->spans[index];
  zyx_compiler_span value = {span->struct_size, of.name.c_str(), of.detail.c_str(), of.begin, of.nanoseconds};
  std::memcpy(span, &value, std::min(span->struct_size, sizeof(value)));
  return 1;
}

size_t zyx_compiler_result_num_choices(const zyx_compiler_result *result) { return result->choices.size(); }

int zyx_compiler_result_choice(const zyx_compiler_result *result, size_t index, zyx_compiler_choice *choice) {
  if (!choice || index >= result->choices.size())
    return 0;
  const auto &of = result->choices[index];
  zyx_compiler_choice value = {choice->struct_size, of.key.c_str(), of.kernel.c_str(), of.text.c_str(), of.cost};
  std::memcpy(choice, &value, std::min(choice->struct_size, sizeof(value)));
  return 1;
}

const char *zyx_compiler_result_remarks(const zyx_compiler_result *result) { return result->remarks.c_str(); }
