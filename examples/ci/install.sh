#!/bin/sh
# SPDX-License-Identifier: MIT
# dxgkhost from its sources into a prefix, on a fresh Debian, without its tests: install.sh SOURCES PREFIX
set -eu
[ $# -eq 2 ] || { echo "usage: install.sh SOURCES PREFIX" >&2; exit 2; }
sh "$1/tools/setup.sh" drivers
cmake -S "$1" -B "$1/build-install" -G Ninja -DDXGK_TESTS=OFF -DCMAKE_BUILD_TYPE=Release
cmake --build "$1/build-install"
cmake --install "$1/build-install" --prefix "$2"
