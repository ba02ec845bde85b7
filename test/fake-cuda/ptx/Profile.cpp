//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Profile.h"

#include "Machine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

using namespace zyx::ptx;

namespace {

/// An H200, as NVIDIA's CUDA C++ Programming Guide (throughput of instructions, compute capability 9.0) and the data
/// sheet have it; latencies are rounded values of published microbenchmarks.
constexpr double cores = 132, quarters = 4, cyclesPerMicrosecond = 1755;
constexpr double l2BytesPerCycle = 3100, l2BytesPerCoreCycle = 64;
constexpr double missCycles = 600, hitCycles = 35, barrierCycles = 25, dependentCycles = 2;
constexpr uint64_t l1Bytes = 256 << 10, mostShared = 227 << 10, residentThreads = 2048, mostResident = 32;
constexpr double registersOfThread = 64, registersOfCore = 65536;
constexpr double launchMicroseconds = 1.5;
/// From one workgroup that begins to the next, on the whole card: kernels of 73,728 and 81,920 workgroups of a warp
/// took 91.9 and 101.8 us.
constexpr double beginCycles = 2.185;
constexpr uint64_t sectorBytes = 32, lineBytes = 128;

bool has(const std::vector<std::string> &words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// m, n and k of an instruction of tensor cores, as its word "m16n8k16" says; 0 where there is none.
double productsOf(const std::vector<std::string> &words) {
  for (const std::string &word : words) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(word.c_str(), "m%un%uk%u", &m, &n, &k) == 3)
      return double(m) * n * k;
  }
  return 0;
}

} // namespace

IssueCost IssueCost::of(const std::vector<std::string> &words) {
  const std::string &opcode = words[0];
  const bool is64 = has(words, "s64") || has(words, "u64") || has(words, "b64");
  const bool isDouble = has(words, "f64");
  if (opcode == "wgmma" || opcode == "mma") {
    // Products of 16 bits per cycle of a quarter. The warps of a group have a quarter of its product each; mma.sync
    // does not reach the whole rate.
    double rate = opcode == "wgmma" ? 512 * 4 : 512 * 0.62;
    if (has(words, "tf32"))
      rate /= 2;
    if (has(words, "e4m3") || has(words, "e5m2") || has(words, "s8") || has(words, "u8"))
      rate *= 2;
    return {1, 0, static_cast<float>(productsOf(words) / rate)};
  }
  if (opcode == "mov" || opcode == "cvta" || opcode == "bar" || opcode == "ret" || opcode == "exit")
    return {opcode == "mov" ? 0.25f : 1.0f};
  if (opcode == "div" || opcode == "rem") {
    if (has(words, "f32") && !has(words, "rn"))
      return {3, 8};
    return {isDouble || is64 ? 80.0f : has(words, "f32") ? 10.0f : 20.0f, 8};
  }
  if (opcode == "mul" || opcode == "mad") {
    if (is64)
      return {has(words, "hi") ? 9.0f : 4.0f};
    return {isDouble || has(words, "wide") ? 2.0f : 1.0f};
  }
  if (opcode == "ex2" || opcode == "lg2" || opcode == "rcp" || opcode == "rsqrt" || opcode == "sqrt" ||
      opcode == "sin" || opcode == "cos" || opcode == "tanh")
    return {has(words, "rn") ? 9.0f : 1.0f, 8};
  if (opcode == "cvt")
    return {2};
  return {is64 || isDouble ? 2.0f : 1.0f};
}

void Counts::add(const Counts &other) {
  issue += other.issue, special += other.special, tensor += other.tensor;
  wavefronts += other.wavefronts, requests += other.requests, sectors += other.sectors, missed += other.missed;
  sharedRequests += other.sharedRequests, sharedWavefronts += other.sharedWavefronts;
  localRequests += other.localRequests, latency += other.latency;
  instructions += other.instructions, groups += other.groups;
}

