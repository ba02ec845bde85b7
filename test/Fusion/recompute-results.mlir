// RUN: zyx-opt %s -zyx-fusion-recompute-results | FileCheck %s
// RUN: zyx-opt %s -zyx-fusion-recompute-results -zyx-fusion-verify-groups -o /dev/null

// The derivative of a curve is computed from what the curve is computed from, which is stored anyway.
// CHECK-LABEL: func.func @curve
// CHECK: %[[FIRST:.*]]:2 = graph.group({{.*}}) -> (tensor<64x32xbf16>, tensor<64x32xbf16>)
// CHECK: graph.group({{.*}} = %[[FIRST]]#0 : tensor<64x32xbf16>)
// CHECK: graph.unary tanh
// CHECK: graph.binary mul
func.func @curve(%x: tensor<64x32xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>) {
  %0:3 = graph.group(%a = %x : tensor<64x32xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>) {
    %1 = graph.binary add %a, %a : tensor<64x32xbf16>
    %2 = graph.cast %1 : tensor<64x32xbf16> -> tensor<64x32xf32>
    %3 = graph.unary tanh %2 : tensor<64x32xf32>
    %4 = graph.cast %3 : tensor<64x32xf32> -> tensor<64x32xbf16>
    graph.yield %1, %4, %3 : tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
  }
  %5 = graph.group(%a = %0#2 : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %6 = graph.binary mul %a, %a : tensor<64x32xf32>
    graph.yield %6 : tensor<64x32xf32>
  }
  return %0#0, %0#1, %5 : tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
}

// What is subtracted from each row has a result of its own, 32 times smaller than what it is replaced for.
// CHECK-LABEL: func.func @rows
// CHECK: %[[MEANS:.*]]:2 = graph.group({{.*}}) -> (tensor<64x32xbf16>, tensor<64x1xf32>)
// CHECK: graph.group(%[[A:.*]] = %{{.*}} : tensor<64x32xbf16>, %[[M:.*]] = %[[MEANS]]#1 : tensor<64x1xf32>) -> tensor<64x32xf32>
// CHECK: graph.cast %[[A]]
// CHECK: graph.expand %[[M]]
// CHECK: graph.binary sub
// CHECK: graph.unary abs
func.func @rows(%x: tensor<64x32xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xf32>) {
  %0:2 = graph.group(%a = %x : tensor<64x32xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xf32>) {
    %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
    %2 = graph.reduce add %1 dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
    %3 = graph.reshape %2 : tensor<64xf32> -> tensor<64x1xf32>
    %4 = graph.expand %3 : tensor<64x1xf32> -> tensor<64x32xf32>
    %5 = graph.binary sub %1, %4 : tensor<64x32xf32>
    %6 = graph.cast %5 : tensor<64x32xf32> -> tensor<64x32xbf16>
    graph.yield %6, %5 : tensor<64x32xbf16>, tensor<64x32xf32>
  }
  %7 = graph.group(%a = %0#1 : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %8 = graph.unary abs %a : tensor<64x32xf32>
    graph.yield %8 : tensor<64x32xf32>
  }
  return %0#0, %7 : tensor<64x32xbf16>, tensor<64x32xf32>
}

// What a reader reshapes is computed of what is reshaped: inside of a group only inputs are. So a number is stored in 16 bits
// alone, and the sum of its columns widens it.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[ONE:.*]] = graph.group({{.*}}) -> tensor<64x4x8xbf16>
// CHECK: graph.group(%[[A:.*]] = %[[ONE]] : tensor<64x4x8xbf16>) -> tensor<32xf32>
// CHECK: %[[R:.*]] = graph.reshape %[[A]] : tensor<64x4x8xbf16> -> tensor<64x32xbf16>
// CHECK: %[[W:.*]] = graph.cast %[[R]]
// CHECK: graph.reduce add %[[W]] dims = [0]
func.func @reshaped(%x: tensor<64x4x8xf32>) -> (tensor<64x4x8xbf16>, tensor<32xf32>) {
  %0:2 = graph.group(%a = %x : tensor<64x4x8xf32>) -> (tensor<64x4x8xbf16>, tensor<64x4x8xf32>) {
    %1 = graph.binary mul %a, %a : tensor<64x4x8xf32>
    %2 = graph.cast %1 : tensor<64x4x8xf32> -> tensor<64x4x8xbf16>
    %3 = graph.cast %2 : tensor<64x4x8xbf16> -> tensor<64x4x8xf32>
    graph.yield %2, %3 : tensor<64x4x8xbf16>, tensor<64x4x8xf32>
  }
  %4 = graph.group(%a = %0#1 : tensor<64x4x8xf32>) -> tensor<32xf32> {
    %5 = graph.reshape %a : tensor<64x4x8xf32> -> tensor<64x32xf32>
    %6 = graph.reduce add %5 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
    graph.yield %6 : tensor<32xf32>
  }
  return %0#0, %4 : tensor<64x4x8xbf16>, tensor<32xf32>
}

