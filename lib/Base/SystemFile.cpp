//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/SystemFile.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

std::string zyx::readSystemFile(const std::string &path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return "";
  constexpr size_t limit = 1 << 20;
  std::string text;
  char piece[4096];
  while (text.size() < limit) {
    const ssize_t got = ::read(descriptor, piece, sizeof(piece));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    text.append(piece, static_cast<size_t>(got));
  }
  ::close(descriptor);
  return text;
}
