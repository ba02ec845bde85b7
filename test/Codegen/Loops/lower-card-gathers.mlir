// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// Chosen rows: vectors of one that exists are read whole and without a branch, and are zero behind the load where the row does not.
// CHECK-LABEL: kernel.func @chosen_rows
// CHECK:       [[ROW:%.*]] = arith.index_cast {{.*}} : i64 to index
// CHECK:       [[IS_ROW:%.*]] = arith.cmpi ult, [[ROW]], %c100
// CHECK:       [[INSIDE:%.*]] = arith.andi
// CHECK:       [[AT:%.*]] = arith.select [[INSIDE]], {{.*}}, %c0
// CHECK-NEXT:  [[READ:%.*]] = kernel.load {{%.*}}{{\[}}[[AT]]] : <3200xf32, global> -> vector<4xf32>
// CHECK-NEXT:  arith.select [[INSIDE]], [[READ]]
// CHECK-NOT:   kernel.gather
// CHECK:       kernel.store
kernel.func @chosen_rows(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<i64, global>, %arg2: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 1>, #kernel.grid_step<"d", 4>]>} {
  %x = kernel.view %arg0 map <[<[100, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100x32xf32, global>
  %n = kernel.view %arg1 map <[<[7] strides [1]>]> : !kernel.buffer<i64, global> -> !kernel.view<7xi64, global>
  %y = kernel.view %arg2 map <[<[7, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<7x32xf32, global>
  %c0 = arith.constant 0 : index
  %i = kernel.load %n[%c0] axes ["n"] : !kernel.view<7xi64, global> -> tensor<7xi64>
  %ib = kernel.broadcast %i dims [0] : tensor<7xi64> -> tensor<7x32xi64>
  %d = kernel.iota dim 0 axes ["d"] : tensor<32xi64>
  %db = kernel.broadcast %d dims [1] : tensor<32xi64> -> tensor<7x32xi64>
  %t = kernel.gather %x[%ib, %db] : !kernel.view<100x32xf32, global>, tensor<7x32xi64>, tensor<7x32xi64> -> tensor<7x32xf32>
  kernel.store %t, %y[%c0, %c0] : tensor<7x32xf32>, !kernel.view<7x32xf32, global>
  kernel.return
}
