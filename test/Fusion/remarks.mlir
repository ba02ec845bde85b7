// RUN: zyx-opt %s --zyx-fuse --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=Missed

// CHECK: remarks.mlir:[[@LINE+6]]:{{.*}}[Missed] FormGroups {{.*}}"not in the kernel of its producer: its reductions keep different axes"
// CHECK: [Passed] FormGroups {{.*}}Function=axes {{.*}}"2 ops with 1 reduction and 1 result over 8 rows"
// CHECK: [Passed] FormGroups {{.*}}"1 op with 1 reduction and 1 result over 1 rows"
func.func @axes(%x: tensor<8x4xf32>) -> tensor<f32> {
  %r = graph.reduce max %x dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %e = graph.unary exp %r : tensor<8xf32>
  %s = graph.reduce add %e dims = [0] : tensor<8xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: a reshape of a computed value changes more than unit dimensions"
// CHECK: [Passed] FormGroups {{.*}}Function=reshape
func.func @reshape(%x: tensor<8x4xf32>) -> tensor<2xf32> {
  %r = graph.reduce max %x dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %v = graph.reshape %r : tensor<8xf32> -> tensor<2x4xf32>
  %s = graph.reduce add %v dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: one axis would walk along two dimensions of a value"
// CHECK: [Passed] FormGroups {{.*}}Function=transposed
func.func @transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = graph.unary exp %x : tensor<8x8xf32>
  %f = graph.unary tanh %e : tensor<8x8xf32>
  %t = graph.permute %f order = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = graph.binary add %f, %t : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: a gather reads what the same kernel computes"
// CHECK: [Passed] FormGroups {{.*}}Function=gather
func.func @gather(%x: tensor<8xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %e = graph.unary exp %x : tensor<8xf32>
  %g = graph.gather %e[%i] dim = 0 : (tensor<8xf32>, tensor<3xi32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: it would compute transcendental functions again in each row"
// CHECK: [Passed] FormGroups {{.*}}Function=outer
func.func @outer(%x: tensor<8xf32>) -> tensor<64x8xf32> {
  %a = graph.unary exp %x : tensor<8xf32>
  %b = graph.unary sin %a : tensor<8xf32>
  %c = graph.unary tanh %b : tensor<8xf32>
  %c1 = graph.reshape %c : tensor<8xf32> -> tensor<1x8xf32>
  %c2 = graph.expand %c1 : tensor<1x8xf32> -> tensor<64x8xf32>
  %i = graph.iota dim = 0 : tensor<64x8xf32>
  %y = graph.binary add %i, %c2 : tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: it would compute too many ops again in each row"
// CHECK: [Passed] FormGroups {{.*}}Function=long_outer
func.func @long_outer(%x: tensor<8xf32>) -> tensor<64x8xf32> {
  %0 = graph.unary neg %x : tensor<8xf32>
  %1 = graph.unary sqrt %0 : tensor<8xf32>
  %2 = graph.unary neg %1 : tensor<8xf32>
  %3 = graph.unary floor %2 : tensor<8xf32>
  %4 = graph.unary abs %3 : tensor<8xf32>
  %5 = graph.unary sqrt %4 : tensor<8xf32>
  %6 = graph.unary neg %5 : tensor<8xf32>
  %7 = graph.unary floor %6 : tensor<8xf32>
  %8 = graph.unary abs %7 : tensor<8xf32>
  %c1 = graph.reshape %8 : tensor<8xf32> -> tensor<1x8xf32>
  %c2 = graph.expand %c1 : tensor<1x8xf32> -> tensor<64x8xf32>
  %i = graph.iota dim = 0 : tensor<64x8xf32>
  %y = graph.binary add %i, %c2 : tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: its rows are few and long, and would be read twice"
// CHECK: [Passed] FormGroups {{.*}}Function=long_row
func.func @long_row(%x: tensor<200000xf32>) -> tensor<200000xf32> {
  %s = graph.reduce add %x dims = [0] : tensor<200000xf32> -> tensor<f32>
  %s1 = graph.reshape %s : tensor<f32> -> tensor<1xf32>
  %s2 = graph.expand %s1 : tensor<1xf32> -> tensor<200000xf32>
  %y = graph.binary div %x, %s2 : tensor<200000xf32>
  return %y : tensor<200000xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: its results do not share their rows"
// CHECK: [Passed] FormGroups {{.*}}Function=rows
func.func @rows(%x: tensor<8xf32>, %z: tensor<64x8xf32>) -> (tensor<8xf32>, tensor<64x8xf32>) {
  %c = graph.unary exp %x : tensor<8xf32>
  %c1 = graph.reshape %c : tensor<8xf32> -> tensor<1x8xf32>
  %c2 = graph.expand %c1 : tensor<1x8xf32> -> tensor<64x8xf32>
  %y = graph.binary add %z, %c2 : tensor<64x8xf32>
  return %c, %y : tensor<8xf32>, tensor<64x8xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: a flip, pad or window reads
// CHECK: [Missed] {{.*}}"not in the kernel of its producer: another kernel lies between them"
// CHECK: [Missed] {{.*}}"not in the kernel of its producer: a flip, pad or window reads
// CHECK: [Passed] FormGroups {{.*}}Function=between
func.func @between(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = graph.unary exp %x : tensor<8xf32>
  %f = graph.unary tanh %e : tensor<8xf32>
  %r = graph.reduce add %f dims = [0] : tensor<8xf32> -> tensor<f32>
  %r1 = graph.reshape %r : tensor<f32> -> tensor<1xf32>
  %r2 = graph.expand %r1 : tensor<1xf32> -> tensor<8xf32>
  %h = graph.binary sub %f, %r2 : tensor<8xf32>
  %v = graph.flip %h dims = [0] : tensor<8xf32>
  %g = graph.unary sin %v : tensor<8xf32>
  %w = graph.flip %g dims = [0] : tensor<8xf32>
  %y = graph.binary add %h, %w : tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: a contraction stands alone among reductions"
// CHECK: [Passed] FormGroups {{.*}}Function=products
func.func @products(%x: tensor<64x16xf32>, %v: tensor<32x16xf32>, %w: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %x1 = graph.reshape %x : tensor<64x16xf32> -> tensor<64x1x16xf32>
  %x2 = graph.expand %x1 : tensor<64x1x16xf32> -> tensor<64x32x16xf32>
  %v1 = graph.reshape %v : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %v2 = graph.expand %v1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %w1 = graph.reshape %w : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %w2 = graph.expand %w1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %p = graph.binary mul %x2, %v2 : tensor<64x32x16xf32>
  %d = graph.reduce add %p dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  %q = graph.binary mul %x2, %w2 : tensor<64x32x16xf32>
  %e = graph.reduce add %q dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  %y = graph.binary add %d, %e : tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: it would have more than 256 ops"
// CHECK: [Passed] FormGroups {{.*}}"256 ops with no reduction
func.func @many(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.unary neg %x : tensor<8xf32>
  %1 = graph.unary neg %0 : tensor<8xf32>
  %2 = graph.unary neg %1 : tensor<8xf32>
  %3 = graph.unary neg %2 : tensor<8xf32>
  %4 = graph.unary neg %3 : tensor<8xf32>
  %5 = graph.unary neg %4 : tensor<8xf32>
  %6 = graph.unary neg %5 : tensor<8xf32>
  %7 = graph.unary neg %6 : tensor<8xf32>
  %8 = graph.unary neg %7 : tensor<8xf32>
  %9 = graph.unary neg %8 : tensor<8xf32>
  %10 = graph.unary neg %9 : tensor<8xf32>
  %11 = graph.unary neg %10 : tensor<8xf32>
  %12 = graph.unary neg %11 : tensor<8xf32>
  %13 = graph.unary neg %12 : tensor<8xf32>
  %14 = graph.unary neg %13 : tensor<8xf32>
  %15 = graph.unary neg %14 : tensor<8xf32>
  %16 = graph.unary neg %15 : tensor<8xf32>
  %17 = graph.unary neg %16 : tensor<8xf32>
  %18 = graph.unary neg %17 : tensor<8xf32>
  %19 = graph.unary neg %18 : tensor<8xf32>
  %20 = graph.unary neg %19 : tensor<8xf32>
  %21 = graph.unary neg %20 : tensor<8xf32>
  %22 = graph.unary neg %21 : tensor<8xf32>
  %23 = graph.unary neg %22 : tensor<8xf32>
  %24 = graph.unary neg %23 : tensor<8xf32>
  %25 = graph.unary neg %24 : tensor<8xf32>
  %26 = graph.unary neg %25 : tensor<8xf32>
  %27 = graph.unary neg %26 : tensor<8xf32>
  %28 = graph.unary neg %27 : tensor<8xf32>
  %29 = graph.unary neg %28 : tensor<8xf32>
  %30 = graph.unary neg %29 : tensor<8xf32>
  %31 = graph.unary neg %30 : tensor<8xf32>
  %32 = graph.unary neg %31 : tensor<8xf32>
  %33 = graph.unary neg %32 : tensor<8xf32>
  %34 = graph.unary neg %33 : tensor<8xf32>
  %35 = graph.unary neg %34 : tensor<8xf32>
  %36 = graph.unary neg %35 : tensor<8xf32>
  %37 = graph.unary neg %36 : tensor<8xf32>
  %38 = graph.unary neg %37 : tensor<8xf32>
  %39 = graph.unary neg %38 : tensor<8xf32>
  %40 = graph.unary neg %39 : tensor<8xf32>
  %41 = graph.unary neg %40 : tensor<8xf32>
  %42 = graph.unary neg %41 : tensor<8xf32>
  %43 = graph.unary neg %42 : tensor<8xf32>
  %44 = graph.unary neg %43 : tensor<8xf32>
  %45 = graph.unary neg %44 : tensor<8xf32>
  %46 = graph.unary neg %45 : tensor<8xf32>
  %47 = graph.unary neg %46 : tensor<8xf32>
  %48 = graph.unary neg %47 : tensor<8xf32>
  %49 = graph.unary neg %48 : tensor<8xf32>
  %50 = graph.unary neg %49 : tensor<8xf32>
  %51 = graph.unary neg %50 : tensor<8xf32>
  %52 = graph.unary neg %51 : tensor<8xf32>
  %53 = graph.unary neg %52 : tensor<8xf32>
  %54 = graph.unary neg %53 : tensor<8xf32>
  %55 = graph.unary neg %54 : tensor<8xf32>
  %56 = graph.unary neg %55 : tensor<8xf32>
  %57 = graph.unary neg %56 : tensor<8xf32>
  %58 = graph.unary neg %57 : tensor<8xf32>
  %59 = graph.unary neg %58 : tensor<8xf32>
  %60 = graph.unary neg %59 : tensor<8xf32>
  %61 = graph.unary neg %60 : tensor<8xf32>
  %62 = graph.unary neg %61 : tensor<8xf32>
  %63 = graph.unary neg %62 : tensor<8xf32>
  %64 = graph.unary neg %63 : tensor<8xf32>
  %65 = graph.unary neg %64 : tensor<8xf32>
  %66 = graph.unary neg %65 : tensor<8xf32>
  %67 = graph.unary neg %66 : tensor<8xf32>
  %68 = graph.unary neg %67 : tensor<8xf32>
  %69 = graph.unary neg %68 : tensor<8xf32>
  %70 = graph.unary neg %69 : tensor<8xf32>
  %71 = graph.unary neg %70 : tensor<8xf32>
  %72 = graph.unary neg %71 : tensor<8xf32>
  %73 = graph.unary neg %72 : tensor<8xf32>
  %74 = graph.unary neg %73 : tensor<8xf32>
  %75 = graph.unary neg %74 : tensor<8xf32>
  %76 = graph.unary neg %75 : tensor<8xf32>
  %77 = graph.unary neg %76 : tensor<8xf32>
  %78 = graph.unary neg %77 : tensor<8xf32>
  %79 = graph.unary neg %78 : tensor<8xf32>
  %80 = graph.unary neg %79 : tensor<8xf32>
  %81 = graph.unary neg %80 : tensor<8xf32>
  %82 = graph.unary neg %81 : tensor<8xf32>
  %83 = graph.unary neg %82 : tensor<8xf32>
  %84 = graph.unary neg %83 : tensor<8xf32>
  %85 = graph.unary neg %84 : tensor<8xf32>
  %86 = graph.unary neg %85 : tensor<8xf32>
  %87 = graph.unary neg %86 : tensor<8xf32>
  %88 = graph.unary neg %87 : tensor<8xf32>
  %89 = graph.unary neg %88 : tensor<8xf32>
  %90 = graph.unary neg %89 : tensor<8xf32>
  %91 = graph.unary neg %90 : tensor<8xf32>
  %92 = graph.unary neg %91 : tensor<8xf32>
  %93 = graph.unary neg %92 : tensor<8xf32>
  %94 = graph.unary neg %93 : tensor<8xf32>
  %95 = graph.unary neg %94 : tensor<8xf32>
  %96 = graph.unary neg %95 : tensor<8xf32>
  %97 = graph.unary neg %96 : tensor<8xf32>
  %98 = graph.unary neg %97 : tensor<8xf32>
  %99 = graph.unary neg %98 : tensor<8xf32>
  %100 = graph.unary neg %99 : tensor<8xf32>
  %101 = graph.unary neg %100 : tensor<8xf32>
  %102 = graph.unary neg %101 : tensor<8xf32>
  %103 = graph.unary neg %102 : tensor<8xf32>
  %104 = graph.unary neg %103 : tensor<8xf32>
  %105 = graph.unary neg %104 : tensor<8xf32>
  %106 = graph.unary neg %105 : tensor<8xf32>
  %107 = graph.unary neg %106 : tensor<8xf32>
  %108 = graph.unary neg %107 : tensor<8xf32>
  %109 = graph.unary neg %108 : tensor<8xf32>
  %110 = graph.unary neg %109 : tensor<8xf32>
  %111 = graph.unary neg %110 : tensor<8xf32>
  %112 = graph.unary neg %111 : tensor<8xf32>
  %113 = graph.unary neg %112 : tensor<8xf32>
  %114 = graph.unary neg %113 : tensor<8xf32>
  %115 = graph.unary neg %114 : tensor<8xf32>
  %116 = graph.unary neg %115 : tensor<8xf32>
  %117 = graph.unary neg %116 : tensor<8xf32>
  %118 = graph.unary neg %117 : tensor<8xf32>
  %119 = graph.unary neg %118 : tensor<8xf32>
  %120 = graph.unary neg %119 : tensor<8xf32>
  %121 = graph.unary neg %120 : tensor<8xf32>
  %122 = graph.unary neg %121 : tensor<8xf32>
  %123 = graph.unary neg %122 : tensor<8xf32>
  %124 = graph.unary neg %123 : tensor<8xf32>
  %125 = graph.unary neg %124 : tensor<8xf32>
  %126 = graph.unary neg %125 : tensor<8xf32>
  %127 = graph.unary neg %126 : tensor<8xf32>
  %128 = graph.unary neg %127 : tensor<8xf32>
  %129 = graph.unary neg %128 : tensor<8xf32>
  %130 = graph.unary neg %129 : tensor<8xf32>
  %131 = graph.unary neg %130 : tensor<8xf32>
  %132 = graph.unary neg %131 : tensor<8xf32>
  %133 = graph.unary neg %132 : tensor<8xf32>
  %134 = graph.unary neg %133 : tensor<8xf32>
  %135 = graph.unary neg %134 : tensor<8xf32>
  %136 = graph.unary neg %135 : tensor<8xf32>
  %137 = graph.unary neg %136 : tensor<8xf32>
  %138 = graph.unary neg %137 : tensor<8xf32>
  %139 = graph.unary neg %138 : tensor<8xf32>
  %140 = graph.unary neg %139 : tensor<8xf32>
  %141 = graph.unary neg %140 : tensor<8xf32>
  %142 = graph.unary neg %141 : tensor<8xf32>
  %143 = graph.unary neg %142 : tensor<8xf32>
  %144 = graph.unary neg %143 : tensor<8xf32>
  %145 = graph.unary neg %144 : tensor<8xf32>
  %146 = graph.unary neg %145 : tensor<8xf32>
  %147 = graph.unary neg %146 : tensor<8xf32>
  %148 = graph.unary neg %147 : tensor<8xf32>
  %149 = graph.unary neg %148 : tensor<8xf32>
  %150 = graph.unary neg %149 : tensor<8xf32>
  %151 = graph.unary neg %150 : tensor<8xf32>
  %152 = graph.unary neg %151 : tensor<8xf32>
  %153 = graph.unary neg %152 : tensor<8xf32>
  %154 = graph.unary neg %153 : tensor<8xf32>
  %155 = graph.unary neg %154 : tensor<8xf32>
  %156 = graph.unary neg %155 : tensor<8xf32>
  %157 = graph.unary neg %156 : tensor<8xf32>
  %158 = graph.unary neg %157 : tensor<8xf32>
  %159 = graph.unary neg %158 : tensor<8xf32>
  %160 = graph.unary neg %159 : tensor<8xf32>
  %161 = graph.unary neg %160 : tensor<8xf32>
  %162 = graph.unary neg %161 : tensor<8xf32>
  %163 = graph.unary neg %162 : tensor<8xf32>
  %164 = graph.unary neg %163 : tensor<8xf32>
  %165 = graph.unary neg %164 : tensor<8xf32>
  %166 = graph.unary neg %165 : tensor<8xf32>
  %167 = graph.unary neg %166 : tensor<8xf32>
  %168 = graph.unary neg %167 : tensor<8xf32>
  %169 = graph.unary neg %168 : tensor<8xf32>
  %170 = graph.unary neg %169 : tensor<8xf32>
  %171 = graph.unary neg %170 : tensor<8xf32>
  %172 = graph.unary neg %171 : tensor<8xf32>
  %173 = graph.unary neg %172 : tensor<8xf32>
  %174 = graph.unary neg %173 : tensor<8xf32>
  %175 = graph.unary neg %174 : tensor<8xf32>
  %176 = graph.unary neg %175 : tensor<8xf32>
  %177 = graph.unary neg %176 : tensor<8xf32>
  %178 = graph.unary neg %177 : tensor<8xf32>
  %179 = graph.unary neg %178 : tensor<8xf32>
  %180 = graph.unary neg %179 : tensor<8xf32>
  %181 = graph.unary neg %180 : tensor<8xf32>
  %182 = graph.unary neg %181 : tensor<8xf32>
  %183 = graph.unary neg %182 : tensor<8xf32>
  %184 = graph.unary neg %183 : tensor<8xf32>
  %185 = graph.unary neg %184 : tensor<8xf32>
  %186 = graph.unary neg %185 : tensor<8xf32>
  %187 = graph.unary neg %186 : tensor<8xf32>
  %188 = graph.unary neg %187 : tensor<8xf32>
  %189 = graph.unary neg %188 : tensor<8xf32>
  %190 = graph.unary neg %189 : tensor<8xf32>
  %191 = graph.unary neg %190 : tensor<8xf32>
  %192 = graph.unary neg %191 : tensor<8xf32>
  %193 = graph.unary neg %192 : tensor<8xf32>
  %194 = graph.unary neg %193 : tensor<8xf32>
  %195 = graph.unary neg %194 : tensor<8xf32>
  %196 = graph.unary neg %195 : tensor<8xf32>
  %197 = graph.unary neg %196 : tensor<8xf32>
  %198 = graph.unary neg %197 : tensor<8xf32>
  %199 = graph.unary neg %198 : tensor<8xf32>
  %200 = graph.unary neg %199 : tensor<8xf32>
  %201 = graph.unary neg %200 : tensor<8xf32>
  %202 = graph.unary neg %201 : tensor<8xf32>
  %203 = graph.unary neg %202 : tensor<8xf32>
  %204 = graph.unary neg %203 : tensor<8xf32>
  %205 = graph.unary neg %204 : tensor<8xf32>
  %206 = graph.unary neg %205 : tensor<8xf32>
  %207 = graph.unary neg %206 : tensor<8xf32>
  %208 = graph.unary neg %207 : tensor<8xf32>
  %209 = graph.unary neg %208 : tensor<8xf32>
  %210 = graph.unary neg %209 : tensor<8xf32>
  %211 = graph.unary neg %210 : tensor<8xf32>
  %212 = graph.unary neg %211 : tensor<8xf32>
  %213 = graph.unary neg %212 : tensor<8xf32>
  %214 = graph.unary neg %213 : tensor<8xf32>
  %215 = graph.unary neg %214 : tensor<8xf32>
  %216 = graph.unary neg %215 : tensor<8xf32>
  %217 = graph.unary neg %216 : tensor<8xf32>
  %218 = graph.unary neg %217 : tensor<8xf32>
  %219 = graph.unary neg %218 : tensor<8xf32>
  %220 = graph.unary neg %219 : tensor<8xf32>
  %221 = graph.unary neg %220 : tensor<8xf32>
  %222 = graph.unary neg %221 : tensor<8xf32>
  %223 = graph.unary neg %222 : tensor<8xf32>
  %224 = graph.unary neg %223 : tensor<8xf32>
  %225 = graph.unary neg %224 : tensor<8xf32>
  %226 = graph.unary neg %225 : tensor<8xf32>
  %227 = graph.unary neg %226 : tensor<8xf32>
  %228 = graph.unary neg %227 : tensor<8xf32>
  %229 = graph.unary neg %228 : tensor<8xf32>
  %230 = graph.unary neg %229 : tensor<8xf32>
  %231 = graph.unary neg %230 : tensor<8xf32>
  %232 = graph.unary neg %231 : tensor<8xf32>
  %233 = graph.unary neg %232 : tensor<8xf32>
  %234 = graph.unary neg %233 : tensor<8xf32>
  %235 = graph.unary neg %234 : tensor<8xf32>
  %236 = graph.unary neg %235 : tensor<8xf32>
  %237 = graph.unary neg %236 : tensor<8xf32>
  %238 = graph.unary neg %237 : tensor<8xf32>
  %239 = graph.unary neg %238 : tensor<8xf32>
  %240 = graph.unary neg %239 : tensor<8xf32>
  %241 = graph.unary neg %240 : tensor<8xf32>
  %242 = graph.unary neg %241 : tensor<8xf32>
  %243 = graph.unary neg %242 : tensor<8xf32>
  %244 = graph.unary neg %243 : tensor<8xf32>
  %245 = graph.unary neg %244 : tensor<8xf32>
  %246 = graph.unary neg %245 : tensor<8xf32>
  %247 = graph.unary neg %246 : tensor<8xf32>
  %248 = graph.unary neg %247 : tensor<8xf32>
  %249 = graph.unary neg %248 : tensor<8xf32>
  %250 = graph.unary neg %249 : tensor<8xf32>
  %251 = graph.unary neg %250 : tensor<8xf32>
  %252 = graph.unary neg %251 : tensor<8xf32>
  %253 = graph.unary neg %252 : tensor<8xf32>
  %254 = graph.unary neg %253 : tensor<8xf32>
  %255 = graph.unary neg %254 : tensor<8xf32>
  %256 = graph.unary neg %255 : tensor<8xf32>
  return %256 : tensor<8xf32>
}

// CHECK: [Missed] {{.*}}"not in the kernel of its producer: it would compare positions again for each element of a product"
// CHECK: [Passed] FormGroups {{.*}}Function=gates {{.*}}"7 ops with no reduction and 1 result over 8192 rows"
// CHECK: [Passed] FormGroups {{.*}}Function=gates {{.*}}"3 ops with a contraction and 1 result over 262144 rows"
func.func @gates(%x: tensor<512x64xf32>, %w: tensor<64x16x32xf32>, %at: tensor<512x1xi64>, %u: tensor<512x1xf32>) -> tensor<512x16x32xf32> {
  %places = graph.expand %at : tensor<512x1xi64> -> tensor<512x16xi64>
  %column = graph.iota dim = 1 : tensor<512x16xi64>
  %is = graph.binary eq %places, %column : tensor<512x16xi64>
  %all = graph.expand %u : tensor<512x1xf32> -> tensor<512x16xf32>
  %zero = graph.constant dense<0.0> : tensor<512x16xf32>
  %gate = graph.select %is, %all, %zero : tensor<512x16xf32>
  %g1 = graph.reshape %gate : tensor<512x16xf32> -> tensor<512x16x1xf32>
  %g2 = graph.expand %g1 : tensor<512x16x1xf32> -> tensor<512x16x32xf32>
  %x1 = graph.reshape %x : tensor<512x64xf32> -> tensor<512x64x1x1xf32>
  %x2 = graph.expand %x1 : tensor<512x64x1x1xf32> -> tensor<512x64x16x32xf32>
  %w1 = graph.reshape %w : tensor<64x16x32xf32> -> tensor<1x64x16x32xf32>
  %w2 = graph.expand %w1 : tensor<1x64x16x32xf32> -> tensor<512x64x16x32xf32>
  %p = graph.binary mul %x2, %w2 : tensor<512x64x16x32xf32>
  %h = graph.reduce add %p dims = [1] : tensor<512x64x16x32xf32> -> tensor<512x16x32xf32>
  %y = graph.binary mul %h, %g2 : tensor<512x16x32xf32>
  return %y : tensor<512x16x32xf32>
}
