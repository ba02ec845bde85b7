//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_TUNINGTABLE_H
#define ZYX_SESSION_TUNINGTABLE_H

#include "zyx/Base/Status.h"

#include <map>
#include <optional>
#include <span>
#include <string>

namespace zyx {
class PrivateFolder;
}

namespace zyx::session {

/// What measuring chose for a kernel.
struct MeasuredChoice {
  /// As the compiler writes it (KernelChoice).
  std::string text;
  /// It, and what the kernel has without measuring.
  uint64_t nanoseconds = 0, firstNanoseconds = 0;
  bool operator==(const MeasuredChoice &) const = default;
};

using MeasuredChoices = std::map<std::string, MeasuredChoice>;

/// Choices that were measured on one machine, by the keys of their kernels. In a folder they stay for later
/// processes, of which any number may use it at once; it is read as the cache is (PrivateFolder). What is there is
/// trusted no further than the compiler does, which takes no schedule that it would not have listed; all else is
/// ignored.
class TuningTable {
public:
  /// Kernels of which it keeps a choice, at most: it is handed to every compilation.
  static constexpr size_t mostKernels = 10'000;

  /// What the choices are good for.
  struct Key {
    /// Of the code, and the identity of the device that ran it.
    std::string target, device;
    /// Who made the code: with another one another choice may be the best.
    std::string toolchain;
  };

  /// Reads what is in the folder. Without one it is this process's alone.
  TuningTable(std::optional<std::string> folder, Key key);

  const MeasuredChoices &choices() const { return kept; }
  /// A line for each, as CompileOptions::measured has them.
  std::string text() const;
  /// The same of these kernels alone.
  std::string text(std::span<const std::string> kernels) const;
  /// Why what the folder has is ignored; empty where it is not.
  const std::string &remark() const { return whyIgnored; }
  /// Adds choices, to what other processes have added meanwhile, too. On a failure they are this process's alone.
  Status add(const MeasuredChoices &choices);
  /// The file of the key, whether it is there or not; empty without a folder.
  std::string path() const;

private:
  /// In the folder.
  std::string name() const;
  Result<MeasuredChoices> read(const PrivateFolder &from) const;
  Status write(const PrivateFolder &to) const;

  const std::optional<std::string> folder;
  const Key key;
  MeasuredChoices kept;
  std::string whyIgnored;
};

} // namespace zyx::session

#endif // ZYX_SESSION_TUNINGTABLE_H
