// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

// expected-error @below {{needs 1200000 bytes of shared memory; sm_90a has 232448}}
kernel.func @too_much() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %a = kernel.alloc : !kernel.view<300000xf32, shared>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

// expected-error @below {{a cluster has at most 8 workgroups, not 16}}
kernel.func @cluster() attributes {form = #kernel.form<machine>, threads = 128 : i64, cluster = 16 : i64} {
  
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

// expected-error @below {{a workgroup has at most 1024 threads, not 2048}}
kernel.func @threads() attributes {form = #kernel.form<machine>, threads = 2048 : i64} {
  
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[8] strides [1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @transpose() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  // expected-error @below {{has no lowering to NVVM}}
  %u = kernel.transpose %t order [1, 0] : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @grid_rank() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{has 4 dimensions; a grid of CUDA has at most three}}
  kernel.grid (%a, %b, %c, %d) in [2, 2, 2, 2] step [1, 1, 1, 1] {
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @grid_extent(%n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %m = arith.addi %n, %n : index
  // expected-error @below {{has an extent that is no argument of the kernel}}
  kernel.grid (%a) in [%m] step [1] {
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @single_vote() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %true = arith.constant dense<true> : tensor<64xi1, #row>
  kernel.elect {
  // expected-error @below {{is asked by one thread only}}
  %any = kernel.any %true : tensor<64xi1, #row>
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @single_barrier() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  kernel.elect {
  // expected-error @below {{is met by one thread only}}
  kernel.barrier workgroup
  }
  kernel.return
}

// -----

kernel.func @counted_barrier() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{of some threads of a workgroup stands in a kernel of the machine form}}
  kernel.barrier workgroup threads 64
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @barrier_in_role() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  kernel.roles {
  kernel.role "some" count 1 threads 64 {
  ^bb0(%instance: index):
  // expected-error @below {{of the workgroup inside a role waits for threads that run other code}}
  kernel.barrier workgroup
  }
  kernel.role "others" count 1 threads 64 {
  ^bb0(%instance: index):
  }
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @role_barrier() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{of a role stands outside of roles}}
  kernel.barrier role
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @cluster_barrier() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{of clusters is not lowered to NVVM}}
  kernel.barrier cluster
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @no_warps() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  kernel.roles {
  // expected-error @below {{has instances of 100 threads, no whole warps}}
  kernel.role "all" count 1 threads 100 {
  ^bb0(%instance: index):
  }
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @threads_of_roles() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{have 256 threads together, the kernel 128}}
  kernel.roles {
  kernel.role "all" count 2 threads 128 {
  ^bb0(%instance: index):
  
  }
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @many_roles() attributes {form = #kernel.form<machine>, threads = 512 : i64} {
  // expected-error @below {{have 16 instances; there are barriers for 15}}
  kernel.roles {
  kernel.role "all" count 16 threads 32 {
  ^bb0(%instance: index):
  
  }
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @after_roles() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{are followed by code, which is not lowered to NVVM}}
  kernel.roles {
  kernel.role "all" count 1 threads 128 {
  ^bb0(%instance: index):
  
  }
  }
  kernel.barrier workgroup
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @carried(%n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = kernel.barriers arrivals 1 : !kernel.barriers<1>
  // expected-error @below {{carries '!kernel.barriers<1>', which no thread can hold}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b) -> (!kernel.barriers<1>) {
  scf.yield %x : !kernel.barriers<1>
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @chosen(%c: i1) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %b = kernel.barriers arrivals 1 : !kernel.barriers<1>
  // expected-error @below {{gives '!kernel.barriers<1>', which no thread can hold}}
  %r = scf.if %c -> (!kernel.barriers<1>) {
  scf.yield %b : !kernel.barriers<1>
  } else {
  scf.yield %b : !kernel.barriers<1>
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @private() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{of private memory is not lowered to NVVM}}
  %a = kernel.alloc : !kernel.view<8xf32, private>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @five_rows() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{is swizzled and needs a multiple of 8 rows}}
  %a = kernel.alloc : !kernel.view<5x64xbf16, shared, #sw>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @row(%n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.alloc : !kernel.view<128x128xbf16, shared, #sw>
  // expected-error @below {{begins at a row that is no visible multiple of 8 of swizzled memory}}
  %t = kernel.subview %a[%n, %c0] : !kernel.view<128x128xbf16, shared, #sw> -> !kernel.view<64x64xbf16, shared, #sw>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @column() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %a = kernel.alloc : !kernel.view<128x128xbf16, shared, #sw>
  // expected-error @below {{begins at a column that is no multiple of 64, the width of a swizzled panel}}
  %t = kernel.subview %a[%c0, %c32] : !kernel.view<128x128xbf16, shared, #sw> -> !kernel.view<64x64xbf16, shared, #sw>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @barriers_in_role() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  kernel.roles {
  kernel.role "all" count 1 threads 128 {
  ^bb0(%instance: index):
  // expected-error @below {{stands inside a role, where nobody else would see it made}}
  %b = kernel.barriers arrivals 1 : !kernel.barriers<1>
  }
  }
  kernel.return
}

// -----

kernel.func @some_threads() attributes {form = #kernel.form<machine>, threads = 128 : i64, cluster = 2 : i64} {
  kernel.elect {
    // expected-error @below {{is run by some threads only}}
    kernel.cluster_arrive
  }
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>

kernel.func @sent_halves() attributes {form = #kernel.form<machine>, threads = 128 : i64, cluster = 2 : i64} {
  %s = kernel.alloc : !kernel.view<64x32xf32, shared>
  // expected-error @below {{moves 'tensor<64x32xbf16, #kernel.frag<wgmma_acc>>'; groups of four f32 or i32 in each thread are moved}}
  %t = kernel.cluster_receive %s : !kernel.view<64x32xf32, shared> -> tensor<64x32xbf16, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>

kernel.func @sent_to_panels() attributes {form = #kernel.form<machine>, threads = 128 : i64, cluster = 2 : i64} {
  %s = kernel.alloc : !kernel.view<64x32xf32, shared, #kernel.shared<swizzle = 128>>
  // expected-error @below {{moves registers through shared memory that is not swizzled}}
  %t = kernel.cluster_receive %s : !kernel.view<64x32xf32, shared, #kernel.shared<swizzle = 128>> -> tensor<64x32xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>

kernel.func @sent_elsewhere() attributes {form = #kernel.form<machine>, threads = 128 : i64, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !kernel.view<64x32xf32, shared>
  %b = kernel.barriers arrivals 1 : !kernel.barriers<1>
  %t = arith.constant dense<0.0> : tensor<64x16xf32, #acc>
  // expected-error @below {{moves registers through memory of another size}}
  kernel.cluster_send %t to %s of %c0 signal %b[%c0] : tensor<64x16xf32, #acc>, !kernel.view<64x32xf32, shared>, !kernel.barriers<1>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @computed_size(%x: !kernel.buffer<bf16, global>, %m: index, %n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %k = arith.addi %m, %m : index
  %v = kernel.view %x[%k, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{copies through a view that is not made of arguments of the kernel}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared, #sw>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>, #kernel.block<[s0 * s1] strides [1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @two_blocks(%x: !kernel.buffer<bf16, global>, %m: index, %n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%m, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{copies through a map that is not one whole block of 1 to 5 dimensions}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared, #sw>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [1, s0]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @columns(%x: !kernel.buffer<bf16, global>, %m: index, %n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%m, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{copies through a view whose rows are not contiguous}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared, #sw>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [67, 1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @odd_stride(%x: !kernel.buffer<bf16, global>, %m: index, %n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%m, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{copies through a view with a stride of 67 elements; strides are multiples of 16 bytes}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared, #sw>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @plain_slot(%x: !kernel.buffer<bf16, global>, %m: index, %n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%m, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared>
  // expected-error @below {{copies to or from shared memory that is not swizzled, which is not lowered}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @large_box(%x: !kernel.buffer<bf16, global>, %m: index, %n: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%m, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %s = kernel.alloc : !kernel.view<512x64xbf16, shared, #sw>
  // expected-error @below {{copies a box of 512 elements; at most 256 in a dimension go at once}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<512x64xbf16, shared, #sw>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#map = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>]>
#sw = #kernel.shared<swizzle = 128>

kernel.func @lost_slot(%x: !kernel.buffer<bf16, global>, %m: index, %n: index, %c: i1) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%m, %n] map #map : !kernel.buffer<bf16, global> -> !kernel.view<?x?xbf16, global>
  %a = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  %s = arith.select %c, %a, %a : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{needs views whose kernel.view and kernel.alloc are in sight}}
  kernel.async_store %s to %v[%c0, %c0] : !kernel.view<64x64xbf16, shared, #sw>, !kernel.view<?x?xbf16, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @vector_constant() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{has the type 'vector<4xf32>', which no thread can hold}}
  %v = arith.constant dense<0.0> : vector<4xf32>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @wide_index() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{4294967296 does not fit an index of 32 bits}}
  %v = arith.constant 4294967296 : index
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @exact_exp2() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  // expected-error @below {{has no instruction}}
  %e = math.exp2 %t : tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @registers() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %c = arith.constant dense<true> : tensor<64x64xi1, #acc>
  // expected-error @below {{has tiles that a thread holds in different numbers of registers}}
  %e = arith.select %c, %t, %t : tensor<64x64xi1, #acc>, tensor<64x64xbf16, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @values() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{is a tile of different values, which is not lowered}}
  %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32, #row>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @unknown_layout(%x: f32) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{has the type 'tensor<16x16xf32, #kernel.frag<wgmma_acc>>', which no thread can hold}}
  %t = kernel.splat %x : f32 -> tensor<16x16xf32, #kernel.frag<wgmma_acc>>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
kernel.func @iota() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  // expected-error @below {{is not of 32-bit integers or f32 in an accumulator, its rows or its columns}}
  %t = kernel.iota dim 0 : tensor<64x64xi64, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @extract() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  // expected-error @below {{takes whole rows of an accumulator, from a column that is a multiple of 8}}
  %e = kernel.extract %t[0, 4] : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @convert() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  // expected-error @below {{is not lowered}}
  %e = kernel.convert %t : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #kernel.frag<wgmma_a>>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @reduce() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #kernel.frag<wgmma_a>>
  // expected-error @below {{is not along the rows of an f32 accumulator}}
  %e = kernel.reduce add %t dims [1] : tensor<64x64xf32, #kernel.frag<wgmma_a>> -> tensor<64xf32, #row>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @broadcast() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64xf32, #row>
  // expected-error @below {{is not of a column along the rows of an accumulator, or of a row along its columns}}
  %e = kernel.broadcast %t dims [0] : tensor<64xf32, #row> -> tensor<64x64xf32, #kernel.frag<wgmma_a>>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @store_f32() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %s = kernel.alloc : !kernel.view<64x64xf32, shared>
  // expected-error @below {{is not of a 16-bit accumulator to shared memory with a swizzle of 128}}
  kernel.store %t, %s[%c0, %c0] : tensor<64x64xf32, #acc>, !kernel.view<64x64xf32, shared>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @store_part() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %s = kernel.alloc : !kernel.view<128x64xbf16, shared, #sw>
  // expected-error @below {{does not fill the rows of its view, from a column that is a multiple of 16}}
  kernel.store %t, %s[%c0, %c0] : tensor<64x64xbf16, #acc>, !kernel.view<128x64xbf16, shared, #sw>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @one_thread() attributes {form = #kernel.form<machine>} {
  %l = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  %r = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{needs 128 threads, not 1}}
  %d = kernel.mma_async %l, %r transposed : !kernel.view<64x64xbf16, shared, #sw>, !kernel.view<64x64xbf16, shared, #sw> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @rows() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<128x64xbf16, shared, #sw>
  %r = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{has no instruction; there are 64 rows of up to 256 f32 or i32}}
  %d = kernel.mma_async %l, %r transposed : !kernel.view<128x64xbf16, shared, #sw>, !kernel.view<64x64xbf16, shared, #sw> -> tensor<128x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

#half = #kernel.shared<swizzle = 64>
kernel.func @transposed() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<64x64xbf16, shared, #half>
  %r = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{takes a transposed left factor out of panels of 64 columns, not of 32}}
  %d = kernel.mma_async %l transposed, %r transposed : !kernel.view<64x64xbf16, shared, #half>, !kernel.view<64x64xbf16, shared, #sw> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @f64_factors() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<64x16xf64, shared, #sw>
  %r = kernel.alloc : !kernel.view<64x16xf64, shared, #sw>
  // expected-error @below {{of 'f64' and 'f64' into 'f32' is not lowered; bf16, f16, f8, and f32 as tf32, into f32 are, and i8 into i32}}
  %d = kernel.mma_async %l, %r transposed : !kernel.view<64x16xf64, shared, #sw>, !kernel.view<64x16xf64, shared, #sw> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @i8_sums() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<64x128xi8, shared, #sw>
  %r = kernel.alloc : !kernel.view<64x128xi8, shared, #sw>
  // expected-error @below {{of 'i8' and 'i8' into 'f32' is not lowered}}
  %d = kernel.mma_async %l, %r transposed : !kernel.view<64x128xi8, shared, #sw>, !kernel.view<64x128xi8, shared, #sw> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @across() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<64x128xi8, shared, #sw>
  %r = kernel.alloc : !kernel.view<128x128xi8, shared, #sw>
  // expected-error @below {{of 8 bits takes both factors from memory, along the contraction}}
  %d = kernel.mma_async %l, %r : !kernel.view<64x128xi8, shared, #sw>, !kernel.view<128x128xi8, shared, #sw> -> tensor<64x128xi32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @acc_as_factor() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  %r = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  // expected-error @below {{takes its left factor from registers as #kernel.frag<wgmma_a>}}
  %d = kernel.mma_async %l, %r transposed : tensor<64x64xbf16, #acc>, !kernel.view<64x64xbf16, shared, #sw> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @plain_factors() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<64x64xbf16, shared>
  %r = kernel.alloc : !kernel.view<64x64xbf16, shared>
  // expected-error @below {{takes factors from swizzled shared memory}}
  %d = kernel.mma_async %l, %r transposed : !kernel.view<64x64xbf16, shared>, !kernel.view<64x64xbf16, shared> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @short() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %l = kernel.alloc : !kernel.view<64x64xbf16, shared, #sw>
  %r = kernel.alloc : !kernel.view<8x64xbf16, shared, #sw>
  %t = arith.constant dense<1.0> : tensor<64x8xbf16, #kernel.frag<wgmma_a>>
  // expected-error @below {{contracts 8 elements, no multiple of 16}}
  %d = kernel.mma_async %t, %r : tensor<64x8xbf16, #kernel.frag<wgmma_a>>, !kernel.view<8x64xbf16, shared, #sw> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 1, #acc>
#sw = #kernel.shared<swizzle = 128>

kernel.func @wait_bf16() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
  // expected-error @below {{which is no f32 or i32 accumulator}}
  %w = kernel.mma_wait pending 0 %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @global_dynamic(%x: !x, %m: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %v = kernel.view %x[%m] map <[<[s0, 64] strides [64, 1]>]> : !x -> !kernel.view<?x64xf32, global>
  // expected-error @below {{moves elements through a view that is not one whole block of known shape}}
  kernel.store %t, %v[%c0, %c0] : tensor<64x64xf32, #acc>, !kernel.view<?x64xf32, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @global_stride(%x: !x, %m: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %v = kernel.view %x[%m] map <[<[64, 64] strides [s0, 1]>]> : !x -> !kernel.view<64x64xf32, global>
  // expected-error @below {{moves elements through a view whose strides are not known}}
  kernel.store %t, %v[%c0, %c0] : tensor<64x64xf32, #acc>, !kernel.view<64x64xf32, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @global_offset(%x: !x, %m: index) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %v = kernel.view %x[%m] map <[<[64, 64] strides [64, 1] offset s0>]> : !x -> !kernel.view<64x64xf32, global>
  // expected-error @below {{moves elements through a view whose offset is not known}}
  kernel.store %t, %v[%c0, %c0] : tensor<64x64xf32, #acc>, !kernel.view<64x64xf32, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @global_frag(%x: !x) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %v = kernel.view %x map <[<[32, 64] strides [64, 1]>]> : !x -> !kernel.view<32x64xf32, global>
  // expected-error @below {{moves 'tensor<32x64xf32, #kernel.frag<wgmma_acc>>', which no thread can hold}}
  %u = kernel.load %v[%c0, %c0] : !kernel.view<32x64xf32, global> -> tensor<32x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @global_threads(%x: !x) attributes {form = #kernel.form<machine>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %v = kernel.view %x map <[<[64, 64] strides [64, 1]>]> : !x -> !kernel.view<64x64xf32, global>
  // expected-error @below {{needs 128 threads, not 64}}
  kernel.store %t, %v[%c0, %c0] : tensor<64x64xf32, #acc>, !kernel.view<64x64xf32, global>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @shared_load() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %v = kernel.alloc : !kernel.view<64x64xf32, shared>
  // expected-error @below {{is not a plain one of global memory}}
  %u = kernel.load %v[%c0, %c0] : !kernel.view<64x64xf32, shared> -> tensor<64x64xf32, #acc>
  kernel.return
}

// -----

#acc = #kernel.frag<wgmma_acc>
!x = !kernel.buffer<f32, global>

kernel.func @scalar_store(%x: !x) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %one = arith.constant 1.0 : f32
  %v = kernel.view %x map <[<[64, 64] strides [64, 1]>]> : !x -> !kernel.view<64x64xf32, global>
  // expected-error @below {{is not of a tile to global memory}}
  kernel.store %one, %v[%c0, %c0] : f32, !kernel.view<64x64xf32, global>
  kernel.return
}

// -----

kernel.func @products_of_a_half() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>
  %r = kernel.alloc : !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>
  %z = arith.constant dense<0.0> : tensor<64x128xf32, #kernel.frag<block>>
  // expected-error @below {{takes rows of 64 and of 128 f32, a multiple of 8, from shared memory with a swizzle of 128}}
  %d = kernel.outer_products %l, %r acc %z : !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>, !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>> -> tensor<64x128xf32, #kernel.frag<block>>
  kernel.return
}

// -----

kernel.func @products_of_integers() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %l = kernel.alloc : !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>
  %r = kernel.alloc : !kernel.view<32x128xf32, shared, #kernel.shared<swizzle = 128>>
  %z = arith.constant dense<0> : tensor<64x128xi32, #kernel.frag<block>>
  // expected-error @below {{is not lowered; blocks of 64 x 128 and 32 x 128 of f32 are}}
  %d = kernel.outer_products %l, %r acc %z : !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>, !kernel.view<32x128xf32, shared, #kernel.shared<swizzle = 128>> -> tensor<64x128xi32, #kernel.frag<block>>
  kernel.return
}

