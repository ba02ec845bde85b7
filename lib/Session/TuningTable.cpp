//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/TuningTable.h"

#include "zyx/Base/Envelope.h"
#include "zyx/Base/Hash.h"
#include "zyx/Base/PrivateFolder.h"
#include "zyx/Session/Cache.h"

#include <set>

using namespace zyx;
using namespace zyx::session;

namespace {

// The byte form of a table:
//   magic, u32 version, XXH3-128 of all that follows,
//   target, device, toolchain, choices with a u64 count before them.
constexpr Envelope envelope{"\x7fZYXTUNE", 1, Envelope::Checksum::Bits128};

constexpr const char *suffix = ".zyxt";
/// No table is larger.
constexpr uint64_t mostBytes = uint64_t(64) << 20;

/// Held while a table is read, changed and written again, which takes milliseconds.
constexpr const char *lockName = "tuning.lock";
constexpr auto mostWaiting = std::chrono::seconds(10);

} // namespace

TuningTable::TuningTable(std::optional<std::string> of, Key itsKey) : folder(std::move(of)), key(std::move(itsKey)) {
  if (!folder)
    return;
  Result<PrivateFolder> open = PrivateFolder::open(*folder);
  if (!open) {
    ArtifactCache::warnOfFolder(open.status());
    return;
  }
  Result<MeasuredChoices> found = read(*open);
  if (found)
    kept = std::move(*found);
  else if (found.status().code() != ErrorCode::NotFound)
    whyIgnored = "schedules that were measured are ignored: " + found.status().message() + "\n";
}

std::string TuningTable::path() const { return folder ? *folder + "/" + name() : ""; }

std::string TuningTable::name() const {
  return hashBytes(std::string_view(key.target + "\n" + key.device + "\n" + key.toolchain)).toHex() + suffix;
}

std::string TuningTable::text() const {
  std::string lines;
  for (const auto &[key, choice] : kept)
    lines += key + " " + choice.text + "\n";
  return lines;
}

std::string TuningTable::text(std::span<const std::string> kernels) const {
  std::string lines;
  for (const std::string &key : std::set(kernels.begin(), kernels.end()))
    if (const auto choice = kept.find(key); choice != kept.end())
      lines += key + " " + choice->second.text + "\n";
  return lines;
}

Result<MeasuredChoices> TuningTable::read(const PrivateFolder &open) const {
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, open.read(name(), mostBytes));
  auto refuse = [&](const std::string &why) { return Status::dataCorruption(path() + " " + why); };
  const Envelope::Opened opened = envelope.open(bytes);
  if (opened.state == Envelope::State::OtherVersion)
    return refuse("is of another format version");
  if (opened.state != Envelope::State::Whole)
    return refuse("is damaged");
  ByteReader from(opened.contents);
  if (from.string("target") != key.target || from.string("device") != key.device)
    return refuse("is of another device");
  if (from.string("toolchain") != key.toolchain)
    return refuse("was made with another compiler");
  MeasuredChoices choices;
  for (uint64_t left = from.count("choices", 32); left > 0; --left) {
    std::string key = from.string("key");
    MeasuredChoice &choice = choices[std::move(key)];
    choice.text = from.string("choice");
    choice.nanoseconds = from.u64("time");
    choice.firstNanoseconds = from.u64("time of the first choice");
  }
  if (!from.status() || from.remaining() != 0)
    return refuse("is damaged");
  return choices;
}

Status TuningTable::write(const PrivateFolder &to) const {
  ByteWriter contents;
  contents.string(key.target);
  contents.string(key.device);
  contents.string(key.toolchain);
  contents.u64(kept.size());
  for (const auto &[key, choice] : kept) {
    contents.string(key);
    contents.string(choice.text);
    contents.u64(choice.nanoseconds);
    contents.u64(choice.firstNanoseconds);
  }
  return to.write(name(), envelope.seal(contents.view()), Durability::Sync);
}

Status TuningTable::add(const MeasuredChoices &choices) {
  // Without the lock choices of other processes could be lost, so that nothing is written.
  Status status;
  std::optional<PrivateFolder> open;
  std::optional<PrivateFolder::Lock> lock;
  if (folder) {
    status = [&]() -> Status {
      ZYX_ASSIGN_OR_RETURN(PrivateFolder made, PrivateFolder::make(*folder));
      ZYX_ASSIGN_OR_RETURN(PrivateFolder::Lock held, made.lock(lockName, mostWaiting));
      lock.emplace(std::move(held));
      open.emplace(std::move(made));
      return Status::ok();
    }();
    ArtifactCache::warnOfFolder(status);
    if (status.isOk())
      if (Result<MeasuredChoices> others = read(*open); others)
        kept.insert(others->begin(), others->end());
  }
  size_t numLeft = 0;
  for (const auto &[key, choice] : choices) {
    if (kept.size() >= mostKernels && !kept.contains(key))
      ++numLeft;
    else
      kept[key] = choice;
  }
  if (open)
    status = write(*open);
  if (status.isOk() && numLeft != 0)
    return Status::outOfMemory("there are schedules of " + std::to_string(mostKernels) +
                               " kernels, and no more are kept; " + path() + " may be removed");
  return status;
}
