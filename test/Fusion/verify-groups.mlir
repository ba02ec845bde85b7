// RUN: zyx-opt %s --split-input-file --verify-diagnostics --zyx-fusion-verify-groups

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{computes outside of a group}}
  %0 = graph.unary exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @two_spaces(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  // expected-error@+1 {{is no kernel: its reductions keep different axes}}
  %0:2 = graph.group(%p = %x : tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
    %r = graph.reduce add %p dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
    %c = graph.reduce add %p dims = [0] : tensor<4x8xf32> -> tensor<8xf32>
    graph.yield %r, %c : tensor<4xf32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xf32>
}

// -----

// A parameter may stand alone, and an iota be seen through unit dimensions.
func.func @fine() -> tensor<4x8xi32> {
  %w = graph.parameter "w" : tensor<32xi32>
  %0 = graph.group(%p = %w : tensor<32xi32>) -> tensor<4x8xi32> {
    %v = graph.reshape %p : tensor<32xi32> -> tensor<4x8xi32>
    %i = graph.iota dim = 0 : tensor<8xi32>
    %i1 = graph.reshape %i : tensor<8xi32> -> tensor<1x8xi32>
    %i2 = graph.expand %i1 : tensor<1x8xi32> -> tensor<4x8xi32>
    %y = graph.binary add %v, %i2 : tensor<4x8xi32>
    graph.yield %y : tensor<4x8xi32>
  }
  return %0 : tensor<4x8xi32>
}

// -----

func.func @iota() -> tensor<4x8xi32> {
  // expected-error@+1 {{is no kernel: a reshape of a computed value changes more than unit dimensions}}
  %0 = graph.group() -> tensor<4x8xi32> {
    %i = graph.iota dim = 0 : tensor<32xi32>
    %v = graph.reshape %i : tensor<32xi32> -> tensor<4x8xi32>
    %y = graph.unary neg %v : tensor<4x8xi32>
    graph.yield %y : tensor<4x8xi32>
  }
  return %0 : tensor<4x8xi32>
}

// -----

func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is no kernel: a scan, sort or scatter is a kernel of its own}}
  %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %s = graph.scan add %a dim = 0 : tensor<4xf32>
    %y = graph.unary neg %s : tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @flip(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is no kernel: a flip, pad or window reads what the same kernel computes}}
  %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = graph.unary exp %a : tensor<4xf32>
    %f = graph.flip %e dims = [0] : tensor<4xf32>
    %y = graph.unary neg %f : tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @concat(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{is no kernel: an op is left that is taken apart before groups are formed}}
  %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<8xf32> {
    %y = graph.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Scores that are the same for all batches of a mask.
func.func @scores(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %v: tensor<4x6xf32>, %m: tensor<2x3x4xf32>) -> tensor<2x3x6xf32> {
  // expected-error@+1 {{is no kernel: the sums of an attention have other axes than its softmax}}
  %0 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gv = %v : tensor<4x6xf32>, %gm = %m : tensor<2x3x4xf32>) -> tensor<2x3x6xf32> {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %s1 = graph.reshape %s : tensor<3x4xf32> -> tensor<1x3x4xf32>
    %s2 = graph.expand %s1 : tensor<1x3x4xf32> -> tensor<2x3x4xf32>
    %x = graph.binary add %s2, %gm : tensor<2x3x4xf32>
    %max = graph.reduce max %x dims = [2] : tensor<2x3x4xf32> -> tensor<2x3xf32>
    %max1 = graph.reshape %max : tensor<2x3xf32> -> tensor<2x3x1xf32>
    %max2 = graph.expand %max1 : tensor<2x3x1xf32> -> tensor<2x3x4xf32>
    %d = graph.binary sub %x, %max2 : tensor<2x3x4xf32>
    %e = graph.unary exp %d : tensor<2x3x4xf32>
    %e1 = graph.reshape %e : tensor<2x3x4xf32> -> tensor<2x3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<2x3x4x1xf32> -> tensor<2x3x4x6xf32>
    %v1 = graph.reshape %gv : tensor<4x6xf32> -> tensor<1x1x4x6xf32>
    %v2 = graph.expand %v1 : tensor<1x1x4x6xf32> -> tensor<2x3x4x6xf32>
    %ev = graph.binary mul %e2, %v2 : tensor<2x3x4x6xf32>
    %y = graph.reduce add %ev dims = [2] : tensor<2x3x4x6xf32> -> tensor<2x3x6xf32>
    graph.yield %y : tensor<2x3x6xf32>
  }
  return %0 : tensor<2x3x6xf32>
}

