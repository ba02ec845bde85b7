//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/PendingUpdate.h"

#include "State.h"

using namespace zyx;

PendingUpdate::PendingUpdate() : contents(std::make_shared<Contents>()) {}

PendingUpdate::End PendingUpdate::end() const {
  const std::shared_ptr<detail::State> state = contents->state.lock();
  return state ? state->look([&] { return contents->end; }) : contents->end;
}

void PendingUpdate::keep(std::shared_ptr<const void> value) const {
  if (const std::shared_ptr<detail::State> state = contents->state.lock())
    state->look([&] {
      if (contents->end != End::Good)
        contents->kept.push_back(std::move(value));
    });
}

void PendingUpdate::replacesBy(const Tensor &next) const {
  if (const std::shared_ptr<detail::State> state = contents->state.lock())
    state->noteReplacement(*contents, next);
}

bool PendingUpdate::isTold() const {
  const std::shared_ptr<detail::State> state = contents->state.lock();
  return state && state->look([&] { return contents->failure && contents->failure->isTold; });
}

Status PendingUpdate::takeFailure() const {
  const std::shared_ptr<detail::State> state = contents->state.lock();
  return state ? state->look([&] { return contents->failure->tell(); }) : Status::ok();
}
