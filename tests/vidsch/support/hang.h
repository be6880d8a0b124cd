/* SPDX-License-Identifier: MIT */
/*
 * The scene of tests of recovery: node 1 hangs with packet 1 of one device (guilty) and packet 2 of
 * another (innocent); each has one more in its queue, with a signal of a fence behind it. The driver
 * does not answer preemption.
 */
#ifndef DXGK_TESTS_VIDSCH_HANG_H
#define DXGK_TESTS_VIDSCH_HANG_H

#include "vidsch/support/fixture.h"

#define TDR(...) .tdr = {.enable_preemption = true, __VA_ARGS__} /* an option of a TEST */

struct hang {
    struct vidsch_device *guilty, *innocent;
    struct vidsch_context *a, *b;
    struct vidsch_sync *fence_a, *fence_b;
};

struct hang hang_make(struct fixture *f);
/* The node works again; waits for what is left. */
void hang_end(struct fixture *f, struct hang *s);

/* Position of the first call of a kind in the log. */
uint32_t hang_when(const struct fixture *f, enum call_kind kind);

#endif
