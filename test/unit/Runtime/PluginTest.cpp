//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices of plug-ins: a table with graphs that does its work when somebody waits, the example's library, and tables
// that are refused.
#include "../../../lib/Runtime/Devices/Plugin/Plugin.h"
#include "CudaTest.h"
#include "TestArtifact.h"
#include "TestKernels.h"

#include "zyx-c/Backend.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Plugin.h"

#include <array>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::count;
using testing::HasSubstr;

namespace {

/// What the table has given out, and what is to fail.
struct World {
  int devices = 0, memory = 0, hostMemory = 0, modules = 0, streams = 0, events = 0, graphs = 0, entered = 0;
  std::set<uint64_t> handles;
  int launches = 0, graphLaunches = 0, updates = 0;
  int failAt = 0, failWith = 0;
  bool saysLost = false, saysWhy = true;
};
World world;

using Work = std::deque<std::function<void()>>;
Work work;
struct Graph {
  std::vector<std::function<void()>> nodes;
  bool isFinished = false;
};

void drain() {
  for (; !work.empty(); work.pop_front())
    work.front()();
}

/// Every call that may fail passes here.
zyx_backend_code call(zyx_backend_error *error) {
  EXPECT_EQ(error->struct_size, sizeof(zyx_backend_error));
  if (world.failAt == 0 || --world.failAt != 0)
    return 0;
  if (world.saysWhy)
    std::snprintf(error->text, error->size, "says the plug-in");
  return world.failWith;
}
#define CALL                                                                                                           \
  EXPECT_GT(world.entered, 0);                                                                                         \
  if (const zyx_backend_code code = call(error))                                                                       \
  return code

std::byte *at(zyx_backend_memory memory) { return reinterpret_cast<std::byte *>(memory.handle + memory.offset); }

std::function<void()> fillOf(zyx_backend_memory to, uint64_t bytes, uint64_t pattern, uint32_t size) {
  return [=] {
    for (uint64_t done = 0; done < bytes; done += size)
      std::memcpy(at(to) + done, &pattern, size);
  };
}
std::function<void()> copyOf(zyx_backend_memory to, zyx_backend_memory from, uint64_t bytes) {
  return [=] { std::memcpy(at(to), at(from), bytes); };
}
std::function<void()> launchOf(const zyx_backend_launch_v1 *launch) {
  EXPECT_EQ(launch->struct_size, sizeof(*launch));
  EXPECT_EQ(launch->kernel, 11u);
  EXPECT_EQ(launch->num_arguments, 4u);
  EXPECT_TRUE(launch->arguments[2].is_buffer && !launch->arguments[3].is_buffer);
  EXPECT_EQ(launch->arguments[3].value, launch->programs);
  EXPECT_EQ(*static_cast<uint64_t *>(launch->parameters[0]), launch->arguments[0].value);
  return [from = launch->arguments[0].memory, to = launch->arguments[1].memory, programs = launch->programs] {
    ++world.launches;
    for (uint64_t i = 0; i < programs; ++i) {
      int32_t value;
      std::memcpy(&value, at(from) + 4 * i, 4);
      ++value;
      std::memcpy(at(to) + 4 * i, &value, 4);
    }
  };
}
Graph &graphOf(uint64_t graph) { return *reinterpret_cast<Graph *>(graph); }
zyx_backend_code append(uint64_t graph, uint64_t *node, std::function<void()> what) {
  EXPECT_FALSE(graphOf(graph).isFinished);
  *node = graphOf(graph).nodes.size();
  graphOf(graph).nodes.push_back(std::move(what));
  return 0;
}
zyx_backend_code replace(uint64_t graph, uint64_t node, std::function<void()> what) {
  EXPECT_TRUE(graphOf(graph).isFinished);
  ++world.updates;
  graphOf(graph).nodes.at(node) = std::move(what);
  return 0;
}

zyx_backend_v1 makeTable() {
  zyx_backend_v1 t = {};
  t.struct_size = sizeof(t);
  t.abi_version = ZYX_BACKEND_ABI_VERSION;
  t.name = "test-plugin";
  t.description = "a plug-in of a test";
  t.device_count = [] { return 2u; };
  t.get_facts = [](uint32_t index, zyx_backend_facts_v1 *facts, zyx_backend_error *) {
    EXPECT_EQ(facts->struct_size, sizeof(*facts));
    facts->target = "test";
    facts->identity = index ? "the second" : "the first";
    facts->free_bytes = 1 << 20;
    facts->memory_bytes = 1 << 21;
    facts->alignment = 16;
    facts->processors = 2;
    facts->dtypes = 1u << static_cast<unsigned>(DType::I32);
    return 0;
  };
  t.open = [](uint32_t index, void **device, zyx_backend_error *) {
    static std::array<char, 2> all;
    *device = &all.at(index);
    ++world.devices;
    return 0;
  };
  t.close = [](void *) { --world.devices; };
  t.enter = [](void *, zyx_backend_error *) {
    ++world.entered;
    return 0;
  };
  t.leave = [](void *) { --world.entered; };
  t.is_lost = [](void *) { return int(world.saysLost); };
  t.allocate = [](void *, uint64_t, uint64_t bytes, uint64_t *handle, zyx_backend_error *error) {
    CALL;
    ++world.memory;
    *handle = reinterpret_cast<uint64_t>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    world.handles.insert(*handle);
    return 0;
  };
  t.free = [](void *, uint64_t, uint64_t handle, zyx_backend_error *) {
    --world.memory;
    world.handles.erase(handle);
    work.push_back([handle] { std::free(reinterpret_cast<void *>(handle)); });
    return 0;
  };
  t.free_memory = [](void *, uint64_t *bytes, zyx_backend_error *) {
    *bytes = 77;
    return 0;
  };
  t.allocate_host = [](void *, uint64_t bytes, void **memory, zyx_backend_error *error) {
    CALL;
    ++world.hostMemory;
    *memory = std::malloc(bytes);
    return 0;
  };
  t.free_host = [](void *, void *memory) {
    drain();
    --world.hostMemory;
    std::free(memory);
  };
  t.upload = [](void *, uint64_t, zyx_backend_memory to, const void *from, uint64_t bytes, zyx_backend_error *error) {
    CALL;
    work.push_back([=] { std::memcpy(at(to), from, bytes); });
    return 0;
  };
  t.download = [](void *, uint64_t, void *to, zyx_backend_memory from, uint64_t bytes, zyx_backend_error *error) {
    CALL;
    work.push_back([=] { std::memcpy(to, at(from), bytes); });
    return 0;
  };
  t.copy = [](void *, uint64_t, zyx_backend_memory to, zyx_backend_memory from, uint64_t bytes,
              zyx_backend_error *error) {
    CALL;
    work.push_back(copyOf(to, from, bytes));
    return 0;
  };
  t.fill = [](void *, uint64_t, zyx_backend_memory to, uint64_t bytes, uint64_t pattern, uint32_t size,
              zyx_backend_error *error) {
    CALL;
    work.push_back(fillOf(to, bytes, pattern, size));
    return 0;
  };
  t.load = [](void *, const char *format, const void *, size_t size, uint64_t *module, zyx_backend_error *error) {
    CALL;
    EXPECT_STREQ(format, "ptx");
    EXPECT_EQ(size, 8u);
    ++world.modules;
    *module = 7;
    return 0;
  };
  t.unload = [](void *, uint64_t module) {
    EXPECT_EQ(module, 7u);
    --world.modules;
  };
  t.find = [](void *, uint64_t module, const zyx_backend_kernel_v1 *what, uint64_t *kernel, zyx_backend_error *error) {
    CALL;
    EXPECT_EQ(module, 7u);
    EXPECT_STREQ(what->symbol, "increment");
    EXPECT_STREQ(what->name, "plus");
    EXPECT_EQ(what->num_buffers, 2u);
    EXPECT_EQ(what->num_written, 1u);
    *kernel = 11;
    return 0;
  };
  t.launch = [](void *, uint64_t, const zyx_backend_launch_v1 *launch, zyx_backend_error *error) {
    CALL;
    work.push_back(launchOf(launch));
    return 0;
  };
  t.create_stream = [](void *, uint64_t *stream, zyx_backend_error *error) {
    CALL;
    ++world.streams;
    *stream = 3;
    return 0;
  };
  t.destroy_stream = [](void *, uint64_t) { --world.streams; };
  t.synchronize_stream = [](void *, uint64_t, zyx_backend_error *error) {
    drain();
    CALL;
    return 0;
  };
  t.create_event = [](void *, int, uint64_t *event, zyx_backend_error *error) {
    CALL;
    ++world.events;
    *event = 5;
    return 0;
  };
  t.destroy_event = [](void *, uint64_t) { --world.events; };
  t.record = [](void *, uint64_t, uint64_t, zyx_backend_error *error) {
    CALL;
    return 0;
  };
  t.wait = [](void *, uint64_t, uint64_t, zyx_backend_error *) { return 0; };
  t.synchronize_event = [](void *, uint64_t, zyx_backend_error *) {
    drain();
    return 0;
  };
  t.elapsed = [](void *, uint64_t, uint64_t, uint64_t *nanoseconds, zyx_backend_error *error) {
    CALL;
    *nanoseconds = 1000;
    return 0;
  };
  t.create_graph = [](void *, uint64_t *graph, zyx_backend_error *error) {
    CALL;
    ++world.graphs;
    *graph = reinterpret_cast<uint64_t>(new Graph);
    return 0;
  };
  t.destroy_graph = [](void *, uint64_t graph) {
    --world.graphs;
    delete &graphOf(graph);
  };
  t.add_launch = [](void *, uint64_t graph, const zyx_backend_launch_v1 *launch, uint64_t *node,
                    zyx_backend_error *error) {
    CALL;
    return append(graph, node, launchOf(launch));
  };
  t.add_copy = [](void *, uint64_t graph, zyx_backend_memory to, zyx_backend_memory from, uint64_t bytes,
                  uint64_t *node, zyx_backend_error *error) {
    CALL;
    return append(graph, node, copyOf(to, from, bytes));
  };
  t.add_fill = [](void *, uint64_t graph, zyx_backend_memory to, uint64_t bytes, uint64_t pattern, uint32_t size,
                  uint64_t *node, zyx_backend_error *error) {
    CALL;
    return append(graph, node, fillOf(to, bytes, pattern, size));
  };
  t.finish_graph = [](void *, uint64_t graph, zyx_backend_error *error) {
    CALL;
    graphOf(graph).isFinished = true;
    return 0;
  };
  t.update_launch = [](void *, uint64_t graph, uint64_t node, const zyx_backend_launch_v1 *launch,
                       zyx_backend_error *error) {
    CALL;
    return replace(graph, node, launchOf(launch));
  };
  t.update_copy = [](void *, uint64_t graph, uint64_t node, zyx_backend_memory to, zyx_backend_memory from,
                     uint64_t bytes, zyx_backend_error *error) {
    CALL;
    return replace(graph, node, copyOf(to, from, bytes));
  };
  t.update_fill = [](void *, uint64_t graph, uint64_t node, zyx_backend_memory to, uint64_t bytes, uint64_t pattern,
                     uint32_t size, zyx_backend_error *error) {
    CALL;
    return replace(graph, node, fillOf(to, bytes, pattern, size));
  };
  t.launch_graph = [](void *, uint64_t, uint64_t graph, zyx_backend_error *error) {
    CALL;
    ++world.graphLaunches;
    for (const std::function<void()> &node : graphOf(graph).nodes)
      work.push_back(node);
    return 0;
  };
  return t;
}

class PluginTest : public testing::Test {
protected:
  void SetUp() override {
    world = World();
    static const zyx_backend_v1 table = makeTable();
    static const Result<std::string> name = registerBackend(table);
    ASSERT_TRUE(name) << name.status().toString();
    EXPECT_EQ(*name, "test-plugin");
  }

