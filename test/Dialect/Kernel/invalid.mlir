// RUN: zyx-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// expected-error@+1 {{block has 2 extents but 1 strides}}
"test.attr"() {a = #kernel.block<[1, 2] strides [1]>} : () -> ()

// -----

// expected-error@+1 {{block needs one valid interval per dimension}}
"test.attr"() {a = #kernel.block<[1, 2] strides [1, 1] valid [0 : 1]>} : () -> ()

// -----

// expected-error@+1 {{block has the negative extent -1}}
"test.attr"() {a = #kernel.block<[-1] strides [1]>} : () -> ()

// -----

// expected-error@+1 {{block has the empty interval 2 : 1}}
"test.attr"() {a = #kernel.block<[4] strides [1] valid [2 : 1]>} : () -> ()

// -----

// expected-error@+1 {{pixels have one to three dimensions, not 2, 2 and 1}}
"test.attr"() {a = #kernel.pixels<low = [0, 0] high = [0, 0] steps = [1]>} : () -> ()

// -----

// expected-error@+1 {{the corner -129 of pixels is not between -128 and 127}}
"test.attr"() {a = #kernel.pixels<low = [0, -129] high = [0, 0] steps = [1, 1]>} : () -> ()

// -----

// expected-error@+1 {{steps of pixels are 1 to 8, not 9}}
"test.attr"() {a = #kernel.pixels<low = [0, 0] high = [0, 0] steps = [9, 1]>} : () -> ()

// -----

// expected-error@+1 {{swizzle is 0, 32, 64 or 128 bytes, not 48}}
"test.attr"() {a = #kernel.shared<swizzle = 48>} : () -> ()

// -----

// expected-error@+1 {{a grid step's tile must be positive, not 0}}
"test.attr"() {a = #kernel.grid_step<"i", 0>} : () -> ()

// -----

// expected-error@+1 {{a loop step's tile must be positive, not -4}}
"test.attr"() {a = #kernel.loop_step<"i", -4>} : () -> ()

// -----

// expected-error@+1 {{a dot has operands 0 and 1, not 2}}
"test.attr"() {a = #kernel.stage_step<2, private>} : () -> ()

// -----

// expected-error@+1 {{tiles are staged in shared or private memory}}
"test.attr"() {a = #kernel.stage_step<1, global>} : () -> ()

// -----

// expected-error@+1 {{blocks of a dot must have a positive size}}
"test.attr"() {a = #kernel.blocking<4 x 0, rows 4, depth 8>} : () -> ()

// -----

// expected-error@+1 {{blocks of 10 rows are not a multiple of tiles of 4}}
"test.attr"() {a = #kernel.blocking<4 x 16, rows 10, depth 8>} : () -> ()

// -----

// expected-error@+1 {{a right factor that is read along the contraction is not packed}}
"test.attr"() {a = #kernel.blocking<4 x 6 along depth, rows 4, depth 8, pack rhs>} : () -> ()

// -----

// expected-error@+1 {{tiles of 12 x 32 do not fit a matrix unit, whose blocks have 16 x 16 elements, or 16 x 8}}
"test.attr"() {a = #kernel.blocking<12 x 32, rows 24, depth 64, pack lhs rhs, narrow>} : () -> ()

// -----

func.func @multiply_shared(%s: !kernel.view<16x16xf32, private>, %a: !kernel.view<16x32xbf16, private>, %b: !kernel.view<1x16x16xi32, shared>, %i: index) {
  // expected-error@+1 {{takes sums in private memory, and a right factor there or of the left one's type}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i, %i] depth %i : !kernel.view<16x32xbf16, private>, !kernel.view<1x16x16xi32, shared> -> !kernel.view<16x16xf32, private>
  return
}

// -----

func.func @multiply_other_columns(%s: !kernel.view<16x16xf32, private>, %a: !kernel.view<16x32xbf16, private>, %b: !kernel.view<1x16x7xi32, private>, %i: index) {
  // expected-error@+1 {{has panels of 7 columns for 16 columns of sums}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i, %i] depth %i : !kernel.view<16x32xbf16, private>, !kernel.view<1x16x7xi32, private> -> !kernel.view<16x16xf32, private>
  return
}

// -----

func.func @multiply_odd(%s: !kernel.view<16x20xf32, private>, %a: !kernel.view<16x32xbf16, private>, %b: !kernel.view<1x16x16xi32, private>, %i: index) {
  // expected-error@+1 {{makes 16 or 32 rows and columns of sums, not}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i, %i] depth %i : !kernel.view<16x32xbf16, private>, !kernel.view<1x16x16xi32, private> -> !kernel.view<16x20xf32, private>
  return
}

// -----

func.func @multiply_types(%s: !kernel.view<16x16xf32, private>, %a: !kernel.view<16x32xf16, private>, %b: !kernel.view<1x16x16xi32, private>, %i: index) {
  // expected-error@+1 {{multiplies bf16 to f32 or i8 to i32, not 'f16' to 'f32'}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i, %i] depth %i : !kernel.view<16x32xf16, private>, !kernel.view<1x16x16xi32, private> -> !kernel.view<16x16xf32, private>
  return
}

// -----

func.func @multiply_panels(%s: !kernel.view<16x16xf32, private>, %a: !kernel.view<16x32xbf16, private>, %b: !kernel.view<16x16xi32, private>, %i: index) {
  // expected-error@+1 {{takes rows of the left factor, and panels of groups of 4 bytes of the right one}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i] depth %i : !kernel.view<16x32xbf16, private>, !kernel.view<16x16xi32, private> -> !kernel.view<16x16xf32, private>
  return
}

// -----

func.func @multiply_unsigned(%s: !kernel.view<16x16xf32, private>, %a: !kernel.view<16x32xbf16, private>, %b: !kernel.view<1x16x16xi32, private>, %i: index) {
  // expected-error@+1 {{has unsigned factors only of integers}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i, %i] depth %i {lhs_unsigned} : !kernel.view<16x32xbf16, private>, !kernel.view<1x16x16xi32, private> -> !kernel.view<16x16xf32, private>
  return
}

// -----

func.func @multiply_ahead(%s: !kernel.view<16x16xf32, private>, %a: !kernel.view<16x32xbf16, private>, %b: !kernel.view<1x16x16xi32, private>, %i: index) {
  // expected-error@+1 {{reads a number of rows ahead if it says which}}
  kernel.matrix_multiply %s, %a[%i, %i], %b[%i, %i, %i] depth %i ahead %i : !kernel.view<16x32xbf16, private>, !kernel.view<1x16x16xi32, private> -> !kernel.view<16x16xf32, private>
  return
}

// -----

// expected-error@+1 {{which is no step}}
"test.attr"() {a = #kernel.schedule<[1 : i32]>} : () -> ()

// -----

// expected-error@+1 {{memory is global, shared or private, not local}}
func.func private @f(!kernel.view<4xf32, local>)

// -----

// expected-error@+1 {{elements of a view are signless integers or floats, not 'ui8'}}
func.func private @f(!kernel.view<4xui8, global>)

// -----

// expected-error@+1 {{only views of shared memory have a layout}}
func.func private @f(!kernel.view<4x64xbf16, global, #kernel.shared<swizzle = 128>>)

// -----

// expected-error@+1 {{the layout of shared memory is #kernel.shared, not}}
func.func private @f(!kernel.view<4x64xbf16, shared, #kernel.frag<mma_acc>>)

// -----

// expected-error@+1 {{a swizzle of 128 bytes needs rows of a multiple of it, not of 64}}
func.func private @f(!kernel.view<4x32xbf16, shared, #kernel.shared<swizzle = 128>>)

// -----

// expected-error@+1 {{returns nothing: its results are written to buffers}}
kernel.func @f() -> f32 {
  kernel.return
}

// -----

// expected-error@+1 {{takes buffers and scalars, not}}
kernel.func @f(%x: tensor<4xf32>) {
  kernel.return
}

// -----

// expected-error@+1 {{takes buffers in global memory, not}}
kernel.func @f(%x: !kernel.buffer<f32, shared>) {
  kernel.return
}

// -----

// expected-error@+1 {{takes buffers first and scalars after them}}
kernel.func @f(%n: index, %x: !kernel.buffer<f32, global>) {
  kernel.return
}

// -----

// expected-error@+1 {{has fewer than 3 numbers for 'visible', or a negative one}}
kernel.func @f(%x: !kernel.buffer<i32, global>) attributes {visible = array<i64: 0, 4>} {
  kernel.return
}

// -----

// expected-error@+1 {{has fewer than 3 numbers for 'visible', or a negative one}}
kernel.func @f(%x: !kernel.buffer<i32, global>) attributes {visible = array<i64: 0, 4, -1>} {
  kernel.return
}

// -----

// expected-error@+1 {{has argument 1 for 'visible', which is no buffer of i32}}
kernel.func @f(%x: !kernel.buffer<i32, global>) attributes {visible = array<i64: 1, 4, 1>} {
  kernel.return
}

// -----

// expected-error@+1 {{has argument 1 for 'finite', which is no buffer of i32}}
kernel.func @f(%x: !kernel.buffer<i32, global>, %y: !kernel.buffer<f32, global>) attributes {
    visible = array<i64: 0, 4, 1, 2>, finite = array<i64: 1, 2>} {
  kernel.return
}

// -----

// expected-error@+1 {{needs a stride for each batch, of what is visible as of what is finite}}
kernel.func @f(%x: !kernel.buffer<i32, global>, %y: !kernel.buffer<i32, global>) attributes {
    visible = array<i64: 0, 4, 1, 2>, finite = array<i64: 1>} {
  kernel.return
}

// -----

// expected-error@+1 {{has 2 grids; a launch has one}}
kernel.func @f() {
  kernel.grid (%i) in [4] step [1] {
  }
  kernel.grid (%i) in [4] step [1] {
  }
  kernel.return
}

// -----

kernel.func @f() {
  // expected-error@+1 {{needs one extent, one step and one index per dimension}}
  kernel.grid (%i) in [4, 4] step [1] {
  }
  kernel.return
}

// -----

kernel.func @f() {
  // expected-error@+1 {{needs one operand per dynamic extent}}
  "kernel.grid"() <{staticExtents = array<i64: -9223372036854775808>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    kernel.yield
  }) : () -> ()
  kernel.return
}

// -----

kernel.func @f() {
  // expected-error@+1 {{has the step 0; steps are positive}}
  kernel.grid (%i) in [4] step [0] {
  }
  kernel.return
}

// -----

kernel.func @f() {
  // expected-error@+1 {{has the negative extent -4}}
  kernel.grid (%i) in [-4] step [1] {
  }
  kernel.return
}

// -----

func.func @f() {
  // expected-error@+1 {{stands at the top of a kernel.func}}
  kernel.grid (%i) in [4] step [1] {
  }
  return
}

// -----

func.func @f(%b: !kernel.buffer<f32, global>) {
  // expected-error-re@+1 {{views {{.*}} as}}
  %v = kernel.view %b map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf64, global>
  return
}

// -----

func.func @f(%b: !kernel.buffer<f32, global>) {
  // expected-error@+1 {{has a map of rank 1 for a view of rank 2}}
  %v = kernel.view %b map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x1xf32, global>
  return
}

// -----

func.func @f(%b: !kernel.buffer<f32, global>) {
  // expected-error@+1 {{has a map of 1 symbols but 0 operands for them}}
  %v = kernel.view %b map <[<[s0] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<?xf32, global>
  return
}

// -----

func.func @f(%b: !kernel.buffer<f32, global>) {
  // expected-error@+1 {{has a map whose extent 0 differs from that of}}
  %v = kernel.view %b map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<5xf32, global>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{makes private or shared memory; global memory comes from the plan}}
  %v = kernel.alloc : !kernel.view<4xf32, global>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{needs a static shape, not}}
  %v = kernel.alloc : !kernel.view<?xf32, private>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{may change the shape only, not}}
  %w = kernel.subview %p[%i, %i] : !kernel.view<4x8xf32, private> -> !kernel.view<8xf64, private>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{needs one index per dimension and a static result of no larger rank}}
  %w = kernel.subview %p[%i] : !kernel.view<4x8xf32, private> -> !kernel.view<8xf32, private>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{takes apart shared and private memory; tiles of global views are loaded}}
  %w = kernel.subview %x[%i, %i] : !kernel.view<8x16xf32, global> -> !kernel.view<16xf32, global>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{has 1 indices for a view of rank 2}}
  %w = kernel.load %x[%i] : !kernel.view<8x16xf32, global> -> f32
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{moves 'f64' through}}
  %w = kernel.load %x[%i, %i] : !kernel.view<8x16xf32, global> -> f64
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{moves a tile of rank 1 through a view of rank 2}}
  %w = kernel.load %x[%i, %i] : !kernel.view<8x16xf32, global> -> tensor<4xf32>
  return
}

// -----

func.func @f(%z: !kernel.view<f32, global>) {
  // expected-error@+1 {{moves a vector through a view of rank 0}}
  %w = kernel.load %z[] : !kernel.view<f32, global> -> vector<4xf32>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{needs one in_bounds flag per dimension}}
  %w = kernel.load %x[%i, %i] in_bounds [true] : !kernel.view<8x16xf32, global> -> f32
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{has a mask on a tile; tiles are masked by their view}}
  %w = kernel.load %x[%i, %i] mask %bits : vector<16xi1> : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{needs a mask of type 'vector<16xi1>', not 'vector<8xi1>'}}
  %w = kernel.load %x[%i, %i] mask %few : vector<8xi1> : !kernel.view<8x16xf32, global> -> vector<16xf32>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{names one axis per dimension of a tile}}
  %w = kernel.load %x[%i, %i] axes ["i"] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{has an other of type 'index'}}
  %w = kernel.load %x[%i, %i] other %i : index : !kernel.view<8x16xf32, global> -> f32
  return
}

// -----

func.func @f(%p: !kernel.view<4x8xf32, private>, %x: !kernel.view<8x16xf32, global>, %i: index, %t: tensor<8x16xf32>, %v: vector<16xf32>, %s: f32, %bits: vector<16xi1>, %few: vector<8xi1>) {
  // expected-error@+1 {{has 1 indices for a view of rank 2}}
  kernel.store %s, %x[%i] : f32, !kernel.view<8x16xf32, global>
  return
}

// -----

func.func @f(%x: !kernel.view<8x16xf32, global>, %i: tensor<4xi64>) {
  // expected-error@+1 {{has 1 index tiles for a view of rank 2}}
  %w = kernel.gather %x[%i] : !kernel.view<8x16xf32, global>, tensor<4xi64> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: !kernel.view<8x16xf32, global>, %i: tensor<4xi64>) {
  // expected-error-re@+1 {{reads {{.*}} through}}
  %w = kernel.gather %x[%i, %i] : !kernel.view<8x16xf32, global>, tensor<4xi64>, tensor<4xi64> -> tensor<4xf64>
  return
}

// -----

func.func @f(%x: !kernel.view<8x16xf32, global>, %i: tensor<4xi64>) {
  // expected-error@+1 {{has an index tile}}
  %w = kernel.gather %x[%i, %i] : !kernel.view<8x16xf32, global>, tensor<4xi64>, tensor<4xi64> -> tensor<5xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{needs tiles of one rank of at least 2}}
  %w = kernel.dot %a, %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{contracts 'tensor<4x8xf32>' with 'tensor<4x8xf32>' into}}
  %w = kernel.dot %a, %a, %a : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xi32>) {
  // expected-error@+1 {{mixes integers and floating point}}
  %w = kernel.dot %a, %b, %a : tensor<4x4xf32>, tensor<4x4xi32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{needs increasing dimensions below 2}}
  %w = kernel.reduce add %a dims [2] : tensor<4x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{and is of integers, not of 'f32'}}
  %w = kernel.reduce and %a dims [1] : tensor<4x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{reduces 'tensor<4x4xf32>' to}}
  %w = kernel.reduce add %a dims [1] : tensor<4x4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%a: f32) {
  // expected-error@+1 {{repeats 'f32' into}}
  %w = kernel.splat %a : f32 -> tensor<4xf64>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{repeats 'tensor<4xf32>' into}}
  %w = kernel.broadcast %a dims [0] : tensor<4xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{permutes 'tensor<4x5xf32>' to}}
  %w = kernel.transpose %a order [0, 0] : tensor<4x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{reshapes 'tensor<4x5xf32>' to}}
  %w = kernel.reshape %a : tensor<4x5xf32> -> tensor<21xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{counts along dimension 1 of a tile of rank 1}}
  %w = kernel.iota dim 1 : tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{may change the layout only, not}}
  %w = kernel.convert %a : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

