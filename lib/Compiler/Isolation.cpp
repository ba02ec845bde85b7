//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Isolation.h"

#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/Envelope.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/PrettyStackTrace.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

using namespace zyx;

namespace {

// A request: "ZYXQ", u32 version, u64 bytes of memory, u64 seconds, u8 kind, its arguments.
// An answer: "ZYXR", u32 version, u64 XXH3 of all that follows, u32 code, message, the result.
constexpr uint32_t requestMagic = 0x5158595a, protocolVersion = 3;
constexpr Envelope answerEnvelope{"ZYXR", protocolVersion, Envelope::Checksum::Bits64};
enum class Kind : uint8_t { Parse = 0, Compile = 1 };

constexpr uint64_t defaultMemory = uint64_t(16) << 30;
constexpr uint64_t defaultMilliseconds = 10 * 60 * 1000;
/// A process that may only have less does not even load the compiler.
constexpr uint64_t leastMemory = uint64_t(1) << 30;

bool inChild = false;

std::span<const std::byte> bytesOf(zyx_compiler_bytes bytes) {
  return {static_cast<const std::byte *>(bytes.data), bytes.size};
}

static_assert(sizeof(zyx_compiler_parse_args) == 40 && sizeof(zyx_compiler_compile_args) == 152,
              "a new argument has to be in the request");

//===----------------------------------------------------------------------===//
// Parent
//===----------------------------------------------------------------------===//

Result<std::string> findWorker(const char *named) {
  if (named && *named)
    return std::string(named);
  Dl_info info;
  std::string library =
      ::dladdr(reinterpret_cast<void *>(&zyx_compiler_version), &info) != 0 && info.dli_fname ? info.dli_fname : "";
  const size_t slash = library.rfind('/');
  std::string folder = slash == std::string::npos ? "." : library.substr(0, slash);
  for (const char *place : {"/../bin/zyx-compiler-worker", "/zyx-compiler-worker"})
    if (::access((folder + place).c_str(), X_OK) == 0)
      return folder + place;
  return Status::notFound("there is no zyx-compiler-worker in " + folder + " or its ../bin");
}

/// What the child said of its end: the lines of LLVM's stack dump that name passes and functions,
/// its fatal errors, or else its last line.
std::string lastWords(std::string text) {
  // LLVM ends an entry of its dump with a zero byte, which would end a C string.
  std::erase(text, '\0');
  std::string told, last;
  std::string_view messages = text;
  while (!messages.empty()) {
    std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(messages.size(), line.size() + 1));
    if (line.empty())
      continue;
    last = line;
    const size_t digits = line.find_first_not_of("0123456789");
    const bool fromDump = digits != 0 && digits != std::string_view::npos && line.substr(digits).starts_with(".\t");
    if (fromDump && line.find("Program arguments") == std::string_view::npos)
      told += "; " + std::string(line.substr(digits + 2));
    else if (line.starts_with("LLVM ERROR: ") || line.find("assertion") != std::string_view::npos)
      told += "; " + std::string(line);
  }
  if (told.empty() && !last.empty())
    told = "; " + last;
  constexpr size_t longest = 1000;
  return told.size() > longest ? told.substr(0, longest) + "..." : told;
}

Status readAnswer(std::span<const std::byte> bytes, zyx_compiler_result &result) {
  const Envelope::Opened opened = answerEnvelope.open(bytes);
  if (opened.state != Envelope::State::Whole)
    return Status::internal("the compiler's child process wrote no answer");
  ByteReader from(opened.contents);
  const uint32_t code = from.u32("code");
  std::string message = from.string("message");
  result.graphs.resize(from.count("graphs", 8));
  for (std::vector<std::byte> &graph : result.graphs) {
    std::span<const std::byte> blob = from.blob("graph");
    graph.assign(blob.begin(), blob.end());
  }
  std::span<const std::byte> output = from.blob("output");
  result.output.assign(output.begin(), output.end());
  result.numKernels = from.u64("kernels");
  result.stages.resize(from.count("stages", 16));
  for (pipelines::Stage &stage : result.stages) {
    stage.name = from.string("stage");
    stage.nanoseconds = from.u64("time of a stage");
  }
  result.spans.resize(from.count("spans", 32));
  for (Span &span : result.spans) {
    span.name = from.string("span");
    span.detail = from.string("detail of a span");
    span.begin = from.u64("begin of a span");
    span.nanoseconds = from.u64("time of a span");
  }
  result.remarks = from.string("remarks");
  result.choices.resize(from.count("choices", 32));
  for (zyx_compiler_result::Choice &choice : result.choices) {
    choice.key = from.string("key of a kernel");
    choice.kernel = from.string("kernel");
    choice.text = from.string("choice");
    choice.cost = from.f64("cost of a choice");
  }
  ZYX_RETURN_IF_ERROR(from.status());
  return code == 0 ? Status::ok() : Status(static_cast<ErrorCode>(code), std::move(message));
}