// -----

// The exponentials are a result, too.
func.func @exponentials(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %v: tensor<4x6xf32>) -> (tensor<3x6xf32>, tensor<3x4xf32>) {
  // expected-error@+1 {{is no kernel: a result of an attention has an element per key}}
  %0:2 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gv = %v : tensor<4x6xf32>) -> (tensor<3x6xf32>, tensor<3x4xf32>) {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %max = graph.reduce max %s dims = [1] : tensor<3x4xf32> -> tensor<3xf32>
    %max1 = graph.reshape %max : tensor<3xf32> -> tensor<3x1xf32>
    %max2 = graph.expand %max1 : tensor<3x1xf32> -> tensor<3x4xf32>
    %d = graph.binary sub %s, %max2 : tensor<3x4xf32>
    %e = graph.unary exp %d : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x6xf32>
    %v1 = graph.reshape %gv : tensor<4x6xf32> -> tensor<1x4x6xf32>
    %v2 = graph.expand %v1 : tensor<1x4x6xf32> -> tensor<3x4x6xf32>
    %ev = graph.binary mul %e2, %v2 : tensor<3x4x6xf32>
    %y = graph.reduce add %ev dims = [1] : tensor<3x4x6xf32> -> tensor<3x6xf32>
    graph.yield %y, %e : tensor<3x6xf32>, tensor<3x4xf32>
  }
  return %0#0, %0#1 : tensor<3x6xf32>, tensor<3x4xf32>
}

// -----

// The smallest score, too.
func.func @smallest(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %v: tensor<4x6xf32>) -> (tensor<3x6xf32>, tensor<3xf32>) {
  // expected-error@+1 {{is no kernel: an attention stands alone among reductions}}
  %0:2 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gv = %v : tensor<4x6xf32>) -> (tensor<3x6xf32>, tensor<3xf32>) {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %min = graph.reduce min %s dims = [1] : tensor<3x4xf32> -> tensor<3xf32>
    %max = graph.reduce max %s dims = [1] : tensor<3x4xf32> -> tensor<3xf32>
    %max1 = graph.reshape %max : tensor<3xf32> -> tensor<3x1xf32>
    %max2 = graph.expand %max1 : tensor<3x1xf32> -> tensor<3x4xf32>
    %d = graph.binary sub %s, %max2 : tensor<3x4xf32>
    %e = graph.unary exp %d : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x6xf32>
    %v1 = graph.reshape %gv : tensor<4x6xf32> -> tensor<1x4x6xf32>
    %v2 = graph.expand %v1 : tensor<1x4x6xf32> -> tensor<3x4x6xf32>
    %ev = graph.binary mul %e2, %v2 : tensor<3x4x6xf32>
    %y = graph.reduce add %ev dims = [1] : tensor<3x4x6xf32> -> tensor<3x6xf32>
    graph.yield %y, %min : tensor<3x6xf32>, tensor<3xf32>
  }
  return %0#0, %0#1 : tensor<3x6xf32>, tensor<3xf32>
}

// -----

