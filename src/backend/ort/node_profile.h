// What ONNX Runtime's profile of a run says about who ran what.
#ifndef PARITY_BACKEND_ORT_NODE_PROFILE_H_
#define PARITY_BACKEND_ORT_NODE_PROFILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace parity {

// Execution provider → nodes of it in a profile (the JSON text that
// Session::EndProfiling() leaves behind). A node that ran more than once, in a
// loop say, counts once; a part of the graph that a provider took as a whole
// counts as the one node it became. Empty when the text is no such profile.
[[nodiscard]] std::map<std::string, std::int64_t> CountProviderNodes(
    std::string_view profile);

}  // namespace parity

#endif  // PARITY_BACKEND_ORT_NODE_PROFILE_H_
