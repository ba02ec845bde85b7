// RUN: zyx-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{is external, and has ops of its own}}
kernel.func @ops(%x: !kernel.buffer<f32, global>) attributes {external = #kernel.external<c "f" of "op" results 1 shared 0 text ["x"]>} {
  %c0 = arith.constant 0 : index
  kernel.return
}

// -----

// expected-error@+1 {{is external, and takes scalars}}
kernel.func @scalars(%x: !kernel.buffer<f32, global>, %n: index) attributes {external = #kernel.external<c "f" of "op" results 1 shared 0 text ["x"]>} {
  kernel.return
}

// -----

// expected-error@+1 {{is external, with more results than arguments or fewer than no bytes of shared memory}}
kernel.func @results(%x: !kernel.buffer<f32, global>) attributes {external = #kernel.external<c "f" of "op" results 2 shared 0 text ["x"]>} {
  kernel.return
}

// -----

// expected-error@+1 {{is external, with more results than arguments or fewer than no bytes of shared memory}}
kernel.func @shared(%x: !kernel.buffer<f32, global>) attributes {external = #kernel.external<ptx "f" of "op" results 1 shared -8 text ["x"]>} {
  kernel.return
}
