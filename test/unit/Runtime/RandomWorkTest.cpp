//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Random work on several devices and queues, ordered by the points that buffers keep: with nothing
/// else happening, with work that fails, with devices that are lost, and with a wait left out.
#include "RandomOrder.h"
#include "zyx/Runtime/Buffer.h"

#include <cstring>

using namespace zyx;
using namespace zyx::runtime;

namespace {

using Values = std::vector<uint64_t>;

/// What a piece of work makes of what it reads.
Values compute(uint64_t seed, const std::vector<Values> &read, size_t size) {
  uint64_t hash = seed;
  for (const Values &values : read)
    for (uint64_t value : values)
      hash = Random{hash ^ value}.next();
  Values values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = hash + i;
  return values;
}

struct Piece {
  std::vector<size_t> reads, writes;
  uint64_t seed = 0;
  Point done;
};

enum class Trouble { None, FailedWork, LostDevice, LeftOutWait };

class RandomWork {
public:
  RandomWork(uint64_t seed, Trouble trouble) : random{seed * 4 + 1}, trouble(trouble) {
    options.seed = seed;
    options.devices = 1 + static_cast<unsigned>(random.below(3));
    options.queues = 1 + static_cast<unsigned>(random.below(4));
    options.lanes = 1 + static_cast<unsigned>(random.below(3));
    options.maxLatency = 1 + random.below(500);
  }

  /// Whether the trouble came about.
  bool wasTroubled() const { return troubled; }

  void run() {
    auto created = Simulation::create(options);
    ASSERT_TRUE(created.isOk());
    simulation = std::move(*created);
    makeBuffers();
    // Time passes during some submissions, and not where the races must be known exactly.
    const bool held = trouble == Trouble::LeftOutWait || random.oneIn(2);
    if (held)
      simulation->hold();
    const size_t numPieces = 2 + random.below(30);
    leftOut = random.below(numPieces);
    const unsigned device = static_cast<unsigned>(random.below(options.devices));
    if (trouble == Trouble::FailedWork)
      simulation->failWork(device, 1 + random.below(numPieces));
    if (trouble == Trouble::LostDevice)
      simulation->loseDevice(device, 1 + random.below(numPieces));
    for (size_t i = 0; i < numPieces; ++i)
      submit(i);
    simulation->release();
    ASSERT_TRUE(gate.timeline->signal(1).isOk());
    check();
    pieces.clear();
    buffers.clear();
    for (unsigned i = 0; i < options.devices; ++i)
      EXPECT_EQ(simulation->device(i)->pool()->usage().inUse, 0u);
  }

private:
  void makeBuffers() {
    const size_t count = 2 + random.below(6);
    for (size_t i = 0; i < count; ++i) {
      const auto device = static_cast<unsigned>(random.below(options.devices));
      Values values(1 + random.below(4));
      for (uint64_t &value : values)
        value = random.next();
      auto buffer = Buffer::allocate(simulation->device(device)->pool(), values.size() * sizeof(uint64_t));
      ASSERT_TRUE(buffer.isOk());
      ASSERT_TRUE((*buffer)->write(std::as_bytes(std::span(values))).isOk());
      buffers.push_back(*buffer);
      owners.push_back(device);
      initial.push_back(std::move(values));
    }
  }

  Access access(size_t buffer, bool isWrite) const {
    const uint64_t begin = buffers[buffer]->handle();
    return {begin, begin + buffers[buffer]->size(), isWrite};
  }

  void submit(size_t index) {
    Piece piece;
    Work work;
    work.name = "work " + std::to_string(index);
    piece.seed = random.next();
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (random.oneIn(3))
        piece.reads.push_back(i);
      if (random.oneIn(4))
        piece.writes.push_back(i);
    }
    for (size_t i : piece.reads) {
      buffers[i]->beforeRead(work.wait);
      work.accesses.push_back(access(i, false));
    }
    for (size_t i : piece.writes) {
      buffers[i]->beforeWrite(work.after);
      work.accesses.push_back(access(i, true));
    }
    std::erase_if(work.wait, [](const Point &point) { return !point.timeline; });
    if (trouble == Trouble::LeftOutWait && index >= leftOut && !isLeftOut) {
      auto &points = !work.after.empty() && (work.wait.empty() || random.oneIn(2)) ? work.after : work.wait;
      if (!points.empty()) {
        points.erase(points.begin() + static_cast<std::ptrdiff_t>(random.below(points.size())));
        isLeftOut = true;
      }
    }
    std::vector<size_t> before;
    for (const std::vector<Point> *points : {&work.wait, &work.after})
      for (const Point &point : *points)
        for (size_t i = 0; i < pieces.size(); ++i)
          if (pieces[i].done.timeline == point.timeline)
            before.push_back(i);
    order.add(work.name, work.accesses, before);
    if (trouble != Trouble::LeftOutWait && random.oneIn(8))
      work.wait.push_back(gate);