  static Artifact sample() {
    Artifact artifact = test::sampleForCuda();
    artifact.target = "test";
    return artifact;
  }
  static Status runAndCheck(Executor &executor) {
    std::vector<int32_t> x(count), y(count);
    for (uint64_t i = 0; i < count; ++i)
      x[i] = static_cast<int32_t>(5 * i) - 70;
    ZYX_RETURN_IF_ERROR(executor.setInput(0, std::as_bytes(std::span(x))));
    ZYX_RETURN_IF_ERROR(executor.run());
    int64_t z[2];
    ZYX_RETURN_IF_ERROR(executor.readOutput(0, std::as_writable_bytes(std::span(y))));
    ZYX_RETURN_IF_ERROR(executor.readOutput(1, std::as_writable_bytes(std::span(z))));
    for (uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(y[i], x[i] + 2);
    EXPECT_EQ(z[0], 0x100000008);
    EXPECT_EQ(z[1], 2);
    return Status::ok();
  }
  static void expectNothingLeft() {
    drain();
    EXPECT_EQ(world.devices, 0);
    EXPECT_EQ(world.hostMemory, 0);
    EXPECT_EQ(world.modules, 0);
    EXPECT_EQ(world.streams, 0);
    EXPECT_EQ(world.events, 0);
    EXPECT_EQ(world.graphs, 0);
    EXPECT_EQ(world.entered, 0);
  }
};

TEST_F(PluginTest, RunsWithGraphs) {
  std::shared_ptr<Device> device = *createDevice("test-plugin:0");
  EXPECT_EQ(device->name(), "test-plugin");
  EXPECT_EQ(device->target(), "test");
  EXPECT_EQ(device->identity(), "the first");
  EXPECT_EQ(device->alignment(), 16u);
  EXPECT_EQ(device->pool()->usage().limit, uint64_t(1) << 20);
  EXPECT_EQ(device->facts().freeBytes, 77u);
  EXPECT_THAT(device->facts().dtypes, testing::ElementsAre(DType::I32));
  auto executor = Executor::create(device, sample());
  ASSERT_TRUE(executor) << executor.status().toString();
  for (int run = 0; run < 4; ++run) {
    if (run == 2)
      ASSERT_TRUE((*executor)->bindOutput(1, *runtime::Buffer::allocate(device->pool(), 16)).isOk());
    const Status status = runAndCheck(**executor);
    EXPECT_TRUE(status.isOk()) << status.toString();
    EXPECT_EQ(std::exchange(world.launches, 0), 5);
  }
  EXPECT_GT(world.graphLaunches, 0);
  EXPECT_GT(world.updates, 0);
  EXPECT_EQ((*(*executor)->profile())[0].nanoseconds, 1000u);
  // A driver that holds no stream measures commands with the time of handing them over.
  EXPECT_EQ((*(*executor)->profile())[0].nanoseconds, 1000u);
  EXPECT_EQ((*executor)->measure(1).status().message(), "device 'test-plugin' cannot hold back what is to be measured");
  Artifact other = sample();
  other.target = "cuda";
  EXPECT_EQ(Executor::create(device, other).status().message(),
            "code for 'cuda' does not run on device 'test-plugin', which takes code for 'test'");
  EXPECT_EQ(createDevice("test-plugin:2").status().message(),
            "there is no device 'test-plugin:2': backend 'test-plugin' has 2");
  EXPECT_EQ(createDevice("test-plugin:x").status().message(),
            "'test-plugin:x' names no device: a number follows the colon, as in test-plugin:1");
  Artifact mapped = sample();
  mapped.kernels[0].groupThreads = 384;
  mapped.kernels[0].tensorMaps = {{0, 0, 4, {8, 125}, {32}, {8, 64}, 32}};
  std::erase_if(mapped.commands, [](const Command &command) {
    const auto *launch = std::get_if<Launch>(&command.action);
    return !launch || launch->buffers[0].buffer == 2;
  });
  EXPECT_EQ(Executor::create(device, mapped).status().message(),
            "kernel plus needs tensor maps, which backends of ABI version 1 do not have");
  EXPECT_EQ((*createDevice("test-plugin:1"))->identity(), "the second");
  executor->reset();
  device.reset();
  expectNothingLeft();
  EXPECT_EQ(world.memory, 0);
}

TEST_F(PluginTest, IsListed) {
  std::vector<DeviceListing> found;
  for (DeviceListing &one : listDevices())
    if (one.name.starts_with("test-plugin"))
      found.push_back(std::move(one));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].name, "test-plugin:1");
  EXPECT_TRUE(found[0].present);
  EXPECT_EQ(found[0].description, "a plug-in of a test");
  EXPECT_EQ(found[0].facts.memoryBytes, uint64_t(1) << 21);
}

