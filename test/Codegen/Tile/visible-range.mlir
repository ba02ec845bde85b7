// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse -zyx-kernel-verify-form=form=tiled | FileCheck %s

!x = !kernel.view<64x128xf32, global>
!v = !kernel.view<128x4xf32, global>
!w = !kernel.view<64x4xf32, global>

// A window of 20 keys up to the query's own, shifted by 8: a program of 16 queries walks the blocks in which one of them
// sees something.
// CHECK-LABEL: kernel.func @window
// CHECK:       kernel.grid (%[[Q:.*]]) in [64] step [16]
// CHECK:         %[[HIGH:.*]] = arith.minsi %[[END:.*]], %c128
// CHECK:         scf.for %{{.*}} = %[[LOW:.*]] to %[[HIGH]] step %c32
kernel.func @window(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"m", 16>, #kernel.online_step<"n", 32>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[128, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[64, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %given = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<64x128xf32>
  %row = kernel.iota dim 0 axes ["m", "n"] : tensor<64x128xi32>
  %column = kernel.iota dim 1 axes ["m", "n"] : tensor<64x128xi32>
  %shift = arith.constant dense<8> : tensor<64x128xi32>
  %width = arith.constant dense<20> : tensor<64x128xi32>
  %last = arith.addi %row, %shift : tensor<64x128xi32>
  %first = arith.subi %last, %width : tensor<64x128xi32>
  %before = arith.cmpi sle, %column, %last : tensor<64x128xi32>
  %behind = arith.cmpi sgt, %column, %first : tensor<64x128xi32>
  %seen = arith.andi %before, %behind : tensor<64x128xi1>
  %never = arith.constant dense<0xFF800000> : tensor<64x128xf32>
  %t = arith.select %seen, %given, %never : tensor<64x128xi1>, tensor<64x128xf32>
  %m = kernel.reduce max %t dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %b = kernel.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %d = arith.subf %t, %b : tensor<64x128xf32>
  %e = math.exp %d : tensor<64x128xf32>
  %s = kernel.reduce add %e dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<128x4xf32>
  %z = arith.constant dense<0.0> : tensor<64x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<64x128xf32>, tensor<128x4xf32> -> tensor<64x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x4xf32>
  %q = arith.divf %o, %sb : tensor<64x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x4xf32>, !w
  kernel.return
}

// What hides elements is data, or hides them by a finite number: all blocks are walked.
// CHECK-LABEL: kernel.func @finite
// CHECK:       scf.for %{{.*}} = %c0 to %c128 step %c32
kernel.func @finite(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"m", 16>, #kernel.online_step<"n", 32>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[128, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[64, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %given = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<64x128xf32>
  %row = kernel.iota dim 0 axes ["m", "n"] : tensor<64x128xi32>
  %column = kernel.iota dim 1 axes ["m", "n"] : tensor<64x128xi32>
  %seen = arith.cmpi sle, %column, %row : tensor<64x128xi32>
  %never = arith.constant dense<-1.0e+30> : tensor<64x128xf32>
  %t = arith.select %seen, %given, %never : tensor<64x128xi1>, tensor<64x128xf32>
  %m = kernel.reduce max %t dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %b = kernel.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %d = arith.subf %t, %b : tensor<64x128xf32>
  %e = math.exp %d : tensor<64x128xf32>
  %s = kernel.reduce add %e dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<128x4xf32>
  %z = arith.constant dense<0.0> : tensor<64x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<64x128xf32>, tensor<128x4xf32> -> tensor<64x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x4xf32>
  %q = arith.divf %o, %sb : tensor<64x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x4xf32>, !w
  kernel.return
}

