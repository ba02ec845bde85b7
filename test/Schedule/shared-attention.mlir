// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_80 stop-after=schedule' | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: zyx-opt %s --split-input-file --zyx-compile='target=cpu stop-after=schedule' | FileCheck %s --check-prefix=HOST
// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s --check-prefix=LOWERED

// Attentions of one query and of few, and those that are f32, are one kernel of workgroups: not one of each of their sums. Heads
// that share keys are rows of one program.

// HOST-NOT: threads =

// One query of a head each: a program of two rows, of which one does not exist.
// CHECK-LABEL: plan.func @
// CHECK: kernel.func @{{.*}}schedule = #kernel.schedule<[#kernel.online_step<"k0", 64>]>, threads = 128
// CHECK-NOT: kernel.func
// LOWERED-LABEL: plan.func @
// LOWERED: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [70, 2, 1] step [1, 1, 1]
// LOWERED: kernel.alloc : <64x72xbf16, shared>
// LOWERED: scf.for
// LOWERED-COUNT-4: kernel.barrier workgroup
// LOWERED: scf.yield
// LOWERED-COUNT-2: kernel.barrier workgroup
func.func @alone(%q: tensor<70x2x1x64xbf16> {graph.name = "q"}, %keys: tensor<70x2x200x64xbf16> {graph.name = "keys"}, %values: tensor<70x2x200x64xbf16> {graph.name = "values"}, %mask: tensor<70x1x1x200xi1> {graph.name = "mask"}) -> (tensor<70x2x1x64xbf16> {graph.name = "y"}) {
  %v1 = graph.cast %q : tensor<70x2x1x64xbf16> -> tensor<70x2x1x64xf32>
  %v2 = graph.cast %keys : tensor<70x2x200x64xbf16> -> tensor<70x2x200x64xf32>
  %v3 = graph.permute %v2 order = [0, 1, 3, 2] : tensor<70x2x200x64xf32> -> tensor<70x2x64x200xf32>
  %v4 = graph.reshape %v1 : tensor<70x2x1x64xf32> -> tensor<70x2x1x64x1xf32>
  %v5 = graph.expand %v4 : tensor<70x2x1x64x1xf32> -> tensor<70x2x1x64x200xf32>
  %v6 = graph.reshape %v3 : tensor<70x2x64x200xf32> -> tensor<70x2x1x64x200xf32>
  %v7 = graph.binary mul %v5, %v6 : tensor<70x2x1x64x200xf32>
  %v8 = graph.reduce add %v7 dims = [3] : tensor<70x2x1x64x200xf32> -> tensor<70x2x1x200xf32>
  %v9 = graph.constant dense<0.125> : tensor<70x2x1x200xf32>
  %v10 = graph.binary mul %v8, %v9 : tensor<70x2x1x200xf32>
  %v11 = graph.expand %mask : tensor<70x1x1x200xi1> -> tensor<70x2x1x200xi1>
  %v12 = graph.constant dense<0xFF800000> : tensor<70x2x1x200xf32>
  %v13 = graph.select %v11, %v10, %v12 : tensor<70x2x1x200xf32>
  %v14 = graph.reduce max %v13 dims = [3] : tensor<70x2x1x200xf32> -> tensor<70x2x1xf32>
  %v15 = graph.reshape %v14 : tensor<70x2x1xf32> -> tensor<70x2x1x1xf32>
  %v16 = graph.expand %v15 : tensor<70x2x1x1xf32> -> tensor<70x2x1x200xf32>
  %v17 = graph.binary sub %v13, %v16 : tensor<70x2x1x200xf32>
  %v18 = graph.unary exp %v17 : tensor<70x2x1x200xf32>
  %v19 = graph.reduce add %v18 dims = [3] : tensor<70x2x1x200xf32> -> tensor<70x2x1xf32>
  %v20 = graph.reshape %v19 : tensor<70x2x1xf32> -> tensor<70x2x1x1xf32>
  %v21 = graph.expand %v20 : tensor<70x2x1x1xf32> -> tensor<70x2x1x200xf32>
  %v22 = graph.binary div %v18, %v21 : tensor<70x2x1x200xf32>
  %v23 = graph.cast %v22 : tensor<70x2x1x200xf32> -> tensor<70x2x1x200xbf16>
  %v24 = graph.cast %v23 : tensor<70x2x1x200xbf16> -> tensor<70x2x1x200xf32>
  %v25 = graph.cast %values : tensor<70x2x200x64xbf16> -> tensor<70x2x200x64xf32>
  %v26 = graph.reshape %v24 : tensor<70x2x1x200xf32> -> tensor<70x2x1x200x1xf32>
  %v27 = graph.expand %v26 : tensor<70x2x1x200x1xf32> -> tensor<70x2x1x200x64xf32>
  %v28 = graph.reshape %v25 : tensor<70x2x200x64xf32> -> tensor<70x2x1x200x64xf32>
  %v29 = graph.binary mul %v27, %v28 : tensor<70x2x1x200x64xf32>
  %v30 = graph.reduce add %v29 dims = [3] : tensor<70x2x1x200x64xf32> -> tensor<70x2x1x64xf32>
  %v31 = graph.cast %v30 : tensor<70x2x1x64xf32> -> tensor<70x2x1x64xbf16>
  return %v31 : tensor<70x2x1x64xbf16>
}

