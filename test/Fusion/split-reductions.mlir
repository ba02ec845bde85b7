// RUN: zyx-opt %s -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s --check-prefix=THREADS
// RUN: zyx-opt %s -zyx-fuse=fuse=false | FileCheck %s --check-prefix=NONE

// Rows are programs of their own, and their sums are a second kernel.
// CHECK-LABEL: func.func @matrix
// CHECK: graph.group
// CHECK: graph.reduce add {{.*}} dims = [1] : tensor<1024x512xf32> -> tensor<1024xf32>
// CHECK: graph.group
// CHECK: graph.reduce add {{.*}} dims = [0] : tensor<1024xf32> -> tensor<f32>
// NONE-LABEL: func.func @matrix
// NONE: graph.reduce add {{.*}} dims = [0, 1]
func.func @matrix(%x: tensor<1024x512xf32>) -> tensor<f32> {
  %y = graph.reduce add %x dims = [0, 1] : tensor<1024x512xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// A vector falls into parts, and what is computed in front of it stays there.
// CHECK-LABEL: func.func @vector
// CHECK: graph.group
// CHECK: graph.binary mul {{.*}} : tensor<256x4096xi32>
// CHECK: graph.reduce max {{.*}} dims = [1] : tensor<256x4096xi32> -> tensor<256xi32>
// CHECK: graph.reduce max {{.*}} dims = [0] : tensor<256xi32> -> tensor<i32>
func.func @vector(%x: tensor<1048576xi32>) -> tensor<i32> {
  %q = graph.binary mul %x, %x : tensor<1048576xi32>
  %y = graph.reduce max %q dims = [0] : tensor<1048576xi32> -> tensor<i32>
  return %y : tensor<i32>
}

// Many short rows are parts, too.
// CHECK-LABEL: func.func @kept
// CHECK: graph.reduce add {{.*}} dims = [2, 3] : tensor<2x256x4096x4xf64> -> tensor<2x256xf64>
// CHECK: graph.reduce add {{.*}} dims = [1] : tensor<2x256xf64> -> tensor<2xf64>
func.func @kept(%x: tensor<2x1048576x4xf64>) -> tensor<2xf64> {
  %y = graph.reduce add %x dims = [1, 2] : tensor<2x1048576x4xf64> -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// Parts of rows are added up at once, however many rows there are, if they save more than a launch.
// THREADS-LABEL: func.func @rows
// THREADS: graph.reduce add {{.*}} dims = [2] : tensor<256x[[PARTS:[0-9]+]]x{{[0-9]+}}xf32> -> tensor<256x[[PARTS]]xf32>
// THREADS: graph.reduce add {{.*}} dims = [1] : tensor<256x[[PARTS]]xf32> -> tensor<256xf32>
func.func @rows(%x: tensor<256x65536xf32>) -> tensor<256xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<256x65536xf32> -> tensor<256xf32>
  return %y : tensor<256xf32>
}

// THREADS-LABEL: func.func @short_rows
// THREADS: graph.reduce add {{.*}} dims = [1] : tensor<256x4096xf32> -> tensor<256xf32>
func.func @short_rows(%x: tensor<256x4096xf32>) -> tensor<256xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<256x4096xf32> -> tensor<256xf32>
  return %y : tensor<256xf32>
}

// Sums of 16-bit numbers are rounded in the end; a maximum is one of them.
// CHECK-LABEL: func.func @rounded
// CHECK: graph.cast {{.*}} : tensor<1024x512xf16> -> tensor<1024x512xf32>
// CHECK: graph.reduce add {{.*}} dims = [1] : tensor<1024x512xf32> -> tensor<1024xf32>
// CHECK: graph.reduce add {{.*}} dims = [0] : tensor<1024xf32> -> tensor<f32>
// CHECK: graph.cast {{.*}} : tensor<f32> -> tensor<f16>
// CHECK: graph.reduce max {{.*}} dims = [1] : tensor<1024x512xf16> -> tensor<1024xf16>
func.func @rounded(%x: tensor<1024x512xf16>) -> (tensor<f16>, tensor<f16>) {
  %y = graph.reduce add %x dims = [0, 1] : tensor<1024x512xf16> -> tensor<f16>
  %z = graph.reduce max %x dims = [0, 1] : tensor<1024x512xf16> -> tensor<f16>
  return %y, %z : tensor<f16>, tensor<f16>
}

