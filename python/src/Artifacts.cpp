//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Programs that were compiled before, from files: they run without the compiler.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Artifact/File.h"
#include "zyx/Base/Config.h"
#include "zyx/Base/Forked.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Session/Session.h"
#include "zyx/Tensor/Context.h"

#include <mutex>

using namespace zyx;
using namespace zyx::python;

namespace {

/// Devices are opened once for all programs. Never ended: threads may run programs when the process does.
struct Opened {
  std::mutex mutex;
  session::Session session{session::SessionOptions::from(Context::current().config())};
};
Opened &opened() {
  static Opened &one = *new Opened;
  return one;
}

class Program {
public:
  Program(const std::string &path, const std::string &deviceName, const Place &where) {
    ReadOnlyFile file = valueOrThrow(ReadOnlyFile::open(path), where);
    const std::vector<std::byte> bytes = valueOrThrow(artifact::readFile(file), where);
    artifact::Artifact artifact = valueOrThrow(artifact::Artifact::deserialize(bytes, path), where);
    device = deviceName.empty() ? artifact.target : runtime::canonicalDeviceName(deviceName);
    // "cuda:1" is a device of the kind "cuda".
    if (device.substr(0, device.find(':')) != artifact.target)
      throw Error(
          Status::unsupported(path + ": is compiled for device '" + artifact.target + "', not '" + device + "'"),
          where);
    name = artifact.entry;
    const std::lock_guard lock(opened().mutex);
    executable = valueOrThrow(opened().session.load(std::move(artifact), device), where);
  }

  /// One call at a time: a program has one place for its arguments.
  std::vector<Tensor> operator()(const std::vector<Tensor> &arguments, const Place &where) {
    const Released released;
    // Before the lock, which another thread may hold for ever in a forked child.
    throwIfError(mark.check(), where);
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].device() != device)
        throw Error(Status::invalidArgument(name + ": argument " + std::to_string(i) + " lies on device '" +
                                            arguments[i].device() + "', and the program runs on '" + device +
                                            "'; to_device() moves it"),
                    where);
    std::vector<HostTensor> given;
    for (const Tensor &argument : arguments) {
      const HostView view = hostView(argument, where);
      given.push_back({{argument.dtype(), argument.shape()}, {view.bytes.begin(), view.bytes.end()}});
    }
    std::vector<HostTensor> results;
    {
      const std::lock_guard lock(mutex);
      throwIfError(executable->setInputs(std::move(given)), where);
      throwIfError(executable->run(), where);
      results = valueOrThrow(executable->readOutputs(), where);
    }
    const DeviceScope scope(device, Context::current(where), where);
    std::vector<Tensor> made;
    for (const HostTensor &result : results)
      made.push_back(Tensor::fromBytes(result.type, result.data, where));
    return made;
  }

  static nb::list typesOf(const std::vector<artifact::Argument> &arguments) {
    nb::list list;
    for (const artifact::Argument &argument : arguments)
      list.append(
          nb::make_tuple(argument.name, nb::tuple(nb::cast(argument.type.shape)), toPython(argument.type.dtype)));
    return list;
  }
  nb::list inputs() const { return typesOf(executable->inputs()); }
  nb::list outputs() const { return typesOf(executable->outputs()); }

  std::string name, device;

private:
  const ForkMark mark;
  std::mutex mutex;
  std::unique_ptr<session::Executable> executable;
};

} // namespace

void zyx::python::bindArtifacts(nb::module_ &module) {
  nb::class_<Program>(module, "_Program")
      .def(
          "__init__",
          [](Program *self, const std::string &path, const std::string &device) {
            const Place where = here();
            const Released released;
            new (self) Program(path, device, where);
          },
          nb::arg("path"), nb::arg("device"))
      .def(
          "__call__",
          [](Program &self, const std::vector<Array> &arguments) {
            const Place where = here();
            return arraysOf(self(tensorsOf(arguments), where));
          },
          nb::arg("arguments"))
      .def_prop_ro("inputs", &Program::inputs)
      .def_prop_ro("outputs", &Program::outputs)
      .def_ro("name", &Program::name)
      .def_ro("device", &Program::device);
}