TEST_F(PluginTest, LosesNothingWhicheverCallFails) {
  const auto tryAll = [&]() -> Status {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("test-plugin"));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, sample()));
    ZYX_RETURN_IF_ERROR(runAndCheck(*executor));
    ZYX_RETURN_IF_ERROR(runAndCheck(*executor));
    return executor->profile().status();
  };
  int failures = 0;
  for (int at = 1; at < 300; ++at) {
    world = World();
    world.failWith = static_cast<int>(ErrorCode::Internal);
    world.failAt = at;
    const Status status = tryAll();
    const bool hasFailed = world.failAt == 0;
    world.failAt = 0;
    // What a graph refuses is handed over without it.
    if (!status.isOk()) {
      ++failures;
      EXPECT_THAT(status.toString(), HasSubstr("says the plug-in"));
    }
    expectNothingLeft();
    EXPECT_EQ(world.memory, 0) << at;
    if (!hasFailed)
      break;
  }
  EXPECT_GT(failures, 40);
}

TEST_F(PluginTest, SaysThatItIsLost) {
  std::shared_ptr<Device> device = *createDevice("test-plugin");
  std::unique_ptr<Executor> executor = *Executor::create(device, sample());
  world.failAt = 1;
  world.failWith = 4711;
  world.saysWhy = false;
  Status status = runAndCheck(*executor);
  EXPECT_EQ(status.code(), ErrorCode::Internal);
  EXPECT_THAT(status.toString(), HasSubstr("backend 'test-plugin' returns 4711 and gives no reason"));
  world.failAt = 1;
  world.saysLost = true;
  EXPECT_EQ(runAndCheck(*executor).code(), ErrorCode::DeviceLost);
  world.saysLost = false;
  EXPECT_THAT(runAndCheck(*executor).toString(), HasSubstr("device 'test-plugin' is lost"));
  executor.reset();
  device.reset();
  expectNothingLeft();
  // Memory of a lost device goes with it, and nobody asks for it to be freed.
  for (uint64_t handle : std::exchange(world.handles, {}))
    std::free(reinterpret_cast<void *>(handle));
}

