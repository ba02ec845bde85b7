//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Config.h"
#include "../Children.h"
#include "../TestFiles.h"
#include "zyx/Base/Debug.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace zyx;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

namespace {

Config parsed(const std::string &text) {
  Result<LoadedConfig> loaded = parseConfig(text, "config.json");
  EXPECT_TRUE(loaded.isOk()) << loaded.status().toString();
  return loaded.isOk() ? loaded->config : Config();
}

std::string refusal(const std::string &text) {
  Result<LoadedConfig> loaded = parseConfig(text, "config.json");
  EXPECT_FALSE(loaded.isOk()) << text;
  return loaded.status().message();
}

Config ofEnvironment(const Environment &environment) {
  Result<LoadedConfig> loaded = loadConfig(std::nullopt, environment);
  EXPECT_TRUE(loaded.isOk()) << loaded.status().toString();
  return loaded.isOk() ? loaded->config : Config();
}

std::string refusedVariable(const std::string &name, const std::string &value) {
  Result<LoadedConfig> loaded = loadConfig(std::nullopt, {{name, value}});
  EXPECT_FALSE(loaded.isOk()) << name << "=" << value;
  return loaded.status().message();
}

TEST(ConfigTest, ReadsEveryKeyOfAFile) {
  const Config config = parsed(R"({
    "device": "c",
    "devices": {"cuda": false, "cpu": true},
    "memory_limits": {"cpu": "4GiB", "cuda:1": 1000},
    "threads": 3,
    "cache_dir": "/a/b",
    "cache_size": "512 MiB",
    "debug": ["graph", "cache"],
    "implicit_copies": true,
    "tune": true,
    "backends": ["/a.so", "/b.so"]
  })");
  EXPECT_EQ(config.device, "c");
  EXPECT_THAT(config.devices, UnorderedElementsAre(Pair("cuda", false), Pair("cpu", true)));
  EXPECT_FALSE(config.isEnabled("cuda"));
  EXPECT_FALSE(config.isEnabled("cuda:1"));
  EXPECT_TRUE(config.isEnabled("cpu"));
  EXPECT_TRUE(config.isEnabled("hip"));
  EXPECT_EQ(config.memoryLimit("cpu"), uint64_t(4) << 30);
  EXPECT_EQ(config.memoryLimit("cuda:1"), 1000u);
  EXPECT_EQ(config.memoryLimit("cuda"), 0u);
  // "cuda:0" is the first of its kind, whose name is that of the kind.
  Config first;
  first.memoryLimits = {{"cuda", 5}, {"cuda:0", 7}};
  EXPECT_EQ(first.memoryLimit("cuda"), 7u);
  EXPECT_EQ(first.memoryLimit("cuda:0"), 7u);
  EXPECT_EQ(first.memoryLimit("cuda:1"), 5u);
  EXPECT_EQ(config.threads, 3u);
  EXPECT_EQ(config.cacheDir, "/a/b");
  EXPECT_EQ(config.cacheSize, uint64_t(512) << 20);
  EXPECT_THAT(config.debug, ElementsAre("graph", "cache"));
  EXPECT_TRUE(config.implicitCopies);
  EXPECT_TRUE(config.tune);
  EXPECT_THAT(config.backends, ElementsAre("/a.so", "/b.so"));

  const Config none = parsed("{}");
  EXPECT_EQ(none.device, std::nullopt);
  EXPECT_FALSE(none.implicitCopies);
  EXPECT_FALSE(none.tune);
  EXPECT_EQ(none.cacheSize, uint64_t(1) << 30);
  EXPECT_EQ(none.cacheDir, std::nullopt);
}

