/* SPDX-License-Identifier: MIT */
/*
 * Bug check callbacks of drivers.
 */
#ifndef DXGK_NT_BUGCHECK_H
#define DXGK_NT_BUGCHECK_H

/* Run each of them once; called by the code that carries out a bug check. */
void nt_bugcheck_callbacks_run(void);

#endif
