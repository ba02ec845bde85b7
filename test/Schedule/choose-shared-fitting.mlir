// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// Two tiles of 128 for 197 rows would be beyond the end for the most part. Threads have 10 or 13 rows: those of 200, or of 208, are
// hardly more than there are. The copy engine's ring, whose tiles are 128 by 128, takes longer.
// CHECK-LABEL: kernel.func @scores
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"b0", 1>, #kernel.grid_step<"m", 100>, #kernel.block_step<<10 x 10, rows 10, depth 16, pack lhs rhs>>]>, threads = 256
kernel.func @scores(%q: !kernel.buffer<f32, global>, %k: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[4096, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <4096x197x64xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <4096x197x64xf32, global> -> tensor<4096x197x64xf32>
  %2 = kernel.view %k map <[<[4096, 64, 197] strides [12608, 1, 64]>]> : <f32, global> -> <4096x64x197xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <4096x64x197xf32, global> -> tensor<4096x64x197xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<4096x197x197xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<4096x197x64xf32>, tensor<4096x64x197xf32> -> tensor<4096x197x197xf32>
  %5 = kernel.view %y map <[<[4096, 197, 197] strides [39400, 200, 1]>]> : <f32, global> -> <4096x197x197xf32, global>
  kernel.store %4, %5[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<4096x197x197xf32>, <4096x197x197xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @results
// CHECK-SAME:  #kernel.grid_step<"m", 104>, #kernel.block_step<<13 x 8, rows 13, depth 8, pack lhs rhs>>]>
kernel.func @results(%p: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[4096, 197, 197] strides [39400, 200, 1]>]> : <f32, global> -> <4096x197x197xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <4096x197x197xf32, global> -> tensor<4096x197x197xf32>
  %2 = kernel.view %v map <[<[4096, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <4096x197x64xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <4096x197x64xf32, global> -> tensor<4096x197x64xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<4096x197x64xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<4096x197x197xf32>, tensor<4096x197x64xf32> -> tensor<4096x197x64xf32>
  %5 = kernel.view %y map <[<[4096, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <4096x197x64xf32, global>
  kernel.store %4, %5[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<4096x197x64xf32>, <4096x197x64xf32, global>
  kernel.return
}

// What lies along rows is read one by one: no vectors divide them.
// CHECK-LABEL: kernel.func @transposed
// CHECK-SAME:  #kernel.grid_step<"m", 128>, #kernel.block_step<<8 x 8,
kernel.func @transposed(%p: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[4096, 197, 197] strides [39400, 1, 200]>]> : <f32, global> -> <4096x197x197xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <4096x197x197xf32, global> -> tensor<4096x197x197xf32>
  %2 = kernel.view %v map <[<[4096, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <4096x197x64xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <4096x197x64xf32, global> -> tensor<4096x197x64xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<4096x197x64xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<4096x197x197xf32>, tensor<4096x197x64xf32> -> tensor<4096x197x64xf32>
  %5 = kernel.view %y map <[<[4096, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <4096x197x64xf32, global>
  kernel.store %4, %5[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<4096x197x64xf32>, <4096x197x64xf32, global>
  kernel.return
}

// Of few products large tiles would leave multiprocessors idle.
// CHECK-LABEL: kernel.func @few
// CHECK-NOT:   block_step<<13
// CHECK-NOT:   block_step<<10
// CHECK:       kernel.return
kernel.func @few(%p: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[16, 197, 197] strides [39400, 200, 1]>]> : <f32, global> -> <16x197x197xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <16x197x197xf32, global> -> tensor<16x197x197xf32>
  %2 = kernel.view %v map <[<[16, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <16x197x64xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <16x197x64xf32, global> -> tensor<16x197x64xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<16x197x64xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<16x197x197xf32>, tensor<16x197x64xf32> -> tensor<16x197x64xf32>
  %5 = kernel.view %y map <[<[16, 197, 64] strides [12608, 64, 1]>]> : <f32, global> -> <16x197x64xf32, global>
  kernel.store %4, %5[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<16x197x64xf32>, <16x197x64xf32, global>
  kernel.return
}