TEST(ConfigTest, ReadsEveryVariable) {
  const Config config = ofEnvironment({{"ZYX_DEVICE", "reference"},
                                       {"ZYX_DEVICES", "cuda=off,cpu=on"},
                                       {"ZYX_MEMORY_LIMITS", "cpu=2KiB,cuda:1=3TiB"},
                                       {"ZYX_THREADS", "5"},
                                       {"ZYX_CACHE_DIR", "/c"},
                                       {"ZYX_CACHE_SIZE", "7B"},
                                       {"ZYX_DEBUG", "fusion,timing"},
                                       {"ZYX_BACKENDS", "/a.so,b.so"},
                                       {"ZYX_IMPLICIT_COPIES", "true"}});
  EXPECT_THAT(config.devices, UnorderedElementsAre(Pair("cuda", false), Pair("cpu", true)));
  EXPECT_THAT(config.memoryLimits, UnorderedElementsAre(Pair("cpu", 2048), Pair("cuda:1", uint64_t(3) << 40)));
  EXPECT_EQ(config.threads, 5u);
  EXPECT_EQ(config.cacheDir, "/c");
  EXPECT_EQ(config.cacheSize, 7u);
  EXPECT_EQ(config.device, "reference");
  EXPECT_THAT(config.backends, ElementsAre("/a.so", "b.so"));
  EXPECT_THAT(config.debug, ElementsAre("fusion", "timing"));
  EXPECT_TRUE(config.implicitCopies);
  EXPECT_THAT(ofEnvironment({{"ZYX_DEBUG", ""}, {"ZYX_DEVICES", ""}}).debug, IsEmpty());
}

TEST(ConfigTest, TheEnvironmentWins) {
  TemporaryPath path("config.json");
  writeBytes(path, R"({"threads": 1, "implicit_copies": true, "debug": ["graph"],
                       "devices": {"cuda": false, "hip": false}})");
  auto loaded = loadConfig(path.path, {{"ZYX_THREADS", "2"}, {"ZYX_DEBUG", "cache"}, {"ZYX_DEVICES", "cuda=on"}});
  ASSERT_TRUE(loaded.isOk()) << loaded.status().toString();
  EXPECT_EQ(loaded->config.threads, 2u);
  EXPECT_TRUE(loaded->config.implicitCopies);
  EXPECT_THAT(loaded->config.debug, ElementsAre("cache"));
  // Each device by itself.
  EXPECT_TRUE(loaded->config.isEnabled("cuda"));
  EXPECT_FALSE(loaded->config.isEnabled("hip"));
  EXPECT_THAT(loaded->warnings, IsEmpty());
  // No file is no failure, one that cannot be read is.
  EXPECT_TRUE(loadConfig("/no/such/file", {}).isOk());
  EXPECT_THAT(loadConfig(testing::TempDir(), {}).status().message(), HasSubstr("not a regular file"));
}

TEST(ConfigTest, WarnsOfWhatThereIsNotWithTheNearest) {
  auto loaded = parseConfig("{\n\"chache_dir\": {\"a\": 1},\n\n\"debug\": [\"graphs\", \"memory\"]\n}", "config.json");
  ASSERT_TRUE(loaded.isOk()) << loaded.status().toString();
  EXPECT_THAT(loaded->warnings, ElementsAre("config.json:2: key 'chache_dir' is not known; the nearest is 'cache_dir'",
                                            "debug: 'graphs' is not known; the nearest is 'graph'"));
  auto variables = loadConfig(std::nullopt, {{"ZYX_COMPILER", "x"},
                                             {"ZYX_TENSOR_PROGRAMS", "1:2"},
                                             {"ZYX_COMPILR", "x"},
                                             {"ZYX_DEBUG", "sched,"},
                                             {"XYZ_DEBUG", "x"}});
  ASSERT_TRUE(variables.isOk());
  EXPECT_THAT(variables->warnings, ElementsAre("ZYX_COMPILR is not known; the nearest is 'ZYX_COMPILER'",
                                               "debug: 'sched' is not known; the nearest is 'schedule'"));
}

TEST(ConfigTest, NamesTheNearest) {
  const std::string_view known[] = {"abc", "abcdef", "xyz"};
  EXPECT_EQ(nearestName("abc", known), "abc");
  EXPECT_EQ(nearestName("", known), "abc");
  EXPECT_EQ(nearestName("abcde", known), "abcdef");
  EXPECT_EQ(nearestName("xbz", known), "xyz");
  EXPECT_EQ(nearestName("bcdefg", known), "abcdef");
}

