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
                     return b.loop(16, {b.splat(dtype, {4, 8}, 0)}, {x, scaled}, [=](Builder &s, Inputs in) {
                       NodeId y = s.matmul(in[1], in[3], accumulatorType(dtype));
                       y = s.type(y).dtype == dtype ? y : s.cast(y, dtype);
                       return Nodes{s.unary(UnaryKind::Tanh, s.add(y, row(s, in[2], in[0])))};
                     });
                   }});
}

/// Elements that begin with different constants, and read others in each trip.
static void addConstants(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("loop.constants", dtype), [=](Builder &b) {
                     const NodeId first = b.constant(makeTensor(dtype, {6}, {1, 2, 3, 5, 8, 13}));
                     const NodeId factors = b.constant(makeTensor(dtype, {2, 3}, {2, 1, 1, 2, 1, 2}));
                     const NodeId least = b.constant(makeTensor(dtype, {6}, {-1, 0, 1, 0, 2, 1}));
                     return b.loop(4, {first, b.x(dtype, {6})}, {b.reshape(factors, {6}), least},
                                   [](Builder &s, Inputs in) {
                                     return Nodes{s.mul(in[1], in[3]), s.binary(BinaryKind::Max, in[2], in[4])};
                                   });
                   }});
}

/// Row i becomes the sum of the rows up to it.
static void addCumulative(std::vector<Case> &cases, DType dtype) {
  cases.push_back(
      {named("loop.cumulative", dtype), [=](Builder &b) {
         const NodeId x = b.x(dtype, {9, 33});
         const TensorType type = b.type(x);
         return b.loop(9, {b.splat(dtype, {33}, 0), b.splat(dtype, {9, 33}, 0)}, {x}, [=](Builder &s, Inputs in) {
           const NodeId sum = s.add(in[1], row(s, in[3], in[0]));
           const NodeId rows = s.iota({DType::I64, {9, 33}}, 0);
           const NodeId here = s.binary(BinaryKind::Eq, rows, s.expand(s.reshape(in[0], {1, 1}), {9, 33}));
           const NodeId wide = s.expand(s.reshape(sum, {1, 33}), {9, 33});
           return Nodes{sum, s.select(here, wide, in[2])};
         });
       }});
}

/// Values of every dtype change places, and stay what they are.
static void addExchange(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("loop.exchange", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {5, 7}), y = b.x(dtype, {5, 7}), z = b.x(dtype, {5, 7});
                     Nodes results;
                     for (int64_t trips : {0, 1, 5})
                       for (NodeId result : b.loop(trips, {x, y, z, x}, {z}, [](Builder &, Inputs in) {
                              return Nodes{in[2], in[3], in[5], in[4]};
                            }))
                         results.push_back(result);
                     return results;
                   }});
  cases.push_back({named("custom", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {5, 7});
                     return b.custom("turned", {x},
                                     [](Builder &s, Inputs in) { return Nodes{s.permute(in[0], {1, 0}), in[0]}; });
                   }});
}

/// a' = 3 a + i: integers wrap, and every device has the same bits.
static Nodes affine(Builder &s, Inputs in) { return Nodes{s.add(s.mul(in[1], s.like(in[1], 3)), in[0])}; }

static void addCounts(std::vector<Case> &cases) {
  for (int64_t count : {-1, 0, 1, 2, 50})
    cases.push_back({"loop.count." + std::to_string(count), [=](Builder &b) {
                       const NodeId n = b.input(makeTensor(DType::I64, {1}, {static_cast<double>(count)}));
                       const NodeId x = number(b, 7);
                       const NodeId direct = b.loop(0, {x}, {}, affine, b.reshape(n, {}))[0];
                       const NodeId more = b.add(b.reshape(n, {}), number(b, 3));
                       return Nodes{direct, b.loop(0, {x}, {}, affine, more)[0]};
                     }});
}

