//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_CONFIG_H
#define ZYX_BASE_CONFIG_H

#include "zyx/Base/Status.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zyx {

/// What a user sets once for all programs: the members have the names of the keys, in the file as
/// "cache_dir" and in the environment as ZYX_CACHE_DIR, which wins. Contexts of tensors read it; nothing
/// else does by itself, so that a program that embeds a session has what it asks for.
struct Config {
  /// Where programs run that do not say it; the fastest device that is present without a value.
  std::optional<std::string> device;
  /// Devices that are on or off; one that is not named is on. {"cuda": false},
  /// ZYX_DEVICES=cuda=off.
  std::map<std::string, bool> devices;
  /// Bytes of each device's pool. {"cpu": "4GiB"}, ZYX_MEMORY_LIMITS=cpu=4GiB.
  std::map<std::string, uint64_t> memoryLimits;
  /// Of host devices; 0 is as many as the process may use processors.
  unsigned threads = 0;
  /// The folder of artifacts; "" or "off" is none, without a value it is the user's. "~/" begins one in HOME.
  std::optional<std::string> cacheDir;
  /// Bytes of all that is kept there.
  uint64_t cacheSize = uint64_t(1) << 30;
  /// Bytes of the compiled programs that a context of tensors holds.
  uint64_t programCacheSize = uint64_t(1) << 30;
  /// Whether a context says where programs of one structure are compiled again and again.
  bool recompileNotice = true;
  /// Topics of ZYX_DEBUG: DebugTopic.
  std::vector<std::string> debug;
  /// Whether compilations measure the schedules that kernels may have (docs/tuning.md).
  bool tune = false;
  /// Shared libraries that give devices (docs/plugins.md), by their paths: ZYX_BACKENDS=/a.so,/b.so.
  std::vector<std::string> backends;
  /// Whether tensors may move between devices without being asked to.
  bool implicitCopies = false;

  /// "cuda:1" is what is said of it, or else of "cuda"; "cuda" is "cuda:0".
  bool isEnabled(std::string_view device) const;
  /// 0 where there is none.
  uint64_t memoryLimit(std::string_view device) const;
};

struct LoadedConfig {
  Config config;
  /// Keys, variables and topics that there are not, each with the nearest one that there is.
  std::vector<std::string> warnings;
};

/// Variables of the environment by name; those that do not begin with ZYX_ are not looked at.
using Environment = std::map<std::string, std::string, std::less<>>;
Environment currentEnvironment();

/// $XDG_CONFIG_HOME/zyx/config.json, or else ~/.config/zyx/config.json; nothing where neither
/// folder is known. A relative XDG_CONFIG_HOME is ignored, as its specification says.
std::optional<std::string> configPath();

/// Reads the file of that name, which need not exist, and then the environment. The file is JSON,
/// an object of keys; comments are allowed. Values of a wrong type are refused with the key and, in
/// a file, its line. Keys of the Rust zyx are read, too; those of their fields that say nothing here are warned of. A
/// file that this user may not read is warned of, too.
Result<LoadedConfig> loadConfig(const std::optional<std::string> &path, const Environment &environment);
/// Those of this process.
Result<LoadedConfig> loadConfig();
/// Puts the topics into ZYX_DEBUG, where the libraries of the process look, if that is not set.
/// Programs call it when they start, before there are other threads.
void publishDebugTopics(const Config &config);
/// The text of a file; `name` starts the messages.
Result<LoadedConfig> parseConfig(std::string_view text, const std::string &name);

/// A variable of the environment that zyx knows: that of a key, or ZYX_COMPILER. The name is
/// without "ZYX_". This is the only place where they are read.
const char *zyxVariable(std::string_view name);

/// The known name of the fewest insertions, deletions and replacements; `known` is not empty.
std::string_view nearestName(std::string_view name, std::span<const std::string_view> known);

} // namespace zyx

#endif // ZYX_BASE_CONFIG_H