TEST(ConfigTest, RefusesWrongTypesWithTheLine) {
  auto one = [](const std::string &value) { return refusal("{\n \"threads\": 1,\n " + value + "\n}"); };
  EXPECT_THAT(refusal("{\n\n\"threads\":\n\"many\"}"),
              HasSubstr("config.json:3: key 'threads' must be a whole number up to 65536"));
  for (const char *value : {"-1", "1.5", "65537", "null", "true", "[1]", "{}"})
    EXPECT_THAT(refusal("{\"threads\": " + std::string(value) + "}"),
                HasSubstr("config.json:1: key 'threads' must be a whole number"));
  EXPECT_THAT(one("\"implicit_copies\": \"on\""),
              HasSubstr("config.json:3: key 'implicit_copies' must be true or false"));
  EXPECT_THAT(one("\"cache_dir\": 3"), HasSubstr("key 'cache_dir' must be a text"));
  for (const char *value : {"\"4 GB\"", "\"x\"", "\"-1\"", "1.5", "\"\"", "\"99999999TiB\"", "\"GiB\""})
    EXPECT_THAT(one("\"cache_size\": " + std::string(value)),
                HasSubstr("key 'cache_size' must be a number of bytes, such as 4096 or \"4GiB\""));
  EXPECT_THAT(one("\"debug\": \"graph\""), HasSubstr("key 'debug' must be a list of texts"));
  EXPECT_THAT(one("\"debug\": [\"graph\", 1]"), HasSubstr("key 'debug' must be a list of texts"));
  EXPECT_THAT(one("\"devices\": [\"cpu\"]"), HasSubstr("key 'devices' must be an object of names with true or false"));
  EXPECT_THAT(one("\"devices\": {\"cpu\": 1}"), HasSubstr("key 'devices' must be an object"));
  EXPECT_THAT(one("\"memory_limits\": {\"cpu\": \"x\"}"),
              HasSubstr("key 'memory_limits' must be an object of names with numbers of bytes"));
}

TEST(ConfigTest, RefusesVariablesOfWrongTypes) {
  EXPECT_EQ(refusedVariable("ZYX_THREADS", "two"), "ZYX_THREADS must be a whole number up to 65536");
  EXPECT_EQ(refusedVariable("ZYX_IMPLICIT_COPIES", "maybe"), "ZYX_IMPLICIT_COPIES must be on or off");
  EXPECT_THAT(refusedVariable("ZYX_CACHE_SIZE", "1GB"), HasSubstr("ZYX_CACHE_SIZE must be a number of bytes"));
  for (const char *value : {"cpu", "cpu=yes", "=on", "cpu=on,,"})
    EXPECT_EQ(refusedVariable("ZYX_DEVICES", value), "ZYX_DEVICES must be a list such as cpu=on,cuda=off");
  EXPECT_EQ(refusedVariable("ZYX_MEMORY_LIMITS", "cpu=x"),
            "ZYX_MEMORY_LIMITS must be a list such as cpu=4GiB,cuda=16GiB");
}

TEST(ConfigTest, RefusesOtherJson) {
  EXPECT_THAT(refusal(""), HasSubstr("config.json:1: is no JSON from here on"));
  EXPECT_THAT(refusal("{\n\"threads\": 1,\n\"implicit_copies\": tru\n}"), HasSubstr("config.json:3: is no JSON"));
  EXPECT_THAT(refusal("{} {}"), HasSubstr("is no JSON"));
  for (const char *text : {"[]", "3", "null", "\"x\"", "[[1]]"})
    EXPECT_THAT(refusal(text), HasSubstr("config.json:1: is no object of keys")) << text;
  EXPECT_THAT(refusal("{\"threads\": 1,\n\"threads\": 2}"),
              HasSubstr("config.json:2: key 'threads' stands there twice"));
  EXPECT_THAT(refusal("{\"devices\": {\"a\": true, \"a\": true}}"),
              HasSubstr("config.json:1: 'a' of key 'devices' stands there twice"));
  EXPECT_THAT(refusal("{\"x\": [[1]]}"), HasSubstr("key 'x' has lists or objects inside of each other"));
  EXPECT_THAT(refusal("{\"x\": " + std::string(1'000'000, '[')), HasSubstr("inside of each other"));
}

