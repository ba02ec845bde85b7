// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=sapphirerapids --zyx-cost-cut-groups --split-input-file | FileCheck %s

// A phase of a transposed convolution: every other element of the filters in the other direction has no two neighbours in
// memory. Stored in front as it is walked, its rows are read where they lie.
// CHECK-LABEL: func.func @phase
// CHECK:       graph.group(%{{.*}} = %arg1
// CHECK:         graph.window
// CHECK:         %[[FLIP:.*]] = graph.flip
// CHECK:         %[[ROWS:.*]] = graph.permute %{{.*}} : {{.*}} -> tensor<64x1x1x320x2x2xbf16>
// CHECK:         graph.yield %[[ROWS]]
// CHECK:       graph.group
// CHECK:         graph.window
// CHECK:         graph.reduce add
func.func @phase(%x: tensor<1x320x56x56xbf16>, %w: tensor<320x64x4x4xbf16>) -> tensor<64x56x56xbf16> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %z low = [0, 0, 1, 1] high = [0, 0, 0, 0] interior = [0, 0, 0, 0] : tensor<1x320x56x56xbf16> -> tensor<1x320x57x57xbf16>
  %v = graph.window %p dims = [2, 3] size = [2, 2] stride = [1, 1] dilation = [1, 1] : tensor<1x320x57x57xbf16> -> tensor<1x320x56x56x2x2xbf16>
  %v1 = graph.permute %v order = [0, 2, 3, 1, 4, 5] : tensor<1x320x56x56x2x2xbf16> -> tensor<1x56x56x320x2x2xbf16>
  %v2 = graph.cast %v1 : tensor<1x56x56x320x2x2xbf16> -> tensor<1x56x56x320x2x2xf32>
  %l = graph.expand %v2 : tensor<1x56x56x320x2x2xf32> -> tensor<64x56x56x320x2x2xf32>
  %f = graph.window %w dims = [2, 3] size = [2, 2] stride = [1, 1] dilation = [2, 2] : tensor<320x64x4x4xbf16> -> tensor<320x64x2x2x2x2xbf16>
  %f1 = graph.pad %f, %z low = [0, 0, -1, -1, 0, 0] high = [0, 0, 0, 0, 0, 0] interior = [0, 0, 0, 0, 0, 0] : tensor<320x64x2x2x2x2xbf16> -> tensor<320x64x1x1x2x2xbf16>
  %f2 = graph.flip %f1 dims = [4, 5] : tensor<320x64x1x1x2x2xbf16>
  %f3 = graph.permute %f2 order = [1, 2, 3, 0, 4, 5] : tensor<320x64x1x1x2x2xbf16> -> tensor<64x1x1x320x2x2xbf16>
  %f4 = graph.cast %f3 : tensor<64x1x1x320x2x2xbf16> -> tensor<64x1x1x320x2x2xf32>
  %r = graph.expand %f4 : tensor<64x1x1x320x2x2xf32> -> tensor<64x56x56x320x2x2xf32>
  %m = graph.binary mul %l, %r : tensor<64x56x56x320x2x2xf32>
  %s = graph.reduce add %m dims = [3, 4, 5] : tensor<64x56x56x320x2x2xf32> -> tensor<64x56x56xf32>
  %y = graph.cast %s : tensor<64x56x56xf32> -> tensor<64x56x56xbf16>
  return %y : tensor<64x56x56xbf16>
}

// -----

