// The two macros of this project: leave the function with the error of a failed
// Result.
#ifndef PARITY_BASE_STATUS_MACROS_H_
#define PARITY_BASE_STATUS_MACROS_H_

#include <utility>

#include "parity/error.h"

#define PARITY_CONCAT_INNER(a, b) a##b
#define PARITY_CONCAT(a, b) PARITY_CONCAT_INNER(a, b)

// PARITY_RETURN_IF_ERROR(DoIt());
#define PARITY_RETURN_IF_ERROR(expression)                               \
  do {                                                                   \
    if (auto parity_status = (expression); !parity_status.has_value()) { \
      return std::unexpected(std::move(parity_status).error());          \
    }                                                                    \
  } while (false)

// PARITY_ASSIGN_OR_RETURN(const Tensor tensor, ReadTensor(path));
#define PARITY_ASSIGN_OR_RETURN(declaration, expression)                 \
  PARITY_ASSIGN_OR_RETURN_INNER(PARITY_CONCAT(parity_result_, __LINE__), \
                                declaration, expression)
#define PARITY_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!(result).has_value())                                           \
    return std::unexpected(std::move(result).error());                 \
  declaration = *std::move(result)

#endif  // PARITY_BASE_STATUS_MACROS_H_
