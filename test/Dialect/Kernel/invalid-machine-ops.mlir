// RUN: zyx-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

kernel.func @f() {
  kernel.roles {
    // expected-error@+1 {{stands in kernel.roles, which holds kernel.role ops only}}
    %c = arith.constant 0 : index
  }
  kernel.return
}

// -----

kernel.func @f() {
  kernel.roles {
    // expected-error@+1 {{has one argument, the index of the instance}}
    kernel.role "a" count 1 threads 32 {
    }
  }
  kernel.return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<4x8x8x64xbf16, global>, %i: index, %bars: !kernel.barriers<2>) {
  // expected-error@+1 {{has 1 offsets in windows of 2 dimensions}}
  kernel.async_load %g[%i, %i, %i, %i] pixels <low = [0, 0] high = [0, 0] steps = [1, 1]> at [%i] to %s signal %bars[%i] : !kernel.view<4x8x8x64xbf16, global>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.barriers<2>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<4x8x8x64xbf16, global>, %i: index, %bars: !kernel.barriers<2>) {
  // expected-error@+1 {{copies 1 dimensions of pixels of}}
  kernel.async_load %g[%i, %i, %i, %i] pixels <low = [0] high = [0] steps = [1]> at [%i] to %s signal %bars[%i] : !kernel.view<4x8x8x64xbf16, global>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.barriers<2>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{copies between a global view and a shared one, not}}
  kernel.async_load %g[%i, %i] to %p signal %bars[%i] : !kernel.view<?x?xbf16, global>, !kernel.view<64x64xbf16, private>, !kernel.barriers<2>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error-re@+1 {{copies a box of {{.*}} as}}
  kernel.async_store %w to %g[%i, %i] : !kernel.view<64x64xf32, shared>, !kernel.view<?x?xbf16, global>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{has 1 indices for a view of rank 2}}
  kernel.async_load %g[%i] to %s signal %bars[%i] : !kernel.view<?x?xbf16, global>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.barriers<2>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{contracts matrices}}
  %r = kernel.mma_async %s3, %s : !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>> -> tensor<64x64xf32, #kernel.frag<wgmma_acc>>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{contracts [64, 64] with [32, 64] into}}
  %r = kernel.mma_async %s, %b : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>> -> tensor<64x64xf32, #kernel.frag<wgmma_acc>>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{cannot transpose a tile that lies in registers}}
  %r = kernel.mma_async %a transposed, %s : tensor<64x64xbf16, #kernel.frag<wgmma_a>>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>> -> tensor<64x64xf32, #kernel.frag<wgmma_acc>>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{needs an accumulator in registers (#kernel.frag), not}}
  %r = kernel.mma_async %s, %s : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>> -> tensor<64x64xf32>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{accumulates 'tensor<64x64xf32>' into}}
  %r = kernel.mma_async %s, %s acc %plain : tensor<64x64xf32> : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>> -> tensor<64x64xf32, #kernel.frag<wgmma_acc>>
  return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %p: !kernel.view<64x64xbf16, private>, %w: !kernel.view<64x64xf32, shared>, %i: index, %bars: !kernel.barriers<2>, %acc: tensor<64x64xf32, #kernel.frag<wgmma_acc>>, %a: tensor<64x64xbf16, #kernel.frag<wgmma_a>>, %s3: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %b: !kernel.view<32x64xbf16, shared, #kernel.shared<swizzle = 128>>, %plain: tensor<64x64xf32>) {
  // expected-error@+1 {{gives back the accumulators that it takes}}
  %r = "kernel.mma_wait"(%acc) <{pending = 0 : i64}> : (tensor<64x64xf32, #kernel.frag<wgmma_acc>>) -> tensor<64x64xf32>
  return
}

// -----

kernel.func @turned_into_the_same() {
  %f = kernel.alloc : !kernel.view<64x32xf32, shared>
  %t = kernel.alloc : !kernel.view<64x32xf32, shared>
  // expected-error @below {{transposes one shared matrix into another, not}}
  kernel.transpose_shared %f to %t : !kernel.view<64x32xf32, shared> to !kernel.view<64x32xf32, shared>
  kernel.return
}

// -----

func.func @f(%s: !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %i: index) {
  // expected-error@+1 {{says of 1 dimensions of 2 whether all elements are inside}}
  kernel.store_shared %s to %g[%i, %i] in_bounds [true] : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<?x?xbf16, global>
  return
}

// -----

func.func @f(%s: !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, %g: !kernel.view<?x?xbf16, global>, %i: index) {
  // expected-error@+1 {{writes a matrix of rows, not}}
  kernel.store_shared %s to %g[%i, %i] in_bounds [true, true] : !kernel.view<2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<?x?xbf16, global>
  return
}
