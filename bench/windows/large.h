/* SPDX-License-Identifier: MIT */
/* What the image of the benchmark hands out, in the place of its registry path. */
#ifndef DXGK_BENCH_LARGE_H
#define DXGK_BENCH_LARGE_H

#include <stdint.h>

struct large_calls {
    void (*plain)(uint64_t count);  /* calls a function of the image */
    void (*import)(uint64_t count); /* calls a service of the kernel */
    const void *const *table;       /* addresses that were relocated */
};

#endif
