// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-join-launches --remarks-filter='zyx-schedule' --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=gfx942 -zyx-schedule-join-launches | FileCheck %s --check-prefix=ALONE

// Two sums of what one kernel makes are one launch. What they read twice is one argument. A third kernel, which need not wait
// for the sums, runs beside what comes behind them, which takes longer. A kernel that updates stays alone.
// CHECK: 2 kernels are one launch: add_and_add
// CHECK: 2 kernels are one launch: double_and_double
// CHECK-LABEL: plan.func @main
// CHECK: plan.launch @double ins(%arg0
// CHECK: plan.launch @add_and_add ins(%[[Y:.*]], %arg0 : {{.*}}) outs(%[[S:.*]], %arg1 : {{.*}}) flops 40
// CHECK: plan.launch @double_and_double ins(%[[S]], %[[Y]] : {{.*}}) outs(%arg2, %arg3 : {{.*}}) flops 200
// CHECK: plan.launch @double {{.*}} updates
// CHECK-NOT: plan.launch
// ALONE-LABEL: plan.func @main
// ALONE-NOT: _and_
plan.func @main(%x: !plan.buffer<f32[64]> {plan.input = "x"}, %a: !plan.buffer<f32[64]> {plan.output = "a"},
                %b: !plan.buffer<f32[64]> {plan.output = "b"}, %c: !plan.buffer<f32[64]> {plan.output = "c"},
                %d: !plan.buffer<f32[64]> {plan.output = "d"}) {
  %y = plan.alloc : !plan.buffer<f32[64]>
  %s = plan.alloc : !plan.buffer<f32[64]>
  %0 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%y : !plan.buffer<f32[64]>) flops 100
  %1 = plan.launch @add ins(%y, %x : !plan.buffer<f32[64]>, !plan.buffer<f32[64]>) outs(%s : !plan.buffer<f32[64]>) flops 20
  %2 = plan.launch @add ins(%x, %y : !plan.buffer<f32[64]>, !plan.buffer<f32[64]>) outs(%a : !plan.buffer<f32[64]>) flops 20
  %3 = plan.launch @double ins(%s : !plan.buffer<f32[64]>) outs(%b : !plan.buffer<f32[64]>) flops 100
  %4 = plan.launch @double ins(%y : !plan.buffer<f32[64]>) outs(%c : !plan.buffer<f32[64]>) flops 100
  %5 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%d : !plan.buffer<f32[64]>) updates flops 100
  plan.return
}

// Within each of the bodies of a loop, by one kernel.
// CHECK-LABEL: plan.func @loop
// CHECK: plan.loop trips 4 {
// CHECK-NEXT: plan.launch @[[BOTH:double_and_double.*]] ins(
// CHECK: }, {
// CHECK-NEXT: plan.launch @[[BOTH]] ins(
plan.func @loop(%x: !plan.buffer<f32[64]> {plan.input = "x"}, %a: !plan.buffer<f32[64]> {plan.output = "a"},
                %b: !plan.buffer<f32[64]> {plan.output = "b"}) {
  %0 = plan.loop trips 4 {
    %1 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%a : !plan.buffer<f32[64]>)
    %2 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%b : !plan.buffer<f32[64]>)
  }, {
    %1 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%b : !plan.buffer<f32[64]>)
    %2 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%a : !plan.buffer<f32[64]>)
  }
  plan.return
}

// What overwrites what another one reads, or writes, waits for it.
// CHECK-LABEL: plan.func @order
// CHECK-COUNT-3: plan.launch @double ins(
plan.func @order(%x: !plan.buffer<f32[64]> {plan.input = "x"}, %a: !plan.buffer<f32[64]> {plan.output = "a"}) {
  %s = plan.alloc : !plan.buffer<f32[64]>
  %0 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%s : !plan.buffer<f32[64]>)
  %1 = plan.launch @double ins(%s : !plan.buffer<f32[64]>) outs(%a : !plan.buffer<f32[64]>)
  %2 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%s : !plan.buffer<f32[64]>)
  plan.return
}

