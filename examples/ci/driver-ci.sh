#!/bin/sh
# SPDX-License-Identifier: MIT
# The steps of a driver's CI with dxgkhost: driver-ci.sh build|run|explore|fuzz
#
# In the folder of the driver's sources, which has a CMakeLists.txt with dxgkhost_add_driver. dxgkhost is in PATH; CMAKE_PREFIX_PATH names
# its prefix if CMake does not find it. Variables, with their defaults:
#   DRIVER    name of the driver, of which build has a .so, a .sys or both (the folder's, which is seldom right in a repository)
#   DEVICE    its device model (build/, the name and _device.so)
#   WORKLOAD  a script that uses it (the name and .lua)
#   RESULTS   folder of what is left for people and programs (ci-results)
#   SEEDS     of explore (1..200); SHARD and SHARDS: the part that this machine takes (1 of 1)
#   SECONDS_OF_FUZZ  how long to fuzz (600); the corpus is kept in RESULTS/corpus
#   OPTIONS   more options for all of them, as "--strict --iommu remap"; FUZZ_OPTIONS: for fuzz alone, as "--grammar FILE.lua"
# The exit status is that of dxgkhost: 0 all is well; 1 the workload failed; 2 wrong usage, or nothing to run; 3 the driver broke a
# rule; 5 it stopped the machine; 6 it was refused.
set -u
: "${DRIVER:=$(basename "$PWD")}"
: "${DEVICE:=build/${DRIVER}_device.so}"
: "${WORKLOAD:=$DRIVER.lua}"
: "${RESULTS:=ci-results}"
: "${SEEDS:=1..200}"
: "${SHARD:=1}"
: "${SHARDS:=1}"
: "${SECONDS_OF_FUZZ:=600}"
: "${OPTIONS:=}" "${FUZZ_OPTIONS:=}"
mkdir -p "$RESULTS"
status=0

worse() { # the first that failed decides
    [ "$status" -ne 0 ] || status=$1
}

# Each form of the driver that was built, by its ending.
forms() {
    for form in so sys; do
        [ ! -e "build/$DRIVER.$form" ] || echo "$form"
    done
}

there_is_one() {
    [ -z "$(forms)" ] || return 0
    echo "driver-ci.sh: there is neither build/$DRIVER.so nor build/$DRIVER.sys; DRIVER is the name of the driver" >&2
    exit 2
}

# shellcheck disable=SC2086 # OPTIONS and FUZZ_OPTIONS are words
case "${1-}" in
build)
    cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build || exit
    there_is_one
    ;;
run)
    there_is_one
    for form in $(forms); do
        dxgkhost run "build/$DRIVER.$form" "$WORKLOAD" --device "$DEVICE" --checks=full $OPTIONS --out "$RESULTS/out-$form" \
            --json "$RESULTS/run-$form.json" --junit "$RESULTS/run-$form.xml" --sarif "$RESULTS/run-$form.sarif" \
            --html "$RESULTS/run-$form.html"
        worse $?
    done
    ;;
explore)
    there_is_one
    for form in $(forms); do
        dxgkhost explore "build/$DRIVER.$form" "$WORKLOAD" --device "$DEVICE" --checks=full $OPTIONS --out "$RESULTS/out-$form" \
            --seeds "$SEEDS" --shard "$SHARD/$SHARDS" --json "$RESULTS/explore-$form-$SHARD.json" \
            --junit "$RESULTS/explore-$form-$SHARD.xml" --sarif "$RESULTS/explore-$form-$SHARD.sarif"
        worse $?
    done
    ;;
fuzz)
    there_is_one
    form=$(forms | tail -n 1) # what is shipped, where it was built
    dxgkhost fuzz "build/$DRIVER.$form" --device "$DEVICE" --out "$RESULTS/out-fuzz" --seconds "$SECONDS_OF_FUZZ" \
        --corpus "$RESULTS/corpus" --findings "$RESULTS/findings" $OPTIONS $FUZZ_OPTIONS
    worse $?
    ;;
*)
    echo "usage: driver-ci.sh build|run|explore|fuzz" >&2
    exit 2
    ;;
esac
exit "$status"
