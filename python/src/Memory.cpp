//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Elements that come from other libraries, and that they read: the buffer protocol and DLPack.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Runtime/DLPack.h"
#include "zyx/Runtime/Timeline.h"
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/DeviceView.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

using namespace zyx;
using namespace zyx::python;

//===----------------------------------------------------------------------===//
// The buffer protocol
//===----------------------------------------------------------------------===//

namespace {

/// By the module struct; "" for dtypes that it has not.
const char *formatOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "?";
  case DType::I8:
    return "b";
  case DType::I16:
    return "h";
  case DType::I32:
    return "i";
  case DType::I64:
    return "q";
  case DType::U8:
    return "B";
  case DType::U16:
    return "H";
  case DType::U32:
    return "I";
  case DType::U64:
    return "Q";
  case DType::F16:
    return "e";
  case DType::F32:
    return "f";
  case DType::F64:
    return "d";
  default:
    return "";
  }
}

/// Of native order, whose sizes depend on the machine for l and L.
DType dtypeOfFormat(const char *format, Py_ssize_t itemsize) {
  std::string_view text = format ? format : "B";
  if (!text.empty() && (text[0] == '<' || text[0] == '=' || text[0] == '@'))
    text.remove_prefix(1);
  if (!text.empty() && (text[0] == '>' || text[0] == '!'))
    throw nb::type_error(
        "asarray: the elements are big-endian; NumPy's x.astype(x.dtype.newbyteorder('=')) makes others");
  if (text.size() == 1) {
    const char code = text[0];
    if (code == 'l' || code == 'n')
      return itemsize == 8 ? DType::I64 : DType::I32;
    if (code == 'L' || code == 'N')
      return itemsize == 8 ? DType::U64 : DType::U32;
    for (int i = 0; i < numDTypes; ++i)
      if (const auto dtype = static_cast<DType>(i); *formatOf(dtype) == code && byteSize(dtype) == itemsize)
        return dtype;
  }
  throw nb::type_error(("asarray: zyx has no dtype for elements of format '" + std::string(text) + "'").c_str());
}

/// What a consumer's view holds: the owner of the memory, and extents and strides.
struct View {
  HostView host;
  std::vector<Py_ssize_t> shape, strides;
};

HostView hostViewOf(Tensor tensor) {
  const Place where = here();
  const Released released;
  return hostView(tensor, where);
}

/// What a handler of a signal raised while this thread asked for a buffer, and of which array. NumPy forgets any
/// exception of that, and calls __array__ of the array at once, which then raises this one.
struct Forgotten {
  nb::object array = {}, exception = {};
};
/// Handlers run in the main thread alone.
Forgotten &forgotten() {
  // Its exception outlives the interpreter's end.
  thread_local auto *const one = new Forgotten;
  return *one;
}

/// Of the exception that is set.
void remember(PyObject *array) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  forgotten() = {nb::borrow(array), nb::borrow(value)};
  PyErr_Restore(type, value, traceback);
}

int getBuffer(PyObject *object, Py_buffer *view, int flags) noexcept {
  view->obj = nullptr;
  try {
    forgotten() = {};
    const Tensor tensor = instanceOf<Array>(object)->value;
    const DType dtype = tensor.dtype();
    if (flags & PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError, "zyx: an array does not change, so its memory is not writable");
      return -1;
    }
    const auto asks = [flags](int what) { return (flags & what) == what; };
    const Shape &shape = tensor.shape();
    // Whose rows and columns are the same memory: of at most one extent, or without elements.
    const bool isColumnMajor =
        std::ranges::count_if(shape, [](int64_t extent) { return extent != 1; }) <= 1 || tensor.numel() == 0;
    if (asks(PyBUF_F_CONTIGUOUS) && !isColumnMajor) {
      PyErr_SetString(PyExc_BufferError, "zyx: an array is row-major, and is not given in Fortran order");
      return -1;
    }
    if (*formatOf(dtype) == '\0') {
      PyErr_Format(PyExc_BufferError,
                   "zyx: the buffer protocol has no elements of %R; numpy.asarray() with ml_dtypes has",
                   toPython(dtype).ptr());
      return -1;
    }
    auto made = std::make_unique<View>(View{hostViewOf(tensor), {}, {}});
    made->shape.assign(shape.begin(), shape.end());
    made->strides.resize(shape.size());
    Py_ssize_t stride = byteSize(dtype);
    for (size_t i = shape.size(); i-- != 0; stride *= shape[i])
      made->strides[i] = stride;
    // Of no elements there is no address, and who reads none asks for one all the same.
    static std::byte nothing;
    const std::byte *begin = made->host.bytes.empty() ? &nothing : made->host.bytes.data();
    view->buf = const_cast<std::byte *>(begin);
    view->len = static_cast<Py_ssize_t>(made->host.bytes.size());
    view->itemsize = byteSize(dtype);
    view->readonly = 1;
    // Without extents they are bytes in one row.
    view->ndim = asks(PyBUF_ND) ? static_cast<int>(shape.size()) : 1;
    view->format = flags & PyBUF_FORMAT ? const_cast<char *>(formatOf(dtype)) : nullptr;
    view->shape = asks(PyBUF_ND) ? made->shape.data() : nullptr;
    view->strides = asks(PyBUF_STRIDES) ? made->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = made.release();
    Py_INCREF(object);
    view->obj = object;
    return 0;
  } catch (nb::python_error &error) {
    error.restore();
    return -1;
  } catch (const Error &error) {
    // That of reading by any other way.
    if (setException(error))
      remember(object);
    return -1;
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
}