// More threads than all registers are there for, and more workgroups than the machine has at once.
// CHECK-LABEL: plan.func @large
// CHECK: plan.launch @wide
// CHECK: plan.launch @many
// CHECK: plan.launch @many
plan.func @large(%x: !plan.buffer<f32[8388608]> {plan.input = "x"}, %a: !plan.buffer<f32[8388608]> {plan.output = "a"},
                 %b: !plan.buffer<f32[8388608]> {plan.output = "b"}, %c: !plan.buffer<f32[8388608]> {plan.output = "c"}) {
  %0 = plan.launch @wide ins(%x : !plan.buffer<f32[8388608]>) outs(%a : !plan.buffer<f32[8388608]>)
  %1 = plan.launch @many ins(%x : !plan.buffer<f32[8388608]>) outs(%b : !plan.buffer<f32[8388608]>)
  %2 = plan.launch @many ins(%x : !plan.buffer<f32[8388608]>) outs(%c : !plan.buffer<f32[8388608]>)
  plan.return
}

// Of products that take long together each keeps its registers, and so do long sums of rows: nothing is saved.
// CHECK-LABEL: plan.func @products
// CHECK: plan.launch @multiply ins
// CHECK: plan.launch @multiply ins
plan.func @products(%x: !plan.buffer<f32[392x1024]> {plan.input = "x"}, %y: !plan.buffer<f32[1024x64]> {plan.input = "y"},
                    %a: !plan.buffer<f32[392x64]> {plan.output = "a"}, %b: !plan.buffer<f32[392x64]> {plan.output = "b"}) {
  %0 = plan.launch @multiply ins(%x, %y : !plan.buffer<f32[392x1024]>, !plan.buffer<f32[1024x64]>) outs(%a : !plan.buffer<f32[392x64]>) flops 51380224
  %1 = plan.launch @multiply ins(%x, %y : !plan.buffer<f32[392x1024]>, !plan.buffer<f32[1024x64]>) outs(%b : !plan.buffer<f32[392x64]>) flops 51380224
  plan.return
}
// CHECK-LABEL: plan.func @rows
// CHECK: plan.launch @sum ins
// CHECK: plan.launch @sum ins
plan.func @rows(%x: !plan.buffer<f32[256x65536]> {plan.input = "x"}, %a: !plan.buffer<f32[256]> {plan.output = "a"},
                %b: !plan.buffer<f32[256]> {plan.output = "b"}) {
  %0 = plan.launch @sum ins(%x : !plan.buffer<f32[256x65536]>) outs(%a : !plan.buffer<f32[256]>)
  %1 = plan.launch @sum ins(%x : !plan.buffer<f32[256x65536]>) outs(%b : !plan.buffer<f32[256]>)
  plan.return
}

// What is short runs beside what is long, whose workgroups are the first ones.
// CHECK-LABEL: plan.func @first
// CHECK: plan.launch @multiply_and_double ins
// CHECK-NOT: plan.launch
plan.func @first(%x: !plan.buffer<f32[392x1024]> {plan.input = "x"}, %y: !plan.buffer<f32[1024x64]> {plan.input = "y"},
                 %z: !plan.buffer<f32[64]> {plan.input = "z"}, %a: !plan.buffer<f32[392x64]> {plan.output = "a"},
                 %b: !plan.buffer<f32[64]> {plan.output = "b"}) {
  %0 = plan.launch @double ins(%z : !plan.buffer<f32[64]>) outs(%b : !plan.buffer<f32[64]>)
  %1 = plan.launch @multiply ins(%x, %y : !plan.buffer<f32[392x1024]>, !plan.buffer<f32[1024x64]>) outs(%a : !plan.buffer<f32[392x64]>) flops 51380224
  plan.return
}

// Two launches stand between kernels that stay alone. Both go behind the second one, and what reads one of them goes behind that.
// CHECK-LABEL: plan.func @behind
// CHECK: plan.launch @double ins({{.*}} updates
// CHECK-NEXT: plan.launch @double ins({{.*}} updates
// CHECK-NEXT: plan.launch @double_and_double_and_double ins(
// CHECK-NEXT: plan.launch @double_and_double ins(
// CHECK-NEXT: plan.return
plan.func @behind(%x: !plan.buffer<f32[64]> {plan.input = "x"}, %a: !plan.buffer<f32[64]> {plan.output = "a"},
                  %b: !plan.buffer<f32[64]> {plan.output = "b"}, %c: !plan.buffer<f32[64]> {plan.output = "c"}) {
  %w = plan.alloc : !plan.buffer<f32[64]>
  %p = plan.alloc : !plan.buffer<f32[64]>
  %v = plan.alloc : !plan.buffer<f32[64]>
  %u = plan.alloc : !plan.buffer<f32[64]>
  %0 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%w : !plan.buffer<f32[64]>) updates flops 100
  %1 = plan.launch @double ins(%w : !plan.buffer<f32[64]>) outs(%p : !plan.buffer<f32[64]>) flops 100
  %2 = plan.launch @double ins(%x : !plan.buffer<f32[64]>) outs(%a : !plan.buffer<f32[64]>) flops 100
  %3 = plan.launch @double ins(%w : !plan.buffer<f32[64]>) outs(%v : !plan.buffer<f32[64]>) updates flops 100
  %4 = plan.launch @double ins(%v : !plan.buffer<f32[64]>) outs(%u : !plan.buffer<f32[64]>) flops 100
  %5 = plan.launch @double ins(%p : !plan.buffer<f32[64]>) outs(%b : !plan.buffer<f32[64]>) flops 100
  %6 = plan.launch @double ins(%u : !plan.buffer<f32[64]>) outs(%c : !plan.buffer<f32[64]>) flops 100
  plan.return
}

