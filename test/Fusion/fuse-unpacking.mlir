// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-compile='target=x86-64-v3 stop-after=kernel' | FileCheck %s --check-prefix=KERNEL
// RUN: zyx-opt %s --zyx-compile=target=sm_90a -o /dev/null

// 64 rows of 128 numbers, in blocks of 32: a scale of 16 bits, and 16 bytes with two numbers of four bits each. What they
// are multiplied with has one row: the product's kernel reads the blocks, and nothing has the size of the numbers.
// CHECK-LABEL: func.func @one_row(
// CHECK: graph.group(
// CHECK-SAME: tensor<64x72xui8>
// CHECK-SAME: -> tensor<1x64xf32>
// CHECK: graph.binary mul {{.*}} : tensor<1x64x4x2x16xf32>
// CHECK: graph.reduce add {{.*}} dims = [2, 3, 4] : tensor<1x64x4x2x16xf32> -> tensor<1x64xf32>
// CHECK-NOT: graph.group
// CHECK: return
// KERNEL-LABEL: kernel.func @one_row_0(
// KERNEL-SAME: !kernel.buffer<i8, global>
// KERNEL-NOT: kernel.func @one_row_1
func.func @one_row(%x: tensor<1x128xf32>, %b: tensor<64x72xui8> {graph.weight}) -> tensor<1x64xf32> {
  %0 = graph.constant dense<0> : tensor<ui8>
  %1 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %2 = graph.pad %1, %0 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %3 = graph.reshape %2 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %4 = graph.expand %3 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %5 = graph.cast %4 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %6 = graph.pad %1, %0 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.constant dense<8> : tensor<256x2x16xui16>
  %11 = graph.binary shl %9, %10 : tensor<256x2x16xui16>
  %12 = graph.binary or %5, %11 : tensor<256x2x16xui16>
  %13 = graph.bitcast %12 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %14 = graph.cast %13 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %15 = graph.pad %1, %0 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %16 = graph.reshape %15 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %17 = graph.expand %16 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %18 = graph.cast %17 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %19 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %20 = graph.expand %19 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %21 = graph.binary shr %18, %20 : tensor<256x2x16xi32>
  %22 = graph.constant dense<15> : tensor<256x2x16xi32>
  %23 = graph.binary and %21, %22 : tensor<256x2x16xi32>
  %24 = graph.cast %23 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %25 = graph.binary mul %14, %24 : tensor<256x2x16xf32>
  %26 = graph.reshape %25 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %27 = graph.reshape %x : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %28 = graph.expand %27 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %29 = graph.reshape %26 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %30 = graph.binary mul %28, %29 : tensor<1x64x128xf32>
  %31 = graph.reduce add %30 dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  return %31 : tensor<1x64xf32>
}

// What is multiplied with them and has other readers is computed once, and read.
// CHECK-LABEL: func.func @other_reader(
// CHECK-COUNT-1: graph.unary exp
// CHECK-NOT: graph.unary exp
// CHECK: return
func.func @other_reader(%v: tensor<1x64x128xf32>, %x: tensor<1x128xf32>, %b: tensor<64x72xui8> {graph.weight}) -> (tensor<1x64xf32>, tensor<1x64x128xf32>) {
  %0 = graph.constant dense<0> : tensor<ui8>
  %1 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %2 = graph.pad %1, %0 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %3 = graph.reshape %2 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %4 = graph.expand %3 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %5 = graph.cast %4 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %6 = graph.pad %1, %0 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.constant dense<8> : tensor<256x2x16xui16>
  %11 = graph.binary shl %9, %10 : tensor<256x2x16xui16>
  %12 = graph.binary or %5, %11 : tensor<256x2x16xui16>
  %13 = graph.bitcast %12 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %14 = graph.cast %13 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %15 = graph.pad %1, %0 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %16 = graph.reshape %15 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %17 = graph.expand %16 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %18 = graph.cast %17 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %19 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %20 = graph.expand %19 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %21 = graph.binary shr %18, %20 : tensor<256x2x16xi32>
  %22 = graph.constant dense<15> : tensor<256x2x16xi32>
  %23 = graph.binary and %21, %22 : tensor<256x2x16xi32>
  %24 = graph.cast %23 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %25 = graph.binary mul %14, %24 : tensor<256x2x16xf32>
  %26 = graph.reshape %25 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %27 = graph.reshape %x : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %28 = graph.expand %27 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %29 = graph.reshape %26 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %30 = graph.binary mul %28, %29 : tensor<1x64x128xf32>
  %m = graph.reduce max %v dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  %n = graph.reshape %m : tensor<1x64xf32> -> tensor<1x64x1xf32>
  %o = graph.expand %n : tensor<1x64x1xf32> -> tensor<1x64x128xf32>
  %d = graph.binary sub %v, %o : tensor<1x64x128xf32>
  %e = graph.unary exp %d : tensor<1x64x128xf32>
  %p = graph.binary mul %30, %e : tensor<1x64x128xf32>
  %31 = graph.reduce add %p dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  return %31, %e : tensor<1x64xf32>, tensor<1x64x128xf32>
}