void releaseBuffer(PyObject *, Py_buffer *view) noexcept { delete static_cast<View *>(view->internal); }

const PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(&getBuffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void *>(&releaseBuffer)},
                             {0, nullptr}};

/// Copies the elements of a buffer to dense memory from one dimension on, and returns its end. As
/// PyBuffer_ToContiguous() does, which needs the GIL for its memory.
std::byte *copyRows(const Py_buffer &view, int dim, const std::byte *from, std::byte *to) {
  if (dim == view.ndim) {
    std::memcpy(to, from, static_cast<size_t>(view.itemsize));
    return to + view.itemsize;
  }
  const Py_ssize_t stride = view.strides[dim];
  const Py_ssize_t offset = view.suboffsets ? view.suboffsets[dim] : -1;
  const bool isRow = dim + 1 == view.ndim && offset < 0;
  if (isRow && stride == view.itemsize) {
    const auto size = static_cast<size_t>(view.shape[dim] * view.itemsize);
    std::memcpy(to, from, size);
    return to + size;
  }
  const auto copyElements = [&]<typename T>(T) {
    for (Py_ssize_t i = 0; i < view.shape[dim]; ++i, from += stride, to += sizeof(T))
      std::memcpy(to, from, sizeof(T));
    return to;
  };
  if (isRow && view.itemsize == 2)
    return copyElements(uint16_t());
  if (isRow && view.itemsize == 4)
    return copyElements(uint32_t());
  if (isRow && view.itemsize == 8)
    return copyElements(uint64_t());
  for (Py_ssize_t i = 0; i < view.shape[dim]; ++i, from += stride) {
    const std::byte *next = from;
    if (offset >= 0) {
      std::memcpy(&next, from, sizeof(next));
      next += offset;
    }
    to = copyRows(view, dim + 1, next, to);
  }
  return to;
}

/// A buffer of another object, for as long as this lives; with the GIL.
struct Taken {
  Py_buffer view = {};
  Taken(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view, flags) != 0)
      throw nb::python_error();
  }
  ~Taken() { PyBuffer_Release(&view); }
  Taken(const Taken &) = delete;
  Taken &operator=(const Taken &) = delete;
};

} // namespace

const PyType_Slot *zyx::python::bufferSlots() { return slots; }

