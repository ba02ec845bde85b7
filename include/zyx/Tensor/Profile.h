//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_PROFILE_H
#define ZYX_TENSOR_PROFILE_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

namespace detail {
class ProfileLog;
} // namespace detail

/// One kernel of one program, or one of its copies, fills and loops, in all runs during a Profile.
struct KernelTime {
  /// "2:main_0": of the second program that was run, the kernel's name.
  std::string name;
  /// "train.cpp:12", the call of the latest op in it; empty where unknown.
  std::string place;
  uint64_t runs = 0, nanoseconds = 0;
  /// Operations, a multiplication and an addition being two, and bytes of the buffers that are touched: the
  /// compiler's counts. 0 where they are not known, as inside of a loop whose trips are data.
  uint64_t flops = 0, bytes = 0;
  /// What ran it: "cpu", "cuda:1".
  std::string device;
  /// Of the operations or of the bytes per second that its device reaches at best, whichever is more; 0 where that is
  /// not known, as of a card. Above 1 where data lies in caches, or where numbers are smaller than f32.
  double ofPeak = 0;
};

/// Takes the time of all that a context computes while it lives: run by run and kernel by kernel. Runs are
/// timed one after the other, so that they take longer than without it.
class Profile {
public:
  explicit Profile(Context context = Context::current());
  ~Profile();
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  /// So far, the longest first. Each device of the host is measured once, which takes some 50 ms.
  std::vector<KernelTime> kernels() const;
  /// The same for people: a line per kernel, and their sum.
  std::string table() const;
  /// JSON in Chrome's trace event format, for Perfetto or chrome://tracing: each kernel of each run, and the
  /// stages and passes of the compiler.
  std::string trace() const;
  /// The same into a file.
  void saveTrace(const std::string &path, Place where = Place::current()) const;

private:
  std::shared_ptr<detail::State> state;
  std::shared_ptr<detail::ProfileLog> log;
};

} // namespace zyx

#endif // ZYX_TENSOR_PROFILE_H
