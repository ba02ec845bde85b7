//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Processors.h"

#include "zyx/Base/SystemFile.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sched.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace zyx;

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return parts;
}

bool contains(std::string_view list, std::string_view item) {
  const std::vector<std::string_view> items = split(list, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

/// The number that `text` starts with; 0 where there is none, as for "max".
long toNumber(std::string_view text) { return std::strtol(std::string(text).c_str(), nullptr, 10); }

/// A hierarchy of control groups with one controller: "cpu" limits processor time, "memory" bytes.
struct Hierarchy {
  bool isUnified = false;
  /// The folder that is mounted, the group that it shows, and the group of this process.
  std::string mount, shown, group;
};

/// Lines are "id:controllers:/group", with no controllers in version 2 (cgroups(7)).
std::string groupOf(const std::string &groups, bool unified, std::string_view controller) {
  for (std::string_view line : split(groups, '\n')) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos)
      continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : contains(controllers, controller))
      return std::string(line.substr(second + 1));
  }
  return "";
}

/// Lines are "id parent device shown mount options [tags] - type source options" (proc(5)).
std::vector<Hierarchy> readHierarchies(const std::string &root, std::string_view controller) {
  const std::string groups = readSystemFile(root + "/proc/self/cgroup"),
                    mounts = readSystemFile(root + "/proc/self/mountinfo");
  std::vector<Hierarchy> found;
  for (std::string_view line : split(mounts, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos)
      continue;
    const std::vector<std::string_view> place = split(line.substr(0, dash), ' '),
                                        kind = split(line.substr(dash + 3), ' ');
    if (place.size() < 5 || kind.empty())
      continue;
    const bool isUnified = kind[0] == "cgroup2";
    if (!isUnified && !(kind[0] == "cgroup" && contains(kind.back(), controller)))
      continue;
    found.push_back({isUnified, std::string(place[4]), std::string(place[3]), groupOf(groups, isUnified, controller)});
  }
  return found;
}

/// Processors that one group gives time for, UINT64_MAX where it sets no limit.
uint64_t processorsOf(const std::string &folder, bool isUnified) {
  long quota = 0, period = 0;
  if (isUnified) {
    const std::string text = readSystemFile(folder + "/cpu.max");
    const std::vector<std::string_view> words = split(text, ' ');
    if (words.size() == 2) {
      quota = toNumber(words[0]);
      period = toNumber(words[1]);
    }
  } else {
    quota = toNumber(readSystemFile(folder + "/cpu.cfs_quota_us"));
    period = toNumber(readSystemFile(folder + "/cpu.cfs_period_us"));
  }
  // No quota is "max" or -1.
  if (quota <= 0 || period <= 0)
    return UINT64_MAX;
  return static_cast<uint64_t>(std::clamp<long>(quota / period, 1, UINT_MAX));
}

/// Bytes that one group may use, UINT64_MAX where it sets no limit. No limit is "max" in version 2, and in version 1
/// more than a machine has.
uint64_t bytesOf(const std::string &folder, bool isUnified) {
  const std::string text = readSystemFile(folder + (isUnified ? "/memory.max" : "/memory.limit_in_bytes"));
  char *end = nullptr;
  const unsigned long long bytes = std::strtoull(text.c_str(), &end, 10);
  return end == text.c_str() || text.starts_with('-') ? UINT64_MAX : bytes;
}

/// What one group sets.
using LimitOf = uint64_t (*)(const std::string &folder, bool isUnified);

/// Of the group and all above it.
uint64_t lowest(const Hierarchy &hierarchy, const std::string &root, LimitOf limitOf) {
  const std::string top = root + hierarchy.mount;
  std::string below;
  // In a container the group may be told as the machine sees it, while the mount shows it as the top.
  const std::string shown = hierarchy.shown == "/" ? "" : hierarchy.shown;
  if (hierarchy.group.starts_with(shown))
    below = hierarchy.group.substr(shown.size());
  uint64_t limit = UINT64_MAX;
  for (;;) {
    limit = std::min(limit, limitOf(top + below, hierarchy.isUnified));
    const size_t last = below.rfind('/');
    if (last == std::string::npos)
      return limit;
    below.resize(last);
  }
}

} // namespace

/// By control groups.
static uint64_t readLimit(const std::string &root, std::string_view controller, LimitOf limitOf) {
  uint64_t limit = UINT64_MAX;
  for (const Hierarchy &hierarchy : readHierarchies(root, controller))
    limit = std::min(limit, lowest(hierarchy, root, limitOf));
  return limit;
}

uint64_t zyx::usableMemory(const std::string &root) {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  const uint64_t machine =
      pages > 0 && bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes) : UINT64_MAX;
  static const uint64_t ownLimit = readLimit("", "memory", bytesOf);
  rlimit addresses = {};
  const bool isLimited = ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return std::min<uint64_t>(isLimited ? std::min<uint64_t>(machine, addresses.rlim_cur) : machine,
                            root.empty() ? ownLimit : readLimit(root, "memory", bytesOf));
}

unsigned zyx::usableProcessors(const std::string &root) {
  unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    processors = static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  // Reading it takes some hundred microseconds.
  static const uint64_t ownLimit = readLimit("", "cpu", processorsOf);
  const uint64_t limit = root.empty() ? ownLimit : readLimit(root, "cpu", processorsOf);
  return static_cast<unsigned>(std::min<uint64_t>(processors, limit));
}

std::string zyx::processorName() {
  const std::string text = readSystemFile("/proc/cpuinfo");
  // Of x86, and of ARM, where numbers stand for the maker and the model.
  std::string name;
  for (std::string_view line : split(text, '\n')) {
    // Each processor has a paragraph.
    if (line.empty())
      break;
    for (std::string_view key : {"model name", "CPU implementer", "CPU part"})
      if (const size_t colon = line.find(": "); line.starts_with(key) && colon != std::string_view::npos)
        name += (name.empty() ? "" : " ") + std::string(line.substr(colon + 2));
  }
  return name.empty() ? "processor" : name;
}

bool zyx::grantsMatrixTiles() {
#if defined(__x86_64__)
  constexpr int getSupported = 0x1021, tileData = 18;
  uint64_t supported = 0;
  return ::syscall(SYS_arch_prctl, getSupported, &supported) == 0 && (supported >> tileData & 1);
#else
  return false;
#endif
}
