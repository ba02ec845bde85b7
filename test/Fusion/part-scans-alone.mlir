// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=264' --zyx-fusion-part-scans | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-part-scans | FileCheck %s --check-prefix=FEW

// Few long rows: parts, what they have all together, and both combined where a part is not the first one.
// CHECK-LABEL: func.func @rows
// CHECK:       %[[APART:.*]] = graph.reshape %arg0 : tensor<8x65536xf32> -> tensor<8x32x2048xf32>
// CHECK:       %[[OWN:.*]] = graph.scan add %[[APART]] dim = 2 : tensor<8x32x2048xf32>
// CHECK:       %[[LAST:.*]] = graph.pad %[[OWN]], %{{.*}} low = [0, 0, -2047] high = [0, 0, 0]
// CHECK:       %[[WHOLE:.*]] = graph.reshape %[[LAST]] : tensor<8x32x1xf32> -> tensor<8x32xf32>
// CHECK:       %[[BEFORE:.*]] = graph.scan add %[[WHOLE]] dim = 1 exclusive : tensor<8x32xf32>
// CHECK:       %[[REPEATED:.*]] = graph.expand
// CHECK:       %[[IS:.*]] = graph.binary eq
// CHECK:       %[[ALL:.*]] = graph.binary add %[[REPEATED]], %[[OWN]]
// CHECK:       %[[Y:.*]] = graph.select %[[IS]], %[[OWN]], %[[ALL]]
// CHECK:       graph.reshape %[[Y]] : tensor<8x32x2048xf32> -> tensor<8x65536xf32>
// FEW-LABEL:   func.func @rows
// FEW-NEXT:    graph.scan
func.func @rows(%x: tensor<8x65536xf32>) -> tensor<8x65536xf32> {
  %y = graph.scan add %x dim = 1 : tensor<8x65536xf32>
  return %y : tensor<8x65536xf32>
}

// From the other end the first element of a part stands for all of it, and the last part is the first.
// CHECK-LABEL: func.func @reverse
// CHECK:       graph.scan max %{{.*}} dim = 1 reverse : tensor<16x1024xi32>
// CHECK:       graph.pad {{.*}} low = [0, 0] high = [0, -1023]
// CHECK:       graph.scan max %{{.*}} dim = 0 exclusive reverse : tensor<16xi32>
// CHECK:       graph.constant dense<15> : tensor<16x1024xi32>
func.func @reverse(%x: tensor<16384xi32>) -> tensor<16384xi32> {
  %y = graph.scan max %x dim = 0 reverse : tensor<16384xi32>
  return %y : tensor<16384xi32>
}

// Columns side by side, of which a workgroup scans a few.
// CHECK-LABEL: func.func @columns
// CHECK:       %[[APART:.*]] = graph.reshape %arg0 : tensor<2x65536x12xf32> -> tensor<2x64x1024x12xf32>
// CHECK:       %[[OWN:.*]] = graph.scan add %[[APART]] dim = 2 : tensor<2x64x1024x12xf32>
// CHECK:       graph.pad %[[OWN]], %{{.*}} low = [0, 0, -1023, 0] high = [0, 0, 0, 0]
// CHECK:       graph.scan add %{{.*}} dim = 1 exclusive : tensor<2x64x12xf32>
// CHECK:       graph.iota dim = 1 : tensor<2x64x1024x12xi32>
func.func @columns(%x: tensor<2x65536x12xf32>) -> tensor<2x65536x12xf32> {
  %y = graph.scan add %x dim = 1 : tensor<2x65536x12xf32>
  return %y : tensor<2x65536x12xf32>
}

// What is computed of it element by element, and of what is stored, has the parts, too: they are joined behind that.
// CHECK-LABEL: func.func @read
// CHECK:       %[[ALL:.*]] = graph.select %{{.*}} : tensor<64x1024xf32>
// CHECK:       %[[X:.*]] = graph.reshape %arg0 : tensor<65536xf32> -> tensor<64x1024xf32>
// CHECK-NEXT:  %[[BEFORE:.*]] = graph.binary sub %[[ALL]], %[[X]] : tensor<64x1024xf32>
// CHECK:       %[[IS:.*]] = graph.binary lt %[[BEFORE]], %{{.*}} : tensor<64x1024xf32>
// CHECK:       graph.reshape %[[IS]] : tensor<64x1024xi1> -> tensor<65536xi1>
// CHECK-NOT:   graph.reshape
// Not of what is computed by other ops, whose kernel would be another one.
// CHECK-LABEL: func.func @computed
// CHECK:       graph.binary sub %{{.*}}, %{{.*}} : tensor<65536xf32>
func.func @read(%x: tensor<65536xf32>) -> tensor<65536xi1> {
  %y = graph.scan add %x dim = 0 : tensor<65536xf32>
  %before = graph.binary sub %y, %x : tensor<65536xf32>
  %most = graph.constant dense<0.9> : tensor<65536xf32>
  %is = graph.binary lt %before, %most : tensor<65536xf32>
  return %is : tensor<65536xi1>
}
func.func @computed(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %y = graph.scan add %x dim = 0 : tensor<65536xf32>
  %e = graph.unary exp %x : tensor<65536xf32>
  %before = graph.binary sub %y, %e : tensor<65536xf32>
  return %before : tensor<65536xf32>
}

// Many rows or columns, short ones, of 16 bits, exclusive ones, and no parts of one size.
// CHECK-LABEL: func.func @others
// CHECK-NOT:   graph.reshape
// CHECK:       return
func.func @others(%a: tensor<64x65536xf32>, %b: tensor<8x8192xf32>, %c: tensor<8x65536xf16>, %d: tensor<65536x512xf32>, %e: tensor<8x65536xf32>, %f: tensor<65537xf32>) -> (tensor<64x65536xf32>, tensor<8x8192xf32>, tensor<8x65536xf16>, tensor<65536x512xf32>, tensor<8x65536xf32>, tensor<65537xf32>) {
  %0 = graph.scan add %a dim = 1 : tensor<64x65536xf32>
  %1 = graph.scan add %b dim = 1 : tensor<8x8192xf32>
  %2 = graph.scan add %c dim = 1 : tensor<8x65536xf16>
  %3 = graph.scan add %d dim = 0 : tensor<65536x512xf32>
  %4 = graph.scan add %e dim = 1 exclusive : tensor<8x65536xf32>
  %5 = graph.scan add %f dim = 0 : tensor<65537xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<64x65536xf32>, tensor<8x8192xf32>, tensor<8x65536xf16>, tensor<65536x512xf32>, tensor<8x65536xf32>, tensor<65537xf32>
}