// Windows of channels that come last are walked as they lie, channels innermost: filters of another order are stored so.
// CHECK-LABEL: func.func @line
// CHECK:       graph.group(%{{.*}} = %arg1
// CHECK:         %[[ROWS:.*]] = graph.permute %{{.*}} : {{.*}} -> tensor<1x128x1x5x320xbf16>
// CHECK:         graph.yield %[[ROWS]]
// CHECK:       graph.group
// CHECK:         graph.window
func.func @line(%x: tensor<2x1500x320xbf16>, %w: tensor<128x320x5xbf16>) -> tensor<2x128x750xbf16> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %z low = [0, 2, 0] high = [0, 2, 0] interior = [0, 0, 0] : tensor<2x1500x320xbf16> -> tensor<2x1504x320xbf16>
  %v = graph.window %p dims = [1] size = [5] stride = [2] dilation = [1] : tensor<2x1504x320xbf16> -> tensor<2x750x320x5xbf16>
  %v1 = graph.cast %v : tensor<2x750x320x5xbf16> -> tensor<2x750x320x5xf32>
  %v2 = graph.reshape %v1 : tensor<2x750x320x5xf32> -> tensor<2x1x750x320x5xf32>
  %l = graph.expand %v2 : tensor<2x1x750x320x5xf32> -> tensor<2x128x750x320x5xf32>
  %f = graph.cast %w : tensor<128x320x5xbf16> -> tensor<128x320x5xf32>
  %f1 = graph.reshape %f : tensor<128x320x5xf32> -> tensor<1x128x1x320x5xf32>
  %r = graph.expand %f1 : tensor<1x128x1x320x5xf32> -> tensor<2x128x750x320x5xf32>
  %m = graph.binary mul %l, %r : tensor<2x128x750x320x5xf32>
  %s = graph.reduce add %m dims = [3, 4] : tensor<2x128x750x320x5xf32> -> tensor<2x128x750xf32>
  %y = graph.cast %s : tensor<2x128x750xf32> -> tensor<2x128x750xbf16>
  return %y : tensor<2x128x750xbf16>
}

// -----

// A phase of an image's gradient with channels last: the result's neighbours are rows of the product. What the matrix unit
// reads of the filters it reads along the contraction all the same, so that the stored ones pay.
// CHECK-LABEL: func.func @last
// CHECK:       graph.group(%{{.*}} = %arg1
// CHECK:         %[[FLIP:.*]] = graph.flip
// CHECK:         %[[ROWS:.*]] = graph.permute %{{.*}} : {{.*}} -> tensor<1x1x320x320x2xbf16>
// CHECK:         graph.yield %[[ROWS]]
// CHECK:       graph.group
// CHECK:         graph.reduce add
func.func @last(%g: tensor<320x28x28xbf16>, %w: tensor<320x320x3xbf16>) -> tensor<28x28x320xf32> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %g, %z low = [0, 0, 0] high = [0, 0, 1] interior = [0, 0, 0] : tensor<320x28x28xbf16> -> tensor<320x28x29xbf16>
  %v = graph.window %p dims = [2] size = [2] stride = [1] dilation = [1] : tensor<320x28x29xbf16> -> tensor<320x28x28x2xbf16>
  %v1 = graph.reshape %v : tensor<320x28x28x2xbf16> -> tensor<320x28x28x1x2xbf16>
  %v2 = graph.cast %v1 : tensor<320x28x28x1x2xbf16> -> tensor<320x28x28x1x2xf32>
  %l = graph.expand %v2 : tensor<320x28x28x1x2xf32> -> tensor<320x28x28x320x2xf32>
  %f = graph.reshape %w : tensor<320x320x3xbf16> -> tensor<320x1x1x320x3xbf16>
  %f1 = graph.window %f dims = [4] size = [1] stride = [2] dilation = [1] : tensor<320x1x1x320x3xbf16> -> tensor<320x1x1x320x2x1xbf16>
  %f2 = graph.reshape %f1 : tensor<320x1x1x320x2x1xbf16> -> tensor<320x1x1x320x2xbf16>
  %f3 = graph.flip %f2 dims = [4] : tensor<320x1x1x320x2xbf16>
  %f4 = graph.cast %f3 : tensor<320x1x1x320x2xbf16> -> tensor<320x1x1x320x2xf32>
  %r = graph.expand %f4 : tensor<320x1x1x320x2xf32> -> tensor<320x28x28x320x2xf32>
  %m = graph.binary mul %l, %r : tensor<320x28x28x320x2xf32>
  %s = graph.reduce add %m dims = [0, 4] : tensor<320x28x28x320x2xf32> -> tensor<28x28x320xf32>
  return %s : tensor<28x28x320xf32>
}

// -----

