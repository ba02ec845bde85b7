// RUN: zyx-opt %s --zyx-fusion-narrow-scatters | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-narrow-scatters | FileCheck %s --check-prefix=CARD
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-fuse -o /dev/null

// The sums of a row have the place of its last update, which a table of integers says. What is outside has the place
// behind all of them: of a gather outside it is 0 + 9.
// CHECK-LABEL: func.func @table
// CHECK:       %[[NAMED:.*]] = graph.reshape %arg0 : tensor<3x3xi64> -> tensor<9xi64>
// CHECK:       %[[OWN:.*]] = graph.iota dim = 0 : tensor<9xi32>
// CHECK:       %[[NINE:.*]] = graph.constant dense<9> : tensor<9xi32>
// CHECK:       %[[BELOW:.*]] = graph.binary sub %[[OWN]], %[[NINE]]
// CHECK:       %[[TABLE:.*]] = graph.scatter set %{{.*}}[%[[NAMED]]], %[[BELOW]] dim = 0 {{.*}} -> tensor<4096xi32>
// CHECK:       %[[FOUND:.*]] = graph.gather %[[TABLE]][%[[NAMED]]] dim = 0
// CHECK:       %[[PLACE:.*]] = graph.binary add %[[FOUND]]
// CHECK:       %[[TERMS:.*]] = graph.reshape %arg1 : tensor<3x3x64xf32> -> tensor<9x64xf32>
// CHECK:       %[[SUMS:.*]] = graph.scatter add %{{.*}}[%[[PLACE]]], %[[TERMS]] dim = 0 {{.*}} -> tensor<9x64xf32>
// CHECK:       %[[ROUNDED:.*]] = graph.cast %[[SUMS]] : tensor<9x64xf32> -> tensor<9x64xbf16>
// CHECK:       %[[LAST:.*]] = graph.binary eq %[[PLACE]], %[[OWN]]
// CHECK:       %[[NONE:.*]] = graph.constant dense<-1> : tensor<9xi64>
// CHECK:       %[[WRITTEN:.*]] = graph.select %[[LAST]], %[[NAMED]], %[[NONE]]
// CHECK:       graph.scatter set %{{.*}}[%[[WRITTEN]]], %[[ROUNDED]] dim = 0 {{.*}} -> tensor<4096x64xbf16>
// CHECK-NOT:   tensor<4096x64xf32>
// CHECK:       return
// CARD-LABEL:  func.func @table
// CARD:        graph.scatter add {{.*}} -> tensor<4096x64xf32>
// CARD-NOT:    graph.scatter
// CARD:        return
func.func @table(%i: tensor<3x3xi64>, %u: tensor<3x3x64xf32>) -> tensor<4096x64xbf16> {
  %x = graph.constant dense<0.0> : tensor<4096x64xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4096x64xf32>, tensor<3x3xi64>, tensor<3x3x64xf32>) -> tensor<4096x64xf32>
  %1 = graph.cast %0 : tensor<4096x64xf32> -> tensor<4096x64xbf16>
  return %1 : tensor<4096x64xbf16>
}

// Along another dimension.
// CHECK-LABEL: func.func @inner
// CHECK:       graph.scatter add {{.*}} dim = 1 {{.*}} -> tensor<2x5x64xf32>
// CHECK:       graph.scatter set {{.*}} dim = 1 {{.*}} -> tensor<2x1024x64xf16>
func.func @inner(%i: tensor<5xi32>, %u: tensor<2x5x64xf32>) -> tensor<2x1024x64xf16> {
  %x = graph.constant dense<0.0> : tensor<2x1024x64xf32>
  %0 = graph.scatter add %x[%i], %u dim = 1 : (tensor<2x1024x64xf32>, tensor<5xi32>, tensor<2x5x64xf32>) -> tensor<2x1024x64xf32>
  %1 = graph.cast %0 : tensor<2x1024x64xf32> -> tensor<2x1024x64xf16>
  return %1 : tensor<2x1024x64xf16>
}

// Sums that are read in f32, many updates, small tables, narrow indices, a table that is no zero, and -0.
// CHECK-LABEL: func.func @read
// CHECK:       graph.scatter add
// CHECK-NOT:   graph.scatter
// CHECK:       return
func.func @read(%i: tensor<9xi64>, %u: tensor<9x64xf32>) -> (tensor<4096x64xbf16>, tensor<4096x64xf32>) {
  %x = graph.constant dense<0.0> : tensor<4096x64xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4096x64xf32>, tensor<9xi64>, tensor<9x64xf32>) -> tensor<4096x64xf32>
  %1 = graph.cast %0 : tensor<4096x64xf32> -> tensor<4096x64xbf16>
  return %1, %0 : tensor<4096x64xbf16>, tensor<4096x64xf32>
}
// CHECK-LABEL: func.func @many
// CHECK:       graph.scatter add
// CHECK-NOT:   graph.scatter
// CHECK:       return
func.func @many(%i: tensor<1025xi64>, %u: tensor<1025x64xf32>) -> tensor<4096x64xbf16> {
  %x = graph.constant dense<0.0> : tensor<4096x64xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4096x64xf32>, tensor<1025xi64>, tensor<1025x64xf32>) -> tensor<4096x64xf32>
  %1 = graph.cast %0 : tensor<4096x64xf32> -> tensor<4096x64xbf16>
  return %1 : tensor<4096x64xbf16>
}
// CHECK-LABEL: func.func @small
// CHECK:       graph.scatter add
// CHECK-NOT:   graph.scatter
// CHECK:       return
func.func @small(%i: tensor<9xi64>, %u: tensor<9x15xf32>) -> tensor<4096x15xbf16> {
  %x = graph.constant dense<0.0> : tensor<4096x15xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4096x15xf32>, tensor<9xi64>, tensor<9x15xf32>) -> tensor<4096x15xf32>
  %1 = graph.cast %0 : tensor<4096x15xf32> -> tensor<4096x15xbf16>
  return %1 : tensor<4096x15xbf16>
}
// CHECK-LABEL: func.func @bytes
// CHECK:       graph.scatter add
// CHECK-NOT:   graph.scatter
// CHECK:       return
func.func @bytes(%i: tensor<9xui8>, %u: tensor<9x64xf32>) -> tensor<4096x64xbf16> {
  %x = graph.constant dense<0.0> : tensor<4096x64xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4096x64xf32>, tensor<9xui8>, tensor<9x64xf32>) -> tensor<4096x64xf32>
  %1 = graph.cast %0 : tensor<4096x64xf32> -> tensor<4096x64xbf16>
  return %1 : tensor<4096x64xbf16>
}
// CHECK-LABEL: func.func @negative_zeros
// CHECK:       graph.scatter add
// CHECK-NOT:   graph.scatter
// CHECK:       return
func.func @negative_zeros(%i: tensor<9xi64>, %u: tensor<9x64xf32>) -> tensor<4096x64xbf16> {
  %x = graph.constant dense<-0.0> : tensor<4096x64xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4096x64xf32>, tensor<9xi64>, tensor<9x64xf32>) -> tensor<4096x64xf32>
  %1 = graph.cast %0 : tensor<4096x64xf32> -> tensor<4096x64xbf16>
  return %1 : tensor<4096x64xbf16>
}
