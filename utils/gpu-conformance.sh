#!/bin/sh
# Packs what a machine with a card of NVIDIA's needs to run our programs, compiler included. Drivers are not packed:
# OpenCL's, Vulkan's and wgpu-native (which ZYX_WEBGPU_DRIVER names) are that machine's.
#
#   utils/gpu-conformance.sh BUILD FOLDER               here: packs programs of a build folder and LLVM's packages
#   sh FOLDER/run.sh zyx-conformance --device=cuda      there: the conformance suite; or any of the programs
#
# LLVM's packages come from apt's cache, or apt downloads them. Nothing is installed there, and nothing is built;
# code is assembled by the driver, or by ptxas where there is one.
set -eu

if [ $# -ne 2 ]; then
  sed -n '2,9p' "$0"
  exit 2
fi
build=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
for program in zyx-conformance zyx-run zyx-compile zyx-smith digits-train chargpt zyx-bench-peers zyx-bench-kernels zyx-bench-quantised; do
  if [ -f "$build/bin/$program" ]; then
    strip -o "$folder/bin/$program" "$build/bin/$program"
  fi
done
for library in libZyxCompiler.so libZyxVulkan.so; do
  strip -o "$folder/lib/$library" "$build/lib/$library"
done
# A build without the headers of wgpu-native has no devices of WebGPU.
if [ -f "$build/lib/libZyxWebGPU.so" ]; then
  strip -o "$folder/lib/libZyxWebGPU.so" "$build/lib/libZyxWebGPU.so"
fi
# LLVM is linked with a solver of which nothing here calls a function.
echo | cc -shared -fPIC -x c - -o "$folder/lib/libz3.so.4" -Wl,-soname,libz3.so.4
# Jumps and calls of programs compress better with the filter for this processor's code: by a third.
pack() { tar -C "$1" -cf - $2 | xz -T1 --x86 --lzma2=preset=6,dict=64MiB; }
pack "$folder" "bin lib" >"$folder/zyx.tar.xz"
rm -r "$folder/bin" "$folder/lib"
# LLVM's libraries take minutes to pack, and are packed once for each of their versions.
version=$(dpkg-query --show --showformat='${Version}' libllvm22 | tr -c 'A-Za-z0-9.\n' '-')
libraries=$build/llvm-libraries-$version.tar.xz
if [ ! -f "$libraries" ]; then
  mkdir -p "$folder/debs"
  for package in libllvm22 libmlir-22; do
    deb=$(ls /var/cache/apt/archives/"${package}"_*.deb 2>/dev/null | tail -1 || true)
    if [ -z "$deb" ]; then
      (cd "$folder/debs" && apt-get download "$package")
      deb=$(ls "$folder/debs/${package}"_*.deb)
    fi
    dpkg -x "$deb" "$folder/debs/root"
  done
  pack "$folder/debs/root" usr/lib >"$libraries.part"
  mv "$libraries.part" "$libraries"
  rm -r "$folder/debs"
fi
cp "$libraries" "$folder/libraries.tar.xz"
cat >"$folder/run.sh" <<'END'
#!/bin/sh
# Written by utils/gpu-conformance.sh: runs a packed program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${PACK_ROOT:-/tmp/zyx-gpu}
# Several may begin at once, and none may see half of it.
(
  flock 9
  if [ ! -e "$root/whole" ]; then
    mkdir -p "$root/debs"
    tar -C "$root/debs" -xJf "$here/libraries.tar.xz"
    tar -C "$root" -xJf "$here/zyx.tar.xz"
    touch "$root/whole"
  fi
) 9>"$root.lock"
export LD_LIBRARY_PATH="$root/lib:$root/debs/usr/lib/llvm-22/lib:$root/debs/usr/lib/x86_64-linux-gnu"
export ZYX_CACHE_DIR="${ZYX_CACHE_DIR:-off}"
program=$1
shift
exec "$root/bin/$program" "$@"
END
du -sh "$folder"