unsigned zyx::ptx::residentGroups(const Launch &launch) {
  const uint64_t threads = uint64_t(launch.threads[0]) * launch.threads[1] * launch.threads[2];
  const uint64_t shared = launch.program->sharedBytes + launch.dynamicSharedBytes + 1024;
  uint64_t resident =
      std::min({mostResident, residentThreads / std::max<uint64_t>(threads, lanes), (mostShared + 1024) / shared,
                static_cast<uint64_t>(registersOfCore / (registersOfThread * double(threads)))});
  return static_cast<unsigned>(std::max<uint64_t>(resident, 1));
}

Profiler::Profiler(const Launch &launch) : launch(launch) {
  const uint64_t threads = uint64_t(launch.threads[0]) * launch.threads[1] * launch.threads[2];
  paths.resize((threads + lanes - 1) / lanes * launch.program->clusterGroups);
  const uint64_t resident = residentGroups(launch);
  const uint64_t shared = resident * (launch.program->sharedBytes + launch.dynamicSharedBytes);
  const uint64_t cache = (l1Bytes - std::min(shared, l1Bytes - (16 << 10))) / resident * launch.program->clusterGroups;
  lines.resize(std::max<uint64_t>(cache / lineBytes, 16));
}

void Profiler::beginCluster() {
  std::fill(paths.begin(), paths.end(), Path());
  std::fill(lines.begin(), lines.end(), std::pair<uint64_t, uint8_t>(~uint64_t(0), 0));
}

void Profiler::endCluster() {
  double longest = 0;
  for (const Path &path : paths)
    longest = std::max(longest, path.cycles);
  counts.latency += longest * launch.program->clusterGroups;
  counts.groups += launch.program->clusterGroups;
}

void Profiler::touch(Space space, uint64_t address, uint64_t bytes, bool isWrite) {
  if (space == Space::Global)
    global.push_back({address, bytes, isWrite});
  else if (space == Space::Shared)
    shared.push_back({address, bytes, isWrite});
  else if (space == Space::Local)
    touchedLocal = true;
}

void Profiler::noteGlobal(Path &path, bool isPastL1) {
  const bool isWrite = global.front().isWrite;
  std::vector<uint64_t> sectors;
  for (const Access &access : global)
    for (uint64_t sector = access.address / sectorBytes; sector <= (access.address + access.bytes - 1) / sectorBytes;
         ++sector)
      sectors.push_back(sector);
  global.clear();
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  double numLines = 0;
  uint64_t before = ~uint64_t(0);
  bool misses = false;
  for (const uint64_t sector : sectors) {
    const uint64_t line = sector * sectorBytes / lineBytes;
    numLines += line != before;
    before = line;
    auto &[kept, mask] = lines[line % lines.size()];
    const auto bit = static_cast<uint8_t>(1u << sector % (lineBytes / sectorBytes));
    const bool hits = !isWrite && kept == line && (mask & bit);
    if (hits)
      continue;
    misses |= !isWrite;
    ++counts.missed;
    if (isWrite || isPastL1)
      continue;
    if (kept != line)
      kept = line, mask = 0;
    mask |= bit;
  }
  ++counts.requests;
  counts.sectors += static_cast<double>(sectors.size());
  // Neighbouring lanes that read the same element take one pass; so do four sectors of a line, or two lines.
  counts.wavefronts += std::max({1.0, std::ceil(static_cast<double>(sectors.size()) / 4), std::ceil(numLines / 2)});
  (misses ? path.hasMissed : path.hasHit) = !isWrite;
}

void Profiler::noteShared(Path &path) {
  // Lanes of wide accesses take turns: as many at once as ask for 128 bytes.
  const uint64_t each = std::max<uint64_t>(shared.front().bytes, 4);
  const size_t atOnce = std::max<size_t>(lineBytes / each, 1);
  double passes = 0;
  for (size_t begin = 0; begin < shared.size(); begin += atOnce) {
    std::array<std::vector<uint64_t>, 32> banks;
    size_t most = 1;
    for (size_t i = begin; i < std::min(begin + atOnce, shared.size()); ++i)
      for (uint64_t word = shared[i].address / 4; word <= (shared[i].address + shared[i].bytes - 1) / 4; ++word) {
        std::vector<uint64_t> &bank = banks[word % 32];
        if (std::find(bank.begin(), bank.end(), word) == bank.end())
          bank.push_back(word);
        most = std::max(most, bank.size());
      }
    passes += static_cast<double>(most);
  }
  path.hasHit |= !shared.front().isWrite;
  shared.clear();
  ++counts.sharedRequests;
  counts.sharedWavefronts += passes;
  counts.wavefronts += passes;
}

