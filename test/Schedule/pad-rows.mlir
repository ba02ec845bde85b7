// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-pad-rows | FileCheck %s

!b = !kernel.buffer<bf16, global>

// Rows of 197 elements of 2 bytes are 200 apart, long ones of 1025 are 1088, and those of 1032 where a product reads them. What is copied, what lies side by side in one
// row for some reader, and what is a whole number of pieces anyway stays as it is.
// CHECK-LABEL: plan.func @main
// CHECK: plan.alloc : !plan.buffer<bf16[2x256x200]>
// CHECK: plan.alloc : !plan.buffer<bf16[64x1088]>
// CHECK: plan.alloc : !plan.buffer<bf16[512x197]>
// CHECK: plan.alloc : !plan.buffer<bf16[512x197]>
// CHECK: plan.alloc : !plan.buffer<bf16[512x200]>
// CHECK: plan.alloc : !plan.buffer<bf16[64x1088]>
// CHECK: plan.alloc : !plan.buffer<bf16[64x1032]>
plan.func @main(%x: !plan.buffer<bf16[512x197]> {plan.input = "x"}, %z: !plan.buffer<bf16[64x1025]> {plan.input = "z"},
                %w: !plan.buffer<bf16[1032x64]> {plan.input = "w"}, %v: !plan.buffer<bf16[64x1032]> {plan.input = "v"},
                %y: !plan.buffer<bf16[512x197]> {plan.output = "y"}, %o: !plan.buffer<bf16[512x197]> {plan.output = "o"},
                %p: !plan.buffer<bf16[512x197]> {plan.output = "p"}, %q: !plan.buffer<bf16[64x1025]> {plan.output = "q"},
                %r: !plan.buffer<f32[64x64]> {plan.output = "r"}, %s: !plan.buffer<bf16[64x1032]> {plan.output = "s"}) {
  %0 = plan.alloc : !plan.buffer<bf16[2x256x197]>
  %1 = plan.launch @make ins(%x : !plan.buffer<bf16[512x197]>) outs(%0 : !plan.buffer<bf16[2x256x197]>)
  %2 = plan.launch @read ins(%0 : !plan.buffer<bf16[2x256x197]>) outs(%y : !plan.buffer<bf16[512x197]>)
  %3 = plan.alloc : !plan.buffer<bf16[64x1025]>
  %4 = plan.launch @long ins(%z : !plan.buffer<bf16[64x1025]>) outs(%3 : !plan.buffer<bf16[64x1025]>)
  %5 = plan.launch @last ins(%3 : !plan.buffer<bf16[64x1025]>) outs(%q : !plan.buffer<bf16[64x1025]>)
  %6 = plan.alloc : !plan.buffer<bf16[512x197]>
  %7 = plan.launch @first ins(%x : !plan.buffer<bf16[512x197]>) outs(%6 : !plan.buffer<bf16[512x197]>)
  %8 = plan.copy %6 to %o : !plan.buffer<bf16[512x197]> to !plan.buffer<bf16[512x197]>
  %9 = plan.alloc : !plan.buffer<bf16[512x197]>
  %10 = plan.launch @second ins(%x : !plan.buffer<bf16[512x197]>) outs(%9 : !plan.buffer<bf16[512x197]>)
  %11 = plan.launch @flat ins(%9 : !plan.buffer<bf16[512x197]>) outs(%p : !plan.buffer<bf16[512x197]>)
  %12 = plan.alloc : !plan.buffer<bf16[512x200]>
  %13 = plan.launch @even ins(%x : !plan.buffer<bf16[512x197]>) outs(%12 : !plan.buffer<bf16[512x200]>)
  %14 = plan.alloc : !plan.buffer<bf16[64x1032]>
  %15 = plan.launch @factor ins(%v : !plan.buffer<bf16[64x1032]>) outs(%14 : !plan.buffer<bf16[64x1032]>)
  %16 = plan.launch @product ins(%14, %w : !plan.buffer<bf16[64x1032]>, !plan.buffer<bf16[1032x64]>) outs(%r : !plan.buffer<f32[64x64]>)
  %17 = plan.alloc : !plan.buffer<bf16[64x1032]>
  %18 = plan.launch @passed ins(%v : !plan.buffer<bf16[64x1032]>) outs(%17 : !plan.buffer<bf16[64x1032]>)
  %19 = plan.launch @passed_on ins(%17 : !plan.buffer<bf16[64x1032]>) outs(%s : !plan.buffer<bf16[64x1032]>)
  plan.return
}