/// A variable of the environment, which is as before at the end.
struct Saved {
  explicit Saved(const char *name) : name(name) {
    if (const char *value = std::getenv(name))
      text = value;
  }
  ~Saved() { text ? ::setenv(name, text->c_str(), 1) : ::unsetenv(name); }
  const char *name;
  std::optional<std::string> text;
};

TEST(ConfigTest, LiesInTheFolderOfTheUser) {
  Saved xdg("XDG_CONFIG_HOME"), home("HOME"), debug("ZYX_DEBUG"), threads("ZYX_THREADS");
  ::setenv("XDG_CONFIG_HOME", "/x", 1);
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(configPath(), "/x/zyx/config.json");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  EXPECT_EQ(configPath(), "/h/.config/zyx/config.json");
  ::unsetenv("HOME");
  EXPECT_EQ(configPath(), std::nullopt);

  ::setenv("ZYX_THREADS", "9", 1);
  EXPECT_EQ(loadConfig()->config.threads, 9u);
  EXPECT_STREQ(zyxVariable("THREADS"), "9");
  // What is set already stays.
  Config config;
  config.debug = {"graph", "cache"};
  ::unsetenv("ZYX_DEBUG");
  publishDebugTopics(config);
  EXPECT_STREQ(zyxVariable("DEBUG"), "graph,cache");
  config.debug = {"code"};
  publishDebugTopics(config);
  EXPECT_STREQ(zyxVariable("DEBUG"), "graph,cache");
}

TEST(ConfigTest, TopicsThatAreEnabledLeaveTheEnvironmentAlone) {
  Saved debug("ZYX_DEBUG");
  ::unsetenv("ZYX_DEBUG");
  EXPECT_THAT(splitDebugTopics("graph,,cache"), testing::ElementsAre("graph", "", "cache"));
  EXPECT_FALSE(isDebugged(DebugTopic::Memory));
  enableDebugTopics(splitDebugTopics("memory,kernels,none"));
  EXPECT_TRUE(isDebugged(DebugTopic::Memory));
  EXPECT_TRUE(isDebugged(DebugTopic::Schedule));
  EXPECT_FALSE(isDebugged(DebugTopic::Graph));
  EXPECT_EQ(enabledDebugTopics(), "schedule,memory");
  EXPECT_EQ(std::getenv("ZYX_DEBUG"), nullptr);
}

TEST(ConfigTest, EveryTopicHasAName) {
  EXPECT_THAT(debugTopicNames(),
              testing::IsSupersetOf({"devices", "graph", "groups", "kernels", "code", "memory", "timing", "fusion",
                                     "schedule", "runtime", "cache", "ir", "assembly", "launches"}));
}