// Windows that are few because of their dilation could be stored, too. They stay where they lie, and only the filters are
// stored, in the windows' order, channels innermost.
// CHECK-LABEL: func.func @dilated
// CHECK:       graph.group(%{{.*}} = %arg1
// CHECK:         %[[ROWS:.*]] = graph.permute %{{.*}} : {{.*}} -> tensor<320x1x1x2x3x96xbf16>
// CHECK:         graph.yield %[[ROWS]]
// CHECK:       graph.group
// CHECK:         graph.window
// CHECK:         graph.reduce add
// CHECK-NOT:   graph.group
func.func @dilated(%x: tensor<28x28x96xbf16>, %w: tensor<320x96x3x3xbf16> {graph.weight}) -> tensor<320x12x4xf32> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %xp = graph.permute %x order = [2, 0, 1] : tensor<28x28x96xbf16> -> tensor<96x28x28xbf16>
  %p = graph.pad %xp, %z low = [0, 0, 0] high = [0, -4, 0] interior = [0, 0, 0] : tensor<96x28x28xbf16> -> tensor<96x24x28xbf16>
  %v = graph.window %p dims = [1, 2] size = [2, 3] stride = [1, 1] dilation = [12, 12] : tensor<96x24x28xbf16> -> tensor<96x12x4x2x3xbf16>
  %v1 = graph.permute %v order = [1, 2, 0, 3, 4] : tensor<96x12x4x2x3xbf16> -> tensor<12x4x96x2x3xbf16>
  %v2 = graph.reshape %v1 : tensor<12x4x96x2x3xbf16> -> tensor<1x12x4x96x2x3xbf16>
  %v3 = graph.cast %v2 : tensor<1x12x4x96x2x3xbf16> -> tensor<1x12x4x96x2x3xf32>
  %l = graph.expand %v3 : tensor<1x12x4x96x2x3xf32> -> tensor<320x12x4x96x2x3xf32>
  %f = graph.pad %w, %z low = [0, 0, -1, 0] high = [0, 0, 0, 0] interior = [0, 0, 0, 0] : tensor<320x96x3x3xbf16> -> tensor<320x96x2x3xbf16>
  %f1 = graph.reshape %f : tensor<320x96x2x3xbf16> -> tensor<320x1x1x96x2x3xbf16>
  %f2 = graph.cast %f1 : tensor<320x1x1x96x2x3xbf16> -> tensor<320x1x1x96x2x3xf32>
  %r = graph.expand %f2 : tensor<320x1x1x96x2x3xf32> -> tensor<320x12x4x96x2x3xf32>
  %m = graph.binary mul %l, %r : tensor<320x12x4x96x2x3xf32>
  %s = graph.reduce add %m dims = [3, 4, 5] : tensor<320x12x4x96x2x3xf32> -> tensor<320x12x4xf32>
  return %s : tensor<320x12x4xf32>
}

// -----

