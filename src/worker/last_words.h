// What a worker printed, made fit for one line of an error message.
#ifndef PARITY_WORKER_LAST_WORDS_H_
#define PARITY_WORKER_LAST_WORDS_H_

#include <string>
#include <string_view>

namespace parity {

// The last few lines that mean something, joined by " | "; empty when there are
// none. Known noise of the libraries' start-up is left out, long lines are cut,
// control characters and bytes that are no UTF-8 become '?'.
[[nodiscard]] std::string LastWords(std::string_view output);

// Whether a library's error text says that an allocation has failed.
[[nodiscard]] bool MentionsNoMemory(std::string_view text);

}  // namespace parity

#endif  // PARITY_WORKER_LAST_WORDS_H_
