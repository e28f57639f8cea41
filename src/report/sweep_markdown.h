// A sweep as GitHub-flavoured Markdown, for pull requests and wikis.
#ifndef PARITY_REPORT_SWEEP_MARKDOWN_H_
#define PARITY_REPORT_SWEEP_MARKDOWN_H_

#include <string>

#include "parity/sweep.h"

namespace parity {

// What the terminal's table says. Texts from outside are escaped: they show as
// they are.
[[nodiscard]] std::string FormatSweepMarkdown(const SweepResult& result);

}  // namespace parity

#endif  // PARITY_REPORT_SWEEP_MARKDOWN_H_
