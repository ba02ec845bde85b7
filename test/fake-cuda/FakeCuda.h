//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A driver of CUDA over the host's memory, for tests on machines without a card. Work that is handed to a
// stream is done when somebody waits for it and not before, so that whoever does not wait sees it; another stream
// may be who waits. What is done on a device needs its context to be the thread's, and memory that it reaches. It keeps
// count of what it gave out, and fails when it is told to.
//
// Kernels that are PTX are executed by an interpreter (ptx/Machine.h), unless FAKE_CUDA_EXECUTE=0 is in the
// environment; cubins do nothing. Others are known by the beginning of their names: "increment" writes int32 elements
// that are larger by one than those it reads, one for each program; "mapped" does the same, and finds what it reads in
// a tensor map that it has in front; "trap" loses the device; others do nothing.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_FAKECUDA_H
#define ZYX_TEST_FAKECUDA_FAKECUDA_H

#include <cstdint>

struct FakeCuda {
  // What it says that it is.
  int version = 13000, devices = 1, capability = 90, kilohertz = 1980000, processors = 4;
  uint64_t memoryBytes = uint64_t(1) << 30;
  /// Of which other processes have so many.
  uint64_t othersBytes = 0;

  // Faults: the n-th call from now on, from 1, says so; 0 for none.
  int failAllocation = 0, failLaunch = 0, failPinned = 0, failGraph = 0, failPeerCopy = 0, failAccess = 0, failWait = 0,
      failQuestion = 0;
  /// Streams cannot be held back.
  bool hasNoGates = false;
  /// So many allocations may be alive, or any number where it is negative.
  int room = -1;
  /// Once a piece of work that has this number from now on is done, its device is lost.
  int loseAtWork = 0;
  /// Cards reach each other's memory where they are allowed to.
  bool arePeers = true;
  /// No call of a graph succeeds.
  bool hasNoGraphs = false;
  /// Waiting takes so many milliseconds more.
  int slowness = 0;
  /// Bytes by which memory that is given out is not aligned.
  int shift = 0;
  /// A launch waits until the word is set for which a stream waits.
  bool launchesWait = false;
  /// Other than 0: commands of a graph that no edge orders are done in a random order, else the last that may go is the
  /// first.
  uint64_t graphSeed = 0;
  /// What cuInit says: 100 is "no device".
  int initCode = 0;

  // What is alive.
  int allocations = 0, pinned = 0, modules = 0, streams = 0, events = 0, contexts = 0, graphs = 0, pools = 0;
  // What has happened.
  int launches = 0, fills = 0, uploads = 0, allocated = 0, trims = 0, tensorMaps = 0, graphLaunches = 0,
      graphUpdates = 0, peerCopies = 0;
  /// Edges of graphs that were made, and those of them behind which a kernel begins early.
  int edges = 0, earlyEdges = 0;
  /// Waits of a stream for another device, and those of them for work that was not over.
  int eventWaits = 0, earlyWaits = 0;
  /// Times that memory was used before the stream on which it was allocated was there, or after it was free.
  int unordered = 0;
  /// Bytes that went from a device to the host or back.
  uint64_t hostBytes = 0;
  /// Waits for a value, and those of them that nobody would have ended.
  int gates = 0, stuck = 0;
  uint64_t lastThreads = 0, lastGroups = 0;
  /// Of the last text that was loaded, "sm_75".
  char lastTarget[16] = {};
  /// Of the last map of pixels, the innermost dimension first.
  int lastLow[3] = {}, lastHigh[3] = {};
  unsigned lastSteps[3] = {};
};

/// The one of this library.
extern "C" FakeCuda *zyxFakeCuda();
/// As if it had just been loaded; whatever is alive is forgotten.
extern "C" void zyxFakeCudaReset();
/// Until the next call with 0, the host waits for ever where a launch, or what waits for one, is not over. What is on
/// other streams goes on. Says how many such waits there were since the last call; -1 asks for no more than that.
extern "C" int zyxFakeCudaHoldRuns(int areHeld);
/// The device of the calling thread's context, -1 for none; and how many contexts the thread has been given.
extern "C" int zyxFakeCudaCurrent();
extern "C" int zyxFakeCudaDepth();
/// Waits of streams so far, while others may be at work.
extern "C" int zyxFakeCudaEarlyWaits();
/// `failAllocation` as it is now, likewise.
extern "C" int zyxFakeCudaAllocationFaults();

#endif // ZYX_TEST_FAKECUDA_FAKECUDA_H
