//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Ops that take nothing for granted. MLIR lets a text leave out a property, say an attribute twice and
// keeps one of the two, reads over properties that an op has not, and keeps what is misspelt as a
// discardable attribute: the op then means something else than what is written.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_STRICT_STRICTOP_H
#define ZYX_DIALECT_STRICT_STRICTOP_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OperationSupport.h"

namespace zyx {
template <typename OpT> struct VerifierOf;
} // namespace zyx

/// An op lets nobody but models of ops call its verifier.
template <typename OpT> struct mlir::RegisteredOperationName::Model<zyx::VerifierOf<OpT>> {
  static llvm::LogicalResult verify(mlir::Operation *op) { return OpT::getVerifyInvariantsFn()(op); }
};

namespace zyx {

/// The hooks of an op, which its dialect registers in their place. No op is ever of this type: its id
/// is the op's own.
template <typename OpT> struct StrictOp : OpT {
  using OpT::OpT;
  using Properties = typename OpT::template InferredProperties<OpT>;
  using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

  /// The op's own syntax; refuses what is given by it and in the dictionary behind it.
  static mlir::ParseResult parse(mlir::OpAsmParser &parser, mlir::OperationState &state) {
    const llvm::SMLoc place = parser.getCurrentLocation();
    if (mlir::failed(OpT::parse(parser, state)))
      return mlir::failure();
    const auto refuse = [&](llvm::StringRef name) {
      return parser.emitError(place) << "has its attribute '" << name << "' twice";
    };
    if (auto twice = state.attributes.findDuplicate())
      return refuse(twice->getName());
    if constexpr (hasProperties)
      if (state.getRawProperties())
        for (mlir::NamedAttribute attribute : state.attributes)
          if (auto own = OpT::getInherentAttr(
                  parser.getContext(), *state.getRawProperties().template as<Properties *>(), attribute.getName());
              own && *own)
            return refuse(attribute.getName());
    return mlir::success();
  }

  /// The generic form's dictionary where it has no `<{...}>`: what an op is must be said in one.
  static llvm::LogicalResult verifyInherentAttrs(mlir::OperationName name, mlir::NamedAttrList &attributes,
                                                 EmitError emitError) {
    if constexpr (hasKind) {
      if (emitError)
        emitError() << "requires its property 'kind', in <{...}>";
      return mlir::failure();
    } else {
      return OpT::verifyInherentAttrs(name, attributes, emitError);
    }
  }

  /// The generic form's `<{...}>`, on properties that the dictionary behind it may have set.
  static llvm::LogicalResult setPropertiesFromAttr(Properties &properties, mlir::Attribute attribute,
                                                   EmitError emitError) {
    const auto refuse = [&](const llvm::Twine &reason) {
      if (emitError)
        emitError() << reason;
      return mlir::failure();
    };
    auto given = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
    if (!given)
      return OpT::setPropertiesFromAttr(properties, attribute, emitError);
    mlir::MLIRContext *context = attribute.getContext();
    Properties untouched{};
    OpT::populateDefaultProperties(mlir::OperationName(OpT::getOperationName(), context), untouched);
    for (mlir::NamedAttribute each : given) {
      const llvm::StringRef name = each.getName();
      if (!llvm::is_contained(OpT::getAttributeNames(), name) && !isSegments(name) && !(hasKind && name == "kind"))
        return refuse("it has no property '" + name + "'");
      const std::optional<mlir::Attribute> before = OpT::getInherentAttr(context, properties, name);
      if (before && *before && before != OpT::getInherentAttr(context, untouched, name))
        return refuse("it has its attribute '" + name + "' twice");
    }
    if constexpr (hasKind) {
      // Larger numbers would be cut to the bits of the enum.
      auto kind = given.getAs<mlir::IntegerAttr>("kind");
      if (!kind || !kind.getType().isInteger(32))
        return refuse("it requires its property 'kind', an i32");
    }
    return OpT::setPropertiesFromAttr(properties, attribute, emitError);
  }

  /// What belongs to others has their dialect's name before a dot.
  static mlir::OperationName::VerifyInvariantsFn getVerifyInvariantsFn() {
    return [](mlir::Operation *op) -> llvm::LogicalResult {
      for (mlir::NamedAttribute attribute : op->getDiscardableAttrs())
        if (!attribute.getName().getValue().contains('.'))
          return op->emitOpError() << "has no attribute '" << attribute.getName().getValue() << "'";
      return mlir::RegisteredOperationName::Model<VerifierOf<OpT>>::verify(op);
    };
  }

private:
  static constexpr bool hasProperties = !std::is_same_v<Properties, mlir::EmptyProperties>;
  /// Whether it has a kind that is no attribute: as a property it costs a byte, and MLIR takes the first one
  /// where none is given.
  static constexpr bool hasKind = [] {
    if constexpr (requires(Properties p) { p.kind; })
      return std::is_enum_v<decltype(Properties::kind)>;
    else
      return false;
  }();

  /// Both spellings of the numbers of operands and results of each kind.
  static bool isSegments(llvm::StringRef name) {
    return name == "operandSegmentSizes" || name == "operand_segment_sizes" || name == "resultSegmentSizes" ||
           name == "result_segment_sizes";
  }
};

/// In a dialect's initialize(), instead of addOperations.
template <typename... Ops> void addStrictOperations(mlir::Dialect &dialect) {
  (mlir::RegisteredOperationName::insert(
       std::make_unique<mlir::RegisteredOperationName::Model<StrictOp<Ops>>>(&dialect), Ops::getAttributeNames()),
   ...);
}

} // namespace zyx

template <typename OpT> struct mlir::detail::TypeIDResolver<zyx::StrictOp<OpT>> : TypeIDResolver<OpT> {};

#endif // ZYX_DIALECT_STRICT_STRICTOP_H
