// RUN: zyx-opt %s -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse | FileCheck %s --check-prefix=BITS

// Without an instruction for the maximum, the bits of a row are compared as integers, with NaN at their end. What
// a row's maximum was taken from has exponentials that do not overflow.
// CHECK-LABEL: kernel.func @distances
// CHECK:       arith.maximumf {{.*}} : vector<16xf32>
// CHECK:       math.exp {{.*}} {kernel.nonpositive}
// CHECK:       kernel.return
// BITS-LABEL:  kernel.func @distances
// BITS-NOT:    arith.maximumf
// BITS:        arith.maxsi {{.*}} : vector<16xi32>
// BITS-NOT:    arith.maximumf
// BITS:        kernel.return
kernel.func @distances(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[4, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x64xf32, global>
  %w = kernel.view %y map <[<[4, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x64xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<4x64xf32, global> -> tensor<4x64xf32>
  %m = kernel.reduce max %t dims [1] : tensor<4x64xf32> -> tensor<4xf32>
  %b = kernel.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x64xf32>
  %d = arith.subf %t, %b : tensor<4x64xf32>
  %e = math.exp %d : tensor<4x64xf32>
  kernel.store %e, %w[%c0, %c0] in_bounds [true, true] : tensor<4x64xf32>, !kernel.view<4x64xf32, global>
  kernel.return
}

// The maximum of other numbers says nothing.
// CHECK-LABEL: kernel.func @others
// CHECK-NOT:   kernel.nonpositive
// CHECK:       kernel.return
kernel.func @others(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[4, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x64xf32, global>
  %w = kernel.view %y map <[<[4, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x64xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<4x64xf32, global> -> tensor<4x64xf32>
  %n = arith.negf %t : tensor<4x64xf32>
  %m = kernel.reduce max %n dims [1] : tensor<4x64xf32> -> tensor<4xf32>
  %b = kernel.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x64xf32>
  %d = arith.subf %t, %b : tensor<4x64xf32>
  %e = math.exp %d : tensor<4x64xf32>
  kernel.store %e, %w[%c0, %c0] in_bounds [true, true] : tensor<4x64xf32>, !kernel.view<4x64xf32, global>
  kernel.return
}