TEST_F(PluginTest, TakesALaterTableOfItsVersion) {
  struct Later {
    zyx_backend_v1 first = makeTable();
    void *more = nullptr;
  };
  static Later later;
  later.first.struct_size = sizeof(later);
  later.first.name = "later";
  EXPECT_EQ(*registerBackend(later.first), "later");
  EXPECT_TRUE(createDevice("later"));
}

TEST_F(PluginTest, RefusesWhatItDoesNotKnow) {
  const auto refused = [](auto change) {
    zyx_backend_v1 table = makeTable();
    table.name = "refused";
    change(table);
    return registerBackend(table).status().message();
  };
  using Table = zyx_backend_v1;
  EXPECT_EQ(refused([](Table &t) { t.abi_version = 2; }),
            "the backend of the program is of ABI version 2, and this zyx takes version 1");
  EXPECT_THAT(refused([](Table &t) { t.struct_size -= 8; }), HasSubstr("bytes, less than the first of its version"));
  EXPECT_THAT(refused([](Table &t) { t.name = nullptr; }), HasSubstr("a name has small letters, digits, - and _"));
  EXPECT_THAT(refused([](Table &t) { t.name = "A:1"; }), HasSubstr("calls its devices 'A:1'"));
  EXPECT_THAT(refused([](Table &t) { t.name = "cuda"; }), HasSubstr("'cuda', which zyx has itself"));
  EXPECT_THAT(refused([](Table &t) { t.name = "test-plugin"; }), HasSubstr("as has one of the program"));
  EXPECT_THAT(refused([](Table &t) { t.launch = nullptr; }), HasSubstr("lacks the function launch"));
  EXPECT_THAT(refused([](Table &t) { t.leave = nullptr; }),
              HasSubstr("has one of the functions enter and leave; it has both, or none"));
  EXPECT_THAT(refused([](Table &t) { t.update_copy = nullptr; }), HasSubstr("lacks the function update_copy"));
  EXPECT_EQ(createDevice("refused").status().code(), ErrorCode::NotFound);
}

