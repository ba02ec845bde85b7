// RUN: zyx-opt %s --zyx-fusion-gather-one-hots -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: zyx-run %t.mlir --entry=numbers --device=reference --no-cache --print | FileCheck %s --check-prefix=PRINT
// RUN: zyx-run %s --entry=numbers --device=reference --no-cache --print | FileCheck %s --check-prefix=PRINT
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-gather-one-hots -o %t.card.mlir
// RUN: FileCheck %s --check-prefix=CARD < %t.card.mlir
// RUN: zyx-run %t.card.mlir --entry=few_tables --device=reference --no-cache --print | FileCheck %s --check-prefix=FEW
// RUN: zyx-run %s --entry=few_tables --device=reference --no-cache --print | FileCheck %s --check-prefix=FEW

// Rows are gathered; another number of a column that is not finite makes NaN of the result.
// CHECK-LABEL: func.func @rows
// CHECK: graph.gather %{{.*}} dim = 0 : (tensor<12x72xf32>, tensor<20xi64>) -> tensor<20x72xf32>
// CHECK: graph.select
// CHECK-NOT: graph.reduce add %{{.*}} : tensor<20x12x72xf32>
// CHECK: return
func.func @rows(%ids: tensor<20xi64>, %table: tensor<12x72xf32>) -> tensor<20x72xf32> {
  %0 = graph.reshape %ids : tensor<20xi64> -> tensor<20x1xi64>
  %1 = graph.expand %0 : tensor<20x1xi64> -> tensor<20x12xi64>
  %2 = graph.iota dim = 1 : tensor<20x12xi64>
  %3 = graph.binary eq %1, %2 : tensor<20x12xi64>
  %4 = graph.cast %3 : tensor<20x12xi1> -> tensor<20x12xf32>
  %5 = graph.reshape %4 : tensor<20x12xf32> -> tensor<20x12x1xf32>
  %6 = graph.expand %5 : tensor<20x12x1xf32> -> tensor<20x12x72xf32>
  %7 = graph.reshape %table : tensor<12x72xf32> -> tensor<1x12x72xf32>
  %8 = graph.expand %7 : tensor<1x12x72xf32> -> tensor<20x12x72xf32>
  %9 = graph.binary mul %6, %8 : tensor<20x12x72xf32>
  %10 = graph.reduce add %9 dims = [1] : tensor<20x12x72xf32> -> tensor<20x72xf32>
  return %10 : tensor<20x72xf32>
}

// Experts with a capacity: rows of each expert's own table are gathered, multiplied with a gate that has no dimension of
// these, and added up.
// CHECK-LABEL: func.func @experts
// CHECK:       %[[ROWS:.*]] = graph.reshape %arg2 : tensor<4x5x3xf16> -> tensor<20x3xf16>
// CHECK:       %[[AT:.*]] = graph.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<6x4xi64>
// CHECK:       graph.gather %[[ROWS]][%[[AT]]] dim = 0 : (tensor<20x3xf16>, tensor<6x4xi64>) -> tensor<6x4x3xf16>
// CHECK-NOT:   6x3x4x5
// CHECK:       graph.reduce add %{{.*}} dims = [2] : tensor<6x3x4xf32> -> tensor<6x3xf32>
// CHECK-NOT:   6x3x4x5
// CHECK:       return
func.func @experts(%place: tensor<6x4xi64>, %gate: tensor<6x4xf16>, %y: tensor<4x5x3xf16>) -> tensor<6x3xf32> {
  %0 = graph.iota dim = 2 : tensor<6x4x5xi64>
  %1 = graph.reshape %place : tensor<6x4xi64> -> tensor<6x4x1xi64>
  %2 = graph.expand %1 : tensor<6x4x1xi64> -> tensor<6x4x5xi64>
  %3 = graph.binary eq %2, %0 : tensor<6x4x5xi64>
  %4 = graph.cast %3 : tensor<6x4x5xi1> -> tensor<6x4x5xf16>
  %5 = graph.reshape %gate : tensor<6x4xf16> -> tensor<6x4x1xf16>
  %6 = graph.expand %5 : tensor<6x4x1xf16> -> tensor<6x4x5xf16>
  %7 = graph.binary mul %4, %6 : tensor<6x4x5xf16>
  %8 = graph.cast %7 : tensor<6x4x5xf16> -> tensor<6x4x5xf32>
  %9 = graph.reshape %8 : tensor<6x4x5xf32> -> tensor<6x1x4x5xf32>
  %10 = graph.expand %9 : tensor<6x1x4x5xf32> -> tensor<6x3x4x5xf32>
  %11 = graph.cast %y : tensor<4x5x3xf16> -> tensor<4x5x3xf32>
  %12 = graph.permute %11 order = [2, 0, 1] : tensor<4x5x3xf32> -> tensor<3x4x5xf32>
  %13 = graph.reshape %12 : tensor<3x4x5xf32> -> tensor<1x3x4x5xf32>
  %14 = graph.expand %13 : tensor<1x3x4x5xf32> -> tensor<6x3x4x5xf32>
  %15 = graph.binary mul %10, %14 : tensor<6x3x4x5xf32>
  %16 = graph.reduce add %15 dims = [2, 3] : tensor<6x3x4x5xf32> -> tensor<6x3xf32>
  return %16 : tensor<6x3xf32>
}

