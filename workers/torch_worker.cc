// The worker of libtorch.
#include <malloc.h>

#include <limits>

#include "backend/torch/torch_backend.h"
#include "worker/worker_loop.h"

int main() {
  // Keep freed blocks, however large, for the next allocation: returned to the
  // system they would come back page by page, each at the price of a fault.
  // One arena, so that threads reuse each other's blocks.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_ARENA_MAX, 1);
  parity::TorchBackend backend;
  return parity::RunWorkerLoop(backend);
}
