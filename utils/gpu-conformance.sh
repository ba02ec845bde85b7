#!/bin/sh
# Packs what a machine with a card of NVIDIA's needs to run our programs, compiler included.
#
#   utils/gpu-conformance.sh BUILD FOLDER               here: packs programs of a build folder and LLVM's packages
#   sh FOLDER/run.sh zyx-conformance --device=cuda      there: the conformance suite; or any of the programs
#
# LLVM's packages come from apt's cache, or apt downloads them. Nothing is installed there, and nothing is built;
# code is assembled by the driver, or by ptxas where there is one.
set -eu

if [ $# -ne 2 ]; then
  sed -n '2,8p' "$0"
  exit 2
fi
build=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib" "$folder/debs"
for program in zyx-conformance zyx-run zyx-compile zyx-smith digits-train chargpt zyx-bench-peers zyx-bench-kernels zyx-bench-quantised; do
  if [ -f "$build/bin/$program" ]; then
    strip -o "$folder/bin/$program" "$build/bin/$program"
  fi
done
strip -o "$folder/lib/libZyxCompiler.so" "$build/lib/libZyxCompiler.so"
# LLVM is linked with a solver of which nothing here calls a function.
echo | cc -shared -fPIC -x c - -o "$folder/lib/libz3.so.4" -Wl,-soname,libz3.so.4
tar -C "$folder" -cJf "$folder/zyx.tar.xz" bin lib
rm -r "$folder/bin" "$folder/lib"
for package in libllvm22 libmlir-22; do
  cached=$(ls /var/cache/apt/archives/"${package}"_*.deb 2>/dev/null | tail -1 || true)
  if [ -n "$cached" ]; then
    cp "$cached" "$folder/debs/$package.deb"
  else
    (cd "$folder/debs" && apt-get download "$package" && mv "${package}"_*.deb "$package.deb")
  fi
done
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
    mkdir -p "$root"
    for deb in "$here"/debs/*.deb; do dpkg -x "$deb" "$root/debs"; done
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
