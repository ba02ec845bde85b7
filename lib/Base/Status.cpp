//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Status.h"

namespace zyx {

std::string_view toString(ErrorCode code) {
  switch (code) {
  case ErrorCode::Ok:
    return "ok";
  case ErrorCode::InvalidArgument:
    return "invalid argument";
  case ErrorCode::Unsupported:
    return "unsupported";
  case ErrorCode::NotFound:
    return "not found";
  case ErrorCode::OutOfMemory:
    return "out of memory";
  case ErrorCode::DeviceLost:
    return "device lost";
  case ErrorCode::CompileFailed:
    return "compile failed";
  case ErrorCode::DataCorruption:
    return "data corruption";
  case ErrorCode::IoError:
    return "I/O error";
  case ErrorCode::Timeout:
    return "timeout";
  case ErrorCode::Cancelled:
    return "cancelled";
  case ErrorCode::Aborted:
    return "aborted";
  case ErrorCode::Internal:
    return "internal error";
  }
  return "unknown error";
}

Status::Status(ErrorCode code, std::string message) {
  if (code == ErrorCode::Ok)
    return;
  auto r = std::make_shared<Record>();
  r->code = code;
  r->message = std::move(message);
  record = std::move(r);
}

static const std::string emptyString;

const std::string &Status::message() const { return record ? record->message : emptyString; }
const std::string &Status::device() const { return record ? record->device : emptyString; }
const std::string &Status::where() const { return record ? record->where : emptyString; }
Status Status::cause() const { return record ? Status(record->cause) : Status(); }

Status Status::withDevice(std::string device, int64_t backendCode) const {
  if (!record)
    return *this;
  auto r = std::make_shared<Record>(*record);
  r->device = std::move(device);
  r->backendCode = backendCode;
  return Status(std::shared_ptr<const Record>(std::move(r)));
}

Status Status::withWhere(std::string where) const {
  if (!record)
    return *this;
  auto r = std::make_shared<Record>(*record);
  r->where = std::move(where);
  return Status(std::shared_ptr<const Record>(std::move(r)));
}

Status Status::withCause(Status cause) const {
  if (!record || !cause.record)
    return *this;
  auto r = std::make_shared<Record>(*record);
  // A failure that has a cause already keeps it: the new one is the cause of the last in the chain.
  r->cause = record->cause ? Status(record->cause).withCause(std::move(cause)).record : std::move(cause.record);
  return Status(std::shared_ptr<const Record>(std::move(r)));
}

std::string Status::toString() const {
  if (!record)
    return "ok";
  std::string text;
  for (const Record *r = record.get(); r; r = r->cause.get()) {
    if (!text.empty())
      text += "; caused by: ";
    text += zyx::toString(r->code);
    text += ": " + r->message;
    std::string facts;
    auto addFact = [&](const std::string &fact) { facts += (facts.empty() ? "" : ", ") + fact; };
    if (!r->device.empty())
      addFact("device " + r->device);
    if (r->backendCode != 0)
      addFact("backend code " + std::to_string(r->backendCode));
    if (!r->where.empty())
      addFact("in " + r->where);
    if (!facts.empty())
      text += " (" + facts + ")";
  }
  return text;
}

} // namespace zyx
