//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_SAFETENSORS_H
#define ZYX_IO_SAFETENSORS_H

#include "zyx/Base/File.h"
#include "zyx/Base/Tensor.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zyx::io {

/// A safetensors file, opened for reading its tensors one by one. `open` reads the header alone
/// and checks all of it: shapes, sizes, and that the tensors cover the data without holes or
/// overlaps. Tensors of dtypes that zyx has not do not keep the others from being read.
class SafetensorsFile {
public:
  struct Entry {
    std::string name;
    TensorType type;
    /// Of the first byte, from the start of the file.
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  static Result<SafetensorsFile> open(const std::string &path);
  static Result<SafetensorsFile> open(ReadOnlyFile file);

  /// Those of known dtypes, in the order of their data.
  const std::vector<Entry> &tensors() const { return entries; }
  /// The names of the others, with their dtypes in the file; read() refuses them.
  const std::map<std::string, std::string> &unsupported() const { return others; }
  /// What the file says of itself.
  const std::map<std::string, std::string> &metadata() const { return notes; }
  /// Null where there is none of this name.
  const Entry *find(std::string_view name) const;
  /// Reads one tensor and nothing else.
  Result<HostTensor> read(std::string_view name) const;
  /// The rows [begin, end): of the first dimension, which there is and which is as long.
  Result<HostTensor> readRows(const Entry &entry, int64_t begin, int64_t end) const;
  /// Reads one tensor to where it is needed; `into` has its size. Bools come as they are in the
  /// file.
  Status readInto(const Entry &entry, std::span<std::byte> into) const { return file->read(entry.offset, into); }
  /// The whole file, of which a tensor is subspan(offset, size).
  Result<std::shared_ptr<const FileMapping>> map() const { return file->map(); }
  /// What is read: the same file, whatever gets its name meanwhile.
  const std::shared_ptr<const ReadOnlyFile> &source() const { return file; }

private:
  SafetensorsFile(ReadOnlyFile file, std::vector<Entry> entries, std::map<std::string, std::string> others,
                  std::map<std::string, std::string> notes)
      : file(std::make_shared<ReadOnlyFile>(std::move(file))), entries(std::move(entries)), others(std::move(others)),
        notes(std::move(notes)) {}
  std::shared_ptr<const ReadOnlyFile> file;
  std::vector<Entry> entries;
  std::map<std::string, std::string> others, notes;
};

/// A tensor to write: row-major little-endian elements in memory of the caller.
struct TensorView {
  std::string name;
  TensorType type;
  std::span<const std::byte> data;
};

/// Writes a file piece by piece. Nothing is at its path before commit(); then all of it is.
class SafetensorsWriter {
public:
  /// Refuses two tensors of one name, the name "__metadata__", and text that is not UTF-8.
  static Result<SafetensorsWriter> create(const std::string &path,
                                          const std::vector<std::pair<std::string, TensorType>> &tensors,
                                          const std::map<std::string, std::string> &metadata = {});

  /// Indices of the tensors in the order in which their elements are to be written: wider ones first.
  const std::vector<size_t> &order() const { return indices; }
  /// Appends.
  Status write(std::span<const std::byte> elements);
  /// Refuses a file of more or fewer bytes than its tensors have.
  Status commit();

private:
  SafetensorsWriter(AtomicFile file, std::vector<size_t> indices, uint64_t missing)
      : file(std::move(file)), indices(std::move(indices)), missing(missing) {}
  AtomicFile file;
  std::vector<size_t> indices;
  /// Bytes of elements that are not there yet.
  uint64_t missing;
};

/// Writes tensors and what the file is to say of itself; the same ones give the same bytes. Tensors
/// of wider elements come first, else in the order given, and the data begins at a multiple of 64
/// bytes, so that every tensor of a mapping is aligned to its elements. Atomic: never leaves a
/// half-written file. Refuses two tensors of one name, the name "__metadata__", text that is not
/// UTF-8, and data that is not of its type's size.
Status writeSafetensors(const std::string &path, std::span<const TensorView> tensors,
                        const std::map<std::string, std::string> &metadata = {});
Status writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, HostTensor>> &tensors,
                        const std::map<std::string, std::string> &metadata = {});

/// A file; those that an index names, where the path ends in ".json"; or, of a folder, what its
/// "model.safetensors.index.json" names, else its "model.safetensors". An index is a JSON object
/// whose "weight_map" says for each tensor the file beside it that has it. Refuses a name that leads
/// out of the folder, a tensor that is not where the index says, and one that is in two files.
Result<std::vector<SafetensorsFile>> openSafetensors(const std::string &path);

} // namespace zyx::io

#endif // ZYX_IO_SAFETENSORS_H
