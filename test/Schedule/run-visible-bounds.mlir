// RUN: zyx-run %s --entry=turned_row --device=cpu --no-cache --output=%t.turned.row.npy
// RUN: zyx-run %s --entry=turned_column --device=cpu --no-cache --output=%t.turned.column.npy
// RUN: env ZYX_CUDA_DRIVER=%binary_dir/test/fake-cuda/libZyxFakeCuda.so ZYX_PTXAS= FAKE_CUDA_CAPABILITY=90 zyx-run %s --entry=attend --device=cuda --no-cache --random=1 --input=row=%t.turned.row.npy --input=column=%t.turned.column.npy --output=%t.turned.cuda.npy --remarks 2>&1 | FileCheck %s
// RUN: zyx-run %s --entry=attend --device=cpu --no-cache --random=1 --input=row=%t.turned.row.npy --input=column=%t.turned.column.npy --output=%t.turned.cpu.npy
// RUN: cmp %t.turned.cuda.npy %t.turned.cpu.npy
// RUN: zyx-run %s --entry=ends_row --device=cpu --no-cache --output=%t.ends.row.npy
// RUN: zyx-run %s --entry=ends_column --device=cpu --no-cache --output=%t.ends.column.npy
// RUN: env ZYX_CUDA_DRIVER=%binary_dir/test/fake-cuda/libZyxFakeCuda.so ZYX_PTXAS= FAKE_CUDA_CAPABILITY=90 zyx-run %s --entry=attend --device=cuda --no-cache --random=1 --input=row=%t.ends.row.npy --input=column=%t.ends.column.npy --output=%t.ends.cuda.npy --remarks 2>&1 | FileCheck %s
// RUN: zyx-run %s --entry=attend --device=cpu --no-cache --random=1 --input=row=%t.ends.row.npy --input=column=%t.ends.column.npy --output=%t.ends.cpu.npy
// RUN: cmp %t.ends.cuda.npy %t.ends.cpu.npy

// Numbers descend along the rows, some below zero, and are mixed in each 32 places.
func.func @turned_row() -> tensor<4096xi64> {
  %i = graph.iota dim = 0 : tensor<4096xi64>
  %half = graph.constant dense<2048> : tensor<4096xi64>
  %row = graph.binary sub %half, %i : tensor<4096xi64>
  %eleven = graph.constant dense<11> : tensor<4096xi64>
  %mask = graph.constant dense<31> : tensor<4096xi64>
  %x = graph.binary mul %i, %eleven : tensor<4096xi64>
  %low = graph.binary and %x, %mask : tensor<4096xi64>
  %rest = graph.constant dense<-32> : tensor<4096xi64>
  %high = graph.binary and %i, %rest : tensor<4096xi64>
  %mixed = graph.binary or %high, %low : tensor<4096xi64>
  %column = graph.binary sub %mixed, %half : tensor<4096xi64>
  return %row : tensor<4096xi64>
}

func.func @turned_column() -> tensor<4096xi64> {
  %i = graph.iota dim = 0 : tensor<4096xi64>
  %half = graph.constant dense<2048> : tensor<4096xi64>
  %row = graph.binary sub %half, %i : tensor<4096xi64>
  %eleven = graph.constant dense<11> : tensor<4096xi64>
  %mask = graph.constant dense<31> : tensor<4096xi64>
  %x = graph.binary mul %i, %eleven : tensor<4096xi64>
  %low = graph.binary and %x, %mask : tensor<4096xi64>
  %rest = graph.constant dense<-32> : tensor<4096xi64>
  %high = graph.binary and %i, %rest : tensor<4096xi64>
  %mixed = graph.binary or %high, %low : tensor<4096xi64>
  %column = graph.binary sub %mixed, %half : tensor<4096xi64>
  return %column : tensor<4096xi64>
}

// The least and the largest numbers that there are, by turns; the last rows see nothing, and are NaN before.
func.func @ends_row() -> tensor<4096xi64> {
  %i = graph.iota dim = 0 : tensor<4096xi64>
  %least = graph.constant dense<-9223372036854775808> : tensor<4096xi64>
  %largest = graph.constant dense<9223372036854775807> : tensor<4096xi64>
  %one = graph.constant dense<1> : tensor<4096xi64>
  %zero = graph.constant dense<0> : tensor<4096xi64>
  %bit = graph.binary and %i, %one : tensor<4096xi64>
  %odd = graph.binary eq %bit, %one : tensor<4096xi64>
  %up = graph.binary add %least, %i : tensor<4096xi64>
  %down = graph.binary sub %largest, %i : tensor<4096xi64>
  %column = graph.select %odd, %down, %up : tensor<4096xi64>
  %last = graph.constant dense<3996> : tensor<4096xi64>
  %sees = graph.binary lt %i, %last : tensor<4096xi64>
  %row = graph.select %sees, %column, %zero : tensor<4096xi64>
  return %row : tensor<4096xi64>
}

