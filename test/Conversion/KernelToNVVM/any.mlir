// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s

// What threads of a warp have is put together, and the warp votes, so that its threads branch together.
// CHECK-LABEL: llvm.func @any
// CHECK: [[FIRST:%.*]] = llvm.extractvalue {{.*}}[0] : !llvm.struct<(i1, i1)>
// CHECK: [[SECOND:%.*]] = llvm.extractvalue {{.*}}[1] : !llvm.struct<(i1, i1)>
// CHECK: [[OWN:%.*]] = llvm.or [[FIRST]], [[SECOND]] : i1
// CHECK: [[ALL:%.*]] = llvm.mlir.constant(-1 : i32) : i32
// CHECK: [[ANY:%.*]] = nvvm.vote.sync any [[ALL]], [[OWN]] -> i1
// CHECK: llvm.cond_br [[ANY]]
!row = tensor<64xf32, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
kernel.func @any(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64, programs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %view = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %0 = kernel.load %view[%c0] in_bounds [true] : !kernel.view<64xf32, global> -> !row
  %limit = arith.constant dense<4096.0> : !row
  %1 = arith.cmpf ogt, %0, %limit : !row
  %any = kernel.any %1 : tensor<64xi1, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
  scf.if %any {
    kernel.store %limit, %view[%c0] in_bounds [true] : !row, !kernel.view<64xf32, global>
  }
  kernel.return
}
