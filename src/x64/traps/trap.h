/* SPDX-License-Identifier: MIT */
/* The way from a signal to the emulation and back, by the landing. */
#ifndef DXGK_X64_TRAP_H
#define DXGK_X64_TRAP_H

/* Installs the trap handler for the current machine. */
void x64_trap_install(void);

/* landing.S: where execution continues after the signal handler, on the stack of the interrupted
 * code, with the frame in rdi. */
void x64_landing(void);

#endif