// Short ones, those with many results, and extents without parts.
// CHECK-LABEL: func.func @left
// CHECK-DAG: graph.reduce add {{.*}} dims = [0, 1] : tensor<256x256xf32> -> tensor<f32>
// CHECK-DAG: graph.reduce add {{.*}} dims = [0] : tensor<65536x64xf32> -> tensor<64xf32>
// CHECK-DAG: graph.reduce add {{.*}} dims = [0] : tensor<1048573xf32> -> tensor<f32>
func.func @left(%a: tensor<256x256xf32>, %b: tensor<65536x64xf32>, %c: tensor<1048573xf32>)
    -> (tensor<f32>, tensor<64xf32>, tensor<f32>) {
  %0 = graph.reduce add %a dims = [0, 1] : tensor<256x256xf32> -> tensor<f32>
  %1 = graph.reduce add %b dims = [0] : tensor<65536x64xf32> -> tensor<64xf32>
  %2 = graph.reduce add %c dims = [0] : tensor<1048573xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<64xf32>, tensor<f32>
}

// 8192 columns are 64 strips of workgroups, which are few: rows fall into parts. Rows that workgroups share are many.
// CHECK-LABEL: func.func @columns
// CHECK: graph.reduce add {{.*}} dims = [0] : tensor<8192x8192xf32> -> tensor<8192xf32>
// CHECK: graph.reduce add {{.*}} dims = [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
// THREADS-LABEL: func.func @columns
// THREADS: graph.reduce add {{.*}} dims = [1] : tensor<4x2048x8192xf32> -> tensor<4x8192xf32>
// THREADS: graph.reduce add {{.*}} dims = [0] : tensor<4x8192xf32> -> tensor<8192xf32>
// THREADS: graph.reduce add {{.*}} dims = [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
func.func @columns(%x: tensor<8192x8192xf32>, %z: tensor<8192x8192xf32>) -> (tensor<8192xf32>, tensor<8192xf32>) {
  %y = graph.reduce add %x dims = [0] : tensor<8192x8192xf32> -> tensor<8192xf32>
  %w = graph.reduce add %z dims = [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
  return %y, %w : tensor<8192xf32>, tensor<8192xf32>
}

// Sums of sums are one.
// CHECK-LABEL: func.func @sums
// CHECK: graph.reduce add {{.*}} dims = [1, 2] : tensor<256x32x8192xf32> -> tensor<256xf32>
// CHECK: graph.reduce add {{.*}} dims = [0] : tensor<256xf32> -> tensor<f32>
func.func @sums(%x: tensor<8192x8192xf32>) -> tensor<f32> {
  %r = graph.reduce add %x dims = [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
  %y = graph.reduce add %r dims = [0] : tensor<8192xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// A long contraction with few results, where a card has many threads: sums of parts of it, whole dimensions and pieces of the
// next one, and a second kernel that adds them up. Each factor has the parts in front of what repeats it.
// THREADS-LABEL: func.func @contraction
// THREADS: graph.group
// THREADS: graph.reshape {{.*}} -> tensor<2x40x1x16x256xf32>
// THREADS: graph.reduce add {{.*}} dims = [4] : tensor<2x40x30x16x256xf32> -> tensor<2x40x30x16xf32>
// THREADS: graph.group
// THREADS: graph.reduce add {{.*}} dims = [0, 3] : tensor<2x40x30x16xf32> -> tensor<40x30xf32>
// CHECK-LABEL: func.func @contraction
// CHECK: graph.reduce add {{.*}} dims = [0, 3] : tensor<2x40x30x4096xf32> -> tensor<40x30xf32>
func.func @contraction(%x: tensor<2x40x4096xf32>, %w: tensor<2x30x4096xf32>) -> tensor<40x30xf32> {
  %x1 = graph.reshape %x : tensor<2x40x4096xf32> -> tensor<2x40x1x4096xf32>
  %w1 = graph.reshape %w : tensor<2x30x4096xf32> -> tensor<2x1x30x4096xf32>
  %x2 = graph.expand %x1 : tensor<2x40x1x4096xf32> -> tensor<2x40x30x4096xf32>
  %w2 = graph.expand %w1 : tensor<2x1x30x4096xf32> -> tensor<2x40x30x4096xf32>
  %p = graph.binary mul %x2, %w2 : tensor<2x40x30x4096xf32>
  %s = graph.reduce add %p dims = [0, 3] : tensor<2x40x30x4096xf32> -> tensor<40x30xf32>
  return %s : tensor<40x30xf32>
}

// Enough results are enough tiles.
// THREADS-LABEL: func.func @results
// THREADS: graph.reduce add {{.*}} dims = [2] : tensor<512x512x4096xf32> -> tensor<512x512xf32>
func.func @results(%x: tensor<512x4096xf32>, %w: tensor<512x4096xf32>) -> tensor<512x512xf32> {
  %x1 = graph.reshape %x : tensor<512x4096xf32> -> tensor<512x1x4096xf32>
  %w1 = graph.reshape %w : tensor<512x4096xf32> -> tensor<1x512x4096xf32>
  %x2 = graph.expand %x1 : tensor<512x1x4096xf32> -> tensor<512x512x4096xf32>
  %w2 = graph.expand %w1 : tensor<1x512x4096xf32> -> tensor<512x512x4096xf32>
  %p = graph.binary mul %x2, %w2 : tensor<512x512x4096xf32>
  %s = graph.reduce add %p dims = [2] : tensor<512x512x4096xf32> -> tensor<512x512xf32>
  return %s : tensor<512x512xf32>
}

// Parts are what any divisor makes of a dimension; what a text says of them is not believed.
// THREADS-LABEL: func.func @divisors
// THREADS: graph.reduce add {{.*}} dims = [0, 2] : tensor<15x93x11x768xf32> -> tensor<93x768xf32>
// THREADS: graph.reduce add {{.*}} dims = [0] : tensor<93x768xf32> -> tensor<768xf32>
// THREADS-NOT: zyx.parts
func.func @divisors(%x: tensor<15x1023x768xf16>) -> tensor<768xf16> {
  %y = graph.reduce add %x dims = [0, 1] {zyx.parts = array<i64: 7>} : tensor<15x1023x768xf16> -> tensor<768xf16>
  return %y : tensor<768xf16>
}

// Channels that come last in memory are columns, wherever they stand.
// THREADS-LABEL: func.func @channels
// THREADS: graph.reduce add {{.*}} : tensor<{{.*}}xf32> -> tensor<{{.*}}256{{.*}}xf32>
// THREADS: graph.reduce add {{.*}} -> tensor<256xf32>
func.func @channels(%x: tensor<16x32x32x256xf32>) -> tensor<256xf32> {
  %p = graph.permute %x order = [0, 3, 1, 2] : tensor<16x32x32x256xf32> -> tensor<16x256x32x32xf32>
  %y = graph.reduce add %p dims = [0, 2, 3] : tensor<16x256x32x32xf32> -> tensor<256xf32>
  return %y : tensor<256xf32>
}

// Chosen experts' weights are read where they are: the gather has the parts, and nothing of its size is stored.
// THREADS-LABEL: func.func @experts
// THREADS:       graph.gather %{{.*}} dim = 0 : (tensor<8x{{[0-9]+}}x{{[0-9]+}}x1024xf32>, tensor<2xi64>)
// THREADS-NOT:   graph.yield %{{.*}} : tensor<2x1024x768xf32>
// THREADS:       return
func.func @experts(%x: tensor<2x768xf32>, %w: tensor<8x768x1024xf32>, %i: tensor<2xi64>) -> tensor<2x1024xf32> {
  %0 = graph.reshape %x : tensor<2x768xf32> -> tensor<2x1x768xf32>
  %1 = graph.expand %0 : tensor<2x1x768xf32> -> tensor<2x1024x768xf32>
  %2 = graph.gather %w[%i] dim = 0 : (tensor<8x768x1024xf32>, tensor<2xi64>) -> tensor<2x768x1024xf32>
  %3 = graph.permute %2 order = [0, 2, 1] : tensor<2x768x1024xf32> -> tensor<2x1024x768xf32>
  %4 = graph.binary mul %1, %3 : tensor<2x1024x768xf32>
  %5 = graph.reduce add %4 dims = [2] : tensor<2x1024x768xf32> -> tensor<2x1024xf32>
  return %5 : tensor<2x1024xf32>
}
