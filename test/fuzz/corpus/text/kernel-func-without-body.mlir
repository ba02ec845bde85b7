kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedulel.return
}
