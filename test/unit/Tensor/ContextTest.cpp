//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a context takes from the user's configuration.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Base/Config.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A folder with a configuration that the process sees instead of the user's, and variables of the
/// environment; all is as before at its end.
class ConfigScope {
public:
  ConfigScope() : folder(std::filesystem::temp_directory_path() / ("zyx-context-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder / "zyx");
    set("ZYX_COMPILER", ZYX_TEST_COMPILER);
    set("XDG_CONFIG_HOME", folder.string());
    set("ZYX_CACHE_DIR", "off");
  }
  ~ConfigScope() {
    for (auto change = before.rbegin(); change != before.rend(); ++change)
      change->second ? ::setenv(change->first.c_str(), change->second->c_str(), 1) : ::unsetenv(change->first.c_str());
    std::filesystem::remove_all(folder);
  }
  void set(const std::string &name, const std::string &value) {
    const char *old = std::getenv(name.c_str());
    before.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void write(const std::string &text) { std::ofstream(folder / "zyx" / "config.json") << text; }

  const std::filesystem::path folder;

private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before;
};

} // namespace

TEST(ContextTest, OptionsComeBeforeVariablesAndTheseBeforeTheFile) {
  ConfigScope scope;
  EXPECT_EQ(Context().config().device.value_or("cpu"), "cpu");
  scope.write(R"({"device": "reference", "threads": 3, "memory_limits": {"cpu": 1000, "cpu:1": 7, "c": 2000},
                  "cache_dir": "/file", "tune": true})");
  EXPECT_EQ(Context().config().device, "reference");
  EXPECT_EQ(Context().config().threads, 3u);
  scope.set("ZYX_THREADS", "2");
  scope.set("ZYX_MEMORY_LIMITS", "c=3000");
  const Config variables = Context().config();
  EXPECT_EQ(variables.device, "reference");
  EXPECT_EQ(variables.threads, 2u);
  EXPECT_EQ(variables.memoryLimit("c"), 3000u);
  EXPECT_EQ(variables.memoryLimit("cpu:1"), 7u);
  EXPECT_EQ(variables.cacheDir, "off");
  EXPECT_TRUE(variables.tune);
  const Context context(
      {.device = "cpu", .threads = 1, .memoryLimits = {{"cpu", 4000}}, .cacheFolder = "", .tune = false});
  EXPECT_EQ(context.config().device, "cpu");
  EXPECT_EQ(context.config().threads, 1u);
  EXPECT_EQ(context.config().memoryLimit("cpu"), 4000u);
  EXPECT_EQ(context.config().memoryLimit("cpu:1"), 4000u);
  EXPECT_EQ(context.config().memoryLimit("c"), 3000u);
  EXPECT_EQ(context.config().cacheDir, "");
  EXPECT_FALSE(context.config().tune);
  // The limits apply.
  ContextScope current(context);
  EXPECT_EQ(Tensor::from(std::vector<float>(900, 1), {900}).numel(), 900);
  EXPECT_THAT(refusal([] { Tensor::from(std::vector<float>(1100, 1), {1100}); }), HasSubstr("4000 bytes"));
  const Context interprets({.device = "reference", .memoryLimits = {{"reference", 4000}}});
  ContextScope inner(interprets);
  EXPECT_THAT(refusal([] { Tensor::from(std::vector<float>(1100, 1), {1100}); }), HasSubstr("4000 bytes"));
}

TEST(ContextTest, DevicesThatAreOffAreRefused) {
  ConfigScope scope;
  scope.set("ZYX_DEVICES", "cpu=off,reference=off");
  for (const char *device : {"cpu", "reference"})
    EXPECT_THAT(refusal([&] { Context context({.device = device}); }),
                HasSubstr("device '" + std::string(device) + "' is off in the configuration"));
}

TEST(ContextTest, WrongConfigurationsAreRefusedAndUnknownOnesWarned) {
  ConfigScope scope;
  scope.set("ZYX_THREADS", "many");
  EXPECT_THAT(refusal([] { Context(); }), HasSubstr("ZYX_THREADS must be a whole number"));
  scope.set("ZYX_THREADS", "1");
  scope.write(R"({"device": "reference", "treads": 1})");
  testing::internal::CaptureStderr();
  Context(), Context();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("zyx: warning: "));
  EXPECT_THAT(text, HasSubstr("key 'treads' is not known; the nearest is 'threads'"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST(ContextTest, ProgramsAreKeptInTheFolderForLaterContexts) {
  ConfigScope scope;
  const std::string kept = (scope.folder / "kept").string();
  scope.set("ZYX_CACHE_DIR", kept);
  // An option comes before it.
  for (const auto &[folder, entries] :
       {std::pair(std::optional<std::string>(""), 0), {std::nullopt, 2}, {std::nullopt, 2}}) {
    ContextScope context(Context({.cacheFolder = folder}));
    EXPECT_THAT(floats(Tensor::from({1.f, 2.f}) * 3), ElementsAre(3, 6));
    std::error_code none;
    // The program, and its kernel by itself.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(kept, none), {}), entries);
  }
}