// -----

// Four heads share keys, which lie in memory once for them.
// CHECK-LABEL: plan.func @
// CHECK: kernel.func @{{.*}}schedule = #kernel.schedule<[#kernel.grid_step<"i1", 4>, #kernel.online_step<"k0", 64>]>, threads = 128
// CHECK-NOT: kernel.func
// LOWERED-LABEL: plan.func @
// LOWERED: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [70, 2, 1] step [1, 1, 1]
func.func @grouped(%q: tensor<70x8x1x64xbf16> {graph.name = "q"}, %keys: tensor<70x2x200x64xbf16> {graph.name = "keys"}, %values: tensor<70x2x200x64xbf16> {graph.name = "values"}, %mask: tensor<70x1x1x200xi1> {graph.name = "mask"}) -> (tensor<70x8x1x64xbf16> {graph.name = "y"}) {
  %v1 = graph.reshape %keys : tensor<70x2x200x64xbf16> -> tensor<70x2x1x200x64xbf16>
  %v2 = graph.expand %v1 : tensor<70x2x1x200x64xbf16> -> tensor<70x2x4x200x64xbf16>
  %v3 = graph.reshape %v2 : tensor<70x2x4x200x64xbf16> -> tensor<70x8x200x64xbf16>
  %v4 = graph.reshape %values : tensor<70x2x200x64xbf16> -> tensor<70x2x1x200x64xbf16>
  %v5 = graph.expand %v4 : tensor<70x2x1x200x64xbf16> -> tensor<70x2x4x200x64xbf16>
  %v6 = graph.reshape %v5 : tensor<70x2x4x200x64xbf16> -> tensor<70x8x200x64xbf16>
  %v7 = graph.cast %q : tensor<70x8x1x64xbf16> -> tensor<70x8x1x64xf32>
  %v8 = graph.cast %v3 : tensor<70x8x200x64xbf16> -> tensor<70x8x200x64xf32>
  %v9 = graph.permute %v8 order = [0, 1, 3, 2] : tensor<70x8x200x64xf32> -> tensor<70x8x64x200xf32>
  %v10 = graph.reshape %v7 : tensor<70x8x1x64xf32> -> tensor<70x8x1x64x1xf32>
  %v11 = graph.expand %v10 : tensor<70x8x1x64x1xf32> -> tensor<70x8x1x64x200xf32>
  %v12 = graph.reshape %v9 : tensor<70x8x64x200xf32> -> tensor<70x8x1x64x200xf32>
  %v13 = graph.binary mul %v11, %v12 : tensor<70x8x1x64x200xf32>
  %v14 = graph.reduce add %v13 dims = [3] : tensor<70x8x1x64x200xf32> -> tensor<70x8x1x200xf32>
  %v15 = graph.constant dense<0.125> : tensor<70x8x1x200xf32>
  %v16 = graph.binary mul %v14, %v15 : tensor<70x8x1x200xf32>
  %v17 = graph.expand %mask : tensor<70x1x1x200xi1> -> tensor<70x8x1x200xi1>
  %v18 = graph.constant dense<0xFF800000> : tensor<70x8x1x200xf32>
  %v19 = graph.select %v17, %v16, %v18 : tensor<70x8x1x200xf32>
  %v20 = graph.reduce max %v19 dims = [3] : tensor<70x8x1x200xf32> -> tensor<70x8x1xf32>
  %v21 = graph.reshape %v20 : tensor<70x8x1xf32> -> tensor<70x8x1x1xf32>
  %v22 = graph.expand %v21 : tensor<70x8x1x1xf32> -> tensor<70x8x1x200xf32>
  %v23 = graph.binary sub %v19, %v22 : tensor<70x8x1x200xf32>
  %v24 = graph.unary exp %v23 : tensor<70x8x1x200xf32>
  %v25 = graph.reduce add %v24 dims = [3] : tensor<70x8x1x200xf32> -> tensor<70x8x1xf32>
  %v26 = graph.reshape %v25 : tensor<70x8x1xf32> -> tensor<70x8x1x1xf32>
  %v27 = graph.expand %v26 : tensor<70x8x1x1xf32> -> tensor<70x8x1x200xf32>
  %v28 = graph.binary div %v24, %v27 : tensor<70x8x1x200xf32>
  %v29 = graph.cast %v28 : tensor<70x8x1x200xf32> -> tensor<70x8x1x200xbf16>
  %v30 = graph.cast %v29 : tensor<70x8x1x200xbf16> -> tensor<70x8x1x200xf32>
  %v31 = graph.cast %v6 : tensor<70x8x200x64xbf16> -> tensor<70x8x200x64xf32>
  %v32 = graph.reshape %v30 : tensor<70x8x1x200xf32> -> tensor<70x8x1x200x1xf32>
  %v33 = graph.expand %v32 : tensor<70x8x1x200x1xf32> -> tensor<70x8x1x200x64xf32>
  %v34 = graph.reshape %v31 : tensor<70x8x200x64xf32> -> tensor<70x8x1x200x64xf32>
  %v35 = graph.binary mul %v33, %v34 : tensor<70x8x1x200x64xf32>
  %v36 = graph.reduce add %v35 dims = [3] : tensor<70x8x1x200x64xf32> -> tensor<70x8x1x64xf32>
  %v37 = graph.cast %v36 : tensor<70x8x1x64xf32> -> tensor<70x8x1x64xbf16>
  return %v37 : tensor<70x8x1x64xbf16>
}

