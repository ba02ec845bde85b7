// RUN: zyx-opt %s -zyx-kernel-divide-aligned -cse | FileCheck %s

// Eight neighbours from a multiple of eight on share the quotient by 112, a multiple of eight.
// CHECK-LABEL: kernel.func @neighbours
// CHECK: kernel.grid (%[[I:.*]]) in [896] step [8]
// CHECK-DAG: %[[Q:.*]] = arith.divui %[[I]], %c112
// CHECK-DAG: %[[R:.*]] = arith.remui %[[I]], %c112
// CHECK: %[[N:.*]] = arith.addi %[[R]], %c3
// CHECK: kernel.store %{{.*}}[%[[Q]]]
// CHECK: kernel.store %{{.*}}[%[[N]]]
kernel.func @neighbours(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c3 = arith.constant 3 : index
  %c112 = arith.constant 112 : index
  %one = arith.constant 1.0 : f32
  %v = kernel.view %x map <[<[896] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<896xf32, global>
  kernel.grid (%i) in [896] step [8] {
    %0 = arith.addi %i, %c3 : index
    %1 = arith.divui %0, %c112 : index
    %2 = arith.remui %0, %c112 : index
    kernel.store %one, %v[%1] : f32, !kernel.view<896xf32, global>
    kernel.store %one, %v[%2] : f32, !kernel.view<896xf32, global>
  }
  kernel.return
}

// The step and the divisor have 4 in common, and 9 is one more than a multiple of it. Sums are cast.
// CHECK-LABEL: kernel.func @partly
// CHECK: kernel.grid (%[[I:.*]]) in [896] step [8]
// CHECK: %[[C:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[A:.*]] = arith.addi %[[C]], %c8_i32 : i32
// CHECK: %[[R:.*]] = arith.remui %[[A]], %c12_i32 : i32
// CHECK: %[[N:.*]] = arith.addi %[[R]], %c1_i32 : i32
// CHECK: arith.index_cast %[[N]] : i32 to index
kernel.func @partly(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c9 = arith.constant 9 : index
  %c12 = arith.constant 12 : i32
  %one = arith.constant 1.0 : f32
  %v = kernel.view %x map <[<[896] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<896xf32, global>
  kernel.grid (%i) in [896] step [8] {
    %0 = arith.addi %i, %c9 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.remui %1, %c12 : i32
    %3 = arith.index_cast %2 : i32 to index
    kernel.store %one, %v[%3] : f32, !kernel.view<896xf32, global>
  }
  kernel.return
}

// Whole divisors go into the quotient. Of a multiple of the divisor the remainder is known.
// CHECK-LABEL: kernel.func @whole
// CHECK: kernel.grid (%[[I:.*]]) in [147] step [6]
// CHECK-DAG: %[[Q:.*]] = arith.divui %[[I]], %c3
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[Q]], %c1
// CHECK-NOT: arith.remui
// CHECK: kernel.store %{{.*}}[%[[NEXT]]]
// CHECK: kernel.store %{{.*}}[%c2]
kernel.func @whole(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  %v = kernel.view %x map <[<[896] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<896xf32, global>
  kernel.grid (%i) in [147] step [6] {
    %0 = arith.addi %i, %c5 : index
    %1 = arith.divui %0, %c3 : index
    %2 = arith.remui %0, %c3 : index
    kernel.store %one, %v[%1] : f32, !kernel.view<896xf32, global>
    kernel.store %one, %v[%2] : f32, !kernel.view<896xf32, global>
  }
  kernel.return
}

// Read backwards, the sum without its whole divisors would be negative.
// CHECK-LABEL: kernel.func @backwards
// CHECK: %[[BACK:.*]] = arith.muli
// CHECK: %[[SUM:.*]] = arith.addi %[[BACK]], %c184
// CHECK: arith.divui %[[SUM]], %c5
// CHECK: arith.remui %[[SUM]], %c5
kernel.func @backwards(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c5 = arith.constant 5 : index
  %c184 = arith.constant 184 : index
  %minus = arith.constant -1 : index
  %one = arith.constant 1.0 : f32
  %v = kernel.view %x map <[<[896] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<896xf32, global>
  kernel.grid (%i) in [185] step [8] {
    %0 = arith.muli %i, %minus : index
    %1 = arith.addi %0, %c184 : index
    %2 = arith.divui %1, %c5 : index
    %3 = arith.remui %1, %c5 : index
    kernel.store %one, %v[%2] : f32, !kernel.view<896xf32, global>
    kernel.store %one, %v[%3] : f32, !kernel.view<896xf32, global>
  }
  kernel.return
}

// Nothing is known of a step of one, of 113, and of what a difference leaves.
// CHECK-LABEL: kernel.func @unknown
// CHECK: arith.addi
// CHECK: arith.divui %{{.*}}, %c112
// CHECK: arith.addi
// CHECK: arith.divui %{{.*}}, %c113
// CHECK: arith.subi
// CHECK: arith.addi
// CHECK: arith.divui %{{.*}}, %c112
kernel.func @unknown(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c112 = arith.constant 112 : index
  %c113 = arith.constant 113 : index
  %one = arith.constant 1.0 : f32
  %v = kernel.view %x map <[<[896] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<896xf32, global>
  kernel.grid (%i, %j) in [896, 896] step [1, 8] {
    %0 = arith.addi %i, %c3 : index
    %1 = arith.divui %0, %c112 : index
    %2 = arith.addi %j, %c3 : index
    %3 = arith.divui %2, %c113 : index
    %4 = arith.subi %j, %c8 : index
    %5 = arith.addi %4, %c3 : index
    %6 = arith.divui %5, %c112 : index
    kernel.store %one, %v[%1] : f32, !kernel.view<896xf32, global>
    kernel.store %one, %v[%3] : f32, !kernel.view<896xf32, global>
    kernel.store %one, %v[%6] : f32, !kernel.view<896xf32, global>
  }
  kernel.return
}
