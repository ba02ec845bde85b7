// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a' -zyx-fuse | FileCheck %s --check-prefix=CLUSTER
// RUN: zyx-opt %s -zyx-fuse | FileCheck %s --check-prefix=ALONE

// Few long rows are sorted in runs, and these are merged; behind the last element stands what is last.
// CHECK-LABEL: func.func @values
// CHECK:       graph.sort values %{{.*}} dim = 2 descending : tensor<1x50x1024xf32>
// CHECK:       graph.sort values %{{.*}} dim = 1 descending {{.*}}zyx.runs = 50{{.*}} : tensor<1x51200xf32>
// CHECK-NOT:   graph.sort
// ALONE-LABEL: func.func @values
// ALONE-NOT:   zyx.runs
func.func @values(%x: tensor<1x50261xf32>) -> tensor<1x50261xf32> {
  %y = graph.sort values %x dim = 1 descending : tensor<1x50261xf32> -> tensor<1x50261xf32>
  return %y : tensor<1x50261xf32>
}

// Where rows are many each has a workgroup; what a text says of runs is not believed.
// CHECK-LABEL: func.func @many
// CHECK-NOT:   zyx.runs
func.func @many(%x: tensor<67x32000xf32>) -> tensor<67x32000xf32> {
  %y = graph.sort values %x dim = 1 {zyx.runs = 4 : i64} : tensor<67x32000xf32> -> tensor<67x32000xf32>
  return %y : tensor<67x32000xf32>
}

// As many rows as keep half of the multiprocessors busy go in longer runs: of each a thread looks for its part. Clusters
// sort rows that have room in their shared memory.
// CHECK-LABEL: func.func @half
// CHECK:       graph.sort values %{{.*}} dim = 2 : tensor<66x32x4008xf32>
// CHECK:       graph.sort values %{{.*}} dim = 1 {{.*}}zyx.runs = 32{{.*}} : tensor<66x128256xf32>
// CLUSTER-LABEL: func.func @half
// CLUSTER:     zyx.runs = 32
func.func @half(%x: tensor<66x128256xf32>) -> tensor<66x128256xf32> {
  %y = graph.sort values %x dim = 1 : tensor<66x128256xf32> -> tensor<66x128256xf32>
  return %y : tensor<66x128256xf32>
}
// CHECK-LABEL: func.func @room
// CHECK:       zyx.runs
// CLUSTER-LABEL: func.func @room
// CLUSTER-NOT: zyx.runs
func.func @room(%x: tensor<66x50176xf32>) -> tensor<66x50176xf32> {
  %y = graph.sort values %x dim = 1 : tensor<66x50176xf32> -> tensor<66x50176xf32>
  return %y : tensor<66x50176xf32>
}
// Words of 64 bits have no room there.
// CLUSTER-LABEL: func.func @wide
// CLUSTER:     zyx.runs
func.func @wide(%x: tensor<66x50176xi64>) -> tensor<66x50176xi64> {
  %y = graph.sort values %x dim = 1 : tensor<66x50176xi64> -> tensor<66x50176xi64>
  return %y : tensor<66x50176xi64>
}
// CLUSTER-LABEL: func.func @first

// First elements are among those of runs, which divide a row where they can: indices are looked up by their places there.
// CHECK-LABEL: func.func @first
// CHECK:       graph.sort indices %{{.*}} dim = 2 descending {zyx.first = 40 : i64} : tensor<1x64x2374xf32>
// CHECK:       graph.gather {{.*}} -> tensor<1x64x40xf32>
// CHECK:       graph.sort indices %{{.*}} dim = 1 descending {zyx.first = 40 : i64} : tensor<1x2560xf32>
// CHECK:       graph.gather {{.*}} -> tensor<1x40xi64>
// CHECK-NOT:   graph.sort
// ALONE-LABEL: func.func @first
// ALONE:       graph.sort
// ALONE-NOT:   graph.sort
func.func @first(%x: tensor<1x151936xf32>) -> tensor<1x40xi64> {
  %y = graph.sort indices %x dim = 1 descending : tensor<1x151936xf32> -> tensor<1x151936xi64>
  %zero = graph.constant dense<0> : tensor<i64>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -151896] interior = [0, 0] : tensor<1x151936xi64> -> tensor<1x40xi64>
  return %z : tensor<1x40xi64>
}

// Of an extent that nothing divides the last run is padded; of several rows each has runs of its own.
// CHECK-LABEL: func.func @prime
// ALONE-LABEL: func.func @prime
// CHECK:       graph.pad {{.*}} high = [0, 939]
// CHECK:       graph.sort values %{{.*}} dim = 2 {zyx.first = 50 : i64} : tensor<3x25x2048xf32>
// CHECK:       graph.sort values %{{.*}} dim = 1 {zyx.first = 50 : i64} : tensor<3x1250xf32>
func.func @prime(%x: tensor<3x50261xf32>) -> tensor<3x50xf32> {
  %y = graph.sort values %x dim = 1 : tensor<3x50261xf32> -> tensor<3x50261xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -50211] interior = [0, 0] : tensor<3x50261xf32> -> tensor<3x50xf32>
  return %z : tensor<3x50xf32>
}

