//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Copies that threads begin and wait for: cp.async, which a thread's groups hold, and those of the copy engine, of
// boxes and pixels that tensor maps describe. They are done as late as they may be, or in a random order at any time.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "TensorMap.h"

#include <algorithm>

using namespace zyx::ptx;

//===----------------------------------------------------------------------===//
// Copies of threads
//===----------------------------------------------------------------------===//

static void doCopies(std::vector<std::function<void()>> &copies) {
  for (auto &copy : copies)
    copy();
  copies.clear();
}

namespace {

uint64_t wordOf(const Warp &warp, uint32_t offset, bool isLong, unsigned lane) {
  return isLong ? reinterpret_cast<const uint64_t *>(warp.registers + offset)[lane]
                : reinterpret_cast<const uint32_t *>(warp.registers + offset)[lane];
}

void copyLater(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const uint64_t to = wordOf(warp, at.in[0], at.option & 1, lane) + static_cast<uint64_t>(at.value);
    const uint64_t from =
        wordOf(warp, at.in[1], at.option & 2, lane) + static_cast<uint64_t>(int64_t(static_cast<int32_t>(at.target)));
    const uint32_t bytes = at.in[2] ? std::min(warp.at<uint32_t>(at.in[2])[lane], at.bytes) : at.bytes;
    if (at.in[2] && warp.at<uint32_t>(at.in[2])[lane] > at.bytes)
      machine.fail(warp, at, lane, "reads more than it writes");
    // Whether it may be read is seen now.
    if (bytes)
      machine.resolve(warp, at, lane, Space::Global, from, bytes, false, at.bytes);
    uint8_t *place = machine.resolve(warp, at, lane, Space::Shared, to, at.bytes, true);
    warp.copies[lane].open.push_back([place, from, bytes, all = at.bytes] {
      std::memcpy(place, reinterpret_cast<const void *>(from), bytes);
      std::memset(place + bytes, 0, all - bytes);
    });
  }
}

void commit(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    Warp::CopyGroups &groups = at.option ? warp.bulks[lane] : warp.copies[lane];
    groups.committed.push_back(std::move(groups.open));
    groups.open.clear();
    if (machine.launch.options.seed && machine.random() % 2)
      doCopies(groups.committed.back());
  }
}

/// Until at most so many groups are not done; all of them where the number is negative.
void waitFor(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    Warp::CopyGroups &groups = at.option ? warp.bulks[lane] : warp.copies[lane];
    while (groups.committed.size() > static_cast<uint64_t>(std::max<int64_t>(at.value, 0))) {
      doCopies(groups.committed.front());
      groups.committed.pop_front();
    }
    if (at.value < 0)
      doCopies(groups.open);
  }
}

bool decodeThreadCopy(Decoder &decoder, Instruction &made) {
  if (decoder.take("commit_group")) {
    made.execute = commit;
    return true;
  }
  if (decoder.take("wait_group")) {
    made.value = static_cast<int64_t>(decoder.number(0));
    made.execute = waitFor;
    return true;
  }
  if (decoder.take("wait_all")) {
    made.value = -1;
    made.execute = waitFor;
    return true;
  }
  decoder.require((decoder.take("cg") || decoder.take("ca")) &&
                      (decoder.take("shared") || decoder.take("shared::cta")) && decoder.take("global"),
                  "copies in a way that is not known");
  for (const char *hint : {"L2::64B", "L2::128B", "L2::256B"})
    decoder.take(hint);
  bool isLong = false;
  made.in[0] = decoder.address(decoder.operand(0), made.value, isLong);
  made.option = isLong;
  int64_t offset = 0;
  made.in[1] = decoder.address(decoder.operand(1), offset, isLong);
  decoder.require(isLong && offset == static_cast<int32_t>(offset), "has addresses that are not known here");
  made.option |= 2;
  made.target = static_cast<uint32_t>(offset);
  made.bytes = static_cast<uint32_t>(decoder.number(2));
  decoder.require(made.bytes == 4 || made.bytes == 8 || made.bytes == 16, "copies another number of bytes");
  if (decoder.numOperands() > 3)
    made.in[2] = decoder.source(3, 32);
  made.execute = copyLater;
  return true;
}

//===----------------------------------------------------------------------===//
// The copy engine
//===----------------------------------------------------------------------===//

/// One piece of a row of a box: where it lies in shared memory is its number.
struct Box {
  TensorMap map;
  int64_t at[mostDimensions] = {};
  int64_t offsets[3] = {};
  uint32_t rowBytes() const { return map.box[0] * map.elementBytes; }
  uint64_t rows() const {
    uint64_t rows = 1;
    for (unsigned i = 1; i < (map.isPixels ? 2 : map.rank); ++i)
      rows *= map.box[i];
    return rows;
  }
  uint64_t bytes() const { return rows() * rowBytes(); }