// CHECK-LABEL: kernel.func @factor
// CHECK: kernel.view %arg1 map <[<[64, 1032] strides [1088, 1]>]>
kernel.func @factor(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <64x1032xbf16, global> -> tensor<64x1032xbf16>
  %3 = kernel.view %out map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<64x1032xbf16>, <64x1032xbf16, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @product
// CHECK: kernel.view %arg0 map <[<[64, 1032] strides [1088, 1]>]>
kernel.func @product(%a: !b, %w: !b, %out: !kernel.buffer<f32, global>) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %a map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["m", "k"] : <64x1032xbf16, global> -> tensor<64x1032xbf16>
  %3 = kernel.view %w map <[<[1032, 64] strides [64, 1]>]> : <bf16, global> -> <1032x64xbf16, global>
  %4 = kernel.load %3[%0, %0] axes ["k", "n"] : <1032x64xbf16, global> -> tensor<1032x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %5 = kernel.dot %2, %4, %z : tensor<64x1032xbf16>, tensor<1032x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %out map <[<[64, 64] strides [64, 1]>]> : <f32, global> -> <64x64xf32, global>
  kernel.store %5, %6[%0, %0] : tensor<64x64xf32>, <64x64xf32, global>
  kernel.return
}

kernel.func @passed(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <64x1032xbf16, global> -> tensor<64x1032xbf16>
  %3 = kernel.view %out map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<64x1032xbf16>, <64x1032xbf16, global>
  kernel.return
}

kernel.func @passed_on(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <64x1032xbf16, global> -> tensor<64x1032xbf16>
  %3 = kernel.view %out map <[<[64, 1032] strides [1032, 1]>]> : <bf16, global> -> <64x1032xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<64x1032xbf16>, <64x1032xbf16, global>
  kernel.return
}

// Two rows of the view are two of the memory's, columns stay.
// CHECK-LABEL: kernel.func @make
// CHECK: kernel.view %arg0 map <[<[512, 197] strides [197, 1]>]>
// CHECK: kernel.view %arg1 map <[<[512, 197] strides [200, 1]>]>
kernel.func @make(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <512x197xbf16, global> -> tensor<512x197xbf16>
  %3 = kernel.view %out map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<512x197xbf16>, <512x197xbf16, global>
  kernel.return
}

// A window of columns, transposed, from the second row on, with a column in front that does not exist.
// CHECK-LABEL: kernel.func @read
// CHECK: kernel.view %arg0 map <[<[100, 256] strides [1, 200] offset 204 valid [1 : 100, 0 : 255]>]>
kernel.func @read(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[100, 256] strides [1, 197] offset 201 valid [1 : 100, 0 : 255]>]> : <bf16, global> -> <100x256xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["j", "i"] in_bounds [true, true] : <100x256xbf16, global> -> tensor<100x256xbf16>
  %3 = kernel.view %out map <[<[100, 256] strides [1, 100]>]> : <bf16, global> -> <100x256xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<100x256xbf16>, <100x256xbf16, global>
  kernel.return
}

kernel.func @long(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[64, 1025] strides [1025, 1]>]> : <bf16, global> -> <64x1025xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <64x1025xbf16, global> -> tensor<64x1025xbf16>
  %3 = kernel.view %out map <[<[64, 1025] strides [1025, 1]>]> : <bf16, global> -> <64x1025xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<64x1025xbf16>, <64x1025xbf16, global>
  kernel.return
}

kernel.func @last(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[64, 1025] strides [1025, 1]>]> : <bf16, global> -> <64x1025xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <64x1025xbf16, global> -> tensor<64x1025xbf16>
  %3 = kernel.view %out map <[<[64, 1025] strides [1025, 1]>]> : <bf16, global> -> <64x1025xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<64x1025xbf16>, <64x1025xbf16, global>
  kernel.return
}

kernel.func @first(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <512x197xbf16, global> -> tensor<512x197xbf16>
  %3 = kernel.view %out map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<512x197xbf16>, <512x197xbf16, global>
  kernel.return
}

kernel.func @second(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <512x197xbf16, global> -> tensor<512x197xbf16>
  %3 = kernel.view %out map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<512x197xbf16>, <512x197xbf16, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @flat
// CHECK: kernel.view %arg0 map <[<[100864] strides [1]>]>
kernel.func @flat(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[100864] strides [1]>]> : <bf16, global> -> <100864xbf16, global>
  %2 = kernel.load %1[%0] axes ["i"] in_bounds [true] : <100864xbf16, global> -> tensor<100864xbf16>
  %3 = kernel.view %out map <[<[100864] strides [1]>]> : <bf16, global> -> <100864xbf16, global>
  kernel.store %2, %3[%0] in_bounds [true] : tensor<100864xbf16>, <100864xbf16, global>
  kernel.return
}

