// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v3 -zyx-kernel-stage-reused | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused | FileCheck %s --check-prefix=CARD

// Weights of one query are summed, and multiplied with the values of their keys. Both sums wait for the maximum, but
// they are two loops: the second one would compute a weight again for each key, one at a time. What is multiplied in a
// sum as wide as that of the weights is one loop with it.
// CHECK-LABEL: kernel.func @weighted
// CHECK:       %[[E:.*]] = math.exp
// CHECK-NEXT:  %[[M:.*]] = kernel.convert %[[E]] : tensor<100xf32> -> tensor<100xf32, #kernel.memory<private>>
// CHECK-NEXT:  %[[R:.*]] = kernel.convert %[[M]]
// CHECK-NEXT:  kernel.reduce add %[[R]]
// CHECK:       kernel.broadcast %[[R]]
// CHECK-NOT:   kernel.convert
// CHECK-LABEL: kernel.func @alike
// CHECK-NOT:   kernel.convert
// CHECK:       kernel.return
// CARD-NOT:    kernel.convert
kernel.func @weighted(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[100] strides [1]>]> : <f32, global> -> <100xf32, global>
  %vs = kernel.view %v map <[<[100, 32] strides [32, 1]>]> : <f32, global> -> <100x32xf32, global>
  %ys = kernel.view %y map <[<[32] strides [1]>]> : <f32, global> -> <32xf32, global>
  %t = kernel.load %xs[%c0] axes ["k"] in_bounds [true] : <100xf32, global> -> tensor<100xf32>
  %m = kernel.reduce max %t dims [0] : tensor<100xf32> -> tensor<f32>
  %mb = kernel.broadcast %m dims [] : tensor<f32> -> tensor<100xf32>
  %d = arith.subf %t, %mb : tensor<100xf32>
  %e = math.exp %d : tensor<100xf32>
  %s = kernel.reduce add %e dims [0] : tensor<100xf32> -> tensor<f32>
  %wide = kernel.broadcast %e dims [0] : tensor<100xf32> -> tensor<100x32xf32>
  %values = kernel.load %vs[%c0, %c0] axes ["k", "j"] in_bounds [true, true] : <100x32xf32, global> -> tensor<100x32xf32>
  %p = arith.mulf %wide, %values : tensor<100x32xf32>
  %r = kernel.reduce add %p dims [0] : tensor<100x32xf32> -> tensor<32xf32>
  %sb = kernel.broadcast %s dims [] : tensor<f32> -> tensor<32xf32>
  %q = arith.divf %r, %sb : tensor<32xf32>
  kernel.store %q, %ys[%c0] in_bounds [true] : tensor<32xf32>, <32xf32, global>
  kernel.return
}

kernel.func @alike(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[100] strides [1]>]> : <f32, global> -> <100xf32, global>
  %vs = kernel.view %v map <[<[100] strides [1]>]> : <f32, global> -> <100xf32, global>
  %ys = kernel.view %y map <[<[] strides []>]> : <f32, global> -> <f32, global>
  %t = kernel.load %xs[%c0] axes ["k"] in_bounds [true] : <100xf32, global> -> tensor<100xf32>
  %m = kernel.reduce max %t dims [0] : tensor<100xf32> -> tensor<f32>
  %mb = kernel.broadcast %m dims [] : tensor<f32> -> tensor<100xf32>
  %d = arith.subf %t, %mb : tensor<100xf32>
  %e = math.exp %d : tensor<100xf32>
  %s = kernel.reduce add %e dims [0] : tensor<100xf32> -> tensor<f32>
  %values = kernel.load %vs[%c0] axes ["k"] in_bounds [true] : <100xf32, global> -> tensor<100xf32>
  %p = arith.mulf %e, %values : tensor<100xf32>
  %r = kernel.reduce add %p dims [0] : tensor<100xf32> -> tensor<f32>
  %q = arith.divf %r, %s : tensor<f32>
  kernel.store %q, %ys[] in_bounds [] : tensor<f32>, <f32, global>
  kernel.return
}