// A chain of contractions, and one whose products are a result, too.
func.func @chain(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %g: tensor<3x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gg = %g : tensor<3x6xf32>) -> tensor<4x6xf32> {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %e = graph.unary exp %s : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x6xf32>
    %g1 = graph.reshape %gg : tensor<3x6xf32> -> tensor<3x1x6xf32>
    %g2 = graph.expand %g1 : tensor<3x1x6xf32> -> tensor<3x4x6xf32>
    %eg = graph.binary mul %e2, %g2 : tensor<3x4x6xf32>
    %y = graph.reduce add %eg dims = [0] : tensor<3x4x6xf32> -> tensor<4x6xf32>
    graph.yield %y : tensor<4x6xf32>
  }
  return %0 : tensor<4x6xf32>
}

func.func @chain_products(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %g: tensor<3x6xf32>) -> (tensor<4x6xf32>, tensor<3x4xf32>) {
  // expected-error@+1 {{is no kernel: a result has an element for each that is summed up}}
  %0:2 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gg = %g : tensor<3x6xf32>) -> (tensor<4x6xf32>, tensor<3x4xf32>) {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %e = graph.unary exp %s : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x6xf32>
    %g1 = graph.reshape %gg : tensor<3x6xf32> -> tensor<3x1x6xf32>
    %g2 = graph.expand %g1 : tensor<3x1x6xf32> -> tensor<3x4x6xf32>
    %eg = graph.binary mul %e2, %g2 : tensor<3x4x6xf32>
    %y = graph.reduce add %eg dims = [0] : tensor<3x4x6xf32> -> tensor<4x6xf32>
    graph.yield %y, %e : tensor<4x6xf32>, tensor<3x4xf32>
  }
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<3x4xf32>
}

// -----

// The features of a result are computed, and summed up before.
func.func @chain_features(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{is no kernel: a result has an axis along which a product is summed up}}
  %0 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>) -> tensor<3x5xf32> {
    %n = graph.unary neg %gk : tensor<4x5xf32>
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %n : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %e = graph.unary exp %s : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x5xf32>
    %ek = graph.binary mul %e2, %k2 : tensor<3x4x5xf32>
    %y = graph.reduce add %ek dims = [1] : tensor<3x4x5xf32> -> tensor<3x5xf32>
    graph.yield %y : tensor<3x5xf32>
  }
  return %0 : tensor<3x5xf32>
}

// -----

// One product for all batches, and one for each.
func.func @chain_products_differ(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %b: tensor<2x4x5xf32>, %g: tensor<3x6xf32>) -> tensor<2x4x6xf32> {
  // expected-error@+1 {{is no kernel: its products keep other axes than those of its rows and the one they are summed along}}
  %0 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gb = %b : tensor<2x4x5xf32>, %gg = %g : tensor<3x6xf32>) -> tensor<2x4x6xf32> {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %e = graph.unary exp %s : tensor<3x4xf32>
    %p1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<1x3x1x5xf32>
    %p2 = graph.expand %p1 : tensor<1x3x1x5xf32> -> tensor<2x3x4x5xf32>
    %b1 = graph.reshape %gb : tensor<2x4x5xf32> -> tensor<2x1x4x5xf32>
    %b2 = graph.expand %b1 : tensor<2x1x4x5xf32> -> tensor<2x3x4x5xf32>
    %pb = graph.binary mul %p2, %b2 : tensor<2x3x4x5xf32>
    %t = graph.reduce add %pb dims = [3] : tensor<2x3x4x5xf32> -> tensor<2x3x4xf32>
    %f1 = graph.reshape %e : tensor<3x4xf32> -> tensor<1x3x4xf32>
    %f2 = graph.expand %f1 : tensor<1x3x4xf32> -> tensor<2x3x4xf32>
    %w = graph.binary mul %f2, %t : tensor<2x3x4xf32>
    %w1 = graph.reshape %w : tensor<2x3x4xf32> -> tensor<2x3x4x1xf32>
    %w2 = graph.expand %w1 : tensor<2x3x4x1xf32> -> tensor<2x3x4x6xf32>
    %g1 = graph.reshape %gg : tensor<3x6xf32> -> tensor<1x3x1x6xf32>
    %g2 = graph.expand %g1 : tensor<1x3x1x6xf32> -> tensor<2x3x4x6xf32>
    %wg = graph.binary mul %w2, %g2 : tensor<2x3x4x6xf32>
    %y = graph.reduce add %wg dims = [1] : tensor<2x3x4x6xf32> -> tensor<2x4x6xf32>
    graph.yield %y : tensor<2x4x6xf32>
  }
  return %0 : tensor<2x4x6xf32>
}

