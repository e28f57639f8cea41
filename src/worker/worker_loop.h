// The worker's side of the protocol.
#ifndef PARITY_WORKER_WORKER_LOOP_H_
#define PARITY_WORKER_WORKER_LOOP_H_

#include "backend/backend.h"

namespace parity {

// Serves requests on the inherited socket with `backend` until the tool says
// quit or is gone. backend.name() is what the tool calls this worker in
// messages ("ONNX Runtime"). The inputs of a run are the backend's own
// (copy-on-write) and their bytes may be written, which is noticed and
// reported. Whatever the backend throws becomes an error reply. Returns the
// exit code of the process: 0, or 2 when it was not started by the tool or the
// connection broke.
[[nodiscard]] int RunWorkerLoop(Backend& backend);

}  // namespace parity

#endif  // PARITY_WORKER_WORKER_LOOP_H_
