#!/bin/sh
# SPDX-License-Identifier: MIT
# What a campaign needs on a machine that has neither dxgkhost nor its libraries: bundle.sh PREFIX FOLDER. The engine is linked with the
# C library statically; dxgkhost itself is started by the loader that is brought along.
set -eu
[ $# -eq 2 ] || { echo "usage: bundle.sh PREFIX FOLDER" >&2; exit 2; }
program=$1/bin/dxgkhost
engine=$(find "$1" -name dxgkhost-fuzz -type f | head -n 1)
[ -n "$engine" ] || { echo "bundle.sh: there is no dxgkhost-fuzz in $1: clang's libFuzzer was not there when it was built" >&2; exit 1; }
mkdir -p "$2/lib"
cp "$program" "$engine" "$2"
ldd "$program" "$engine" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u | while read -r library; do
    cp -L "$library" "$2/lib"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$2/lib"
