//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// With FMA=times each launch of a kernel runs it with each change, in turns, between stamps of the queue. When its
// pipeline ends a line for each says the shortest time in microseconds, how fast that is beside the module as it is,
// and what the driver tells of its registers. FMA_TIMES names other changes, with spaces between; FMA_OUT is a folder
// for what the driver keeps of each pipeline.
//===----------------------------------------------------------------------===//
#include "Times.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>

using namespace zyx::test;

namespace {

constexpr uint32_t rounds = 4;
constexpr const char *usual =
    "join no-modes join+no-modes no-denormals no-infinities loose glsl450 private light-barriers bare-barriers "
    "first-lanes chains read-only unroll no-unroll no-quotients no-exponentials fast-math fast-math+join "
    "join+glsl450 join+first-lanes join+glsl450+first-lanes+read-only no-quotients+no-exponentials+no-modes+loose";

struct Variant {
  std::string name;
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::string facts;
};
struct Timed {
  std::string kernel;
  std::vector<Variant> variants;
  /// Of the list that had it last.
  VkQueryPool stamps = VK_NULL_HANDLE;
};

std::map<VkShaderModule, Words> modules;
std::map<VkPipeline, Timed> timed;
std::map<VkCommandBuffer, VkPipeline> bound;
VkDevice ofAll = VK_NULL_HANDLE;
double period = 1;
bool hasStatistics = false, mayFastMath = false;
/// A newer header has it.
struct FastMathFeature {
  VkStructureType sType = VkStructureType(1000528000);
  void *pNext = nullptr;
  VkBool32 isThere = VK_TRUE;
};

template <typename F> F ofDevice(const char *name) {
  return reinterpret_cast<F>(ZYX_NEXT(vkGetDeviceProcAddr)(ofAll, name));
}

/// What the driver tells of a pipeline.
std::string factsOf(VkPipeline pipeline) {
  const auto statistics = ofDevice<PFN_vkGetPipelineExecutableStatisticsKHR>("vkGetPipelineExecutableStatisticsKHR");
  if (!hasStatistics || !statistics)
    return "";
  const VkPipelineExecutableInfoKHR which = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, 0};
  uint32_t count = 0;
  statistics(ofAll, &which, &count, nullptr);
  VkPipelineExecutableStatisticKHR none = {};
  none.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  std::vector<VkPipelineExecutableStatisticKHR> all(count, none);
  statistics(ofAll, &which, &count, all.data());
  std::string text;
  for (const auto &each : all)
    text += std::string(" ") + each.name + "=" +
            (each.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR ? std::to_string(each.value.f64)
                                                                                : std::to_string(each.value.u64));
  return text;
}

void keepCode(const std::string &name, VkPipelineCache cache) {
  const char *folder = std::getenv("FMA_OUT");
  size_t size = 0;
  if (!folder || ZYX_NEXT(vkGetPipelineCacheData)(ofAll, cache, &size, nullptr) != VK_SUCCESS)
    return;
  std::string bytes(size, 0);
  ZYX_NEXT(vkGetPipelineCacheData)(ofAll, cache, &size, bytes.data());
  std::ofstream(std::string(folder) + "/" + name + ".cache", std::ios::binary) << bytes;
}

void keepWords(const char *kernel, const std::string &name, const Words &words) {
  if (const char *folder = std::getenv("FMA_OUT"))
    std::ofstream(std::string(folder) + "/" + kernel + "-" + name + ".spv", std::ios::binary)
        .write(reinterpret_cast<const char *>(words.data()), std::streamsize(words.size() * sizeof(uint32_t)));
}

/// Null where the driver takes it not.
Variant makeVariant(const VkComputePipelineCreateInfo &info, const Words &words, const std::string &name) {
  Variant made{name, VK_NULL_HANDLE, ""};
  VkShaderModuleCreateInfo ofModule = {};
  ofModule.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  ofModule.codeSize = words.size() * sizeof(uint32_t);
  ofModule.pCode = words.data();
  VkComputePipelineCreateInfo its = info;
  if (hasStatistics)
    its.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkPipelineCacheCreateInfo ofCache = {};
  ofCache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  VkPipelineCache cache = VK_NULL_HANDLE;
  ZYX_NEXT(vkCreatePipelineCache)(ofAll, &ofCache, nullptr, &cache);
  if (ZYX_NEXT(vkCreateShaderModule)(ofAll, &ofModule, nullptr, &its.stage.module) == VK_SUCCESS &&
      ZYX_NEXT(vkCreateComputePipelines)(ofAll, cache, 1, &its, nullptr, &made.pipeline) == VK_SUCCESS) {
    made.facts = factsOf(made.pipeline);
    keepCode(std::string(info.stage.pName) + "-" + name, cache);
  }
  ZYX_NEXT(vkDestroyPipelineCache)(ofAll, cache, nullptr);
  return made;
}

} // namespace

