//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Artifact.h"
#include "../TestFiles.h"
#include "zyx/Artifact/Bake.h"
#include "zyx/Artifact/CSource.h"
#include "zyx/Artifact/File.h"
#include "zyx/Base/Bytes.h"
#include "zyx/Base/File.h"
#include "zyx/Base/Hash.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>

using namespace zyx;
using namespace zyx::artifact;
using testing::HasSubstr;

namespace {

/// y = k(x, constant, arena), after a copy and a fill; then loops and a copy.
Artifact sample() {
  Artifact a;
  a.entry = "main";
  a.target = "cpu";
  a.cpuFeatures = {"avx2", "fma"};
  a.inputs = {{"x", {DType::F32, {2, 3}}}};
  a.outputs = {{"y", {DType::F32, {2, 3}}}};
  a.buffers = {{BufferKind::Input, 0, 24},
               {BufferKind::Output, 0, 24},
               {BufferKind::Arena, 64, 32},
               {BufferKind::Constant, 0, 8}};
  a.constants.resize(8, std::byte{5});
  a.arenaSize = 96;
  a.code = {{"elf-so", {std::byte{1}, std::byte{2}}}};
  a.kernels = {{"k", 0, 4, 1, "kernel of k", {"a.mlir", 3, 4}, 1}};
  a.commands = {{Copy{{0, 0}, {2, 8}, 24}, {}},
                {Fill{{1, 8}, 16, 0x3f800000, 4}, {}},
                {Launch{0, {{0, 0}, {3, 0}, {2, 0}, {1, 0}}, {2, 1, 3}, {-7}, 12, 48}, {0, 1}},
                {Loop{2, 5, {}, BufferRef{2, 0}}, {2}},
                {Loop{1, 0, BufferRef{3, 0}, {}}, {}},
                {Copy{{0, 0}, {2, 8}, 24}, {}},
                {Copy{{0, 0}, {2, 8}, 24}, {3}}};
  return a;
}

std::string refusal(std::span<const std::byte> bytes) {
  Result<Artifact> result = Artifact::deserialize(bytes, "a.zyx");
  EXPECT_FALSE(result.isOk());
  EXPECT_THAT(result.status().message(), HasSubstr("a.zyx: "));
  return result.status().message();
}

/// The message about `sample()` after a change; the byte form must refuse it with the same words.
std::string complaint(const std::function<void(Artifact &)> &change) {
  Artifact a = sample();
  change(a);
  const std::string message = a.verify().message();
  EXPECT_EQ(refusal(a.serialize()), "a.zyx: " + message);
  return message;
}

constexpr size_t checksumOffset = 12, checkedOffset = 28;

/// Makes the checksum right again after a change behind it.
void reseal(std::vector<std::byte> &bytes) {
  const Hash128 hash = hashBytes(std::span<const std::byte>(bytes).subspan(checkedOffset));
  for (size_t i = 0; i < 8; ++i) {
    bytes[checksumOffset + i] = std::byte(hash.high >> (8 * i));
    bytes[checksumOffset + 8 + i] = std::byte(hash.low >> (8 * i));
  }
}

TEST(ArtifactTest, RoundTrips) {
  Artifact a = sample();
  a.kernels[0].tensorMaps = {{1, 32, 2, {64, 8}, {128}, {64, 8}, 128},
                             {0, 0, 4, {16}, {}, {16}, 64},
                             {1, 0, 2, {64, 8, 9, 2}, {128, 1024, 9216}, {64, 128}, 128, {-1, 0}, {-2, 1}, {1, 2}}};
  ASSERT_TRUE(a.verify().isOk()) << a.verify().toString();
  auto back = Artifact::deserialize(a.serialize());
  ASSERT_TRUE(back.isOk()) << back.status().toString();
  EXPECT_EQ(*back, a);
  EXPECT_TRUE(Artifact::deserialize(Artifact().serialize()).isOk());
}

TEST(ArtifactTest, RefusesEveryTruncation) {
  const std::vector<std::byte> bytes = sample().serialize();
  for (size_t size = 0; size < bytes.size(); ++size)
    refusal(std::span(bytes).first(size));
  EXPECT_THAT(refusal(std::span(bytes).first(bytes.size() - 1)), HasSubstr("truncated: "));
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THAT(refusal(longer), HasSubstr("1 bytes follow the artifact"));
}

TEST(ArtifactTest, RefusesEveryFlippedByte) {
  const std::vector<std::byte> bytes = sample().serialize();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (std::byte mask : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      std::vector<std::byte> flipped = bytes;
      flipped[i] ^= mask;
      refusal(flipped);
    }
  std::vector<std::byte> flipped = bytes;
  flipped.back() ^= std::byte{1};
  EXPECT_THAT(refusal(flipped), HasSubstr("the checksum does not match: the artifact is corrupt"));
  EXPECT_THAT(refusal(asBytes("something else")), HasSubstr("not a zyx artifact"));
}

/// The sample with something in every field.
Artifact everyField() {
  Artifact a = sample();
  a.inputs[0].isWeight = true;
  a.kernels[0].stackBytes = 4096;
  a.kernels[0].groupThreads = 128;
  a.kernels[0].sharedBytes = 1 << 15;
  a.kernels[0].clusterGroups = 2;
  a.kernels[0].tensorMaps = {{1, 0, 2, {64, 8, 9, 2}, {128, 1024, 9216}, {64, 128}, 128, {-1, 0}, {-2, 1}, {1, 2}}};
  a.kernels[0].waits = true;
  a.kernels[0].bufferBytes = std::vector<uint64_t>(a.kernels[0].numBuffers, 4);
  a.keptSize = 64;
  a.buffers.push_back({BufferKind::Kept, 0, 64});
  a.commands.insert(a.commands.begin(), {Fill{{4, 0}, 64, 7, 8}, {}});
  for (size_t i = 1; i < a.commands.size(); ++i)
    for (uint32_t &wait : a.commands[i].wait)
      ++wait;
  a.numInitCommands = 1;
  a.initSteps = {{1, 64, {1, 2}}};
  return a;
}

std::vector<std::byte> readFixture(const std::string &name) {
  auto bytes = readFile(std::string(ZYX_TEST_INPUTS) + "/" + name);
  EXPECT_TRUE(bytes.isOk()) << bytes.status().toString();
  return bytes ? *bytes : std::vector<std::byte>();
}

std::vector<std::byte> behindProducer(std::span<const std::byte> bytes) {
  ByteReader from(bytes.subspan(checkedOffset));
  from.string("version of zyx");
  return {bytes.end() - static_cast<std::ptrdiff_t>(from.remaining()), bytes.end()};
}

// Each file was written by the zyx that had the version; none is ever written anew.
TEST(ArtifactTest, ReadsEveryVersionSinceTheOldest) {
  for (uint32_t version = oldestFormatVersion; version <= formatVersion; ++version) {
    auto read = Artifact::deserialize(readFixture("version-" + std::to_string(version) + ".zyxa"));
    ASSERT_TRUE(read.isOk()) << version << ": " << read.status().toString();
    Artifact expected = everyField();
    // Said since version 13.
    if (version < 13)
      expected.kernels[0].waits = false;
    // Since version 14.
    if (version < 14)
      expected.kernels[0].bufferBytes.clear();
    EXPECT_EQ(*read, expected) << version;
  }
}

TEST(ArtifactTest, WritesWhatItsVersionHas) {
  ASSERT_TRUE(everyField().verify().isOk()) << everyField().verify().toString();
  const std::vector<std::byte> bytes = everyField().serialize();
  if (const char *file = std::getenv("ZYX_WRITE_ARTIFACT"))
    ASSERT_TRUE(writeFileAtomically(file, bytes).isOk());
  EXPECT_EQ(behindProducer(bytes), behindProducer(readFixture("version-" + std::to_string(formatVersion) + ".zyxa")))
      << "the byte form has changed: raise formatVersion, as docs/artifacts.md says";
}

TEST(ArtifactTest, FindsADamagedVersion) {
  // In front of the checksum, to another one that is read.
  std::vector<std::byte> bytes = everyField().serialize();
  bytes[8] = static_cast<std::byte>(oldestFormatVersion);
  EXPECT_EQ(Artifact::deserialize(bytes).status().code(), ErrorCode::DataCorruption);
  // Behind it, with a right checksum.
  bytes = everyField().serialize();
  const size_t inner = bytes.size() - behindProducer(bytes).size() + sizeof(uint64_t);
  ASSERT_EQ(bytes[inner], static_cast<std::byte>(formatVersion));
  bytes[inner] = static_cast<std::byte>(formatVersion + 1);
  reseal(bytes);
  EXPECT_EQ(refusal(bytes), "a.zyx: the contents have format version " + std::to_string(formatVersion + 1) + ", not " +
                                std::to_string(formatVersion));
}

TEST(ArtifactTest, RefusesOtherVersions) {
  std::vector<std::byte> bytes = sample().serialize();
  bytes[8] = static_cast<std::byte>(oldestFormatVersion - 1);
  EXPECT_THAT(refusal(bytes), HasSubstr("reads versions " + std::to_string(oldestFormatVersion) + " to " +
                                        std::to_string(formatVersion)));
  bytes[8] = static_cast<std::byte>(formatVersion + 1);
  EXPECT_EQ(Artifact::deserialize(bytes).status().code(), ErrorCode::Unsupported);
  EXPECT_THAT(refusal(bytes), HasSubstr("in format version " + std::to_string(formatVersion + 1) + "; zyx "));
}

TEST(ArtifactTest, SurvivesEveryFlippedByteUnderARightChecksum) {
  const std::vector<std::byte> bytes = sample().serialize();
  for (size_t i = checkedOffset; i < bytes.size(); ++i)
    for (std::byte mask : {std::byte{0x01}, std::byte{0x10}, std::byte{0x80}, std::byte{0xff}}) {
      std::vector<std::byte> forged = bytes;
      forged[i] ^= mask;
      reseal(forged);
      Result<Artifact> result = Artifact::deserialize(forged);
      if (result.isOk()) {
        EXPECT_TRUE(result->verify().isOk());
      }
    }
}

/// What is said of the artifact with each of its bytes replaced by 99: the only way to find the places of
/// numbers that are checked.
static std::string messagesOfForged(const Artifact &artifact) {
  const std::vector<std::byte> bytes = artifact.serialize();
  std::string all;
  for (size_t i = checkedOffset; i < bytes.size(); ++i) {
    std::vector<std::byte> forged = bytes;
    forged[i] = std::byte{0x63};
    reseal(forged);
    all += Artifact::deserialize(forged).status().message() + "\n";
  }
  return all;
}

TEST(ArtifactTest, RefusesUnknownNumbersUnderARightChecksum) {
  const std::string all = messagesOfForged(sample());
  EXPECT_THAT(all, HasSubstr("dtype 99 is unknown"));
  EXPECT_THAT(all, HasSubstr("buffer kind 99 is unknown"));
  EXPECT_THAT(all, HasSubstr("command kind 99 is unknown"));
  EXPECT_THAT(all, HasSubstr("a buffer's presence is 99"));
  EXPECT_THAT(all, HasSubstr("whether a kernel waits is 99"));

  // One more byte at the end of the contents, whose size is 8 bytes behind the version's text.
  std::vector<std::byte> forged = sample().serialize();
  const size_t size = checkedOffset + 8 + std::to_integer<size_t>(forged[checkedOffset]);
  forged.push_back(std::byte{0});
  forged[size] = std::byte(std::to_integer<unsigned>(forged[size]) + 1);
  reseal(forged);
  EXPECT_THAT(refusal(forged), HasSubstr("1 bytes follow the contents"));
}

TEST(ArtifactTest, VerifiesArguments) {
  EXPECT_EQ(complaint([](Artifact &a) { a.inputs.push_back(a.inputs[0]); }), "input 'x' exists twice");
  EXPECT_EQ(complaint([](Artifact &a) { a.outputs.push_back(a.outputs[0]); }), "output 'y' exists twice");
  EXPECT_THAT(complaint([](Artifact &a) { a.inputs[0].type.shape = {int64_t(1) << 41}; }),
              HasSubstr("input 'x' is refused: the tensor f32[2199023255552] has 8796093022208"));
}

TEST(ArtifactTest, VerifiesBuffers) {
  EXPECT_EQ(complaint([](Artifact &a) { a.buffers[0].position = 1; }), "buffer 0 names argument 1 of 1");
  EXPECT_EQ(complaint([](Artifact &a) { a.buffers[1].size = 20; }), "buffer 1 has 20 bytes, and its argument 24");
  EXPECT_EQ(complaint([](Artifact &a) { a.buffers[2].position = 8; }), "buffer 2 starts at the unaligned byte 8");
  EXPECT_EQ(complaint([](Artifact &a) { a.arenaSize = 95; }), "buffer 2 spans 32 bytes from byte 64 of 95");
  EXPECT_EQ(complaint([](Artifact &a) { a.buffers[2].size = UINT64_MAX; }),
            "buffer 2 spans 18446744073709551615 bytes from byte 64 of 96");
  EXPECT_EQ(complaint([](Artifact &a) { a.constants.pop_back(); }), "buffer 3 spans 8 bytes from byte 0 of 7");
}

TEST(ArtifactTest, VerifiesKernels) {
  EXPECT_EQ(complaint([](Artifact &a) { a.kernels[0].code = 1; }), "kernel 0 names code blob 1 of 1");
  EXPECT_EQ(complaint([](Artifact &a) { a.kernels[0].symbol = ""; }), "kernel 0 has no valid symbol");
  EXPECT_EQ(complaint([](Artifact &a) { a.kernels[0].symbol = std::string("a\0b", 3); }),
            "kernel 0 has no valid symbol");
  EXPECT_EQ(complaint([](Artifact &a) { a.kernels[0].numWritten = 5; }), "kernel 0 writes 5 of 4 buffers");
  EXPECT_EQ(complaint([](Artifact &a) { a.kernels[0].bufferBytes = {4, 4, 4}; }),
            "kernel 0 says how many bytes it is given of 3 of 4 buffers");
  auto mapped = [](const std::function<void(TensorMap &)> &change) {
    return complaint([&](Artifact &a) {
      TensorMap map{1, 32, 2, {64, 8}, {128}, {64, 8}, 128};
      change(map);
      a.kernels[0].tensorMaps = {map};
    });
  };
  EXPECT_EQ(mapped([](TensorMap &m) { m.buffer = 4; }), "kernel 0 has a tensor map of buffer 4 of 4");
  for (const std::function<void(TensorMap &)> &change : std::vector<std::function<void(TensorMap &)>>{
           [](TensorMap &m) { m.extents.clear(); }, [](TensorMap &m) { m.strides.push_back(64); },
           [](TensorMap &m) { m.box.pop_back(); }, [](TensorMap &m) { m.swizzle = 16; },
           [](TensorMap &m) { m.elementBytes = 8; }, [](TensorMap &m) { m.low = m.high = {0}, m.steps = {1}; },
           [](TensorMap &m) {
             m.extents = {64, 8, 2}, m.strides = {128, 1024};
             m.low = m.high = {0};
           },
           [](TensorMap &m) {
             m.extents = {64, 8, 2}, m.strides = {128, 1024};
             m.low = {0}, m.steps = {1};
           },
           [](TensorMap &m) {
             m.extents.resize(6, 1);
             m.strides.resize(5, 128);
             m.box.resize(6, 1);
           }})
    EXPECT_EQ(mapped(change), "kernel 0 has a tensor map of an unknown form");
}

TEST(ArtifactTest, VerifiesCommands) {
  auto launch = [](const std::function<void(Launch &)> &change) {
    return complaint([&](Artifact &a) { change(std::get<Launch>(a.commands[2].action)); });
  };
  EXPECT_EQ(launch([](Launch &l) { l.kernel = 1; }), "command 2 names kernel 1 of 1");
  EXPECT_EQ(launch([](Launch &l) { l.buffers.pop_back(); }),
            "command 2 passes 3 buffers and 1 scalars to kernel 'kernel of k', which takes 4 and 1");
  EXPECT_THAT(launch([](Launch &l) { l.scalars.clear(); }), HasSubstr("passes 4 buffers and 0 scalars"));
  EXPECT_EQ(launch([](Launch &l) { l.buffers[0].buffer = 4; }), "command 2 names buffer 4 of 4");
  EXPECT_EQ(launch([](Launch &l) { l.buffers[3].offset = 25; }),
            "command 2 uses 0 bytes from byte 25 of buffer 1, which has 24");
  EXPECT_EQ(launch([](Launch &l) { l.grid[1] = -1; }), "command 2 has an impossible grid");
  EXPECT_EQ(launch([](Launch &l) { l.grid = {INT64_MAX, 2, 1}; }), "command 2 has an impossible grid");

  EXPECT_EQ(launch([](Launch &l) { std::swap(l.buffers[0], l.buffers[3]); }),
            "command 2 writes buffer 0, which is only read");

  auto copy = [](const std::function<void(Copy &)> &change) {
    return complaint([&](Artifact &a) { change(std::get<Copy>(a.commands[0].action)); });
  };
  EXPECT_EQ(copy([](Copy &c) { c.size = 25; }), "command 0 uses 25 bytes from byte 0 of buffer 0, which has 24");
  EXPECT_EQ(copy([](Copy &c) { c.destination.offset = 9; }),
            "command 0 uses 24 bytes from byte 9 of buffer 2, which has 32");
  EXPECT_EQ(copy([](Copy &c) { c.destination = {0, 0}; }), "command 0 writes buffer 0, which is only read");
  EXPECT_EQ(copy([](Copy &c) { c = {{2, 0}, {3, 0}, 8}; }), "command 0 writes buffer 3, which is only read");

  auto fill = [](const std::function<void(Fill &)> &change) {
    return complaint([&](Artifact &a) { change(std::get<Fill>(a.commands[1].action)); });
  };
  EXPECT_EQ(fill([](Fill &f) { f.patternSize = 3; }), "command 1 fills 16 bytes with a pattern of 3");
  EXPECT_EQ(fill([](Fill &f) { f.size = 6; }), "command 1 fills 6 bytes with a pattern of 4");
  EXPECT_EQ(fill([](Fill &f) { f.size = 20; }), "command 1 uses 20 bytes from byte 8 of buffer 1, which has 24");

  EXPECT_EQ(complaint([](Artifact &a) { a.commands[1].wait = {1}; }),
            "command 1 waits for command 1, which is not earlier");
}

/// The sample behind an init: the weight w is copied to what is kept.
void addInit(Artifact &a) {
  a.inputs.push_back({"w", {DType::F32, {2}}, true});
  a.buffers.push_back({BufferKind::Input, 1, 8});
  a.buffers.push_back({BufferKind::Kept, 64, 8});
  a.keptSize = 72;
  for (Command &command : a.commands)
    for (uint32_t &earlier : command.wait)
      ++earlier;
  a.commands.insert(a.commands.begin(), {Copy{{4, 0}, {5, 0}, 8}, {}});
  a.numInitCommands = 1;
}

TEST(ArtifactTest, VerifiesTheInit) {
  Artifact a = sample();
  addInit(a);
  ASSERT_TRUE(a.verify().isOk()) << a.verify().toString();
  auto back = Artifact::deserialize(a.serialize());
  ASSERT_TRUE(back.isOk()) << back.status().toString();
  EXPECT_EQ(*back, a);

  auto init = [](const std::function<void(Artifact &)> &change) {
    return complaint([&](Artifact &a) {
      addInit(a);
      change(a);
    });
  };
  EXPECT_EQ(init([](Artifact &a) { a.outputs[0].isWeight = true; }), "output 'y' is a weight");
  EXPECT_EQ(init([](Artifact &a) { a.keptSize = 71; }), "buffer 5 spans 8 bytes from byte 64 of 71");
  EXPECT_EQ(init([](Artifact &a) { a.numInitCommands = 9; }), "the init has 9 of 8 commands");
  EXPECT_EQ(init([](Artifact &a) { a.inputs[1].isWeight = false; }),
            "command 0 is of the init, and uses buffer 4, which is no weight and not kept");
  EXPECT_EQ(init([](Artifact &a) { a.commands[0].action = Fill{{1, 0}, 4, 0, 4}; }),
            "command 0 is of the init, and uses buffer 1, which is no weight and not kept");
  EXPECT_EQ(init([](Artifact &a) { a.numInitCommands = 0; }), "command 0 writes buffer 5, which only the init writes");
  EXPECT_EQ(init([](Artifact &a) { a.commands[1].wait = {0}; }), "command 1 waits for command 0, which is of the init");
  EXPECT_EQ(init([](Artifact &a) {
              a.commands[0].action = Loop{1, 1, {}, {}};
              a.commands[1].action = Copy{{4, 0}, {2, 0}, 8};
            }),
            "command 1 is in a loop of which a part is of the init");

  const std::string all = messagesOfForged(a);
  EXPECT_THAT(all, HasSubstr("whether an argument is a weight is 99"));
}

TEST(ArtifactTest, VerifiesTheStepsOfTheInit) {
  // A second step fills 64 bytes behind those of the first one.
  auto add = [](Artifact &a) {
    addInit(a);
    a.buffers.push_back({BufferKind::Kept, 128, 64});
    a.keptSize = 192;
    for (Command &command : a.commands)
      for (uint32_t &earlier : command.wait)
        ++earlier;
    a.commands.insert(a.commands.begin() + 1, {Fill{{6, 0}, 64, 0, 4}, {}});
    a.numInitCommands = 2;
    a.initSteps = {{1, 128, {1, 2}}, {1, 64, {3, 4}}};
  };
  Artifact a = sample();
  add(a);
  ASSERT_TRUE(a.verify().isOk()) << a.verify().toString();
  EXPECT_EQ(*Artifact::deserialize(a.serialize()), a);
  auto steps = [&](const std::function<void(Artifact &)> &change) {
    return complaint([&](Artifact &a) {
      add(a);
      change(a);
    });
  };
  EXPECT_EQ(steps([](Artifact &a) { a.initSteps[1].numCommands = 0; }), "step 1 of the init has no command");
  EXPECT_EQ(steps([](Artifact &a) { a.initSteps[1].numCommands = 2; }),
            "the steps of the init have 3 of 2 commands and 192 of 192 kept bytes");
  EXPECT_EQ(steps([](Artifact &a) { a.initSteps.pop_back(); }),
            "the steps of the init have 1 of 2 commands and 128 of 192 kept bytes");
  EXPECT_EQ(steps([](Artifact &a) { a.initSteps[1].keptSize = UINT64_MAX; }),
            "step 1 of the init keeps 18446744073709551615 of the 64 bytes behind the steps before");
  EXPECT_EQ(steps([](Artifact &a) { a.initSteps = {{1, 72, {}}, {1, 120, {}}}; }),
            "step 0 of the init ends its kept bytes at the unaligned byte 72");
  EXPECT_EQ(steps([](Artifact &a) { a.initSteps = {{1, 64, {}}, {1, 128, {}}}; }),
            "command 0 is of step 0 of the init, and uses buffer 5, which another step keeps");
  EXPECT_EQ(steps([](Artifact &a) { a.buffers[5] = {BufferKind::Kept, 64, 72}; }),
            "buffer 5 is kept by two steps of the init");
  // What is the same in two programs must be known from the step alone.
  EXPECT_EQ(steps([](Artifact &a) { a.commands[1].action = Copy{{5, 0}, {6, 0}, 8}; }),
            "command 1 is of step 1 of the init, and uses buffer 5, which another step keeps");
  EXPECT_EQ(steps([](Artifact &a) { a.commands[1].action = Copy{{2, 0}, {6, 0}, 4}; }),
            "command 1 is of step 1 of the init, and reads buffer 2, which no command of the step has written before");
  EXPECT_EQ(steps([](Artifact &a) {
              a.commands[0].action = Loop{1, 1, {}, {}};
              a.commands[1].action = Copy{{4, 0}, {5, 0}, 8};
            }),
            "command 1 is in a loop of which a part is of another step of the init");
  // A run reads all that is kept.
  a.commands[2].action = Copy{{6, 0}, {1, 0}, 24};
  EXPECT_TRUE(a.verify().isOk()) << a.verify().toString();
}

TEST(ArtifactTest, VerifiesLoops) {
  auto loop = [](const std::function<void(Loop &)> &change) {
    return complaint([&](Artifact &a) { change(std::get<Loop>(a.commands[3].action)); });
  };
  EXPECT_EQ(loop([](Loop &l) {
              l.count.reset();
              l.trips = tripsAreWhile;
            }),
            "command 3 runs its body -1 times");
  EXPECT_EQ(loop([](Loop &l) { l.trips = -2; }), "command 3 runs its body -2 times");
  EXPECT_EQ(loop([](Loop &l) {
              l.trips = tripsAreWhile;
              l.count = BufferRef{3, 8};
            }),
            "command 3 uses 1 bytes from byte 8 of buffer 3, which has 8");
  EXPECT_EQ(loop([](Loop &l) { l.body = 4; }), "command 3 loops over 4 of the 3 commands behind it");
  EXPECT_EQ(loop([](Loop &l) { l.count = BufferRef{3, 1}; }),
            "command 3 uses 8 bytes from byte 1 of buffer 3, which has 8");
  EXPECT_EQ(loop([](Loop &l) { l.index = BufferRef{3, 0}; }), "command 3 writes buffer 3, which is only read");
  EXPECT_EQ(complaint([](Artifact &a) { std::get<Loop>(a.commands[4].action).body = 2; }),
            "command 4 loops over 2 of the 1 commands behind it");
  EXPECT_EQ(complaint([](Artifact &a) { a.commands[5].wait = {0}; }),
            "command 5 waits for command 0, which is in another loop or body");
  EXPECT_EQ(complaint([](Artifact &a) { a.commands[6].wait = {4}; }),
            "command 6 waits for command 4, which is in another loop or body");
  EXPECT_EQ(complaint([](Artifact &a) {
              a.commands.clear();
              for (uint32_t i = 0; i < 65; ++i)
                a.commands.push_back({Loop{64 - i, 1, {}, {}}, {}});
            }),
            "command 64 is a loop inside of 64 others");
}

TEST(ArtifactTest, LoopsHaveSeveralBodies) {
  // A loop of three commands, of which the last two are another loop: bodies of one command and of two.
  auto change = [](const std::function<void(Artifact &, Loop &)> &more) {
    return [=](Artifact &a) {
      auto &loop = std::get<Loop>(a.commands[3].action);
      loop.body = 3;
      loop.bodies = {1, 2};
      a.commands.resize(4);
      a.commands.push_back({Fill{{2, 0}, 4, 0, 4}, {}});
      a.commands.push_back({Loop{1, 2, {}, {}}, {}});
      a.commands.push_back({Fill{{2, 0}, 4, 0, 4}, {}});
      more(a, std::get<Loop>(a.commands[3].action));
    };
  };
  Artifact a = sample();
  change([](Artifact &, Loop &) {})(a);
  ASSERT_TRUE(a.verify().isOk()) << a.verify().toString();
  auto back = Artifact::deserialize(a.serialize());
  ASSERT_TRUE(back.isOk()) << back.status().toString();
  EXPECT_EQ(*back, a);

  EXPECT_EQ(complaint(change([](Artifact &, Loop &loop) { loop.bodies = {1, 1}; })),
            "command 3 has 3 commands, and its bodies 2");
  EXPECT_EQ(complaint(change([](Artifact &, Loop &loop) { loop.bodies.assign(65, 0); })),
            "command 3 has 65 bodies; 64 are the most");
  EXPECT_EQ(complaint(change([](Artifact &, Loop &loop) { loop.bodies = {2, 1}; })),
            "command 5 loops over 1 of the 0 commands behind it");
  EXPECT_EQ(complaint(change([](Artifact &a, Loop &) { a.commands[5].wait = {4}; })),
            "command 5 waits for command 4, which is in another loop or body");
}

/// A file with holes whose start tells the truth of its size.
TEST(ArtifactTest, AFileIsNotReadWhereThereIsNoMemoryForIt) {
  std::string bytes;
  for (std::byte byte : sample().serialize())
    bytes += static_cast<char>(byte);
  // Behind the version of zyx stands the size of the contents, which end the file.
  const uint64_t all = uint64_t(1) << 43;
  size_t at = bytes.size();
  for (size_t i = 0; i + 8 <= bytes.size() && at == bytes.size(); ++i) {
    uint64_t number;
    std::memcpy(&number, bytes.data() + i, 8);
    if (number == bytes.size() - i - 8)
      at = i;
  }
  ASSERT_LT(at, bytes.size());
  const uint64_t contents = all - at - 8;
  std::memcpy(bytes.data() + at, &contents, 8);
  TemporaryPath path("large.zyxa");
  writeBytes(path, bytes);
  ASSERT_EQ(::truncate(path.path.c_str(), static_cast<off_t>(all)), 0);
  const Status status = artifact::readFile(*ReadOnlyFile::open(path)).status();
  EXPECT_EQ(status.code(), ErrorCode::OutOfMemory) << status.toString();
  EXPECT_THAT(status.message(), HasSubstr("large.zyxa: needs 8796093022208 bytes"));
}

} // namespace