// -----

kernel.func @turned_without_swizzle() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %f = kernel.alloc : !kernel.view<64x32xf32, shared, #kernel.shared<swizzle = 128>>
  %t = kernel.alloc : !kernel.view<32x64xf32, shared>
  // expected-error @below {{takes a multiple of 64 rows of 32 f32 from and to shared memory with a swizzle of 128}}
  kernel.transpose_shared %f to %t : !kernel.view<64x32xf32, shared, #kernel.shared<swizzle = 128>> to !kernel.view<32x64xf32, shared>
  kernel.return
}

// -----

kernel.func @turned_by_a_warp() attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %f = kernel.alloc : !kernel.view<64x32xf32, shared, #kernel.shared<swizzle = 128>>
  %t = kernel.alloc : !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>
  // expected-error @below {{needs 128 threads, not 32}}
  kernel.transpose_shared %f to %t : !kernel.view<64x32xf32, shared, #kernel.shared<swizzle = 128>> to !kernel.view<32x64xf32, shared, #kernel.shared<swizzle = 128>>
  kernel.return
}

// -----

kernel.func @stored_without_swizzle(%y: !kernel.buffer<bf16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %ys = kernel.view %y map <[<[64, 67] strides [67, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x67xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared>
  // expected-error @below {{is not of rows of 128 bytes of 16-bit elements in shared memory with a swizzle of 128}}
  kernel.store_shared %s to %ys[%c0, %c0] in_bounds [true, false] : !kernel.view<64x64xbf16, shared>, !kernel.view<64x67xbf16, global>
  kernel.return
}

// -----

kernel.func @stored_as_blocks(%y: !kernel.buffer<bf16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %ys = kernel.view %y map <[<[64, 60] strides [60, 1]>, <[3840] strides [2]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x60xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>
  // expected-error @below {{moves elements through a view that is not one whole block of known shape}}
  kernel.store_shared %s to %ys[%c0, %c0] in_bounds [true, false] : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<64x60xbf16, global>
  kernel.return
}

// -----

kernel.func @stored_apart(%y: !kernel.buffer<bf16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %ys = kernel.view %y map <[<[64, 67] strides [134, 2]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x67xbf16, global>
  %s = kernel.alloc : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>
  // expected-error @below {{writes through a view whose rows are no runs of memory}}
  kernel.store_shared %s to %ys[%c0, %c0] in_bounds [true, false] : !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>, !kernel.view<64x67xbf16, global>
  kernel.return
}
