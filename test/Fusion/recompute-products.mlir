// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-recompute-products | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a -canonicalize -cse --zyx-fuse=tensor=16 --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s --check-prefix=GROUPS
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_80 --zyx-fusion-recompute-products | FileCheck %s --check-prefix=APART

// The gradients of a decay between two products: each of four sums has scores of its own, and is one kernel.

// APART-LABEL: func.func @bf16(
// APART-COUNT-6: graph.reduce add
// APART-NOT: graph.reduce add
// APART: return

// CHECK-LABEL: func.func @bf16(
// CHECK-COUNT-4: graph.unary exp
// CHECK-NOT: graph.unary exp
// CHECK: return
// GROUPS-LABEL: func.func @bf16(
// GROUPS-COUNT-4: graph.group(
// GROUPS-NOT: graph.group(
func.func @bf16(%q: tensor<9x512x16xbf16>, %k: tensor<9x512x16xbf16>, %v: tensor<9x512x16xbf16>, %dy: tensor<9x512x16xbf16>, %decay: tensor<f32>) -> (tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>) {
  %qw = graph.cast %q : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %qr = graph.reshape %qw : tensor<9x512x16xf32> -> tensor<9x512x1x16xf32>
  %qx = graph.expand %qr : tensor<9x512x1x16xf32> -> tensor<9x512x512x16xf32>
  %dyw = graph.cast %dy : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %dyr = graph.reshape %dyw : tensor<9x512x16xf32> -> tensor<9x512x1x16xf32>
  %dyx = graph.expand %dyr : tensor<9x512x1x16xf32> -> tensor<9x512x512x16xf32>
  %kw = graph.cast %k : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %kr = graph.reshape %kw : tensor<9x512x16xf32> -> tensor<9x1x512x16xf32>
  %kx = graph.expand %kr : tensor<9x1x512x16xf32> -> tensor<9x512x512x16xf32>
  %vw = graph.cast %v : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %vr = graph.reshape %vw : tensor<9x512x16xf32> -> tensor<9x1x512x16xf32>
  %vx = graph.expand %vr : tensor<9x1x512x16xf32> -> tensor<9x512x512x16xf32>
  %t = graph.binary mul %qx, %kx : tensor<9x512x512x16xf32>
  %s = graph.reduce add %t dims = [3] : tensor<9x512x512x16xf32> -> tensor<9x512x512xf32>
  %i = graph.iota dim = 0 : tensor<512x512xi32>
  %j = graph.iota dim = 1 : tensor<512x512xi32>
  %c = graph.binary ge %i, %j : tensor<512x512xi32>
  %d = graph.binary sub %i, %j : tensor<512x512xi32>
  %df = graph.cast %d : tensor<512x512xi32> -> tensor<512x512xf32>
  %g0 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %g1 = graph.expand %g0 : tensor<1x1xf32> -> tensor<512x512xf32>
  %g2 = graph.binary mul %df, %g1 : tensor<512x512xf32>
  %g3 = graph.unary exp %g2 : tensor<512x512xf32>
  %zero = graph.constant dense<0.0> : tensor<512x512xf32>
  %g4 = graph.select %c, %g3, %zero : tensor<512x512xf32>
  %g5 = graph.reshape %g4 : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %g = graph.expand %g5 : tensor<1x512x512xf32> -> tensor<9x512x512xf32>
  %sg = graph.binary mul %s, %g : tensor<9x512x512xf32>
  %p = graph.cast %sg : tensor<9x512x512xf32> -> tensor<9x512x512xbf16>
  %pw = graph.cast %p : tensor<9x512x512xbf16> -> tensor<9x512x512xf32>
  %pr = graph.reshape %pw : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %px = graph.expand %pr : tensor<9x512x512x1xf32> -> tensor<9x512x512x16xf32>
  %t1 = graph.binary mul %px, %vx : tensor<9x512x512x16xf32>
  %y = graph.reduce add %t1 dims = [2] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %yn = graph.cast %y : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  %t2 = graph.binary mul %px, %dyx : tensor<9x512x512x16xf32>
  %dv = graph.reduce add %t2 dims = [1] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dvn = graph.cast %dv : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  %t3 = graph.binary mul %dyx, %vx : tensor<9x512x512x16xf32>
  %dp = graph.reduce add %t3 dims = [3] : tensor<9x512x512x16xf32> -> tensor<9x512x512xf32>
  %dg = graph.binary mul %dp, %g : tensor<9x512x512xf32>
  %dr = graph.reshape %dg : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %dx = graph.expand %dr : tensor<9x512x512x1xf32> -> tensor<9x512x512x16xf32>
  %t4 = graph.binary mul %dx, %kx : tensor<9x512x512x16xf32>
  %dq = graph.reduce add %t4 dims = [2] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dqn = graph.cast %dq : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  %t5 = graph.binary mul %dx, %qx : tensor<9x512x512x16xf32>
  %dk = graph.reduce add %t5 dims = [1] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dkn = graph.cast %dk : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  return %yn, %dqn, %dkn, %dvn : tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>
}

