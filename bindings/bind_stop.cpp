#include <chrono>

#include "arrays.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow::bindings {
namespace {

/// Lets Python's signal handlers run, which they do in the main thread alone; what they raise is
/// thrown.
void run_signal_handlers() {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void construct(StopToken* self, const StopToken* parent, bool runs_signal_handlers) {
  new (self)
      StopToken(parent, runs_signal_handlers ? run_signal_handlers : std::function<void()>());
}

void stop_after(StopToken& self, double seconds) {
  const std::chrono::duration<double> wait(seconds);
  self.stop_at(StopToken::Clock::now() +
               std::chrono::duration_cast<StopToken::Clock::duration>(wait));
}

/// Tokens are only ever put over a thread from here, as objects that Python knows.
nb::object exchange(const StopToken* token) {
  const StopToken* before = exchange_stop_token(token);
  return before ? nb::cast(before, nb::rv_policy::reference) : nb::none();
}

}  // namespace

void bind_stop(nb::module_& module) {
  nb::exception<Stopped>(module, "Stopped");
  nb::class_<StopToken>(module, "StopToken", nb::is_final(),
                        "Asks computations under it to stop: when told to, or after a while.")
      .def("__init__", &construct, nb::keep_alive<1, 2>(), "parent"_a.none(),
           "runs_signal_handlers"_a)
      .def("stop", &StopToken::stop, "Ask now.")
      .def("stop_after", &stop_after, "seconds"_a, "Ask when so many seconds have passed.")
      .def_prop_ro("is_stopped", &StopToken::is_stopped);
  module.def("exchange_stop_token", &exchange, "token"_a.none(),
             "Put a token, or none, over this thread; it must live until it is taken away. "
             "Returns the one that was.");
}

}  // namespace hedgerow::bindings