// The columns of the table are summed up, too: that is not a gather of rows.
// CHECK-LABEL: func.func @columns
// CHECK-NOT:   graph.gather
// CHECK:       return
func.func @columns(%ids: tensor<20xi64>, %table: tensor<12x72xf32>) -> tensor<20xf32> {
  %0 = graph.reshape %ids : tensor<20xi64> -> tensor<20x1xi64>
  %1 = graph.expand %0 : tensor<20x1xi64> -> tensor<20x12xi64>
  %2 = graph.iota dim = 1 : tensor<20x12xi64>
  %3 = graph.binary eq %1, %2 : tensor<20x12xi64>
  %4 = graph.cast %3 : tensor<20x12xi1> -> tensor<20x12xf32>
  %5 = graph.reshape %4 : tensor<20x12xf32> -> tensor<20x12x1xf32>
  %6 = graph.expand %5 : tensor<20x12x1xf32> -> tensor<20x12x72xf32>
  %7 = graph.reshape %table : tensor<12x72xf32> -> tensor<1x12x72xf32>
  %8 = graph.expand %7 : tensor<1x12x72xf32> -> tensor<20x12x72xf32>
  %9 = graph.binary mul %6, %8 : tensor<20x12x72xf32>
  %10 = graph.reduce add %9 dims = [1, 2] : tensor<20x12x72xf32> -> tensor<20xf32>
  return %10 : tensor<20xf32>
}