// Queries and keys of f16 are sums of two numbers of bf16, which one kernel each makes of them. The sums of both products are
// one again, behind one copy of the scores.
// CHECK-LABEL: func.func @f16(
// CHECK: [[WIDE:%.*]] = graph.cast %arg1 : tensor<9x512x16xf16> -> tensor<9x512x16xf32>
// CHECK: [[LESS:%.*]] = graph.constant dense<0.99609375>
// CHECK: [[SCALED:%.*]] = graph.binary mul {{%.*}}, [[LESS]]
// CHECK: [[HIGH:%.*]] = graph.cast [[SCALED]] {zyx.table} : {{.*}} -> tensor<9x512x16xbf16>
// CHECK: [[HIGHER:%.*]] = graph.cast [[HIGH]]
// CHECK: [[REST:%.*]] = graph.binary sub {{%.*}}, [[HIGHER]]
// CHECK: [[LOW:%.*]] = graph.select {{%.*}}, {{%.*}}, [[REST]]
// CHECK: graph.cast [[LOW]] {zyx.table} : {{.*}} -> tensor<9x512x16xbf16>
// CHECK: [[FIRST:%.*]] = graph.reduce add {{.*}} dims = [2]
// CHECK: [[SECOND:%.*]] = graph.reduce add {{.*}} dims = [2]
// CHECK: graph.binary add [[FIRST]], [[SECOND]]
// CHECK: return
// GROUPS-LABEL: func.func @f16(
// GROUPS-COUNT-6: graph.group(
// GROUPS-NOT: graph.group(
func.func @f16(%q: tensor<9x512x16xf16>, %k: tensor<9x512x16xf16>, %v: tensor<9x512x16xf16>, %dy: tensor<9x512x16xf16>, %decay: tensor<f32>) -> (tensor<9x512x16xf16>, tensor<9x512x16xf16>, tensor<9x512x16xf16>, tensor<9x512x16xf16>) {
  %qw = graph.cast %q : tensor<9x512x16xf16> -> tensor<9x512x16xf32>
  %qr = graph.reshape %qw : tensor<9x512x16xf32> -> tensor<9x512x1x16xf32>
  %qx = graph.expand %qr : tensor<9x512x1x16xf32> -> tensor<9x512x512x16xf32>
  %dyw = graph.cast %dy : tensor<9x512x16xf16> -> tensor<9x512x16xf32>
  %dyr = graph.reshape %dyw : tensor<9x512x16xf32> -> tensor<9x512x1x16xf32>
  %dyx = graph.expand %dyr : tensor<9x512x1x16xf32> -> tensor<9x512x512x16xf32>
  %kw = graph.cast %k : tensor<9x512x16xf16> -> tensor<9x512x16xf32>
  %kr = graph.reshape %kw : tensor<9x512x16xf32> -> tensor<9x1x512x16xf32>
  %kx = graph.expand %kr : tensor<9x1x512x16xf32> -> tensor<9x512x512x16xf32>
  %vw = graph.cast %v : tensor<9x512x16xf16> -> tensor<9x512x16xf32>
  %vr = graph.reshape %vw : tensor<9x512x16xf32> -> tensor<9x1x512x16xf32>
  %vx = graph.expand %vr : tensor<9x1x512x16xf32> -> tensor<9x512x512x16xf32>
  %t = graph.binary mul %qx, %kx : tensor<9x512x512x16xf32>
  %s = graph.reduce add %t dims = [3] : tensor<9x512x512x16xf32> -> tensor<9x512x512xf32>
  %i = graph.iota dim = 0 : tensor<512x512xi32>
  %j = graph.iota dim = 1 : tensor<512x512xi32>
  %c = graph.binary ge %i, %j : tensor<512x512xi32>
  %d = graph.binary sub %i, %j : tensor<512x512xi32>
  %df = graph.cast %d : tensor<512x512xi32> -> tensor<512x512xf32>
  %g0 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %g1 = graph.expand %g0 : tensor<1x1xf32> -> tensor<512x512xf32>
  %g2 = graph.binary mul %df, %g1 : tensor<512x512xf32>
  %g3 = graph.unary exp %g2 : tensor<512x512xf32>
  %zero = graph.constant dense<0.0> : tensor<512x512xf32>
  %g4 = graph.select %c, %g3, %zero : tensor<512x512xf32>
  %g5 = graph.reshape %g4 : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %g = graph.expand %g5 : tensor<1x512x512xf32> -> tensor<9x512x512xf32>
  %sg = graph.binary mul %s, %g : tensor<9x512x512xf32>
  %p = graph.cast %sg : tensor<9x512x512xf32> -> tensor<9x512x512xf16>
  %pw = graph.cast %p : tensor<9x512x512xf16> -> tensor<9x512x512xf32>
  %pr = graph.reshape %pw : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %px = graph.expand %pr : tensor<9x512x512x1xf32> -> tensor<9x512x512x16xf32>
  %t1 = graph.binary mul %px, %vx : tensor<9x512x512x16xf32>
  %y = graph.reduce add %t1 dims = [2] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %yn = graph.cast %y : tensor<9x512x16xf32> -> tensor<9x512x16xf16>
  %t2 = graph.binary mul %px, %dyx : tensor<9x512x512x16xf32>
  %dv = graph.reduce add %t2 dims = [1] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dvn = graph.cast %dv : tensor<9x512x16xf32> -> tensor<9x512x16xf16>
  %t3 = graph.binary mul %dyx, %vx : tensor<9x512x512x16xf32>
  %dp = graph.reduce add %t3 dims = [3] : tensor<9x512x512x16xf32> -> tensor<9x512x512xf32>
  %dg = graph.binary mul %dp, %g : tensor<9x512x512xf32>
  %dr = graph.reshape %dg : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %dx = graph.expand %dr : tensor<9x512x512x1xf32> -> tensor<9x512x512x16xf32>
  %t4 = graph.binary mul %dx, %kx : tensor<9x512x512x16xf32>
  %dq = graph.reduce add %t4 dims = [2] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dqn = graph.cast %dq : tensor<9x512x16xf32> -> tensor<9x512x16xf16>
  %t5 = graph.binary mul %dx, %qx : tensor<9x512x512x16xf32>
  %dk = graph.reduce add %t5 dims = [1] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dkn = graph.cast %dk : tensor<9x512x16xf32> -> tensor<9x512x16xf16>
  return %yn, %dqn, %dkn, %dvn : tensor<9x512x16xf16>, tensor<9x512x16xf16>, tensor<9x512x16xf16>, tensor<9x512x16xf16>
}