// CHECK: kernel.func @add_and_add(%{{.*}}: !kernel.buffer<f32, global>, {{.*}}) attributes {form = #kernel.form<lowered>, part_arguments = [array<i64: 0, 1, 2>, array<i64: 1, 0, 3>], parts = [@add, @add]} {
// CHECK-NEXT: kernel.return
kernel.func @double(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  %w = kernel.view %y map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : <64xf32, global> -> tensor<64xf32>
  %d = arith.addf %t, %t : tensor<64xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<64xf32>, <64xf32, global>
  kernel.return
}
kernel.func @add(%x: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  %u = kernel.view %z map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  %w = kernel.view %y map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : <64xf32, global> -> tensor<64xf32>
  %s = kernel.load %u[%c0] axes ["i"] in_bounds [true] : <64xf32, global> -> tensor<64xf32>
  %d = arith.addf %t, %s : tensor<64xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<64xf32>, <64xf32, global>
  kernel.return
}
kernel.func @wide(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>, threads = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8388608] strides [1]>]> : <f32, global> -> <8388608xf32, global>
  %w = kernel.view %y map <[<[8388608] strides [1]>]> : <f32, global> -> <8388608xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : <8388608xf32, global> -> tensor<8388608xf32>
  %d = arith.addf %t, %t : tensor<8388608xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<8388608xf32>, <8388608xf32, global>
  kernel.return
}
kernel.func @many(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8388608] strides [1]>]> : <f32, global> -> <8388608xf32, global>
  %w = kernel.view %y map <[<[8388608] strides [1]>]> : <f32, global> -> <8388608xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : <8388608xf32, global> -> tensor<8388608xf32>
  %d = arith.subf %t, %t : tensor<8388608xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<8388608xf32>, <8388608xf32, global>
  kernel.return
}
kernel.func @multiply(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"m", 16>, #kernel.grid_step<"n", 16>, #kernel.block_step<<4 x 2, rows 4, depth 128, pack lhs rhs>>]>, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %u = kernel.view %x map <[<[392, 1024] strides [1024, 1]>]> : <f32, global> -> <392x1024xf32, global>
  %v = kernel.view %y map <[<[1024, 64] strides [64, 1]>]> : <f32, global> -> <1024x64xf32, global>
  %w = kernel.view %z map <[<[392, 64] strides [64, 1]>]> : <f32, global> -> <392x64xf32, global>
  %s = kernel.load %u[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : <392x1024xf32, global> -> tensor<392x1024xf32>
  %t = kernel.load %v[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : <1024x64xf32, global> -> tensor<1024x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<392x64xf32>
  %d = kernel.dot %s, %t, %zero : tensor<392x1024xf32>, tensor<1024x64xf32> -> tensor<392x64xf32>
  kernel.store %d, %w[%c0, %c0] in_bounds [true, true] : tensor<392x64xf32>, <392x64xf32, global>
  kernel.return
}
kernel.func @sum(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"i", 1>]>, threads = 512 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[256, 65536] strides [65536, 1]>]> : <f32, global> -> <256x65536xf32, global>
  %w = kernel.view %y map <[<[256] strides [1]>]> : <f32, global> -> <256xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : <256x65536xf32, global> -> tensor<256x65536xf32>
  %s = kernel.reduce add %t dims [1] : tensor<256x65536xf32> -> tensor<256xf32>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<256xf32>, <256xf32, global>
  kernel.return
}
