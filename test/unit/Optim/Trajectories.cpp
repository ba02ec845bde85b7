//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Trajectories.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

double trajectories::slope(double w, double scale, double goal) { return scale * (w - goal) + 0.1 * std::cos(w); }

std::vector<double> trajectories::follow(const std::string &optimizer, double w, double scale, double goal,
                                         const std::vector<double> &rates) {
  std::vector<double> path;
  double velocity = 0, first = 0, second = 0, average = 0, greatest = 0, power1 = 1, power2 = 1;
  for (size_t i = 0; i < rates.size(); ++i) {
    const double rate = rates[i];
    double g = slope(w, scale, goal);
    if (optimizer == "sgd") {
      w -= rate * g;
    } else if (optimizer == "sgd momentum") {
      // momentum 0.9, dampening 0.3, weight decay 0.02
      g += 0.02 * w;
      velocity = i == 0 ? g : 0.9 * velocity + 0.7 * g;
      w -= rate * velocity;
    } else if (optimizer == "sgd nesterov") {
      // momentum 0.8
      velocity = i == 0 ? g : 0.8 * velocity + g;
      w -= rate * (g + 0.8 * velocity);
    } else if (optimizer.starts_with("adam")) {
      // beta 0.9 and 0.95, epsilon 1e-6, weight decay 0.05; by amsgrad the second beta is 0.5, so that moments fall
      const bool isGreatest = optimizer.ends_with("amsgrad");
      const double beta2 = isGreatest ? 0.5 : 0.95;
      if (optimizer.starts_with("adamw"))
        w -= rate * 0.05 * w;
      else
        g += 0.05 * w;
      power1 *= 0.9;
      power2 *= beta2;
      first = 0.9 * first + 0.1 * g;
      second = beta2 * second + (1 - beta2) * g * g;
      greatest = std::max(greatest, second);
      w -= rate * (first / (1 - power1)) / (std::sqrt((isGreatest ? greatest : second) / (1 - power2)) + 1e-6);
    } else if (optimizer == "rmsprop") {
      // alpha 0.9, epsilon 1e-4
      second = 0.9 * second + 0.1 * g * g;
      w -= rate * g / (std::sqrt(second) + 1e-4);
    } else if (optimizer == "rmsprop centered") {
      // alpha 0.9, epsilon 1e-2, weight decay 0.01, momentum 0.5
      g += 0.01 * w;
      second = 0.9 * second + 0.1 * g * g;
      average = 0.9 * average + 0.1 * g;
      velocity = 0.5 * velocity + g / (std::sqrt(second - average * average) + 1e-2);
      w -= rate * velocity;
    } else if (optimizer == "lion") {
      // beta 0.9 and 0.8, weight decay 0.1
      const double direction = 0.9 * first + 0.1 * g;
      w -= rate * ((direction > 0) - (direction < 0) + 0.1 * w);
      first = 0.8 * first + 0.2 * g;
    } else {
      std::abort();
    }
    path.push_back(w);
  }
  return path;
}

static double rootMeanSquare(const std::vector<double> &x) {
  double sum = 0;
  for (double element : x)
    sum += element * element;
  return std::sqrt(sum / double(x.size()));
}

std::vector<std::vector<double>> trajectories::followAdafactor(std::vector<double> w, size_t width, bool isMatrix,
                                                               double scale, double goal,
                                                               const std::vector<double> &rates) {
  std::vector<std::vector<double>> path;
  const size_t height = w.size() / width;
  std::vector<double> rows(height), columns(width), moments(w.size());
  for (size_t step = 0; step < rates.size(); ++step) {
    const double t = double(step + 1), fresh = std::pow(t, -0.8);
    std::vector<double> move(w.size());
    for (size_t i = 0; i < w.size(); ++i)
      move[i] = slope(w[i], scale, goal);
    double ofRows = 0;
    for (size_t row = 0; row < height; ++row) {
      double sum = 0;
      for (size_t column = 0; column < width; ++column)
        sum += move[row * width + column] * move[row * width + column];
      rows[row] += fresh * (sum / double(width) - rows[row]);
      ofRows += rows[row] / double(height);
    }
    for (size_t column = 0; column < width; ++column) {
      double sum = 0;
      for (size_t row = 0; row < height; ++row)
        sum += move[row * width + column] * move[row * width + column];
      columns[column] += fresh * (sum / double(height) - columns[column]);
    }
    for (size_t i = 0; i < w.size(); ++i) {
      moments[i] += fresh * (move[i] * move[i] - moments[i]);
      move[i] /= std::sqrt(isMatrix ? rows[i / width] * columns[i % width] / ofRows : moments[i]);
    }
    const double pace = std::fmin(rates[step], 1 / std::sqrt(t)) * std::fmax(1e-3, rootMeanSquare(w)) /
                        std::fmax(1, rootMeanSquare(move) / 0.9);
    for (size_t i = 0; i < w.size(); ++i)
      w[i] = w[i] * (1 - rates[step] * 0.1) - pace * move[i];
    path.push_back(w);
  }
  return path;
}