/// Steps that data ends: of Collatz to 1, in a loop of known trips, and a row for each trip.
static void addWhiles(std::vector<Case> &cases) {
  const auto steps = [](Builder &b, NodeId first) {
    const auto isLeft = [](Builder &s, NodeId n) { return s.binary(BinaryKind::Gt, n, number(s, 1)); };
    return b.loop(graph::tripsAreWhile, {isLeft(b, first), first, number(b, 0)}, {}, [=](Builder &s, Inputs in) {
      const NodeId two = number(s, 2),
                   isOdd = s.binary(BinaryKind::Eq, s.binary(BinaryKind::Rem, in[2], two), number(s, 1));
      const NodeId next =
          s.select(isOdd, s.add(s.mul(in[2], number(s, 3)), number(s, 1)), s.binary(BinaryKind::Div, in[2], two));
      return Nodes{isLeft(s, next), next, s.add(in[3], in[0])};
    });
  };
  for (int64_t first : {1, 2, 27})
    cases.push_back({"loop.while." + std::to_string(first), [=](Builder &b) {
                       return steps(b,
                                    b.reshape(b.input(makeTensor(DType::I64, {1}, {static_cast<double>(first)})), {}));
                     }});
  cases.push_back({"loop.while.nested", [=](Builder &b) {
                     return b.loop(4, {number(b, 1), number(b, 0)}, {}, [=](Builder &s, Inputs in) {
                       const Nodes found = steps(s, s.add(in[1], in[0]));
                       return Nodes{s.add(found[1], in[0]), s.add(in[2], found[2])};
                     });
                   }});
  cases.push_back({"loop.while.rows", [](Builder &b) {
                     // Rows are written until their sum is over a limit.
                     const NodeId x = b.x(DType::I32, {8, 33}), limit = b.constant(makeTensor(DType::I64, {}, {5}));
                     const NodeId yes = b.constant(makeTensor(DType::Bool, {}, {1}));
                     return b.loop(graph::tripsAreWhile, {yes, b.splat(DType::I32, {8, 33}, 0)}, {x, limit},
                                   [](Builder &s, Inputs in) {
                                     const NodeId x = row(s, in[3], in[0]);
                                     return Nodes{s.binary(BinaryKind::Lt, in[0], in[4]),
                                                  s.scatter(graph::ScatterKind::Set, in[2], in[0], s.mul(x, x), 0)};
                                   });
                   }});
  // What data chooses: one of two loops has a trip.
  for (double condition : {0., 1.})
    cases.push_back({"loop.branch." + std::string(condition != 0 ? "then" : "else"), [=](Builder &b) {
                       const NodeId truth = b.reshape(b.input(makeTensor(DType::Bool, {1}, {condition})), {});
                       const NodeId x = b.x(DType::I32, {6, 7}), w = b.x(DType::I32, {7, 5});
                       const NodeId otherwise = b.unary(UnaryKind::Not, truth);
                       const auto product = [](Builder &s, Inputs in) {
                         return Nodes{s.matmul(in[2], in[3], DType::I32)};
                       };
                       const auto largest = [](Builder &s, Inputs in) {
                         const NodeId found = s.reduce(ReduceKind::Max, in[2], {1});
                         return Nodes{s.expand(s.reshape(found, {6, 1}), {6, 5})};
                       };
                       const NodeId none = b.splat(DType::I32, {6, 5}, 0);
                       const NodeId then = b.loop(0, {none}, {x, w}, product, b.cast(truth, DType::I64))[0];
                       return b.loop(0, {then}, {x}, largest, b.cast(otherwise, DType::I64));
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
                       step = [step](Builder &s, Inputs in) { return s.loop(2, {s.add(in[1], in[0])}, {}, step); };
                     return b.loop(2, {number(b, 1)}, {}, step);
                   }});
  cases.push_back({"loop.chained", [](Builder &b) {
                     // One loop reads what another leaves, through views and kernels between.
                     const NodeId x = b.x(DType::F32, {6, 4});
                     const auto twice = [](Builder &s, Inputs in) { return Nodes{s.add(in[1], in[1])}; };
                     const NodeId y = b.loop(3, {x}, {}, twice)[0];
                     const NodeId z = b.loop(2, {b.permute(y, {1, 0})}, {}, twice)[0];
                     const NodeId w = b.loop(1, {b.reshape(y, {24})}, {}, twice)[0];
                     return Nodes{y, b.add(x, b.permute(z, {1, 0})), w, b.reduce(ReduceKind::Max, y, {0})};
                   }});
  cases.push_back({"loop.operands", [](Builder &b) {
                     // Constants, iotas and views as operands; results that are used in part.
                     const NodeId i = b.iota({DType::I32, {7}}, 0);
                     const NodeId one = b.splat(DType::I32, {7}, 1);
                     const NodeId wide = b.expand(b.x(DType::I32, {1}), {7});
                     const Nodes r = b.loop(4, {i, one, wide}, {i, one, wide}, [](Builder &s, Inputs in) {
                       return Nodes{s.add(in[1], in[4]), s.mul(in[2], in[6]), s.sub(in[3], in[5])};
                     });
                     return Nodes{r[0], r[2]};
                   }});
  cases.push_back({"loop.empty", [](Builder &b) {
                     return b.loop(3, {b.x(DType::F32, {0, 3}), b.x(DType::F32, {})}, {}, [](Builder &s, Inputs in) {
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
                       return s.custom("outer", {in[1]},
                                       [&](Builder &t, Inputs inner) { return t.custom("gelu", {inner[0]}, gelu); });
                     });
                   }});
}