TEST_F(PluginTest, MayHaveNoDevice) {
  static zyx_backend_v1 none = makeTable(), wrong = makeTable();
  none.name = "none-here";
  none.device_count = [] { return 0u; };
  wrong.name = "wrong-facts";
  wrong.get_facts = [](uint32_t index, zyx_backend_facts_v1 *facts, zyx_backend_error *) {
    facts->target = "test";
    facts->identity = "";
    facts->free_bytes = index;
    return 0;
  };
  ASSERT_TRUE(registerBackend(none));
  ASSERT_TRUE(registerBackend(wrong));
  EXPECT_EQ(createDevice("none-here").status().message(), "there is no device 'none-here': backend 'none-here' has 0");
  EXPECT_EQ(createDevice("wrong-facts").status().message(),
            "backend 'wrong-facts' gives its device no memory: free_bytes is 0");
  EXPECT_TRUE(createDevice("wrong-facts:1"));
  int found = 0;
  for (const DeviceListing &one : listDevices())
    found += !one.present && (one.description == "backend 'none-here' has no device here" ||
                              one.description == "backend 'wrong-facts' gives its device no memory: free_bytes is 0");
  EXPECT_EQ(found, 2);
  Plugin nothing;
  EXPECT_EQ(readPlugin(nullptr, "x", nothing).message(), "x has nothing to give on this machine");
}