// Both forms give the same: an index outside chooses nothing, also where another table has that row; what is not finite
// among other rows of the own table makes NaN, and so does a gate that is not finite.
// PRINT:      {{\[\[}} 4. inf]
// PRINT-NEXT: [22. nan]
// PRINT-NEXT: [nan nan]
// PRINT-NEXT: [ 0. nan]]
func.func @numbers() -> tensor<4x2xf32> {
  %place = graph.constant dense<[[0, 1], [2, 3], [1, 1], [-1, 4]]> : tensor<4x2xi32>
  %gate = graph.constant dense<[[1.0, 0.5], [2.0, 1.0], [0x7F800000, 1.0], [1.0, 1.0]]> : tensor<4x2xf32>
  %y = graph.constant dense<[[[1.0, 0x7F800000], [2.0, 1.0], [3.0, 1.0], [4.0, 1.0]],
                             [[5.0, 1.0], [6.0, 1.0], [7.0, 1.0], [16.0, 1.0]]]> : tensor<2x4x2xf32>
  %0 = graph.iota dim = 2 : tensor<4x2x4xi32>
  %1 = graph.reshape %place : tensor<4x2xi32> -> tensor<4x2x1xi32>
  %2 = graph.expand %1 : tensor<4x2x1xi32> -> tensor<4x2x4xi32>
  %3 = graph.binary eq %2, %0 : tensor<4x2x4xi32>
  %4 = graph.cast %3 : tensor<4x2x4xi1> -> tensor<4x2x4xf32>
  %5 = graph.reshape %gate : tensor<4x2xf32> -> tensor<4x2x1xf32>
  %6 = graph.expand %5 : tensor<4x2x1xf32> -> tensor<4x2x4xf32>
  %7 = graph.binary mul %4, %6 : tensor<4x2x4xf32>
  %8 = graph.reshape %7 : tensor<4x2x4xf32> -> tensor<4x1x2x4xf32>
  %9 = graph.expand %8 : tensor<4x1x2x4xf32> -> tensor<4x2x2x4xf32>
  %10 = graph.permute %y order = [2, 0, 1] : tensor<2x4x2xf32> -> tensor<2x2x4xf32>
  %11 = graph.reshape %10 : tensor<2x2x4xf32> -> tensor<1x2x2x4xf32>
  %12 = graph.expand %11 : tensor<1x2x2x4xf32> -> tensor<4x2x2x4xf32>
  %13 = graph.binary mul %9, %12 : tensor<4x2x2x4xf32>
  %14 = graph.reduce add %13 dims = [2, 3] : tensor<4x2x2x4xf32> -> tensor<4x2xf32>
  return %14 : tensor<4x2xf32>
}

