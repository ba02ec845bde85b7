// RUN: zyx-translate --kernel-to-target --target=vulkan %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.mlir -o %t.spv
// RUN: spirv-val --target-env vulkan1.2 %t.spv

// Of what not every device has, modules ask for what they use.
// CHECK: spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.5, [Shader, Int64, Int16, Int8, {{.*}}StorageBuffer16BitAccess, StorageBuffer8BitAccess,
// CHECK-NOT: Float64

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
#rows = #kernel.map<[#kernel.block<[s0, 64] strides [64, 1] offset 3>]>
#row = #kernel.map<[#kernel.block<[64, 128] strides [128, 1]>]>
#wide = #kernel.map<[#kernel.block<[64, 512] strides [512, 1]>]>
#sums = #kernel.map<[#kernel.block<[64] strides [1]>]>
#one = #kernel.map<[#kernel.block<[] strides []>]>
!f32 = !kernel.buffer<f32, global>
!i1 = !kernel.buffer<i1, global>
!f16 = !kernel.buffer<f16, global>

// A program is a thread: a workgroup has 64. Arguments are push constants.
// CHECK-LABEL: spirv.func @scale()
// CHECK: spirv.mlir.addressof @zyx.arguments
// CHECK: spirv.mlir.loop
// CHECK: [[V:%.*]] = spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned", 4] : f32
// CHECK: [[P:%.*]] = spirv.FMul [[V]], {{.*}} {no_contraction} : f32
// CHECK: [[L:%.*]] = spirv.FUnordLessThan [[P]], {{.*}} : f32
// CHECK: [[B:%.*]] = spirv.Select [[L]], {{.*}} : i1, i8
// CHECK: spirv.Store "PhysicalStorageBuffer" {{.*}}, [[B]] ["Aligned", 1] : i8
// CHECK-NOT: ControlBarrier
// CHECK: spirv.ExecutionMode @scale "LocalSize", 64, 1, 1
// CHECK-NEXT: spirv.ExecutionMode @scale "SignedZeroInfNanPreserve", 32
// CHECK-NEXT: spirv.ExecutionMode @scale "RoundingModeRTE", 32
// CHECK-NEXT: spirv.ExecutionMode @scale "DenormPreserve", 32
kernel.func @scale(%x: !f32, %y: !i1) attributes {form = #kernel.form<lowered>} {
  %tenth = arith.constant 0.1 : f32
  %inf = arith.constant 0x7F800000 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !i1 -> !kernel.view<1000xi1, global>
  kernel.grid (%i) in [1000] step [2] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %p = arith.mulf %v, %tenth : f32
    %l = arith.cmpf ult, %p, %inf : f32
    kernel.store %l, %ys[%i] : i1, !kernel.view<1000xi1, global>
  }
  kernel.return
}

