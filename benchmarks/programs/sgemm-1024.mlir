func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %bt = graph.permute %b order = [1, 0] : tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %ar = graph.reshape %a : tensor<1024x1024xf32> -> tensor<1024x1x1024xf32>
  %br = graph.reshape %bt : tensor<1024x1024xf32> -> tensor<1x1024x1024xf32>
  %ae = graph.expand %ar : tensor<1024x1x1024xf32> -> tensor<1024x1024x1024xf32>
  %be = graph.expand %br : tensor<1x1024x1024xf32> -> tensor<1024x1024x1024xf32>
  %p = graph.binary mul %ae, %be : tensor<1024x1024x1024xf32>
  %c = graph.reduce add %p dims = [2] : tensor<1024x1024x1024xf32> -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}
