#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# ClusterFuzzLite and OSS-Fuzz: .clusterfuzzlite/build.sh of the driver's repository, whose sources are the current folder. $OUT gets what
# runs: the target, the command of its machine, dxgkhost with its libraries, the driver and its device model. Variables, with their defaults:
#   DRIVER   name of the driver (the folder's)         SOURCES  its sources (all *.c here)
#   DEVICE   its device model, built by the driver's own means, or null (null)
#   BUNDLE   what bundle.sh has made (/bundle)         PREFIX   where dxgkhost is installed (/opt/dxgkhost)
: "${DRIVER:=$(basename "$PWD")}"
: "${SOURCES:=$(echo ./*.c)}"
: "${DEVICE:=null}"
: "${BUNDLE:=/bundle}"
: "${PREFIX:=/opt/dxgkhost}"

# The driver is a module for a kernel: of $CFLAGS it can use no sanitizer, but coverage is what guides the target.
# shellcheck disable=SC2086
"${CC:-clang}" -std=gnu11 -g -O1 -fPIC -fshort-wchar -fno-strict-aliasing -shared -fsanitize-coverage=inline-8bit-counters,trace-cmp \
    -isystem "$PREFIX/include/dxgkhost/wdk" -isystem "$PREFIX/include/dxgkhost/wdk/base" $SOURCES -o "$OUT/$DRIVER.so"

cp -r "$BUNDLE/." "$OUT"
mv "$OUT/dxgkhost-fuzz" "$OUT/${DRIVER}_fuzzer"
if [ "$DEVICE" != null ]; then
    cp "$DEVICE" "$OUT/device.so"
    DEVICE=./device.so
fi
# A word a line; those that begin with ./ are files in $OUT.
cat > "$OUT/${DRIVER}_fuzzer.command" <<END
./lib/ld-linux-x86-64.so.2
--library-path
./lib
./dxgkhost
fuzz
./$DRIVER.so
--device
$DEVICE
END
[ ! -d corpus ] || (cd corpus && zip -q -r "$OUT/${DRIVER}_fuzzer_seed_corpus.zip" .)
[ ! -e words.dict ] || cp words.dict "$OUT/${DRIVER}_fuzzer.dict"
