// RUN: zyx-opt %s --zyx-fusion-normalize-views | FileCheck %s

// CHECK-LABEL: func.func @reshape_of_cast
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : tensor<4x6xui8> -> tensor<24xui8>
// CHECK-NEXT: %[[C:.*]] = graph.cast %[[R]] : tensor<24xui8> -> tensor<24xf32>
// CHECK-NEXT: return %[[C]]
func.func @reshape_of_cast(%x: tensor<4x6xui8>) -> tensor<24xf32> {
  %0 = graph.cast %x : tensor<4x6xui8> -> tensor<4x6xf32>
  %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
  return %1 : tensor<24xf32>
}

// Views in between move along, and constants of one value take the new extents.
// CHECK-LABEL: func.func @views_between
// CHECK-NEXT: %[[P:.*]] = graph.permute %arg0 order = [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[P]] : tensor<6x4xf32> -> tensor<24xf32>
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<2.000000e+00> : tensor<24xf32>
// CHECK-NEXT: %[[M:.*]] = graph.binary lt %[[R]], %[[C]] : tensor<24xf32>
// CHECK-NEXT: return %[[M]]
func.func @views_between(%x: tensor<4x6xf32>) -> tensor<24xi1> {
  %c = graph.constant dense<2.0> : tensor<4x6xf32>
  %0 = graph.binary lt %x, %c : tensor<4x6xf32>
  %1 = graph.permute %0 order = [1, 0] : tensor<4x6xi1> -> tensor<6x4xi1>
  %2 = graph.reshape %1 : tensor<6x4xi1> -> tensor<24xi1>
  return %2 : tensor<24xi1>
}

