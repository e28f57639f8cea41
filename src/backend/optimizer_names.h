// Names of ONNX Runtime's graph optimizers, as LoadRequest::disabled_optimizers
// takes them.
#ifndef PARITY_BACKEND_OPTIMIZER_NAMES_H_
#define PARITY_BACKEND_OPTIMIZER_NAMES_H_

#include <array>
#include <string_view>

namespace parity {

// Those of the versions from 1.16 to 1.2x that act on the CPU provider, in the
// order in which they run. A name that a version does not have is ignored by
// it. Some names are not those of their classes. Source:
// onnxruntime/core/optimizer/graph_transformer_utils.cc. All joined are longer
// than the 1024 bytes that the headers allow; 1.21 takes them nevertheless.

// Level 1, "basic".
inline constexpr auto kBasicOptimizers = std::to_array<std::string_view>({
    "EliminateIdentity",
    "EliminateSlice",
    "UnsqueezeElimination",
    "EliminateDropout",
    "ExpandElimination",
    "CastElimination",
    "CastChainElimination",
    "PreShapeNodeElimination",
    "NoopElimination",
    "DivMulFusion",
    "FuseReluClip",
    "GemmSumFusion",
    "GemmTransposeFusion",
    "NotWhereFusion",
    "ConvAddFusion",
    "ConvMulFusion",
    "ConvBNFusion",
    "Pad_Fusion",
    "MatMul_BatchNormalization_Fusion",
    "LabelEncoderFusion",
    "DoubleQDQPairsRemover",
    "ConstantSharing",
    "IdenticalChildrenConsolidation",
    "CommonSubexpressionElimination",
    "ConstantFolding",
    "MatMulAddFusion",
    "ReshapeFusion",
    "FreeDimensionOverrideTransformer",
    "GeluFusionL1",
    "LayerNormFusionL1",
    "QDQPropagationTransformer",
    "WeightBiasQuantization",
    "EnsureUniqueDQForNodeUnit",
    "TransposeOptimizer",  // also runs in level 2
});

// Level 2, "extended".
inline constexpr auto kExtendedOptimizers = std::to_array<std::string_view>({
    "ClipQuantRewrite",
    "ReluQuantRewrite",
    "QDQS8ToU8Transformer",
    "QDQSelectorActionTransformer",
    "GemmActivationFusion",
    "MatMulIntegerToFloatFusion",
    "DynamicQuantizeMatMulFusion",
    "ConvActivationFusion",
    "GeluFusion",  // of versions before the levels were in the names
    "GeluFusionL2",
    "LayerNormFusion",
    "LayerNormFusionL2",
    "SimplifiedLayerNormFusion",
    "AttentionFusion",
    "EmbedLayerNormFusion",
    "GatherSliceToSplitFusion",
    "GatherToSliceFusion",
    "MatmulTransposeFusion",
    "BiasGeluFusion",
    "SkipLayerNormFusion",
    "FastGeluFusion",
    "QuickGeluFusion",
    "BiasSoftmaxFusion",
    "MatMulScaleFusion",
    "Avx2WeightS8ToU8Transformer",
    "MatMulNBitsFusion",
    "QDQFinalCleanupTransformer",
});

// Level 3, "all".
inline constexpr auto kLayoutOptimizers = std::to_array<std::string_view>({
    "NchwcTransformer",
    "NhwcTransformer",
    "ConvAddActivationFusion",
});

}  // namespace parity

#endif  // PARITY_BACKEND_OPTIMIZER_NAMES_H_