std::vector<std::string> zyx::test::split(std::string_view names, char by) {
  std::vector<std::string> all;
  while (!names.empty()) {
    const size_t end = std::min(names.find(by), names.size());
    if (end != 0)
      all.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return all;
}

Words zyx::test::changed(const Words &words, std::string_view changes) {
  Module module{words};
  module.find();
  for (const std::string &each : split(changes, '+'))
    if (!change(module, each))
      std::abort();
  return module.words;
}

VkResult zyx::test::createTimedDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo &info, VkDevice *into) {
  uint32_t count = 0;
  ZYX_NEXT(vkEnumerateDeviceExtensionProperties)(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  ZYX_NEXT(vkEnumerateDeviceExtensionProperties)(physical, nullptr, &count, all.data());
  std::vector<const char *> names(info.ppEnabledExtensionNames,
                                  info.ppEnabledExtensionNames + info.enabledExtensionCount);
  const auto has = [&](const char *name) {
    const bool isThere = std::any_of(all.begin(), all.end(),
                                     [&](const auto &each) { return std::strcmp(each.extensionName, name) == 0; });
    if (isThere)
      names.push_back(name);
    return isThere;
  };
  hasStatistics = has("VK_KHR_pipeline_executable_properties");
  mayFastMath = has("VK_KHR_shader_float_controls2");
  VkDeviceCreateInfo its = info;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR ofStatistics = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, nullptr, VK_TRUE};
  FastMathFeature fastMath;
  const auto put = [&](auto &feature) {
    feature.pNext = const_cast<void *>(its.pNext);
    its.pNext = &feature;
  };
  if (hasStatistics)
    put(ofStatistics);
  if (mayFastMath)
    put(fastMath);
  its.enabledExtensionCount = static_cast<uint32_t>(names.size());
  its.ppEnabledExtensionNames = names.data();
  VkPhysicalDeviceProperties properties;
  ZYX_NEXT(vkGetPhysicalDeviceProperties)(physical, &properties);
  period = properties.limits.timestampPeriod;
  const VkResult result = ZYX_NEXT(vkCreateDevice)(physical, &its, nullptr, into);
  ofAll = *into;
  return result;
}

bool zyx::test::hasFastMath() { return mayFastMath; }

void zyx::test::keepModule(VkShaderModule module, const Words &words) { modules[module] = words; }

void zyx::test::addVariants(VkDevice, const VkComputePipelineCreateInfo &info, VkPipeline pipeline) {
  const Words &words = modules[info.stage.module];
  Timed made{info.stage.pName, {}, VK_NULL_HANDLE};
  made.variants.push_back(makeVariant(info, words, "as-compiled"));
  // A driver may take seconds for each.
  std::vector<std::future<Variant>> begun;
  const char *given = std::getenv("FMA_TIMES");
  for (const std::string &name : split(given ? given : usual, ' ')) {
    const Words its = changed(words, name);
    keepWords(info.stage.pName, name, its);
    if (name.find("fast-math") != std::string::npos && !mayFastMath) {
      std::fprintf(stderr, "times: %s %s: the driver has no such extension\n", made.kernel.c_str(), name.c_str());
      continue;
    }
    // What has nothing of it is as it was.
    if (its.size() == words.size() && std::equal(its.begin() + headerWords, its.end(), words.begin() + headerWords))
      continue;
    begun.push_back(std::async(std::launch::async, [&info, its, name] { return makeVariant(info, its, name); }));
  }
  for (std::future<Variant> &each : begun)
    if (Variant its = each.get(); its.pipeline)
      made.variants.push_back(std::move(its));
    else
      std::fprintf(stderr, "times: %s %s: the driver refuses it\n", made.kernel.c_str(), its.name.c_str());
  timed[pipeline] = std::move(made);
}

void zyx::test::keepPipeline(VkCommandBuffer list, VkPipeline pipeline) { bound[list] = pipeline; }

void zyx::test::dispatchVariants(VkCommandBuffer list, uint32_t x, uint32_t y, uint32_t z) {
  const auto found = timed.find(bound[list]);
  if (found == timed.end())
    return;
  Timed &its = found->second;
  VkQueryPoolCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = static_cast<uint32_t>(its.variants.size()) * rounds * 2;
  ZYX_NEXT(vkCreateQueryPool)(ofAll, &info, nullptr, &its.stamps);
  ZYX_NEXT(vkCmdResetQueryPool)(list, its.stamps, 0, info.queryCount);
  const auto stamp = ZYX_NEXT(vkCmdWriteTimestamp);
  const VkMemoryBarrier all = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT,
                               VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  const auto wait = [&] {
    ZYX_NEXT(vkCmdPipelineBarrier)
    (list, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
  };
  uint32_t next = 0;
  for (uint32_t round = 0; round < rounds; ++round)
    for (const Variant &variant : its.variants) {
      ZYX_NEXT(vkCmdBindPipeline)(list, VK_PIPELINE_BIND_POINT_COMPUTE, variant.pipeline);
      wait();
      stamp(list, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, its.stamps, next++);
      ZYX_NEXT(vkCmdDispatch)(list, x, y, z);
      stamp(list, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, its.stamps, next++);
    }
  wait();
  ZYX_NEXT(vkCmdBindPipeline)(list, VK_PIPELINE_BIND_POINT_COMPUTE, found->first);
}

void zyx::test::printTimes(VkDevice device, VkPipeline pipeline) {
  const auto found = timed.find(pipeline);
  if (found == timed.end() || !found->second.stamps)
    return;
  const Timed &its = found->second;
  std::vector<uint64_t> ticks(its.variants.size() * rounds * 2);
  if (ZYX_NEXT(vkGetQueryPoolResults)(device, its.stamps, 0, static_cast<uint32_t>(ticks.size()),
                                      ticks.size() * sizeof(uint64_t), ticks.data(), sizeof(uint64_t),
                                      VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
    return;
  double first = 0;
  for (size_t which = 0; which < its.variants.size(); ++which) {
    double least = 1e30;
    for (size_t round = 0; round < rounds; ++round) {
      const size_t at = (round * its.variants.size() + which) * 2;
      least = std::min(least, static_cast<double>(ticks[at + 1] - ticks[at]) * period / 1000);
    }
    first = which == 0 ? least : first;
    std::fprintf(stderr, "times: %s %-34s %10.2f us %5.2f%s\n", its.kernel.c_str(), its.variants[which].name.c_str(),
                 least, first / least, its.variants[which].facts.c_str());
  }
}
