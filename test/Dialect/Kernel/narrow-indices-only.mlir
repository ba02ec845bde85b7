// RUN: zyx-opt %s --pass-pipeline='builtin.module(kernel.func(zyx-kernel-narrow-indices{only-narrow=true}))' | FileCheck %s

// Where all indices have 32 bits in the end, what a loop carries is bounded by the loop's trips.

#all = #kernel.map<[#kernel.block<[504] strides [1]>]>
!i32 = !kernel.buffer<i32, global>

// A step that halves, sums of it, and a merge's position.
// CHECK-LABEL: kernel.func @trips
// CHECK-NOT: wide_index
kernel.func @trips(%x: !i32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %c100 = arith.constant 100 : index
  %c2048 = arith.constant 2048 : index
  %xs = kernel.view %x map #all : !i32 -> !kernel.view<504xi32, global>
  kernel.grid (%p) in [504] step [1] {
    %f = kernel.load %xs[%p] : !kernel.view<504xi32, global> -> i32
    %i0 = arith.constant 0 : i32
    %far = arith.cmpi slt, %f, %i0 : i32
    // CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
    %s:3 = scf.for %i = %c0 to %c12 step %c1 iter_args(%at = %c0, %step = %c2048, %width = %c1) -> (index, index, index) {
      %next = arith.addi %at, %step : index
      %near = arith.cmpi slt, %next, %c2048 : index
      %taken = arith.select %near, %next, %at : index
      %half = arith.shrui %step, %c1 : index
      %twice = arith.muli %width, %c2 : index
      scf.for %j = %c0 to %c100 step %twice {
        %end = arith.minsi %twice, %c100 : index
        // More trips than are followed: each adds no more than 1.
        %m = scf.for %k = %c0 to %c2048 step %c1 iter_args(%left = %end) -> (index) {
          %is = arith.cmpi slt, %left, %c100 : index
          %one = arith.select %far, %c1, %c0 : index
          %on = arith.addi %left, %one : index
          scf.yield %on : index
        }
        %q = arith.remui %m, %c100 : index
        %v = kernel.load %xs[%q] : !kernel.view<504xi32, global> -> i32
        kernel.store %v, %xs[%j] : i32, !kernel.view<504xi32, global>
      }
      // What is yielded is read, too.
      %stop = arith.addi %p, %twice : index
      %fits = arith.cmpi slt, %stop, %c100 : index
      %bit = arith.extui %fits : i1 to i32
      kernel.store %bit, %xs[%p] : i32, !kernel.view<504xi32, global>
      scf.yield %taken, %half, %twice : index, index, index
    }
    %rest = arith.remui %s#0, %c100 : index
    %w = kernel.load %xs[%rest] : !kernel.view<504xi32, global> -> i32
    kernel.store %w, %xs[%p] : i32, !kernel.view<504xi32, global>
  }
  kernel.return
}

// A place out of memory is any number of 32 bits, and its sum with another one is compared and divided in 64.
// CHECK-LABEL: kernel.func @sums
// CHECK-NOT: wide_index
// CHECK: %[[LEAST:.*]] = arith.minsi %{{.*}}, %{{.*}} : index
// CHECK: %[[WHOLE:.*]] = arith.addi %{{.*}}, %[[LEAST]] : index
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: arith.remui %{{.*}}, %{{.*}} : i64
// CHECK: kernel.load %{{.*}}[%[[WHOLE]]]
kernel.func @sums(%x: !i32) attributes {form = #kernel.form<lowered>} {
  %c503 = arith.constant 503 : index
  %c504 = arith.constant 504 : index
  %xs = kernel.view %x map #all : !i32 -> !kernel.view<504xi32, global>
  kernel.grid (%p) in [504] step [1] {
    %v = kernel.load %xs[%p] : !kernel.view<504xi32, global> -> i32
    %i = arith.index_cast %v : i32 to index
    %at = arith.addi %i, %p : index
    %near = arith.minsi %at, %c503 : index
    %is = arith.cmpi slt, %at, %c504 : index
    %row = arith.remui %at, %c504 : index
    %w = kernel.load %xs[%near] : !kernel.view<504xi32, global> -> i32
    %r = arith.select %is, %w, %v : i32
    kernel.store %r, %xs[%row] : i32, !kernel.view<504xi32, global>
  }
  kernel.return
}

// A loop from such a place on, and a place of 64 bits that is cut to the buffer.
// CHECK-LABEL: kernel.func @places
// CHECK-NOT: wide_index
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i64
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT: arith.addi %{{.*}}, %[[T]] : index
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
kernel.func @places(%x: !i32, %y: !kernel.buffer<i64, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c503 = arith.constant 503 : index
  %xs = kernel.view %x map #all : !i32 -> !kernel.view<504xi32, global>
  %ys = kernel.view %y map #all : !kernel.buffer<i64, global> -> !kernel.view<504xi64, global>
  kernel.grid (%p) in [504] step [1] {
    %far = kernel.load %ys[%p] : !kernel.view<504xi64, global> -> i64
    %any = arith.index_cast %far : i64 to index
    %above = arith.maxsi %any, %c0 : index
    %inside = arith.minsi %above, %c503 : index
    %v = kernel.load %xs[%inside] : !kernel.view<504xi32, global> -> i32
    %begin = arith.index_cast %v : i32 to index
    %w = kernel.load %xs[%p] : !kernel.view<504xi32, global> -> i32
    %n = arith.index_cast %w : i32 to index
    %end = arith.addi %begin, %n : index
    scf.for %i = %begin to %end step %c1 {
      %is = arith.cmpi slt, %i, %c503 : index
      %r = arith.select %is, %v, %w : i32
      kernel.store %r, %xs[%i] : i32, !kernel.view<504xi32, global>
    }
  }
  kernel.return
}

// Low digits are those of any index; 64 bits of one, and a comparison, are not.
// CHECK-LABEL: kernel.func @digits
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} {wide_index} : index
// CHECK: arith.index_cast %{{.*}} {wide_index} : index to i64
kernel.func @digits(%x: !i32, %y: !kernel.buffer<i64, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c504 = arith.constant 504 : index
  %xs = kernel.view %x map #all : !i32 -> !kernel.view<504xi32, global>
  %ys = kernel.view %y map #all : !kernel.buffer<i64, global> -> !kernel.view<504xi64, global>
  kernel.grid (%p) in [504] step [1] {
    %r = scf.for %i = %c0 to %c504 step %c1 iter_args(%a = %c1) -> (index) {
      // It grows by more in each trip.
      %b = arith.muli %a, %c7 : index
      %d = arith.index_cast %b : index to i32
      kernel.store %d, %xs[%i] : i32, !kernel.view<504xi32, global>
      scf.yield %b : index
    }
    %less = arith.cmpi slt, %r, %c7 : index
    %number = arith.extui %less : i1 to i32
    kernel.store %number, %xs[%p] : i32, !kernel.view<504xi32, global>
    %e = arith.index_cast %r : index to i64
    kernel.store %e, %ys[%p] : i64, !kernel.view<504xi64, global>
  }
  kernel.return
}
