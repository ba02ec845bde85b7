// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse | FileCheck %s

// Halves of rows are 64 elements: vectors of 4 are inside or outside as a whole, and read behind one branch.
// CHECK-LABEL: kernel.func @halves
// CHECK: scf.if
// CHECK-NEXT: kernel.load {{.*}} -> vector<4xf32>
// CHECK-NOT: mask
kernel.func @halves(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[256, 128] strides [64, 1] valid [0 : 256, 0 : 64]>]> : <f32, global> -> <256x128xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i0", "i1"] in_bounds [true, true] : <256x128xf32, global> -> tensor<256x128xf32>
  %2 = kernel.view %y map <[<[256, 128] strides [128, 1]>]> : <f32, global> -> <256x128xf32, global>
  kernel.store %1, %2[%c0, %c0] in_bounds [true, true] : tensor<256x128xf32>, <256x128xf32, global>
  kernel.return
}

// A bound of 62 cuts vectors.
// CHECK-LABEL: kernel.func @cut
// CHECK: kernel.load {{.*}} mask
kernel.func @cut(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[256, 128] strides [64, 1] valid [0 : 256, 0 : 62]>]> : <f32, global> -> <256x128xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i0", "i1"] in_bounds [true, true] : <256x128xf32, global> -> tensor<256x128xf32>
  %2 = kernel.view %y map <[<[256, 128] strides [128, 1]>]> : <f32, global> -> <256x128xf32, global>
  kernel.store %1, %2[%c0, %c0] in_bounds [true, true] : tensor<256x128xf32>, <256x128xf32, global>
  kernel.return
}
