/* SPDX-License-Identifier: MIT */
/* Of each call that the probe was made, in every test: the IRQL. */
#ifndef DXGK_TESTS_PROBE_LEVELS_H
#define DXGK_TESTS_PROBE_LEVELS_H

struct probe;

/* At the end of a test, while the calls are there. */
void probe_check_levels(const struct probe *p);

#endif