// Of an element that is of few tables just these are gathered from, and what it is multiplied by is that of the table. A column
// is NaN for all elements that do not have all that is not finite there.
// CARD-LABEL: func.func @few_tables
// CARD-COUNT-2: graph.gather %{{.*}}[%{{.*}}] dim = 0 : (tensor<16x6xf32>, tensor<5xi32>) -> tensor<5x6xf32>
// CARD:       graph.reduce add %{{.*}} dims = [0] : tensor<16x6xf32> -> tensor<6xf32>
// CARD-NOT:   graph.gather %{{.*}}[%{{.*}}] dim = 0 : (tensor<16x6xf32>
func.func @few_tables() -> tensor<5x6xf32> {
  %first = graph.constant dense<[0, 1, 3, 2, 0]> : tensor<5xi32>
  %second = graph.constant dense<[1, 0, 3, 7, 3]> : tensor<5xi32>
  %place = graph.constant dense<[[0, 1, 2, 0], [0, 1, 0, 2], [1, 1, 1, 2], [2, 2, 2, 2], [1, 0, 0, 9]]> : tensor<5x4xi32>
  %weight = graph.constant dense<[[2.0, 3.0, 1.0, 1.0], [5.0, 0x7F800000, 1.0, 1.0], [1.0, 1.0, 1.0, 7.0], [1.0, 1.0, -1.0, 1.0], [0.5, 1.0, 1.0, 0x7FC00000]]> : tensor<5x4xf32>
  %table = graph.constant dense<[[[1.0, 0x7F800000, 1.0, 0x7FC00000, 1.0, 0xFF800000], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
                                 [[4.0, 4.0, 4.0, 4.0, 4.0, 4.0], [5.0, 5.0, 5.0, 5.0, 5.0, 0x7F800000], [6.0, 6.0, 6.0, 6.0, 6.0, 6.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
                                 [[7.0, 7.0, 7.0, 7.0, 7.0, 7.0], [8.0, 8.0, 8.0, 8.0, 8.0, 8.0], [9.0, 9.0, 9.0, 9.0, 9.0, 9.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
                                 [[1.5, 1.5, 1.5, 1.5, 1.5, 1.5], [2.5, 2.5, 2.5, 2.5, 2.5, 2.5], [3.5, 3.5, 0x7F800000, 3.5, 3.5, 3.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]]> : tensor<4x4x6xf32>
  %at = graph.iota dim = 1 : tensor<5x4xi32>
  %f0 = graph.reshape %first : tensor<5xi32> -> tensor<5x1xi32>
  %f1 = graph.expand %f0 : tensor<5x1xi32> -> tensor<5x4xi32>
  %s0 = graph.reshape %second : tensor<5xi32> -> tensor<5x1xi32>
  %s1 = graph.expand %s0 : tensor<5x1xi32> -> tensor<5x4xi32>
  %isFirst = graph.binary eq %f1, %at : tensor<5x4xi32>
  %isSecond = graph.binary eq %s1, %at : tensor<5x4xi32>
  %zero = graph.constant dense<0.0> : tensor<5x4xf32>
  %weighed0 = graph.select %isFirst, %weight, %zero : tensor<5x4xf32>
  %weighed = graph.select %isSecond, %weight, %weighed0 : tensor<5x4xf32>
  %isAny = graph.binary ne %weighed, %zero : tensor<5x4xf32>
  %none = graph.constant dense<4> : tensor<5x4xi32>
  %index = graph.select %isAny, %place, %none : tensor<5x4xi32>
  %0 = graph.iota dim = 2 : tensor<5x4x4xi32>
  %1 = graph.reshape %index : tensor<5x4xi32> -> tensor<5x4x1xi32>
  %2 = graph.expand %1 : tensor<5x4x1xi32> -> tensor<5x4x4xi32>
  %3 = graph.binary eq %2, %0 : tensor<5x4x4xi32>
  %4 = graph.cast %3 : tensor<5x4x4xi1> -> tensor<5x4x4xf32>
  %5 = graph.reshape %weighed : tensor<5x4xf32> -> tensor<5x4x1xf32>
  %6 = graph.expand %5 : tensor<5x4x1xf32> -> tensor<5x4x4xf32>
  %7 = graph.binary mul %4, %6 : tensor<5x4x4xf32>
  %8 = graph.reshape %7 : tensor<5x4x4xf32> -> tensor<5x1x4x4xf32>
  %9 = graph.expand %8 : tensor<5x1x4x4xf32> -> tensor<5x6x4x4xf32>
  %10 = graph.permute %table order = [2, 0, 1] : tensor<4x4x6xf32> -> tensor<6x4x4xf32>
  %11 = graph.reshape %10 : tensor<6x4x4xf32> -> tensor<1x6x4x4xf32>
  %12 = graph.expand %11 : tensor<1x6x4x4xf32> -> tensor<5x6x4x4xf32>
  %13 = graph.binary mul %9, %12 : tensor<5x6x4x4xf32>
  %14 = graph.reduce add %13 dims = [2, 3] : tensor<5x6x4x4xf32> -> tensor<5x6xf32>
  return %14 : tensor<5x6xf32>
}
// FEW:      {{\[\[}}17.   inf  nan  nan 17.   nan]
// FEW-NEXT: [ nan  nan  nan  nan  nan  nan]
// FEW-NEXT: [24.5  nan  inf  nan 24.5  nan]
// FEW-NEXT: [-9.   nan  nan  nan -9.   nan]
// FEW-NEXT: [ nan  nan  nan  nan  nan  nan{{\]\]}}

// The other tables have a row, too.
// CARD-LABEL: func.func @inside
// CARD: graph.gather %{{.*}}[%{{.*}}] dim = 0 : (tensor<16x6xf32>, tensor<5x4xi64>) -> tensor<5x4x6xf32>
func.func @inside() -> tensor<5x6xf32> {
  %first = graph.constant dense<[0, 1, 3, 2, 0]> : tensor<5xi32>
  %second = graph.constant dense<[1, 0, 3, 7, 3]> : tensor<5xi32>
  %place = graph.constant dense<[[0, 1, 2, 0], [0, 1, 0, 2], [1, 1, 1, 2], [2, 2, 2, 2], [1, 0, 0, 9]]> : tensor<5x4xi32>
  %weight = graph.constant dense<[[2.0, 3.0, 1.0, 1.0], [5.0, 0x7F800000, 1.0, 1.0], [1.0, 1.0, 1.0, 7.0], [1.0, 1.0, -1.0, 1.0], [0.5, 1.0, 1.0, 0x7FC00000]]> : tensor<5x4xf32>
  %table = graph.constant dense<[[[1.0, 0x7F800000, 1.0, 0x7FC00000, 1.0, 0xFF800000], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
                                 [[4.0, 4.0, 4.0, 4.0, 4.0, 4.0], [5.0, 5.0, 5.0, 5.0, 5.0, 0x7F800000], [6.0, 6.0, 6.0, 6.0, 6.0, 6.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
                                 [[7.0, 7.0, 7.0, 7.0, 7.0, 7.0], [8.0, 8.0, 8.0, 8.0, 8.0, 8.0], [9.0, 9.0, 9.0, 9.0, 9.0, 9.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
                                 [[1.5, 1.5, 1.5, 1.5, 1.5, 1.5], [2.5, 2.5, 2.5, 2.5, 2.5, 2.5], [3.5, 3.5, 0x7F800000, 3.5, 3.5, 3.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]]> : tensor<4x4x6xf32>
  %at = graph.iota dim = 1 : tensor<5x4xi32>
  %f0 = graph.reshape %first : tensor<5xi32> -> tensor<5x1xi32>
  %f1 = graph.expand %f0 : tensor<5x1xi32> -> tensor<5x4xi32>
  %s0 = graph.reshape %second : tensor<5xi32> -> tensor<5x1xi32>
  %s1 = graph.expand %s0 : tensor<5x1xi32> -> tensor<5x4xi32>
  %isFirst = graph.binary eq %f1, %at : tensor<5x4xi32>
  %isSecond = graph.binary eq %s1, %at : tensor<5x4xi32>
  %zero = graph.constant dense<0.0> : tensor<5x4xf32>
  %weighed0 = graph.select %isFirst, %weight, %zero : tensor<5x4xf32>
  %weighed = graph.select %isSecond, %weight, %weighed0 : tensor<5x4xf32>
  %isAny = graph.binary ne %weighed, %zero : tensor<5x4xf32>
  %none = graph.constant dense<1> : tensor<5x4xi32>
  %index = graph.select %isAny, %place, %none : tensor<5x4xi32>
  %0 = graph.iota dim = 2 : tensor<5x4x4xi32>
  %1 = graph.reshape %index : tensor<5x4xi32> -> tensor<5x4x1xi32>
  %2 = graph.expand %1 : tensor<5x4x1xi32> -> tensor<5x4x4xi32>
  %3 = graph.binary eq %2, %0 : tensor<5x4x4xi32>
  %4 = graph.cast %3 : tensor<5x4x4xi1> -> tensor<5x4x4xf32>
  %5 = graph.reshape %weighed : tensor<5x4xf32> -> tensor<5x4x1xf32>
  %6 = graph.expand %5 : tensor<5x4x1xf32> -> tensor<5x4x4xf32>
  %7 = graph.binary mul %4, %6 : tensor<5x4x4xf32>
  %8 = graph.reshape %7 : tensor<5x4x4xf32> -> tensor<5x1x4x4xf32>
  %9 = graph.expand %8 : tensor<5x1x4x4xf32> -> tensor<5x6x4x4xf32>
  %10 = graph.permute %table order = [2, 0, 1] : tensor<4x4x6xf32> -> tensor<6x4x4xf32>
  %11 = graph.reshape %10 : tensor<6x4x4xf32> -> tensor<1x6x4x4xf32>
  %12 = graph.expand %11 : tensor<1x6x4x4xf32> -> tensor<5x6x4x4xf32>
  %13 = graph.binary mul %9, %12 : tensor<5x6x4x4xf32>
  %14 = graph.reduce add %13 dims = [2, 3] : tensor<5x6x4x4xf32> -> tensor<5x6xf32>
  return %14 : tensor<5x6xf32>
}
