//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What optimizers do, one number at a time in f64, from the papers' formulas alone. No part of zyx is in it.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_OPTIM_TRAJECTORIES_H
#define ZYX_TEST_UNIT_OPTIM_TRAJECTORIES_H

#include <functional>
#include <string>
#include <vector>

namespace trajectories {

/// The gradient of scale / 2 (w - goal)^2 + 0.1 sin(w).
double slope(double w, double scale, double goal);
/// w after each of the steps by the optimizer of this name (see the source) with these learning rates.
std::vector<double> follow(const std::string &optimizer, double w, double scale, double goal,
                           const std::vector<double> &rates);

/// Adafactor with decay -0.8, floor 1e-3, clip 0.9 and weight decay 0.1 on rows of so many elements; one row of a
/// vector (isMatrix = false) has all moments. All elements after each step.
std::vector<std::vector<double>> followAdafactor(std::vector<double> w, size_t width, bool isMatrix, double scale,
                                                 double goal, const std::vector<double> &rates);

} // namespace trajectories

#endif // ZYX_TEST_UNIT_OPTIM_TRAJECTORIES_H
