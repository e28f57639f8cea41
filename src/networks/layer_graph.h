// A graph under construction together with the weights of its network: layers
// that have parameters, and the choices every layer depends on.
#ifndef PARITY_NETWORKS_LAYER_GRAPH_H_
#define PARITY_NETWORKS_LAYER_GRAPH_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/model.h"
#include "graph/operators.h"
#include "networks/matting_export_options.h"
#include "networks/parameter_rounding.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

class LayerGraph {
 public:
  // Borrows `weights`, which must hold every parameter the layers name, in
  // the right shape.
  LayerGraph(std::string graph_name, const NamedTensors& weights,
             const MattingExportOptions& options);

  // Operators that name their nodes after `module`.
  [[nodiscard]] Operators In(std::string module);

  // The convolution `path` (with a bias where the network has one).
  [[nodiscard]] Value Conv(const std::string& path, Value x,
                           const Window& window = {});
  // The convolution `conv` and the batch normalisation `bn` after it. Folded
  // into one node if the options say so; its value is named after `bn` then,
  // so that a value of one name is the same tensor in both graphs. `x` may
  // have ZeroChannels() more channels than the convolution takes.
  [[nodiscard]] Value ConvBn(const std::string& conv, const std::string& bn,
                             Value x, const Window& window = {},
                             int zero_channels = 0);
  // How many channels of zeros to append before a convolution of small patches.
  // ONNX Runtime's fast kernels take multiples of 4 channels; the others made
  // the refiner four times as slow. 0 without constant folding, which leaves
  // the parameters as they are.
  [[nodiscard]] int ZeroChannels(int channels) const {
    return fold_ ? (4 - channels % 4) % 4 : 0;
  }
  // `x` clamped to [low, high].
  [[nodiscard]] Value Clip(const std::string& module, Value x, double low,
                           double high);

  // Bilinear resizing of `x` (N,channels,H,W) to the int64 `size` (2). N is
  // the batch of the inputs. Computed in float32 whatever the precision.
  [[nodiscard]] Value Up(const std::string& module, Value x, int channels,
                         Value size);
  // The same, left in float32.
  [[nodiscard]] Value UpInFloat32(const std::string& module, Value x,
                                  int channels, Value size);

  // Between the precision of the network and float32; nothing to do when they
  // are one.
  [[nodiscard]] Value ToFloat32(const Operators& module, Value x) const;
  [[nodiscard]] Value FromFloat32(const Operators& module, Value x) const;

  // The batch size, int64 (1), which the graph's inputs determine.
  void SetBatch(Value batch) { batch_ = batch; }
  [[nodiscard]] Value batch() const { return batch_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] GraphBuilder& builder() { return builder_; }

  // Rounds and folds the parameters on two threads and hands out the graph.
  // `notes` receives a line for every parameter that lost values.
  [[nodiscard]] Result<Graph> Take(std::vector<std::string>& notes) &&;

 private:
  struct Slot {
    std::string name;
    Value initializer;
    RoundedTensor rounded;
  };
  struct Job {
    std::vector<Slot> slots;
    std::function<Status(std::vector<Slot>&)> compute;
  };

  [[nodiscard]] const Tensor& Weight(std::string_view name) const;
  [[nodiscard]] Value Parameter(const std::string& name);

  GraphBuilder builder_;
  std::map<std::string, const Tensor*, std::less<>> weights_;
  int opset_version_;
  bool fold_;
  DType dtype_;
  Value batch_;
  std::vector<Job> jobs_;
};

}  // namespace parity

#endif  // PARITY_NETWORKS_LAYER_GRAPH_H_