// -----

// Keys and values of a cache and what comes behind it, which are returned, too: a copy, which is launched once for both, and an
// attention that reads both parts.
// CHECK-LABEL: plan.func @
// CHECK: kernel.func
// CHECK: kernel.func @{{.*}}schedule = #kernel.schedule<[#kernel.online_step<"k0", 64>]>, threads = 128
// CHECK: kernel.func @grown_0_and_grown_0(
// CHECK-NOT: kernel.func
func.func @grown(%q: tensor<70x2x1x64xf16> {graph.name = "q"}, %keys: tensor<70x2x127x64xf16> {graph.name = "keys"}, %values: tensor<70x2x127x64xf16> {graph.name = "values"}, %k: tensor<70x2x1x64xf16> {graph.name = "k"}, %v: tensor<70x2x1x64xf16> {graph.name = "v"}) -> (tensor<70x2x1x64xf16> {graph.name = "y"}, tensor<70x2x128x64xf16> {graph.name = "keys"}, tensor<70x2x128x64xf16> {graph.name = "values"}) {
  %v1 = graph.concat %keys, %k dim = 2 : (tensor<70x2x127x64xf16>, tensor<70x2x1x64xf16>) -> tensor<70x2x128x64xf16>
  %v2 = graph.concat %values, %v dim = 2 : (tensor<70x2x127x64xf16>, tensor<70x2x1x64xf16>) -> tensor<70x2x128x64xf16>
  %v3 = graph.cast %q : tensor<70x2x1x64xf16> -> tensor<70x2x1x64xf32>
  %v4 = graph.cast %v1 : tensor<70x2x128x64xf16> -> tensor<70x2x128x64xf32>
  %v5 = graph.permute %v4 order = [0, 1, 3, 2] : tensor<70x2x128x64xf32> -> tensor<70x2x64x128xf32>
  %v6 = graph.reshape %v3 : tensor<70x2x1x64xf32> -> tensor<70x2x1x64x1xf32>
  %v7 = graph.expand %v6 : tensor<70x2x1x64x1xf32> -> tensor<70x2x1x64x128xf32>
  %v8 = graph.reshape %v5 : tensor<70x2x64x128xf32> -> tensor<70x2x1x64x128xf32>
  %v9 = graph.binary mul %v7, %v8 : tensor<70x2x1x64x128xf32>
  %v10 = graph.reduce add %v9 dims = [3] : tensor<70x2x1x64x128xf32> -> tensor<70x2x1x128xf32>
  %v11 = graph.constant dense<0.125> : tensor<70x2x1x128xf32>
  %v12 = graph.binary mul %v10, %v11 : tensor<70x2x1x128xf32>
  %v13 = graph.reduce max %v12 dims = [3] : tensor<70x2x1x128xf32> -> tensor<70x2x1xf32>
  %v14 = graph.reshape %v13 : tensor<70x2x1xf32> -> tensor<70x2x1x1xf32>
  %v15 = graph.expand %v14 : tensor<70x2x1x1xf32> -> tensor<70x2x1x128xf32>
  %v16 = graph.binary sub %v12, %v15 : tensor<70x2x1x128xf32>
  %v17 = graph.unary exp %v16 : tensor<70x2x1x128xf32>
  %v18 = graph.reduce add %v17 dims = [3] : tensor<70x2x1x128xf32> -> tensor<70x2x1xf32>
  %v19 = graph.reshape %v18 : tensor<70x2x1xf32> -> tensor<70x2x1x1xf32>
  %v20 = graph.expand %v19 : tensor<70x2x1x1xf32> -> tensor<70x2x1x128xf32>
  %v21 = graph.binary div %v17, %v20 : tensor<70x2x1x128xf32>
  %v22 = graph.cast %v21 : tensor<70x2x1x128xf32> -> tensor<70x2x1x128xf16>
  %v23 = graph.cast %v22 : tensor<70x2x1x128xf16> -> tensor<70x2x1x128xf32>
  %v24 = graph.cast %v2 : tensor<70x2x128x64xf16> -> tensor<70x2x128x64xf32>
  %v25 = graph.reshape %v23 : tensor<70x2x1x128xf32> -> tensor<70x2x1x128x1xf32>
  %v26 = graph.expand %v25 : tensor<70x2x1x128x1xf32> -> tensor<70x2x1x128x64xf32>
  %v27 = graph.reshape %v24 : tensor<70x2x128x64xf32> -> tensor<70x2x1x128x64xf32>
  %v28 = graph.binary mul %v26, %v27 : tensor<70x2x1x128x64xf32>
  %v29 = graph.reduce add %v28 dims = [3] : tensor<70x2x1x128x64xf32> -> tensor<70x2x1x64xf32>
  %v30 = graph.cast %v29 : tensor<70x2x1x64xf32> -> tensor<70x2x1x64xf16>
  return %v30, %v1, %v2 : tensor<70x2x1x64xf16>, tensor<70x2x128x64xf16>, tensor<70x2x128x64xf16>
}