/// Libraries lie beside the program that runs.
std::string libraryOf(const char *name) { return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name; }

TEST_F(PluginTest, LoadsTheExample) {
  const std::string path = libraryOf(ZYX_COUNTING);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(*loadBackend(path), "counting");
  std::shared_ptr<Device> device = *createDevice("counting");
  auto executor = Executor::create(device, sampleArtifact(testKernels()));
  ASSERT_TRUE(executor) << executor.status().toString();
  const float x[] = {1, 2, 3, 4};
  ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE((*executor)->run().isOk());
  float y[4];
  ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_THAT(y, testing::ElementsAre(13, 25, 37, 49));
  Artifact needy = sampleArtifact(testKernels());
  needy.cpuFeatures = {"nosuch"};
  EXPECT_THAT(Executor::create(device, needy).status().message(), HasSubstr("the CPU feature 'nosuch'"));
}

TEST_F(PluginTest, RefusesLibraries) {
  EXPECT_THAT(loadBackend("/nonexistent/lib.so").status().message(),
              HasSubstr("backend '/nonexistent/lib.so' cannot be loaded: "));
  EXPECT_THAT(loadBackend(testKernels()).status().message(), HasSubstr("exports no function zyx_backend"));
  // What the environment names is refused where a device is asked for that nobody has.
  const std::string older = libraryOf(ZYX_OTHER_VERSION);
  setenv("ZYX_BACKENDS", (older + ",," + libraryOf(ZYX_COUNTING)).c_str(), 1);
  const std::string why = "backend '" + older + "' is of ABI version 99, and this zyx takes version 1";
  EXPECT_THAT(createDevice("older").status().message(), HasSubstr(why));
  EXPECT_TRUE(createDevice("counting"));
  bool isListed = false;
  for (const DeviceListing &one : listDevices())
    isListed |= one.name == older && !one.present && one.description == why;
  EXPECT_TRUE(isListed);
  unsetenv("ZYX_BACKENDS");
  EXPECT_EQ(loadBackend(older).status().code(), ErrorCode::Unsupported);
}

} // namespace
