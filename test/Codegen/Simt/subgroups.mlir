// RUN: zyx-compile %s --target=vulkan-subgroups --entry=rows --stop-after=lowered | FileCheck %s --check-prefix=SUM
// RUN: zyx-compile %s --target=vulkan-subgroups --entry=least --stop-after=lowered | FileCheck %s --check-prefix=MIN
// RUN: zyx-compile %s --target=vulkan-subgroups --entry=products --stop-after=lowered | FileCheck %s --check-prefix=MUL
// RUN: zyx-compile %s --target=vulkan-subgroups --entry=doubles --stop-after=lowered | FileCheck %s --check-prefix=DOUBLES
// RUN: zyx-compile %s --target=vulkan-subgroups --entry=longs --stop-after=lowered | FileCheck %s --check-prefix=MUL
// RUN: zyx-compile %s --target=vulkan --entry=rows --stop-after=lowered | FileCheck %s --check-prefix=MUL

// Each subgroup by one op, whose first thread writes it down, and then all of them, in two barriers.
// SUM: kernel.alloc : <64xf32, shared>
// SUM-NOT: kernel.alloc
// SUM-DAG: [[SUBGROUP:%.*]] = kernel.id subgroup
// SUM-DAG: [[MANY:%.*]] = kernel.id num_subgroups
// SUM-DAG: [[LANE:%.*]] = kernel.id lane
// SUM: [[S:%.*]] = kernel.subgroup_reduce add
// SUM-NEXT: kernel.barrier workgroup
// SUM-NEXT: scf.if
// SUM-NEXT: kernel.store [[S]], {{%.*}}[[[SUBGROUP]]]
// SUM: kernel.barrier workgroup
// SUM-NEXT: kernel.load
// SUM-NEXT: scf.for {{%.*}} = {{%.*}} to [[MANY]] step
// SUM-NOT: kernel.barrier
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// The least signed number is the largest of numbers that are turned around; floats are ranks before.
// MIN: [[TURN:%.*]] = arith.constant 2147483647 : i32
// MIN: [[X:%.*]] = arith.xori {{%.*}}, [[TURN]] : i32
// MIN: [[L:%.*]] = kernel.subgroup_reduce umax [[X]] : i32
// MIN: arith.xori [[L]], [[TURN]] : i32
func.func @least(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce min %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Products, integers of 64 bits, and devices without: through shared memory.
// MUL-NOT: kernel.subgroup_reduce
// MUL: kernel.barrier workgroup
// MUL-NOT: kernel.subgroup_reduce
func.func @products(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce mul %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func @longs(%x: tensor<64x1024xi64>) -> tensor<64xi64> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xi64> -> tensor<64xi64>
  return %y : tensor<64xi64>
}

// DOUBLES: kernel.subgroup_reduce add {{.*}} : f64
func.func @doubles(%x: tensor<64x1024xf64>) -> tensor<64xf64> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf64> -> tensor<64xf64>
  return %y : tensor<64xf64>
}