// -----

// Queries and keys of f32: tiles of both. The last key that a row of the tile sees ends the walk.
// LOWERED-LABEL: kernel.func @many_0
// LOWERED: %[[LAST:.*]] = scf.for {{.*}} = %c0 to %c64 step %c1
// LOWERED: arith.maxsi
// LOWERED: %[[END:.*]] = arith.minsi %[[LAST]], %c577
// LOWERED: scf.for {{.*}} = %c0 to %[[END]] step %c{{32|64}}
// CHECK-LABEL: plan.func @
// CHECK: kernel.func @{{.*}}schedule = #kernel.schedule<[#kernel.grid_step<"m", 64>, #kernel.online_step<"n", {{32|64}}>]>, threads = 256
// CHECK-NOT: kernel.func
func.func @many(%q: tensor<16x12x577x64xf32> {graph.name = "q"}, %keys: tensor<16x12x577x64xf32> {graph.name = "keys"}, %values: tensor<16x12x577x64xf32> {graph.name = "values"}) -> (tensor<16x12x577x64xf32> {graph.name = "y"}) {
  %v1 = graph.permute %keys order = [0, 1, 3, 2] : tensor<16x12x577x64xf32> -> tensor<16x12x64x577xf32>
  %v2 = graph.reshape %q : tensor<16x12x577x64xf32> -> tensor<16x12x577x64x1xf32>
  %v3 = graph.expand %v2 : tensor<16x12x577x64x1xf32> -> tensor<16x12x577x64x577xf32>
  %v4 = graph.reshape %v1 : tensor<16x12x64x577xf32> -> tensor<16x12x1x64x577xf32>
  %v5 = graph.expand %v4 : tensor<16x12x1x64x577xf32> -> tensor<16x12x577x64x577xf32>
  %v6 = graph.binary mul %v3, %v5 : tensor<16x12x577x64x577xf32>
  %v7 = graph.reduce add %v6 dims = [3] : tensor<16x12x577x64x577xf32> -> tensor<16x12x577x577xf32>
  %v8 = graph.constant dense<0.125> : tensor<16x12x577x577xf32>
  %v9 = graph.binary mul %v7, %v8 : tensor<16x12x577x577xf32>
  %v10 = graph.iota dim = 3 : tensor<16x12x577x577xi64>
  %v11 = graph.iota dim = 2 : tensor<16x12x577x577xi64>
  %v12 = graph.binary le %v10, %v11 : tensor<16x12x577x577xi64>
  %v13 = graph.constant dense<0xFF800000> : tensor<16x12x577x577xf32>
  %v14 = graph.select %v12, %v9, %v13 : tensor<16x12x577x577xf32>
  %v15 = graph.reduce max %v14 dims = [3] : tensor<16x12x577x577xf32> -> tensor<16x12x577xf32>
  %v16 = graph.reshape %v15 : tensor<16x12x577xf32> -> tensor<16x12x577x1xf32>
  %v17 = graph.expand %v16 : tensor<16x12x577x1xf32> -> tensor<16x12x577x577xf32>
  %v18 = graph.binary sub %v14, %v17 : tensor<16x12x577x577xf32>
  %v19 = graph.unary exp %v18 : tensor<16x12x577x577xf32>
  %v20 = graph.reduce add %v19 dims = [3] : tensor<16x12x577x577xf32> -> tensor<16x12x577xf32>
  %v21 = graph.reshape %v20 : tensor<16x12x577xf32> -> tensor<16x12x577x1xf32>
  %v22 = graph.expand %v21 : tensor<16x12x577x1xf32> -> tensor<16x12x577x577xf32>
  %v23 = graph.binary div %v19, %v22 : tensor<16x12x577x577xf32>
  %v24 = graph.reshape %v23 : tensor<16x12x577x577xf32> -> tensor<16x12x577x577x1xf32>
  %v25 = graph.expand %v24 : tensor<16x12x577x577x1xf32> -> tensor<16x12x577x577x64xf32>
  %v26 = graph.reshape %values : tensor<16x12x577x64xf32> -> tensor<16x12x1x577x64xf32>
  %v27 = graph.expand %v26 : tensor<16x12x1x577x64xf32> -> tensor<16x12x577x577x64xf32>
  %v28 = graph.binary mul %v25, %v27 : tensor<16x12x577x577x64xf32>
  %v29 = graph.reduce add %v28 dims = [3] : tensor<16x12x577x577x64xf32> -> tensor<16x12x577x64xf32>
  return %v29 : tensor<16x12x577x64xf32>
}