// A row that is not much longer than what its runs give, or as many rows as workgroups, is left.
// CHECK-LABEL: func.func @short
// CHECK:       graph.sort values %{{.*}} dim = 1 {{.*}} : tensor<1x16000xf32>
// CHECK-LABEL: func.func @rows
// CHECK:       graph.sort values %{{.*}} dim = 1 {{.*}} : tensor<33x32000xf32>
func.func @short(%x: tensor<1x16000xf32>) -> tensor<1x40xf32> {
  %y = graph.sort values %x dim = 1 : tensor<1x16000xf32> -> tensor<1x16000xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -15960] interior = [0, 0] : tensor<1x16000xf32> -> tensor<1x40xf32>
  return %z : tensor<1x40xf32>
}
func.func @rows(%x: tensor<33x32000xf32>) -> tensor<33x40xf32> {
  %y = graph.sort values %x dim = 1 : tensor<33x32000xf32> -> tensor<33x32000xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -31960] interior = [0, 0] : tensor<33x32000xf32> -> tensor<33x40xf32>
  return %z : tensor<33x40xf32>
}

// Places are looked up behind the merge. Runs divide a row where about as many elements do.
// CHECK-LABEL: func.func @places
// CHECK:       graph.sort indices {{.*}} : tensor<1x25x1040xf32>
// CHECK:       graph.sort indices {{.*}}zyx.runs = 25{{.*}} : tensor<1x26000xf32>
// CHECK:       graph.gather
// CHECK-NOT:   graph.sort
func.func @places(%x: tensor<1x26000xf32>) -> tensor<1x26000xi64> {
  %y = graph.sort indices %x dim = 1 : tensor<1x26000xf32> -> tensor<1x26000xi64>
  return %y : tensor<1x26000xi64>
}

// One pass over a row finds up to half as many first elements as a workgroup has threads.
// CHECK-LABEL: func.func @one_pass
// CHECK:       graph.sort indices %{{.*}} dim = 1 descending {zyx.first = 512 : i64} : tensor<64x128256xf32>
// CHECK-NOT:   graph.sort
func.func @one_pass(%x: tensor<64x128256xf32>) -> tensor<64x512xi64> {
  %y = graph.sort indices %x dim = 1 descending : tensor<64x128256xf32> -> tensor<64x128256xi64>
  %zero = graph.constant dense<0> : tensor<i64>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -127744] interior = [0, 0] : tensor<64x128256xi64> -> tensor<64x512xi64>
  return %z : tensor<64x512xi64>
}

// More are those of runs in many rows, too: each has places of its own.
// CHECK-LABEL: func.func @many_first
// CHECK:       graph.sort indices %{{.*}} dim = 2 descending {zyx.first = 600 : i64} : tensor<64x32x4008xf32>
// CHECK:       graph.sort indices %{{.*}} dim = 2 descending {zyx.first = 600 : i64} : tensor<64x5x3840xf32>
// CHECK:       graph.sort indices %{{.*}} dim = 1 descending {zyx.first = 600 : i64} : tensor<64x3000xf32>
// CHECK:       graph.iota dim = 0 : tensor<64x600xi64>
// CHECK:       graph.gather
// CHECK-NOT:   graph.sort
// ALONE-LABEL: func.func @many_first
// ALONE:       graph.sort
// ALONE-NOT:   graph.sort
func.func @many_first(%x: tensor<64x128256xf32>) -> tensor<64x600xi64> {
  %y = graph.sort indices %x dim = 1 descending : tensor<64x128256xf32> -> tensor<64x128256xi64>
  %zero = graph.constant dense<0> : tensor<i64>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -127656] interior = [0, 0] : tensor<64x128256xi64> -> tensor<64x600xi64>
  return %z : tensor<64x600xi64>
}

// Of as many as a run has, and of rows with more runs than multiprocessors, those of runs of four times as many; then few are left.
// CHECK-LABEL: func.func @many_of_many
// CHECK:       graph.sort values %{{.*}} dim = 2 {zyx.first = 1000 : i64} : tensor<64x32x4008xf32>
// CHECK:       graph.sort values %{{.*}} dim = 2 {zyx.first = 1000 : i64} : tensor<64x8x4000xf32>
// CHECK:       graph.sort values %{{.*}} dim = 1 {{.*}}zyx.runs = 4{{.*}} : tensor<64x8192xf32>
// ALONE-LABEL: func.func @many_of_many
func.func @many_of_many(%x: tensor<64x128256xf32>) -> tensor<64x1000xf32> {
  %y = graph.sort values %x dim = 1 : tensor<64x128256xf32> -> tensor<64x128256xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %z = graph.pad %y, %zero low = [0, 0] high = [0, -127256] interior = [0, 0] : tensor<64x128256xf32> -> tensor<64x1000xf32>
  return %z : tensor<64x1000xf32>
}
