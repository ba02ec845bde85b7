// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-part-contractions | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-part-contractions | FileCheck %s --check-prefix=FEW
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-part-contractions | FileCheck %s --check-prefix=LONG

// The factors of a long sum get a dimension of parts. Behind the results' dimensions each element of a part would be
// stored by itself: it comes first.
// CHECK-LABEL: func.func @product
// CHECK: graph.reshape %{{.*}} -> tensor<32x1x[[PARTS:[0-9]+]]x[[LENGTH:[0-9]+]]xf32>
// CHECK: graph.permute %{{.*}} order = [2, 0, 1, 3] : {{.*}} -> tensor<[[PARTS]]x32x1x[[LENGTH]]xf32>
// CHECK: graph.permute %{{.*}} order = [2, 0, 1, 3] : {{.*}} -> tensor<[[PARTS]]x1x32x[[LENGTH]]xf32>
// CHECK: graph.reduce add %{{.*}} dims = [0, 3] : tensor<[[PARTS]]x32x32x[[LENGTH]]xf32> -> tensor<32x32xf32>
// FEW-LABEL: func.func @product
// FEW: graph.reduce add %{{.*}} dims = [2] : tensor<32x32x65536xf32> -> tensor<32x32xf32>
func.func @product(%a: tensor<32x65536xf32>, %b: tensor<32x65536xf32>) -> tensor<32x32xf32> {
  %a1 = graph.reshape %a : tensor<32x65536xf32> -> tensor<32x1x65536xf32>
  %as = graph.expand %a1 : tensor<32x1x65536xf32> -> tensor<32x32x65536xf32>
  %b1 = graph.reshape %b : tensor<32x65536xf32> -> tensor<1x32x65536xf32>
  %bs = graph.expand %b1 : tensor<1x32x65536xf32> -> tensor<32x32x65536xf32>
  %p = graph.binary mul %as, %bs : tensor<32x32x65536xf32>
  %y = graph.reduce add %p dims = [2] : tensor<32x32x65536xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// A gradient of adapters: what follows a sum and others read, too, is stored by itself, and threads bring both factors.
// CHECK-LABEL: func.func @adapter
// CHECK: graph.reduce add %{{.*}} dims = [0, 1, 2] : tensor<8x[[PARTS:[0-9]+]]x{{[0-9]+}}x4096x8xf32> -> tensor<4096x8xf32>
// Nothing else reads it here: both may be one kernel.
// CHECK-LABEL: func.func @alone
// CHECK: graph.reduce add %{{.*}} dims = [0, 1] : tensor<8x2048x4096x8xf32> -> tensor<4096x8xf32>
func.func @adapter(%x: tensor<8x2048x4096xbf16>, %a: tensor<8x4096xf32>, %dy: tensor<8x2048x4096xbf16>) -> (tensor<4096x8xf32>, tensor<8x2048x8xbf16>) {
  %xf = graph.cast %x : tensor<8x2048x4096xbf16> -> tensor<8x2048x4096xf32>
  %x1 = graph.reshape %xf : tensor<8x2048x4096xf32> -> tensor<8x2048x1x4096xf32>
  %xs = graph.expand %x1 : tensor<8x2048x1x4096xf32> -> tensor<8x2048x8x4096xf32>
  %a1 = graph.reshape %a : tensor<8x4096xf32> -> tensor<1x1x8x4096xf32>
  %as = graph.expand %a1 : tensor<1x1x8x4096xf32> -> tensor<8x2048x8x4096xf32>
  %p = graph.binary mul %xs, %as : tensor<8x2048x8x4096xf32>
  %h = graph.reduce add %p dims = [3] : tensor<8x2048x8x4096xf32> -> tensor<8x2048x8xf32>
  %down = graph.cast %h : tensor<8x2048x8xf32> -> tensor<8x2048x8xbf16>
  %wide = graph.cast %down : tensor<8x2048x8xbf16> -> tensor<8x2048x8xf32>
  %h1 = graph.reshape %wide : tensor<8x2048x8xf32> -> tensor<8x2048x1x8xf32>
  %hs = graph.expand %h1 : tensor<8x2048x1x8xf32> -> tensor<8x2048x4096x8xf32>
  %half = graph.constant dense<0.5> : tensor<8x2048x4096xbf16>
  %dyh = graph.binary mul %dy, %half : tensor<8x2048x4096xbf16>
  %dyf = graph.cast %dyh : tensor<8x2048x4096xbf16> -> tensor<8x2048x4096xf32>
  %d1 = graph.reshape %dyf : tensor<8x2048x4096xf32> -> tensor<8x2048x4096x1xf32>
  %ds = graph.expand %d1 : tensor<8x2048x4096x1xf32> -> tensor<8x2048x4096x8xf32>
  %q = graph.binary mul %ds, %hs : tensor<8x2048x4096x8xf32>
  %g = graph.reduce add %q dims = [0, 1] : tensor<8x2048x4096x8xf32> -> tensor<4096x8xf32>
  return %g, %down : tensor<4096x8xf32>, tensor<8x2048x8xbf16>
}

func.func @alone(%x: tensor<8x2048x4096xf32>, %a: tensor<8x4096xf32>, %dy: tensor<8x2048x4096xf32>) -> tensor<4096x8xf32> {
  %x1 = graph.reshape %x : tensor<8x2048x4096xf32> -> tensor<8x2048x1x4096xf32>
  %xs = graph.expand %x1 : tensor<8x2048x1x4096xf32> -> tensor<8x2048x8x4096xf32>
  %a1 = graph.reshape %a : tensor<8x4096xf32> -> tensor<1x1x8x4096xf32>
  %as = graph.expand %a1 : tensor<1x1x8x4096xf32> -> tensor<8x2048x8x4096xf32>
  %p = graph.binary mul %xs, %as : tensor<8x2048x8x4096xf32>
  %h = graph.reduce add %p dims = [3] : tensor<8x2048x8x4096xf32> -> tensor<8x2048x8xf32>
  %h1 = graph.reshape %h : tensor<8x2048x8xf32> -> tensor<8x2048x1x8xf32>
  %hs = graph.expand %h1 : tensor<8x2048x1x8xf32> -> tensor<8x2048x4096x8xf32>
  %d1 = graph.reshape %dy : tensor<8x2048x4096xf32> -> tensor<8x2048x4096x1xf32>
  %ds = graph.expand %d1 : tensor<8x2048x4096x1xf32> -> tensor<8x2048x4096x8xf32>
  %q = graph.binary mul %ds, %hs : tensor<8x2048x4096x8xf32>
  %g = graph.reduce add %q dims = [0, 1] : tensor<8x2048x4096x8xf32> -> tensor<4096x8xf32>
  return %g : tensor<4096x8xf32>
}

// A router's gradient sums up over all tokens, and its softmax is of few experts: it is no step of an attention. Threads bring an
// f32 factor and one of 16 bits.
// LONG-LABEL: func.func @router
// LONG: graph.reduce add %{{.*}} dims = [0, 1] : tensor<{{[0-9]+}}x{{[0-9]+}}x1024x16xf32> -> tensor<1024x16xf32>
// Of few tokens for each weight of a softmax it may be one.
// LONG-LABEL: func.func @attention
// LONG: graph.reduce add %{{.*}} dims = [0] : tensor<8192x128x512xf32> -> tensor<128x512xf32>
func.func @router(%x: tensor<8192x1024xbf16>, %scores: tensor<8192x16xf32>, %dy: tensor<8192x16xf32>) -> (tensor<1024x16xf32>, tensor<8192x16xf32>) {
  %m = graph.reduce max %scores dims = [1] : tensor<8192x16xf32> -> tensor<8192xf32>
  %m1 = graph.reshape %m : tensor<8192xf32> -> tensor<8192x1xf32>
  %ms = graph.expand %m1 : tensor<8192x1xf32> -> tensor<8192x16xf32>
  %s = graph.binary sub %scores, %ms : tensor<8192x16xf32>
  %e = graph.unary exp %s : tensor<8192x16xf32>
  %d = graph.binary mul %e, %dy : tensor<8192x16xf32>
  %xf = graph.cast %x : tensor<8192x1024xbf16> -> tensor<8192x1024xf32>
  %x1 = graph.reshape %xf : tensor<8192x1024xf32> -> tensor<8192x1024x1xf32>
  %xs = graph.expand %x1 : tensor<8192x1024x1xf32> -> tensor<8192x1024x16xf32>
  %d1 = graph.reshape %d : tensor<8192x16xf32> -> tensor<8192x1x16xf32>
  %ds = graph.expand %d1 : tensor<8192x1x16xf32> -> tensor<8192x1024x16xf32>
  %p = graph.binary mul %ds, %xs : tensor<8192x1024x16xf32>
  %g = graph.reduce add %p dims = [0] : tensor<8192x1024x16xf32> -> tensor<1024x16xf32>
  return %g, %d : tensor<1024x16xf32>, tensor<8192x16xf32>
}
func.func @attention(%x: tensor<8192x128xbf16>, %scores: tensor<8192x512xf32>, %dy: tensor<8192x512xf32>) -> (tensor<128x512xf32>, tensor<8192x512xf32>) {
  %m = graph.reduce max %scores dims = [1] : tensor<8192x512xf32> -> tensor<8192xf32>
  %m1 = graph.reshape %m : tensor<8192xf32> -> tensor<8192x1xf32>
  %ms = graph.expand %m1 : tensor<8192x1xf32> -> tensor<8192x512xf32>
  %s = graph.binary sub %scores, %ms : tensor<8192x512xf32>
  %e = graph.unary exp %s : tensor<8192x512xf32>
  %d = graph.binary mul %e, %dy : tensor<8192x512xf32>
  %xf = graph.cast %x : tensor<8192x128xbf16> -> tensor<8192x128xf32>
  %x1 = graph.reshape %xf : tensor<8192x128xf32> -> tensor<8192x128x1xf32>
  %xs = graph.expand %x1 : tensor<8192x128x1xf32> -> tensor<8192x128x512xf32>
  %d1 = graph.reshape %d : tensor<8192x512xf32> -> tensor<8192x1x512xf32>
  %ds = graph.expand %d1 : tensor<8192x1x512xf32> -> tensor<8192x128x512xf32>
  %p = graph.binary mul %ds, %xs : tensor<8192x128x512xf32>
  %g = graph.reduce add %p dims = [0] : tensor<8192x128x512xf32> -> tensor<128x512xf32>
  return %g, %d : tensor<128x512xf32>, tensor<8192x512xf32>
}

// What two products read is stored once, and no thread brings it: the copy engine feeds tensor cores, whose clusters share a long
// sum. Of what one product reads threads make a factor.
// LONG-LABEL: func.func @shared
// LONG: graph.reduce add %{{.*}} dims = [0] : tensor<6272x384x96xf32> -> tensor<384x96xf32>
// LONG-LABEL: func.func @unshared
// LONG: graph.reduce add %{{.*}} dims = [0, 1] : tensor<{{[0-9]+}}x{{[0-9]+}}x384x96xf32> -> tensor<384x96xf32>
func.func @shared(%dy: tensor<6272x96xbf16>, %g: tensor<96xbf16>, %w: tensor<384x96xbf16>, %x: tensor<6272x384x4xbf16>) -> (tensor<384x96xf32>, tensor<6272x384xf32>, tensor<6272x384xbf16>) {
  %h = graph.reduce add %x dims = [2] : tensor<6272x384x4xbf16> -> tensor<6272x384xbf16>
  %g1 = graph.reshape %g : tensor<96xbf16> -> tensor<1x96xbf16>
  %gs = graph.expand %g1 : tensor<1x96xbf16> -> tensor<6272x96xbf16>
  %e = graph.binary mul %dy, %gs : tensor<6272x96xbf16>
  %ef = graph.cast %e : tensor<6272x96xbf16> -> tensor<6272x96xf32>
  %e1 = graph.reshape %ef : tensor<6272x96xf32> -> tensor<6272x1x96xf32>
  %es = graph.expand %e1 : tensor<6272x1x96xf32> -> tensor<6272x384x96xf32>
  %hf = graph.cast %h : tensor<6272x384xbf16> -> tensor<6272x384xf32>
  %h1 = graph.reshape %hf : tensor<6272x384xf32> -> tensor<6272x384x1xf32>
  %hs = graph.expand %h1 : tensor<6272x384x1xf32> -> tensor<6272x384x96xf32>
  %p = graph.binary mul %es, %hs : tensor<6272x384x96xf32>
  %dw = graph.reduce add %p dims = [0] : tensor<6272x384x96xf32> -> tensor<384x96xf32>
  %wf = graph.cast %w : tensor<384x96xbf16> -> tensor<384x96xf32>
  %w1 = graph.reshape %wf : tensor<384x96xf32> -> tensor<1x384x96xf32>
  %ws = graph.expand %w1 : tensor<1x384x96xf32> -> tensor<6272x384x96xf32>
  %q = graph.binary mul %es, %ws : tensor<6272x384x96xf32>
  %dh = graph.reduce add %q dims = [2] : tensor<6272x384x96xf32> -> tensor<6272x384xf32>
  return %dw, %dh, %h : tensor<384x96xf32>, tensor<6272x384xf32>, tensor<6272x384xbf16>
}
func.func @unshared(%dy: tensor<6272x96xbf16>, %g: tensor<96xbf16>, %x: tensor<6272x384x4xbf16>) -> (tensor<384x96xf32>, tensor<6272x384xbf16>) {
  %h = graph.reduce add %x dims = [2] : tensor<6272x384x4xbf16> -> tensor<6272x384xbf16>
  %g1 = graph.reshape %g : tensor<96xbf16> -> tensor<1x96xbf16>
  %gs = graph.expand %g1 : tensor<1x96xbf16> -> tensor<6272x96xbf16>
  %e = graph.binary mul %dy, %gs : tensor<6272x96xbf16>
  %ef = graph.cast %e : tensor<6272x96xbf16> -> tensor<6272x96xf32>
  %e1 = graph.reshape %ef : tensor<6272x96xf32> -> tensor<6272x1x96xf32>
  %es = graph.expand %e1 : tensor<6272x1x96xf32> -> tensor<6272x384x96xf32>
  %hf = graph.cast %h : tensor<6272x384xbf16> -> tensor<6272x384xf32>
  %h1 = graph.reshape %hf : tensor<6272x384xf32> -> tensor<6272x384x1xf32>
  %hs = graph.expand %h1 : tensor<6272x384x1xf32> -> tensor<6272x384x96xf32>
  %p = graph.binary mul %es, %hs : tensor<6272x384x96xf32>
  %dw = graph.reduce add %p dims = [0] : tensor<6272x384x96xf32> -> tensor<384x96xf32>
  return %dw, %h : tensor<384x96xf32>, tensor<6272x384xbf16>
}