kernel.func @narrow_sum() {
  %a = arith.constant dense<1.0> : tensor<2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf16>
  // expected-error@+1 {{sums up products of 'f32' in 'f16'}}
  %d = kernel.dot %a, %a, %z : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf16>
  kernel.return
}

// -----

func.func @f(%x: f32) -> f32 {
  // expected-error@+1 {{attribute 'kernel.nonpositive' belongs on math.exp, without a value}}
  %y = math.exp2 %x {kernel.nonpositive} : f32
  return %y : f32
}

// -----

func.func @f(%x: f32) -> f32 {
  // expected-error@+1 {{attribute 'kernel.nonpositive' belongs on math.exp, without a value}}
  %y = math.exp %x {kernel.nonpositive = 1} : f32
  return %y : f32
}

// -----

// expected-error@+1 {{has no body}}
kernel.func @f(%x: !kernel.buffer<f32, global>)

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %i = arith.constant 0 : index
  %v = kernel.view %x map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  // expected-error@+1 {{has 2 indices for a view of rank 1}}
  kernel.prefetch %v[%i, %i] : !kernel.view<16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %i = arith.constant 0 : index
  %t = arith.constant dense<0.0> : tensor<4x4xf32>
  %v = kernel.view %x map <[<[4, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x4xf32, global>
  // expected-error@+1 {{names one axis per dimension of a tile}}
  kernel.store %t, %v[%i, %i] axes ["i"] : tensor<4x4xf32>, !kernel.view<4x4xf32, global>
  kernel.return
}

// -----

// Of f32 a language may lose NaN.
kernel.func @largest_float() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %x = arith.constant 1.0 : f32
  // expected-error@+1 {{does not combine 'f32' by umax}}
  %s = kernel.subgroup_reduce umax %x : f32
  kernel.return
}

// -----

kernel.func @product() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %x = arith.constant 1 : i32
  // expected-error@+1 {{does not combine 'i32' by mul}}
  %s = kernel.subgroup_reduce mul %x : i32
  kernel.return
}
