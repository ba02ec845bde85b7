//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Config.h"

#include "ConfigFile.h"
#include "zyx/Base/Debug.h"
#include "zyx/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace zyx;

namespace {

/// Larger files are no configuration.
constexpr uint64_t maxFileBytes = 1 << 16;

using Toggles = std::map<std::string, bool>;
using Sizes = std::map<std::string, uint64_t>;

struct Key {
  std::string_view name;
  std::variant<bool Config::*, unsigned Config::*, uint64_t Config::*, std::optional<std::string> Config::*,
               std::vector<std::string> Config::*, Toggles Config::*, Sizes Config::*>
      member;
};
constexpr Key keys[] = {
    {"device", &Config::device},
    {"devices", &Config::devices},
    {"memory_limits", &Config::memoryLimits},
    {"threads", &Config::threads},
    {"cache_dir", &Config::cacheDir},
    {"cache_size", &Config::cacheSize},
    {"program_cache_size", &Config::programCacheSize},
    {"recompile_notice", &Config::recompileNotice},
    {"debug", &Config::debug},
    {"implicit_copies", &Config::implicitCopies},
    {"backends", &Config::backends},
    {"tune", &Config::tune},
};
/// Of the environment only; the last ones are of tests.
constexpr std::string_view otherVariables[] = {
    "ZYX_WEBGPU_POWER_PREFERENCE", "ZYX_COMPILER",      "ZYX_CUDA_DRIVER",    "ZYX_CUDA_GRAPHS",    "ZYX_HIP_DRIVER",
    "ZYX_OPENCL_DRIVER",           "ZYX_OPENCL_GRAPHS", "ZYX_PEERS",          "ZYX_PTXAS",          "ZYX_VULKAN_DRIVER",
    "ZYX_WEBGPU_DRIVER",           "ZYX_ULP_STRIDE",    "ZYX_RUNTIME_GRAPHS", "ZYX_TENSOR_PROGRAMS"};

std::string variableOf(std::string_view key) {
  std::string name = "ZYX_";
  for (char c : key)
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

//===----------------------------------------------------------------------===//
// Values of one type, as they stand in a file or in a variable's text. Nothing where it is another.
//===----------------------------------------------------------------------===//

std::optional<uint64_t> numberIn(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<uint64_t> sizeIn(std::string_view text) {
  constexpr std::pair<std::string_view, int> units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}};
  for (auto [unit, shift] : units) {
    if (!text.ends_with(unit))
      continue;
    text.remove_suffix(unit.size());
    while (text.ends_with(' '))
      text.remove_suffix(1);
    const std::optional<uint64_t> value = numberIn(text);
    if (!value || *value > UINT64_MAX >> shift)
      return std::nullopt;
    return *value << shift;
  }
  return numberIn(text);
}

std::optional<bool> toggleIn(std::string_view text) {
  if (text == "on" || text == "true" || text == "1")
    return true;
  if (text == "off" || text == "false" || text == "0")
    return false;
  return std::nullopt;
}

std::vector<std::string_view> partsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

/// Either what a file has or the text of a variable.
struct Source {
  const ConfigValue *value = nullptr;
  std::string_view text;
};

std::optional<bool> readToggle(const Source &from) {
  if (!from.value)
    return toggleIn(from.text);
  const bool *toggle = from.value->as<bool>();
  return toggle ? std::optional(*toggle) : std::nullopt;
}

std::optional<uint64_t> readSize(const Source &from) {
  if (!from.value)
    return sizeIn(from.text);
  if (const auto *text = from.value->as<std::string>())
    return sizeIn(*text);
  const auto *number = from.value->as<uint64_t>();
  return number ? std::optional(*number) : std::nullopt;
}

/// "name=value,..." or an object; what is set before stays where it is not named again.
template <typename T>
bool readTable(const Source &from, std::map<std::string, T> &table, std::optional<T> (*read)(const Source &)) {
  auto set = [&](std::string_view name, const Source &part) {
    std::optional<T> value = read(part);
    if (value && !name.empty())
      table[std::string(name)] = *value;
    return value && !name.empty();
  };
  if (from.value) {
    const auto *values = from.value->as<ConfigValue::Table>();
    return values &&
           std::ranges::all_of(values->values, [&](const auto &part) { return set(part.first, {&part.second, {}}); });
  }
  return std::ranges::all_of(partsOf(from.text), [&](std::string_view part) {
    const size_t equals = part.find('=');
    return equals != part.npos && set(part.substr(0, equals), {nullptr, part.substr(equals + 1)});
  });
}

//===----------------------------------------------------------------------===//
// Members of Config: what they must be, or nothing where `from` is that.
//===----------------------------------------------------------------------===//

const char *assign(bool &to, const Source &from) {
  const std::optional<bool> value = readToggle(from);
  to = value.value_or(to);
  return value ? nullptr : from.value ? "true or false" : "on or off";
}

const char *assign(unsigned &to, const Source &from) {
  std::optional<uint64_t> value;
  if (!from.value)
    value = numberIn(from.text);
  else if (const auto *number = from.value->as<uint64_t>())
    value = *number;
  if (!value || *value > 65536)
    return "a whole number up to 65536";
  to = static_cast<unsigned>(*value);
  return nullptr;
}

const char *assign(uint64_t &to, const Source &from) {
  const std::optional<uint64_t> value = readSize(from);
  to = value.value_or(to);
  return value ? nullptr : "a number of bytes, such as 4096 or \"4GiB\"; the units are B, KiB, MiB, GiB and TiB";
}

const char *assign(std::optional<std::string> &to, const Source &from) {
  if (!from.value)
    to = std::string(from.text);
  else if (const auto *text = from.value->as<std::string>())
    to = *text;
  else
    return "a text";
  return nullptr;
}

const char *assign(std::vector<std::string> &to, const Source &from) {
  to.clear();
  if (!from.value) {
    for (std::string_view part : partsOf(from.text))
      to.emplace_back(part);
    return nullptr;
  }
  const auto *list = from.value->as<ConfigValue::List>();
  if (list)
    for (const ConfigValue &value : list->values)
      if (const auto *text = value.as<std::string>())
        to.push_back(*text);
  return list && to.size() == list->values.size() ? nullptr : "a list of texts";
}

const char *assign(Toggles &to, const Source &from) {
  if (readTable<bool>(from, to, readToggle))
    return nullptr;
  return from.value ? "an object of names with true or false" : "a list such as cpu=on,cuda=off";
}

const char *assign(Sizes &to, const Source &from) {
  if (readTable<uint64_t>(from, to, readSize))
    return nullptr;
  return from.value ? "an object of names with numbers of bytes" : "a list such as cpu=4GiB,cuda=16GiB";
}

Status set(Config &config, const Key &key, const Source &from, const std::string &where) {
  const char *wanted = std::visit([&](auto member) { return assign(config.*member, from); }, key.member);
  if (!wanted)
    return Status::ok();
  return Status::invalidArgument(where + " must be " + wanted);
}

const Key *findKey(std::string_view name) {
  const auto *found = std::ranges::find(keys, name, &Key::name);
  return found == std::end(keys) ? nullptr : found;
}

std::string unknown(const std::string &where, std::string_view nearest) {
  return where + " is not known; the nearest is '" + std::string(nearest) + "'";
}

//===----------------------------------------------------------------------===//
// Keys of the Rust zyx, whose file has the same name and place: each field is honoured, or named as not applicable.
//===----------------------------------------------------------------------===//

struct RustKey {
  std::string_view name;
  /// What it says is on or off, or which of them are; empty where it says something else.
  std::string_view device;
  std::vector<std::string_view> fields;
  /// Why fields other than "enabled" and "device_ids" are not applicable, or all are where there is no device.
  std::string_view why;
};

const std::vector<RustKey> &rustKeys() {
  static const std::vector<RustKey> all = {
      {"autotune",
       "",
       {"save_to_disk", "n_launches", "n_seeds", "n_added_per_step", "n_removed_per_step", "n_total_opts"},
       "schedules are listed and measured, not searched for: see 'tune' and 'cache_dir'"},
      {"dummy", "", {"enabled"}, "a program makes a dummy device by itself"},
      {"c", "c", {"enabled"}, ""},
      {"cblas", "", {"enabled"}, "no library of matrix products is called"},
      {"cuda", "cuda", {"device_ids", "enabled", "cudnn"}, "no library of matrix products is called"},
      {"hip", "hip", {"device_ids", "enabled"}, ""},
      {"opencl", "opencl", {"platform_ids", "enabled"}, "devices are counted over all platforms: see 'devices'"},
      {"vulkan", "vulkan", {"device_ids", "enabled"}, ""},
      {"wgpu", "webgpu", {"enabled"}, ""},
      {"tenstorrent", "", {"device_ids", "enabled"}, "this build has no Tenstorrent device"},
  };
  return all;
}

/// {"enabled": false} and {"device_ids": [0, 2]} are what "devices" says in other words, which comes before them.
Status readRustKey(LoadedConfig &loaded, Toggles &devices, const RustKey &key, const ConfigEntry &entry,
                   const std::string &where) {
  const auto *table = entry.value.as<ConfigValue::Table>();
  if (!table)
    return Status::invalidArgument(where + " must be an object of fields");
  for (const auto &[name, value] : table->values) {
    const std::string field = where + ": '" + name + "'";
    if (!std::ranges::count(key.fields, name)) {
      loaded.warnings.push_back(unknown(field, nearestName(name, key.fields)));
    } else if (!key.device.empty() && name == "enabled") {
      const bool *isOn = value.as<bool>();
      if (!isOn)
        return Status::invalidArgument(field + " must be true or false");
      devices.emplace(key.device, *isOn);
    } else if (!key.device.empty() && name == "device_ids") {
      const auto *list = value.as<ConfigValue::List>();
      std::vector<uint64_t> ids;
      for (size_t i = 0; list && i < list->values.size(); ++i)
        if (const auto *id = list->values[i].as<uint64_t>())
          ids.push_back(*id);
      // null is all of them.
      if (value.as<ConfigValue::Nothing>())
        continue;
      if (!list || ids.size() != list->values.size())
        return Status::invalidArgument(field + " must be a list of numbers");
      devices.insert_or_assign(std::string(key.device), false);
      for (uint64_t id : ids)
        devices.emplace(std::string(key.device) + ":" + std::to_string(id), true);
    } else {
      loaded.warnings.push_back(field + " is not applicable: " + std::string(key.why));
    }
  }
  return Status::ok();
}

Status readFileInto(LoadedConfig &loaded, std::string_view text, const std::string &name) {
  const std::string prefix = name + ":";
  Result<std::vector<ConfigEntry>> entries = readConfigFile(text);
  if (!entries)
    return Status(entries.status().code(), prefix + entries.status().message());
  Toggles rustDevices;
  for (const ConfigEntry &entry : *entries) {
    const std::string where = prefix + std::to_string(entry.line) + ": key '" + entry.key + "'";
    if (const auto rust = std::ranges::find(rustKeys(), entry.key, &RustKey::name); rust != rustKeys().end()) {
      ZYX_RETURN_IF_ERROR(readRustKey(loaded, rustDevices, *rust, entry, where));
      continue;
    }
    if (const Key *key = findKey(entry.key)) {
      ZYX_RETURN_IF_ERROR(set(loaded.config, *key, {&entry.value, {}}, where));
      continue;
    }
    std::vector<std::string_view> names;
    for (const Key &key : keys)
      names.push_back(key.name);
    loaded.warnings.push_back(unknown(where, nearestName(entry.key, names)));
  }
  loaded.config.devices.merge(rustDevices);
  return Status::ok();
}

Status readEnvironmentInto(LoadedConfig &loaded, const Environment &environment) {
  std::vector<std::string> variables(std::begin(otherVariables), std::end(otherVariables));
  for (const Key &key : keys) {
    variables.push_back(variableOf(key.name));
    if (const auto found = environment.find(variables.back()); found != environment.end())
      ZYX_RETURN_IF_ERROR(set(loaded.config, key, {nullptr, found->second}, found->first));
  }
  const std::vector<std::string_view> names(variables.begin(), variables.end());
  for (const auto &[name, value] : environment)
    if (name.starts_with("ZYX_") && !std::ranges::count(names, name))
      loaded.warnings.push_back(unknown(name, nearestName(name, names)));
  return Status::ok();
}

void checkTopics(LoadedConfig &loaded) {
  const std::span<const std::string_view> topics = debugTopicNames();
  for (const std::string &name : loaded.config.debug)
    if (!std::ranges::count(topics, name) && !numberIn(name))
      loaded.warnings.push_back(unknown("debug: '" + name + "'", nearestName(name, topics)));
}

template <typename T> const T *findDevice(const std::map<std::string, T> &table, std::string_view device) {
  // What is said of "cuda:0" is said of the first device alone, which is called "cuda".
  const std::string kind(device.substr(0, device.find(':')));
  for (const std::string &name : {device == kind ? kind + ":0" : std::string(device), kind})
    if (const auto found = table.find(name); found != table.end())
      return &found->second;
  return nullptr;
}

/// Devices that the configuration names and nobody has: a wrong name would turn nothing off.
void checkDevices(LoadedConfig &loaded) {
  // Those of plug-ins are not known before these are loaded.
  if (!loaded.config.backends.empty())
    return;
  constexpr std::string_view known[] = {"cpu",    "c",      "cuda",   "reference",  "hip",
                                        "opencl", "vulkan", "webgpu", "tenstorrent"};
  auto check = [&](const char *key, const std::string &name) {
    const std::string_view family = std::string_view(name).substr(0, name.find(':'));
    if (!std::ranges::count(known, family))
      loaded.warnings.push_back(unknown(std::string(key) + ": '" + name + "'", nearestName(family, known)));
  };
  for (const auto &[name, isOn] : loaded.config.devices)
    check("devices", name);
  for (const auto &[name, limit] : loaded.config.memoryLimits)
    check("memory_limits", name);
}

} // namespace

