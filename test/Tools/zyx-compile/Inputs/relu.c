/* Calls what zyx-compile --source makes of examples/bias-relu.mlir. */
#include <stdio.h>

int zyx_main(const float *x, const float *bias, float *result);

static float x[1024][512], bias[512], y[1024][512];

int main(void) {
  for (int i = 0; i < 1024; ++i)
    for (int j = 0; j < 512; ++j)
      x[i][j] = (float)((i * 7 + j * 3) % 11 - 5);
  for (int j = 0; j < 512; ++j)
    bias[j] = (float)(j % 5) - 2.5f;
  if (zyx_main(&x[0][0], bias, &y[0][0]) != 0)
    return 1;
  int right = 0;
  for (int i = 0; i < 1024; ++i)
    for (int j = 0; j < 512; ++j) {
      const float sum = x[i][j] + bias[j];
      right += y[i][j] == (sum > 0 ? sum : 0);
    }
  printf("%d right\n", right);
  return 0;
}
