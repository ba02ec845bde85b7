//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Compiler.h"

#include "zyx-c/Compiler.h"
#include "zyx/Base/Config.h"
#include "zyx/Base/Debug.h"
#include "zyx/Base/Leftover.h"

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <new>
#include <unistd.h>

using namespace zyx;
using namespace zyx::session;

struct Compiler::Functions {
#define ZYX_COMPILER_FUNCTIONS(X)                                                                                      \
  X(zyx_compiler_version)                                                                                              \
  X(zyx_compiler_parse)                                                                                                \
  X(zyx_compiler_compile)                                                                                              \
  X(zyx_compiler_result_release)                                                                                       \
  X(zyx_compiler_result_code)                                                                                          \
  X(zyx_compiler_result_message)                                                                                       \
  X(zyx_compiler_result_num_graphs)                                                                                    \
  X(zyx_compiler_result_graph)                                                                                         \
  X(zyx_compiler_result_output)                                                                                        \
  X(zyx_compiler_result_num_kernels)                                                                                   \
  X(zyx_compiler_result_num_found_kernels)                                                                             \
  X(zyx_compiler_result_num_stages)                                                                                    \
  X(zyx_compiler_result_stage)                                                                                         \
  X(zyx_compiler_result_num_spans)                                                                                     \
  X(zyx_compiler_result_span)                                                                                          \
  X(zyx_compiler_result_remarks)                                                                                       \
  X(zyx_compiler_result_num_choices)                                                                                   \
  X(zyx_compiler_result_choice)
#define ZYX_DECLARE(name) decltype(&::name) name = nullptr;
  ZYX_COMPILER_FUNCTIONS(ZYX_DECLARE)
#undef ZYX_DECLARE

  /// Releases a result at the end of its scope.
  struct Release {
    const Functions *functions;
    void operator()(zyx_compiler_result *result) const { functions->zyx_compiler_result_release(result); }
  };
  using Owned = std::unique_ptr<zyx_compiler_result, Release>;
  Owned own(zyx_compiler_result *result) const { return Owned(result, Release{this}); }

  Status status(const zyx_compiler_result *result) const {
    uint32_t code = zyx_compiler_result_code(result);
    if (code == 0)
      return Status::ok();
    return {static_cast<ErrorCode>(code), zyx_compiler_result_message(result)};
  }
};

namespace {

/// The folder of the running program.
std::string programFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string program = length > 0 ? std::string(path, length) : std::string("./");
  return program.substr(0, program.rfind('/'));
}

/// The folder of the library that this code is in, as it is in an extension of Python; "" where it is the program.
std::string ownFolder() {
  Dl_info found;
  link_map *map = nullptr;
  if (dladdr1(reinterpret_cast<const void *>(&programFolder), &found, reinterpret_cast<void **>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      !map || map->l_name[0] != '/')
    return "";
  const std::string path = map->l_name;
  return path.substr(0, path.rfind('/'));
}

/// Where the loader looks for libraries of the program.
std::vector<std::string> libraryFolders() {
  std::vector<std::string> folders;
  void *program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo counted;
  if (program && dlinfo(program, RTLD_DI_SERINFOSIZE, &counted) == 0) {
    std::vector<std::max_align_t> memory(counted.dls_size / sizeof(std::max_align_t) + 1);
    auto *found = reinterpret_cast<Dl_serinfo *>(memory.data());
    if (dlinfo(program, RTLD_DI_SERINFOSIZE, found) == 0 && dlinfo(program, RTLD_DI_SERINFO, found) == 0)
      for (unsigned i = 0; i < found->dls_cnt; ++i)
        folders.push_back(found->dls_serpath[i].dls_name);
  }
  if (program)
    dlclose(program);
  return folders;
}

std::vector<std::byte> copy(zyx_compiler_bytes bytes) {
  auto *begin = static_cast<const std::byte *>(bytes.data);
  return std::vector<std::byte>(begin, begin + bytes.size);
}

/// Points into `isolation`.
zyx_compiler_isolation toC(const std::optional<Isolation> &isolation) {
  zyx_compiler_isolation isolated = {sizeof(isolated), nullptr, 0, 0};
  if (isolation) {
    isolated.worker = isolation->worker.c_str();
    isolated.memory_bytes = isolation->memoryBytes;
    isolated.milliseconds = isolation->milliseconds;
  }
  return isolated;
}

} // namespace

