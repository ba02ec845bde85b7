// Classifies handwritten digits by their nearest neighbour. The squared Euclidean distance of two
// images is |x|^2 + |y|^2 - 2 x.y, and the products x.y of all pairs are one matrix product. The
// nearest training image is the first one at the smallest distance.
//
// train_images   1000 images of 8x8 pixels, 0 to 16
// train_labels   what they show
// test_images    the images to classify
// test_labels    what they show, to count how many are right
// predicted      a label per test image
// correct        how many of them are test_labels'

func.func @knn(%train: tensor<1000x8x8xui8> {graph.name = "train_images"},
               %train_labels: tensor<1000xi64> {graph.name = "train_labels"},
               %test: tensor<797x8x8xui8> {graph.name = "test_images"},
               %test_labels: tensor<797xi64> {graph.name = "test_labels"})
    -> (tensor<i64> {graph.name = "correct"}, tensor<797xi64> {graph.name = "predicted"}) {
  // Images as rows of numbers.
  %x_pixels = graph.reshape %test : tensor<797x8x8xui8> -> tensor<797x64xui8>
  %x = graph.cast %x_pixels : tensor<797x64xui8> -> tensor<797x64xf32>
  %y_pixels = graph.reshape %train : tensor<1000x8x8xui8> -> tensor<1000x64xui8>
  %y = graph.cast %y_pixels : tensor<1000x64xui8> -> tensor<1000x64xf32>

  // |x|^2 and |y|^2.
  %x_squares = graph.binary mul %x, %x : tensor<797x64xf32>
  %x_norms = graph.reduce add %x_squares dims = [1] : tensor<797x64xf32> -> tensor<797xf32>
  %y_squares = graph.binary mul %y, %y : tensor<1000x64xf32>
  %y_norms = graph.reduce add %y_squares dims = [1] : tensor<1000x64xf32> -> tensor<1000xf32>

  // x.y of all pairs: a contraction.
  %x_row = graph.reshape %x : tensor<797x64xf32> -> tensor<797x1x64xf32>
  %x_all = graph.expand %x_row : tensor<797x1x64xf32> -> tensor<797x1000x64xf32>
  %y_row = graph.reshape %y : tensor<1000x64xf32> -> tensor<1x1000x64xf32>
  %y_all = graph.expand %y_row : tensor<1x1000x64xf32> -> tensor<797x1000x64xf32>
  %products = graph.binary mul %x_all, %y_all : tensor<797x1000x64xf32>
  %dots = graph.reduce add %products dims = [2] : tensor<797x1000x64xf32> -> tensor<797x1000xf32>

  // The distances.
  %x_norms_column = graph.reshape %x_norms : tensor<797xf32> -> tensor<797x1xf32>
  %x_norms_all = graph.expand %x_norms_column : tensor<797x1xf32> -> tensor<797x1000xf32>
  %y_norms_row = graph.reshape %y_norms : tensor<1000xf32> -> tensor<1x1000xf32>
  %y_norms_all = graph.expand %y_norms_row : tensor<1x1000xf32> -> tensor<797x1000xf32>
  %norms = graph.binary add %x_norms_all, %y_norms_all : tensor<797x1000xf32>
  %two = graph.constant dense<2.0> : tensor<797x1000xf32>
  %dots_twice = graph.binary mul %dots, %two : tensor<797x1000xf32>
  %distances = graph.binary sub %norms, %dots_twice : tensor<797x1000xf32>

  // The first index at the smallest distance.
  %smallest = graph.reduce min %distances dims = [1] : tensor<797x1000xf32> -> tensor<797xf32>
  %smallest_column = graph.reshape %smallest : tensor<797xf32> -> tensor<797x1xf32>
  %smallest_all = graph.expand %smallest_column : tensor<797x1xf32> -> tensor<797x1000xf32>
  %is_smallest = graph.binary eq %distances, %smallest_all : tensor<797x1000xf32>
  %indices = graph.iota dim = 1 : tensor<797x1000xi64>
  %none = graph.constant dense<1000> : tensor<797x1000xi64>
  %candidates = graph.select %is_smallest, %indices, %none : tensor<797x1000xi64>
  %nearest = graph.reduce min %candidates dims = [1] : tensor<797x1000xi64> -> tensor<797xi64>

  // Its label, and how often that is right.
  %predicted = graph.gather %train_labels[%nearest] dim = 0 : (tensor<1000xi64>, tensor<797xi64>) -> tensor<797xi64>
  %is_right = graph.binary eq %predicted, %test_labels : tensor<797xi64>
  %ones = graph.cast %is_right : tensor<797xi1> -> tensor<797xi64>
  %correct = graph.reduce add %ones dims = [0] : tensor<797xi64> -> tensor<i64>
  return %correct, %predicted : tensor<i64>, tensor<797xi64>
}
