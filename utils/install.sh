#!/usr/bin/env bash
# Installs what building and testing zyx needs on Debian 12, through apt. docs/dependencies.md
# gives the reason for each package.
#   utils/install.sh [--benchmarks]
# --benchmarks adds the libraries that benchmarks/cpu.sh measures beside zyx.
set -euo pipefail

packages=(
  ca-certificates cmake ninja-build ccache g++ python3
  clang-22 lld-22 liblld-22-dev libclang-rt-22-dev llvm-22-dev llvm-22-tools
  libmlir-22-dev mlir-22-tools
  libgtest-dev libgmock-dev libxxhash-dev nlohmann-json3-dev zlib1g-dev libzstd-dev
  patchelf xz-utils
  qemu-user g++-aarch64-linux-gnu
)
for option in "$@"; do
  case $option in
    --benchmarks) packages+=(libblis4-pthread libdnnl-dev) ;;
    --help | -h) sed -n '2,5s/^# \?//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown option $option" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
    missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "install.sh: missing ${missing[*]}; run it as root, or install sudo" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
"${as_root[@]}" apt-get -q update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -q -y install --no-install-recommends "${missing[@]}"