void Profiler::note(const Warp &warp, const Instruction &instruction) {
  Path &path = paths[warp.group->rank * warp.group->warps.size() + warp.number];
  const IssueCost &cost = instruction.cost;
  ++counts.instructions;
  counts.issue += cost.issue;
  counts.special += cost.special;
  counts.tensor += cost.tensor;
  path.cycles +=
      std::max({static_cast<double>(cost.issue) * dependentCycles, double(cost.special), double(cost.tensor)});
  if (!global.empty())
    noteGlobal(path, instruction.isPastL1);
  if (!shared.empty())
    noteShared(path);
  if (std::exchange(touchedLocal, false))
    ++counts.localRequests, ++counts.wavefronts;
  if (instruction.kind == Instruction::Plain)
    return;
  // Loads between two branches are under way together; what comes behind these needs them.
  path.cycles += path.hasMissed ? missCycles : path.hasHit ? hitCycles : 0;
  path.hasMissed = path.hasHit = false;
  if (instruction.kind == Instruction::Barrier)
    path.cycles += barrierCycles;
}

const char *zyx::ptx::profileColumns() {
  return "kernel\tgroups\tthreads\tcluster\tresident\tus\tbound\tissue_us\tspecial_us\ttensor_us\tlsu_us\tl2_us\t"
         "latency_us\tinstructions_per_warp\tsectors_per_request\tl1_hits\tshared_passes\tlocal_requests";
}

std::string zyx::ptx::describe(const Launch &launch, Counts counts) {
  const double groups = double(launch.groups[0]) * launch.groups[1] * launch.groups[2];
  const double threads = double(launch.threads[0]) * launch.threads[1] * launch.threads[2];
  const double resident = residentGroups(launch), sampled = std::max(counts.groups, 1.0);
  // Workgroups of the multiprocessor that has most: all begin at once, or each begins where one has ended.
  const double together = cores * resident;
  const double ofCore = groups <= together ? std::ceil(groups / cores) : groups / cores;
  auto ofEach = [&](double count) { return count / sampled * ofCore / cyclesPerMicrosecond; };
  const double issue = ofEach(counts.issue / quarters), special = ofEach(counts.special / quarters);
  const double tensor = ofEach(counts.tensor / quarters), lsu = ofEach(counts.wavefronts);
  const double bytes = counts.missed * sectorBytes / sampled;
  const double l2 =
      std::max(bytes * groups / l2BytesPerCycle, bytes * ofCore / l2BytesPerCoreCycle) / cyclesPerMicrosecond;
  const double latency = std::ceil(groups / together) * counts.latency / sampled / cyclesPerMicrosecond;
  const double begin = groups * beginCycles / cyclesPerMicrosecond;
  const std::pair<double, const char *> bounds[] = {{issue, "issue"}, {special, "special"}, {tensor, "tensor"},
                                                    {lsu, "lsu"},     {l2, "l2"},           {latency, "latency"},
                                                    {begin, "groups"}};
  const auto &most = *std::max_element(std::begin(bounds), std::end(bounds),
                                       [](const auto &a, const auto &b) { return a.first < b.first; });
  char text[512];
  std::snprintf(text, sizeof(text),
                "\t%.0f\t%.0f\t%u\t%.0f\t%.2f\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t%.2f\t%.1f\t%.0f",
                groups, threads, launch.program->clusterGroups, resident, most.first + launchMicroseconds, most.second,
                issue, special, tensor, lsu, l2, latency,
                counts.instructions / sampled / std::max(std::ceil(threads / lanes), 1.0),
                counts.requests ? counts.sectors / counts.requests : 0.0,
                counts.sectors ? 1 - counts.missed / counts.sectors : 0.0,
                counts.sharedRequests ? counts.sharedWavefronts / counts.sharedRequests : 0.0, counts.localRequests);
  return launch.program->name + text;
}
