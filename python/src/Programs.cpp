//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Compilations as Python sees them: Ctrl-C ends them, notebooks show them, and programs leave the process.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Artifact/CSource.h"
#include "zyx/Base/Interruption.h"
#include "zyx/Base/Trace.h"
#include "zyx/Tensor/Export.h"
#include "zyx/Tensor/Plot.h"
#include "zyx/Tensor/Watch.h"

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::python;

namespace {

/// Handlers of signals run in the main thread alone, and others must not wait for the GIL at the end of the
/// interpreter.
bool isMainThread() { return syscall(SYS_gettid) == getpid(); }

std::atomic<bool> &isEnding() {
  static std::atomic<bool> one = false;
  return one;
}

/// What a handler of a signal has raised while this thread compiled. Only the main thread has some.
struct Raised {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
};
Raised &raised() {
  static Raised one;
  return one;
}

/// Takes what a handler has raised.
void fetchRaised() {
  PyErr_Fetch(&raised().type, &raised().value, &raised().traceback);
  PyErr_NormalizeException(&raised().type, &raised().value, &raised().traceback);
}

/// Whether as much time has passed since it was last so. A program has many kernels, and the GIL takes others' time.
class Pace {
public:
  explicit Pace(uint64_t nanoseconds) : nanoseconds(nanoseconds) {}
  bool isDue() {
    const uint64_t time = Trace::now();
    if (time - latest < nanoseconds)
      return false;
    latest = time;
    return true;
  }

private:
  const uint64_t nanoseconds;
  uint64_t latest = 0;
};

/// Looks for signals as the interpreter does between two lines of Python.
bool isInterrupted() {
  static Pace pace(20'000'000);
  if (!isMainThread() || !Py_IsInitialized())
    return false;
  if (raised().type)
    return true;
  if (!pace.isDue())
    return false;
  const nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() == 0)
    return false;
  fetchRaised();
  return true;
}

/// What a signal's handler raised while the main thread waited for a run that ended in order. Interpreters call it
/// between two lines of Python.
int raiseLater(void *) { return raiseInterruption(ErrorCode::Cancelled) ? -1 : 0; }

/// Looks for signals while a value is waited for. Loops end by what is raised: one of them may have no end. What is no
/// loop ends in order, and then the call raises.
void lookWhileWaiting() {
  if (!isMainThread() || !Py_IsInitialized())
    return;
  if (!raised().type) {
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0)
      return;
    fetchRaised();
    // Where its table is full the next compilation, or wait for a loop, raises it.
    (void)Py_AddPendingCall(&raiseLater, nullptr);
  }
  // Again and again, because runs may stand one behind the other.
  interruptLoops();
}

/// A function of Python that is told of compilations, or none. Kept for ever.
PyObject *&shower() {
  static PyObject *one = nullptr;
  return one;
}

/// What it raises is nobody's: it only shows.
void show(std::string_view stage, size_t done, size_t total) {
  if (!isMainThread() || !Py_IsInitialized())
    return;
  const nb::gil_scoped_acquire acquired;
  try {
    const nb::handle function = shower();
    // A compilation that runs is not told that its watcher is gone.
    if (!function)
      return;
    function(nb::str(stage.data(), stage.size()), done, total);
  } catch (nb::python_error &error) {
    // But the handler of a signal is called in it, too, and what that raises ends the compilation, or where this one is
    // over, the next.
    if (!error.matches(PyExc_Exception) && !raised().type) {
      error.restore();
      fetchRaised();
    }
  }
}

void setWatcher() {
  CompileWatcher watcher;
  watcher.isCancelled = &isInterrupted;
  watcher.waits = &lookWhileWaiting;
  if (shower()) {
    watcher.progress = &show;
    watcher.end = [] { show("", 0, 0); };
  }
  setCompileWatcher(std::move(watcher));
}

std::string plotOf(const std::vector<Array> &arrays, const std::string &stage) {
  const Place where = here();
  const std::vector<Tensor> tensors = tensorsOf(arrays);
  const Released released;
  if (stage == "text")
    return programText(tensors, where);
  return plotDot(tensors,
                 stage == "kernels"  ? PlotStage::Kernels
                 : stage == "groups" ? PlotStage::Groups
                                     : PlotStage::Tensors,
                 where);
}

nb::object exported(nb::object function, const std::vector<Array> &arguments, const std::string &form,
                    const std::string &entry, std::vector<std::string> inputs, std::vector<std::string> outputs,
                    const std::string &target, const std::string &isa) {
  const Place where = here();
  const std::vector<Tensor> tensors = tensorsOf(arguments);
  const Jit::Function traced = toFunction(std::move(function));
  const ExportForm how = form == "c"          ? ExportForm::CSource
                         : form == "artifact" ? ExportForm::Artifact
                                              : ExportForm::Text;
  Exported made;
  {
    const Released released;
    made = exportProgram(traced, tensors, how, {entry, std::move(inputs), std::move(outputs), target, isa}, where);
  }
  nb::dict values;
  for (auto &[name, value] : made.values)
    values[name.c_str()] = wrap(std::move(value));
  return nb::make_tuple(nb::bytes(made.bytes.data(), made.bytes.size()), values);
}

} // namespace

void zyx::python::stayAtEnd() {
  while (isEnding() && !isMainThread())
    pause();
}

bool zyx::python::raiseInterruption(ErrorCode code) {
  Raised &mine = raised();
  if (!mine.type || !isMainThread() || (code != ErrorCode::Cancelled && code != ErrorCode::Aborted))
    return false;
  PyErr_Restore(mine.type, mine.value, mine.traceback);
  mine = {};
  return true;
}

void zyx::python::bindPrograms(nb::module_ &module) {
  setWatcher();
  module.def(
      "_set_progress",
      [](nb::object function) {
        // The one before may be running in this thread.
        shower() = function.is_none() ? nullptr : function.release().ptr();
        setWatcher();
      },
      nb::arg("function").none());
  // Threads that nobody waits for may compile when the process ends. Of a child that was forked they are the parent's.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([process = getpid()] {
    const nb::gil_scoped_release released;
    if (getpid() != process)
      return;
    isEnding() = true;
    endCompilations(std::chrono::seconds(20));
  }));
  module.def("_plot", &plotOf, nb::arg("arrays"), nb::arg("stage"));
  module.def("_is_name_of_c_function", &artifact::isNameOfCFunction, nb::arg("name"));
  module.def("_export_program", &exported, nb::arg("function"), nb::arg("arguments"), nb::arg("form"), nb::arg("entry"),
             nb::arg("inputs"), nb::arg("outputs"), nb::arg("target"), nb::arg("isa"));
}
