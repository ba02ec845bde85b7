//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_TESTFILES_H
#define ZYX_TEST_UNIT_TESTFILES_H

#include "zyx/Base/Tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

/// A path that no other test program uses at the same time; the file goes with the object.
class TemporaryPath {
public:
  explicit TemporaryPath(const std::string &name)
      : path(testing::TempDir() + "zyx-" + std::to_string(::getpid()) + "-" + name) {}
  ~TemporaryPath() { ::unlink(path.c_str()); }
  operator const std::string &() const { return path; }
  const std::string path;
};

inline void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

inline std::string readBytes(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::span<const std::byte> asBytes(const std::string &text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T> zyx::HostTensor tensorOf(zyx::DType dtype, zyx::Shape shape, const std::vector<T> &values) {
  zyx::HostTensor tensor{{dtype, std::move(shape)}, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty())
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

#endif // ZYX_TEST_UNIT_TESTFILES_H
