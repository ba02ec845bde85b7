// RUN: zyx-opt %s --split-input-file --verify-diagnostics

kernel.func @f() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : <16x16xf32, shared>
  // expected-error @below {{'kernel.warp_read' op reads elements of 16 bits out of shared memory, not}}
  %0 = kernel.warp_read %s[%c0, %c0] : <16x16xf32, shared> -> vector<4xi32>
  kernel.return
}

// -----

kernel.func @f() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : <16x16xbf16, private>
  // expected-error @below {{'kernel.warp_read' op reads elements of 16 bits out of shared memory, not}}
  %0 = kernel.warp_read %s[%c0, %c0] : <16x16xbf16, private> -> vector<4xi32>
  kernel.return
}

// -----

kernel.func @f() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : <16x16xbf16, shared>
  // expected-error @below {{'kernel.warp_read' op has 1 indices for a view of rank 2}}
  %0 = kernel.warp_read %s[%c0] : <16x16xbf16, shared> -> vector<4xi32>
  kernel.return
}

// -----

kernel.func @f() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : <16x16xbf16, shared>
  // expected-error @below {{'kernel.warp_read' op gives vector<4xi32>, not 'vector<2xi32>'}}
  %0 = kernel.warp_read %s[%c0, %c0] : <16x16xbf16, shared> -> vector<2xi32>
  kernel.return
}

// -----

kernel.func @f() {
  %a = arith.constant dense<0> : vector<4xi32>
  %b = arith.constant dense<0> : vector<2xi32>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @below {{'kernel.warp_multiply' op multiplies f16 or bf16, not 'f32'}}
  %0 = kernel.warp_multiply f32 %a, %b, %c : vector<4xi32>, vector<2xi32>, vector<4xf32>
  kernel.return
}

// -----

kernel.func @f() {
  %a = arith.constant dense<0> : vector<2xi32>
  %b = arith.constant dense<0> : vector<2xi32>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @below {{'kernel.warp_multiply' op takes vector<4xi32>, vector<2xi32> and vector<4xf32>}}
  %0 = kernel.warp_multiply bf16 %a, %b, %c : vector<2xi32>, vector<2xi32>, vector<4xf32>
  kernel.return
}