Status call(const zyx_compiler_isolation &given, Kind kind, const std::string &name,
            std::span<const std::byte> arguments, zyx_compiler_result &result) {
  zyx_compiler_isolation isolation = {};
  if (given.struct_size < sizeof(size_t))
    return Status::invalidArgument("the isolation has no struct_size");
  std::memcpy(&isolation, &given, std::min(given.struct_size, sizeof(isolation)));
  const uint64_t memory = isolation.memory_bytes ? isolation.memory_bytes : defaultMemory;
  if (memory < leastMemory)
    return Status::invalidArgument("a child process of " + std::to_string(memory) +
                                   " bytes is too small for the compiler");
  const std::chrono::milliseconds time(isolation.milliseconds ? isolation.milliseconds : defaultMilliseconds);
  ZYX_ASSIGN_OR_RETURN(std::string worker, findWorker(isolation.worker));

  ByteWriter request;
  request.u32(requestMagic);
  request.u32(protocolVersion);
  request.u64(memory);
  // Of processor time, should nobody be there to end it; several threads may use it up.
  request.u64(static_cast<uint64_t>(time.count()) / 1000 * 4 + 60);
  request.u8(static_cast<uint8_t>(kind));
  std::vector<std::byte> bytes = request.take();
  bytes.insert(bytes.end(), arguments.begin(), arguments.end());
  ChildLimits limits;
  limits.time = time;
  ZYX_ASSIGN_OR_RETURN(ChildResult child, runChild({worker}, bytes, limits));

  const std::string what = (kind == Kind::Parse ? "reading '" : "compiling '") + name + "'" + lastWords(child.messages);
  if (child.timedOut)
    return Status(ErrorCode::Timeout,
                  "the compiler's child process took longer than " + std::to_string(time.count()) + " ms " + what);
  if (child.signal != 0 || child.exitCode != 0) {
    if (child.messages.find("out of memory") != std::string::npos)
      return Status::outOfMemory("the compiler's child process needs more than " + std::to_string(memory) + " bytes " +
                                 what);
    return Status::compileFailed(
        "the compiler's child process " +
        (child.signal
             ? "died by signal " + std::to_string(child.signal) + " (" + ::strsignal(child.signal) + ")" +
                   (child.signal == SIGKILL ? ", as the system ends processes where the machine's memory ends, " : " ")
             : "ended with exit code " + std::to_string(child.exitCode) + " ") +
        what);
  }
  return readAnswer(child.output, result);
}

//===----------------------------------------------------------------------===//
// Child
//===----------------------------------------------------------------------===//

[[noreturn]] void endWithoutMemory() {
  static constexpr char message[] = "\nout of memory\n";
  (void)!::write(STDERR_FILENO, message, sizeof(message) - 1);
  std::abort();
}

void limit(int resource, uint64_t value) {
  rlimit limits;
  if (::getrlimit(resource, &limits) == 0 && value < limits.rlim_max) {
    limits.rlim_cur = limits.rlim_max = value;
    (void)::setrlimit(resource, &limits);
  }
}

std::vector<std::byte> readStandardInput() {
  std::vector<std::byte> bytes;
  std::byte buffer[1 << 16];
  for (ssize_t got; (got = ::read(STDIN_FILENO, buffer, sizeof(buffer))) > 0;)
    bytes.insert(bytes.end(), buffer, buffer + got);
  return bytes;
}