// With eight rows each number is needed eight times, and is unpacked once, into memory.
// CHECK-LABEL: func.func @many_rows(
// CHECK: %[[W:.*]] = graph.group({{.*}}tensor<64x72xui8>{{.*}}) -> tensor<256x2x16xf32>
// CHECK: graph.group({{.*}}%[[W]]
// CHECK: graph.reduce add {{.*}} dims = [2] : tensor<8x64x128xf32> -> tensor<8x64xf32>
func.func @many_rows(%x: tensor<8x128xf32>, %b: tensor<64x72xui8> {graph.weight}) -> tensor<8x64xf32> {
  %0 = graph.constant dense<0> : tensor<ui8>
  %1 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %2 = graph.pad %1, %0 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %3 = graph.reshape %2 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %4 = graph.expand %3 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %5 = graph.cast %4 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %6 = graph.pad %1, %0 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.constant dense<8> : tensor<256x2x16xui16>
  %11 = graph.binary shl %9, %10 : tensor<256x2x16xui16>
  %12 = graph.binary or %5, %11 : tensor<256x2x16xui16>
  %13 = graph.bitcast %12 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %14 = graph.cast %13 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %15 = graph.pad %1, %0 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %16 = graph.reshape %15 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %17 = graph.expand %16 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %18 = graph.cast %17 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %19 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %20 = graph.expand %19 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %21 = graph.binary shr %18, %20 : tensor<256x2x16xi32>
  %22 = graph.constant dense<15> : tensor<256x2x16xi32>
  %23 = graph.binary and %21, %22 : tensor<256x2x16xi32>
  %24 = graph.cast %23 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %25 = graph.binary mul %14, %24 : tensor<256x2x16xf32>
  %26 = graph.reshape %25 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %27 = graph.reshape %x : tensor<8x128xf32> -> tensor<8x1x128xf32>
  %28 = graph.expand %27 : tensor<8x1x128xf32> -> tensor<8x64x128xf32>
  %29 = graph.reshape %26 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %30 = graph.expand %29 : tensor<1x64x128xf32> -> tensor<8x64x128xf32>
  %31 = graph.binary mul %28, %30 : tensor<8x64x128xf32>
  %32 = graph.reduce add %31 dims = [2] : tensor<8x64x128xf32> -> tensor<8x64xf32>
  return %32 : tensor<8x64xf32>
}