// -----

// Of few programs each is a cluster's, whose workgroups have some keys each, and the first one adds up what all have. Where there
// are no clusters the keys have parts.
// CHECK-LABEL: plan.func @few
// HOPPER: kernel.func @{{.*}}cluster = 8{{.*}}online_step<"k0", 64>]>, threads = 128
// HOPPER-NOT: kernel.func
// AMPERE: kernel.func @few_0{{.*}}online_step<{{.*}}, 64>]>, threads = 128
// AMPERE: kernel.func @few_2
// LOWERED-LABEL: kernel.func @few_0
// LOWERED: kernel.barrier cluster
// LOWERED: kernel.barrier cluster
func.func @few(%q: tensor<1x16x1x128xbf16> {graph.name = "q"}, %keys: tensor<1x16x2048x128xbf16> {graph.name = "keys"}, %values: tensor<1x16x2048x128xbf16> {graph.name = "values"}, %mask: tensor<1x1x1x2048xi1> {graph.name = "mask"}) -> (tensor<1x16x1x128xbf16> {graph.name = "y"}) {
  %v1 = graph.cast %q : tensor<1x16x1x128xbf16> -> tensor<1x16x1x128xf32>
  %v2 = graph.cast %keys : tensor<1x16x2048x128xbf16> -> tensor<1x16x2048x128xf32>
  %v3 = graph.permute %v2 order = [0, 1, 3, 2] : tensor<1x16x2048x128xf32> -> tensor<1x16x128x2048xf32>
  %v4 = graph.reshape %v1 : tensor<1x16x1x128xf32> -> tensor<1x16x1x128x1xf32>
  %v5 = graph.expand %v4 : tensor<1x16x1x128x1xf32> -> tensor<1x16x1x128x2048xf32>
  %v6 = graph.reshape %v3 : tensor<1x16x128x2048xf32> -> tensor<1x16x1x128x2048xf32>
  %v7 = graph.binary mul %v5, %v6 : tensor<1x16x1x128x2048xf32>
  %v8 = graph.reduce add %v7 dims = [3] : tensor<1x16x1x128x2048xf32> -> tensor<1x16x1x2048xf32>
  %v9 = graph.constant dense<0.125> : tensor<1x16x1x2048xf32>
  %v10 = graph.binary mul %v8, %v9 : tensor<1x16x1x2048xf32>
  %v11 = graph.expand %mask : tensor<1x1x1x2048xi1> -> tensor<1x16x1x2048xi1>
  %v12 = graph.constant dense<0xFF800000> : tensor<1x16x1x2048xf32>
  %v13 = graph.select %v11, %v10, %v12 : tensor<1x16x1x2048xf32>
  %v14 = graph.reduce max %v13 dims = [3] : tensor<1x16x1x2048xf32> -> tensor<1x16x1xf32>
  %v15 = graph.reshape %v14 : tensor<1x16x1xf32> -> tensor<1x16x1x1xf32>
  %v16 = graph.expand %v15 : tensor<1x16x1x1xf32> -> tensor<1x16x1x2048xf32>
  %v17 = graph.binary sub %v13, %v16 : tensor<1x16x1x2048xf32>
  %v18 = graph.unary exp %v17 : tensor<1x16x1x2048xf32>
  %v19 = graph.reduce add %v18 dims = [3] : tensor<1x16x1x2048xf32> -> tensor<1x16x1xf32>
  %v20 = graph.reshape %v19 : tensor<1x16x1xf32> -> tensor<1x16x1x1xf32>
  %v21 = graph.expand %v20 : tensor<1x16x1x1xf32> -> tensor<1x16x1x2048xf32>
  %v22 = graph.binary div %v18, %v21 : tensor<1x16x1x2048xf32>
  %v23 = graph.cast %v22 : tensor<1x16x1x2048xf32> -> tensor<1x16x1x2048xbf16>
  %v24 = graph.cast %v23 : tensor<1x16x1x2048xbf16> -> tensor<1x16x1x2048xf32>
  %v25 = graph.cast %values : tensor<1x16x2048x128xbf16> -> tensor<1x16x2048x128xf32>
  %v26 = graph.reshape %v24 : tensor<1x16x1x2048xf32> -> tensor<1x16x1x2048x1xf32>
  %v27 = graph.expand %v26 : tensor<1x16x1x2048x1xf32> -> tensor<1x16x1x2048x128xf32>
  %v28 = graph.reshape %v25 : tensor<1x16x2048x128xf32> -> tensor<1x16x1x2048x128xf32>
  %v29 = graph.binary mul %v27, %v28 : tensor<1x16x1x2048x128xf32>
  %v30 = graph.reduce add %v29 dims = [3] : tensor<1x16x1x2048x128xf32> -> tensor<1x16x1x128xf32>
  %v31 = graph.cast %v30 : tensor<1x16x1x128xf32> -> tensor<1x16x1x128xbf16>
  return %v31 : tensor<1x16x1x128xbf16>
}