// Who is to keep signs of zeros, infinities and NaN need not make one op of a product and a sum: kernels that only move,
// widen, multiply and add up floats do not ask for that, but for f64.
// CHECK-LABEL: spirv.func @products()
// CHECK: spirv.FMul
// CHECK: spirv.ExecutionMode @products "LocalSize", 64, 1, 1
// CHECK-NEXT: spirv.ExecutionMode @products "RoundingModeRTE", 32
// CHECK-NEXT: spirv.ExecutionMode @products "DenormPreserve", 32
kernel.func @products(%x: !f16, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %xs = kernel.view %x map #all : !f16 -> !kernel.view<1000xf16, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %h = kernel.load %xs[%i] : !kernel.view<1000xf16, global> -> f16
    %a = arith.extf %h : f16 to f32
    %b = kernel.load %ys[%i] : !kernel.view<1000xf32, global> -> f32
    %p = arith.mulf %a, %two : f32
    %s = math.fma %p, %b, %zero : f32
    kernel.store %s, %ys[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A difference may be of two infinities, and a driver could take it for 0.
// CHECK-LABEL: spirv.func @differences()
// CHECK: spirv.ExecutionMode @differences "SignedZeroInfNanPreserve", 32
// CHECK-NEXT: spirv.ExecutionMode @differences "RoundingModeRTE", 32
kernel.func @differences(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %d = arith.subf %v, %v : f32
    kernel.store %d, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// So could one with an infinite constant.
// CHECK-LABEL: spirv.func @infinite()
// CHECK: spirv.ExecutionMode @infinite "SignedZeroInfNanPreserve", 32
kernel.func @infinite(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %inf = arith.constant 0x7F800000 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %s = arith.addf %v, %inf : f32
    kernel.store %s, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A product with 0, with the number of a bool, or with a negative constant, may be one that a driver knows.
// CHECK-LABEL: spirv.func @known_factor()
// CHECK: spirv.ExecutionMode @known_factor "SignedZeroInfNanPreserve", 32
kernel.func @known_factor(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %zero = arith.constant 0.0 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %s = math.fma %v, %zero, %v : f32
    kernel.store %s, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
// CHECK-LABEL: spirv.func @bool_factor()
// CHECK: spirv.ExecutionMode @bool_factor "SignedZeroInfNanPreserve", 32
kernel.func @bool_factor(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %c7 = arith.constant 7 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %is = arith.cmpi eq, %i, %c7 : index
    %hot = arith.uitofp %is : i1 to f32
    %p = arith.mulf %hot, %v : f32
    kernel.store %p, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
// CHECK-LABEL: spirv.func @negative_factor()
// CHECK: spirv.ExecutionMode @negative_factor "SignedZeroInfNanPreserve", 32
kernel.func @negative_factor(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %less = arith.constant -1.0 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %s = math.fma %v, %less, %v : f32
    kernel.store %s, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// Small floats are bits, computed with in float and rounded after every op. Before it is rounded, a number is told from
// NaN.
// CHECK-LABEL: spirv.func @halves()
// CHECK: spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned", 2] : i16
// CHECK: spirv.FAdd {{.*}} {no_contraction} : f32
// CHECK: spirv.Store "PhysicalStorageBuffer" {{.*}} ["Aligned", 2] : i16
// CHECK: spirv.ExecutionMode @halves "SignedZeroInfNanPreserve", 32
kernel.func @halves(%x: !f16, %n: index) attributes {form = #kernel.form<lowered>} {
  %one = arith.constant 1.0 : f16
  %xs = kernel.view %x[%n] map #rows : !f16 -> !kernel.view<?x64xf16, global>
  kernel.grid (%i, %j) in [%n, 64] step [1, 1] {
    %v = kernel.load %xs[%i, %j] : !kernel.view<?x64xf16, global> -> f16
    %s = arith.addf %v, %one : f16
    kernel.store %s, %xs[%i, %j] : f16, !kernel.view<?x64xf16, global>
  }
  kernel.return
}

// A program is a workgroup: what it shares is declared at the top. The next program waits for this one's readers.
// CHECK-LABEL: spirv.func @meet()
// CHECK: spirv.mlir.loop
// CHECK: spirv.AccessChain {{.*}} : !spirv.ptr<!spirv.array<128 x f32>, Workgroup>
// CHECK: spirv.Store "Workgroup" {{.*}} ["NonPrivatePointer"] : f32
// CHECK-NEXT: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK: spirv.Load "Workgroup" {{.*}} ["NonPrivatePointer"] : f32
// CHECK: spirv.Store "PhysicalStorageBuffer"
// CHECK-NEXT: spirv.ControlBarrier
// CHECK: spirv.ExecutionMode @meet "LocalSize", 128, 1, 1
kernel.func @meet(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  %c127 = arith.constant 127 : index
  %xs = kernel.view %x map #row : !f32 -> !kernel.view<64x128xf32, global>
  %ys = kernel.view %y map #row : !f32 -> !kernel.view<64x128xf32, global>
  kernel.grid (%i) in [64] step [1] {
    %s = kernel.alloc : !kernel.view<128xf32, shared>
    %t = kernel.id thread
    %v = kernel.load %xs[%i, %t] : !kernel.view<64x128xf32, global> -> f32
    kernel.store %v, %s[%t] : f32, !kernel.view<128xf32, shared>
    kernel.barrier workgroup
    %r = arith.subi %c127, %t : index
    %o = kernel.load %s[%r] : !kernel.view<128xf32, shared> -> f32
    kernel.store %o, %ys[%i, %t] : f32, !kernel.view<64x128xf32, global>
  }
  kernel.return
}

// What threads read of a buffer that others wrote is nobody's own, and barriers show it.
// CHECK-LABEL: spirv.func @back()
// CHECK: spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned|NonPrivatePointer", 4] : f32
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
kernel.func @back(%x: !f32) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c63 = arith.constant 63 : index
  %xs = kernel.view %x map #sums : !f32 -> !kernel.view<64xf32, global>
  %t = kernel.id thread
  %v = kernel.load %xs[%t] : !kernel.view<64xf32, global> -> f32
  kernel.barrier workgroup
  %r = arith.subi %c63, %t : index
  kernel.store %v, %xs[%r] : f32, !kernel.view<64xf32, global>
  kernel.return
}

// More private memory than a thread has lies in global memory, a part for each thread.
// CHECK-LABEL: spirv.func @large()
// CHECK-NOT: spirv.Variable : !spirv.ptr<!spirv.array
// CHECK-LABEL: spirv.func @small()
// CHECK: spirv.Variable : !spirv.ptr<!spirv.array<16 x f32>, Function>
kernel.func @large(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %p = kernel.alloc : !kernel.view<1000xf32, private>
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %p[%i] : f32, !kernel.view<1000xf32, private>
    %w = kernel.load %p[%i] : !kernel.view<1000xf32, private> -> f32
    kernel.store %w, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
kernel.func @small(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %p = kernel.alloc : !kernel.view<16xf32, private>
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %p[%c0] : f32, !kernel.view<16xf32, private>
    %w = kernel.load %p[%c0] : !kernel.view<16xf32, private> -> f32
    kernel.store %w, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A vector is its lanes, which are named one by one: a mask guards each, and nothing is read or written outside.
// CHECK-LABEL: spirv.func @lanes()
// CHECK-COUNT-2: spirv.SGreaterThan
// CHECK-COUNT-2: spirv.Load "PhysicalStorageBuffer"
// CHECK-COUNT-2: spirv.FSub
// CHECK: spirv.mlir.selection
// CHECK: spirv.Store "PhysicalStorageBuffer"
kernel.func @lanes(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [2] {
    %m = vector.create_mask %n : vector<2xi1>
    %v = kernel.load %xs[%i] mask %m : vector<2xi1> : !kernel.view<1000xf32, global> -> vector<2xf32>
    %w = vector.shuffle %v, %v [1, 2] : vector<2xf32>, vector<2xf32>
    %y = arith.subf %w, %v : vector<2xf32>
    kernel.store %y, %xs[%i] mask %m : vector<2xi1> : vector<2xf32>, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// What SPIR-V leaves open is spelled out: shifts by too many digits, remainders of negative numbers.
// CHECK-LABEL: spirv.func @integers()
// CHECK: [[I:%.*]] = spirv.ULessThanEqual {{.*}} : i32
// CHECK: spirv.Select [[I]], {{.*}} : i1, i32
// CHECK: spirv.ShiftLeftLogical
// CHECK: spirv.Select [[I]], {{.*}} : i1, i32
// CHECK: [[Q:%.*]] = spirv.SDiv
// CHECK: [[M:%.*]] = spirv.IMul [[Q]]
// CHECK: spirv.ISub {{.*}}, [[M]]
// CHECK-NOT: spirv.SRem
kernel.func @integers(%x: !kernel.buffer<i32, global>) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !kernel.buffer<i32, global> -> !kernel.view<1000xi32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi32, global> -> i32
    %s = arith.shli %v, %v : i32
    %r = arith.remsi %s, %v : i32
    kernel.store %r, %xs[%i] : i32, !kernel.view<1000xi32, global>
  }
  kernel.return
}

// Indices and counters that fit have 32 bits, and what is left of a division is one op.
// CHECK-LABEL: spirv.func @turns()
// CHECK: [[P:%.*]] = spirv.{{[SU]}}Convert {{.*}} : i64 to i32
// CHECK: [[J:%.*]] = spirv.UMod [[P]], %{{.*}} : i32
// CHECK: spirv.mlir.loop
// CHECK: ([[C:%.*]]: i32):
// CHECK: spirv.SLessThan [[C]], %{{.*}} : i32
// CHECK: ([[I:%.*]]: i32):
// CHECK: [[S:%.*]] = spirv.IAdd {{.*}}, [[I]] : i32
// CHECK: spirv.UMod [[S]], %{{.*}} : i32
// CHECK-NOT: spirv.ISub
// CHECK-NOT: spirv.UDiv {{.*}} : i64
// CHECK: spirv.EntryPoint "GLCompute" @turns
kernel.func @turns(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %xs = kernel.view %x map #row : !f32 -> !kernel.view<64x128xf32, global>
  %ys = kernel.view %y map #row : !f32 -> !kernel.view<64x128xf32, global>
  kernel.grid (%i, %j) in [64, 128] step [2, 2] {
    scf.for %k = %c0 to %c2 step %c1 {
      %s = arith.addi %i, %k : index
      %t = arith.remui %s, %c2 : index
      %v = kernel.load %xs[%t, %j] : !kernel.view<64x128xf32, global> -> f32
      kernel.store %v, %ys[%s, %j] : f32, !kernel.view<64x128xf32, global>
    }
  }
  kernel.return
}

// A driver does not see zeros that are added and multiplied with: they are made of an argument.
// CHECK-LABEL: spirv.func @zeros()
// CHECK-COUNT-4: spirv.Load "PushConstant" {{.*}} : i64
// CHECK: [[Z:%.*]] = spirv.Load "PushConstant" {{.*}} : i64
// CHECK: [[N:%.*]] = spirv.{{[SU]}}Convert [[Z]] : i64 to i32
// CHECK: [[F:%.*]] = spirv.Bitcast [[N]] : i32 to f32
// CHECK: spirv.FAdd {{.*}}, [[F]] {no_contraction} : f32
kernel.func @zeros(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %zero = arith.constant 0.0 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %s = arith.addf %v, %zero : f32
    kernel.store %s, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// No driver divides integers of 64 bits: those of 32 are, where both fit. Powers of two are shifts and masks.
// CHECK-LABEL: spirv.func @divided()
// CHECK-NOT: spirv.U{{Div|Mod}} {{.*}} : i64
// CHECK: spirv.UMod {{.*}} : i32
// CHECK-NOT: spirv.U{{Div|Mod}} {{.*}} : i64
// CHECK: spirv.ShiftRightLogical
// CHECK-NOT: spirv.U{{Div|Mod}} {{.*}} : i64
// CHECK: spirv.Return
kernel.func @divided(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %c22 = arith.constant 22 : index
  %c11 = arith.constant 11 : index
  %c2 = arith.constant 2 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %below = arith.subi %i, %c22 : index
    %rest = arith.remui %below, %c11 : index
    %half = arith.divui %below, %c2 : index
    %bit = arith.andi %half, %c2 : index
    %at = arith.addi %rest, %bit : index
    %v = kernel.load %xs[%at] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// More than 12 buffers and scalars are no push constants: those are read at the address that is one.
// CHECK-LABEL: spirv.func @many()
// CHECK: [[A:%.*]] = spirv.Load "PushConstant" {{.*}} : i64
// CHECK-NOT: spirv.Load "PushConstant"
// CHECK: spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned", 8] : i64
kernel.func @many(%x: !f32, %0: index, %1: index, %2: index, %3: index, %4: index, %5: index, %6: index, %7: index,
                  %8: index, %9: index, %10: index, %11: index) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [%11] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %xs[%10] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// Elements that lie together are one access, of shared memory, too, whose arrays have vectors: of a vector of eight
// parts, and of a single one its lane.
// CHECK-LABEL: spirv.func @vectors()
// CHECK: [[V:%.*]] = spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned", 16] : vector<4xf32>
// CHECK-NOT: spirv.UDiv
// CHECK: spirv.Store "Workgroup" {{.*}}, [[V]] ["NonPrivatePointer"] : vector<4xf32>
// CHECK: spirv.ControlBarrier
// CHECK: [[I:%.*]] = spirv.UDiv {{.*}}, {{%cst4_i32.*}} : i32
// CHECK: [[L:%.*]] = spirv.UMod {{.*}}, {{%cst4_i32.*}} : i32
// CHECK: spirv.AccessChain {{.*}}{{\[}}[[I]], [[L]]{{\]}} : !spirv.ptr<!spirv.array<128 x vector<4xf32>>, Workgroup>, i32, i32 -> !spirv.ptr<f32, Workgroup>
// CHECK: spirv.CompositeConstruct
// CHECK: spirv.Store "PhysicalStorageBuffer" {{.*}} ["Aligned", 16] : vector<4xf32>
kernel.func @vectors(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  %c4 = arith.constant 4 : index
  %c511 = arith.constant 511 : index
  %xs = kernel.view %x map #wide : !f32 -> !kernel.view<64x512xf32, global>
  %ys = kernel.view %y map #wide : !f32 -> !kernel.view<64x512xf32, global>
  kernel.grid (%i) in [64] step [1] {
    %s = kernel.alloc : !kernel.view<512xf32, shared>
    %t = kernel.id thread
    %at = arith.muli %t, %c4 : index
    %v = kernel.load %xs[%i, %at] : !kernel.view<64x512xf32, global> -> vector<4xf32>
    kernel.store %v, %s[%at] : vector<4xf32>, !kernel.view<512xf32, shared>
    kernel.barrier workgroup
    %r = arith.subi %c511, %t : index
    %o = kernel.load %s[%r] : !kernel.view<512xf32, shared> -> f32
    %all = vector.broadcast %o : f32 to vector<4xf32>
    kernel.store %all, %ys[%i, %at] : vector<4xf32>, !kernel.view<64x512xf32, global>
  }
  kernel.return
}

// The driver may make one op of a product and a sum of products, but not of a function's, and where two products have the
// same factor it may not put the other ones together.
// CHECK-LABEL: spirv.func @sums()
// CHECK: [[P:%.*]] = spirv.FMul %[[X:.*]], %[[Y:.*]] : f32
// CHECK: [[S:%.*]] = spirv.FAdd [[P]], %[[X]] : f32
// CHECK: [[F:%.*]] = spirv.GL.Fma %[[X]], {{.*}}, [[S]] : f32
// CHECK: spirv.GL.Fma {{.*}}, {{.*}}, [[F]] : f32
kernel.func @sums(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %a = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %b = kernel.load %ys[%i] : !kernel.view<1000xf32, global> -> f32
    %s = math.fma %a, %b, %a : f32
    %t = math.fma %a, %a, %s : f32
    %u = math.fma %b, %b, %t {kept_fma} : f32
    kernel.store %u, %ys[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A driver may take denormals for 0, whatever a module asks for: what bits can tell they tell, NaN too. Beside a normal
// number floats are compared, but for equality.
// CHECK-LABEL: spirv.func @denormals()
// CHECK: spirv.INotEqual
// CHECK-NEXT: [[B:%.*]] = spirv.Bitcast [[V:%[0-9]+]] : f32 to i32
// CHECK-NEXT: [[A:%.*]] = spirv.BitwiseAnd [[B]], %cst2147483647_i32{{.*}} : i32
// CHECK-NEXT: [[N:%.*]] = spirv.UGreaterThan [[A]], %cst2139095040_i32{{.*}} : i32
// CHECK-NEXT: spirv.LogicalOr {{.*}}, [[N]]
// CHECK-NOT: spirv.FUnordNotEqual
// CHECK: spirv.FOrdLessThan [[V]], %{{.*}} : f32
// CHECK: spirv.ShiftRightArithmetic
// CHECK: spirv.GL.UMax
// CHECK: spirv.BitwiseXor
// CHECK: [[F:%.*]] = spirv.Select {{.*}} : i1, i32
// CHECK: [[G:%.*]] = spirv.Bitcast [[F]] : i32 to f32
// CHECK: spirv.GL.Floor [[G]]
// CHECK-NOT: spirv.FNegate
kernel.func @denormals(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %one = arith.constant 1.0 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %w = kernel.load %ys[%i] : !kernel.view<1000xf32, global> -> f32
    %differs = arith.cmpf une, %v, %w : f32
    %less = arith.cmpf olt, %v, %one : f32
    %either = arith.ori %differs, %less : i1
    %most = arith.maximumf %v, %w : f32
    %opposite = arith.negf %most : f32
    %floor = math.floor %opposite : f32
    %r = arith.select %either, %floor, %v : f32
    kernel.store %r, %ys[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A loop's header has nothing but what the loop carries, and no block that goes back to it has control flow. The results
// are those of the test, also where no trip is made.
// CHECK-LABEL: spirv.func @trips()
// CHECK: [[R:%.*]] = spirv.Variable : !spirv.ptr<f32, Function>
// CHECK: spirv.mlir.loop {
// CHECK-NEXT: spirv.Branch ^[[H:bb[0-9]+]](%{{.*}}, %{{.*}} : f32, i64)
// CHECK-NEXT: ^[[H]]([[X:%.*]]: f32, {{%.*}}: i64):
// CHECK-NEXT: spirv.Branch ^[[T:bb[0-9]+]]
// CHECK-NEXT: ^[[T]]:
// CHECK: spirv.mlir.selection
// CHECK: [[S:%.*]] = spirv.Load "Function" {{.*}} : f32
// CHECK: spirv.Store "Function" [[R]], [[S]] : f32
// CHECK: spirv.BranchConditional
// CHECK: spirv.mlir.loop
// CHECK: spirv.mlir.merge
// CHECK: spirv.Branch ^[[N:bb[0-9]+]]
// CHECK-NEXT: ^[[N]]:
// CHECK-NEXT: spirv.Branch ^[[H]](%{{.*}}, %{{.*}} : f32, i64)
// CHECK: spirv.Load "Function" [[R]] : f32
kernel.func @trips(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %w:2 = scf.while (%s = %v, %k = %c0) : (f32, index) -> (f32, index) {
      %isLess = arith.cmpi slt, %k, %n : index
      %t = scf.if %isLess -> f32 {
        %u = arith.mulf %s, %v : f32
        scf.yield %u : f32
      } else {
        scf.yield %s : f32
      }
      scf.condition(%isLess) %t, %k : f32, index
    } do {
    ^bb0(%s: f32, %k: index):
      %t = scf.for %j = %c0 to %k step %c1 iter_args(%u = %s) -> f32 {
        %p = arith.mulf %u, %s : f32
        scf.yield %p : f32
      }
      %l = arith.addi %k, %c1 : index
      scf.yield %t, %l : f32, index
    }
    kernel.store %w#0, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// Maxima behind one another stay integers: three numbers are mirrored, and the last maximum is back.
// CHECK-LABEL: spirv.func @maxima()
// CHECK-COUNT-2: spirv.BitwiseXor
// CHECK: [[M:%.*]] = spirv.GL.UMax
// CHECK-NOT: spirv.ISub
// CHECK: spirv.BitwiseXor
// CHECK: spirv.GL.UMax [[M]], {{.*}} : i32
// CHECK: spirv.BitwiseXor
// CHECK-NOT: spirv.BitwiseXor
kernel.func @maxima(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [998] step [1] {
    %j = arith.addi %i, %c1 : index
    %k = arith.addi %i, %c2 : index
    %u = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %v = kernel.load %xs[%j] : !kernel.view<1000xf32, global> -> f32
    %w = kernel.load %xs[%k] : !kernel.view<1000xf32, global> -> f32
    %m = arith.maximumf %u, %v : f32
    %n = arith.maximumf %m, %w : f32
    kernel.store %n, %ys[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
