// The module hedgerow._core: a table of contents.
#include <nanobind/nanobind.h>

namespace hedgerow::bindings {

void bind_matrix(nanobind::module_& module);           // Matrix
void bind_algebra(nanobind::module_& module);          // sums, products, votes, Cholesky
void bind_losses(nanobind::module_& module);           // LossShape, loss_pass
void bind_solvers(nanobind::module_& module);          // DualCoordinateDescent, perceptron_pass
void bind_joint_descent(nanobind::module_& module);    // JointDescent
void bind_sequential_dual(nanobind::module_& module);  // SequentialDual
void bind_descent(nanobind::module_& module);          // averaged_steps, steady_steps
void bind_kernel(nanobind::module_& module);    // Kernel, kernel values and sums, KernelScorer
void bind_box_qp(nanobind::module_& module);    // Program, BoxQp
void bind_class_qp(nanobind::module_& module);  // ClassQp
void bind_l1(nanobind::module_& module);        // l1_sweeps
void bind_random(nanobind::module_& module);    // random numbers of a seed and a stream
void bind_resample(nanobind::module_& module);  // bootstrap resamples as counts
void bind_stop(nanobind::module_& module);      // StopToken
void bind_text(nanobind::module_& module);      // parse_libsvm
void bind_tree(nanobind::module_& module);      // CodeTable, TreeTask, TreeRouter
void bind_forest(nanobind::module_& module);    // ForestTrees, OutOfBag
void bind_machine(nanobind::module_& module);   // instruction sets, cores

}  // namespace hedgerow::bindings

NB_MODULE(_core, module) {
  using namespace hedgerow::bindings;
  module.doc() = "The compiled core of Hedgerow: hot loops over arrays that Python has checked.";
  // A matrix that lives as long as the interpreter, in a cache or a module, is no leak.
  nanobind::set_leak_warnings(false);
  nanobind::module_ system = module.def_submodule(
      "system", "The machine: random numbers, stopping, instruction sets, cores.");
  bind_stop(system);
  bind_random(system);
  bind_machine(system);
  nanobind::module_ data =
      module.def_submodule("data", "Matrices, sums and products over their rows, text files.");
  bind_matrix(data);
  bind_algebra(data);
  bind_text(data);
  nanobind::module_ loss = module.def_submodule("loss", "Losses of the residual over all rows.");
  bind_losses(loss);
  nanobind::module_ kernel =
      module.def_submodule("kernel", "Kernels, their values and sums of these.");
  bind_kernel(kernel);
  nanobind::module_ solver =
      module.def_submodule("solver", "Solvers of linear and kernel problems.");
  bind_solvers(solver);
  bind_joint_descent(solver);
  bind_sequential_dual(solver);
  bind_descent(solver);
  bind_box_qp(solver);
  bind_class_qp(solver);
  bind_l1(solver);
  nanobind::module_ tree =
      module.def_submodule("tree", "Encoded features, growing trees, and forests.");
  bind_tree(tree);
  bind_forest(tree);
  nanobind::module_ resample = module.def_submodule("resample", "Bootstrap resamples as counts.");
  bind_resample(resample);
}