  /// The place of each row, the innermost coordinate aside.
  template <typename F> void forEachRow(F &&body) const {
    int64_t here[mostDimensions];
    std::copy(std::begin(at), std::end(at), here);
    const uint64_t count = rows();
    for (uint64_t row = 0; row < count; ++row) {
      int64_t place[mostDimensions];
      if (map.isPixels) {
        std::copy(std::begin(here), std::end(here), place);
        for (unsigned i = 1; i + 1 < map.rank; ++i)
          place[i] += offsets[i - 1];
        body(row, place);
        // Along positions, which a window's reach bounds, then to the next image.
        for (unsigned i = 1; i < map.rank; ++i) {
          here[i] += i + 1 < map.rank ? map.steps[i] : 1;
          if (i + 1 == map.rank || here[i] <= static_cast<int64_t>(map.extents[i]) - 1 + map.high[i - 1])
            break;
          here[i] = map.low[i - 1];
        }
      } else {
        uint64_t left = row;
        place[0] = at[0];
        for (unsigned i = 1; i < map.rank; ++i) {
          place[i] = at[i] + static_cast<int64_t>(left % map.box[i] * std::max(map.steps[i], 1u));
          left /= map.box[i];
        }
        body(row, place);
      }
    }
  }

  /// Calls `body` with each element's place in shared memory, and in global memory or null where there is none.
  template <typename F> void forEachElement(F &&body) const {
    forEachRow([&](uint64_t row, const int64_t *place) {
      bool exists = true;
      uint64_t address = map.address;
      for (unsigned i = 1; i < map.rank; ++i) {
        exists &= place[i] >= 0 && place[i] < static_cast<int64_t>(map.extents[i]);
        address += static_cast<uint64_t>(place[i]) * map.strides[i];
      }
      for (uint32_t i = 0; i < map.box[0]; ++i) {
        const int64_t column = place[0] + i;
        const bool isThere = exists && column >= 0 && column < static_cast<int64_t>(map.extents[0]);
        body(row * rowBytes() + uint64_t(i) * map.elementBytes,
             isThere ? address + static_cast<uint64_t>(column) * map.elementBytes : 0);
      }
    });
  }
};

uint64_t swizzle(uint64_t address, uint32_t width) {
  return address ^ (width == 128  ? (address >> 7 & 7) << 4
                    : width == 64 ? (address >> 7 & 3) << 4
                    : width == 32 ? (address >> 7 & 1) << 4
                                  : 0);
}

void move(Machine &machine, Warp &warp, const Instruction &at, unsigned lane, const Box &box, uint64_t shared,
          bool isLoad) {
  const uint32_t bytes = box.map.elementBytes;
  uint8_t *const begin =
      machine.shared(warp, at, shared, box.bytes(), 128) - (shared & ((uint64_t(1) << rankShift) - 1));
  const uint64_t base = shared & ((uint64_t(1) << rankShift) - 1);
  std::pair<uint64_t, uint64_t> range = {1, 0};
  box.forEachElement([&](uint64_t place, uint64_t global) {
    uint8_t *here = begin + swizzle(base + place, box.map.swizzle);
    if (global && !(global >= range.first && global + bytes <= range.second) && !machine.isGlobal(global, bytes, range))
      machine.fail(warp, at, lane, "the copy engine reaches memory that is not there", true);
    if (isLoad && global)
      std::memcpy(here, reinterpret_cast<const void *>(global), bytes);
    else if (isLoad)
      std::memset(here, 0, bytes);
    else if (global)
      std::memcpy(reinterpret_cast<void *>(global), here, bytes);
  });
}

/// Coordinates and offsets are registers in the list; `bytes` says how many of them are coordinates.
Box boxOf(Machine &machine, Warp &warp, const Instruction &at, unsigned lane, uint64_t address) {
  machine.requireBehind(warp, at, lane);
  Box box;
  const uint8_t *packed = machine.resolve(warp, at, lane, Space::Generic, address, 128, false, 64);
  if (!unpack(packed, box.map))
    machine.fail(warp, at, lane, "there is no tensor map");
  const RegisterSlice *places = machine.program.places.data() + at.first;
  if (box.map.rank != at.bytes || box.map.isPixels != ((at.option & 4) != 0))
    machine.fail(warp, at, lane,
                 "the tensor map has " + std::to_string(box.map.rank) + " dimensions" +
                     (box.map.isPixels ? ", and is of pixels" : ""));
  for (uint32_t i = 0; i < at.bytes; ++i)
    box.at[i] = static_cast<int32_t>(readAny(warp, places[i], lane));
  for (uint32_t i = at.bytes; i < at.count; ++i)
    box.offsets[i - at.bytes] = static_cast<uint16_t>(readAny(warp, places[i], lane));
  if (box.map.swizzle && box.rowBytes() != box.map.swizzle)
    machine.fail(warp, at, lane,
                 "rows of " + std::to_string(box.rowBytes()) + " bytes with a swizzle of " +
                     std::to_string(box.map.swizzle) + " are not modelled");
  return box;
}