func.func @ends_column() -> tensor<4096xi64> {
  %i = graph.iota dim = 0 : tensor<4096xi64>
  %least = graph.constant dense<-9223372036854775808> : tensor<4096xi64>
  %largest = graph.constant dense<9223372036854775807> : tensor<4096xi64>
  %one = graph.constant dense<1> : tensor<4096xi64>
  %zero = graph.constant dense<0> : tensor<4096xi64>
  %bit = graph.binary and %i, %one : tensor<4096xi64>
  %odd = graph.binary eq %bit, %one : tensor<4096xi64>
  %up = graph.binary add %least, %i : tensor<4096xi64>
  %down = graph.binary sub %largest, %i : tensor<4096xi64>
  %column = graph.select %odd, %down, %up : tensor<4096xi64>
  %last = graph.constant dense<3996> : tensor<4096xi64>
  %sees = graph.binary lt %i, %last : tensor<4096xi64>
  %row = graph.select %sees, %column, %zero : tensor<4096xi64>
  return %column : tensor<4096xi64>
}

// Of so many pairs bounds of blocks take less. Each row sees at most one place, so that its result is a value as it is.
// CHECK: attend_0_visible finds which blocks data hides, by bounds of blocks
func.func @attend(%q: tensor<1x4x4096x16xf16>, %k: tensor<1x4x4096x16xf16>, %v: tensor<1x4x4096x16xf16>, %row: tensor<4096xi64> {graph.name = "row"}, %column: tensor<4096xi64> {graph.name = "column"}) -> tensor<1x4x4096x16xf16> {
  %r1 = graph.reshape %row : tensor<4096xi64> -> tensor<1x1x4096x1xi64>
  %r = graph.expand %r1 : tensor<1x1x4096x1xi64> -> tensor<1x4x4096x4096xi64>
  %c1 = graph.reshape %column : tensor<4096xi64> -> tensor<1x1x1x4096xi64>
  %c = graph.expand %c1 : tensor<1x1x1x4096xi64> -> tensor<1x4x4096x4096xi64>
  %seen = graph.binary eq %r, %c : tensor<1x4x4096x4096xi64>
  %qw = graph.cast %q : tensor<1x4x4096x16xf16> -> tensor<1x4x4096x16xf32>
  %q1 = graph.reshape %qw : tensor<1x4x4096x16xf32> -> tensor<1x4x4096x1x16xf32>
  %q2 = graph.expand %q1 : tensor<1x4x4096x1x16xf32> -> tensor<1x4x4096x4096x16xf32>
  %kw = graph.cast %k : tensor<1x4x4096x16xf16> -> tensor<1x4x4096x16xf32>
  %k1 = graph.reshape %kw : tensor<1x4x4096x16xf32> -> tensor<1x4x1x4096x16xf32>
  %k2 = graph.expand %k1 : tensor<1x4x1x4096x16xf32> -> tensor<1x4x4096x4096x16xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<1x4x4096x4096x16xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<1x4x4096x4096x16xf32> -> tensor<1x4x4096x4096xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<1x4x4096x4096xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<1x4x4096x4096xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<1x4x4096x4096xf32> -> tensor<1x4x4096xf32>
  %m1 = graph.reshape %max : tensor<1x4x4096xf32> -> tensor<1x4x4096x1xf32>
  %m2 = graph.expand %m1 : tensor<1x4x4096x1xf32> -> tensor<1x4x4096x4096xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<1x4x4096x4096xf32>
  %weights = graph.unary exp %distance : tensor<1x4x4096x4096xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<1x4x4096x4096xf32> -> tensor<1x4x4096xf32>
  %s1 = graph.reshape %sum : tensor<1x4x4096xf32> -> tensor<1x4x4096x1xf32>
  %s2 = graph.expand %s1 : tensor<1x4x4096x1xf32> -> tensor<1x4x4096x4096xf32>
  %p = graph.binary div %weights, %s2 : tensor<1x4x4096x4096xf32>
  %p1 = graph.reshape %p : tensor<1x4x4096x4096xf32> -> tensor<1x4x4096x4096x1xf32>
  %p2 = graph.expand %p1 : tensor<1x4x4096x4096x1xf32> -> tensor<1x4x4096x4096x16xf32>
  %vw = graph.cast %v : tensor<1x4x4096x16xf16> -> tensor<1x4x4096x16xf32>
  %v1 = graph.reshape %vw : tensor<1x4x4096x16xf32> -> tensor<1x4x1x4096x16xf32>
  %v2 = graph.expand %v1 : tensor<1x4x1x4096x16xf32> -> tensor<1x4x4096x4096x16xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<1x4x4096x4096x16xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<1x4x4096x4096x16xf32> -> tensor<1x4x4096x16xf32>
  %y = graph.cast %o : tensor<1x4x4096x16xf32> -> tensor<1x4x4096x16xf16>
  %is = graph.binary eq %y, %y : tensor<1x4x4096x16xf16>
  %nothing = graph.constant dense<5.0> : tensor<1x4x4096x16xf16>
  %z = graph.select %is, %y, %nothing : tensor<1x4x4096x16xf16>
  return %z : tensor<1x4x4096x16xf16>
}