// -----

// Fewer programs have parts of their keys in the grid, and two kernels combine these.
// CHECK-LABEL: plan.func @parts
// CHECK: plan.launch @parts_0
// CHECK: plan.launch @parts_1
// CHECK: plan.launch @parts_2
// CHECK-NOT: cluster
// CHECK: kernel.func @parts_0{{.*}}online_step<{{.*}}, 64>]>, threads = 128
// LOWERED-LABEL: kernel.func @parts_0
// LOWERED: kernel.grid {{.*}} in [8, 32, 1] step
// LOWERED-NOT: kernel.barrier cluster
// LOWERED: kernel.func @parts_1
func.func @parts(%q: tensor<1x8x1x128xbf16> {graph.name = "q"}, %keys: tensor<1x8x4096x128xbf16> {graph.name = "keys"}, %values: tensor<1x8x4096x128xbf16> {graph.name = "values"}, %mask: tensor<1x1x1x4096xi1> {graph.name = "mask"}) -> (tensor<1x8x1x128xbf16> {graph.name = "y"}) {
  %v1 = graph.cast %q : tensor<1x8x1x128xbf16> -> tensor<1x8x1x128xf32>
  %v2 = graph.cast %keys : tensor<1x8x4096x128xbf16> -> tensor<1x8x4096x128xf32>
  %v3 = graph.permute %v2 order = [0, 1, 3, 2] : tensor<1x8x4096x128xf32> -> tensor<1x8x128x4096xf32>
  %v4 = graph.reshape %v1 : tensor<1x8x1x128xf32> -> tensor<1x8x1x128x1xf32>
  %v5 = graph.expand %v4 : tensor<1x8x1x128x1xf32> -> tensor<1x8x1x128x4096xf32>
  %v6 = graph.reshape %v3 : tensor<1x8x128x4096xf32> -> tensor<1x8x1x128x4096xf32>
  %v7 = graph.binary mul %v5, %v6 : tensor<1x8x1x128x4096xf32>
  %v8 = graph.reduce add %v7 dims = [3] : tensor<1x8x1x128x4096xf32> -> tensor<1x8x1x4096xf32>
  %v9 = graph.constant dense<0.125> : tensor<1x8x1x4096xf32>
  %v10 = graph.binary mul %v8, %v9 : tensor<1x8x1x4096xf32>
  %v11 = graph.expand %mask : tensor<1x1x1x4096xi1> -> tensor<1x8x1x4096xi1>
  %v12 = graph.constant dense<0xFF800000> : tensor<1x8x1x4096xf32>
  %v13 = graph.select %v11, %v10, %v12 : tensor<1x8x1x4096xf32>
  %v14 = graph.reduce max %v13 dims = [3] : tensor<1x8x1x4096xf32> -> tensor<1x8x1xf32>
  %v15 = graph.reshape %v14 : tensor<1x8x1xf32> -> tensor<1x8x1x1xf32>
  %v16 = graph.expand %v15 : tensor<1x8x1x1xf32> -> tensor<1x8x1x4096xf32>
  %v17 = graph.binary sub %v13, %v16 : tensor<1x8x1x4096xf32>
  %v18 = graph.unary exp %v17 : tensor<1x8x1x4096xf32>
  %v19 = graph.reduce add %v18 dims = [3] : tensor<1x8x1x4096xf32> -> tensor<1x8x1xf32>
  %v20 = graph.reshape %v19 : tensor<1x8x1xf32> -> tensor<1x8x1x1xf32>
  %v21 = graph.expand %v20 : tensor<1x8x1x1xf32> -> tensor<1x8x1x4096xf32>
  %v22 = graph.binary div %v18, %v21 : tensor<1x8x1x4096xf32>
  %v23 = graph.cast %v22 : tensor<1x8x1x4096xf32> -> tensor<1x8x1x4096xbf16>
  %v24 = graph.cast %v23 : tensor<1x8x1x4096xbf16> -> tensor<1x8x1x4096xf32>
  %v25 = graph.cast %values : tensor<1x8x4096x128xbf16> -> tensor<1x8x4096x128xf32>
  %v26 = graph.reshape %v24 : tensor<1x8x1x4096xf32> -> tensor<1x8x1x4096x1xf32>
  %v27 = graph.expand %v26 : tensor<1x8x1x4096x1xf32> -> tensor<1x8x1x4096x128xf32>
  %v28 = graph.reshape %v25 : tensor<1x8x4096x128xf32> -> tensor<1x8x1x4096x128xf32>
  %v29 = graph.binary mul %v27, %v28 : tensor<1x8x1x4096x128xf32>
  %v30 = graph.reduce add %v29 dims = [3] : tensor<1x8x1x4096x128xf32> -> tensor<1x8x1x128xf32>
  %v31 = graph.cast %v30 : tensor<1x8x1x128xf32> -> tensor<1x8x1x128xbf16>
  return %v31 : tensor<1x8x1x128xbf16>
}

