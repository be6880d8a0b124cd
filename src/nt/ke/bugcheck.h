/* SPDX-License-Identifier: MIT */
/*
 * Bug check callbacks of drivers.
 */
#ifndef DXGK_NT_BUGCHECK_H
#define DXGK_NT_BUGCHECK_H

/* Run them, each once; what carries out a bug check calls it. */
void nt_bugcheck_callbacks_run(void);

#endif