// -----

// Sums along queries, and along keys.
func.func @chain_both_sums(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %g: tensor<3x6xf32>, %v: tensor<4x7xf32>) -> (tensor<4x6xf32>, tensor<3x7xf32>) {
  // expected-error@+1 {{is no kernel: its sums of products are along different axes, or keep others than its rows}}
  %0:2 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gg = %g : tensor<3x6xf32>, %gv = %v : tensor<4x7xf32>) -> (tensor<4x6xf32>, tensor<3x7xf32>) {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %e = graph.unary exp %s : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x6xf32>
    %g1 = graph.reshape %gg : tensor<3x6xf32> -> tensor<3x1x6xf32>
    %g2 = graph.expand %g1 : tensor<3x1x6xf32> -> tensor<3x4x6xf32>
    %eg = graph.binary mul %e2, %g2 : tensor<3x4x6xf32>
    %y = graph.reduce add %eg dims = [0] : tensor<3x4x6xf32> -> tensor<4x6xf32>
    %f2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x7xf32>
    %v1 = graph.reshape %gv : tensor<4x7xf32> -> tensor<1x4x7xf32>
    %v2 = graph.expand %v1 : tensor<1x4x7xf32> -> tensor<3x4x7xf32>
    %ev = graph.binary mul %f2, %v2 : tensor<3x4x7xf32>
    %z = graph.reduce add %ev dims = [1] : tensor<3x4x7xf32> -> tensor<3x7xf32>
    graph.yield %y, %z : tensor<4x6xf32>, tensor<3x7xf32>
  }
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<3x7xf32>
}

// -----

// What is made of a sum is summed up again.
func.func @chain_goes_on(%q: tensor<3x5xf32>, %k: tensor<4x5xf32>, %g: tensor<3x6xf32>) -> tensor<3x4x6xf32> {
  // expected-error@+1 {{is no kernel: a sum of products is needed before it is complete}}
  %0 = graph.group(%gq = %q : tensor<3x5xf32>, %gk = %k : tensor<4x5xf32>, %gg = %g : tensor<3x6xf32>) -> tensor<3x4x6xf32> {
    %q1 = graph.reshape %gq : tensor<3x5xf32> -> tensor<3x1x5xf32>
    %q2 = graph.expand %q1 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
    %k1 = graph.reshape %gk : tensor<4x5xf32> -> tensor<1x4x5xf32>
    %k2 = graph.expand %k1 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
    %qk = graph.binary mul %q2, %k2 : tensor<3x4x5xf32>
    %s = graph.reduce add %qk dims = [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
    %e = graph.unary exp %s : tensor<3x4xf32>
    %e1 = graph.reshape %e : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %e2 = graph.expand %e1 : tensor<3x4x1xf32> -> tensor<3x4x6xf32>
    %g1 = graph.reshape %gg : tensor<3x6xf32> -> tensor<3x1x6xf32>
    %g2 = graph.expand %g1 : tensor<3x1x6xf32> -> tensor<3x4x6xf32>
    %eg = graph.binary mul %e2, %g2 : tensor<3x4x6xf32>
    %y = graph.reduce add %eg dims = [0] : tensor<3x4x6xf32> -> tensor<4x6xf32>
    %y1 = graph.reshape %y : tensor<4x6xf32> -> tensor<1x4x6xf32>
    %y2 = graph.expand %y1 : tensor<1x4x6xf32> -> tensor<3x4x6xf32>
    %z = graph.binary add %y2, %eg : tensor<3x4x6xf32>
    graph.yield %z : tensor<3x4x6xf32>
  }
  return %0 : tensor<3x4x6xf32>
}