// The number of keys of a cache is data: it is read before the loop. One near the ends of its type, with which sums would
// wrap, hides nothing.
// CHECK-LABEL: kernel.func @start
// CHECK:         %[[START:.*]] = kernel.load %{{.*}}[] : <i64, global> -> i64
// CHECK-DAG:     %[[ABOVE:.*]] = arith.cmpi sge, %[[START]], %{{.*}} : i64
// CHECK-DAG:     %[[BELOW:.*]] = arith.cmpi sle, %[[START]], %{{.*}} : i64
// CHECK:         arith.index_cast %[[START]] : i64 to index
// CHECK:         %[[HIGH:.*]] = arith.minsi %{{.*}}, %c128
// CHECK:         scf.for %{{.*}} = %c0 to %[[HIGH]] step %c32
kernel.func @start(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %n: !kernel.buffer<i64, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.online_step<"n", 32>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[128, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ns = kernel.view %n map <[<[] strides []>]> : !kernel.buffer<i64, global> -> !kernel.view<i64, global>
  %ys = kernel.view %y map <[<[64, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %given = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<64x128xf32>
  %number = kernel.load %ns[] axes [] in_bounds [] : !kernel.view<i64, global> -> tensor<i64>
  %start = kernel.broadcast %number dims [] : tensor<i64> -> tensor<64x128xi64>
  %row = kernel.iota dim 0 axes ["m", "n"] : tensor<64x128xi64>
  %column = kernel.iota dim 1 axes ["m", "n"] : tensor<64x128xi64>
  %last = arith.addi %row, %start : tensor<64x128xi64>
  %seen = arith.cmpi sle, %column, %last : tensor<64x128xi64>
  %never = arith.constant dense<0xFF800000> : tensor<64x128xf32>
  %t = arith.select %seen, %given, %never : tensor<64x128xi1>, tensor<64x128xf32>
  %m = kernel.reduce max %t dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %b = kernel.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %d = arith.subf %t, %b : tensor<64x128xf32>
  %e = math.exp %d : tensor<64x128xf32>
  %s = kernel.reduce add %e dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<128x4xf32>
  %z = arith.constant dense<0.0> : tensor<64x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<64x128xf32>, tensor<128x4xf32> -> tensor<64x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x4xf32>
  %q = arith.divf %o, %sb : tensor<64x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x4xf32>, !w
  kernel.return
}

// One that is read through padding is not read again: all blocks are walked.
// CHECK-LABEL: kernel.func @padded
// CHECK:         scf.for %{{.*}} = %c0 to %c128 step %c32
kernel.func @padded(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %n: !kernel.buffer<i64, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.online_step<"n", 32>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[128, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ns = kernel.view %n map <[<[1] strides [1] valid [0 : 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<1xi64, global>
  %ys = kernel.view %y map <[<[64, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %given = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<64x128xf32>
  %fill = arith.constant 5 : i64
  %number = kernel.load %ns[%c0] other %fill : i64 axes ["one"] in_bounds [true] : !kernel.view<1xi64, global> -> tensor<1xi64>
  %scalar = kernel.reshape %number : tensor<1xi64> -> tensor<i64>
  %start = kernel.broadcast %scalar dims [] : tensor<i64> -> tensor<64x128xi64>
  %row = kernel.iota dim 0 axes ["m", "n"] : tensor<64x128xi64>
  %column = kernel.iota dim 1 axes ["m", "n"] : tensor<64x128xi64>
  %last = arith.addi %row, %start : tensor<64x128xi64>
  %seen = arith.cmpi sle, %column, %last : tensor<64x128xi64>
  %never = arith.constant dense<0xFF800000> : tensor<64x128xf32>
  %t = arith.select %seen, %given, %never : tensor<64x128xi1>, tensor<64x128xf32>
  %m = kernel.reduce max %t dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %b = kernel.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %d = arith.subf %t, %b : tensor<64x128xf32>
  %e = math.exp %d : tensor<64x128xf32>
  %s = kernel.reduce add %e dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<128x4xf32>
  %z = arith.constant dense<0.0> : tensor<64x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<64x128xf32>, tensor<128x4xf32> -> tensor<64x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x4xf32>
  %q = arith.divf %o, %sb : tensor<64x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x4xf32>, !w
  kernel.return
}

// What is added hides keys behind the query, also where it is rounded before.
// CHECK-LABEL: kernel.func @added
// CHECK:       kernel.grid (%[[Q:.*]]) in [64] step [16]
// CHECK:         scf.for %{{.*}} = %c0 to %[[HIGH:[0-9]+]] step %c32
kernel.func @added(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"m", 16>, #kernel.online_step<"n", 32>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[128, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[64, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %given = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<64x128xf32>
  %row = kernel.iota dim 0 axes ["m", "n"] : tensor<64x128xi32>
  %column = kernel.iota dim 1 axes ["m", "n"] : tensor<64x128xi32>
  %seen = arith.cmpi sle, %column, %row : tensor<64x128xi32>
  %far = arith.sitofp %column : tensor<64x128xi32> to tensor<64x128xf32>
  %never = arith.constant dense<0xFF800000> : tensor<64x128xf32>
  %wide = arith.select %seen, %far, %never : tensor<64x128xi1>, tensor<64x128xf32>
  %narrow = arith.truncf %wide : tensor<64x128xf32> to tensor<64x128xf16>
  %bias = arith.extf %narrow : tensor<64x128xf16> to tensor<64x128xf32>
  %t = arith.addf %given, %bias : tensor<64x128xf32>
  %m = kernel.reduce max %t dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %b = kernel.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %d = arith.subf %t, %b : tensor<64x128xf32>
  %e = math.exp %d : tensor<64x128xf32>
  %s = kernel.reduce add %e dims [1] : tensor<64x128xf32> -> tensor<64xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<128x4xf32>
  %z = arith.constant dense<0.0> : tensor<64x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<64x128xf32>, tensor<128x4xf32> -> tensor<64x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x4xf32>
  %q = arith.divf %o, %sb : tensor<64x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x4xf32>, !w
  kernel.return
}
