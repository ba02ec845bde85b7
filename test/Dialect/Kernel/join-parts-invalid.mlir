// RUN: zyx-opt %s -split-input-file -verify-diagnostics -zyx-kernel-join-parts

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  // expected-error@+1 {{needs two parts or more, and the arguments of each}}
  kernel.func @one(%x: !kernel.buffer<f32, global>) attributes {parts = [@a], part_arguments = [array<i64: 0>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  // expected-error@+1 {{has 1 arguments, of which a part has number 1}}
  kernel.func @number(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @b], part_arguments = [array<i64: 0>, array<i64: 1>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  // expected-error@+1 {{has parts, and ops of its own}}
  kernel.func @ops(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @b], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    %c0 = arith.constant 0 : index
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"gfx942">} {
  // expected-error@+1 {{has parts, whose threads the machine has no barriers for}}
  kernel.func @machine(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @b], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    kernel.return
  }
  kernel.func @a(%x: !kernel.buffer<f32, global>) {
    kernel.return
  }
  kernel.func @b(%x: !kernel.buffer<f32, global>) {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  // expected-error@+1 {{has the part 'b', which is no kernel}}
  kernel.func @missing(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @b], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    kernel.return
  }
  kernel.func @a(%x: !kernel.buffer<f32, global>) {
    kernel.return
  }
  func.func private @b()
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  // expected-error@+1 {{has the part 'a', which is no kernel}}
  kernel.func @absent(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @b], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  kernel.func @a(%x: !kernel.buffer<f32, global>) {
    kernel.return
  }
  // expected-error@+1 {{has the part 'a', which is no kernel of the lowered form whose workgroups are alone}}
  kernel.func @tiled(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @a], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  kernel.func @a(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
    kernel.return
  }
  // expected-error@+1 {{gives the part 'a' 2 arguments of 1}}
  kernel.func @count(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @a], part_arguments = [array<i64: 0, 0>, array<i64: 0>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  kernel.func @a(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
    kernel.return
  }
  // expected-error@+1 {{gives the part 'a' a '!kernel.buffer<bf16, global>' where it takes '!kernel.buffer<f32, global>'}}
  kernel.func @type(%x: !kernel.buffer<bf16, global>) attributes {
      parts = [@a, @a], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  kernel.func @a(%x: !kernel.buffer<f32, global>, %n: index) attributes {form = #kernel.form<lowered>} {
    kernel.grid (%i) in [%n] step [1] {
    }
    kernel.return
  }
  // expected-error@+1 {{has the part 'a', whose grid is known at run time only}}
  kernel.func @dynamic(%x: !kernel.buffer<f32, global>, %n: index) attributes {
      parts = [@a, @a], part_arguments = [array<i64: 0, 1>, array<i64: 0, 1>]} {
    kernel.return
  }
}

// -----

module attributes {kernel.target = #kernel.target<"sm_90a">} {
  kernel.func @a(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
    %w = kernel.view %x map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
    %t = kernel.id thread
    %zero = arith.constant 0.0 : f32
    kernel.grid (%i) in [2] step [1] {
      kernel.store %zero, %w[%t] : f32, <64xf32, global>
    }
    kernel.return
  }
  // expected-error@+1 {{has the part 'a', which has a 'kernel.id' outside of its grid}}
  kernel.func @beside(%x: !kernel.buffer<f32, global>) attributes {
      parts = [@a, @a], part_arguments = [array<i64: 0>, array<i64: 0>]} {
    kernel.return
  }
}