/// Carried values of which each trip updates some rows, and such that take each other's places: what may stay in its
/// memory, and what must not.
static void addUpdates(std::vector<Case> &cases, DType dtype) {
  const auto set = [](Builder &s, NodeId x, NodeId index, NodeId row) {
    return s.scatter(graph::ScatterKind::Set, x, index, row, 0);
  };
  const auto sums = [](Builder &s, NodeId x) { return s.reduce(ReduceKind::Max, x, {0}); };
  for (int64_t trips : {0, 1, 4, 7}) {
    const std::string many = "." + std::to_string(trips);
    // All values of a recurrence, and it itself.
    cases.push_back({named("loop.rows", dtype) + many, [=](Builder &b) {
                       return b.loop(trips, {b.x(dtype, {3, 5}), b.splat(dtype, {7, 3, 5}, 1)}, {b.x(dtype, {3, 5})},
                                     [=](Builder &s, Inputs in) {
                                       const NodeId next =
                                           s.binary(BinaryKind::Max, s.unary(UnaryKind::Neg, in[1]), in[3]);
                                       return Nodes{next, set(s, in[2], in[0], in[1])};
                                     });
                     }});
    // What was there is read before the update, what is there behind it, and the whole leaves the loop twice.
    cases.push_back({named("loop.rows.read", dtype) + many, [=](Builder &b) {
                       const NodeId x = b.x(dtype, {7, 6});
                       const Nodes r = b.loop(trips, {x, b.splat(dtype, {6}, 0), b.splat(dtype, {6}, 0)}, {x},
                                              [=](Builder &s, Inputs in) {
                                                const NodeId more = s.unary(UnaryKind::Neg, row(s, in[1], in[0]));
                                                const NodeId next = set(s, in[1], in[0], more);
                                                return Nodes{next, sums(s, in[1]), sums(s, next)};
                                              });
                       return Nodes{r[0], b.unary(UnaryKind::Neg, r[0]), r[1], r[2], x};
                     }});
    // What was there is read by who needs the update.
    cases.push_back({named("loop.rows.late", dtype) + many, [=](Builder &b) {
                       return b.loop(
                           trips, {b.x(dtype, {7, 6}), b.splat(dtype, {7, 6}, 0)}, {}, [=](Builder &s, Inputs in) {
                             const NodeId next = set(s, in[1], in[0], row(s, in[2], in[0]));
                             return Nodes{next, s.binary(BinaryKind::Max, in[1], s.unary(UnaryKind::Neg, next))};
                           });
                     }});
    // Two that are updated change places; others move on, and what is new follows them.
    cases.push_back({named("loop.rows.exchange", dtype) + many, [=](Builder &b) {
                       return b.loop(trips, {b.x(dtype, {7, 2}), b.x(dtype, {7, 2})}, {b.x(dtype, {2})},
                                     [=](Builder &s, Inputs in) {
                                       return Nodes{set(s, in[2], in[0], in[3]),
                                                    set(s, in[1], in[0], row(s, in[2], in[0]))};
                                     });
                     }});
    cases.push_back({named("loop.shift", dtype) + many, [=](Builder &b) {
                       const NodeId x = b.x(dtype, {5}), y = b.x(dtype, {5});
                       return b.loop(trips, {x, y, x, y, x, y, y}, {y}, [=](Builder &s, Inputs in) {
                         const NodeId next = s.binary(BinaryKind::Max, s.unary(UnaryKind::Neg, in[3]), in[8]);
                         return Nodes{in[2], in[3], next, in[5], in[4], next, in[8]};
                       });
                     }});
    // Loops in loops update what the outer one carries, and a copy of it stays.
    cases.push_back({named("loop.rows.nested", dtype) + many, [=](Builder &b) {
                       const NodeId x = b.x(dtype, {7, 4});
                       return b.loop(trips, {x, x, b.x(dtype, {4})}, {}, [=](Builder &s, Inputs in) {
                         const NodeId next = s.unary(UnaryKind::Neg, in[3]);
                         const Nodes inner = s.loop(3, {in[1], next}, {in[0]}, [=](Builder &t, Inputs at) {
                           const NodeId place = t.add(at[0], at[3]);
                           return Nodes{set(t, at[1], place, at[2]), row(t, at[1], place)};
                         });
                         return Nodes{inner[0], in[1], inner[1]};
                       });
                     }});
    // Several updates of one trip, two of them of the same rows, and one that is nowhere.
    cases.push_back({named("loop.rows.many", dtype) + many, [=](Builder &b) {
                       return b.loop(trips, {b.x(dtype, {7, 3})}, {b.x(dtype, {2, 3})}, [=](Builder &s, Inputs in) {
                         const NodeId two = s.reshape(s.binary(BinaryKind::Mul, s.iota({DType::I64, {2}}, 0),
                                                               s.expand(s.reshape(in[0], {1}), {2})),
                                                      {2});
                         const NodeId first = s.scatter(graph::ScatterKind::Max, in[1], two, in[2], 0);
                         return Nodes{s.scatter(graph::ScatterKind::Set, first, s.add(two, s.like(two, 2)), in[2], 0)};
                       });
                     }});
  }
  // Updates outside of loops: of what is made for them, of what is returned, and of an input.
  cases.push_back({named("rows.chained", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {7, 3}), y = b.unary(UnaryKind::Neg, x), r = b.x(dtype, {3});
                     const NodeId first = set(b, y, number(b, 2), r),
                                  second = set(b, first, number(b, 4), row(b, first, number(b, 1)));
                     const NodeId third = set(b, second, number(b, 2), row(b, y, number(b, 2)));
                     return Nodes{third, second, set(b, x, number(b, 0), r)};
                   }});
}