// So are factors of products, where that is a cast that loses nothing, and views.
// CHECK-LABEL: func.func @widened
// CHECK: %[[ONE:.*]] = graph.group({{.*}}) -> tensor<64x32xbf16>
// CHECK: graph.group({{.*}}, %[[A:.*]] = %[[ONE]] : tensor<64x32xbf16>) -> tensor<64x16xf32>
// CHECK: graph.cast %[[A]]
func.func @widened(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> (tensor<64x32xbf16>, tensor<64x16xf32>) {
  %0:2 = graph.group(%a = %x : tensor<64x32xf32>) -> (tensor<64x32xbf16>, tensor<64x32x1xf32>) {
    %1 = graph.binary mul %a, %a : tensor<64x32xf32>
    %2 = graph.cast %1 : tensor<64x32xf32> -> tensor<64x32xbf16>
    %3 = graph.cast %2 : tensor<64x32xbf16> -> tensor<64x32xf32>
    %4 = graph.reshape %3 : tensor<64x32xf32> -> tensor<64x32x1xf32>
    graph.yield %2, %4 : tensor<64x32xbf16>, tensor<64x32x1xf32>
  }
  %5 = graph.group(%a = %0#1 : tensor<64x32x1xf32>, %b = %w : tensor<32x16xf32>) -> tensor<64x16xf32> {
    %6 = graph.expand %a : tensor<64x32x1xf32> -> tensor<64x32x16xf32>
    %7 = graph.reshape %b : tensor<32x16xf32> -> tensor<1x32x16xf32>
    %8 = graph.expand %7 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
    %9 = graph.binary mul %6, %8 : tensor<64x32x16xf32>
    %10 = graph.reduce add %9 dims = [1] : tensor<64x32x16xf32> -> tensor<64x16xf32>
    graph.yield %10 : tensor<64x16xf32>
  }
  return %0#0, %5 : tensor<64x32xbf16>, tensor<64x16xf32>
}

// Kept are: what a product multiplies, what is returned, what is computed from more than it is, and sums.
// CHECK-LABEL: func.func @kept
// CHECK: %[[FACTOR:.*]] = graph.group({{.*}}) -> tensor<64x32xf32>
// CHECK: graph.group({{.*}} = %[[FACTOR]] : tensor<64x32xf32>{{.*}}) -> tensor<64x16xf32>
// CHECK: %[[GIVEN:.*]] = graph.group({{.*}}) -> tensor<64x32xf32>
// CHECK: graph.group({{.*}} = %[[GIVEN]] : tensor<64x32xf32>)
// CHECK: %[[OF:.*]] = graph.group({{.*}}) -> tensor<64x32xf32>
// CHECK: graph.group({{.*}} = %[[OF]] : tensor<64x32xf32>)
// CHECK: %[[SUM:.*]] = graph.group({{.*}}) -> tensor<64xf32>
// CHECK: graph.group({{.*}} = %[[SUM]] : tensor<64xf32>)
func.func @kept(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %z: tensor<64x32xf32>, %w: tensor<32x16xf32>)
    -> (tensor<64x16xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>) {
  %0 = graph.group(%a = %x : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %1 = graph.unary exp %a : tensor<64x32xf32>
    graph.yield %1 : tensor<64x32xf32>
  }
  %2 = graph.group(%a = %0 : tensor<64x32xf32>, %b = %w : tensor<32x16xf32>) -> tensor<64x16xf32> {
    %3 = graph.reshape %a : tensor<64x32xf32> -> tensor<64x32x1xf32>
    %4 = graph.expand %3 : tensor<64x32x1xf32> -> tensor<64x32x16xf32>
    %5 = graph.reshape %b : tensor<32x16xf32> -> tensor<1x32x16xf32>
    %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
    %7 = graph.binary mul %4, %6 : tensor<64x32x16xf32>
    %8 = graph.reduce add %7 dims = [1] : tensor<64x32x16xf32> -> tensor<64x16xf32>
    graph.yield %8 : tensor<64x16xf32>
  }
  %9 = graph.group(%a = %x : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %10 = graph.unary exp %a : tensor<64x32xf32>
    graph.yield %10 : tensor<64x32xf32>
  }
  %11 = graph.group(%a = %9 : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %12 = graph.unary abs %a : tensor<64x32xf32>
    graph.yield %12 : tensor<64x32xf32>
  }
  %13 = graph.group(%a = %x : tensor<64x32xf32>, %b = %y : tensor<64x32xf32>, %c = %z : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %14 = graph.binary mul %a, %b : tensor<64x32xf32>
    %15 = graph.binary mul %14, %c : tensor<64x32xf32>
    graph.yield %15 : tensor<64x32xf32>
  }
  %16 = graph.group(%a = %13 : tensor<64x32xf32>) -> tensor<64x32xf32> {
    %17 = graph.unary abs %a : tensor<64x32xf32>
    graph.yield %17 : tensor<64x32xf32>
  }
  %18 = graph.group(%a = %x : tensor<64x32xf32>) -> tensor<64xf32> {
    %19 = graph.reduce add %a dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
    graph.yield %19 : tensor<64xf32>
  }
  %20 = graph.group(%a = %18 : tensor<64xf32>) -> tensor<64xf32> {
    %21 = graph.unary abs %a : tensor<64xf32>
    graph.yield %21 : tensor<64xf32>
  }
  return %2, %9, %11, %16, %20 : tensor<64x16xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>
}

// What is small here makes an outer product, and has no rows in common: as results of one group it would be two kernels.
// The readers compute that, too. Of the group, nothing is left.
// CHECK-LABEL: func.func @outer
// CHECK-NEXT: graph.group(%{{.*}} = %arg0 : tensor<64xf32>, %{{.*}} = %arg1 : tensor<16xf32>) -> tensor<64x16xf32>
// CHECK: graph.unary sin
// CHECK-NOT: graph.group
func.func @outer(%x: tensor<64xf32>, %y: tensor<16xf32>) -> tensor<64x16xf32> {
  %0 = graph.group(%a = %x : tensor<64xf32>, %b = %y : tensor<16xf32>) -> tensor<64x16xf32> {
    %1 = graph.unary sin %a : tensor<64xf32>
    %2 = graph.reshape %1 : tensor<64xf32> -> tensor<64x1xf32>
    %3 = graph.expand %2 : tensor<64x1xf32> -> tensor<64x16xf32>
    %4 = graph.unary cos %b : tensor<16xf32>
    %5 = graph.reshape %4 : tensor<16xf32> -> tensor<1x16xf32>
    %6 = graph.expand %5 : tensor<1x16xf32> -> tensor<64x16xf32>
    %7 = graph.binary mul %3, %6 : tensor<64x16xf32>
    graph.yield %7 : tensor<64x16xf32>
  }
  %8 = graph.group(%a = %0 : tensor<64x16xf32>) -> tensor<64x16xf32> {
    %9 = graph.unary abs %a : tensor<64x16xf32>
    graph.yield %9 : tensor<64x16xf32>
  }
  return %8 : tensor<64x16xf32>
}

// The same of tables that are made of nothing in memory, as those of rotary positions: what they are made of has no rows in
// common, and they stay results.
// CHECK-LABEL: func.func @tables
// CHECK: %[[TABLES:.*]]:2 = graph.group() -> (tensor<64x16xf32>, tensor<64x16xf32>)
// CHECK: graph.group({{.*}} = %[[TABLES]]#0 : tensor<64x16xf32>
func.func @tables(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0:2 = graph.group() -> (tensor<64x16xf32>, tensor<64x16xf32>) {
    %1 = graph.iota dim = 0 : tensor<64xf32>
    %2 = graph.reshape %1 : tensor<64xf32> -> tensor<64x1xf32>
    %3 = graph.expand %2 : tensor<64x1xf32> -> tensor<64x16xf32>
    %4 = graph.iota dim = 0 : tensor<16xf32>
    %5 = graph.unary exp %4 : tensor<16xf32>
    %6 = graph.reshape %5 : tensor<16xf32> -> tensor<1x16xf32>
    %7 = graph.expand %6 : tensor<1x16xf32> -> tensor<64x16xf32>
    %8 = graph.binary mul %3, %7 : tensor<64x16xf32>
    %9 = graph.unary sin %8 : tensor<64x16xf32>
    %10 = graph.unary cos %8 : tensor<64x16xf32>
    graph.yield %9, %10 : tensor<64x16xf32>, tensor<64x16xf32>
  }
  %11 = graph.group(%a = %0#0 : tensor<64x16xf32>, %b = %0#1 : tensor<64x16xf32>, %c = %x : tensor<64x16xf32>) -> tensor<64x16xf32> {
    %12 = graph.binary mul %a, %c : tensor<64x16xf32>
    %13 = graph.binary add %12, %b : tensor<64x16xf32>
    graph.yield %13 : tensor<64x16xf32>
  }
  return %11 : tensor<64x16xf32>
}

// Who reads every fourth element reads more than a copy of these has. The copy has 16 bits, and its readers widen it.
// CHECK-LABEL: func.func @steps
// CHECK: %[[COPY:.*]] = graph.group({{.*}}) -> tensor<64x8x1xbf16>
// CHECK-NEXT: graph.window
// CHECK-NEXT: graph.yield
// CHECK: graph.group(%[[A:.*]] = %[[COPY]] : tensor<64x8x1xbf16>) -> tensor<64x8x1xf32>
// CHECK-NEXT: graph.cast %[[A]]
// CHECK: graph.unary abs
// CHECK: graph.group(%[[B:.*]] = %[[COPY]] : tensor<64x8x1xbf16>) -> tensor<64x8x1xf32>
// CHECK-NEXT: graph.cast %[[B]]
// CHECK: graph.unary exp
func.func @steps(%x: tensor<64x32xbf16>) -> (tensor<64x8x1xf32>, tensor<64x8x1xf32>) {
  %0 = graph.group(%a = %x : tensor<64x32xbf16>) -> tensor<64x8x1xf32> {
    %1 = graph.window %a dims = [1] size = [1] stride = [4] dilation = [1] : tensor<64x32xbf16> -> tensor<64x8x1xbf16>
    %2 = graph.cast %1 : tensor<64x8x1xbf16> -> tensor<64x8x1xf32>
    graph.yield %2 : tensor<64x8x1xf32>
  }
  %3 = graph.group(%a = %0 : tensor<64x8x1xf32>) -> tensor<64x8x1xf32> {
    %4 = graph.unary abs %a : tensor<64x8x1xf32>
    graph.yield %4 : tensor<64x8x1xf32>
  }
  %5 = graph.group(%a = %0 : tensor<64x8x1xf32>) -> tensor<64x8x1xf32> {
    %6 = graph.unary exp %a : tensor<64x8x1xf32>
    graph.yield %6 : tensor<64x8x1xf32>
  }
  return %3, %5 : tensor<64x8x1xf32>, tensor<64x8x1xf32>
}

// Two results of a product follow from one value, which is stored in their place: what the second one reads beside is read by its
// reader, and not by the product.
// CHECK-LABEL: func.func @common
// CHECK: %[[COMMON:.*]] = graph.group(%{{.*}} = %arg0 : tensor<64x32xbf16>, %{{.*}} = %arg1 : tensor<32x16xbf16>) -> tensor<64x16xbf16>
// CHECK: graph.yield %{{.*}} : tensor<64x16xbf16>
// CHECK: graph.group({{.*}}%[[COMMON]] : tensor<64x16xbf16>{{.*}}) -> tensor<64xbf16>
// CHECK: graph.binary mul
// CHECK: graph.reduce add
// CHECK: graph.group({{.*}}%[[COMMON]] : tensor<64x16xbf16>{{.*}}) -> tensor<64x16xbf16>
// CHECK: graph.binary mul
// CHECK: graph.unary abs
func.func @common(%x: tensor<64x32xbf16>, %w: tensor<32x16xbf16>, %y: tensor<64x16xbf16>, %z: tensor<64xbf16>)
    -> (tensor<64xbf16>, tensor<64x16xbf16>) {
  %0:2 = graph.group(%a = %x : tensor<64x32xbf16>, %b = %w : tensor<32x16xbf16>, %c = %y : tensor<64x16xbf16>, %d = %z : tensor<64xbf16>)
      -> (tensor<64x16xbf16>, tensor<64x16xbf16>) {
    %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
    %2 = graph.cast %b : tensor<32x16xbf16> -> tensor<32x16xf32>
    %3 = graph.reshape %1 : tensor<64x32xf32> -> tensor<64x32x1xf32>
    %4 = graph.expand %3 : tensor<64x32x1xf32> -> tensor<64x32x16xf32>
    %5 = graph.reshape %2 : tensor<32x16xf32> -> tensor<1x32x16xf32>
    %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
    %7 = graph.binary mul %4, %6 : tensor<64x32x16xf32>
    %8 = graph.reduce add %7 dims = [1] : tensor<64x32x16xf32> -> tensor<64x16xf32>
    %9 = graph.cast %8 : tensor<64x16xf32> -> tensor<64x16xbf16>
    %10 = graph.binary mul %9, %c : tensor<64x16xbf16>
    %11 = graph.reshape %d : tensor<64xbf16> -> tensor<64x1xbf16>
    %12 = graph.expand %11 : tensor<64x1xbf16> -> tensor<64x16xbf16>
    %13 = graph.binary mul %9, %12 : tensor<64x16xbf16>
    graph.yield %10, %13 : tensor<64x16xbf16>, tensor<64x16xbf16>
  }
  %14 = graph.group(%a = %0#0 : tensor<64x16xbf16>) -> tensor<64xbf16> {
    %15 = graph.reduce add %a dims = [1] : tensor<64x16xbf16> -> tensor<64xbf16>
    graph.yield %15 : tensor<64xbf16>
  }
  %16 = graph.group(%a = %0#1 : tensor<64x16xbf16>) -> tensor<64x16xbf16> {
    %17 = graph.unary abs %a : tensor<64x16xbf16>
    graph.yield %17 : tensor<64x16xbf16>
  }
  return %14, %16 : tensor<64xbf16>, tensor<64x16xbf16>
}

// Each condition has half as many bytes as what it is computed of. That is read once for both.
// CHECK-LABEL: func.func @conditions
// CHECK: graph.group({{.*}}) -> tensor<64x32xbf16>
// CHECK: %[[SECOND:.*]] = graph.group({{.*}}tensor<64x32xbf16>{{.*}}tensor<64x32xbf16>) -> tensor<64x32xbf16>
// CHECK: graph.binary lt
// CHECK: graph.binary gt
// CHECK: return %{{.*}}, %[[SECOND]]
func.func @conditions(%x: tensor<64x32xf32>, %dy: tensor<64x32xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xbf16>) {
  %0:3 = graph.group(%a = %x : tensor<64x32xf32>) -> (tensor<64x32xbf16>, tensor<64x32xi1>, tensor<64x32xi1>) {
    %1 = graph.cast %a : tensor<64x32xf32> -> tensor<64x32xbf16>
    %2 = graph.constant dense<0.0> : tensor<64x32xbf16>
    %3 = graph.constant dense<6.0> : tensor<64x32xbf16>
    %4 = graph.binary gt %1, %2 : tensor<64x32xbf16>
    %5 = graph.binary lt %1, %3 : tensor<64x32xbf16>
    graph.yield %1, %4, %5 : tensor<64x32xbf16>, tensor<64x32xi1>, tensor<64x32xi1>
  }
  %6 = graph.group(%a = %0#1 : tensor<64x32xi1>, %b = %0#2 : tensor<64x32xi1>, %c = %dy : tensor<64x32xbf16>) -> tensor<64x32xbf16> {
    %7 = graph.constant dense<0.0> : tensor<64x32xbf16>
    %8 = graph.select %a, %c, %7 : tensor<64x32xbf16>
    %9 = graph.select %b, %8, %7 : tensor<64x32xbf16>
    graph.yield %9 : tensor<64x32xbf16>
  }
  return %0#0, %6 : tensor<64x32xbf16>, tensor<64x32xbf16>
}

// Tensor cores' threads read no bits behind a product: these are computed of four times as many bytes.
// CHECK-LABEL: func.func @behind_product
// CHECK: graph.group(%{{[^)]*}}) -> tensor<64x32xf32>
// CHECK: graph.group({{.*}}, %{{.*}} = %arg0 : tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK: graph.unary exp
// CHECK: graph.binary gt
// CHECK: graph.reduce add
func.func @behind_product(%x: tensor<64x32xf32>, %dy: tensor<64x64xf32>, %w: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0:2 = graph.group(%a = %x : tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xi1>) {
    %1 = graph.unary exp %a : tensor<64x32xf32>
    %2 = graph.constant dense<2.0> : tensor<64x32xf32>
    %3 = graph.binary gt %1, %2 : tensor<64x32xf32>
    %4 = graph.select %3, %1, %2 : tensor<64x32xf32>
    graph.yield %4, %3 : tensor<64x32xf32>, tensor<64x32xi1>
  }
  %5 = graph.group(%a = %dy : tensor<64x64xf32>, %b = %w : tensor<64x32xf32>, %c = %0#1 : tensor<64x32xi1>) -> tensor<64x32xf32> {
    %6 = graph.reshape %a : tensor<64x64xf32> -> tensor<64x64x1xf32>
    %7 = graph.expand %6 : tensor<64x64x1xf32> -> tensor<64x64x32xf32>
    %8 = graph.reshape %b : tensor<64x32xf32> -> tensor<1x64x32xf32>
    %9 = graph.expand %8 : tensor<1x64x32xf32> -> tensor<64x64x32xf32>
    %10 = graph.binary mul %7, %9 : tensor<64x64x32xf32>
    %11 = graph.reduce add %10 dims = [1] : tensor<64x64x32xf32> -> tensor<64x32xf32>
    %12 = graph.constant dense<0.0> : tensor<64x32xf32>
    %13 = graph.select %c, %11, %12 : tensor<64x32xf32>
    graph.yield %13 : tensor<64x32xf32>
  }
  return %0#0, %5 : tensor<64x32xf32>, tensor<64x32xf32>
}

// A short contraction takes less than reading more: the bits stay stored.
// CHECK-LABEL: func.func @behind_short_product
// CHECK: graph.group(%{{[^)]*}}) -> (tensor<64x32xf32>, tensor<64x32xi1>)
func.func @behind_short_product(%x: tensor<64x32xf32>, %dy: tensor<64x16xf32>, %w: tensor<16x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0:2 = graph.group(%a = %x : tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xi1>) {
    %1 = graph.unary exp %a : tensor<64x32xf32>
    %2 = graph.constant dense<2.0> : tensor<64x32xf32>
    %3 = graph.binary gt %1, %2 : tensor<64x32xf32>
    %4 = graph.select %3, %1, %2 : tensor<64x32xf32>
    graph.yield %4, %3 : tensor<64x32xf32>, tensor<64x32xi1>
  }
  %5 = graph.group(%a = %dy : tensor<64x16xf32>, %b = %w : tensor<16x32xf32>, %c = %0#1 : tensor<64x32xi1>) -> tensor<64x32xf32> {
    %6 = graph.reshape %a : tensor<64x16xf32> -> tensor<64x16x1xf32>
    %7 = graph.expand %6 : tensor<64x16x1xf32> -> tensor<64x16x32xf32>
    %8 = graph.reshape %b : tensor<16x32xf32> -> tensor<1x16x32xf32>
    %9 = graph.expand %8 : tensor<1x16x32xf32> -> tensor<64x16x32xf32>
    %10 = graph.binary mul %7, %9 : tensor<64x16x32xf32>
    %11 = graph.reduce add %10 dims = [1] : tensor<64x16x32xf32> -> tensor<64x32xf32>
    %12 = graph.constant dense<0.0> : tensor<64x32xf32>
    %13 = graph.select %c, %11, %12 : tensor<64x32xf32>
    graph.yield %13 : tensor<64x32xf32>
  }
  return %0#0, %5 : tensor<64x32xf32>, tensor<64x32xf32>
}