// Behind a reduction there is nothing to move to.
// CHECK-LABEL: func.func @reshape_of_reduce
// CHECK: graph.reduce
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.reshape
func.func @reshape_of_reduce(%x: tensor<4x6xf32>) -> tensor<2x2xf32> {
  %0 = graph.reduce add %x dims = [1] : tensor<4x6xf32> -> tensor<4xf32>
  %1 = graph.unary exp %0 : tensor<4xf32>
  %2 = graph.reshape %1 : tensor<4xf32> -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @expand_of_input
// CHECK: graph.constant dense<2.000000e+00> : tensor<4x1xf32>
// CHECK-NEXT: %[[M:.*]] = graph.binary mul %{{.*}}, %{{.*}} : tensor<4x1xf32>
// CHECK-NEXT: %[[E:.*]] = graph.expand %[[M]] : tensor<4x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %[[E]]
func.func @expand_of_input(%x: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %c = graph.constant dense<2.0> : tensor<4x8xf32>
  %0 = graph.expand %x : tensor<4x1xf32> -> tensor<4x8xf32>
  %1 = graph.binary mul %0, %c : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Only what both operands repeat.
// CHECK-LABEL: func.func @common_expand
// CHECK: graph.expand %arg0 : tensor<1x1x3xf32> -> tensor<1x4x3xf32>
// CHECK-NEXT: graph.binary add %{{.*}}, %arg1 : tensor<1x4x3xf32>
// CHECK-NEXT: graph.expand %{{.*}} : tensor<1x4x3xf32> -> tensor<2x4x3xf32>
func.func @common_expand(%x: tensor<1x1x3xf32>, %y: tensor<1x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = graph.expand %x : tensor<1x1x3xf32> -> tensor<2x4x3xf32>
  %1 = graph.expand %y : tensor<1x4x3xf32> -> tensor<2x4x3xf32>
  %2 = graph.binary add %0, %1 : tensor<2x4x3xf32>
  return %2 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @view_of_splat
// CHECK-NEXT: graph.constant dense<1> : tensor<8xi32>
// CHECK-NEXT: return
func.func @view_of_splat() -> tensor<8xi32> {
  %c = graph.constant dense<1> : tensor<2x1xi32>
  %0 = graph.expand %c : tensor<2x1xi32> -> tensor<2x4xi32>
  %1 = graph.reshape %0 : tensor<2x4xi32> -> tensor<8xi32>
  return %1 : tensor<8xi32>
}

// CHECK-LABEL: func.func @reshapes_and_nothing
// CHECK-NEXT: graph.reduce
// CHECK-NEXT: %[[R:.*]] = graph.reshape %{{.*}} : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-NEXT: return %[[R]]
func.func @reshapes_and_nothing(%x: tensor<4x6xf32>) -> tensor<4x1xf32> {
  %0 = graph.reduce add %x dims = [1] : tensor<4x6xf32> -> tensor<4xf32>
  %1 = graph.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
  %2 = graph.reshape %1 : tensor<2x2xf32> -> tensor<4x1xf32>
  %3 = graph.permute %2 order = [0, 1] : tensor<4x1xf32> -> tensor<4x1xf32>
  %4 = graph.expand %3 : tensor<4x1xf32> -> tensor<4x1xf32>
  return %4 : tensor<4x1xf32>
}

// What a pad leaves of a repeated dimension is repeated less often, also behind a reshape that keeps the dimension: gradients of
// pools repeat each window's number, and take it apart again.
// CHECK-LABEL: func.func @pad_of_expand
// CHECK:       %[[R:.*]] = graph.reshape %arg0 : tensor<2x3x4x1xf32> -> tensor<6x4x1x1xf32>
// CHECK-NEXT:  %[[P:.*]] = graph.pad %[[R]], %{{.*}} low = [0, 0, 0, 0] high = [0, 0, 1, 0] {{.*}} -> tensor<6x4x2x1xf32>
// CHECK-NEXT:  %[[E:.*]] = graph.expand %[[P]] : tensor<6x4x2x1xf32> -> tensor<6x4x2x2xf32>
// CHECK-NEXT:  return %[[E]]
func.func @pad_of_expand(%x: tensor<2x3x4x1xf32>) -> tensor<6x4x2x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.expand %x : tensor<2x3x4x1xf32> -> tensor<2x3x4x3xf32>
  %1 = graph.reshape %0 : tensor<2x3x4x3xf32> -> tensor<6x4x1x3xf32>
  %2 = graph.pad %1, %zero low = [0, 0, 0, -1] high = [0, 0, 1, 0] interior = [0, 0, 0, 0] : tensor<6x4x1x3xf32> -> tensor<6x4x2x2xf32>
  return %2 : tensor<6x4x2x2xf32>
}

// A reshape that merges what is repeated with other dimensions, and a pad that adds something to it, come behind the expand.
// CHECK-LABEL: func.func @pad_of_merged
// CHECK:       graph.expand %arg0
// CHECK:       graph.pad
// CHECK:       graph.expand %arg1
// CHECK:       graph.pad
// CHECK-NEXT:  return
func.func @pad_of_merged(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> (tensor<10xf32>, tensor<4x3xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.expand %x : tensor<4x1xf32> -> tensor<4x2xf32>
  %1 = graph.reshape %0 : tensor<4x2xf32> -> tensor<8xf32>
  %2 = graph.pad %1, %zero low = [1] high = [1] interior = [0] : tensor<8xf32> -> tensor<10xf32>
  %3 = graph.expand %y : tensor<4x1xf32> -> tensor<4x2xf32>
  %4 = graph.pad %3, %zero low = [0, 1] high = [0, 0] interior = [0, 0] : tensor<4x2xf32> -> tensor<4x3xf32>
  return %2, %4 : tensor<10xf32>, tensor<4x3xf32>
}

// What a pad, a window or a flip leaves alone is repeated behind it.
// CHECK-LABEL: func.func @expand_of_window
// CHECK: graph.expand %arg0 : tensor<1x1x3xf32> -> tensor<1x6x3xf32>
// CHECK-NEXT: graph.pad %{{.*}}, %{{.*}} low = [0, 1, 0] high = [0, 1, 0] {{.*}} -> tensor<1x8x3xf32>
// CHECK-NEXT: graph.window %{{.*}} dims = [1] size = [3] {{.*}} -> tensor<1x6x3x3xf32>
// CHECK-NEXT: graph.flip %{{.*}} dims = [2] : tensor<1x6x3x3xf32>
// CHECK-NEXT: graph.expand %{{.*}} : tensor<1x6x3x3xf32> -> tensor<5x6x3x3xf32>
// CHECK-NEXT: return
func.func @expand_of_window(%x: tensor<1x1x3xf32>) -> tensor<5x6x3x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.expand %x : tensor<1x1x3xf32> -> tensor<5x6x3xf32>
  %1 = graph.pad %0, %zero low = [0, 1, 0] high = [0, 1, 0] interior = [0, 0, 0] : tensor<5x6x3xf32> -> tensor<5x8x3xf32>
  %2 = graph.window %1 dims = [1] size = [3] stride = [1] dilation = [1] : tensor<5x8x3xf32> -> tensor<5x6x3x3xf32>
  %3 = graph.flip %2 dims = [2] : tensor<5x6x3x3xf32>
  return %3 : tensor<5x6x3x3xf32>
}

// What is done to a reshaped sum is done to the sum; beside another computed value it is not.
// CHECK-LABEL: func.func @behind_reshape
// CHECK: %[[S:.*]] = graph.reduce add
// CHECK-NEXT: %[[B:.*]] = graph.reshape %arg1 : tensor<2x2xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = graph.binary add %[[S]], %[[B]] : tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = graph.unary neg %[[A]] : tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[N]] : tensor<4xf32> -> tensor<2x2xf32>
// CHECK-NEXT: %[[M:.*]] = graph.reduce max
// CHECK-NEXT: graph.binary mul %[[R]], %[[M]] : tensor<2x2xf32>
func.func @behind_reshape(%x: tensor<4x6xf32>, %b: tensor<2x2xf32>, %z: tensor<2x2x6xf32>) -> tensor<2x2xf32> {
  %0 = graph.reduce add %x dims = [1] : tensor<4x6xf32> -> tensor<4xf32>
  %1 = graph.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
  %2 = graph.binary add %1, %b : tensor<2x2xf32>
  %3 = graph.unary neg %2 : tensor<2x2xf32>
  %4 = graph.reduce max %z dims = [2] : tensor<2x2x6xf32> -> tensor<2x2xf32>
  %5 = graph.binary mul %3, %4 : tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}

// Factors that are cast to a wider type are not stored as such.
// CHECK-LABEL: func.func @factors_behind_reshape
// CHECK: %[[N:.*]] = graph.cast {{.*}} -> tensor<2x3x4xbf16>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[N]] : tensor<2x3x4xbf16> -> tensor<2x12xbf16>
// CHECK-NEXT: graph.cast %[[R]] : tensor<2x12xbf16> -> tensor<2x12xf32>
// CHECK: graph.reduce add
// CHECK-NEXT: graph.unary neg
// CHECK-NEXT: graph.reshape
func.func @factors_behind_reshape(%x: tensor<2x3x4x5xf32>, %w: tensor<2x12xf32>) -> (tensor<2xf32>, tensor<2x12xf32>) {
  %0 = graph.reduce add %x dims = [3] : tensor<2x3x4x5xf32> -> tensor<2x3x4xf32>
  %1 = graph.cast %0 : tensor<2x3x4xf32> -> tensor<2x3x4xbf16>
  %2 = graph.reshape %1 : tensor<2x3x4xbf16> -> tensor<2x12xbf16>
  %3 = graph.cast %2 : tensor<2x12xbf16> -> tensor<2x12xf32>
  %4 = graph.binary mul %3, %w : tensor<2x12xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<2x12xf32> -> tensor<2xf32>
  %6 = graph.reshape %0 : tensor<2x3x4xf32> -> tensor<2x12xf32>
  %7 = graph.unary neg %6 : tensor<2x12xf32>
  return %5, %7 : tensor<2xf32>, tensor<2x12xf32>
}

// What a product reads lies in memory as it is read, where no strides say how.
// CHECK-LABEL: func.func @heads
// CHECK: %[[S:.*]] = graph.reduce add
// CHECK-NEXT: %[[P:.*]] = graph.permute %[[S]] order = [1, 0, 2] : tensor<3x2x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[N:.*]] = graph.cast %[[P]] : tensor<2x3x4xf32> -> tensor<2x3x4xbf16>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[N]] : tensor<2x3x4xbf16> -> tensor<2x12xbf16>
// CHECK-NEXT: graph.cast %[[R]] : tensor<2x12xbf16> -> tensor<2x12xf32>
func.func @heads(%x: tensor<3x2x4x5xf32>, %w: tensor<2x12xf32>) -> tensor<2xf32> {
  %0 = graph.reduce add %x dims = [3] : tensor<3x2x4x5xf32> -> tensor<3x2x4xf32>
  %1 = graph.cast %0 : tensor<3x2x4xf32> -> tensor<3x2x4xbf16>
  %2 = graph.permute %1 order = [1, 0, 2] : tensor<3x2x4xbf16> -> tensor<2x3x4xbf16>
  %3 = graph.reshape %2 : tensor<2x3x4xbf16> -> tensor<2x12xbf16>
  %4 = graph.cast %3 : tensor<2x12xbf16> -> tensor<2x12xf32>
  %5 = graph.binary mul %4, %w : tensor<2x12xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<2x12xf32> -> tensor<2xf32>
  return %6 : tensor<2xf32>
}

// Where strides say it, nothing is moved.
// CHECK-LABEL: func.func @columns
// CHECK: graph.reduce add
// CHECK-NEXT: graph.cast {{.*}} : tensor<12x1x2xf32> -> tensor<12x1x2xbf16>
// CHECK-NEXT: graph.permute
func.func @columns(%x: tensor<12x1x2x5xf32>, %w: tensor<2x12xf32>) -> tensor<2xf32> {
  %0 = graph.reduce add %x dims = [3] : tensor<12x1x2x5xf32> -> tensor<12x1x2xf32>
  %1 = graph.cast %0 : tensor<12x1x2xf32> -> tensor<12x1x2xbf16>
  %2 = graph.permute %1 order = [2, 1, 0] : tensor<12x1x2xbf16> -> tensor<2x1x12xbf16>
  %3 = graph.reshape %2 : tensor<2x1x12xbf16> -> tensor<2x12xbf16>
  %4 = graph.cast %3 : tensor<2x12xbf16> -> tensor<2x12xf32>
  %5 = graph.binary mul %4, %w : tensor<2x12xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<2x12xf32> -> tensor<2xf32>
  return %6 : tensor<2xf32>
}

// CHECK-LABEL: func.func @sums_of_sums
// CHECK-NEXT: graph.reduce add %arg0 dims = [0, 1, 3] : tensor<2x3x4x5xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[H:.*]] = graph.reduce add %arg1 dims = [1]
// CHECK-NEXT: graph.reduce add %[[H]] dims = [0]
func.func @sums_of_sums(%x: tensor<2x3x4x5xf32>, %h: tensor<4x5xf16>) -> (tensor<4xf32>, tensor<f16>) {
  %0 = graph.reduce add %x dims = [1, 3] : tensor<2x3x4x5xf32> -> tensor<2x4xf32>
  %1 = graph.reduce add %0 dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
  %2 = graph.reduce add %h dims = [1] : tensor<4x5xf16> -> tensor<4xf16>
  %3 = graph.reduce add %2 dims = [0] : tensor<4xf16> -> tensor<f16>
  return %1, %3 : tensor<4xf32>, tensor<f16>
}

// Parts that stand side by side are cast before they are put together, in the order in which the whole is cast.
// CHECK-LABEL: func.func @parts_side_by_side
// CHECK: %[[A:.*]] = graph.cast %{{.*}} : tensor<1x4x8xf32> -> tensor<1x4x8xbf16>
// CHECK: %[[FIRST:.*]] = graph.pad %[[A]], %{{.*}} low = [0, 0, 0] high = [1, 0, 0]
// CHECK: %[[P:.*]] = graph.permute %[[FIRST]] order = [2, 0, 1]
// CHECK: %[[B:.*]] = graph.cast %{{.*}} : tensor<1x4x8xf32> -> tensor<1x4x8xbf16>
// CHECK: %[[SECOND:.*]] = graph.pad %[[B]], %{{.*}} low = [1, 0, 0] high = [0, 0, 0]
// CHECK: %[[Q:.*]] = graph.permute %[[SECOND]] order = [2, 0, 1]
// CHECK: %[[SUM:.*]] = graph.binary add %[[P]], %[[Q]] : tensor<8x2x4xbf16>
// CHECK-NEXT: return %[[SUM]]
func.func @parts_side_by_side(%a: tensor<1x4x8xf32>, %b: tensor<1x4x8xf32>) -> tensor<8x2x4xbf16> {
  %z = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %a, %z low = [0, 0, 0] high = [1, 0, 0] interior = [0, 0, 0] : tensor<1x4x8xf32> -> tensor<2x4x8xf32>
  %1 = graph.pad %b, %z low = [1, 0, 0] high = [0, 0, 0] interior = [0, 0, 0] : tensor<1x4x8xf32> -> tensor<2x4x8xf32>
  %2 = graph.binary add %0, %1 : tensor<2x4x8xf32>
  %3 = graph.permute %2 order = [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %4 = graph.cast %3 : tensor<8x2x4xf32> -> tensor<8x2x4xbf16>
  return %4 : tensor<8x2x4xbf16>
}

// Where two of them have an element in the same place, the sum is rounded, not they; and what surrounds one must be zero.
// CHECK-LABEL: func.func @parts_that_overlap
// CHECK: graph.binary add {{.*}} : tensor<3x8xf32>
// CHECK-NEXT: graph.cast
// CHECK: graph.binary add {{.*}} : tensor<4x8xf32>
// CHECK-NEXT: graph.cast
func.func @parts_that_overlap(%a: tensor<2x8xf32>, %b: tensor<2x8xf32>) -> (tensor<3x8xbf16>, tensor<4x8xbf16>) {
  %z = graph.constant dense<0.0> : tensor<f32>
  %o = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.pad %a, %z low = [0, 0] high = [1, 0] interior = [0, 0] : tensor<2x8xf32> -> tensor<3x8xf32>
  %1 = graph.pad %b, %z low = [1, 0] high = [0, 0] interior = [0, 0] : tensor<2x8xf32> -> tensor<3x8xf32>
  %2 = graph.binary add %0, %1 : tensor<3x8xf32>
  %3 = graph.cast %2 : tensor<3x8xf32> -> tensor<3x8xbf16>
  %4 = graph.pad %a, %z low = [0, 0] high = [2, 0] interior = [0, 0] : tensor<2x8xf32> -> tensor<4x8xf32>
  %5 = graph.pad %b, %o low = [2, 0] high = [0, 0] interior = [0, 0] : tensor<2x8xf32> -> tensor<4x8xf32>
  %6 = graph.binary add %4, %5 : tensor<4x8xf32>
  %7 = graph.cast %6 : tensor<4x8xf32> -> tensor<4x8xbf16>
  return %3, %7 : tensor<3x8xbf16>, tensor<4x8xbf16>
}

// What a contraction reads stays narrow where it is stored, though others widen it, too.
// CHECK-LABEL: func.func @widened_for_several
// CHECK: %[[NARROW:.*]] = graph.cast %{{.*}} : tensor<4x2x8xf32> -> tensor<4x2x8xbf16>
// CHECK: %[[ROWS:.*]] = graph.reshape %[[NARROW]] : tensor<4x2x8xbf16> -> tensor<8x8xbf16>
// CHECK: graph.cast %[[ROWS]] : tensor<8x8xbf16> -> tensor<8x8xf32>
// CHECK-NOT: graph.cast {{.*}} -> tensor<4x2x8xf32>
func.func @widened_for_several(%x: tensor<4x2x8x3xf32>, %w: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x8xf32>) {
  %0 = graph.reduce add %x dims = [3] : tensor<4x2x8x3xf32> -> tensor<4x2x8xf32>
  %1 = graph.cast %0 : tensor<4x2x8xf32> -> tensor<4x2x8xbf16>
  %2 = graph.reshape %1 : tensor<4x2x8xbf16> -> tensor<8x8xbf16>
  %3 = graph.cast %2 : tensor<8x8xbf16> -> tensor<8x8xf32>
  %4 = graph.reshape %3 : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %5 = graph.expand %4 : tensor<8x8x1xf32> -> tensor<8x8x16xf32>
  %6 = graph.reshape %w : tensor<8x16xf32> -> tensor<1x8x16xf32>
  %7 = graph.expand %6 : tensor<1x8x16xf32> -> tensor<8x8x16xf32>
  %8 = graph.binary mul %5, %7 : tensor<8x8x16xf32>
  %9 = graph.reduce add %8 dims = [1] : tensor<8x8x16xf32> -> tensor<8x16xf32>
  %10 = graph.unary abs %3 : tensor<8x8xf32>
  return %9, %10 : tensor<8x16xf32>, tensor<8x8xf32>
}

// What is cast for a product of windows is padded before: zeros are the same numbers in any type.
// CHECK-LABEL: func.func @windows_of_cast
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<bf16>
// CHECK-DAG: %[[PAD:.*]] = graph.pad %arg0, %[[ZERO]] low = [1] high = [1] interior = [0] : tensor<6xbf16> -> tensor<8xbf16>
// CHECK: %[[WINDOW:.*]] = graph.window %[[PAD]] {{.*}} : tensor<8xbf16> -> tensor<6x3xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[WINDOW]] : tensor<6x3xbf16> -> tensor<6x3xf32>
// CHECK: graph.reduce add %[[WIDE]]
func.func @windows_of_cast(%x: tensor<6xbf16>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = graph.cast %x : tensor<6xbf16> -> tensor<6xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %1 = graph.pad %0, %zero low = [1] high = [1] interior = [0] : tensor<6xf32> -> tensor<8xf32>
  %2 = graph.window %1 dims = [0] size = [3] stride = [1] dilation = [1] : tensor<8xf32> -> tensor<6x3xf32>
  %3 = graph.reduce add %2 dims = [1] : tensor<6x3xf32> -> tensor<6xf32>
  return %3, %0 : tensor<6xf32>, tensor<6xf32>
}

// A third is none of them.
// CHECK-LABEL: func.func @pad_with_a_third
// CHECK: %[[WIDE:.*]] = graph.cast %arg0
// CHECK: graph.pad %[[WIDE]]
func.func @pad_with_a_third(%x: tensor<6xbf16>) -> tensor<8xf32> {
  %0 = graph.cast %x : tensor<6xbf16> -> tensor<6xf32>
  %third = graph.constant dense<0.3333> : tensor<f32>
  %1 = graph.pad %0, %third low = [1] high = [1] interior = [0] : tensor<6xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Without elements an expand stays in front of a reshape: the other extents are not those of its operand.
// CHECK-LABEL: func.func @no_elements
// CHECK-NOT: graph.reshape %{{.*}} -> tensor<1x7xf32>
// CHECK: return %{{.*}} : tensor<0x3xf32>
func.func @no_elements(%x: tensor<1x4xf32>) -> tensor<0x3xf32> {
  %fill = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.expand %x : tensor<1x4xf32> -> tensor<0x4xf32>
  %1 = graph.reshape %0 : tensor<0x4xf32> -> tensor<0x7xf32>
  %2 = graph.pad %1, %fill low = [0, 0] high = [0, -4] interior = [0, 0] : tensor<0x7xf32> -> tensor<0x3xf32>
  return %2 : tensor<0x3xf32>
}
