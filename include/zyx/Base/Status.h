//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_STATUS_H
#define ZYX_BASE_STATUS_H

#include "zyx/Base/Assert.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace zyx {

/// What kind of failure a Status reports. Values are stable: they cross the C surface.
enum class ErrorCode : uint32_t {
  Ok = 0,
  InvalidArgument = 1,
  Unsupported = 2,
  NotFound = 3,
  OutOfMemory = 4,
  DeviceLost = 5,
  CompileFailed = 6,
  DataCorruption = 7,
  IoError = 8,
  Timeout = 9,
  Cancelled = 10,
  Aborted = 11,
  Internal = 12,
};

/// "invalid argument", "out of memory", ...
std::string_view toString(ErrorCode code);

/// The outcome of an operation: success, or an immutable description of the failure. Copies share
/// it, because one asynchronous failure is delivered to every waiter.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  Status(ErrorCode code, std::string message);

  static Status ok() { return Status(); }
  static Status invalidArgument(std::string message) { return {ErrorCode::InvalidArgument, std::move(message)}; }
  static Status unsupported(std::string message) { return {ErrorCode::Unsupported, std::move(message)}; }
  static Status notFound(std::string message) { return {ErrorCode::NotFound, std::move(message)}; }
  static Status outOfMemory(std::string message) { return {ErrorCode::OutOfMemory, std::move(message)}; }
  static Status compileFailed(std::string message) { return {ErrorCode::CompileFailed, std::move(message)}; }
  static Status dataCorruption(std::string message) { return {ErrorCode::DataCorruption, std::move(message)}; }
  static Status ioError(std::string message) { return {ErrorCode::IoError, std::move(message)}; }
  static Status aborted(std::string message) { return {ErrorCode::Aborted, std::move(message)}; }
  static Status internal(std::string message) { return {ErrorCode::Internal, std::move(message)}; }

  bool isOk() const { return record == nullptr; }
  explicit operator bool() const { return isOk(); }

  ErrorCode code() const { return record ? record->code : ErrorCode::Ok; }
  const std::string &message() const;
  /// Name of the device the failure came from; empty where none was involved.
  const std::string &device() const;
  /// The vendor driver's own error number; 0 where there is none.
  int64_t backendCode() const { return record ? record->backendCode : 0; }
  /// The kernel or graph op that failed; empty where unknown.
  const std::string &where() const;
  /// The failure that led to this one; success where this is the first.
  Status cause() const;

  /// Copies with one more fact. On success they return success.
  Status withDevice(std::string device, int64_t backendCode = 0) const;
  Status withWhere(std::string where) const;
  Status withCause(Status cause) const;

  /// "out of memory: pool host holds 1 of 2 bytes (device host, in kernel softmax); caused by: ..."
  std::string toString() const;

private:
  struct Record {
    ErrorCode code = ErrorCode::Internal;
    std::string message, device, where;
    int64_t backendCode = 0;
    std::shared_ptr<const Record> cause;
  };
  explicit Status(std::shared_ptr<const Record> r) : record(std::move(r)) {}
  std::shared_ptr<const Record> record;
};

/// A value of type T, or the Status that explains why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  template <typename U>
    requires(std::is_convertible_v<U &&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Status> && !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U &&value) : storage(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Status failure) : storage(std::in_place_index<1>, std::move(failure)) {
    ZYX_ASSERT(!std::get<1>(storage).isOk(), "a Result made of a Status must be a failure");
  }

  bool isOk() const { return storage.index() == 0; }
  explicit operator bool() const { return isOk(); }

  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  /// The failure; success where there is a value.
  Status status() const { return isOk() ? Status() : std::get<1>(storage); }

private:
  T &value() {
    ZYX_ASSERT(isOk(), "the value of a failed Result was read");
    return *std::get_if<0>(&storage);
  }
  const T &value() const { return const_cast<Result *>(this)->value(); }
  std::variant<T, Status> storage;
};

} // namespace zyx

/// Returns the failure from the enclosing function, if there is one.
#define ZYX_RETURN_IF_ERROR(expression)                                                                                \
  do {                                                                                                                 \
    if (::zyx::Status zyxStatus = (expression); !zyxStatus.isOk())                                                     \
      return zyxStatus;                                                                                                \
  } while (false)

#define ZYX_CONCAT_INNER(a, b) a##b
#define ZYX_CONCAT(a, b) ZYX_CONCAT_INNER(a, b)

/// ZYX_ASSIGN_OR_RETURN(auto bytes, readFile(path)): declares or assigns the value, or returns
/// the failure.
#define ZYX_ASSIGN_OR_RETURN(target, expression)                                                                       \
  auto ZYX_CONCAT(zyxResult, __LINE__) = (expression);                                                                 \
  if (!ZYX_CONCAT(zyxResult, __LINE__).isOk())                                                                         \
    return ZYX_CONCAT(zyxResult, __LINE__).status();                                                                   \
  target = std::move(*ZYX_CONCAT(zyxResult, __LINE__))

#endif // ZYX_BASE_STATUS_H
