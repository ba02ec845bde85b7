//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CommandOrder.h"

#include <algorithm>
#include <functional>
#include <iterator>

using namespace zyx::runtime;

static constexpr size_t wordBits = 64;

void CommandOrder::cutAt(uint64_t address) {
  auto after = pieces.upper_bound(address);
  if (after == pieces.begin())
    return;
  const auto piece = std::prev(after);
  if (piece->first == address || piece->second.end <= address)
    return;
  Piece rest = piece->second;
  piece->second.end = address;
  pieces.emplace_hint(after, address, rest);
}

std::map<uint64_t, CommandOrder::Piece>::iterator CommandOrder::cut(uint64_t begin, uint64_t end) {
  cutAt(begin);
  cutAt(end);
  // Nobody has touched what lies between pieces.
  uint64_t at = begin;
  for (auto piece = pieces.lower_bound(begin); at < end; at = piece->second.end, ++piece)
    if (piece == pieces.end() || piece->first > at)
      piece = pieces.emplace_hint(piece, at, Piece{piece == pieces.end() ? end : std::min(piece->first, end)});
  return pieces.lower_bound(begin);
}

std::span<const size_t> CommandOrder::add(std::span<const Touch> touches) {
  const size_t command = reached.size();
  behind.clear();
  for (const Touch &touch : touches) {
    if (touch.begin >= touch.end)
      continue;
    for (auto piece = cut(touch.begin, touch.end); piece != pieces.end() && piece->first < touch.end; ++piece) {
      if (piece->second.writer != none)
        behind.push_back(piece->second.writer);
      // Of a list that another piece shares the rest is there already.
      for (size_t reader = piece->second.readers; touch.isWritten && reader != none && readers[reader].asked != command;
           reader = readers[reader].next) {
        behind.push_back(readers[reader].command);
        readers[reader].asked = command;
      }
      if (!touch.isWritten) {
        readers.push_back({command, piece->second.readers, none});
        piece->second.readers = readers.size() - 1;
      }
    }
  }
  // Behind all that it reads, of which it may write some.
  for (const Touch &touch : touches)
    if (touch.isWritten && touch.begin < touch.end) {
      auto piece = cut(touch.begin, touch.end);
      while (piece != pieces.end() && piece->first < touch.end)
        piece = pieces.erase(piece);
      pieces.emplace_hint(piece, touch.begin, Piece{touch.end, command});
    }
  reduce(command);
  return behind;
}

void CommandOrder::reduce(size_t command) {
  std::ranges::sort(behind, std::greater<>());
  std::vector<uint64_t> &mine = reached.emplace_back(command / wordBits + 1);
  // Whoever is behind another one has a larger number: what a later one reaches is known before an earlier one comes.
  size_t count = 0;
  for (const size_t other : behind) {
    const uint64_t bit = uint64_t(1) << other % wordBits;
    if (other == command || (mine[other / wordBits] & bit) != 0)
      continue;
    mine[other / wordBits] |= bit;
    for (size_t i = 0; i < reached[other].size(); ++i)
      mine[i] |= reached[other][i];
    behind[count++] = other;
  }
  behind.resize(count);
}
