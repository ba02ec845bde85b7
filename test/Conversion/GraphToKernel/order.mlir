// RUN: zyx-opt %s --zyx-convert-graph-to-kernel | FileCheck %s
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --zyx-kernel-apply-schedule \
// RUN:   --zyx-kernel-settle-memory --zyx-kernel-lower-tiles --zyx-kernel-verify-form=form=lowered -o /dev/null
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --mlir-disable-threading --remarks-filter=zyx-scalar \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A program per row, which carries what it has combined; f16 sums do so in f32.
// REMARK: scan_0: 'graph.scan' is computed element by element, without vectors
// CHECK-LABEL: kernel.func @scan_0
// CHECK-SAME: schedule = #kernel.schedule<[]>
// CHECK: kernel.grid (%[[ROW:.*]], %{{.*}}) in [4, 1] step [1, 1]
// CHECK: %[[FIRST:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[CARRIED:.*]] = %[[FIRST]]) -> (f32)
// CHECK: arith.subi %{{.*}}, %[[J]]
// CHECK: %[[X:.*]] = kernel.load %{{.*}} -> f16
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK: %[[NEXT:.*]] = arith.addf %[[CARRIED]], %[[WIDE]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[NEXT]] : f32 to f16
// CHECK: kernel.store %[[ROUNDED]]
// CHECK: scf.yield %[[NEXT]]
func.func @scan(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = graph.scan add %x dim = 1 reverse : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// An exclusive one gives what it carries; of unsigned integers it begins with 0.
// CHECK-LABEL: kernel.func @exclusive_0
// CHECK: %[[FIRST:.*]] = arith.constant 0 : i8
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[FIRST]]) -> (i8)
// CHECK: %[[NEXT:.*]] = arith.maxui %[[CARRIED]]
// CHECK: kernel.store %[[CARRIED]]
// CHECK: scf.yield %[[NEXT]]
func.func @exclusive(%x: tensor<8xui8>) -> tensor<8xui8> {
  %y = graph.scan max %x dim = 0 exclusive : tensor<8xui8>
  return %y : tensor<8xui8>
}

// The indices are merged in a buffer of the kernel's own, three times for eight elements.
// REMARK: sort_0_sort: 'graph.sort' is computed element by element, without vectors
// CHECK-LABEL: plan.func @sort
// CHECK: %[[SCRATCH:.*]] = plan.alloc : !plan.buffer<i32[64]>
// CHECK: plan.launch @sort_0_sort{{.*}}%[[SCRATCH]]
// CHECK-LABEL: kernel.func @sort_0_sort
// CHECK-SAME: %{{.*}}: !kernel.buffer<f32, global>, %{{.*}}: !kernel.buffer<i64, global>, %{{.*}}: !kernel.buffer<i32, global>
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf ord
// CHECK: arith.cmpf uno
func.func @sort(%x: tensor<4x8xf32>) -> tensor<4x8xi64> {
  %y = graph.sort indices %x dim = 1 descending : tensor<4x8xf32> -> tensor<4x8xi64>
  return %y : tensor<4x8xi64>
}

// A program copies up to 64 columns, and reads each index once for them.
// REMARK: scatter_0: 'graph.scatter' is computed element by element, without vectors
// CHECK-LABEL: kernel.func @scatter_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}) in [1, 100] step [1, 64]
// CHECK: %[[INDEX:.*]] = arith.extui %{{.*}} : i8 to i64
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[INDEX]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: arith.minimumf
func.func @scatter(%x: tensor<7x100xf32>, %i: tensor<3xui8>, %u: tensor<3x100xf32>) -> tensor<7x100xf32> {
  %y = graph.scatter min %x[%i], %u dim = 0 : (tensor<7x100xf32>, tensor<3xui8>, tensor<3x100xf32>) -> tensor<7x100xf32>
  return %y : tensor<7x100xf32>
}

// Of nothing there is no program.
// CHECK-LABEL: kernel.func @nothing_0_sort
// CHECK-NOT: kernel.grid
// CHECK: kernel.return
func.func @nothing(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %y = graph.sort values %x dim = 1 : tensor<0x8xf32> -> tensor<0x8xf32>
  return %y : tensor<0x8xf32>
}
