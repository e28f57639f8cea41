// A case of two fake sides, ready for the rules.
#ifndef PARITY_DIAGNOSE_TESTING_FAKE_CASE_H_
#define PARITY_DIAGNOSE_TESTING_FAKE_CASE_H_

#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {

// `sides` must outlive it; what they do may change in between.
class FakeCase {
 public:
  FakeCase(FakeSides& sides, const NamedTensors& inputs)
      : model(sides.MakeModel(inputs)),
        subject(sides.MakeSubject(inputs)),
        lab(sides.Options()),
        investigation(subject, model, lab) {
    investigation.MeasureBudgets();
  }
  FakeCase(const FakeCase&) = delete;
  FakeCase& operator=(const FakeCase&) = delete;

  Model model;
  Subject subject;
  Laboratory lab;
  Investigation investigation;
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_TESTING_FAKE_CASE_H_