// Scores that are returned are stored, and two products read them. Nobody else reads those that are not rounded.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-3: graph.unary exp
// CHECK-NOT: graph.unary exp
// CHECK: return
// GROUPS-LABEL: func.func @kept(
// GROUPS: graph.yield {{.*}}tensor<9x512x512xbf16>
// GROUPS-NOT: graph.yield {{.*}}tensor<9x512x512x
// GROUPS: return
func.func @kept(%q: tensor<9x512x16xbf16>, %k: tensor<9x512x16xbf16>, %v: tensor<9x512x16xbf16>, %dy: tensor<9x512x16xbf16>, %decay: tensor<f32>) -> (tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x512xbf16>) {
  %qw = graph.cast %q : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %qr = graph.reshape %qw : tensor<9x512x16xf32> -> tensor<9x512x1x16xf32>
  %qx = graph.expand %qr : tensor<9x512x1x16xf32> -> tensor<9x512x512x16xf32>
  %dyw = graph.cast %dy : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %dyr = graph.reshape %dyw : tensor<9x512x16xf32> -> tensor<9x512x1x16xf32>
  %dyx = graph.expand %dyr : tensor<9x512x1x16xf32> -> tensor<9x512x512x16xf32>
  %kw = graph.cast %k : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %kr = graph.reshape %kw : tensor<9x512x16xf32> -> tensor<9x1x512x16xf32>
  %kx = graph.expand %kr : tensor<9x1x512x16xf32> -> tensor<9x512x512x16xf32>
  %vw = graph.cast %v : tensor<9x512x16xbf16> -> tensor<9x512x16xf32>
  %vr = graph.reshape %vw : tensor<9x512x16xf32> -> tensor<9x1x512x16xf32>
  %vx = graph.expand %vr : tensor<9x1x512x16xf32> -> tensor<9x512x512x16xf32>
  %t = graph.binary mul %qx, %kx : tensor<9x512x512x16xf32>
  %s = graph.reduce add %t dims = [3] : tensor<9x512x512x16xf32> -> tensor<9x512x512xf32>
  %i = graph.iota dim = 0 : tensor<512x512xi32>
  %j = graph.iota dim = 1 : tensor<512x512xi32>
  %c = graph.binary ge %i, %j : tensor<512x512xi32>
  %d = graph.binary sub %i, %j : tensor<512x512xi32>
  %df = graph.cast %d : tensor<512x512xi32> -> tensor<512x512xf32>
  %g0 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %g1 = graph.expand %g0 : tensor<1x1xf32> -> tensor<512x512xf32>
  %g2 = graph.binary mul %df, %g1 : tensor<512x512xf32>
  %g3 = graph.unary exp %g2 : tensor<512x512xf32>
  %zero = graph.constant dense<0.0> : tensor<512x512xf32>
  %g4 = graph.select %c, %g3, %zero : tensor<512x512xf32>
  %g5 = graph.reshape %g4 : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %g = graph.expand %g5 : tensor<1x512x512xf32> -> tensor<9x512x512xf32>
  %sg = graph.binary mul %s, %g : tensor<9x512x512xf32>
  %p = graph.cast %sg : tensor<9x512x512xf32> -> tensor<9x512x512xbf16>
  %pw = graph.cast %p : tensor<9x512x512xbf16> -> tensor<9x512x512xf32>
  %pr = graph.reshape %pw : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %px = graph.expand %pr : tensor<9x512x512x1xf32> -> tensor<9x512x512x16xf32>
  %t1 = graph.binary mul %px, %vx : tensor<9x512x512x16xf32>
  %y = graph.reduce add %t1 dims = [2] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %yn = graph.cast %y : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  %t2 = graph.binary mul %px, %dyx : tensor<9x512x512x16xf32>
  %dv = graph.reduce add %t2 dims = [1] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dvn = graph.cast %dv : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  %t3 = graph.binary mul %dyx, %vx : tensor<9x512x512x16xf32>
  %dp = graph.reduce add %t3 dims = [3] : tensor<9x512x512x16xf32> -> tensor<9x512x512xf32>
  %dg = graph.binary mul %dp, %g : tensor<9x512x512xf32>
  %dr = graph.reshape %dg : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %dx = graph.expand %dr : tensor<9x512x512x1xf32> -> tensor<9x512x512x16xf32>
  %t4 = graph.binary mul %dx, %kx : tensor<9x512x512x16xf32>
  %dq = graph.reduce add %t4 dims = [2] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dqn = graph.cast %dq : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  %t5 = graph.binary mul %dx, %qx : tensor<9x512x512x16xf32>
  %dk = graph.reduce add %t5 dims = [1] : tensor<9x512x512x16xf32> -> tensor<9x512x16xf32>
  %dkn = graph.cast %dk : tensor<9x512x16xf32> -> tensor<9x512x16xbf16>
  return %yn, %dqn, %dkn, %dvn, %p : tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x16xbf16>, tensor<9x512x512xbf16>
}

