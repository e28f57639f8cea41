// The worker of libtorch.
#include <malloc.h>

#include <limits>

#include "backend/torch/torch_backend.h"
#include "worker/worker_loop.h"

int main() {
  // Keep freed blocks, however large, for the next allocation: returned to the
  // system they would come back page by page, each at the price of a fault.
  mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  parity::TorchBackend backend;
  return parity::RunWorkerLoop(backend);
}