// -----

// Causal queries: the last ones of all heads see the most keys, and come first.
// CHECK-LABEL: plan.func @
// CHECK: kernel.func @{{.*}}schedule = #kernel.schedule<[#kernel.grid_step<"m", 64>, #kernel.online_step<"n", {{32|64}}>]>, threads = 256
// CHECK-NOT: kernel.func
// LOWERED-LABEL: plan.func @
// LOWERED: kernel.grid ([[TILE:%.*]], %{{.*}}) in [4, 80] step [1, 1]
// LOWERED: arith.subi %c3, [[TILE]] : index
func.func @causal(%q: tensor<40x2x200x64xf32>, %k: tensor<40x2x200x64xf32>, %v: tensor<40x2x200x64xf32>) -> tensor<40x2x200x64xf32> {
  %0 = graph.permute %k order = [0, 1, 3, 2] : tensor<40x2x200x64xf32> -> tensor<40x2x64x200xf32>
  %1 = graph.reshape %q : tensor<40x2x200x64xf32> -> tensor<40x2x200x64x1xf32>
  %2 = graph.expand %1 : tensor<40x2x200x64x1xf32> -> tensor<40x2x200x64x200xf32>
  %3 = graph.reshape %0 : tensor<40x2x64x200xf32> -> tensor<40x2x1x64x200xf32>
  %4 = graph.expand %3 : tensor<40x2x1x64x200xf32> -> tensor<40x2x200x64x200xf32>
  %5 = graph.binary mul %2, %4 : tensor<40x2x200x64x200xf32>
  %6 = graph.reduce add %5 dims = [3] : tensor<40x2x200x64x200xf32> -> tensor<40x2x200x200xf32>
  %row = graph.iota dim = 2 : tensor<40x2x200x200xi32>
  %column = graph.iota dim = 3 : tensor<40x2x200x200xi32>
  %seen = graph.binary ge %row, %column : tensor<40x2x200x200xi32>
  %none = graph.constant dense<0xFF800000> : tensor<40x2x200x200xf32>
  %7 = graph.select %seen, %6, %none : tensor<40x2x200x200xf32>
  %8 = graph.reduce max %7 dims = [3] : tensor<40x2x200x200xf32> -> tensor<40x2x200xf32>
  %9 = graph.reshape %8 : tensor<40x2x200xf32> -> tensor<40x2x200x1xf32>
  %10 = graph.expand %9 : tensor<40x2x200x1xf32> -> tensor<40x2x200x200xf32>
  %11 = graph.binary sub %7, %10 : tensor<40x2x200x200xf32>
  %12 = graph.unary exp %11 : tensor<40x2x200x200xf32>
  %13 = graph.reduce add %12 dims = [3] : tensor<40x2x200x200xf32> -> tensor<40x2x200xf32>
  %14 = graph.reshape %13 : tensor<40x2x200xf32> -> tensor<40x2x200x1xf32>
  %15 = graph.expand %14 : tensor<40x2x200x1xf32> -> tensor<40x2x200x200xf32>
  %16 = graph.binary div %12, %15 : tensor<40x2x200x200xf32>
  %17 = graph.reshape %16 : tensor<40x2x200x200xf32> -> tensor<40x2x200x200x1xf32>
  %18 = graph.expand %17 : tensor<40x2x200x200x1xf32> -> tensor<40x2x200x200x64xf32>
  %19 = graph.reshape %v : tensor<40x2x200x64xf32> -> tensor<40x2x1x200x64xf32>
  %20 = graph.expand %19 : tensor<40x2x1x200x64xf32> -> tensor<40x2x200x200x64xf32>
  %21 = graph.binary mul %18, %20 : tensor<40x2x200x200x64xf32>
  %22 = graph.reduce add %21 dims = [3] : tensor<40x2x200x200x64xf32> -> tensor<40x2x200x64xf32>
  return %22 : tensor<40x2x200x64xf32>
}