// Sums of few terms show what two parts lack.
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-3: graph.unary exp
// CHECK-NOT: graph.unary exp
// CHECK: return
// GROUPS-LABEL: func.func @few(
// GROUPS-NOT: graph.yield {{.*}}tensor<68x128x128xbf16>
// GROUPS: graph.yield {{.*}}tensor<68x128x128xf32>
// GROUPS-NOT: graph.yield {{.*}}tensor<68x128x128x
// GROUPS: return
func.func @few(%q: tensor<68x128x16xbf16>, %k: tensor<68x128x16xbf16>, %v: tensor<68x128x16xbf16>, %dy: tensor<68x128x16xbf16>, %decay: tensor<f32>) -> (tensor<68x128x16xbf16>, tensor<68x128x16xbf16>, tensor<68x128x16xbf16>, tensor<68x128x16xbf16>) {
  %qw = graph.cast %q : tensor<68x128x16xbf16> -> tensor<68x128x16xf32>
  %qr = graph.reshape %qw : tensor<68x128x16xf32> -> tensor<68x128x1x16xf32>
  %qx = graph.expand %qr : tensor<68x128x1x16xf32> -> tensor<68x128x128x16xf32>
  %dyw = graph.cast %dy : tensor<68x128x16xbf16> -> tensor<68x128x16xf32>
  %dyr = graph.reshape %dyw : tensor<68x128x16xf32> -> tensor<68x128x1x16xf32>
  %dyx = graph.expand %dyr : tensor<68x128x1x16xf32> -> tensor<68x128x128x16xf32>
  %kw = graph.cast %k : tensor<68x128x16xbf16> -> tensor<68x128x16xf32>
  %kr = graph.reshape %kw : tensor<68x128x16xf32> -> tensor<68x1x128x16xf32>
  %kx = graph.expand %kr : tensor<68x1x128x16xf32> -> tensor<68x128x128x16xf32>
  %vw = graph.cast %v : tensor<68x128x16xbf16> -> tensor<68x128x16xf32>
  %vr = graph.reshape %vw : tensor<68x128x16xf32> -> tensor<68x1x128x16xf32>
  %vx = graph.expand %vr : tensor<68x1x128x16xf32> -> tensor<68x128x128x16xf32>
  %t = graph.binary mul %qx, %kx : tensor<68x128x128x16xf32>
  %s = graph.reduce add %t dims = [3] : tensor<68x128x128x16xf32> -> tensor<68x128x128xf32>
  %i = graph.iota dim = 0 : tensor<128x128xi32>
  %j = graph.iota dim = 1 : tensor<128x128xi32>
  %c = graph.binary ge %i, %j : tensor<128x128xi32>
  %d = graph.binary sub %i, %j : tensor<128x128xi32>
  %df = graph.cast %d : tensor<128x128xi32> -> tensor<128x128xf32>
  %g0 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %g1 = graph.expand %g0 : tensor<1x1xf32> -> tensor<128x128xf32>
  %g2 = graph.binary mul %df, %g1 : tensor<128x128xf32>
  %g3 = graph.unary exp %g2 : tensor<128x128xf32>
  %zero = graph.constant dense<0.0> : tensor<128x128xf32>
  %g4 = graph.select %c, %g3, %zero : tensor<128x128xf32>
  %g5 = graph.reshape %g4 : tensor<128x128xf32> -> tensor<1x128x128xf32>
  %g = graph.expand %g5 : tensor<1x128x128xf32> -> tensor<68x128x128xf32>
  %sg = graph.binary mul %s, %g : tensor<68x128x128xf32>
  %p = graph.cast %sg : tensor<68x128x128xf32> -> tensor<68x128x128xbf16>
  %pw = graph.cast %p : tensor<68x128x128xbf16> -> tensor<68x128x128xf32>
  %pr = graph.reshape %pw : tensor<68x128x128xf32> -> tensor<68x128x128x1xf32>
  %px = graph.expand %pr : tensor<68x128x128x1xf32> -> tensor<68x128x128x16xf32>
  %t1 = graph.binary mul %px, %vx : tensor<68x128x128x16xf32>
  %y = graph.reduce add %t1 dims = [2] : tensor<68x128x128x16xf32> -> tensor<68x128x16xf32>
  %yn = graph.cast %y : tensor<68x128x16xf32> -> tensor<68x128x16xbf16>
  %t2 = graph.binary mul %px, %dyx : tensor<68x128x128x16xf32>
  %dv = graph.reduce add %t2 dims = [1] : tensor<68x128x128x16xf32> -> tensor<68x128x16xf32>
  %dvn = graph.cast %dv : tensor<68x128x16xf32> -> tensor<68x128x16xbf16>
  %t3 = graph.binary mul %dyx, %vx : tensor<68x128x128x16xf32>
  %dp = graph.reduce add %t3 dims = [3] : tensor<68x128x128x16xf32> -> tensor<68x128x128xf32>
  %dg = graph.binary mul %dp, %g : tensor<68x128x128xf32>
  %dr = graph.reshape %dg : tensor<68x128x128xf32> -> tensor<68x128x128x1xf32>
  %dx = graph.expand %dr : tensor<68x128x128x1xf32> -> tensor<68x128x128x16xf32>
  %t4 = graph.binary mul %dx, %kx : tensor<68x128x128x16xf32>
  %dq = graph.reduce add %t4 dims = [2] : tensor<68x128x128x16xf32> -> tensor<68x128x16xf32>
  %dqn = graph.cast %dq : tensor<68x128x16xf32> -> tensor<68x128x16xbf16>
  %t5 = graph.binary mul %dx, %qx : tensor<68x128x128x16xf32>
  %dk = graph.reduce add %t5 dims = [1] : tensor<68x128x128x16xf32> -> tensor<68x128x16xf32>
  %dkn = graph.cast %dk : tensor<68x128x16xf32> -> tensor<68x128x16xbf16>
  return %yn, %dqn, %dkn, %dvn : tensor<68x128x16xbf16>, tensor<68x128x16xbf16>, tensor<68x128x16xbf16>, tensor<68x128x16xbf16>
}

