// The hot loops, compiled once for each instruction set by loops_<isa>.cpp, which defines
//
//   HEDGEROW_LOOPS         the name of the table this makes
//   HEDGEROW_ISA_NAME      what users call the instruction set
//   HEDGEROW_VECTOR_BYTES  the width of its vector registers
//
// Everything but the table has internal linkage and no header with functions is included: the
// linker keeps one copy of a shared inline function, and it might be one this CPU cannot run.
// Sums are taken in an order fixed by the length, so a loop gives the same bits wherever it starts.

#include "hedgerow/system/hot_loops.hpp"

namespace hedgerow {
namespace {

using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

#include "vectors.inl"
#include "rows.inl"
#include "exponentials.inl"
#include "dual_rules.inl"
#include "sweeps.inl"
#include "class_sweeps.inl"
#include "joint_sweeps.inl"
#include "descent.inl"
#include "tiles.inl"
#include "counts.inl"
#include "ranks.inl"
#include "losses.inl"
#include "kernel_tiles.inl"
#include "kernel_forms.inl"
#include "pair_steps.inl"
#include "class_steps.inl"

template <class Rows, class T>
constexpr PanelLoops<Rows, T> panel_loops() {
  return {pack_strips<T, Rows>, scatter<T, Rows>};
}

template <class T>
constexpr KernelLoops<T> kernel_loops() {
  return {kStripRows, kStripCols<T>,  kScatterRows<T>,    fold_features,
          fold_row,   finish_tile<T>, add_kernel_rows<T>, weigh_tile<T>};
}

template <class Rows>
constexpr RowLoops<Rows> row_loops() {
  return {panel_loops<Rows, float>(),
          panel_loops<Rows, double>(),
          forget<Rows>,
          scores<Rows>,
          add_weighted<Rows>,
          add_weighted_squares<Rows>,
          add_gram_product<Rows>,
          sq_norms<Rows>,
          box_sweep<Rows>,
          logistic_sweep<Rows>,
          class_sweep<Rows>,
          class_scores<Rows>,
          add_class_hyperplanes<Rows>,
          box_joint_sweep<Rows>,
          logistic_joint_sweep<Rows>,
          perceptron_pass<Rows>,
          loss_pass<Rows>,
          averaged_steps<Rows>,
          steady_steps<Rows>};
}

template <class T>
constexpr DenseLoops<T> dense_loops() {
  return {row_loops<DenseRows<T>>(), pack<T>, pack_transposed<T>, first_beyond<T>};
}

template <class T, class I>
constexpr SparseLoops<T, I> sparse_loops() {
  return {row_loops<SparseRows<T, I>>(),
          {scattered_products<float, float, T, I>, scattered_products<float, float, T, I>,
           packed_products<float, T, I>},
          {scattered_products<double, double, T, I>, scattered_products<double, float, T, I>,
           packed_products<double, T, I>},
          add_outer<T, I>};
}

}  // namespace

extern const HotLoops HEDGEROW_LOOPS;

constinit const HotLoops HEDGEROW_LOOPS = {
    dense_loops<float>(),
    dense_loops<double>(),
    sparse_loops<float, int32_t>(),
    sparse_loops<float, int64_t>(),
    sparse_loops<double, int32_t>(),
    sparse_loops<double, int64_t>(),
    kernel_loops<float>(),
    kernel_loops<double>(),
    HEDGEROW_ISA_NAME,
    finish_rbf_rounded,
    pair_steps,
    single_steps,
    box_look,
    logistic_look,
    class_look,
    class_steps,
    class_violations,
    box_joint_look,
    gemm_nt,
    gemm_nt_lower,
    factor,
    solve_rows,
    solve_factored,
    poisson_counts,
    sum_counts,
    sum_selected,
    count_sums,
    gini_coefficients,
    auc,
    exp,
    log1p,
    loss_at,
    loss_along,
};

}  // namespace hedgerow
