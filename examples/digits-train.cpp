//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Trains a small convolutional network on 1000 handwritten digits, tests it on the 797 others, and
// saves what it learned:
//   digits-train digits.safetensors [--seed=N] [--epochs=N] [--device=DEVICE] [--out=FOLDER]
// FOLDER gets model.safetensors, loss.svg and confusion.svg.
//===----------------------------------------------------------------------===//
#include "digits.h"
#include "program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace zyx;
using digits::classes;
using digits::Network;

namespace {

constexpr int64_t trainRows = 1000, batch = 50;

struct Arguments {
  std::string data, out = ".";
  std::optional<std::string> device;
  uint64_t seed = 1;
  int epochs = 60;
};

/// Images moved by up to one position, other ones each time. Positions are data, so that every step is the
/// same program; where there is no pixel, take() gives 0.
Tensor jitter(const Tensor &images, std::mt19937_64 &random) {
  Tensor moved = images;
  for (int64_t dim : {2, 3}) {
    std::vector<int64_t> positions(images.size(dim));
    std::iota(positions.begin(), positions.end(), static_cast<int64_t>(random() % 3) - 1);
    moved = take(moved, Tensor::from(positions, {images.size(dim)}), dim);
  }
  return moved;
}

void write(const std::string &path, const std::ostringstream &text) {
  std::ofstream file(path);
  if (!(file << text.str()).flush())
    throw std::runtime_error(path + ": cannot be written");
}

void drawLoss(const std::string &path, const std::vector<float> &losses) {
  std::ostringstream svg;
  const float most = *std::max_element(losses.begin(), losses.end());
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-40 -10 660 330' font-family='sans-serif' "
         "font-size='12'>\n<path d='M0 0V300H600' fill='none' stroke='black'/>\n<polyline fill='none' "
         "stroke='steelblue' points='";
  for (size_t i = 0; i < losses.size(); ++i)
    svg << 600.0 * static_cast<double>(i) / static_cast<double>(std::max<size_t>(losses.size() - 1, 1)) << ','
        << 300 - 300 * losses[i] / most << ' ';
  svg << "'/>\n<text x='-36' y='10'>" << most << "</text>\n<text x='540' y='316'>step " << losses.size()
      << "</text>\n</svg>\n";
  write(path, svg);
}

void drawConfusion(const std::string &path, const std::vector<int64_t> &labels, const std::vector<int64_t> &guesses) {
  std::vector<int> counts(classes * classes);
  for (size_t i = 0; i < labels.size(); ++i)
    ++counts[labels[i] * classes + guesses[i]];
  std::ostringstream svg;
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-30 -20 450 430' font-family='sans-serif' "
         "font-size='14' text-anchor='middle'>\n";
  for (int64_t row = 0; row < classes; ++row) {
    svg << "<text x='-12' y='" << row * 40 + 25 << "'>" << row << "</text><text x='" << row * 40 + 20 << "' y='-5'>"
        << row << "</text>\n";
    for (int64_t column = 0; column < classes; ++column) {
      const int count = counts[row * classes + column];
      const char *colour = row == column ? "steelblue" : "firebrick";
      svg << "<rect x='" << column * 40 << "' y='" << row * 40 << "' width='39' height='39' fill='" << colour
          << "' fill-opacity='"
          << (count == 0      ? 0.03
              : row == column ? 0.5
                              : 0.8)
          << "'/>";
      if (count != 0)
        svg << "<text x='" << column * 40 + 20 << "' y='" << row * 40 + 25 << "'>" << count << "</text>";
      svg << '\n';
    }
  }
  svg << "</svg>\n";
  write(path, svg);
}

void showProgress(int epoch, int epochs, float loss) {
  if (!::isatty(STDOUT_FILENO)) {
    if (epoch % 10 == 0 || epoch == epochs)
      std::printf("epoch %d of %d: loss %.4f\n", epoch, epochs, loss);
    return;
  }
  constexpr int width = 30;
  const std::string bar(static_cast<size_t>(width) * epoch / epochs, '#');
  std::printf("\r[%-*s] epoch %d of %d: loss %.4f%s", width, bar.c_str(), epoch, epochs, loss,
              epoch == epochs ? "\n" : "");
  std::fflush(stdout);
}

void run(const Arguments &arguments) {
  const auto began = std::chrono::steady_clock::now();
  example::checkFolder(arguments.out);
  const ContextScope scope(Context({.device = arguments.device}));
  const NamedTensors digits = nn::loadTensors(arguments.data);
  const Tensor images = (digits.at("images").cast(DType::F32) / 16).unsqueeze(1);
  const Tensor train = images.slice({{0, trainRows}}).detach(), test = images.slice({{trainRows}}).detach();
  const Tensor labels = digits.at("labels"), targets = labels.slice({{0, trainRows}}).detach();
  for (const int64_t label : labels.toVector<int64_t>())
    if (label < 0 || label >= classes)
      throw std::runtime_error("the label " + std::to_string(label) + " is no digit");

  nn::InitRng rng(arguments.seed);
  const Network network(rng);
  optim::Optimizer optimizer(network.parameters(), optim::adam());
  const int64_t steps = arguments.epochs * (trainRows / batch);
  std::mt19937_64 random(arguments.seed);
  std::vector<int64_t> order(trainRows);
  std::iota(order.begin(), order.end(), 0);
  std::vector<float> losses;
  double firstStep = 0;
  for (int epoch = 1; epoch <= arguments.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t row = 0; row < trainRows; row += batch) {
      const Tensor rows = Tensor::from(std::span<const int64_t>(order).subspan(row, batch), {batch});
      optimizer.setLearningRate(optim::cosineDecay(3e-3, optimizer.steps(), steps));
      const Tensor loss = crossEntropy(network(jitter(take(train, rows), random)), take(targets, rows));
      optimizer.minimize(loss);
      losses.push_back(loss.item<float>());
      if (losses.size() == 1)
        firstStep = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    showProgress(epoch, arguments.epochs, losses.back());
  }

  const std::string model = arguments.out + "/model.safetensors";
  network.save(model);
  nn::InitRng others(arguments.seed + 1);
  Network restored(others);
  restored.load(model);
  const std::vector<int64_t> guesses = restored(test).argmax(1).toVector<int64_t>();
  const std::vector<int64_t> expected = labels.slice({{trainRows}}).toVector<int64_t>();
  int64_t right = 0;
  for (size_t i = 0; i < guesses.size(); ++i)
    right += guesses[i] == expected[i];
  drawLoss(arguments.out + "/loss.svg", losses);
  drawConfusion(arguments.out + "/confusion.svg", expected, guesses);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%lld of %zu correct (%.1f %%); %.1f s, the first step after %.2f s\n", static_cast<long long>(right),
              guesses.size(), 100.0 * static_cast<double>(right) / guesses.size(), seconds, firstStep);
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  const example::CommandLine commandLine = {
      "digits-train",
      "digits-train digits.safetensors [--seed=N] [--epochs=N] [--device=DEVICE] [--out=FOLDER]",
      arguments.data,
      {example::number<uint64_t>("--seed", arguments.seed, 0), example::number("--epochs", arguments.epochs, 1),
       example::text("--device", arguments.device), example::text("--out", arguments.out)}};
  if (const auto code = commandLine.parse(argc, argv))
    return *code;
  return example::run("digits-train", [&] { run(arguments); });
}
