// Threads of a schedule have room for what they share, or the kernel gets another schedule. None falls to one thread, which
// would have the tile of a workgroup for itself.
// RUN: zyx-opt %s -split-input-file -zyx-test-compile='target=sm_80 facts=simt.sharedBytes=1024 stop-after=lowered' --remarks-filter=zyx-s.* \
// RUN:   --remark-format=emitRemark -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK --implicit-check-not=ProgramIsOneThread
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: zyx-opt %s -split-input-file -zyx-test-compile='target=sm_80 facts=simt.sharedBytes=16 stop-after=lowered' --remarks-filter=zyx-s.* \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING --implicit-check-not=ProgramIsOneThread

// With all that the card has nothing is another schedule.
// RUN: zyx-opt %s -split-input-file -zyx-test-compile='target=sm_80 stop-after=lowered' --remarks-filter=zyx-s.* --remark-format=emitRemark \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE --implicit-check-not=FitMemory --implicit-check-not=ProgramIsOneThread
// WHOLE: ChooseSchedule

// Groups of threads have the rows of a strip in turns.
// REMARK: threads of columns_0 would share 5312 bytes; there are 1024: it gets another schedule
// NOTHING: threads of columns_0 would share {{[0-9]+}} bytes; there are 16: it gets another schedule
// CHECK: kernel.func @columns_0
// CHECK-SAME: threads = {{[0-9]+}}
func.func @columns(%x: tensor<4096x64xf32> {graph.name = "x"}) -> (tensor<64xf32> {graph.name = "s"}) {
  %0 = graph.reduce add %x dims = [0] : tensor<4096x64xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// A row of each workgroup.
// REMARK: threads of crossed_0 would share 1088 bytes; there are 1024: it gets another schedule
// NOTHING: threads of crossed_0 would share {{[0-9]+}} bytes; there are 16: it gets another schedule
// CHECK: kernel.func @crossed_0
// CHECK-SAME: threads = 128
func.func @crossed(%x: tensor<2048x4096xf32> {graph.name = "x"}, %g: tensor<2048x4096xf32> {graph.name = "g"}) -> (tensor<2048x4096xf32> {graph.name = "y"}, tensor<4096xf32> {graph.name = "s"}) {
  %m = graph.binary mul %x, %g : tensor<2048x4096xf32>
  %0 = graph.reduce add %m dims = [1] : tensor<2048x4096xf32> -> tensor<2048xf32>
  %1 = graph.reshape %0 : tensor<2048xf32> -> tensor<2048x1xf32>
  %2 = graph.expand %1 : tensor<2048x1xf32> -> tensor<2048x4096xf32>
  %3 = graph.binary sub %g, %2 : tensor<2048x4096xf32>
  %4 = graph.binary mul %3, %x : tensor<2048x4096xf32>
  %5 = graph.reduce add %m dims = [0] : tensor<2048x4096xf32> -> tensor<4096xf32>
  return %4, %5 : tensor<2048x4096xf32>, tensor<4096xf32>
}

// -----

// A row that is kept, too.
// REMARK: threads of softmax_0 would share 1088 bytes; there are 1024: it gets another schedule
// CHECK: kernel.func @softmax_0
// CHECK-SAME: threads = 128
func.func @softmax(%x: tensor<64x8192xf32> {graph.name = "x"}) -> (tensor<64x8192xf32> {graph.name = "y"}) {
  %m = graph.reduce max %x dims = [1] : tensor<64x8192xf32> -> tensor<64xf32>
  %m1 = graph.reshape %m : tensor<64xf32> -> tensor<64x1xf32>
  %m2 = graph.expand %m1 : tensor<64x1xf32> -> tensor<64x8192xf32>
  %d = graph.binary sub %x, %m2 : tensor<64x8192xf32>
  %e = graph.unary exp %d : tensor<64x8192xf32>
  %s = graph.reduce add %e dims = [1] : tensor<64x8192xf32> -> tensor<64xf32>
  %s1 = graph.reshape %s : tensor<64xf32> -> tensor<64x1xf32>
  %s2 = graph.expand %s1 : tensor<64x1xf32> -> tensor<64x8192xf32>
  %y = graph.binary div %e, %s2 : tensor<64x8192xf32>
  return %y : tensor<64x8192xf32>
}