void loadBox(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const Box box = boxOf(machine, warp, at, lane, warp.at<uint64_t>(at.in[1])[lane]);
    const uint64_t to = wordOf(warp, at.in[0], at.option & 1, lane) + static_cast<uint64_t>(at.value),
                   barrier = wordOf(warp, at.in[2], at.option & 2, lane) + at.target;
    machine.shared(warp, at, to, box.bytes(), 128);
    machine.barrierAt(warp, at, lane, barrier);
    machine.engine.push_back([&machine, &warp, &at, lane, box, to, barrier] {
      move(machine, warp, at, lane, box, to, true);
      machine.complete(warp, at, lane, barrier, static_cast<uint32_t>(box.bytes()));
    });
  }
}

void storeBox(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const Box box = boxOf(machine, warp, at, lane, warp.at<uint64_t>(at.in[1])[lane]);
    const uint64_t from = wordOf(warp, at.in[0], at.option & 1, lane) + static_cast<uint64_t>(at.value);
    machine.shared(warp, at, from, box.bytes(), 128);
    warp.bulks[lane].open.push_back(
        [&machine, &warp, &at, lane, box, from] { move(machine, warp, at, lane, box, from, false); });
  }
}

bool decodeBox(Decoder &decoder, Instruction &made) {
  const size_t rank = decoder.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1;
  const bool isPixels = decoder.take("im2col");
  decoder.take("tile");
  const bool isStore = decoder.take("bulk_group"), isLoad = decoder.take("mbarrier::complete_tx::bytes");
  decoder.require(rank <= mostDimensions && isStore != isLoad && decoder.take("global") &&
                      (decoder.take("shared::cta") || decoder.take("shared::cluster")),
                  "copies in a way that is not known");
  const Operand &map = decoder.operand(isStore ? 0 : 1), &shared = decoder.operand(isStore ? 1 : 0);
  bool isLong = false;
  int64_t offset = 0;
  decoder.require(map.kind == Operand::Memory && map.parts.size() == 2 && map.parts[1].kind == Operand::Vector &&
                      map.parts[1].parts.size() == rank,
                  "has another number of coordinates");
  made.in[1] = decoder.source(map.parts[0], 64);
  decoder.require(map.bits == 0, "has a tensor map that is not known here");
  made.in[0] = decoder.address(shared, made.value, isLong);
  made.option = static_cast<uint16_t>(isLong | isPixels << 2);
  std::vector<RegisterSlice> places;
  for (const Operand &part : map.parts[1].parts)
    places.push_back(decoder.wide(part, 32, false));
  if (isLoad) {
    made.in[2] = decoder.address(decoder.operand(2), offset, isLong);
    decoder.require(offset >= 0 && offset < INT32_MAX, "has a barrier that is not known here");
    made.target = static_cast<uint32_t>(offset);
    made.option |= isLong << 1;
    if (isPixels && rank > 2) {
      const Operand &offsets = decoder.operand(3);
      decoder.require(offsets.kind == Operand::Vector && offsets.parts.size() == rank - 2,
                      "has another number of offsets");
      for (const Operand &part : offsets.parts)
        places.push_back(decoder.wide(part, 16, false));
    }
  }
  decoder.require(decoder.numOperands() == (isStore ? 2u : isPixels ? 4u : 3u), "has operands that are not known");
  decoder.list(made, places);
  made.bytes = static_cast<uint32_t>(rank);
  made.execute = isLoad ? loadBox : storeBox;
  return true;
}

} // namespace

bool zyx::ptx::decodeCopy(Decoder &decoder, Instruction &made) {
  if (decoder.opcode() != "cp" || !decoder.take("async"))
    return false;
  if (!decoder.take("bulk"))
    return decodeThreadCopy(decoder, made);
  if (decoder.take("commit_group")) {
    made.option = 1;
    made.execute = commit;
    return true;
  }
  if (decoder.take("wait_group")) {
    // With .read the source may be written again; here it is also all done.
    decoder.take("read");
    made.option = 1;
    made.value = static_cast<int64_t>(decoder.number(0));
    made.execute = waitFor;
    return true;
  }
  return decoder.take("tensor") && decodeBox(decoder, made);
}
