/* SPDX-License-Identifier: MIT */
/* From the signal to the emulation and back: the landing. */
#ifndef DXGK_X64_TRAP_H
#define DXGK_X64_TRAP_H

/* For the current machine, from now on. */
void x64_trap_install(void);

/* landing.S: where the signal handler continues, on the stack of the interrupted code, with the
 * frame in rdi. */
void x64_landing(void);

#endif
