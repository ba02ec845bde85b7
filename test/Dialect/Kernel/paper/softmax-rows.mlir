// RUN: split-file %s %t
// RUN: zyx-opt %t/tiled.mlir --verify-roundtrip -zyx-kernel-verify-form=form=tiled | FileCheck %t/tiled.mlir
// RUN: zyx-opt %t/lowered.mlir --verify-roundtrip -zyx-kernel-verify-form=form=lowered | FileCheck %t/lowered.mlir

// Row softmax of 256 x 1024 in f32; a program has one row.

//--- tiled.mlir
#x = #kernel.map<[#kernel.block<[256, 1024] strides [1024, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<256x1024xf32, global>
!row = tensor<1x1024xf32>

// CHECK-LABEL: kernel.func @softmax
// CHECK: kernel.reduce max
// CHECK: math.exp
// CHECK: kernel.reduce add
kernel.func @softmax(%x: !buffer, %y: !buffer) {
  %c0 = arith.constant 0 : index
  %x_all = kernel.view %x map #x : !buffer -> !x
  %y_all = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%r) in [256] step [1] {
    %row = kernel.load %x_all[%r, %c0] axes ["r", "c"] : !x -> !row
    %max = kernel.reduce max %row dims [1] : !row -> tensor<1xf32>
    %maxes = kernel.broadcast %max dims [0] : tensor<1xf32> -> !row
    %shifted = arith.subf %row, %maxes : !row
    %exp = math.exp %shifted : !row
    %sum = kernel.reduce add %exp dims [1] : !row -> tensor<1xf32>
    %sums = kernel.broadcast %sum dims [0] : tensor<1xf32> -> !row
    %y_row = arith.divf %exp, %sums : !row
    kernel.store %y_row, %y_all[%r, %c0] : !row, !x
  }
  kernel.return
}

//--- lowered.mlir
#x = #kernel.map<[#kernel.block<[256, 1024] strides [1024, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<256x1024xf32, global>
!row = !kernel.view<1x1024xf32, private>
!v = vector<16xf32>
!vi = vector<16xi32>

// Four accumulators hide the latency of the maximum and of the sum. The exponential is a
// polynomial of degree 6 on [-ln2/2, ln2/2], scaled by adding to the exponent's bits.

