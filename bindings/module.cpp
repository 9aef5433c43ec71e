// The module hedgerow._core: a table of contents.
#include <nanobind/nanobind.h>

namespace hedgerow::bindings {

void bind_matrix(nanobind::module_& module);   // Matrix
void bind_algebra(nanobind::module_& module);  // sums, products, votes, Cholesky
void bind_losses(nanobind::module_& module);   // LossShape, loss_pass
void bind_solvers(nanobind::module_& module);  // DualCoordinateDescent, perceptron_pass
void bind_joint_descent(nanobind::module_& module);    // JointDescent
void bind_sequential_dual(nanobind::module_& module);  // SequentialDual
void bind_descent(nanobind::module_& module);  // averaged_steps, steady_steps
void bind_kernel(nanobind::module_& module);   // Kernel, kernel values and sums, KernelScorer
void bind_box_qp(nanobind::module_& module);   // Program, BoxQp
void bind_class_qp(nanobind::module_& module);  // ClassQp
void bind_l1(nanobind::module_& module);       // l1_sweeps
void bind_random(nanobind::module_& module);   // random numbers of a seed and a stream
void bind_resample(nanobind::module_& module);  // bootstrap resamples as counts
void bind_stop(nanobind::module_& module);     // StopToken
void bind_text(nanobind::module_& module);     // parse_libsvm
void bind_tree(nanobind::module_& module);     // CodeTable, TreeTask, TreeRouter
void bind_forest(nanobind::module_& module);   // ForestTrees, OutOfBag
void bind_machine(nanobind::module_& module);  // instruction sets, cores

}  // namespace hedgerow::bindings

NB_MODULE(_core, module) {
  using namespace hedgerow::bindings;
  module.doc() = "The compiled core of Hedgerow: hot loops over arrays that Python has checked.";
  // A matrix that lives as long as the interpreter, in a cache or a module, is no leak.
  nanobind::set_leak_warnings(false);
  bind_matrix(module);
  bind_algebra(module);
  bind_losses(module);
  bind_solvers(module);
  bind_joint_descent(module);
  bind_sequential_dual(module);
  bind_descent(module);
  bind_kernel(module);
  bind_box_qp(module);
  bind_class_qp(module);
  bind_l1(module);
  bind_random(module);
  bind_resample(module);
  bind_stop(module);
  bind_text(module);
  bind_tree(module);
  bind_forest(module);
  bind_machine(module);
}
