//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Everything a program with tensors includes.
#ifndef ZYX_ZYX_H
#define ZYX_ZYX_H

#include "zyx/NN/Attention.h"
#include "zyx/NN/Convolution.h"
#include "zyx/NN/Gguf.h"
#include "zyx/NN/Layers.h"
#include "zyx/NN/Module.h"
#include "zyx/NN/Norms.h"
#include "zyx/NN/Recurrent.h"
#include "zyx/NN/Training.h"
#include "zyx/NN/Transformer.h"
#include "zyx/Optim/Optimizer.h"
#include "zyx/Optim/TrainStep.h"
#include "zyx/Tensor/Activations.h"
#include "zyx/Tensor/Convolution.h"
#include "zyx/Tensor/Creation.h"
#include "zyx/Tensor/Custom.h"
#include "zyx/Tensor/Export.h"
#include "zyx/Tensor/Factorizations.h"
#include "zyx/Tensor/Files.h"
#include "zyx/Tensor/Functions.h"
#include "zyx/Tensor/HostView.h"
#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Jit.h"
#include "zyx/Tensor/Linalg.h"
#include "zyx/Tensor/Loop.h"
#include "zyx/Tensor/Losses.h"
#include "zyx/Tensor/Members.h"
#include "zyx/Tensor/Parameter.h"
#include "zyx/Tensor/PendingUpdate.h"
#include "zyx/Tensor/Plot.h"
#include "zyx/Tensor/Print.h"
#include "zyx/Tensor/Profile.h"
#include "zyx/Tensor/Random.h"
#include "zyx/Tensor/Selection.h"
#include "zyx/Tensor/Sorting.h"
#include "zyx/Tensor/Tape.h"
#include "zyx/Tensor/Tensor.h"

#endif // ZYX_ZYX_H