// CHECK-LABEL: kernel.func @softmax
// CHECK: vector.reduction <maximumf>
// CHECK: math.roundeven
// CHECK: vector.reduction <add>
kernel.func @softmax(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %columns = arith.constant 1024 : index
  %lowest = arith.constant dense<0xFF800000> : !v
  %zero = arith.constant dense<-0.0> : !v
  %log2e = arith.constant dense<1.44269502> : !v
  %ln2_high = arith.constant dense<-0.693359375> : !v
  %ln2_low = arith.constant dense<2.12194442E-4> : !v
  %smallest = arith.constant dense<-87.0> : !v
  %p0 = arith.constant dense<1.0> : !v
  %p2 = arith.constant dense<0.5> : !v
  %p3 = arith.constant dense<0.166666672> : !v
  %p4 = arith.constant dense<0.0416664667> : !v
  %p5 = arith.constant dense<0.00833345205> : !v
  %p6 = arith.constant dense<0.00139354518> : !v
  %mantissa = arith.constant dense<23> : !vi
  %x_all = kernel.view %x map #x : !buffer -> !x
  %y_all = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%r) in [256] step [1] {
    %exps = kernel.alloc : !row
    %m:4 = scf.for %c = %c0 to %columns step %c64
        iter_args(%m0 = %lowest, %m1 = %lowest, %m2 = %lowest, %m3 = %lowest) -> (!v, !v, !v, !v) {
      %x0 = kernel.load %x_all[%r, %c] : !x -> !v
      %n0 = arith.maximumf %m0, %x0 : !v
      %at1 = arith.addi %c, %c16 : index
      %x1 = kernel.load %x_all[%r, %at1] : !x -> !v
      %n1 = arith.maximumf %m1, %x1 : !v
      %at2 = arith.addi %c, %c32 : index
      %x2 = kernel.load %x_all[%r, %at2] : !x -> !v
      %n2 = arith.maximumf %m2, %x2 : !v
      %at3 = arith.addi %c, %c48 : index
      %x3 = kernel.load %x_all[%r, %at3] : !x -> !v
      %n3 = arith.maximumf %m3, %x3 : !v
      scf.yield %n0, %n1, %n2, %n3 : !v, !v, !v, !v
    }
    %m01 = arith.maximumf %m#0, %m#1 : !v
    %m23 = arith.maximumf %m#2, %m#3 : !v
    %m0123 = arith.maximumf %m01, %m23 : !v
    %max = vector.reduction <maximumf>, %m0123 : !v into f32
    %maxes = vector.broadcast %max : f32 to !v
    %s:4 = scf.for %c = %c0 to %columns step %c64
        iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero) -> (!v, !v, !v, !v) {
      %x0 = kernel.load %x_all[%r, %c] : !x -> !v
      %d0 = arith.subf %x0, %maxes : !v
      %z0 = arith.maximumf %d0, %smallest : !v
      %l0 = arith.mulf %z0, %log2e : !v
      %k0 = math.roundeven %l0 : !v
      %g0 = math.fma %k0, %ln2_high, %z0 : !v
      %f0 = math.fma %k0, %ln2_low, %g0 : !v
      %h50 = math.fma %f0, %p6, %p5 : !v
      %h40 = math.fma %f0, %h50, %p4 : !v
      %h30 = math.fma %f0, %h40, %p3 : !v
      %h20 = math.fma %f0, %h30, %p2 : !v
      %h10 = math.fma %f0, %h20, %p0 : !v
      %h00 = math.fma %f0, %h10, %p0 : !v
      %ki0 = arith.fptosi %k0 : !v to !vi
      %ks0 = arith.shli %ki0, %mantissa : !vi
      %hb0 = arith.bitcast %h00 : !v to !vi
      %eb0 = arith.addi %hb0, %ks0 : !vi
      %e0 = arith.bitcast %eb0 : !vi to !v
      kernel.store %e0, %exps[%c0, %c] : !v, !row
      %t0 = arith.addf %s0, %e0 : !v
      %at1 = arith.addi %c, %c16 : index
      %x1 = kernel.load %x_all[%r, %at1] : !x -> !v
      %d1 = arith.subf %x1, %maxes : !v
      %z1 = arith.maximumf %d1, %smallest : !v
      %l1 = arith.mulf %z1, %log2e : !v
      %k1 = math.roundeven %l1 : !v
      %g1 = math.fma %k1, %ln2_high, %z1 : !v
      %f1 = math.fma %k1, %ln2_low, %g1 : !v
      %h51 = math.fma %f1, %p6, %p5 : !v
      %h41 = math.fma %f1, %h51, %p4 : !v
      %h31 = math.fma %f1, %h41, %p3 : !v
      %h21 = math.fma %f1, %h31, %p2 : !v
      %h11 = math.fma %f1, %h21, %p0 : !v
      %h01 = math.fma %f1, %h11, %p0 : !v
      %ki1 = arith.fptosi %k1 : !v to !vi
      %ks1 = arith.shli %ki1, %mantissa : !vi
      %hb1 = arith.bitcast %h01 : !v to !vi
      %eb1 = arith.addi %hb1, %ks1 : !vi
      %e1 = arith.bitcast %eb1 : !vi to !v
      kernel.store %e1, %exps[%c0, %at1] : !v, !row
      %t1 = arith.addf %s1, %e1 : !v
      %at2 = arith.addi %c, %c32 : index
      %x2 = kernel.load %x_all[%r, %at2] : !x -> !v
      %d2 = arith.subf %x2, %maxes : !v
      %z2 = arith.maximumf %d2, %smallest : !v
      %l2 = arith.mulf %z2, %log2e : !v
      %k2 = math.roundeven %l2 : !v
      %g2 = math.fma %k2, %ln2_high, %z2 : !v
      %f2 = math.fma %k2, %ln2_low, %g2 : !v
      %h52 = math.fma %f2, %p6, %p5 : !v
      %h42 = math.fma %f2, %h52, %p4 : !v
      %h32 = math.fma %f2, %h42, %p3 : !v
      %h22 = math.fma %f2, %h32, %p2 : !v
      %h12 = math.fma %f2, %h22, %p0 : !v
      %h02 = math.fma %f2, %h12, %p0 : !v
      %ki2 = arith.fptosi %k2 : !v to !vi
      %ks2 = arith.shli %ki2, %mantissa : !vi
      %hb2 = arith.bitcast %h02 : !v to !vi
      %eb2 = arith.addi %hb2, %ks2 : !vi
      %e2 = arith.bitcast %eb2 : !vi to !v
      kernel.store %e2, %exps[%c0, %at2] : !v, !row
      %t2 = arith.addf %s2, %e2 : !v
      %at3 = arith.addi %c, %c48 : index
      %x3 = kernel.load %x_all[%r, %at3] : !x -> !v
      %d3 = arith.subf %x3, %maxes : !v
      %z3 = arith.maximumf %d3, %smallest : !v
      %l3 = arith.mulf %z3, %log2e : !v
      %k3 = math.roundeven %l3 : !v
      %g3 = math.fma %k3, %ln2_high, %z3 : !v
      %f3 = math.fma %k3, %ln2_low, %g3 : !v
      %h53 = math.fma %f3, %p6, %p5 : !v
      %h43 = math.fma %f3, %h53, %p4 : !v
      %h33 = math.fma %f3, %h43, %p3 : !v
      %h23 = math.fma %f3, %h33, %p2 : !v
      %h13 = math.fma %f3, %h23, %p0 : !v
      %h03 = math.fma %f3, %h13, %p0 : !v
      %ki3 = arith.fptosi %k3 : !v to !vi
      %ks3 = arith.shli %ki3, %mantissa : !vi
      %hb3 = arith.bitcast %h03 : !v to !vi
      %eb3 = arith.addi %hb3, %ks3 : !vi
      %e3 = arith.bitcast %eb3 : !vi to !v
      kernel.store %e3, %exps[%c0, %at3] : !v, !row
      %t3 = arith.addf %s3, %e3 : !v
      scf.yield %t0, %t1, %t2, %t3 : !v, !v, !v, !v
    }
    %s01 = arith.addf %s#0, %s#1 : !v
    %s23 = arith.addf %s#2, %s#3 : !v
    %s0123 = arith.addf %s01, %s23 : !v
    %sum = vector.reduction <add>, %s0123 : !v into f32
    %sums = vector.broadcast %sum : f32 to !v
    scf.for %c = %c0 to %columns step %c16 {
      %e = kernel.load %exps[%c0, %c] : !row -> !v
      %q = arith.divf %e, %sums : !v
      kernel.store %q, %y_all[%r, %c] : !v, !x
    }
  }
  kernel.return
}