zyx_compiler_bytes asBlob(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

zyx_compiler_result *answer(ByteReader &from, Kind kind) {
  if (kind == Kind::Parse) {
    zyx_compiler_parse_args args = {};
    args.struct_size = sizeof(args);
    std::string name = from.string("name");
    args.file_name = name.c_str();
    args.text = asBlob(from.blob("text"));
    return from.status() ? zyx_compiler_parse(&args) : nullptr;
  }
  zyx_compiler_compile_args args = {};
  args.struct_size = sizeof(args);
  args.graph = asBlob(from.blob("graph"));
  std::string target = from.string("target"), stopAfter = from.string("phase");
  args.target = target.c_str();
  args.stop_after = stopAfter.c_str();
  args.verify_roundtrip = from.u8("verify_roundtrip");
  args.no_optimise = from.u8("no_optimise");
  args.dump_dot = from.u8("dump_dot");
  args.schedule_seed = from.u64("schedule_seed");
  args.trace = from.u8("trace");
  std::string isa = from.string("isa");
  args.isa = isa.c_str();
  std::string measured = from.string("measured"), onlyKernel = from.string("only_kernel");
  args.measured = measured.c_str();
  args.only_kernel = onlyKernel.c_str();
  args.list_choices = from.u64("list_choices");
  std::string debug = from.string("debug"), fusion = from.string("fusion");
  args.debug = debug.c_str();
  args.fusion = fusion.c_str();
  return from.status() ? zyx_compiler_compile(&args) : nullptr;
}

std::vector<std::byte> encode(const zyx_compiler_result &result) {
  ByteWriter body;
  body.u32(static_cast<uint32_t>(result.status.code()));
  body.string(result.status.message());
  body.u64(result.graphs.size());
  for (const std::vector<std::byte> &graph : result.graphs)
    body.blob(graph);
  body.blob(result.output);
  body.u64(result.numKernels);
  body.u64(result.stages.size());
  for (const pipelines::Stage &stage : result.stages) {
    body.string(stage.name);
    body.u64(stage.nanoseconds);
  }
  body.u64(result.spans.size());
  for (const Span &span : result.spans) {
    body.string(span.name);
    body.string(span.detail);
    body.u64(span.begin);
    body.u64(span.nanoseconds);
  }
  body.string(result.remarks);
  body.u64(result.choices.size());
  for (const zyx_compiler_result::Choice &choice : result.choices) {
    body.string(choice.key);
    body.string(choice.kernel);
    body.string(choice.text);
    body.f64(choice.cost);
  }
  return answerEnvelope.seal(body.view());
}

} // namespace

bool isolation::serving() { return inChild; }

void isolation::nameInCrashes(mlir::MLIRContext &context) {
  context.registerActionHandler([](llvm::function_ref<void()> transform, const mlir::tracing::Action &action) {
    auto *pass = llvm::dyn_cast<mlir::PassExecutionAction>(&action);
    if (!pass)
      return transform();
    auto name = pass->getOp()->getAttrOfType<mlir::StringAttr>("sym_name");
    std::string on = name ? " on '" + name.getValue().str() + "'" : "";
    llvm::PrettyStackTraceFormat entry("in pass '%s'%s", pass->getPass().getArgument().str().c_str(), on.c_str());
    transform();
  });
}

Status isolation::parse(const zyx_compiler_parse_args &args, const std::string &name, zyx_compiler_result &result) {
  ByteWriter arguments;
  arguments.string(name);
  arguments.blob(bytesOf(args.text));
  return call(*args.isolation, Kind::Parse, name, arguments.view(), result);
}

Status isolation::compile(const zyx_compiler_compile_args &args, const std::string &name, zyx_compiler_result &result) {
  ByteWriter arguments;
  arguments.blob(bytesOf(args.graph));
  arguments.string(args.target ? args.target : "cpu");
  arguments.string(args.stop_after ? args.stop_after : "");
  arguments.u8(args.verify_roundtrip != 0);
  arguments.u8(args.no_optimise != 0);
  arguments.u8(args.dump_dot != 0);
  arguments.u64(args.schedule_seed);
  arguments.u8(args.trace != 0);
  arguments.string(args.isa ? args.isa : "native");
  arguments.string(args.measured ? args.measured : "");
  arguments.string(args.only_kernel ? args.only_kernel : "");
  arguments.u64(args.list_choices);
  arguments.string(args.debug ? args.debug : "");
  arguments.string(args.fusion ? args.fusion : "");
  return call(*args.isolation, Kind::Compile, name, arguments.view(), result);
}

int zyx_compiler_serve(void) {
  inChild = true;
  // It ends with whoever asked, and a C compiler with it.
  keepChildrenInGroup();
  // The answer goes where nothing else can print to.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  llvm::EnablePrettyStackTrace();
  std::set_new_handler(endWithoutMemory);

  const std::vector<std::byte> bytes = readStandardInput();
  ByteReader from(bytes);
  const bool known = from.u32("magic") == requestMagic && from.u32("version") == protocolVersion;
  [[maybe_unused]] const uint64_t memory = from.u64("memory");
  const uint64_t seconds = from.u64("seconds");
  const uint8_t kind = from.u8("kind");
  if (!known || !from.status() || kind > static_cast<uint8_t>(Kind::Compile))
    return 2;
  // The sanitizers take more address space than there is memory.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  limit(RLIMIT_AS, memory);
#endif
  limit(RLIMIT_CPU, seconds);
  limit(RLIMIT_CORE, 0);

  zyx_compiler_result *result = answer(from, static_cast<Kind>(kind));
  if (!result)
    return 2;
  const std::vector<std::byte> answered = encode(*result);
  zyx_compiler_result_release(result);
  for (size_t at = 0; at < answered.size();) {
    ssize_t put = ::write(out, answered.data() + at, answered.size() - at);
    if (put <= 0)
      return 1;
    at += static_cast<size_t>(put);
  }
  return 0;
}