Compiler::Compiler() : functions(std::make_unique<Functions>()) {}

Compiler::~Compiler() {
  // LLVM registers things that the process runs at its end; the library stays.
}

std::vector<std::string> Compiler::candidates() {
  if (const char *named = zyxVariable("COMPILER"))
    return {named};
  std::vector<std::string> paths = {programFolder() + "/../lib/libZyxCompiler.so",
                                    programFolder() + "/libZyxCompiler.so"};
  if (const std::string own = ownFolder(); !own.empty())
    paths.insert(paths.begin(), own + "/libZyxCompiler.so");
  for (const std::string &folder : libraryFolders())
    paths.push_back(folder + "/libZyxCompiler.so");
  return paths;
}

std::string Compiler::chosen() {
  for (const std::string &path : candidates())
    if (::access(path.c_str(), F_OK) == 0)
      return path;
  return "";
}

Result<artifact::Artifact> Compiled::readArtifact() const {
  if (program)
    return *program;
  return artifact::Artifact::deserialize(output);
}

Result<std::unique_ptr<Compiler>> Compiler::open(std::optional<Isolation> isolation) {
  std::unique_ptr<Compiler> compiler(new Compiler);
  compiler->isolation = std::move(isolation);
  const char *const named = "; ZYX_COMPILER names the path of libZyxCompiler.so";
  const std::string path = chosen();
  if (path.empty()) {
    std::string tried;
    for (const std::string &candidate : candidates())
      tried += (tried.empty() ? "" : "; ") + candidate;
    return Status::notFound("the compiler cannot be opened: " + tried + ": no such file" + named);
  }
  // Lazy: most of the calls between the libraries of MLIR and LLVM are never made.
  compiler->library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!compiler->library)
    return Status::notFound(std::string("the compiler cannot be opened: ") + dlerror() + named);