/// Copies the elements, or refuses to where `share` is set. `dtype` says what bytes of another format are.
static Array fromBuffer(nb::object object, nb::object dtype, bool share) {
  const Place where = here();
  auto taken = std::make_unique<Taken>(object, PyBUF_FULL_RO);
  const Py_buffer &view = taken->view;
  const DType type = dtype.is_none() ? dtypeOfFormat(view.format, view.itemsize) : toDType(dtype);
  if (byteSize(type) != view.itemsize)
    throw nb::type_error("asarray: the elements have another size than the dtype");
  Shape shape(view.shape, view.shape + view.ndim);
  const bool isDense = PyBuffer_IsContiguous(&view, 'C') != 0;
  const auto *begin = static_cast<const std::byte *>(view.buf);
  if (share) {
    const bool isAligned = reinterpret_cast<uintptr_t>(begin) % static_cast<size_t>(view.itemsize) == 0;
    if (!isDense || !isAligned || type == DType::Bool)
      throw nb::value_error(
          "asarray: copy=False, but these elements need a copy: they are bools, or not dense, row-major "
          "and aligned");
    const std::span<const std::byte> bytes(begin, static_cast<size_t>(view.len));
    // The memory stays while the memoryview does.
    nb::object held = nb::steal(PyMemoryView_FromObject(object.ptr()));
    if (!held.is_valid())
      throw nb::python_error();
    return {Tensor::borrow({type, std::move(shape)}, bytes, keep(std::move(held)), where)};
  }
  const Released released;
  if (isDense)
    return {Tensor::fromBytes({type, std::move(shape)}, {begin, static_cast<size_t>(view.len)}, where)};
  std::vector<std::byte> bytes(static_cast<size_t>(view.len));
  if (!bytes.empty())
    copyRows(view, 0, begin, bytes.data());
  return {Tensor::fromBytes({type, std::move(shape)}, bytes, where)};
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

static nb::dlpack::dtype elementOf(DType dtype) {
  const runtime::DLPackElement element = runtime::dlpackElement(dtype);
  return {element.code, element.bits, element.lanes};
}

static DType dtypeOfElement(nb::dlpack::dtype element) {
  const Result<DType> dtype = runtime::dtypeOf({element.code, element.bits, element.lanes});
  if (!dtype)
    throw nb::buffer_error(("from_dlpack: " + dtype.status().message()).c_str());
  return *dtype;
}

/// An object that has the method __dlpack__, over the elements where they are, or over a copy.
static nb::object exported(const Array &self, bool isCopy) {
  const Tensor tensor = self.value;
  auto *host = new HostView(hostViewOf(tensor));
  const nb::capsule owner(host, [](void *kept) noexcept { delete static_cast<HostView *>(kept); });
  if (isCopy && host->isShared) {
    const Released released;
    auto bytes = std::make_shared<std::vector<std::byte>>(host->bytes.begin(), host->bytes.end());
    *host = {*bytes, bytes, false};
  }
  const Shape &shape = tensor.shape();
  const std::vector<size_t> extents(shape.begin(), shape.end());
  static std::byte nothing;
  void *const begin = host->bytes.empty() ? &nothing : const_cast<std::byte *>(host->bytes.data());
  if (isCopy)
    return nb::cast(
        nb::ndarray<nb::array_api>(begin, extents.size(), extents.data(), owner, nullptr, elementOf(tensor.dtype())));
  return nb::cast(nb::ndarray<nb::array_api, nb::ro>(begin, extents.size(), extents.data(), owner, nullptr,
                                                     elementOf(tensor.dtype())));
}

/// Has what comes later on one stream of a device wait for what another one has now; the host waits for nothing.
static Status order(runtime::Device &device, void *first, void *second) {
  ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Fence> fence, device.recordStream(first));
  const auto over = std::make_shared<runtime::Timeline>();
  over->announce(1, fence);
  return device.letStreamWait(second, {over, 1});
}

namespace {

/// What a consumer's tensor of a device's memory keeps.
struct Lent {
  DeviceView view;
  /// The consumer's, where it is there for ever; else none, as nobody says how long others live.
  std::optional<void *> stream;

  /// The consumer's stream may still read when the consumer lets go, and the memory is another's from then on: zyx's
  /// stream waits for what that one has now, and the host for nothing.
  ~Lent() {
    if (!stream || !Py_IsInitialized())
      return;
    const nb::gil_scoped_release released;
    // Of a driver that has lost the stream there is no work to wait for.
    (void)order(*view.device, *stream, view.device->nativeStream());
  }
};

} // namespace