TEST(ArtifactTest, BakesInputs) {
  const Artifact before = sample();
  const std::vector<std::vector<std::byte>> values(1, std::vector<std::byte>(24, std::byte{7}));
  const Artifact baked = *bake(before, values);
  EXPECT_TRUE(baked.inputs.empty());
  EXPECT_EQ(baked.buffers[0].kind, BufferKind::Constant);
  EXPECT_EQ(baked.buffers[0].position, alignment);
  EXPECT_EQ(baked.constants.size(), alignment + 24);
  EXPECT_EQ(baked.constants[7], std::byte{5});
  EXPECT_EQ(baked.constants[alignment], std::byte{7});
  EXPECT_TRUE(baked.verify().isOk());
  EXPECT_EQ(*bake(before, {}), before);
  const std::vector<std::vector<std::byte>> small(1), many(2);
  EXPECT_EQ(bake(before, small).status().message(), "bake: the value of input 'x' has 0 bytes");
  EXPECT_EQ(bake(before, many).status().message(), "bake: 2 values, and 1 inputs");
}

TEST(ArtifactTest, PrintsC) {
  Artifact program = sample();
  EXPECT_THAT(printCSource(program).status().message(),
              HasSubstr("a program with code in format 'elf-so' is no C source"));
  program.code[0].format = "c";
  const std::string text = *printCSource(program);
  for (const char *part :
       {"unsigned char zyx_constants[8] =\n  \"\\005\\005\\005\\005\\005\\005\\005\\005\";",
        "memmove(b[2] + 8, b[0] + 0, 24);", "zyx_fill(b[1] + 8, 16, UINT64_C(1065353216), 4);",
        "void *const buffers[] = {b[0] + 0, b[3] + 0, b[2] + 0, b[1] + 0};", "const int64_t scalars[] = {INT64_C(-7)};",
        "k(&args, 0, INT64_C(6));", "int64_t passes1 = INT64_C(5);", "memcpy(b[2] + 0, &pass1, sizeof(pass1));",
        "memcpy(&passes3, b[3] + 0, sizeof(passes3));", "int zyx_main(const float *x, float *y) {"})
    EXPECT_THAT(text, HasSubstr(part));
  for (const char *name : {"while", "zyx_run", "two words", "_name", "1st", "", "log", "sinf", "free", "isnan"}) {
    program.entry = name;
    EXPECT_THAT(printCSource(program).status().message(), HasSubstr("is no name that a function of C may have"));
  }
  // Names that C has not are those of places.
  program.entry = "f";
  program.inputs[0].name = "while";
  program.outputs[0].name = "f";
  EXPECT_THAT(*printCSource(program), HasSubstr("int f(const float *in0, float *out0) {"));
}
