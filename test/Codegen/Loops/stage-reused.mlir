// RUN: zyx-opt %s -zyx-kernel-stage-reused | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=memory.privateBytes=100,simt.sharedBytes=0' -zyx-kernel-stage-reused | FileCheck %s --check-prefix=SMALL
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused | FileCheck %s --check-prefix=ROWS
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v3 -zyx-kernel-stage-reused | FileCheck %s --check-prefix=HOST

// The exponentials are summed and divided by the sum: computed once. The differences are cheap.
// CHECK-LABEL: kernel.func @softmax
// CHECK:       %[[D:.*]] = arith.subf
// CHECK-NEXT:  %[[E:.*]] = math.exp %[[D]]
// CHECK-NEXT:  %[[M:.*]] = kernel.convert %[[E]] : tensor<64xf32> -> tensor<64xf32, #kernel.memory<private>>
// CHECK-NEXT:  %[[R:.*]] = kernel.convert %[[M]]
// CHECK-NEXT:  kernel.reduce add %[[R]]
// CHECK:       arith.divf %[[R]]
// SMALL-LABEL: kernel.func @softmax
// SMALL-NOT:   kernel.convert
kernel.func @softmax(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %w = kernel.view %y map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %t = kernel.load %v[%c0] axes ["j"] in_bounds [true] : !kernel.view<64xf32, global> -> tensor<64xf32>
  %m = kernel.reduce max %t dims [0] : tensor<64xf32> -> tensor<f32>
  %mb = kernel.broadcast %m dims [] : tensor<f32> -> tensor<64xf32>
  %d = arith.subf %t, %mb : tensor<64xf32>
  %e = math.exp %d : tensor<64xf32>
  %s = kernel.reduce add %e dims [0] : tensor<64xf32> -> tensor<f32>
  %sb = kernel.broadcast %s dims [] : tensor<f32> -> tensor<64xf32>
  %r = arith.divf %e, %sb : tensor<64xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<64xf32>, !kernel.view<64xf32, global>
  kernel.return
}

// Rows of 100 KB that threads walk twice are kept as they were read, those that are read once are not, nor is what all
// programs read. The sum that looks at one place is no walk, and neither is one that is taken along with the maximum.
// ROWS-LABEL: kernel.func @long_rows
// ROWS: %[[X:.*]] = kernel.load {{.*}} -> tensor<1x50304xbf16>
// ROWS-NEXT: %[[K:.*]] = kernel.convert %[[X]] : tensor<1x50304xbf16> -> tensor<1x50304xbf16, #kernel.memory<shared>>
// ROWS-NEXT: %[[R:.*]] = kernel.convert %[[K]]
// ROWS-NEXT: arith.extf %[[R]]
// ROWS-NOT: kernel.convert
// ROWS-LABEL: kernel.func @once
// ROWS-NOT: kernel.convert
// ROWS: kernel.return
// CHECK-LABEL: kernel.func @long_rows
// CHECK-NOT: kernel.memory
// CHECK: kernel.return
!long = !kernel.view<64x50304xbf16, global>
!index = !kernel.view<64xi64, global>
!result = !kernel.view<64xf32, global>
#long = #kernel.map<[#kernel.block<[64, 50304] strides [50304, 1]>]>
#result = #kernel.map<[#kernel.block<[64] strides [1]>]>
kernel.func @long_rows(%x: !kernel.buffer<bf16, global>, %w: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) attributes {threads = 512 : i64} {
  %xs = kernel.view %x map #long : !kernel.buffer<bf16, global> -> !long
  %ws = kernel.view %w map #long : !kernel.buffer<bf16, global> -> !long
  %ys = kernel.view %y map #long : !kernel.buffer<bf16, global> -> !long
  kernel.grid (%i) in [64] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x50304xbf16>
    %t32 = arith.extf %t : tensor<1x50304xbf16> to tensor<1x50304xf32>
    %u = kernel.load %ws[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x50304xbf16>
    %u32 = arith.extf %u : tensor<1x50304xbf16> to tensor<1x50304xf32>
    %p = arith.mulf %t32, %u32 : tensor<1x50304xf32>
    %s = kernel.reduce add %p dims [1] : tensor<1x50304xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x50304xf32>
    %d = arith.mulf %p, %b : tensor<1x50304xf32>
    %d16 = arith.truncf %d : tensor<1x50304xf32> to tensor<1x50304xbf16>
    kernel.store %d16, %ys[%i, %c0] in_bounds [true, true] : tensor<1x50304xbf16>, !long
  }
  kernel.return
}
kernel.func @once(%x: !kernel.buffer<bf16, global>, %n: !kernel.buffer<i64, global>, %y: !kernel.buffer<f32, global>) attributes {threads = 512 : i64} {
  %xs = kernel.view %x map #long : !kernel.buffer<bf16, global> -> !long
  %ns = kernel.view %n map #result : !kernel.buffer<i64, global> -> !index
  %ys = kernel.view %y map #result : !kernel.buffer<f32, global> -> !result
  kernel.grid (%i) in [64] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x50304xbf16>
    %t32 = arith.extf %t : tensor<1x50304xbf16> to tensor<1x50304xf32>
    %m = kernel.reduce max %t32 dims [1] : tensor<1x50304xf32> -> tensor<1xf32>
    %mb = kernel.broadcast %m dims [0] : tensor<1xf32> -> tensor<1x50304xf32>
    %d = arith.subf %t32, %mb : tensor<1x50304xf32>
    %e = math.exp %d : tensor<1x50304xf32>
    %s = kernel.reduce add %e dims [1] : tensor<1x50304xf32> -> tensor<1xf32>
    %number = kernel.load %ns[%i] axes ["r"] in_bounds [true] : !index -> tensor<1xi64>
    %places = kernel.iota dim 0 axes ["c"] : tensor<50304xi64>
    %nb = kernel.broadcast %number dims [0] : tensor<1xi64> -> tensor<1x50304xi64>
    %pb = kernel.broadcast %places dims [1] : tensor<50304xi64> -> tensor<1x50304xi64>
    %is = arith.cmpi eq, %nb, %pb : tensor<1x50304xi64>
    %zero = arith.constant dense<0.0> : tensor<1x50304xf32>
    %one = arith.select %is, %d, %zero : tensor<1x50304xi1>, tensor<1x50304xf32>
    %minus = arith.negf %one : tensor<1x50304xf32>
    %chosen = kernel.reduce add %minus dims [1] : tensor<1x50304xf32> -> tensor<1xf32>
    %loss = arith.divf %chosen, %s : tensor<1xf32>
    kernel.store %loss, %ys[%i] in_bounds [true] : tensor<1xf32>, !result
  }
  kernel.return
}

