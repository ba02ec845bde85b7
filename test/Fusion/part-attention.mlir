// RUN: zyx-opt %s --split-input-file --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-part-attention | FileCheck %s
// RUN: zyx-opt %s --split-input-file --zyx-kernel-attach-target=target=sm_80 --zyx-fusion-part-attention | FileCheck %s
// RUN: zyx-opt %s --split-input-file --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-part-attention | FileCheck %s --check-prefix=NOPAD
// RUN: zyx-opt %s --split-input-file --zyx-kernel-attach-target=target=x86-64-v3 --zyx-fusion-part-attention | FileCheck %s --check-prefix=HOST

// Four heads of one query and many keys: parts of the keys are rows, and what they have is combined. The last part is filled up,
// with scores of minus infinity.
// CHECK-LABEL: func.func @filled
// CHECK-DAG: %[[KEYS:.*]] = graph.pad %{{.*}} low = [0, 0, 0] high = [0, [[MORE:[0-9]+]], 0]
// CHECK-DAG: graph.reshape %[[KEYS]] : tensor<4x[[ALL:[0-9]+]]x64xf32> -> tensor<4x[[PARTS:[0-9]+]]x[[EACH:[0-9]+]]x64xf32>
// CHECK-DAG: graph.constant dense<8193> : tensor<4x1x[[PARTS]]x[[EACH]]xi64>
// CHECK: %[[X:.*]] = graph.select %{{.*}} : tensor<4x1x[[PARTS]]x[[EACH]]xf32>
// CHECK: %[[M:.*]] = graph.reduce max %[[X]] dims = [3] : tensor<4x1x[[PARTS]]x[[EACH]]xf32> -> tensor<4x1x[[PARTS]]xf32>
// CHECK: %[[L:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<4x1x[[PARTS]]x[[EACH]]xf32> -> tensor<4x1x[[PARTS]]xf32>
// CHECK: %[[O:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<4x1x[[PARTS]]x[[EACH]]x64xf32> -> tensor<4x1x[[PARTS]]x64xf32>
// CHECK: %[[MAX:.*]] = graph.reduce max %[[M]] dims = [2] : tensor<4x1x[[PARTS]]xf32> -> tensor<4x1xf32>
// CHECK: %[[LEAST:.*]] = graph.binary eq %[[M]], %{{.*}}
// CHECK: %[[SEES:.*]] = graph.binary ne
// CHECK: %[[HIDDEN:.*]] = graph.binary and %[[LEAST]], %[[SEES]]
// CHECK: graph.select %[[HIDDEN]], %{{.*}}, %[[L]]
// CHECK: %[[SUM:.*]] = graph.reduce add %{{.*}} dims = [2] : tensor<4x1x[[PARTS]]xf32> -> tensor<4x1xf32>
// CHECK: graph.select %{{.*}}, %{{.*}}, %[[O]]
// CHECK: %[[Y:.*]] = graph.reduce add %{{.*}} dims = [2] : tensor<4x1x[[PARTS]]x64xf32> -> tensor<4x1x64xf32>
// CHECK: graph.binary div %[[Y]]
// HOST-LABEL: func.func @filled
// HOST-NOT: graph.pad
// HOST: graph.reduce max %{{.*}} dims = [2] : tensor<4x1x8193xf32> -> tensor<4x1xf32>
// HOST-NOT: graph.reduce max
// HOST: return
func.func @filled(%q: tensor<4x1x64xf32>, %k: tensor<4x8193x64xf32>, %v: tensor<4x8193x64xf32>) -> tensor<4x1x64xf32> {
  %q1 = graph.reshape %q : tensor<4x1x64xf32> -> tensor<4x1x64x1xf32>
  %qs = graph.expand %q1 : tensor<4x1x64x1xf32> -> tensor<4x1x64x8193xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<4x8193x64xf32> -> tensor<4x64x8193xf32>
  %k1 = graph.reshape %kt : tensor<4x64x8193xf32> -> tensor<4x1x64x8193xf32>
  %p = graph.binary mul %qs, %k1 : tensor<4x1x64x8193xf32>
  %s = graph.reduce add %p dims = [2] : tensor<4x1x64x8193xf32> -> tensor<4x1x8193xf32>
  %m = graph.reduce max %s dims = [2] : tensor<4x1x8193xf32> -> tensor<4x1xf32>
  %m1 = graph.reshape %m : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ms = graph.expand %m1 : tensor<4x1x1xf32> -> tensor<4x1x8193xf32>
  %d = graph.binary sub %s, %ms : tensor<4x1x8193xf32>
  %e = graph.unary exp %d : tensor<4x1x8193xf32>
  %l = graph.reduce add %e dims = [2] : tensor<4x1x8193xf32> -> tensor<4x1xf32>
  %l1 = graph.reshape %l : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ls = graph.expand %l1 : tensor<4x1x1xf32> -> tensor<4x1x8193xf32>
  %w = graph.binary div %e, %ls : tensor<4x1x8193xf32>
  %w1 = graph.reshape %w : tensor<4x1x8193xf32> -> tensor<4x1x8193x1xf32>
  %ws = graph.expand %w1 : tensor<4x1x8193x1xf32> -> tensor<4x1x8193x64xf32>
  %v1 = graph.reshape %v : tensor<4x8193x64xf32> -> tensor<4x1x8193x64xf32>
  %t = graph.binary mul %ws, %v1 : tensor<4x1x8193x64xf32>
  %y = graph.reduce add %t dims = [2] : tensor<4x1x8193x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

// -----

// Whole parts need no fill. Keys that a mask counts are numbered by parts and within a part.
// CHECK-LABEL: func.func @whole
// NOPAD-LABEL: func.func @whole
// NOPAD-NOT: graph.pad
// CHECK: %[[PART:.*]] = graph.iota dim = 2 : tensor<4x1x[[PARTS:[0-9]+]]x[[EACH:[0-9]+]]xi64>
// CHECK: %[[KEY:.*]] = graph.iota dim = 3 : tensor<4x1x[[PARTS]]x[[EACH]]xi64>
// CHECK: %[[FIRST:.*]] = graph.binary mul %[[PART]], %{{.*}}
// CHECK: graph.binary add %[[FIRST]], %[[KEY]]
func.func @whole(%q: tensor<4x1x64xf32>, %k: tensor<4x8192x64xf32>, %v: tensor<4x8192x64xf32>, %end: tensor<1xi64>) -> tensor<4x1x64xf32> {
  %q1 = graph.reshape %q : tensor<4x1x64xf32> -> tensor<4x1x64x1xf32>
  %qs = graph.expand %q1 : tensor<4x1x64x1xf32> -> tensor<4x1x64x8192xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<4x8192x64xf32> -> tensor<4x64x8192xf32>
  %k1 = graph.reshape %kt : tensor<4x64x8192xf32> -> tensor<4x1x64x8192xf32>
  %p = graph.binary mul %qs, %k1 : tensor<4x1x64x8192xf32>
  %s = graph.reduce add %p dims = [2] : tensor<4x1x64x8192xf32> -> tensor<4x1x8192xf32>
  %at = graph.iota dim = 2 : tensor<4x1x8192xi64>
  %e1 = graph.reshape %end : tensor<1xi64> -> tensor<1x1x1xi64>
  %es = graph.expand %e1 : tensor<1x1x1xi64> -> tensor<4x1x8192xi64>
  %seen = graph.binary lt %at, %es : tensor<4x1x8192xi64>
  %none = graph.constant dense<0xFF800000> : tensor<4x1x8192xf32>
  %x = graph.select %seen, %s, %none : tensor<4x1x8192xf32>
  %m = graph.reduce max %x dims = [2] : tensor<4x1x8192xf32> -> tensor<4x1xf32>
  %m1 = graph.reshape %m : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ms = graph.expand %m1 : tensor<4x1x1xf32> -> tensor<4x1x8192xf32>
  %d = graph.binary sub %x, %ms : tensor<4x1x8192xf32>
  %e = graph.unary exp %d : tensor<4x1x8192xf32>
  %l = graph.reduce add %e dims = [2] : tensor<4x1x8192xf32> -> tensor<4x1xf32>
  %l1 = graph.reshape %l : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ls = graph.expand %l1 : tensor<4x1x1xf32> -> tensor<4x1x8192xf32>
  %w = graph.binary div %e, %ls : tensor<4x1x8192xf32>
  %w1 = graph.reshape %w : tensor<4x1x8192xf32> -> tensor<4x1x8192x1xf32>
  %ws = graph.expand %w1 : tensor<4x1x8192x1xf32> -> tensor<4x1x8192x64xf32>
  %v1 = graph.reshape %v : tensor<4x8192x64xf32> -> tensor<4x1x8192x64xf32>
  %t = graph.binary mul %ws, %v1 : tensor<4x1x8192x64xf32>
  %y = graph.reduce add %t dims = [2] : tensor<4x1x8192x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

// -----

// A head for each multiprocessor reads its keys itself.
// CHECK-LABEL: func.func @enough
// CHECK-NOT: graph.pad
// CHECK: graph.reduce max %{{.*}} : tensor<300x1x1024xf32> -> tensor<300x1xf32>
// CHECK-NOT: graph.reduce max
func.func @enough(%q: tensor<300x1x64xf32>, %k: tensor<300x1024x64xf32>, %v: tensor<300x1024x64xf32>) -> tensor<300x1x64xf32> {
  %q1 = graph.reshape %q : tensor<300x1x64xf32> -> tensor<300x1x64x1xf32>
  %qs = graph.expand %q1 : tensor<300x1x64x1xf32> -> tensor<300x1x64x1024xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<300x1024x64xf32> -> tensor<300x64x1024xf32>
  %k1 = graph.reshape %kt : tensor<300x64x1024xf32> -> tensor<300x1x64x1024xf32>
  %p = graph.binary mul %qs, %k1 : tensor<300x1x64x1024xf32>
  %s = graph.reduce add %p dims = [2] : tensor<300x1x64x1024xf32> -> tensor<300x1x1024xf32>
  %m = graph.reduce max %s dims = [2] : tensor<300x1x1024xf32> -> tensor<300x1xf32>
  %m1 = graph.reshape %m : tensor<300x1xf32> -> tensor<300x1x1xf32>
  %ms = graph.expand %m1 : tensor<300x1x1xf32> -> tensor<300x1x1024xf32>
  %d = graph.binary sub %s, %ms : tensor<300x1x1024xf32>
  %e = graph.unary exp %d : tensor<300x1x1024xf32>
  %l = graph.reduce add %e dims = [2] : tensor<300x1x1024xf32> -> tensor<300x1xf32>
  %l1 = graph.reshape %l : tensor<300x1xf32> -> tensor<300x1x1xf32>
  %ls = graph.expand %l1 : tensor<300x1x1xf32> -> tensor<300x1x1024xf32>
  %w = graph.binary div %e, %ls : tensor<300x1x1024xf32>
  %w1 = graph.reshape %w : tensor<300x1x1024xf32> -> tensor<300x1x1024x1xf32>
  %ws = graph.expand %w1 : tensor<300x1x1024x1xf32> -> tensor<300x1x1024x64xf32>
  %v1 = graph.reshape %v : tensor<300x1024x64xf32> -> tensor<300x1x1024x64xf32>
  %t = graph.binary mul %ws, %v1 : tensor<300x1x1024x64xf32>
  %y = graph.reduce add %t dims = [2] : tensor<300x1x1024x64xf32> -> tensor<300x1x64xf32>
  return %y : tensor<300x1x64xf32>
}

// -----

// Values that are not finite where there are none cannot fill a part up: weights of 0 do not hide them.
// CHECK-LABEL: func.func @inverse
// CHECK-NOT: graph.pad
// CHECK: graph.reduce max %{{.*}} dims = [2] : tensor<4x1x8193xf32> -> tensor<4x1xf32>
// CHECK-NOT: graph.reduce max
func.func @inverse(%q: tensor<4x1x64xf32>, %k: tensor<4x8193x64xf32>, %v: tensor<4x8193x64xf32>) -> tensor<4x1x64xf32> {
  %q1 = graph.reshape %q : tensor<4x1x64xf32> -> tensor<4x1x64x1xf32>
  %qs = graph.expand %q1 : tensor<4x1x64x1xf32> -> tensor<4x1x64x8193xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<4x8193x64xf32> -> tensor<4x64x8193xf32>
  %k1 = graph.reshape %kt : tensor<4x64x8193xf32> -> tensor<4x1x64x8193xf32>
  %p = graph.binary mul %qs, %k1 : tensor<4x1x64x8193xf32>
  %s = graph.reduce add %p dims = [2] : tensor<4x1x64x8193xf32> -> tensor<4x1x8193xf32>
  %m = graph.reduce max %s dims = [2] : tensor<4x1x8193xf32> -> tensor<4x1xf32>
  %m1 = graph.reshape %m : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ms = graph.expand %m1 : tensor<4x1x1xf32> -> tensor<4x1x8193xf32>
  %d = graph.binary sub %s, %ms : tensor<4x1x8193xf32>
  %e = graph.unary exp %d : tensor<4x1x8193xf32>
  %l = graph.reduce add %e dims = [2] : tensor<4x1x8193xf32> -> tensor<4x1xf32>
  %l1 = graph.reshape %l : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ls = graph.expand %l1 : tensor<4x1x1xf32> -> tensor<4x1x8193xf32>
  %w = graph.binary div %e, %ls : tensor<4x1x8193xf32>
  %w1 = graph.reshape %w : tensor<4x1x8193xf32> -> tensor<4x1x8193x1xf32>
  %ws = graph.expand %w1 : tensor<4x1x8193x1xf32> -> tensor<4x1x8193x64xf32>
  %vr = graph.unary recip %v : tensor<4x8193x64xf32>
  %v1 = graph.reshape %vr : tensor<4x8193x64xf32> -> tensor<4x1x8193x64xf32>
  %t = graph.binary mul %ws, %v1 : tensor<4x1x8193x64xf32>
  %y = graph.reduce add %t dims = [2] : tensor<4x1x8193x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

// -----

// Few keys take no longer.
// CHECK-LABEL: func.func @few
// CHECK: graph.reduce max %{{.*}} : tensor<4x1x200xf32> -> tensor<4x1xf32>
// CHECK-NOT: graph.reduce max
func.func @few(%q: tensor<4x1x64xf32>, %k: tensor<4x200x64xf32>, %v: tensor<4x200x64xf32>) -> tensor<4x1x64xf32> {
  %q1 = graph.reshape %q : tensor<4x1x64xf32> -> tensor<4x1x64x1xf32>
  %qs = graph.expand %q1 : tensor<4x1x64x1xf32> -> tensor<4x1x64x200xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<4x200x64xf32> -> tensor<4x64x200xf32>
  %k1 = graph.reshape %kt : tensor<4x64x200xf32> -> tensor<4x1x64x200xf32>
  %p = graph.binary mul %qs, %k1 : tensor<4x1x64x200xf32>
  %s = graph.reduce add %p dims = [2] : tensor<4x1x64x200xf32> -> tensor<4x1x200xf32>
  %m = graph.reduce max %s dims = [2] : tensor<4x1x200xf32> -> tensor<4x1xf32>
  %m1 = graph.reshape %m : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ms = graph.expand %m1 : tensor<4x1x1xf32> -> tensor<4x1x200xf32>
  %d = graph.binary sub %s, %ms : tensor<4x1x200xf32>
  %e = graph.unary exp %d : tensor<4x1x200xf32>
  %l = graph.reduce add %e dims = [2] : tensor<4x1x200xf32> -> tensor<4x1xf32>
  %l1 = graph.reshape %l : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ls = graph.expand %l1 : tensor<4x1x1xf32> -> tensor<4x1x200xf32>
  %w = graph.binary div %e, %ls : tensor<4x1x200xf32>
  %w1 = graph.reshape %w : tensor<4x1x200xf32> -> tensor<4x1x200x1xf32>
  %ws = graph.expand %w1 : tensor<4x1x200x1xf32> -> tensor<4x1x200x64xf32>
  %v1 = graph.reshape %v : tensor<4x200x64xf32> -> tensor<4x1x200x64xf32>
  %t = graph.binary mul %ws, %v1 : tensor<4x1x200x64xf32>
  %y = graph.reduce add %t dims = [2] : tensor<4x1x200x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

// -----

// Largest scores of rows that are subtracted from columns, of which there are as many, make no softmax of rows.
// CHECK-LABEL: func.func @columns
// CHECK: graph.reduce max %{{.*}} dims = [1] : tensor<512x512xf32> -> tensor<512xf32>
// CHECK-NOT: graph.reduce max
func.func @columns(%q: tensor<512x64xf32>, %k: tensor<512x64xf32>, %v: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %q1 = graph.reshape %q : tensor<512x64xf32> -> tensor<512x1x64xf32>
  %qs = graph.expand %q1 : tensor<512x1x64xf32> -> tensor<512x512x64xf32>
  %k1 = graph.reshape %k : tensor<512x64xf32> -> tensor<1x512x64xf32>
  %ks = graph.expand %k1 : tensor<1x512x64xf32> -> tensor<512x512x64xf32>
  %p = graph.binary mul %qs, %ks : tensor<512x512x64xf32>
  %s = graph.reduce add %p dims = [2] : tensor<512x512x64xf32> -> tensor<512x512xf32>
  %m = graph.reduce max %s dims = [1] : tensor<512x512xf32> -> tensor<512xf32>
  %m1 = graph.reshape %m : tensor<512xf32> -> tensor<1x512xf32>
  %ms = graph.expand %m1 : tensor<1x512xf32> -> tensor<512x512xf32>
  %d = graph.binary sub %s, %ms : tensor<512x512xf32>
  %e = graph.unary exp %d : tensor<512x512xf32>
  %w1 = graph.reshape %e : tensor<512x512xf32> -> tensor<512x512x1xf32>
  %ws = graph.expand %w1 : tensor<512x512x1xf32> -> tensor<512x512x64xf32>
  %v1 = graph.reshape %v : tensor<512x64xf32> -> tensor<1x512x64xf32>
  %vs = graph.expand %v1 : tensor<1x512x64xf32> -> tensor<512x512x64xf32>
  %t = graph.binary mul %ws, %vs : tensor<512x512x64xf32>
  %y = graph.reduce add %t dims = [1] : tensor<512x512x64xf32> -> tensor<512x64xf32>
  return %y : tensor<512x64xf32>
}