    work.body = [this, reads = piece.reads, writes = piece.writes, seed = piece.seed] {
      std::vector<Values> read;
      for (size_t i : reads)
        read.push_back(valuesAt(i));
      for (size_t i : writes) {
        const Values made = compute(seed, read, initial[i].size());
        std::memcpy(reinterpret_cast<void *>(buffers[i]->handle()), made.data(), made.size() * sizeof(uint64_t));
      }
      return Status::ok();
    };
    piece.done = work.signal = {std::make_shared<Timeline>(), 1};
    for (size_t i : piece.reads)
      buffers[i]->noteRead(piece.done);
    for (size_t i : piece.writes)
      buffers[i]->noteWrite(piece.done);
    pieces.push_back(piece);
    simulation
        ->queue(static_cast<unsigned>(random.below(options.devices)),
                static_cast<unsigned>(random.below(options.queues)))
        .submit(std::move(work));
  }

  Values valuesAt(size_t buffer) const {
    Values values(initial[buffer].size());
    std::memcpy(values.data(), reinterpret_cast<const void *>(buffers[buffer]->handle()),
                values.size() * sizeof(uint64_t));
    return values;
  }

  void check() {
    for (const Piece &piece : pieces) {
      // Seconds are for a machine that is busy; a hang is one that never ends.
      const Status status = piece.done.wait(std::chrono::steady_clock::now() + std::chrono::seconds(60));
      ASSERT_NE(status.code(), ErrorCode::Timeout);
      expectCause(status);
    }
    simulation->waitIdle();
    const SimulationCounts counts = simulation->counts();
    EXPECT_EQ(counts.submitted, pieces.size());
    EXPECT_EQ(counts.succeeded + counts.failed, pieces.size());
    if (trouble == Trouble::LeftOutWait) {
      expectRaces(*simulation, order);
      troubled = !simulation->races().empty();
      return;
    }
    for (const Race &race : simulation->races())
      ADD_FAILURE() << race.toString();
    troubled = counts.failed != 0;
    EXPECT_FALSE(trouble == Trouble::None && troubled);
    checkValues();
  }

  /// The first of the chain is what was asked for.
  void expectCause(Status status) const {
    if (status.isOk())
      return;
    while (!status.cause().isOk())
      status = status.cause();
    EXPECT_EQ(status.message(), trouble == Trouble::FailedWork ? "the work was told to fail" : "the device was lost");
    EXPECT_TRUE(status.where().starts_with("work "));
  }

  /// What the work that succeeded makes, one after the other; a buffer whose last writer failed has
  /// no value.
  void checkValues() {
    std::vector<Values> values = initial;
    std::vector<bool> valid(buffers.size(), true);
    for (const Piece &piece : pieces) {
      const bool succeeded = piece.done.isReached();
      std::vector<Values> read;
      for (size_t i : piece.reads) {
        EXPECT_TRUE(valid[i] || !succeeded);
        read.push_back(values[i]);
      }
      for (size_t i : piece.writes) {
        valid[i] = succeeded;
        values[i] = compute(piece.seed, read, values[i].size());
      }
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      Values read(values[i].size());
      const Status status = buffers[i]->read(std::as_writable_bytes(std::span(read)));
      const bool isLost =
          !simulation->device(owners[i])->pool()->address({buffers[i]->handle(), buffers[i]->size()}, 0, 0).isOk();
      EXPECT_EQ(status.isOk(), valid[i] && !isLost) << status.toString();
      if (status.isOk())
        EXPECT_EQ(read, values[i]);
      else
        expectCause(status);
    }
  }

  Random random;
  Trouble trouble;
  SimulationOptions options;
  std::unique_ptr<Simulation> simulation;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<unsigned> owners;
  std::vector<Values> initial;
  std::vector<Piece> pieces;
  Order order;
  size_t leftOut = 0;
  bool isLeftOut = false, troubled = false;
  Point gate{std::make_shared<Timeline>(), 1};
};

void runAll(Trouble trouble) {
  const uint64_t count = numGraphs(500);
  uint64_t numTroubled = 0;
  for (uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWork work(seed, trouble);
    work.run();
    numTroubled += work.wasTroubled();
  }
  if (trouble != Trouble::None)
    EXPECT_GT(numTroubled, count / 4);
}

TEST(RandomWorkTest, IsOrderedByBuffers) { runAll(Trouble::None); }
TEST(RandomWorkTest, SurvivesWorkThatFails) { runAll(Trouble::FailedWork); }
TEST(RandomWorkTest, SurvivesLostDevices) { runAll(Trouble::LostDevice); }
TEST(RandomWorkTest, EveryWaitThatIsMissedIsReported) { runAll(Trouble::LeftOutWait); }

} // namespace
