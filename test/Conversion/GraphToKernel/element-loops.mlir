// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=kernel' | FileCheck %s --check-prefix=CARD
// RUN: zyx-opt %s --zyx-compile='target=x86-64-v3 stop-after=kernel' | FileCheck %s --check-prefix=HOST

// On a card a thread has an element for all trips: it asks for the rows of many trips, and carries in a register. What no
// trip writes is what the loop begins with.
// CARD-LABEL: kernel.func @sums_0
// CARD: kernel.grid (%{{.*}}) in [300] step [1]
// CARD: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CARD-COUNT-20: kernel.load %{{.*}} -> f32
// CARD: arith.addf
// CARD: kernel.store
// CARD: scf.yield
// CARD: scf.for
// CARD: kernel.load
// CARD: kernel.store

// On a processor a program has a strip, which it carries in memory of its own.
// HOST-LABEL: kernel.func @sums_0
// HOST: kernel.grid (%{{.*}}) in [300] step [64]
// HOST: kernel.alloc : <64xf32, private>
// HOST: scf.for
// HOST: scf.for
// HOST: kernel.load %{{.*}} -> vector<8xf32>
// HOST: arith.addf %{{.*}} : vector<8xf32>
// HOST: scf.if
// HOST: kernel.load %{{.*}} mask %{{.*}} -> vector<8xf32>
func.func @sums(%x: tensor<20x3x100xf32>, %all: tensor<24x3x100xf32>) -> tensor<24x3x100xf32> {
  %zero = graph.constant dense<0.0> : tensor<3x100xf32>
  %l:2 = graph.loop(%i to 20) carry(%h = %zero : tensor<3x100xf32>, %a = %all : tensor<24x3x100xf32>)
      with(%xs = %x : tensor<20x3x100xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<20x3x100xf32>, tensor<i64>) -> tensor<3x100xf32>
    %1 = graph.binary add %h, %0 : tensor<3x100xf32>
    %2 = graph.scatter set %a[%i], %1 dim = 0 : (tensor<24x3x100xf32>, tensor<i64>, tensor<3x100xf32>) -> tensor<24x3x100xf32>
    graph.yield %1, %2 : tensor<3x100xf32>, tensor<24x3x100xf32>
  }
  return %l#1 : tensor<24x3x100xf32>
}

// States of which each feature has some come last, as do their rates: a strip copies the rates, and has vectors along the
// features.
// HOST-LABEL: kernel.func @states_0
// HOST: kernel.grid (%{{.*}}) in [256] step [64]
// HOST-COUNT-4: kernel.alloc : <64xf32, private>
// HOST: scf.for
// HOST-COUNT-2: kernel.load %{{.*}} -> f32
// HOST: scf.for
// HOST: arith.mulf %{{.*}} : vector<8xf32>
func.func @states(%x: tensor<5x256xf32>, %rate: tensor<256x2xf32>) -> tensor<5x256xf32> {
  %zero = graph.constant dense<0.0> : tensor<256x2xf32>
  %none = graph.constant dense<0.0> : tensor<5x256xf32>
  %l:2 = graph.loop(%i to 5) carry(%h = %zero : tensor<256x2xf32>, %a = %none : tensor<5x256xf32>)
      with(%xs = %x : tensor<5x256xf32>, %rates = %rate : tensor<256x2xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<5x256xf32>, tensor<i64>) -> tensor<256xf32>
    %1 = graph.reshape %0 : tensor<256xf32> -> tensor<256x1xf32>
    %2 = graph.expand %1 : tensor<256x1xf32> -> tensor<256x2xf32>
    %3 = graph.binary mul %h, %rates : tensor<256x2xf32>
    %4 = graph.binary add %3, %2 : tensor<256x2xf32>
    %5 = graph.reduce add %4 dims = [1] : tensor<256x2xf32> -> tensor<256xf32>
    %6 = graph.scatter set %a[%i], %5 dim = 0 : (tensor<5x256xf32>, tensor<i64>, tensor<256xf32>) -> tensor<5x256xf32>
    graph.yield %4, %6 : tensor<256x2xf32>, tensor<5x256xf32>
  }
  return %l#1 : tensor<5x256xf32>
}

// Few threads have registers to spare: each asks for what the next trips read before it computes these ones. The last
// ones are behind the loop.
// CARD-LABEL: kernel.func @ahead_0
// CARD-COUNT-32: kernel.load %{{.*}} -> f32
// CARD: scf.for %{{.*}} iter_args({{.*}}) -> (f32, f32, f32,
// CARD-COUNT-32: kernel.load %{{.*}} -> f32
// CARD-NOT: kernel.load
// CARD: kernel.store
// CARD: scf.yield
// CARD-NOT: kernel.load
// CARD-COUNT-32: kernel.store
// As many threads as keep a card busy ask for these trips alone.
// CARD-LABEL: kernel.func @busy_0
// CARD: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CARD-COUNT-32: kernel.load %{{.*}} -> f32
func.func @ahead(%x: tensor<128x300xf32>) -> tensor<128x300xf32> {
  %zero = graph.constant dense<0.0> : tensor<300xf32>
  %none = graph.constant dense<0.0> : tensor<128x300xf32>
  %l:2 = graph.loop(%i to 128) carry(%h = %zero : tensor<300xf32>, %a = %none : tensor<128x300xf32>)
      with(%xs = %x : tensor<128x300xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<128x300xf32>, tensor<i64>) -> tensor<300xf32>
    %1 = graph.binary mul %h, %0 : tensor<300xf32>
    %2 = graph.binary add %1, %0 : tensor<300xf32>
    %3 = graph.scatter set %a[%i], %2 dim = 0 : (tensor<128x300xf32>, tensor<i64>, tensor<300xf32>) -> tensor<128x300xf32>
    graph.yield %2, %3 : tensor<300xf32>, tensor<128x300xf32>
  }
  return %l#1 : tensor<128x300xf32>
}
func.func @busy(%x: tensor<128x300000xf32>) -> tensor<128x300000xf32> {
  %zero = graph.constant dense<0.0> : tensor<300000xf32>
  %none = graph.constant dense<0.0> : tensor<128x300000xf32>
  %l:2 = graph.loop(%i to 128) carry(%h = %zero : tensor<300000xf32>, %a = %none : tensor<128x300000xf32>)
      with(%xs = %x : tensor<128x300000xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<128x300000xf32>, tensor<i64>) -> tensor<300000xf32>
    %1 = graph.binary mul %h, %0 : tensor<300000xf32>
    %2 = graph.binary add %1, %0 : tensor<300000xf32>
    %3 = graph.scatter set %a[%i], %2 dim = 0 : (tensor<128x300000xf32>, tensor<i64>, tensor<300000xf32>) -> tensor<128x300000xf32>
    graph.yield %2, %3 : tensor<300000xf32>, tensor<128x300000xf32>
  }
  return %l#1 : tensor<128x300000xf32>
}
