// RUN: zyx-opt %s -zyx-kernel-stage-reused | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-stage-reused=max-bytes=100 | FileCheck %s --check-prefix=SMALL

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