bool Config::isEnabled(std::string_view device) const {
  const bool *found = findDevice(devices, device);
  return !found || *found;
}

uint64_t Config::memoryLimit(std::string_view device) const {
  const uint64_t *found = findDevice(memoryLimits, device);
  return found ? *found : 0;
}

Environment zyx::currentEnvironment() {
  Environment result;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("ZYX_") && text.find('=') != text.npos)
      result.emplace(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
  }
  return result;
}

std::optional<std::string> zyx::configPath() {
  if (const char *home = std::getenv("XDG_CONFIG_HOME"); home && *home == '/')
    return std::string(home) + "/zyx/config.json";
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.config/zyx/config.json";
  return std::nullopt;
}

void zyx::publishDebugTopics(const Config &config) {
  std::string topics;
  for (const std::string &topic : config.debug)
    topics += (topics.empty() ? "" : ",") + topic;
  ::setenv("ZYX_DEBUG", topics.c_str(), /*overwrite=*/0);
}

Result<LoadedConfig> zyx::parseConfig(std::string_view text, const std::string &name) {
  LoadedConfig loaded;
  ZYX_RETURN_IF_ERROR(readFileInto(loaded, text, name));
  checkTopics(loaded);
  checkDevices(loaded);
  return loaded;
}

Result<LoadedConfig> zyx::loadConfig(const std::optional<std::string> &path, const Environment &environment) {
  LoadedConfig loaded;
  if (path) {
    Result<std::vector<std::byte>> bytes = readFile(*path, maxFileBytes);
    if (bytes.isOk()) {
      const std::string_view text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
      ZYX_RETURN_IF_ERROR(readFileInto(loaded, text, *path));
    } else if (::faccessat(AT_FDCWD, path->c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) {
      // The home of another user, as under sudo, must not keep a program from running.
      loaded.warnings.push_back(*path + ": cannot be read, and is not used: Permission denied");
    } else if (bytes.status().code() != ErrorCode::NotFound) {
      return bytes.status();
    }
  }
  ZYX_RETURN_IF_ERROR(readEnvironmentInto(loaded, environment));
  checkTopics(loaded);
  checkDevices(loaded);
  // No shell has seen what a file says.
  if (std::optional<std::string> &folder = loaded.config.cacheDir;
      folder && (*folder == "~" || folder->starts_with("~/"))) {
    if (const char *home = std::getenv("HOME"); home && *home == '/')
      folder->replace(0, 1, home);
    else
      return Status::invalidArgument("cache_dir '" + *folder + "' begins with '~', and HOME names no folder");
  }
  return loaded;
}

Result<LoadedConfig> zyx::loadConfig() { return loadConfig(configPath(), currentEnvironment()); }