// What is slow to compute and the same for all positions is kept for those of a processor, though one store alone reads it: vectors
// run along channels that come last, and each position would compute it again. A difference is not slow, and what is repeated
// seldom stays where it is.
// HOST-LABEL: kernel.func @channels
// HOST: %[[R:.*]] = math.rsqrt
// HOST-NEXT: %[[M:.*]] = kernel.convert %[[R]] : tensor<32xf32> -> tensor<32xf32, #kernel.memory<private>>
// HOST-NEXT: %[[K:.*]] = kernel.convert %[[M]]
// HOST-NEXT: kernel.broadcast %[[K]]
// HOST: arith.subf
// HOST-NOT: kernel.convert
// HOST-LABEL: kernel.func @seldom
// HOST-NOT: kernel.convert
// HOST: kernel.return
// CHECK-LABEL: kernel.func @channels
// CHECK-NOT: kernel.convert
// CHECK-LABEL: kernel.func @seldom
kernel.func @channels(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %m: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : <f32, global> -> <64x32xf32, global>
  %vs = kernel.view %v map <[<[32] strides [1]>]> : <f32, global> -> <32xf32, global>
  %ms = kernel.view %m map <[<[32] strides [1]>]> : <f32, global> -> <32xf32, global>
  %ys = kernel.view %y map <[<[64, 32] strides [32, 1]>]> : <f32, global> -> <64x32xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["i", "c"] in_bounds [true, true] : <64x32xf32, global> -> tensor<64x32xf32>
  %b = kernel.load %vs[%c0] axes ["c"] in_bounds [true] : <32xf32, global> -> tensor<32xf32>
  %d = kernel.load %ms[%c0] axes ["c"] in_bounds [true] : <32xf32, global> -> tensor<32xf32>
  %r = math.rsqrt %b : tensor<32xf32>
  %e = kernel.broadcast %r dims [1] : tensor<32xf32> -> tensor<64x32xf32>
  %n = arith.subf %d, %b : tensor<32xf32>
  %f = kernel.broadcast %n dims [1] : tensor<32xf32> -> tensor<64x32xf32>
  %p = arith.mulf %a, %e : tensor<64x32xf32>
  %s = arith.addf %p, %f : tensor<64x32xf32>
  kernel.store %s, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x32xf32>, <64x32xf32, global>
  kernel.return
}

kernel.func @seldom(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[4, 32] strides [32, 1]>]> : <f32, global> -> <4x32xf32, global>
  %vs = kernel.view %v map <[<[32] strides [1]>]> : <f32, global> -> <32xf32, global>
  %ys = kernel.view %y map <[<[4, 32] strides [32, 1]>]> : <f32, global> -> <4x32xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["i", "c"] in_bounds [true, true] : <4x32xf32, global> -> tensor<4x32xf32>
  %b = kernel.load %vs[%c0] axes ["c"] in_bounds [true] : <32xf32, global> -> tensor<32xf32>
  %r = math.rsqrt %b : tensor<32xf32>
  %e = kernel.broadcast %r dims [1] : tensor<32xf32> -> tensor<4x32xf32>
  %p = arith.mulf %a, %e : tensor<4x32xf32>
  kernel.store %p, %ys[%c0, %c0] in_bounds [true, true] : tensor<4x32xf32>, <4x32xf32, global>
  kernel.return
}
