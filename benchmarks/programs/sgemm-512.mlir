func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %bt = graph.permute %b order = [1, 0] : tensor<512x512xf32> -> tensor<512x512xf32>
  %ar = graph.reshape %a : tensor<512x512xf32> -> tensor<512x1x512xf32>
  %br = graph.reshape %bt : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %ae = graph.expand %ar : tensor<512x1x512xf32> -> tensor<512x512x512xf32>
  %be = graph.expand %br : tensor<1x512x512xf32> -> tensor<512x512x512xf32>
  %p = graph.binary mul %ae, %be : tensor<512x512x512xf32>
  %c = graph.reduce add %p dims = [2] : tensor<512x512x512xf32> -> tensor<512x512xf32>
  return %c : tensor<512x512xf32>
}
