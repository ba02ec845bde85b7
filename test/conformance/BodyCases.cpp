//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loops and custom ops.
//===----------------------------------------------------------------------===//
#include "Builder.h"

namespace zyx::conformance {

using Nodes = std::vector<NodeId>;
using Inputs = std::span<const NodeId>;

static std::string named(const char *what, DType dtype) {
  return std::string(what) + "." + std::string(toString(dtype));
}

static NodeId number(Builder &b, int64_t value) {
  return b.constant(makeTensor(DType::I64, {}, {static_cast<double>(value)}));
}

/// One row of x, chosen by an index that is data.
static NodeId row(Builder &b, NodeId x, NodeId index) { return b.gather(x, index, 0); }

/// h' = tanh(h W + x_i) over 16 steps.
static void addRecurrent(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("loop.recurrent", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {16, 4, 8}), w = b.x(dtype, {8, 8});
                     const NodeId scaled = b.mul(w, b.like(w, 0.03125));
                     return b.loop(16, {b.splat(dtype, {4, 8}, 0)}, {x, scaled},
                                   [=](Builder &s, Inputs in) {
                                     NodeId y = s.matmul(in[1], in[3], accumulatorType(dtype));
                                     y = s.type(y).dtype == dtype ? y : s.cast(y, dtype);
                                     return Nodes{s.unary(UnaryKind::Tanh,
                                                          s.add(y, row(s, in[2], in[0])))};
                                   });
                   }});
}

/// Row i becomes the sum of the rows up to it.
static void addCumulative(std::vector<Case> &cases, DType dtype) {
  cases.push_back(
      {named("loop.cumulative", dtype), [=](Builder &b) {
         const NodeId x = b.x(dtype, {9, 33});
         const TensorType type = b.type(x);
         return b.loop(9, {b.splat(dtype, {33}, 0), b.splat(dtype, {9, 33}, 0)}, {x},
                       [=](Builder &s, Inputs in) {
                         const NodeId sum = s.add(in[1], row(s, in[3], in[0]));
                         const NodeId rows = s.iota({DType::I64, {9, 33}}, 0);
                         const NodeId here = s.binary(
                             BinaryKind::Eq, rows, s.expand(s.reshape(in[0], {1, 1}), {9, 33}));
                         const NodeId wide = s.expand(s.reshape(sum, {1, 33}), {9, 33});
                         return Nodes{sum, s.select(here, wide, in[2])};
                       });
       }});
}

/// Values of every dtype change places, and stay what they are.
static void addExchange(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("loop.exchange", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {5, 7}), y = b.x(dtype, {5, 7}),
                                  z = b.x(dtype, {5, 7});
                     Nodes results;
                     for (int64_t trips : {0, 1, 5})
                       for (NodeId result :
                            b.loop(trips, {x, y, z, x}, {z}, [](Builder &, Inputs in) {
                              return Nodes{in[2], in[3], in[5], in[4]};
                            }))
                         results.push_back(result);
                     return results;
                   }});
  cases.push_back({named("custom", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {5, 7});
                     return b.custom("turned", {x}, [](Builder &s, Inputs in) {
                       return Nodes{s.permute(in[0], {1, 0}), in[0]};
                     });
                   }});
}

/// a' = 3 a + i: integers wrap, and every device has the same bits.
static Nodes affine(Builder &s, Inputs in) {
  return Nodes{s.add(s.mul(in[1], s.like(in[1], 3)), in[0])};
}

static void addCounts(std::vector<Case> &cases) {
  for (int64_t count : {-1, 0, 1, 2, 50})
    cases.push_back({"loop.count." + std::to_string(count), [=](Builder &b) {
                       const NodeId n = b.input(
                           makeTensor(DType::I64, {1}, {static_cast<double>(count)}));
                       const NodeId x = number(b, 7);
                       const NodeId direct = b.loop(0, {x}, {}, affine, b.reshape(n, {}))[0];
                       const NodeId more = b.add(b.reshape(n, {}), number(b, 3));
                       return Nodes{direct, b.loop(0, {x}, {}, affine, more)[0]};
                     }});
}