/// Loops of which each element goes its own way, that are one kernel.
static void addElements(std::vector<Case> &cases, DType dtype) {
  const auto set = [](Builder &s, NodeId x, NodeId index, NodeId row, int64_t dim = 0) {
    return s.scatter(graph::ScatterKind::Set, x, index, row, dim);
  };
  // Odd sizes, and trips that are no whole number of those that are taken at once.
  for (int64_t trips : {2, 5, 33, 71})
    for (int64_t width : {1, 3, 37, 64}) {
      const std::string size = "." + std::to_string(trips) + "x" + std::to_string(width);
      cases.push_back({named("loop.elements.gated", dtype) + size, [=](Builder &b) {
                         const NodeId a = b.x(DType::F32, {trips, 3, width}), x = b.x(dtype, {trips, 3, width});
                         const NodeId wide = b.cast(x, DType::F32);
                         const NodeId scaled = b.unary(UnaryKind::Tanh, a);
                         const NodeId h0 = b.splat(DType::F32, {3, width}, 0),
                                      none = b.splat(DType::F32, {trips, 3, width}, 0);
                         const auto step = [=](Builder &s, Inputs in) {
                           const NodeId h = s.add(s.mul(row(s, in[3], in[0]), in[1]), row(s, in[4], in[0]));
                           return Nodes{h, set(s, in[2], in[0], h)};
                         };
                         const NodeId all = b.loop(trips, {h0, none}, {scaled, wide}, step)[1];
                         return Nodes{b.cast(all, dtype)};
                       }});
    }
  // Backwards, into other rows than are read, along another dimension, on top of what was there; and the last values.
  cases.push_back({named("loop.elements.backward", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {4, 9, 21}), y = b.x(dtype, {4, 12, 21}), h = b.x(dtype, {4, 21});
                     const NodeId sums = b.x(dtype, {9, 4, 21});
                     return b.loop(9, {h, y, sums, number(b, 3)}, {x}, [=](Builder &s, Inputs in) {
                       const NodeId last = s.sub(number(s, 8), in[0]);
                       const NodeId now = s.gather(in[5], last, 1);
                       const NodeId next = s.binary(BinaryKind::Max, s.unary(UnaryKind::Neg, in[1]), now);
                       const NodeId more = s.add(last, number(s, 2));
                       return Nodes{next, set(s, in[2], more, in[1], 1),
                                    s.scatter(graph::ScatterKind::Max, in[3], last, next, 0), s.add(in[4], in[0])};
                     });
                   }});
  // A few numbers for each, with sums over them, and what many share.
  for (int64_t own : {1, 3, 16, 64, 128})
    cases.push_back({named("loop.elements.states", dtype) + "." + std::to_string(own), [=](Builder &b) {
                       const NodeId x = b.x(dtype, {2, 6, 13}), c = b.x(dtype, {2, 6, own}),
                                    rate = b.x(dtype, {13, own});
                       const NodeId few = b.mul(rate, b.like(rate, 0.125));
                       return b.loop(6, {b.splat(dtype, {2, 13, own}, 0), b.splat(dtype, {2, 6, 13}, 0)}, {x, c, few},
                                     [=](Builder &s, Inputs in) {
                                       const auto at = [&](NodeId all) { return s.gather(all, in[0], 1); };
                                       const NodeId one = s.expand(s.reshape(at(in[3]), {2, 13, 1}), {2, 13, own});
                                       const NodeId shared = s.expand(s.reshape(at(in[4]), {2, 1, own}), {2, 13, own});
                                       const NodeId times = s.expand(s.reshape(in[5], {1, 13, own}), {2, 13, own});
                                       const NodeId h = s.add(s.mul(times, in[1]), s.mul(one, shared));
                                       const NodeId sum = s.reduce(ReduceKind::Add, s.mul(h, shared), {2});
                                       return Nodes{h, set(s, in[2], in[0], sum, 1)};
                                     });
                     }});
  // What begins and ends apart, and rates that trips share, in whole vectors and the rest of one.
  cases.push_back({named("loop.elements.apart", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {5, 37}),
                                  rate = b.mul(b.x(dtype, {37, 3}), b.splat(dtype, {37, 3}, 0.125));
                     return b.loop(5, {b.x(dtype, {37, 3})}, {x, rate}, [=](Builder &s, Inputs in) {
                       const NodeId now = s.expand(s.reshape(row(s, in[2], in[0]), {37, 1}), {37, 3});
                       return Nodes{s.add(s.mul(in[3], in[1]), now)};
                     });
                   }});
  // Numbers of the trip and of the place, conditions that are carried, flipped and permuted rows.
  cases.push_back({named("loop.elements.places", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {5, 19, 3}), h = b.x(dtype, {3, 19});
                     const NodeId no = b.splat(DType::Bool, {3, 19}, 0);
                     return b.loop(5, {h, no}, {x}, [=](Builder &s, Inputs in) {
                       const NodeId now = s.flip(s.permute(row(s, in[3], in[0]), {1, 0}), {1});
                       const NodeId place = s.iota({DType::I64, {3, 19}}, 1);
                       const NodeId end = s.expand(s.reshape(s.mul(in[0], number(s, 4)), {1, 1}), {3, 19});
                       const NodeId here = s.binary(BinaryKind::Lt, place, end);
                       const NodeId next = s.select(here, s.binary(BinaryKind::Max, in[1], now), in[1]);
                       return Nodes{next, s.binary(BinaryKind::Or, in[2], s.binary(BinaryKind::Lt, now, in[1]))};
                     });
                   }});
  // Nothing is carried but rows.
  cases.push_back({named("loop.elements.rows", dtype), [=](Builder &b) {
                     const NodeId x = b.x(dtype, {9, 70}), y = b.x(dtype, {9, 70});
                     return b.loop(7, {x}, {y}, [=](Builder &s, Inputs in) {
                       const NodeId now = row(s, in[2], s.add(in[0], number(s, 2)));
                       return Nodes{set(s, in[1], s.add(in[0], number(s, 1)),
                                        s.binary(BinaryKind::Max, now, s.unary(UnaryKind::Neg, now)))};
                     });
                   }});
  // A step of a gated unit: two kernels a trip, of which one updates rows. Parts that are put together, rows backwards.
  cases.push_back(
      {named("loop.elements.trip", dtype), [=](Builder &b) {
         const NodeId x = b.x(dtype, {5, 3, 38}), w = b.x(dtype, {19, 38}), h = b.x(dtype, {3, 19});
         const NodeId few = b.mul(w, b.like(w, 0.0625));
         return b.loop(5, {h, b.x(dtype, {5, 3, 19}), b.x(dtype, {6, 3, 38}), b.x(dtype, {5, 3, 19})}, {x, few},
                       [=](Builder &s, Inputs in) {
                         NodeId fed = s.matmul(in[1], in[6], accumulatorType(dtype));
                         fed = s.type(fed).dtype == dtype ? fed : s.cast(fed, dtype);
                         const NodeId last = s.sub(number(s, 4), in[0]), given = row(s, in[5], last);
                         const NodeId zero = s.splat(dtype, {}, 0);
                         const auto part = [&](NodeId all, int64_t i) {
                           return s.pad(all, zero, {0, -19 * i}, {0, 19 * i - 19}, {0, 0});
                         };
                         const auto placed = [&](NodeId one, int64_t i) {
                           return s.pad(one, zero, {0, 19 * i}, {0, 19 - 19 * i}, {0, 0});
                         };
                         const NodeId a = s.binary(BinaryKind::Max, part(fed, 0), part(given, 1));
                         const NodeId c = s.binary(BinaryKind::Min, part(fed, 1), part(given, 0));
                         const NodeId next = s.add(s.binary(BinaryKind::Min, a, c), s.mul(in[1], s.like(in[1], 0.5)));
                         const NodeId both = s.add(placed(a, 1), placed(c, 0));
                         return Nodes{next, set(s, in[2], in[0], next), set(s, in[3], s.add(last, number(s, 1)), both),
                                      s.scatter(graph::ScatterKind::Max, in[4], last, a, 0)};
                       });
       }});
  // Products of what no trip carries, sums over all trips that no trip reads, rows that are read before they are
  // written; backwards and forwards, of a second loop besides that does the same.
  for (bool isBackward : {false, true})
    cases.push_back({named("loop.elements.sums", dtype) + (isBackward ? ".backward" : ""), [=](Builder &b) {
                       const NodeId x = b.x(dtype, {6, 3, 4}), w = b.x(dtype, {4, 4}), d = b.x(dtype, {3, 4}),
                                    y = b.x(dtype, {8, 3, 4});
                       const NodeId few = b.mul(w, b.like(w, 0.0625));
                       const auto product = [=](Builder &s, NodeId a, NodeId c) {
                         const NodeId sum = s.matmul(a, c, accumulatorType(dtype));
                         return s.type(sum).dtype == dtype ? sum : s.cast(sum, dtype);
                       };
                       const auto step = [=](Builder &s, Inputs in, bool hasSums) {
                         const size_t first = hasSums ? 6 : 2;
                         const NodeId at = isBackward ? s.sub(number(s, 5), in[0]) : in[0];
                         const NodeId rows = in[first], v = in[first + 1];
                         const NodeId fed = product(s, row(s, rows, at), v);
                         const NodeId mixed = s.binary(BinaryKind::Max, product(s, in[1], v), fed);
                         if (!hasSums)
                           return Nodes{mixed};
                         const NodeId place = s.add(at, number(s, 1));
                         const NodeId next = s.add(mixed, s.mul(row(s, in[2], place), s.like(mixed, 0)));
                         const DType wide = accumulatorType(dtype);
                         const NodeId more = s.matmul(s.permute(row(s, rows, at), {1, 0}), mixed, wide);
                         return Nodes{mixed, set(s, in[2], place, next), s.add(in[3], s.permute(more, {1, 0})),
                                      s.add(in[4], s.reduce(ReduceKind::Add, mixed, {0})),
                                      s.scatter(graph::ScatterKind::Add, in[5], at, mixed, 0)};
                       };
                       const DType wide = accumulatorType(dtype);
                       const Nodes all =
                           b.loop(6, {d, y, b.splat(wide, {4, 4}, 0), b.x(dtype, {4}), b.splat(dtype, {6, 3, 4}, 0)},
                                  {x, few}, [=](Builder &s, Inputs in) { return step(s, in, true); });
                       Nodes results =
                           b.loop(6, {d}, {x, few}, [=](Builder &s, Inputs in) { return step(s, in, false); });
                       results.insert(results.end(), all.begin(), all.end());
                       return results;
                     }});
  // Neighbours are needed: no kernel of elements.
  cases.push_back({named("loop.elements.neighbours", dtype), [=](Builder &b) {
                     const NodeId h = b.x(dtype, {4, 8}), x = b.x(dtype, {6, 4, 8});
                     return b.loop(6, {h}, {x}, [=](Builder &s, Inputs in) {
                       return Nodes{s.binary(BinaryKind::Max, s.flip(in[1], {1}), row(s, in[2], in[0]))};
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
  for (DType dtype : {DType::F32, DType::I16})
    addUpdates(cases, dtype);
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I32}) {
    addConstants(cases, dtype);
    addElements(cases, dtype);
  }
  addCounts(cases);
  addWhiles(cases);
  addStructures(cases);
}

} // namespace zyx::conformance