// What is multiplied with them may be a result of another kernel, seen in their dimensions.
// CHECK-LABEL: func.func @computed_row(
// CHECK: %[[X:.*]] = graph.group({{.*}}) -> tensor<1x128xf32>
// CHECK: graph.group(
// CHECK-SAME: tensor<64x72xui8>
// CHECK-SAME: -> tensor<1x64xf32>
// CHECK: graph.reduce add {{.*}} dims = [2, 3, 4]
// CHECK-NOT: graph.group
// CHECK: return
func.func @computed_row(%x: tensor<1x128xf32>, %b: tensor<64x72xui8> {graph.weight}) -> tensor<1x64xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<1x128xf32> -> tensor<1xf32>
  %1 = graph.reshape %0 : tensor<1xf32> -> tensor<1x1xf32>
  %2 = graph.expand %1 : tensor<1x1xf32> -> tensor<1x128xf32>
  %3 = graph.binary sub %x, %2 : tensor<1x128xf32>
  %4 = graph.constant dense<0> : tensor<ui8>
  %5 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %6 = graph.pad %5, %4 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.pad %5, %4 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %11 = graph.reshape %10 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %12 = graph.expand %11 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %13 = graph.cast %12 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %14 = graph.constant dense<8> : tensor<256x2x16xui16>
  %15 = graph.binary shl %13, %14 : tensor<256x2x16xui16>
  %16 = graph.binary or %9, %15 : tensor<256x2x16xui16>
  %17 = graph.bitcast %16 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %18 = graph.cast %17 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %19 = graph.pad %5, %4 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %20 = graph.reshape %19 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %21 = graph.expand %20 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %22 = graph.cast %21 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %23 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %24 = graph.expand %23 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %25 = graph.binary shr %22, %24 : tensor<256x2x16xi32>
  %26 = graph.constant dense<15> : tensor<256x2x16xi32>
  %27 = graph.binary and %25, %26 : tensor<256x2x16xi32>
  %28 = graph.cast %27 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %29 = graph.binary mul %18, %28 : tensor<256x2x16xf32>
  %30 = graph.reshape %29 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %31 = graph.reshape %3 : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %32 = graph.expand %31 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %33 = graph.reshape %30 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %34 = graph.binary mul %32, %33 : tensor<1x64x128xf32>
  %35 = graph.reduce add %34 dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  return %35 : tensor<1x64xf32>
}