static void addStructures(std::vector<Case> &cases) {
  cases.push_back({"loop.nested", [](Builder &b) {
                     // As many trips inside as the index says.
                     return b.loop(5, {number(b, 1)}, {}, [](Builder &s, Inputs in) {
                       const NodeId y = s.loop(0, {in[1]}, {}, affine, in[0])[0];
                       return s.loop(2, {s.add(y, in[0])}, {}, affine);
                     });
                   }});
  cases.push_back({"loop.deep", [](Builder &b) {
                     Builder::BuildBody step = affine;
                     for (int depth = 0; depth < 6; ++depth)
                       step = [step](Builder &s, Inputs in) {
                         return s.loop(2, {s.add(in[1], in[0])}, {}, step);
                       };
                     return b.loop(2, {number(b, 1)}, {}, step);
                   }});
  cases.push_back({"loop.chained", [](Builder &b) {
                     // One loop reads what another leaves, through views and kernels between.
                     const NodeId x = b.x(DType::F32, {6, 4});
                     const auto twice = [](Builder &s, Inputs in) {
                       return Nodes{s.add(in[1], in[1])};
                     };
                     const NodeId y = b.loop(3, {x}, {}, twice)[0];
                     const NodeId z = b.loop(2, {b.permute(y, {1, 0})}, {}, twice)[0];
                     const NodeId w = b.loop(1, {b.reshape(y, {24})}, {}, twice)[0];
                     return Nodes{y, b.add(x, b.permute(z, {1, 0})), w,
                                  b.reduce(ReduceKind::Max, y, {0})};
                   }});
  cases.push_back({"loop.operands", [](Builder &b) {
                     // Constants, iotas and views as operands; results that are used in part.
                     const NodeId i = b.iota({DType::I32, {7}}, 0);
                     const NodeId one = b.splat(DType::I32, {7}, 1);
                     const NodeId wide = b.expand(b.x(DType::I32, {1}), {7});
                     const Nodes r = b.loop(4, {i, one, wide}, {i, one, wide},
                                            [](Builder &s, Inputs in) {
                                              return Nodes{s.add(in[1], in[4]), s.mul(in[2], in[6]),
                                                           s.sub(in[3], in[5])};
                                            });
                     return Nodes{r[0], r[2]};
                   }});
  cases.push_back({"loop.empty", [](Builder &b) {
                     return b.loop(3, {b.x(DType::F32, {0, 3}), b.x(DType::F32, {})}, {},
                                   [](Builder &s, Inputs in) {
                                     return Nodes{s.add(in[1], in[1]), s.unary(UnaryKind::Neg, in[2])};
                                   });
                   }});
  cases.push_back({"loop.large", [](Builder &b) {
                     // More bytes than a constant may have, from a splat inside of the body.
                     return b.loop(3, {b.x(DType::F32, {50, 60})}, {}, [](Builder &s, Inputs in) {
                       const NodeId one = s.splat(DType::F32, {50, 60}, 1);
                       return s.loop(2, {one}, {in[1]}, [](Builder &t, Inputs inner) {
                         return Nodes{t.binary(BinaryKind::Max, inner[1], inner[2])};
                       });
                     });
                   }});
  cases.push_back({"custom.nested", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {17});
                     const auto gelu = [](Builder &s, Inputs in) {
                       const NodeId e = s.unary(UnaryKind::Erf, in[0]);
                       return Nodes{s.mul(in[0], s.add(e, s.like(e, 1)))};
                     };
                     return b.loop(2, {x}, {}, [&](Builder &s, Inputs in) {
                       return s.custom("outer", {in[1]}, [&](Builder &t, Inputs inner) {
                         return t.custom("gelu", {inner[0]}, gelu);
                       });
                     });
                   }});
}

void addBodyCases(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    addRecurrent(cases, dtype);
  for (DType dtype : allDTypes) {
    addExchange(cases, dtype);
    if (dtype != DType::Bool && !isStorageOnly(dtype))
      addCumulative(cases, dtype);
  }
  addCounts(cases);
  addStructures(cases);
}

} // namespace zyx::conformance