/// The same of memory of a device. CUDA's stream of that number waits for the elements; for others, as for -1, the host
/// does, so that any stream may read them. `lives` says that the stream does so for ever, as CUDA's default streams do.
static nb::object exportedFromDevice(const Array &self, bool isCopy, int64_t stream, bool lives) {
  const Place where = here();
  const Tensor tensor = self.value;
  auto lent = std::make_unique<Lent>();
  constexpr int64_t legacyStream = 1, threadStream = 2;
  const bool isCuda = dlpackPlaceOf(tensor).kind == nb::device::cuda::value;
  void *const consumer = reinterpret_cast<void *>(stream);
  {
    const Released released;
    lent->view =
        isCuda && stream >= legacyStream && !isCopy ? deviceViewOn(tensor, consumer, where) : deviceView(tensor, where);
    if (isCopy) {
      const std::shared_ptr<runtime::Buffer> from = lent->view.buffer;
      std::shared_ptr<runtime::Buffer> copy =
          valueOrThrow(runtime::Buffer::allocate(lent->view.device->pool(), from->size()), where);
      throwIfError(copy->copyFrom(*from), where);
      throwIfError(copy->wait(/*toWrite=*/false), where);
      lent->view.buffer = copy;
      lent->view.owner = copy;
    }
  }
  if (stream == legacyStream || stream == threadStream || (isCuda && lives && stream > 0))
    lent->stream = consumer;
  const runtime::DLPackPlace place = lent->view.device->dlpackPlace();
  void *const begin = lent->view.buffer->size() ? reinterpret_cast<void *>(lent->view.buffer->handle()) : nullptr;
  const nb::capsule owner(lent.get(), [](void *kept) noexcept { delete static_cast<Lent *>(kept); });
  lent.release();
  const Shape &shape = tensor.shape();
  const std::vector<size_t> extents(shape.begin(), shape.end());
  const nb::dlpack::dtype element = elementOf(tensor.dtype());
  if (isCopy)
    return nb::cast(nb::ndarray<nb::array_api>(begin, extents.size(), extents.data(), owner, nullptr, element,
                                               place.kind, place.number));
  return nb::cast(nb::ndarray<nb::array_api, nb::ro>(begin, extents.size(), extents.data(), owner, nullptr, element,
                                                     place.kind, place.number));
}

/// An array over memory that begins at this address, of the host or of the current device, dense and row-major, for as
/// long as its owner is held. A copy where the elements are not aligned as the device wants them.
static Array borrowed(nb::handle dtype, Shape shape, uint64_t address, nb::object owner, bool isHost) {
  const Place where = here();
  TensorType type{toDType(dtype), std::move(shape)};
  std::shared_ptr<const void> kept = keep(std::move(owner));
  const Released released;
  if (!isHost)
    return {fromDeviceMemory(std::move(type), address, std::move(kept), where)};
  const auto size = static_cast<size_t>(valueOrThrow(byteSize(type), where));
  return {
      Tensor::borrow(std::move(type), {reinterpret_cast<const std::byte *>(address), size}, std::move(kept), where)};
}

/// A capsule of DLPack for one consumer, who may write the elements: the caller lets go of the array. With a stream it
/// is memory of a device, and as in exportedFromDevice() for a stream that is there for ever.
static nb::object lent(const Array &self, std::optional<int64_t> stream) {
  // The line that calls is none of the user's.
  const Place where;
  const Tensor tensor = self.value;
  const Shape &shape = tensor.shape();
  const std::vector<size_t> extents(shape.begin(), shape.end());
  const nb::dlpack::dtype element = elementOf(tensor.dtype());
  if (!stream) {
    std::unique_ptr<HostView> host;
    {
      const Released released;
      host = std::make_unique<HostView>(hostView(tensor, where));
    }
    static std::byte nothing;
    void *const begin = host->bytes.empty() ? &nothing : const_cast<std::byte *>(host->bytes.data());
    const nb::capsule owner(host.get(), [](void *kept) noexcept { delete static_cast<HostView *>(kept); });
    host.release();
    return nb::cast(
        nb::ndarray<>(begin, extents.size(), extents.data(), owner, nullptr, element, nb::device::cpu::value, 0));
  }
  auto kept = std::make_unique<Lent>();
  void *const consumer = reinterpret_cast<void *>(*stream);
  {
    const Released released;
    kept->view = deviceViewOn(tensor, consumer, where);
  }
  kept->stream = consumer;
  const runtime::DLPackPlace place = kept->view.device->dlpackPlace();
  void *const begin = kept->view.buffer->size() ? reinterpret_cast<void *>(kept->view.buffer->handle()) : nullptr;
  const nb::capsule owner(kept.get(), [](void *one) noexcept { delete static_cast<Lent *>(one); });
  kept.release();
  return nb::cast(
      nb::ndarray<>(begin, extents.size(), extents.data(), owner, nullptr, element, place.kind, place.number));
}