#define ZYX_RESOLVE(name)                                                                                              \
  compiler->functions->name = reinterpret_cast<decltype(&::name)>(dlsym(compiler->library, #name));                    \
  if (!compiler->functions->name)                                                                                      \
    return Status::notFound("the compiler lacks the function " #name);
  // Another version may have other functions.
  ZYX_RESOLVE(zyx_compiler_version)
  if (std::string_view version = compiler->functions->zyx_compiler_version(); version != ZYX_VERSION)
    return Status::unsupported("the compiler is of version " + std::string(version) + ", this program of " ZYX_VERSION);
  ZYX_COMPILER_FUNCTIONS(ZYX_RESOLVE)
  if (void *remove = dlsym(compiler->library, "zyx_compiler_remove_leftovers"))
    alsoRemove(reinterpret_cast<decltype(&::zyx_compiler_remove_leftovers)>(remove));
#undef ZYX_RESOLVE
  return compiler;
}

Result<std::vector<graph::Graph>> Compiler::parse(std::string_view text, const std::string &name) const {
  const zyx_compiler_isolation isolated = toC(isolation);
  zyx_compiler_parse_args args = {
      sizeof(args), {text.data(), text.size()}, name.c_str(), isolation ? &isolated : nullptr};
  auto result = functions->own(functions->zyx_compiler_parse(&args));
  ZYX_RETURN_IF_ERROR(functions->status(result.get()));
  std::vector<graph::Graph> graphs;
  for (size_t i = 0; i < functions->zyx_compiler_result_num_graphs(result.get()); ++i) {
    std::vector<std::byte> bytes = copy(functions->zyx_compiler_result_graph(result.get(), i));
    ZYX_ASSIGN_OR_RETURN(graph::Graph graph, graph::Graph::deserialize(bytes));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

Result<Compiled> Compiler::compile(const graph::Graph &graph, const CompileOptions &options,
                                   const CompileCallbacks &callbacks, const KernelStore &kernels) const {
  std::vector<std::byte> bytes = graph.serialize();
  zyx_compiler_compile_args args = {};
  args.struct_size = sizeof(args);
  args.graph = {bytes.data(), bytes.size()};
  args.target = options.target.c_str();
  args.stop_after = options.stopAfter.c_str();
  args.verify_roundtrip = options.verifyRoundtrip;
  args.no_optimise = options.noOptimise;
  args.dump_dot = options.dumpDot;
  args.trace = callbacks.trace != nullptr;
  if (callbacks.progress) {
    args.progress_context = const_cast<CompileCallbacks *>(&callbacks);
    args.progress = [](void *context, const char *stage, size_t done, size_t total) {
      static_cast<const CompileCallbacks *>(context)->progress(stage, done, total);
    };
  }
  if (callbacks.isCancelled) {
    args.cancelled_context = const_cast<CompileCallbacks *>(&callbacks);
    args.is_cancelled = [](void *context) {
      return static_cast<const CompileCallbacks *>(context)->isCancelled() ? 1 : 0;
    };
  }
  args.c_source = options.cSource;
  const zyx_compiler_isolation isolated = toC(isolation);
  args.isolation = isolation ? &isolated : nullptr;
  args.isa = options.isa.c_str();
  args.measured = options.measured.c_str();
  args.list_choices = options.listChoices;
  args.only_kernel = options.onlyKernel.c_str();
  if (kernels.lookup && kernels.store) {
    args.kernels_context = const_cast<KernelStore *>(&kernels);
    args.lookup_kernel = [](void *context, const char *key, void (*take)(void *, zyx_compiler_bytes), void *taker) {
      std::optional<std::vector<std::byte>> found;
      // The compiler is built without exceptions: none may pass through it. A kernel that is not found is compiled.
      try {
        found = static_cast<const KernelStore *>(context)->lookup(key);
      } catch (const std::bad_alloc &) {
        return 0;
      }
      if (found)
        take(taker, {found->data(), found->size()});
      return found ? 1 : 0;
    };
    args.store_kernel = [](void *context, const char *key, zyx_compiler_bytes bytes) {
      try {
        static_cast<const KernelStore *>(context)->store(key, {static_cast<const std::byte *>(bytes.data), bytes.size});
      } catch (const std::bad_alloc &) {
        // It is compiled again.
      }
    };
  }
  const std::string topics = enabledDebugTopics();
  args.debug = topics.c_str();
  args.device = options.device.c_str();
  args.fusion = options.fusion.c_str();
  auto result = functions->own(functions->zyx_compiler_compile(&args));
  ZYX_RETURN_IF_ERROR(functions->status(result.get()));
  Compiled compiled;
  compiled.output = copy(functions->zyx_compiler_result_output(result.get()));
  compiled.numKernels = functions->zyx_compiler_result_num_kernels(result.get());
  compiled.numFoundKernels = functions->zyx_compiler_result_num_found_kernels(result.get());
  for (size_t i = 0; i < functions->zyx_compiler_result_num_stages(result.get()); ++i) {
    zyx_compiler_stage stage = {sizeof(stage), nullptr, 0};
    if (functions->zyx_compiler_result_stage(result.get(), i, &stage))
      compiled.stages.push_back({stage.name, stage.nanoseconds});
  }
  for (size_t i = 0; i < functions->zyx_compiler_result_num_spans(result.get()); ++i) {
    zyx_compiler_span span = {sizeof(span), nullptr, nullptr, 0, 0};
    if (functions->zyx_compiler_result_span(result.get(), i, &span))
      callbacks.trace->add({"compiler", span.name, span.detail, span.begin, span.nanoseconds});
  }
  compiled.remarks = functions->zyx_compiler_result_remarks(result.get());
  for (size_t i = 0; i < functions->zyx_compiler_result_num_choices(result.get()); ++i) {
    zyx_compiler_choice choice = {};
    choice.struct_size = sizeof(choice);
    if (functions->zyx_compiler_result_choice(result.get(), i, &choice))
      compiled.choices.push_back({choice.key, choice.kernel, choice.text, choice.cost});
  }
  return compiled;
}
