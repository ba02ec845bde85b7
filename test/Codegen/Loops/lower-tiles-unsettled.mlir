// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=33000' -zyx-kernel-lower-tiles -split-input-file -verify-diagnostics

// What -zyx-kernel-settle-memory sees to is refused where it has not been there: nothing is lowered twice.

#z = #kernel.map<[#kernel.block<[8, 8192] strides [8192, 1]>]>
!z = !kernel.view<8x8192xf32, global>
!buffer = !kernel.buffer<f32, global>
// expected-error@+1 {{has threads that share 33088 bytes; there are 33000}}
kernel.func @softmax(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #z : !buffer -> !z
  %ys = kernel.view %y map #z : !buffer -> !z
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !z -> tensor<1x8192xf32>
    %k = kernel.convert %t : tensor<1x8192xf32> -> tensor<1x8192xf32, #kernel.memory<shared>>
    %r = kernel.convert %k : tensor<1x8192xf32, #kernel.memory<shared>> -> tensor<1x8192xf32>
    %s = kernel.reduce add %r dims [1] : tensor<1x8192xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x8192xf32>
    %d = arith.divf %r, %b : tensor<1x8192xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x8192xf32>, !z
  }
  kernel.return
}

// -----

!f = !kernel.buffer<f32, global>
kernel.func @plain(%x: !f, %w: !f, %y: !f) attributes {threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !f -> !kernel.view<8x16xf32, global>
  %b = kernel.view %w map <[<[16, 8] strides [8, 1]>]> : !f -> !kernel.view<16x8xf32, global>
  %c = kernel.view %y map <[<[8, 8] strides [8, 1]>]> : !f -> !kernel.view<8x8xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x8xf32, global> -> tensor<16x8xf32>
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error@+1 {{is not one that threads multiply together}}
  %d = kernel.dot %at, %bt, %z : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x8xf32>, !kernel.view<8x8xf32, global>
  kernel.return
}

// -----

#long = #kernel.map<[#kernel.block<[8, 2048] strides [2048, 1]>]>
!long = !kernel.view<8x2048xf32, global>
!buffer = !kernel.buffer<f32, global>
// expected-error@+1 {{has tiles that workgroups of a cluster would have to read of each other}}
kernel.func @apart(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64, cluster = 2 : i64} {
  %xs = kernel.view %x map #long : !buffer -> !long
  %ys = kernel.view %y map #long : !buffer -> !long
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x2048xf32>
    %m = kernel.convert %t : tensor<1x2048xf32> -> tensor<1x2048xf32, #kernel.memory<shared>>
    %k = kernel.convert %m : tensor<1x2048xf32, #kernel.memory<shared>> -> tensor<1x2048xf32>
    %s = kernel.reduce add %k dims [1] : tensor<1x2048xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
    %d = arith.subf %t, %b : tensor<1x2048xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x2048xf32>, !long
  }
  kernel.return
}

// -----

!buffer = !kernel.buffer<f32, global>
kernel.func @carried(%x: !buffer, %y: !buffer) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !buffer -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !buffer -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %z = arith.constant dense<0.0> : tensor<8x16xf32>
  // expected-error@+1 {{carries a tile that has no memory of its own}}
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %z) -> (tensor<8x16xf32>) {
    %b = arith.addf %a, %t : tensor<8x16xf32>
    scf.yield %b : tensor<8x16xf32>
  }
  kernel.store %s, %w[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}