// Few rows keep few multiprocessors busy.
// CHECK-LABEL: func.func @small(
// CHECK-COUNT-1: graph.unary exp
// CHECK-NOT: graph.unary exp
// CHECK: return
func.func @small(%q: tensor<2x512x16xbf16>, %k: tensor<2x512x16xbf16>, %v: tensor<2x512x16xbf16>, %dy: tensor<2x512x16xbf16>, %decay: tensor<f32>) -> (tensor<2x512x16xbf16>, tensor<2x512x16xbf16>, tensor<2x512x16xbf16>, tensor<2x512x16xbf16>) {
  %qw = graph.cast %q : tensor<2x512x16xbf16> -> tensor<2x512x16xf32>
  %qr = graph.reshape %qw : tensor<2x512x16xf32> -> tensor<2x512x1x16xf32>
  %qx = graph.expand %qr : tensor<2x512x1x16xf32> -> tensor<2x512x512x16xf32>
  %dyw = graph.cast %dy : tensor<2x512x16xbf16> -> tensor<2x512x16xf32>
  %dyr = graph.reshape %dyw : tensor<2x512x16xf32> -> tensor<2x512x1x16xf32>
  %dyx = graph.expand %dyr : tensor<2x512x1x16xf32> -> tensor<2x512x512x16xf32>
  %kw = graph.cast %k : tensor<2x512x16xbf16> -> tensor<2x512x16xf32>
  %kr = graph.reshape %kw : tensor<2x512x16xf32> -> tensor<2x1x512x16xf32>
  %kx = graph.expand %kr : tensor<2x1x512x16xf32> -> tensor<2x512x512x16xf32>
  %vw = graph.cast %v : tensor<2x512x16xbf16> -> tensor<2x512x16xf32>
  %vr = graph.reshape %vw : tensor<2x512x16xf32> -> tensor<2x1x512x16xf32>
  %vx = graph.expand %vr : tensor<2x1x512x16xf32> -> tensor<2x512x512x16xf32>
  %t = graph.binary mul %qx, %kx : tensor<2x512x512x16xf32>
  %s = graph.reduce add %t dims = [3] : tensor<2x512x512x16xf32> -> tensor<2x512x512xf32>
  %i = graph.iota dim = 0 : tensor<512x512xi32>
  %j = graph.iota dim = 1 : tensor<512x512xi32>
  %c = graph.binary ge %i, %j : tensor<512x512xi32>
  %d = graph.binary sub %i, %j : tensor<512x512xi32>
  %df = graph.cast %d : tensor<512x512xi32> -> tensor<512x512xf32>
  %g0 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %g1 = graph.expand %g0 : tensor<1x1xf32> -> tensor<512x512xf32>
  %g2 = graph.binary mul %df, %g1 : tensor<512x512xf32>
  %g3 = graph.unary exp %g2 : tensor<512x512xf32>
  %zero = graph.constant dense<0.0> : tensor<512x512xf32>
  %g4 = graph.select %c, %g3, %zero : tensor<512x512xf32>
  %g5 = graph.reshape %g4 : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %g = graph.expand %g5 : tensor<1x512x512xf32> -> tensor<2x512x512xf32>
  %sg = graph.binary mul %s, %g : tensor<2x512x512xf32>
  %p = graph.cast %sg : tensor<2x512x512xf32> -> tensor<2x512x512xbf16>
  %pw = graph.cast %p : tensor<2x512x512xbf16> -> tensor<2x512x512xf32>
  %pr = graph.reshape %pw : tensor<2x512x512xf32> -> tensor<2x512x512x1xf32>
  %px = graph.expand %pr : tensor<2x512x512x1xf32> -> tensor<2x512x512x16xf32>
  %t1 = graph.binary mul %px, %vx : tensor<2x512x512x16xf32>
  %y = graph.reduce add %t1 dims = [2] : tensor<2x512x512x16xf32> -> tensor<2x512x16xf32>
  %yn = graph.cast %y : tensor<2x512x16xf32> -> tensor<2x512x16xbf16>
  %t2 = graph.binary mul %px, %dyx : tensor<2x512x512x16xf32>
  %dv = graph.reduce add %t2 dims = [1] : tensor<2x512x512x16xf32> -> tensor<2x512x16xf32>
  %dvn = graph.cast %dv : tensor<2x512x16xf32> -> tensor<2x512x16xbf16>
  %t3 = graph.binary mul %dyx, %vx : tensor<2x512x512x16xf32>
  %dp = graph.reduce add %t3 dims = [3] : tensor<2x512x512x16xf32> -> tensor<2x512x512xf32>
  %dg = graph.binary mul %dp, %g : tensor<2x512x512xf32>
  %dr = graph.reshape %dg : tensor<2x512x512xf32> -> tensor<2x512x512x1xf32>
  %dx = graph.expand %dr : tensor<2x512x512x1xf32> -> tensor<2x512x512x16xf32>
  %t4 = graph.binary mul %dx, %kx : tensor<2x512x512x16xf32>
  %dq = graph.reduce add %t4 dims = [2] : tensor<2x512x512x16xf32> -> tensor<2x512x16xf32>
  %dqn = graph.cast %dq : tensor<2x512x16xf32> -> tensor<2x512x16xbf16>
  %t5 = graph.binary mul %dx, %qx : tensor<2x512x512x16xf32>
  %dk = graph.reduce add %t5 dims = [1] : tensor<2x512x512x16xf32> -> tensor<2x512x16xf32>
  %dkn = graph.cast %dk : tensor<2x512x16xf32> -> tensor<2x512x16xbf16>
  return %yn, %dqn, %dkn, %dvn : tensor<2x512x16xbf16>, tensor<2x512x16xbf16>, tensor<2x512x16xbf16>, tensor<2x512x16xbf16>
}
