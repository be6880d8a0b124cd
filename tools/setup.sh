#!/bin/sh
# SPDX-License-Identifier: MIT
# Make sure that what the project needs is installed. Usage: tools/setup.sh build|drivers|packages|all
# build: to build and run; drivers: also what drivers are built by and fuzzed with; packages: also to make packages of Debian; all: also to check. Installs Debian packages as root or by a sudo that asks nothing, else says
# what is missing. Exits 1 if something still is. Prints nothing and takes no time when nothing is missing.
set -u

command_is() {
    command -v "$1" >/dev/null 2>&1
}

library_is() {
    command_is pkg-config && pkg-config --exists "$1" 2>/dev/null
}

header_is() {
    echo "#include <$1>" | gcc -E -x c - >/dev/null 2>&1
}

# Of the system's Python: another one does not see what Debian installs.
python_module_is() {
    python3 -c "import $1" >/dev/null 2>&1 || /usr/bin/python3 -c "import $1" >/dev/null 2>&1
}

fuzzer_is() {
    ls "$(clang --print-resource-dir 2>/dev/null)"/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1
}

# Prints the packages whose content is not there.
missing() {
    { command_is gcc && command_is g++ && command_is nm; } || echo build-essential
    command_is cmake || echo cmake
    command_is ninja || echo ninja-build
    command_is make || echo make
    command_is pkg-config || echo pkg-config
    command_is python3 || echo python3
    library_is lua5.4 || library_is "lua >= 5.4" || echo liblua5.4-dev
    library_is spng || echo libspng-dev
    library_is expat || echo libexpat1-dev
    library_is libseccomp || echo libseccomp-dev
    header_is Zydis/Zydis.h || echo libzydis-dev
    library_is cmocka || echo libcmocka-dev
    [ "$1" != build ] || return 0
    command_is x86_64-w64-mingw32-gcc || echo gcc-mingw-w64-x86-64
    command_is x86_64-w64-mingw32-g++ || echo g++-mingw-w64-x86-64
    command_is clang || echo clang
    command_is lld-link || echo lld
    command_is llvm-symbolizer || echo llvm
    fuzzer_is || echo libclang-rt-dev
    [ "$1" != drivers ] || return 0
    command_is dh || echo debhelper
    library_is sdl2 || echo libsdl2-dev
    [ "$1" = all ] || return 0
    command_is clang-format || echo clang-format
    command_is clang-tidy || echo clang-tidy
    command_is cppcheck || echo cppcheck
    command_is git || echo git
    command_is parallel || echo parallel
    command_is mcs || echo mono-mcs
    command_is Xvfb || echo xvfb
    command_is gdb || echo gdb
    python_module_is markdown_it || echo python3-markdown-it
    python_module_is pygments || echo python3-pygments
    command_is mandoc || echo mandoc
    command_is lintian || echo lintian
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

install() {
    command_is apt-get || return 1
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || return 1
    echo "installing: $*" >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2 && return 0
    as_root apt-get update -q >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

case "${1-}" in
build | drivers | packages | all) ;;
*)
    echo "usage: tools/setup.sh build|drivers|packages|all" >&2
    exit 2
    ;;
esac

packages=$(missing "$1" | tr '\n' ' ')
[ -z "$packages" ] && exit 0
# shellcheck disable=SC2086 # a list
install $packages
packages=$(missing "$1" | tr '\n' ' ')
[ -z "$packages" ] && exit 0
echo "missing (names of Debian packages): $packages" >&2
exit 1