kernel.func @even(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <512x197xbf16, global> -> tensor<512x197xbf16>
  %3 = kernel.view %out map <[<[512, 197] strides [200, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<512x197xbf16>, <512x197xbf16, global>
  kernel.return
}

// Code of the user's own reads and writes rows without anything between them.
// CHECK-LABEL: plan.func @external
// CHECK: plan.alloc : !plan.buffer<bf16[512x197]>
plan.func @external(%x: !plan.buffer<bf16[512x197]> {plan.input = "x"}, %y: !plan.buffer<bf16[512x197]> {plan.output = "y"}) {
  %0 = plan.alloc : !plan.buffer<bf16[512x197]>
  %1 = plan.launch @own ins(%x : !plan.buffer<bf16[512x197]>) outs(%0 : !plan.buffer<bf16[512x197]>)
  %2 = plan.launch @behind ins(%0 : !plan.buffer<bf16[512x197]>) outs(%y : !plan.buffer<bf16[512x197]>)
  plan.return
}

kernel.func @own(%in: !b, %out: !b) attributes {external = #kernel.external<ptx "own" of "own" results 1 shared 0 text ["x"]>, schedule = #kernel.schedule<[]>} {
  kernel.return
}

// CHECK-LABEL: kernel.func @behind
// CHECK: kernel.view %arg0 map <[<[512, 197] strides [197, 1]>]>
kernel.func @behind(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <512x197xbf16, global> -> tensor<512x197xbf16>
  %3 = kernel.view %out map <[<[512, 197] strides [197, 1]>]> : <bf16, global> -> <512x197xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<512x197xbf16>, <512x197xbf16, global>
  kernel.return
}

// An image of 14x14 elements is one row, though kernels see its dimensions apart. One whose reader takes all as one row stays.
// CHECK-LABEL: plan.func @images
// CHECK: plan.alloc : !plan.buffer<bf16[16x64x200]>
// CHECK: plan.alloc : !plan.buffer<bf16[16x64x14x14]>
plan.func @images(%x: !plan.buffer<bf16[16x64x14x14]> {plan.input = "x"}, %y: !plan.buffer<bf16[16x64x14x14]> {plan.output = "y"},
                  %z: !plan.buffer<bf16[16x64x14x14]> {plan.output = "z"}) {
  %0 = plan.alloc : !plan.buffer<bf16[16x64x14x14]>
  %1 = plan.launch @make_images ins(%x : !plan.buffer<bf16[16x64x14x14]>) outs(%0 : !plan.buffer<bf16[16x64x14x14]>)
  %2 = plan.launch @read_images ins(%0 : !plan.buffer<bf16[16x64x14x14]>) outs(%y : !plan.buffer<bf16[16x64x14x14]>)
  %3 = plan.alloc : !plan.buffer<bf16[16x64x14x14]>
  %4 = plan.launch @make_others ins(%x : !plan.buffer<bf16[16x64x14x14]>) outs(%3 : !plan.buffer<bf16[16x64x14x14]>)
  %5 = plan.launch @read_flat ins(%3 : !plan.buffer<bf16[16x64x14x14]>) outs(%z : !plan.buffer<bf16[16x64x14x14]>)
  plan.return
}

// CHECK-LABEL: kernel.func @make_images
// CHECK: kernel.view %arg1 map <[<[16, 64, 14, 14] strides [12800, 200, 14, 1]>]>
kernel.func @make_images(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[16, 64, 14, 14] strides [12544, 196, 14, 1]>]> : <bf16, global> -> <16x64x14x14xbf16, global>
  %2 = kernel.load %1[%0, %0, %0, %0] axes ["i", "j", "k", "l"] in_bounds [true, true, true, true] : <16x64x14x14xbf16, global> -> tensor<16x64x14x14xbf16>
  %3 = kernel.view %out map <[<[16, 64, 14, 14] strides [12544, 196, 14, 1]>]> : <bf16, global> -> <16x64x14x14xbf16, global>
  kernel.store %2, %3[%0, %0, %0, %0] in_bounds [true, true, true, true] : tensor<16x64x14x14xbf16>, <16x64x14x14xbf16, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @read_images
// CHECK: kernel.view %arg0 map <[<[1024, 196] strides [200, 1]>]>
kernel.func @read_images(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[1024, 196] strides [196, 1]>]> : <bf16, global> -> <1024x196xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <1024x196xbf16, global> -> tensor<1024x196xbf16>
  %3 = kernel.view %out map <[<[1024, 196] strides [196, 1]>]> : <bf16, global> -> <1024x196xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<1024x196xbf16>, <1024x196xbf16, global>
  kernel.return
}

kernel.func @make_others(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[1024, 196] strides [196, 1]>]> : <bf16, global> -> <1024x196xbf16, global>
  %2 = kernel.load %1[%0, %0] axes ["i", "j"] in_bounds [true, true] : <1024x196xbf16, global> -> tensor<1024x196xbf16>
  %3 = kernel.view %out map <[<[1024, 196] strides [196, 1]>]> : <bf16, global> -> <1024x196xbf16, global>
  kernel.store %2, %3[%0, %0] in_bounds [true, true] : tensor<1024x196xbf16>, <1024x196xbf16, global>
  kernel.return
}

kernel.func @read_flat(%in: !b, %out: !b) {
  %0 = arith.constant 0 : index
  %1 = kernel.view %in map <[<[200704] strides [1]>]> : <bf16, global> -> <200704xbf16, global>
  %2 = kernel.load %1[%0] axes ["i"] in_bounds [true] : <200704xbf16, global> -> tensor<200704xbf16>
  %3 = kernel.view %out map <[<[200704] strides [1]>]> : <bf16, global> -> <200704xbf16, global>
  kernel.store %2, %3[%0] in_bounds [true] : tensor<200704xbf16>, <200704xbf16, global>
  kernel.return
}
