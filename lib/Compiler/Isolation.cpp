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
#include <functional>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

using namespace zyx;

namespace {

// A request: u64 size of what follows, "ZYXQ", u32 version, u64 bytes of memory, u64 seconds, u8 kind, its arguments.
// An answer: "ZYXR", u32 version, u64 XXH3 of all that follows, u32 code, message, the result, kernels to keep.
// In front of it may come questions for kernels that are kept: "ZYXK", the key as a string. Each gets a u8 whether
// there is one, and its bytes as a blob.
constexpr uint32_t requestMagic = 0x5158595a, questionMagic = 0x4b58595a, protocolVersion = 5;
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

static_assert(sizeof(zyx_compiler_parse_args) == 40 && sizeof(zyx_compiler_compile_args) == 200,
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

/// Called with the key and the bytes of each kernel.
using KeepKernel = std::function<void(const std::string &key, std::span<const std::byte> bytes)>;

Status readAnswer(std::span<const std::byte> bytes, zyx_compiler_result &result, const KeepKernel &keep) {
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
  result.numFoundKernels = from.u64("kernels that were found");
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
  for (uint64_t left = from.count("kernels to keep", 16); left > 0 && from.status(); --left) {
    const std::string key = from.string("key of a kernel");
    const std::span<const std::byte> kernel = from.blob("kernel to keep");
    if (from.status() && keep)
      keep(key, kernel);
  }
  ZYX_RETURN_IF_ERROR(from.status());
  return code == 0 ? Status::ok() : Status(static_cast<ErrorCode>(code), std::move(message));
}

/// Takes a question of the child from the beginning of what it has written, and answers it.
std::vector<std::byte> answerQuestion(std::vector<std::byte> &output, const zyx_compiler_compile_args &args) {
  ByteReader from(output);
  if (from.u32("magic") != questionMagic)
    return {};
  const std::string key = from.string("key");
  // More of it is to come.
  if (!from.status())
    return {};
  output.erase(output.begin(), output.end() - static_cast<std::ptrdiff_t>(from.remaining()));
  std::vector<std::byte> kernel;
  auto take = [](void *taker, zyx_compiler_bytes bytes) {
    const std::span<const std::byte> of = bytesOf(bytes);
    static_cast<std::vector<std::byte> *>(taker)->assign(of.begin(), of.end());
  };
  ByteWriter answer;
  const bool isFound = args.lookup_kernel(args.kernels_context, key.c_str(), take, &kernel) != 0;
  answer.u8(isFound);
  answer.blob(isFound ? kernel : std::vector<std::byte>());
  return answer.take();
}

/// `kernels` are the arguments of a compilation that has kernels kept, or null.
Status call(const zyx_compiler_isolation &given, Kind kind, const std::string &name,
            std::span<const std::byte> arguments, const zyx_compiler_compile_args *kernels,
            zyx_compiler_result &result) {
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
  ByteWriter size;
  size.u64(request.view().size() + arguments.size());
  std::vector<std::byte> bytes = size.take();
  bytes.insert(bytes.end(), request.view().begin(), request.view().end());
  bytes.insert(bytes.end(), arguments.begin(), arguments.end());
  ChildLimits limits;
  limits.time = time;
  KeepKernel keep;
  if (kernels) {
    limits.answer = [kernels](std::vector<std::byte> &output) { return answerQuestion(output, *kernels); };
    keep = [kernels](const std::string &key, std::span<const std::byte> kernel) {
      kernels->store_kernel(kernels->kernels_context, key.c_str(), {kernel.data(), kernel.size()});
    };
  }
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
  return readAnswer(child.output, result, keep);
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

/// Fewer bytes where the standard input ends.
std::vector<std::byte> readStandardInput(uint64_t size) {
  std::vector<std::byte> bytes;
  std::byte buffer[1 << 16];
  while (bytes.size() < size) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, std::min<uint64_t>(sizeof(buffer), size - bytes.size()));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    bytes.insert(bytes.end(), buffer, buffer + got);
  }
  return bytes;
}

bool writeAll(int to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(to, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return true;
}

/// The kernels of one compilation: those that the parent has, and those that it is to keep.
struct ChildKernels {
  int out;
  std::vector<std::pair<std::string, std::vector<std::byte>>> toKeep;
};

/// Asks the parent, who waits for nothing else.
int askForKernel(void *context, const char *key, void (*take)(void *taker, zyx_compiler_bytes bytes), void *taker) {
  ByteWriter question;
  question.u32(questionMagic);
  question.string(key);
  constexpr size_t headSize = 1 + sizeof(uint64_t);
  if (!writeAll(static_cast<ChildKernels *>(context)->out, question.view()))
    return 0;
  const std::vector<std::byte> head = readStandardInput(headSize);
  ByteReader from(head);
  const bool isFound = from.u8("whether there is a kernel") != 0;
  const uint64_t size = from.u64("size of a kernel");
  if (!from.status())
    return 0;
  const std::vector<std::byte> kernel = readStandardInput(size);
  if (!isFound || kernel.size() != size)
    return 0;
  take(taker, {kernel.data(), kernel.size()});
  return 1;
}

void keepForParent(void *context, const char *key, zyx_compiler_bytes bytes) {
  const std::span<const std::byte> kernel = bytesOf(bytes);
  static_cast<ChildKernels *>(context)->toKeep.emplace_back(key, std::vector<std::byte>(kernel.begin(), kernel.end()));
}

zyx_compiler_bytes asBlob(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

zyx_compiler_result *answer(ByteReader &from, Kind kind, ChildKernels &kernels) {
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
  args.trace = from.u8("trace");
  std::string isa = from.string("isa");
  args.isa = isa.c_str();
  std::string measured = from.string("measured"), onlyKernel = from.string("only_kernel");
  args.measured = measured.c_str();
  args.only_kernel = onlyKernel.c_str();
  args.list_choices = from.u64("list_choices");
  args.c_source = from.u8("c_source");
  std::string debug = from.string("debug"), fusion = from.string("fusion");
  args.debug = debug.c_str();
  args.fusion = fusion.c_str();
  if (from.u8("whether kernels are kept") != 0) {
    args.lookup_kernel = askForKernel;
    args.store_kernel = keepForParent;
    args.kernels_context = &kernels;
  }
  return from.status() ? zyx_compiler_compile(&args) : nullptr;
}

std::vector<std::byte> encode(const zyx_compiler_result &result, const ChildKernels &kernels) {
  ByteWriter body;
  body.u32(static_cast<uint32_t>(result.status.code()));
  body.string(result.status.message());
  body.u64(result.graphs.size());
  for (const std::vector<std::byte> &graph : result.graphs)
    body.blob(graph);
  body.blob(result.output);
  body.u64(result.numKernels);
  body.u64(result.numFoundKernels);
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
  body.u64(kernels.toKeep.size());
  for (const auto &[key, kernel] : kernels.toKeep) {
    body.string(key);
    body.blob(kernel);
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
  return call(*args.isolation, Kind::Parse, name, arguments.view(), nullptr, result);
}

Status isolation::compile(const zyx_compiler_compile_args &args, const std::string &name, zyx_compiler_result &result) {
  ByteWriter arguments;
  arguments.blob(bytesOf(args.graph));
  arguments.string(args.target ? args.target : "cpu");
  arguments.string(args.stop_after ? args.stop_after : "");
  arguments.u8(args.verify_roundtrip != 0);
  arguments.u8(args.no_optimise != 0);
  arguments.u8(args.dump_dot != 0);
  arguments.u8(args.trace != 0);
  arguments.string(args.isa ? args.isa : "native");
  arguments.string(args.measured ? args.measured : "");
  arguments.string(args.only_kernel ? args.only_kernel : "");
  arguments.u64(args.list_choices);
  arguments.u8(args.c_source != 0);
  arguments.string(args.debug ? args.debug : "");
  arguments.string(args.fusion ? args.fusion : "");
  const bool keepsKernels = args.lookup_kernel && args.store_kernel;
  arguments.u8(keepsKernels);
  return call(*args.isolation, Kind::Compile, name, arguments.view(), keepsKernels ? &args : nullptr, result);
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

  const std::vector<std::byte> head = readStandardInput(sizeof(uint64_t));
  ByteReader sized(head);
  const std::vector<std::byte> bytes = readStandardInput(sized.u64("size"));
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

  ChildKernels kernels{out, {}};
  zyx_compiler_result *result = answer(from, static_cast<Kind>(kind), kernels);
  if (!result)
    return 2;
  const std::vector<std::byte> answered = encode(*result, kernels);
  zyx_compiler_result_release(result);
  return writeAll(out, answered) ? 0 : 1;
}