// A plane of filters that are weights: rows of 25 elements, 125 apart, are stored beside each other once for many runs. That
// takes a seventh from the estimate of a run, which is too little for what each run would store.
// CHECK-LABEL: func.func @plane
// CHECK:       graph.group(%{{.*}} = %arg1
// CHECK:         graph.pad
// CHECK:         graph.yield %{{.*}} : tensor<1x128x1x1x1x64x5x5xbf16>
// CHECK:       graph.group
// CHECK:         graph.window
// CHECK:         graph.reduce add
// CHECK-LABEL: func.func @changing
// CHECK:       graph.group
// CHECK:         graph.window
// CHECK:         graph.pad %arg{{[0-9]+}}{{.*}} -> tensor<128x64x1x5x5xbf16>
// CHECK-NOT:   graph.group
// CHECK:       return
func.func @plane(%x: tensor<2x64x4x6x6xbf16>, %w: tensor<128x64x5x5x5xbf16> {graph.weight}) -> tensor<2x128x4x6x6xf32> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %z low = [0, 0, 0, 2, 2] high = [0, 0, 0, 2, 2] interior = [0, 0, 0, 0, 0] : tensor<2x64x4x6x6xbf16> -> tensor<2x64x4x10x10xbf16>
  %v = graph.window %p dims = [3, 4] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<2x64x4x10x10xbf16> -> tensor<2x64x4x6x6x5x5xbf16>
  %v1 = graph.permute %v order = [0, 2, 3, 4, 1, 5, 6] : tensor<2x64x4x6x6x5x5xbf16> -> tensor<2x4x6x6x64x5x5xbf16>
  %v2 = graph.reshape %v1 : tensor<2x4x6x6x64x5x5xbf16> -> tensor<2x1x4x6x6x64x5x5xbf16>
  %v3 = graph.cast %v2 : tensor<2x1x4x6x6x64x5x5xbf16> -> tensor<2x1x4x6x6x64x5x5xf32>
  %l = graph.expand %v3 : tensor<2x1x4x6x6x64x5x5xf32> -> tensor<2x128x4x6x6x64x5x5xf32>
  %f = graph.pad %w, %z low = [0, 0, -1, 0, 0] high = [0, 0, -3, 0, 0] interior = [0, 0, 0, 0, 0] : tensor<128x64x5x5x5xbf16> -> tensor<128x64x1x5x5xbf16>
  %f1 = graph.reshape %f : tensor<128x64x1x5x5xbf16> -> tensor<1x128x1x1x1x64x5x5xbf16>
  %f2 = graph.cast %f1 : tensor<1x128x1x1x1x64x5x5xbf16> -> tensor<1x128x1x1x1x64x5x5xf32>
  %r = graph.expand %f2 : tensor<1x128x1x1x1x64x5x5xf32> -> tensor<2x128x4x6x6x64x5x5xf32>
  %m = graph.binary mul %l, %r : tensor<2x128x4x6x6x64x5x5xf32>
  %s = graph.reduce add %m dims = [5, 6, 7] : tensor<2x128x4x6x6x64x5x5xf32> -> tensor<2x128x4x6x6xf32>
  return %s : tensor<2x128x4x6x6xf32>
}
func.func @changing(%x: tensor<2x64x4x6x6xbf16>, %w: tensor<128x64x5x5x5xbf16>) -> tensor<2x128x4x6x6xf32> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %z low = [0, 0, 0, 2, 2] high = [0, 0, 0, 2, 2] interior = [0, 0, 0, 0, 0] : tensor<2x64x4x6x6xbf16> -> tensor<2x64x4x10x10xbf16>
  %v = graph.window %p dims = [3, 4] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<2x64x4x10x10xbf16> -> tensor<2x64x4x6x6x5x5xbf16>
  %v1 = graph.permute %v order = [0, 2, 3, 4, 1, 5, 6] : tensor<2x64x4x6x6x5x5xbf16> -> tensor<2x4x6x6x64x5x5xbf16>
  %v2 = graph.reshape %v1 : tensor<2x4x6x6x64x5x5xbf16> -> tensor<2x1x4x6x6x64x5x5xbf16>
  %v3 = graph.cast %v2 : tensor<2x1x4x6x6x64x5x5xbf16> -> tensor<2x1x4x6x6x64x5x5xf32>
  %l = graph.expand %v3 : tensor<2x1x4x6x6x64x5x5xf32> -> tensor<2x128x4x6x6x64x5x5xf32>
  %f = graph.pad %w, %z low = [0, 0, -1, 0, 0] high = [0, 0, -3, 0, 0] interior = [0, 0, 0, 0, 0] : tensor<128x64x5x5x5xbf16> -> tensor<128x64x1x5x5xbf16>
  %f1 = graph.reshape %f : tensor<128x64x1x5x5xbf16> -> tensor<1x128x1x1x1x64x5x5xbf16>
  %f2 = graph.cast %f1 : tensor<1x128x1x1x1x64x5x5xbf16> -> tensor<1x128x1x1x1x64x5x5xf32>
  %r = graph.expand %f2 : tensor<1x128x1x1x1x64x5x5xf32> -> tensor<2x128x4x6x6x64x5x5xf32>
  %m = graph.binary mul %l, %r : tensor<2x128x4x6x6x64x5x5xf32>
  %s = graph.reduce add %m dims = [5, 6, 7] : tensor<2x128x4x6x6x64x5x5xf32> -> tensor<2x128x4x6x6xf32>
  return %s : tensor<2x128x4x6x6xf32>
}
