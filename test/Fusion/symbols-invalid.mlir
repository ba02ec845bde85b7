// RUN: zyx-opt %s --zyx-fuse --verify-diagnostics
// RUN: zyx-opt %s --zyx-fusion-normalize-views --verify-diagnostics
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_80 --zyx-fusion-join-sums --verify-diagnostics
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --verify-diagnostics

func.func @f(%x: tensor<?xf32, #graph.extents<"n">>) -> tensor<?xf32, #graph.extents<"n">> {
  // expected-error@+1 {{has an extent that is not known yet: give its symbols values with -zyx-graph-specialise}}
  %y = graph.unary exp %x : tensor<?xf32, #graph.extents<"n">>
  return %y : tensor<?xf32, #graph.extents<"n">>
}