// Columns are summed up: results would have several dimensions, and the numbers stay in memory.
// CHECK-LABEL: func.func @transposed(
// CHECK: graph.group({{.*}}tensor<64x72xui8>{{.*}}) -> tensor<256x2x16xf32>
func.func @transposed(%x: tensor<1x64xf32>, %b: tensor<64x72xui8> {graph.weight}) -> tensor<1x128xf32> {
  %0 = graph.constant dense<0> : tensor<ui8>
  %1 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %2 = graph.pad %1, %0 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %3 = graph.reshape %2 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %4 = graph.expand %3 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %5 = graph.cast %4 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %6 = graph.pad %1, %0 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.constant dense<8> : tensor<256x2x16xui16>
  %11 = graph.binary shl %9, %10 : tensor<256x2x16xui16>
  %12 = graph.binary or %5, %11 : tensor<256x2x16xui16>
  %13 = graph.bitcast %12 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %14 = graph.cast %13 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %15 = graph.pad %1, %0 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %16 = graph.reshape %15 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %17 = graph.expand %16 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %18 = graph.cast %17 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %19 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %20 = graph.expand %19 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %21 = graph.binary shr %18, %20 : tensor<256x2x16xi32>
  %22 = graph.constant dense<15> : tensor<256x2x16xi32>
  %23 = graph.binary and %21, %22 : tensor<256x2x16xi32>
  %24 = graph.cast %23 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %25 = graph.binary mul %14, %24 : tensor<256x2x16xf32>
  %26 = graph.reshape %25 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %27 = graph.permute %26 order = [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  %28 = graph.reshape %x : tensor<1x64xf32> -> tensor<1x1x64xf32>
  %29 = graph.expand %28 : tensor<1x1x64xf32> -> tensor<1x128x64xf32>
  %30 = graph.reshape %27 : tensor<128x64xf32> -> tensor<1x128x64xf32>
  %31 = graph.binary mul %29, %30 : tensor<1x128x64xf32>
  %32 = graph.reduce add %31 dims = [2] : tensor<1x128x64xf32> -> tensor<1x128xf32>
  return %32 : tensor<1x128xf32>
}

// Two products of one row read the blocks twice. With an exponential in it, which takes longer than reading numbers does,
// they are unpacked once.
// CHECK-LABEL: func.func @two_readers(
// CHECK-NOT: -> tensor<256x2x16xf32>
// CHECK: return
func.func @two_readers(%x: tensor<1x128xf32>, %z: tensor<1x128xf32>, %b: tensor<64x72xui8> {graph.weight}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = graph.constant dense<0> : tensor<ui8>
  %1 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %2 = graph.pad %1, %0 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %3 = graph.reshape %2 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %4 = graph.expand %3 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %5 = graph.cast %4 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %6 = graph.pad %1, %0 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.constant dense<8> : tensor<256x2x16xui16>
  %11 = graph.binary shl %9, %10 : tensor<256x2x16xui16>
  %12 = graph.binary or %5, %11 : tensor<256x2x16xui16>
  %13 = graph.bitcast %12 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %14 = graph.cast %13 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %15 = graph.pad %1, %0 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %16 = graph.reshape %15 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %17 = graph.expand %16 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %18 = graph.cast %17 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %19 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %20 = graph.expand %19 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %21 = graph.binary shr %18, %20 : tensor<256x2x16xi32>
  %22 = graph.constant dense<15> : tensor<256x2x16xi32>
  %23 = graph.binary and %21, %22 : tensor<256x2x16xi32>
  %24 = graph.cast %23 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %25 = graph.binary mul %14, %24 : tensor<256x2x16xf32>
  %26 = graph.reshape %25 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %27 = graph.reshape %x : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %28 = graph.expand %27 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %29 = graph.reshape %26 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %30 = graph.binary mul %28, %29 : tensor<1x64x128xf32>
  %31 = graph.reduce add %30 dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  %32 = graph.reshape %z : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %33 = graph.expand %32 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %34 = graph.reshape %26 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %35 = graph.binary mul %33, %34 : tensor<1x64x128xf32>
  %36 = graph.reduce add %35 dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  return %31, %36 : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @two_readers_of_exponentials(
// CHECK-NOT: dims = [2, 3, 4]
// CHECK: graph.reduce add {{.*}} dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
func.func @two_readers_of_exponentials(%x: tensor<1x128xf32>, %z: tensor<1x128xf32>, %b: tensor<64x72xui8> {graph.weight}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = graph.constant dense<0> : tensor<ui8>
  %1 = graph.reshape %b : tensor<64x72xui8> -> tensor<256x18xui8>
  %2 = graph.pad %1, %0 low = [0, 0] high = [0, -17] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %3 = graph.reshape %2 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %4 = graph.expand %3 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %5 = graph.cast %4 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %6 = graph.pad %1, %0 low = [0, -1] high = [0, -16] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x1xui8>
  %7 = graph.reshape %6 : tensor<256x1xui8> -> tensor<256x1x1xui8>
  %8 = graph.expand %7 : tensor<256x1x1xui8> -> tensor<256x2x16xui8>
  %9 = graph.cast %8 : tensor<256x2x16xui8> -> tensor<256x2x16xui16>
  %10 = graph.constant dense<8> : tensor<256x2x16xui16>
  %11 = graph.binary shl %9, %10 : tensor<256x2x16xui16>
  %12 = graph.binary or %5, %11 : tensor<256x2x16xui16>
  %13 = graph.bitcast %12 : tensor<256x2x16xui16> -> tensor<256x2x16xf16>
  %14 = graph.cast %13 : tensor<256x2x16xf16> -> tensor<256x2x16xf32>
  %15 = graph.pad %1, %0 low = [0, -2] high = [0, 0] interior = [0, 0] : tensor<256x18xui8> -> tensor<256x16xui8>
  %16 = graph.reshape %15 : tensor<256x16xui8> -> tensor<256x1x16xui8>
  %17 = graph.expand %16 : tensor<256x1x16xui8> -> tensor<256x2x16xui8>
  %18 = graph.cast %17 : tensor<256x2x16xui8> -> tensor<256x2x16xi32>
  %19 = graph.constant dense<[[[0], [4]]]> : tensor<1x2x1xi32>
  %20 = graph.expand %19 : tensor<1x2x1xi32> -> tensor<256x2x16xi32>
  %21 = graph.binary shr %18, %20 : tensor<256x2x16xi32>
  %22 = graph.constant dense<15> : tensor<256x2x16xi32>
  %23 = graph.binary and %21, %22 : tensor<256x2x16xi32>
  %24 = graph.cast %23 : tensor<256x2x16xi32> -> tensor<256x2x16xf32>
  %25 = graph.binary mul %14, %24 : tensor<256x2x16xf32>
  %26 = graph.unary exp %25 : tensor<256x2x16xf32>
  %27 = graph.reshape %26 : tensor<256x2x16xf32> -> tensor<64x128xf32>
  %28 = graph.reshape %x : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %29 = graph.expand %28 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %30 = graph.reshape %27 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %31 = graph.binary mul %29, %30 : tensor<1x64x128xf32>
  %32 = graph.reduce add %31 dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  %33 = graph.reshape %z : tensor<1x128xf32> -> tensor<1x1x128xf32>
  %34 = graph.expand %33 : tensor<1x1x128xf32> -> tensor<1x64x128xf32>
  %35 = graph.reshape %27 : tensor<64x128xf32> -> tensor<1x64x128xf32>
  %36 = graph.binary mul %34, %35 : tensor<1x64x128xf32>
  %37 = graph.reduce add %36 dims = [2] : tensor<1x64x128xf32> -> tensor<1x64xf32>
  return %32, %37 : tensor<1x64xf32>, tensor<1x64xf32>
}

// Floats that are widened are no packed numbers: what a norm of groups of channels makes of them is computed once, for the sum of
// each group and for who reads it.
// CHECK-LABEL: func.func @widened(
// CHECK-COUNT-1: graph.binary sub
// CHECK-NOT: graph.binary sub
// CHECK: return
func.func @widened(%x: tensor<4x8x64xf16>, %scale: tensor<8xf16>) -> (tensor<4x4xf32>, tensor<4x8x64xf16>) {
  %0 = graph.cast %x : tensor<4x8x64xf16> -> tensor<4x8x64xf32>
  %1 = graph.reshape %0 : tensor<4x8x64xf32> -> tensor<4x4x2x64xf32>
  %2 = graph.reduce max %1 dims = [2, 3] : tensor<4x4x2x64xf32> -> tensor<4x4xf32>
  %3 = graph.reshape %2 : tensor<4x4xf32> -> tensor<4x4x1x1xf32>
  %4 = graph.expand %3 : tensor<4x4x1x1xf32> -> tensor<4x4x2x64xf32>
  %5 = graph.binary sub %1, %4 : tensor<4x4x2x64xf32>
  %6 = graph.reshape %5 : tensor<4x4x2x64xf32> -> tensor<4x8x64xf32>
  %7 = graph.cast %scale : tensor<8xf16> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<1x8x1xf32>
  %9 = graph.expand %8 : tensor<1x8x1xf32> -> tensor<4x8x64xf32>
  %10 = graph.binary mul %6, %9 : tensor<4x8x64xf32>
  %11 = graph.cast %10 : tensor<4x8x64xf32> -> tensor<4x8x64xf16>
  %12 = graph.reshape %10 : tensor<4x8x64xf32> -> tensor<4x4x2x64xf32>
  %13 = graph.reduce add %12 dims = [2, 3] : tensor<4x4x2x64xf32> -> tensor<4x4xf32>
  return %13, %11 : tensor<4x4xf32>, tensor<4x8x64xf16>
}