/// The file of the Rust zyx lies at the same place.
TEST(ConfigTest, TakesTheFileOfTheRustZyx) {
  auto loaded = parseConfig(R"({
"autotune": {"save_to_disk": true, "n_launches": 10, "n_seeds": 50, "n_added_per_step": 10,
             "n_removed_per_step": 5, "n_total_opts": 100},
"dummy": {"enabled": false},
"c": {"enabled": false},
"cuda": {"device_ids": [0, 2], "cudnn": true},
"hip": {"device_ids": [0]},
"opencl": {"platform_ids": []},
"vulkan": {"device_ids": null},
"wgpu": {"enabled": false},
"tenstorrent": {"device_ids": [0]}
})",
                            "config.json");
  ASSERT_TRUE(loaded.isOk()) << loaded.status().toString();
  const Config &config = loaded->config;
  EXPECT_FALSE(config.isEnabled("c"));
  EXPECT_TRUE(config.isEnabled("cpu"));
  // "cuda" is the first card.
  EXPECT_TRUE(config.isEnabled("cuda") && config.isEnabled("cuda:0") && config.isEnabled("cuda:2"));
  EXPECT_FALSE(config.isEnabled("cuda:1"));
  EXPECT_FALSE(config.isEnabled("webgpu"));
  EXPECT_THAT(loaded->warnings, testing::SizeIs(10));
  EXPECT_THAT(loaded->warnings,
              testing::IsSupersetOf(
                  {"config.json:2: key 'autotune': 'n_launches' is not applicable: schedules are listed and measured, "
                   "not searched for: see 'tune' and 'cache_dir'",
                   "config.json:4: key 'dummy': 'enabled' is not applicable: a program makes a dummy device by itself",
                   "config.json:6: key 'cuda': 'cudnn' is not applicable: no library of matrix products is called",
                   "config.json:8: key 'opencl': 'platform_ids' is not applicable: devices are counted over all "
                   "platforms: see 'devices'"}));
  // No card, some field that there is not, and what is said in words of ours comes first.
  EXPECT_FALSE(parseConfig(R"({"cuda": {"device_ids": []}})", "x")->config.isEnabled("cuda"));
  EXPECT_THAT(parseConfig(R"({"cuda": {"device_id": [0]}})", "x")->warnings,
              ElementsAre("x:1: key 'cuda': 'device_id' is not known; the nearest is 'device_ids'"));
  EXPECT_TRUE(parseConfig(R"({"devices": {"c": true}, "c": {"enabled": false}})", "x")->config.isEnabled("c"));
  EXPECT_THAT(refusal(R"({"cuda": {"device_ids": [0.5]}})"), HasSubstr("'device_ids' must be a list of numbers"));
  EXPECT_THAT(refusal(R"({"cuda": {"device_ids": 0}})"), HasSubstr("'device_ids' must be a list of numbers"));
  EXPECT_THAT(refusal(R"({"c": {"enabled": 1}})"), HasSubstr("'enabled' must be true or false"));
  EXPECT_THAT(refusal(R"({"c": false})"), HasSubstr("key 'c' must be an object of fields"));
  EXPECT_THAT(refusal(R"({"cuda": {"device_ids": [[0]]}})"), HasSubstr("inside of each other"));
  EXPECT_THAT(refusal(R"({"cuda": {"device_ids": {"a": 1}}})"), HasSubstr("inside of each other"));
}

TEST(ConfigTest, WarnsOfDevicesThatThereAreNot) {
  auto loaded = loadConfig(std::nullopt, {{"ZYX_MEMORY_LIMITS", "cup=1"}, {"ZYX_DEVICES", "cuda:3=off,coda=off"}});
  ASSERT_TRUE(loaded.isOk()) << loaded.status().toString();
  EXPECT_THAT(loaded->warnings, ElementsAre("devices: 'coda' is not known; the nearest is 'cuda'",
                                            "memory_limits: 'cup' is not known; the nearest is 'cpu'"));
}

TEST(ConfigTest, FindsTheFolderOfAUserInAFile) {
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(loadConfig(std::nullopt, {{"ZYX_CACHE_DIR", "~/x"}})->config.cacheDir, "/h/x");
  EXPECT_EQ(loadConfig(std::nullopt, {{"ZYX_CACHE_DIR", "~"}})->config.cacheDir, "/h");
  EXPECT_EQ(loadConfig(std::nullopt, {{"ZYX_CACHE_DIR", "~x"}})->config.cacheDir, "~x");
  ::setenv("HOME", "relative", 1);
  EXPECT_THAT(loadConfig(std::nullopt, {{"ZYX_CACHE_DIR", "~/x"}}).status().message(),
              HasSubstr("cache_dir '~/x' begins with '~', and HOME names no folder"));
  ::setenv("HOME", home.c_str(), 1);
}

/// As under sudo, and in containers: HOME is another user's.
TEST(ConfigTest, DoesWithoutAFileThatItMayNotRead) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs a second user";
  const std::string path = testing::TempDir() + "zyx-config-" + std::to_string(getpid());
  std::ofstream(path) << "{\"threads\": 3}";
  chmod(path.c_str(), 0600);
  EXPECT_EQ(inChild([&] {
              if (setuid(65534) != 0)
                return 2;
              auto loaded = loadConfig(path, {});
              return loaded.isOk() && loaded->config.threads == 0 && loaded->warnings.size() == 1 &&
                             loaded->warnings[0].ends_with("cannot be read, and is not used: Permission denied")
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(loadConfig(path, {})->config.threads, 3u);
  unlink(path.c_str());
}

} // namespace
