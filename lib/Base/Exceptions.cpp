//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Exceptions.h"

#include <exception>
#include <new>
#include <system_error>

using namespace zyx;

const Status &zyx::outOfHostMemory() noexcept {
  static const Status exhausted = Status::outOfMemory("the host has no memory or threads left");
  return exhausted;
}
/// Before main, when there is memory.
[[maybe_unused]] static const Status &madeEarly = outOfHostMemory();

Status zyx::currentException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc &) {
      return outOfHostMemory();
    } catch (const std::system_error &error) {
      // std::thread says so.
      if (error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory)
        return outOfHostMemory();
      return Status::internal(std::string("an exception: ") + error.what());
    } catch (const std::exception &error) {
      return Status::internal(std::string("an exception: ") + error.what());
    } catch (...) {
      return Status::internal("an exception of a type that is not known");
    }
  } catch (...) {
    // There was no memory to say it.
    return outOfHostMemory();
  }
}
