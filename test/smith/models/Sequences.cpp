//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Families that go step by step, or choose which weights compute a row: recurrent loops, scans, experts.
#include "smith/models/Sketch.h"

namespace zyx::smith {

namespace {

using Kind = Values::Kind;
constexpr Values nearZero{Kind::Normal, 0, 0.1};

//===----------------------------------------------------------------------===//
// Recurrent loops
//===----------------------------------------------------------------------===//

template <typename Module>
Tensor runRecurrent(const Tensor &x, int64_t in, int64_t hidden, std::span<const Tensor> weights) {
  nn::InitRng rng(1);
  const Module module(in, hidden, rng);
  module.inputWeight.setLater(weights[0]);
  module.hiddenWeight.setLater(weights[1]);
  module.inputBias.setLater(weights[2]);
  module.hiddenBias.setLater(weights[3]);
  return module(x);
}

void drawRecurrent(Sketch &s) {
  const size_t which = s.variant({"lstm", "gru", "rnn"});
  s.drawGradients(0.4);
  // Modules have parameters in f32.
  s.about().dtype = DType::F32;
  const int64_t steps = s.pick("steps", {35, 64, 128, 256}, {16, 35, 64}, {3, 4}),
                batch = s.pick("batch", {1, 16, 64, 128}, {1, 8, 32}, {1, 2});
  const int64_t in = s.width("in", {64, 128, 512, 650}, {3, 5}),
                hidden = s.width("hidden", {128, 256, 512, 650, 1024}, {4, 6});
  const int64_t pieces = which == 0 ? 4 : which == 1 ? 3 : 1;
  s.about().trips = steps;
  s.countProduct(steps * batch, pieces * hidden, in + hidden);
  const Tensor x = s.x("x", {steps, batch, in});
  const std::vector weights = {
      s.weight("weight_ih", {pieces * hidden, in}, in), s.weight("weight_hh", {pieces * hidden, hidden}, hidden),
      s.weight("bias_ih", {pieces * hidden}, nearZero), s.weight("bias_hh", {pieces * hidden}, nearZero)};
  s.say("h = x.new_zeros(1, ", batch, ", ", hidden, ")");
  const std::string name = which == 0 ? "lstm(x, (h, h)" : which == 1 ? "gru(x, h" : "rnn_tanh(x, h";
  s.say("y = torch.", name, ", (weight_ih, weight_hh, bias_ih, bias_hh), True, 1, 0.0, ",
        // cuDNN has gradients in training alone.
        s.about().hasGradients ? "True" : "False", ", False, False)[0]");
  s.result("y", which == 0   ? runRecurrent<nn::Lstm>(x, in, hidden, weights)
                : which == 1 ? runRecurrent<nn::Gru>(x, in, hidden, weights)
                             : runRecurrent<nn::Rnn>(x, in, hidden, weights));
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// h = a h + b, step by step, with the results of all steps.
void gatedSteps(Sketch &s) {
  const int64_t steps = s.pick("steps", {64, 128, 256}, {32, 64}, {3, 5}),
                batch = s.pick("batch", {1, 8, 32}, {1, 4}, {1, 2});
  const int64_t width = s.width("width", {1536, 2560, 4096}, {5, 8});
  s.about().trips = steps;
  const Tensor a = s.data("a", {DType::F32, {steps, batch, width}}, {Kind::Uniform, 0.5, 1}),
               b = s.x("b", {steps, batch, width});
  s.say("h, hs = torch.zeros_like(wide(b)[0]), []");
  s.say("for t in range(", steps, "):");
  s.say("    h = a[t] * h + wide(b)[t]");
  s.say("    hs.append(h)");
  s.say("y = torch.stack(hs).to(b.dtype)");
  const Tensor wide = b.cast(DType::F32);
  const Tensor zero = Tensor::zeros({batch, width}), all = Tensor::zeros({steps, batch, width});
  const Tensor hs = loop(steps, std::vector{zero, all}, [&](const Tensor &trip, std::span<const Tensor> now) {
    const Tensor h = take(a, trip) * now[0] + take(wide, trip);
    return std::vector{h, scatter(now[1], trip, h)};
  })[1];
  s.result("y", hs.cast(s.dtype()));
}

/// A selective state space: a state of n numbers for each feature.
void selectiveSteps(Sketch &s) {
  const int64_t steps = s.pick("steps", {64, 128}, {16, 32}, {3, 4}),
                batch = s.pick("batch", {1, 4, 8}, {1, 2}, {1, 2});
  const int64_t width = s.width("width", {1536, 2048}, {4, 6}), n = s.width("state", {16, 64}, {2, 3});
  s.about().trips = steps;
  s.about().dtype = DType::F32;
  const Tensor x = s.x("x", {batch, steps, width}), dt = s.x("dt", {batch, steps, width}),
               b = s.x("b", {batch, steps, n}), c = s.x("c", {batch, steps, n});
  const Tensor rate = s.weight("rate", {width, n}, Values{Kind::Uniform, -2, -0.5});
  s.say("dt = F.softplus(dt)");
  s.say("h, ys = x.new_zeros(", batch, ", ", width, ", ", n, "), []");
  s.say("for t in range(", steps, "):");
  s.say("    d = dt[:, t, :, None]");
  s.say("    h = torch.exp(d * rate) * h + d * b[:, t, None, :] * x[:, t, :, None]");
  s.say("    ys.append((h * c[:, t, None, :]).sum(-1))");
  s.say("y = torch.stack(ys, 1)");
  const Tensor step = softplus(dt);
  const Tensor zero = Tensor::zeros({batch, width, n}), all = Tensor::zeros({batch, steps, width});
  const Tensor ys = loop(steps, std::vector{zero, all}, [&](const Tensor &trip, std::span<const Tensor> now) {
    const auto at = [&](const Tensor &given) { return take(given, trip, 1); };
    const Tensor d = at(step).unsqueeze(2);
    const Tensor h = (d * rate).exp() * now[0] + d * at(b).unsqueeze(1) * at(x).unsqueeze(2);
    return std::vector{h, scatter(now[1], trip, (h * at(c).unsqueeze(1)).sum({-1}), 1)};
  })[1];
  s.result("y", ys);
}

void drawScan(Sketch &s) {
  const size_t which = s.variant({"cumsum-rows", "cumsum-steps", "gated", "selective", "retention", "cummax"});
  s.drawGradients(0.2);
  if (which == 2)
    return gatedSteps(s);
  if (which == 3)
    return selectiveSteps(s);
  const int64_t batch = s.batch("batch", {8, 32, 64}, {1, 4}, {1, 2});
  if (which == 4) {
    // Queries and keys whose products decay with their distance.
    const int64_t heads = s.width("heads", {8, 16}, {2}), rows = s.pick("rows", {512, 1024, 2048}, {128, 256}, {5, 8});
    const int64_t head = s.width("head", {64, 128, 256}, {4, 8});
    const Shape shape = {batch, heads, rows, head};
    const Tensor q = s.x("q", shape), k = s.x("k", shape), v = s.x("v", shape);
    const Tensor decay = s.constant("decay", {DType::F32, {heads}}, {Kind::Uniform, -0.1, -0.01});
    s.countProduct(rows, rows, head, static_cast<double>(batch * heads));
    s.say("i = torch.arange(", rows, ", device=q.device)");
    s.say("d = i[:, None] - i[None, :]");
    s.say("g = torch.where(d >= 0, torch.exp(d * decay[:, None, None]), 0)");
    s.say("p = (wide(q) @ wide(k).mT) * g * ", 1 / static_cast<double>(head));
    s.say("y = p.to(v.dtype) @ v");
    const Tensor i = Tensor::arange(rows), distance = i.unsqueeze(1) - i;
    const Tensor weights = where((distance >= 0).expand({heads, rows, rows}),
                                 (distance.cast(DType::F32) * decay.reshape({heads, 1, 1})).exp(), 0);
    const Tensor p =
        matmul(q.cast(DType::F32), k.cast(DType::F32).transpose()) * weights * (1 / static_cast<double>(head));
    return s.result("y", matmul(p.cast(s.dtype()), v));
  }
  s.about().dtype = DType::F32;
  const int64_t rows = s.pick("rows", {512, 2048, 8192, 65536}, {512, 2048}, {5, 17});
  const int64_t width = s.width("width", {1, 16, 256, 1024}, {1, 3, 6});
  const bool isAlongRows = which == 0;
  const Tensor x = s.x("x", isAlongRows ? Shape{batch, width, rows} : Shape{batch, rows, width});
  const int64_t dim = isAlongRows ? 2 : 1;
  s.say(which == 5 ? "y = x.cummax(" : "y = x.cumsum(", dim, which == 5 ? ").values" : ")");
  s.result("y", which == 5 ? x.cummax(dim) : x.cumsum(dim));
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

void drawRouting(Sketch &s) {
  const size_t which = s.variant({"dense", "gathered", "capacity", "router"});
  s.drawGradients(which == 0 ? 0.3 : 0);
  const int64_t rows = which == 1   ? s.pick("rows", {1, 2, 8}, {1, 2, 4}, {1, 3})
                       : which == 2 ? s.pick("rows", {512, 1023, 4096, 8192}, {16, 64, 77}, {4, 7})
                                    : s.batch("rows", {512, 1023, 4096, 8192}, {16, 64, 77}, {4, 7});
  const int64_t width = s.width("width", {768, 1024, 2048, 4096}, {6, 8}),
                hidden = s.width("hidden", {1024, 1408, 2816}, {5, 8});
  const int64_t experts = which == 3 ? s.width("experts", {64, 128, 256}, {5, 8}) : s.width("experts", {8, 16}, {4});
  const int64_t chosen = which == 3 ? s.width("chosen", {6, 8}, {2}) : s.width("chosen", {1, 2}, {1, 2});
  // One of two experts that are nearly as good is a whole row.
  s.about().mayDiffer = 0.01;
  const Tensor x = s.x("x", {rows, width});
  const Tensor router = s.weight("router", {experts, width}, width);
  s.countProduct(rows, experts, width);
  s.say("p = F.linear(wide(x), wide(router)).softmax(-1)");
  const Tensor p = matmul(x.cast(DType::F32), router.cast(DType::F32).transpose()).softmax(-1);
  s.say("top, at = p.topk(", chosen, ", -1)");
  const Ranked top = p.topk(chosen);
  Tensor shares = top.values;
  if (chosen != 1) {
    s.say("top = top / top.sum(-1, keepdim=True)");
    shares = shares / shares.sum({-1}, true);
  }
  if (which == 3) {
    // With how many rows each has, for balance.
    s.say("load = F.one_hot(at, ", experts, ").sum((0, 1))");
    s.say("balance = (wide(load) / ", rows * chosen, " * p.mean(0)).sum() * ", experts);
    const Tensor load = oneHot(top.indices, experts, DType::I64).sum({0, 1});
    s.result("top", shares);
    s.result("load", load);
    return s.result("balance", (load.cast(DType::F32) / (rows * chosen) * p.mean({0})).sum() * experts);
  }
  const Tensor up = s.weight("up", {experts, width, hidden}, width),
               down = s.weight("down", {experts, hidden, width}, hidden);
  if (which == 1) {
    // The weights of the chosen ones, row by row.
    const int64_t bytes = rows * chosen * width * hidden * byteSize(s.dtype());
    s.touches("up", bytes);
    s.touches("down", bytes);
    s.countProduct(rows * chosen, width, hidden, 2);
    s.say("h = F.silu(torch.einsum('tw,tkwh->tkh', x, up[at]))");
    s.say("y = torch.einsum('tkh,tkhw->tkw', h, down[at])");
    s.say("y = (y * top[..., None].to(y.dtype)).sum(1)");
    const Tensor h = einsum("tw,tkwh->tkh", {x, take(up, top.indices)}).silu();
    const Tensor y = einsum("tkh,tkhw->tkw", {h, take(down, top.indices)});
    return s.result("y", (y * shares.unsqueeze(2).cast(s.dtype())).sum({1}));
  }
  s.say("gate = torch.zeros_like(p).scatter(-1, at, top).to(x.dtype)");
  const Tensor gate = putAlongAxis(p.zerosLike(), top.indices, shares, -1).cast(s.dtype());
  if (which == 0) {
    // All experts of all rows, weighted.
    s.countProduct(rows * experts, width, hidden, 2);
    s.say("h = F.silu(torch.einsum('tw,ewh->teh', x, up)) * gate[..., None]");
    s.say("y = torch.einsum('teh,ehw->tw', h, down)");
    const Tensor h = einsum("tw,ewh->teh", {x, up}).silu() * gate.unsqueeze(2);
    return s.result("y", einsum("teh,ehw->tw", {h, down}));
  }
  // Each expert takes the first rows that chose it, as many as it has room for.
  const int64_t room = (rows * chosen + experts - 1) / experts * 5 / 4 + 1;
  s.note("room", room);
  s.countProduct(experts * room, width, hidden, 2);
  s.say("place = (gate != 0).to(torch.int64).cumsum(0) - 1");
  s.say("place = torch.where(gate != 0, place, ", room, ")");
  s.say("dispatch = (place[..., None] == torch.arange(", room, ", device=x.device)).to(x.dtype)");
  s.say("taken = torch.einsum('tec,tw->ecw', dispatch, x)");
  s.say("h = F.silu(torch.einsum('ecw,ewh->ech', taken, up))");
  s.say("y = torch.einsum('ech,ehw->ecw', h, down)");
  s.say("y = torch.einsum('tec,ecw->tw', dispatch * gate[..., None], y)");
  const Tensor isChosen = gate != 0;
  const Tensor place = where(isChosen, isChosen.cast(DType::I64).cumsum(0) - 1, room);
  const Tensor dispatch = (place.unsqueeze(2) == Tensor::arange(room)).cast(s.dtype());
  const Tensor h = einsum("ecw,ewh->ech", {einsum("tec,tw->ecw", {dispatch, x}), up}).silu();
  s.result("y", einsum("tec,ecw->tw", {dispatch * gate.unsqueeze(2), einsum("ech,ehw->ecw", {h, down})}));
}

} // namespace

std::span<const Family> sequenceFamilies() {
  static constexpr Family all[] = {{"recurrent", drawRecurrent}, {"scan", drawScan}, {"routing", drawRouting}};
  return all;
}

} // namespace zyx::smith
