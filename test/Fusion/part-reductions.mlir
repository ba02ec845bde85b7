// RUN: zyx-opt %s --zyx-fusion-part-reductions | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-part-reductions | FileCheck %s --check-prefix=CARD

// A vector becomes 256 rows for a processor; for a card, parts that are noted.
// CHECK-LABEL: func.func @vector
// CHECK-NEXT: %[[ROWS:.*]] = graph.reshape %arg0 : tensor<1048576xf32> -> tensor<256x4096xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[ROWS]] dims = [0, 1] : tensor<256x4096xf32> -> tensor<f32>
// CHECK-NEXT: return %[[ALL]]
// CARD-LABEL: func.func @vector
// CARD-NEXT: graph.reshape %arg0 : tensor<1048576xf32> -> tensor<[[PARTS:[0-9]+]]x[[LENGTH:[0-9]+]]xf32>
// CARD-NEXT: graph.reduce add %{{.*}} dims = [0, 1] {zyx.parts = array<i64: 0>} : tensor<[[PARTS]]x[[LENGTH]]xf32> -> tensor<f32>
func.func @vector(%x: tensor<1048576xf32>) -> tensor<f32> {
  %y = graph.reduce add %x dims = [0] : tensor<1048576xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// Short ones stay.
// CHECK-LABEL: func.func @short
// CHECK-NEXT: graph.reduce add %arg0 dims = [0] : tensor<1024xf32> -> tensor<f32>
func.func @short(%x: tensor<1024xf32>) -> tensor<f32> {
  %y = graph.reduce add %x dims = [0] : tensor<1024xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// The gradient of a depthwise filter along rows: a workgroup has all places of the window, so that images are parts, too.
// CARD-LABEL: func.func @taps
// CARD: graph.reduce add %{{.*}} dims = [0, 1, 3, 4] {zyx.parts = array<i64: 0>} : tensor<16x4x96x64x64x7x7xf32> -> tensor<96x7x7xf32>
func.func @taps(%x: tensor<64x96x70x70xf32>, %dy: tensor<64x96x64x64xf32>) -> tensor<96x7x7xf32> {
  %0 = graph.window %x dims = [2, 3] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<64x96x70x70xf32> -> tensor<64x96x64x64x7x7xf32>
  %1 = graph.reshape %dy : tensor<64x96x64x64xf32> -> tensor<64x96x64x64x1x1xf32>
  %2 = graph.expand %1 : tensor<64x96x64x64x1x1xf32> -> tensor<64x96x64x64x7x7xf32>
  %3 = graph.binary mul %0, %2 : tensor<64x96x64x64x7x7xf32>
  %4 = graph.reduce add %3 dims = [0, 2, 3] : tensor<64x96x64x64x7x7xf32> -> tensor<96x7x7xf32>
  return %4 : tensor<96x7x7xf32>
}

// What is reduced is larger than what it is made of: parts are made of that, so that products stay in the kernel that adds
// them up. A computed value with other readers is stored in its narrow type.
// CARD-LABEL: func.func @computed_taps
// CARD: %[[DY:.*]] = graph.cast %{{.*}} : tensor<64x96x64x64xf32> -> tensor<64x96x64x64xbf16>
// CARD: %[[PARTS:.*]] = graph.reshape %[[DY]] : tensor<64x96x64x64xbf16> -> tensor<16x4x96x64x64xbf16>
// CARD-NEXT: %[[WIDE:.*]] = graph.cast %[[PARTS]] : tensor<16x4x96x64x64xbf16> -> tensor<16x4x96x64x64xf32>
// CARD: graph.expand %{{.*}} : tensor<16x4x96x64x64x1x1xf32> -> tensor<16x4x96x64x64x7x7xf32>
// CARD-NEXT: graph.binary mul %{{.*}} : tensor<16x4x96x64x64x7x7xf32>
// CARD-NEXT: graph.reduce add %{{.*}} dims = [0, 1, 3, 4] {zyx.parts = array<i64: 0>}
func.func @computed_taps(%x: tensor<64x96x70x70xbf16>, %dy: tensor<64x96x64x64xf32>)
    -> (tensor<96x7x7xf32>, tensor<64x96x64x64xf32>, tensor<64x96x64x64x7x7xf32>) {
  %0 = graph.window %x dims = [2, 3] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<64x96x70x70xbf16> -> tensor<64x96x64x64x7x7xbf16>
  %1 = graph.cast %0 : tensor<64x96x64x64x7x7xbf16> -> tensor<64x96x64x64x7x7xf32>
  %2 = graph.unary tanh %dy : tensor<64x96x64x64xf32>
  %3 = graph.cast %2 : tensor<64x96x64x64xf32> -> tensor<64x96x64x64xbf16>
  %4 = graph.cast %3 : tensor<64x96x64x64xbf16> -> tensor<64x96x64x64xf32>
  %5 = graph.reshape %4 : tensor<64x96x64x64xf32> -> tensor<64x96x64x64x1x1xf32>
  %6 = graph.expand %5 : tensor<64x96x64x64x1x1xf32> -> tensor<64x96x64x64x7x7xf32>
  %7 = graph.binary mul %1, %6 : tensor<64x96x64x64x7x7xf32>
  %8 = graph.reduce add %7 dims = [0, 2, 3] : tensor<64x96x64x64x7x7xf32> -> tensor<96x7x7xf32>
  return %8, %4, %1 : tensor<96x7x7xf32>, tensor<64x96x64x64xf32>, tensor<64x96x64x64x7x7xf32>
}

// Of what is as large as its terms the terms are seen in parts.
// CARD-LABEL: func.func @computed_rows
// CARD: %[[TERMS:.*]] = graph.binary mul
// CARD-NEXT: graph.reshape %[[TERMS]] : tensor<64x96x64x64xf32> -> tensor<16x4x96x64x64xf32>
func.func @computed_rows(%x: tensor<64x96x64x64xf32>, %scale: tensor<1x96x1x1xf32>) -> tensor<96xf32> {
  %0 = graph.expand %scale : tensor<1x96x1x1xf32> -> tensor<64x96x64x64xf32>
  %1 = graph.binary mul %x, %0 : tensor<64x96x64x64xf32>
  %2 = graph.reduce add %1 dims = [0, 2, 3] : tensor<64x96x64x64xf32> -> tensor<96xf32>
  return %2 : tensor<96xf32>
}

// The term of each column that an index names: a card looks it up, and adds up nothing. Of others it adds up parts.
// CARD-LABEL: func.func @picked
// CARD: graph.reduce add %{{[0-9]+}} dims = [0] : tensor<4096x512xf32> -> tensor<512xf32>
// CARD: graph.reduce add %{{.*}} {zyx.parts = {{.*}}} : {{.*}} -> tensor<512xf32>
func.func @picked(%x: tensor<4096x512xf32>, %at: tensor<512xi64>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = graph.iota dim = 0 : tensor<4096x1xi64>
  %1 = graph.expand %0 : tensor<4096x1xi64> -> tensor<4096x512xi64>
  %2 = graph.reshape %at : tensor<512xi64> -> tensor<1x512xi64>
  %3 = graph.expand %2 : tensor<1x512xi64> -> tensor<4096x512xi64>
  %4 = graph.binary eq %1, %3 : tensor<4096x512xi64>
  %5 = graph.constant dense<0.000000e+00> : tensor<f32>
  %6 = graph.reshape %5 : tensor<f32> -> tensor<1x1xf32>
  %7 = graph.expand %6 : tensor<1x1xf32> -> tensor<4096x512xf32>
  %8 = graph.select %4, %x, %7 : tensor<4096x512xf32>
  %9 = graph.unary neg %8 : tensor<4096x512xf32>
  %10 = graph.reduce add %9 dims = [0] : tensor<4096x512xf32> -> tensor<512xf32>
  // Zero where the index is: those of all other places.
  %11 = graph.select %4, %7, %x : tensor<4096x512xf32>
  %12 = graph.reduce add %11 dims = [0] : tensor<4096x512xf32> -> tensor<512xf32>
  return %10, %12 : tensor<512xf32>, tensor<512xf32>
}

// What finishes a contraction is stored in its order, and so are sums of it columns: many parts of each, though another
// operand as large lies in another order, in which rows of channels would be enough.
// CARD-LABEL: func.func @finished
// CARD: graph.reduce add %{{.*}} dims = [0, 1, 2] {{.*}} : tensor<128x8x1024x144xf32> -> tensor<144xf32>
func.func @finished(%a: tensor<1024x1024x64xf32>, %w: tensor<64x144xf32>, %dy: tensor<1024x144x1024xf32>) -> tensor<144xf32> {
  %a1 = graph.reshape %a : tensor<1024x1024x64xf32> -> tensor<1024x1024x1x64xf32>
  %as = graph.expand %a1 : tensor<1024x1024x1x64xf32> -> tensor<1024x1024x144x64xf32>
  %wt = graph.permute %w order = [1, 0] : tensor<64x144xf32> -> tensor<144x64xf32>
  %w1 = graph.reshape %wt : tensor<144x64xf32> -> tensor<1x1x144x64xf32>
  %ws = graph.expand %w1 : tensor<1x1x144x64xf32> -> tensor<1024x1024x144x64xf32>
  %p = graph.binary mul %as, %ws : tensor<1024x1024x144x64xf32>
  %y = graph.reduce add %p dims = [3] : tensor<1024x1024x144x64xf32> -> tensor<1024x1024x144xf32>
  %t = graph.permute %dy order = [0, 2, 1] : tensor<1024x144x1024xf32> -> tensor<1024x1024x144xf32>
  %m = graph.binary mul %t, %y : tensor<1024x1024x144xf32>
  %s = graph.reduce add %m dims = [0, 1] : tensor<1024x1024x144xf32> -> tensor<144xf32>
  return %s : tensor<144xf32>
}

// How often each place is named. What is compared with a place is read alike for all of them, so that results are columns, side by
// side, and parts are many: with a row for each place all of them would read everything.
// CARD-LABEL: func.func @counts
// CARD: graph.reduce add %{{.*}} dims = [0, 1, 2] {zyx.parts = array<i64: 0>} : tensor<256x32x8x256xi64> -> tensor<256xi64>
func.func @counts(%at: tensor<8192x8xi64>) -> tensor<256xi64> {
  %0 = graph.reshape %at : tensor<8192x8xi64> -> tensor<8192x8x1xi64>
  %1 = graph.expand %0 : tensor<8192x8x1xi64> -> tensor<8192x8x256xi64>
  %2 = graph.iota dim = 0 : tensor<256xi64>
  %3 = graph.reshape %2 : tensor<256xi64> -> tensor<1x1x256xi64>
  %4 = graph.expand %3 : tensor<1x1x256xi64> -> tensor<8192x8x256xi64>
  %5 = graph.binary eq %1, %4 : tensor<8192x8x256xi64>
  %6 = graph.cast %5 : tensor<8192x8x256xi1> -> tensor<8192x8x256xi64>
  %7 = graph.reduce add %6 dims = [0, 1] : tensor<8192x8x256xi64> -> tensor<256xi64>
  return %7 : tensor<256xi64>
}

// Parts of a sum that as many elements wait for as it has would be two launches more: what adds them up, and what reads the
// elements again. Such a sum stays whole where others get parts, and so does one that its kernel takes along.
// CARD-LABEL: func.func @spread
// CARD-NOT: zyx.parts
// CARD: return
func.func @spread(%x: tensor<16x64x28x28xf32>) -> (tensor<16x64x28x28xf32>, tensor<64xf32>) {
  %0 = graph.reduce add %x dims = [0, 2, 3] : tensor<16x64x28x28xf32> -> tensor<64xf32>
  %1 = graph.reshape %0 : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %2 = graph.expand %1 : tensor<1x64x1x1xf32> -> tensor<16x64x28x28xf32>
  %3 = graph.binary sub %x, %2 : tensor<16x64x28x28xf32>
  %4 = graph.unary abs %x : tensor<16x64x28x28xf32>
  %5 = graph.reduce add %4 dims = [0, 2, 3] : tensor<16x64x28x28xf32> -> tensor<64xf32>
  return %3, %5 : tensor<16x64x28x28xf32>, tensor<64xf32>
}

// CARD-LABEL: func.func @alone
// CARD: graph.reduce add %{{.*}} {zyx.parts = {{.*}}}
func.func @alone(%x: tensor<16x64x28x28xf32>) -> tensor<64xf32> {
  %0 = graph.unary abs %x : tensor<16x64x28x28xf32>
  %1 = graph.reduce add %0 dims = [0, 2, 3] : tensor<16x64x28x28xf32> -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// Half of the bytes are read where the terms are made of 16 bits.
// CARD-LABEL: func.func @narrow
// CARD-NOT: zyx.parts
// CARD: return
func.func @narrow(%x: tensor<16x64x28x28xbf16>) -> tensor<64xf32> {
  %0 = graph.cast %x : tensor<16x64x28x28xbf16> -> tensor<16x64x28x28xf32>
  %1 = graph.unary abs %0 : tensor<16x64x28x28xf32>
  %2 = graph.reduce add %1 dims = [0, 2, 3] : tensor<16x64x28x28xf32> -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// Of sums that are spread over the same elements either all stay whole or none: here the second one reads more, and would
// get parts by itself.
// CARD-LABEL: func.func @chain
// CARD-NOT: zyx.parts
// CARD: return
func.func @chain(%x: tensor<16x64x28x28xbf16>, %y: tensor<16x64x28x28xf32>) -> tensor<16x64x28x28xf32> {
  %0 = graph.cast %x : tensor<16x64x28x28xbf16> -> tensor<16x64x28x28xf32>
  %1 = graph.reduce add %0 dims = [0, 2, 3] : tensor<16x64x28x28xf32> -> tensor<64xf32>
  %2 = graph.reshape %1 : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %3 = graph.expand %2 : tensor<1x64x1x1xf32> -> tensor<16x64x28x28xf32>
  %4 = graph.binary sub %0, %3 : tensor<16x64x28x28xf32>
  %5 = graph.binary mul %4, %y : tensor<16x64x28x28xf32>
  %6 = graph.reduce add %5 dims = [0, 2, 3] : tensor<16x64x28x28xf32> -> tensor<64xf32>
  %7 = graph.reshape %6 : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %8 = graph.expand %7 : tensor<1x64x1x1xf32> -> tensor<16x64x28x28xf32>
  %9 = graph.binary sub %4, %8 : tensor<16x64x28x28xf32>
  return %9 : tensor<16x64x28x28xf32>
}
