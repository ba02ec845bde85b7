// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v3 --zyx-kernel-settle-memory --zyx-kernel-lower-tiles --canonicalize --cse --zyx-kernel-verify-form=form=lowered | FileCheck %s

// The plane that windows slide over is copied as integers in the order of the floats: an element is turned once, and windows
// compare integers.
// CHECK-LABEL: kernel.func @pool
// CHECK: %[[NEAR:.*]] = kernel.alloc : <{{.*}}xi32, private>
// CHECK: arith.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
// CHECK: kernel.store %{{.*}}, %[[NEAR]]{{.*}} : vector<8xi32>
// CHECK: kernel.load %[[NEAR]]{{.*}} -> vector<8xi32>
// CHECK-NOT: arith.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
// CHECK: arith.maxsi
// CHECK: arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
kernel.func @pool(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %xs = kernel.view %x map <[<[24, 32, 3, 3] strides [34, 1, 34, 1]>, <[26, 34] strides [32, 1] offset -33 valid [1 : 25, 1 : 33]>]> : <f32, global> -> <24x32x3x3xf32, global>
  %ys = kernel.view %y map <[<[24, 32] strides [32, 1]>]> : <f32, global> -> <24x32xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0] other %least : f32 axes ["i", "j", "p", "q"] in_bounds [true, true, true, true] : <24x32x3x3xf32, global> -> tensor<24x32x3x3xf32>
  %s = kernel.reduce max %a dims [2, 3] : tensor<24x32x3x3xf32> -> tensor<24x32xf32>
  kernel.store %s, %ys[%c0, %c0] in_bounds [true, true] : tensor<24x32xf32>, <24x32xf32, global>
  kernel.return
}

// Windows that are moved by two elements read every second one of the copy: two vectors, of which lanes are chosen. Images and
// their channels are one dimension of the result. Floats of 16 bits are compared as integers, too.
// CHECK-LABEL: kernel.func @moved
// CHECK: %[[NEAR:.*]] = kernel.alloc : <{{.*}}xi16, private>
// CHECK: arith.bitcast %{{.*}} : vector<16xf16> to vector<16xi16>
// CHECK: kernel.store %{{.*}}, %[[NEAR]]{{.*}} : vector<16xi16>
// CHECK: %[[A:.*]] = kernel.load %[[NEAR]]{{.*}} -> vector<16xi16>
// CHECK: %[[B:.*]] = kernel.load %[[NEAR]]{{.*}} -> vector<16xi16>
// CHECK: vector.shuffle %[[A]], %[[B]] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK-NOT: arith.extf
// CHECK: arith.maxsi {{.*}} : vector<16xi16>
// CHECK: arith.bitcast %{{.*}} : vector<16xi16> to vector<16xf16>
kernel.func @moved(%x: !kernel.buffer<f16, global>, %y: !kernel.buffer<f16, global>) {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFC00 : f16
  %xs = kernel.view %x map <[<[6, 16, 16, 3, 3] strides [1156, 68, 2, 34, 1]>, <[2, 3, 34, 34] strides [3072, 1024, 32, 1] offset -33 valid [0 : 2, 0 : 3, 1 : 33, 1 : 33]>]> : <f16, global> -> <6x16x16x3x3xf16, global>
  %ys = kernel.view %y map <[<[6, 16, 16] strides [256, 16, 1]>]> : <f16, global> -> <6x16x16xf16, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0, %c0] other %least : f16 axes ["n", "i", "j", "p", "q"] in_bounds [true, true, true, true, true] : <6x16x16x3x3xf16, global> -> tensor<6x16x16x3x3xf16>
  %s = kernel.reduce max %a dims [3, 4] : tensor<6x16x16x3x3xf16> -> tensor<6x16x16xf16>
  kernel.store %s, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<6x16x16xf16>, <6x16x16xf16, global>
  kernel.return
}

// Rows of 11 elements are two vectors where they are read, as they are where they are copied: each vector of the copy is
// read 35 times by 11, though only 385 elements are read of 176.
// CHECK-LABEL: kernel.func @short_rows
// CHECK: %[[NEAR:.*]] = kernel.alloc : <{{.*}}xi32, private>
// CHECK: kernel.store %{{.*}}, %[[NEAR]]{{.*}} : vector<8xi32>
// CHECK: kernel.load %[[NEAR]]{{.*}} -> vector<8xi32>
// CHECK: arith.maxsi
kernel.func @short_rows(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %xs = kernel.view %x map <[<[16, 7, 11, 5] strides [121, 11, 1, 11]>, <[16, 11, 11] strides [49, 7, 1] offset -16 valid [0 : 16, 2 : 9, 2 : 9]>]> : <f32, global> -> <16x7x11x5xf32, global>
  %ys = kernel.view %y map <[<[16, 7, 11] strides [77, 11, 1]>]> : <f32, global> -> <16x7x11xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0] other %least : f32 axes ["n", "i", "j", "p"] in_bounds [true, true, true, true] : <16x7x11x5xf32, global> -> tensor<16x7x11x5xf32>
  %s = kernel.reduce max %a dims [3] : tensor<16x7x11x5xf32> -> tensor<16x7x11xf32>
  kernel.store %s, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<16x7x11xf32>, <16x7x11xf32, global>
  kernel.return
}