/// Of an object, or of a capsule that its __dlpack__ has given for memory of the current device.
static Array fromDLPack(nb::ndarray<nb::ro> given) {
  const Place where = here();
  const bool isHost =
      given.device_type() == nb::device::cpu::value || given.device_type() == nb::device::cuda_host::value;
  const DType dtype = dtypeOfElement(given.dtype());
  Shape shape;
  bool isDense = true;
  int64_t stride = 1;
  for (size_t i = given.ndim(); i-- != 0;) {
    const auto extent = static_cast<int64_t>(given.shape(i));
    shape.insert(shape.begin(), extent);
    isDense &= extent <= 1 || given.stride(i) == stride;
    stride *= extent;
  }
  if (!isDense && stride != 0)
    throw nb::buffer_error("from_dlpack: the array is not dense and row-major; zyx.asarray() copies such ones");
  if (!isHost) {
    void *stream = nullptr;
    const runtime::DLPackPlace place = currentDLPackPlace(stream, where);
    if (place.kind != given.device_type() || place.number != given.device_id())
      throw nb::buffer_error(("from_dlpack: the array lies on DLPack's device (" + std::to_string(given.device_type()) +
                              ", " + std::to_string(given.device_id()) + "), and the current device is (" +
                              std::to_string(place.kind) + ", " + std::to_string(place.number) + ")")
                                 .c_str());
    const auto address = reinterpret_cast<uint64_t>(given.data());
    std::shared_ptr<const void> owner = keep(nb::cast(given, nb::rv_policy::reference));
    const Released released;
    return {fromDeviceMemory({dtype, std::move(shape)}, address, std::move(owner), where)};
  }
  const std::span<const std::byte> bytes(static_cast<const std::byte *>(given.data()), given.nbytes());
  // Who lets go of it is the main thread, as the other library's deleter may be of Python.
  return {Tensor::borrow({dtype, std::move(shape)}, bytes, keep(nb::cast(given, nb::rv_policy::reference)), where)};
}

void zyx::python::bindMemory(nb::module_ &module) {
  module.def("_from_buffer", &fromBuffer, nb::arg("object"), nb::arg("dtype").none(), nb::arg("share"));
  module.def("_from_dlpack", &fromDLPack, nb::arg("object"));
  // Before __array__ does anything else; of None it is forgotten for good.
  module.def(
      "_raise_forgotten",
      [](nb::handle array) {
        const Forgotten last = std::exchange(forgotten(), {});
        if (!last.array.is(array))
          return;
        PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(last.exception.ptr())), last.exception.ptr());
        throw nb::python_error();
      },
      nb::arg("array").none());
  module.def(
      "_from_bytes",
      [](nb::bytes bytes, nb::object dtype, Shape shape) {
        const Place where = here();
        const DType type = toDType(dtype);
        const std::span<const std::byte> elements(static_cast<const std::byte *>(bytes.data()), bytes.size());
        const Released released;
        return Array{Tensor::fromBytes({type, std::move(shape)}, elements, where)};
      },
      nb::arg("bytes"), nb::arg("dtype"), nb::arg("shape"));
  module.def("_export_from_device", &exportedFromDevice, nb::arg("array"), nb::arg("copy"), nb::arg("stream"),
             nb::arg("lives") = false);
  module.def("_dlpack_place", [](const Array &self) {
    const runtime::DLPackPlace place = dlpackPlaceOf(self.value);
    return nb::make_tuple(place.kind, place.number);
  });
  module.def("_current_stream", [] {
    void *stream = nullptr;
    const runtime::DLPackPlace place = currentDLPackPlace(stream, here());
    return nb::make_tuple(place.kind, place.number, reinterpret_cast<uint64_t>(stream));
  });
  module.def("_borrow", &borrowed, nb::arg("dtype"), nb::arg("shape"), nb::arg("address"), nb::arg("owner"),
             nb::arg("host"));
  module.def("_lend", &lent, nb::arg("array"), nb::arg("stream").none());
  // Between a stream of CUDA and that of the current device, either of which is the first.
  module.def(
      "_order",
      [](uint64_t stream, bool isFirst) {
        const Place where;
        void *own = nullptr;
        const std::shared_ptr<runtime::Device> device = currentStreamDevice(own, where);
        void *const other = reinterpret_cast<void *>(stream);
        throwIfError(isFirst ? order(*device, other, own) : order(*device, own, other), where);
      },
      nb::arg("stream"), nb::arg("first"));
  module.def("_export", &exported, nb::arg("array"), nb::arg("copy"));
  // Bytes of elements that the buffer protocol cannot name.
  module.def("_bytes", [](const Array &self) {
    const HostView host = hostViewOf(self.value);
    nb::bytes made =
        nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(host.bytes.size())));
    if (!made.is_valid())
      throw nb::python_error();
    // Nobody else has them yet.
    std::byte *const begin = reinterpret_cast<std::byte *>(PyBytes_AsString(made.ptr()));
    const Released released;
    std::ranges::copy(host.bytes, begin);
    return made;
  });
}
