/* SPDX-License-Identifier: MIT */
/* What is said when nothing else can be said any more: a fixed text with raw addresses. All
 * functions may be called in a signal handler, in any state of the process. */
#ifndef DXGK_SIM_LAST_WORDS_H
#define DXGK_SIM_LAST_WORDS_H

#include <stdint.h>

/* One line of stderr: `what`, then where `pc` is, and `address`. */
void sim_last_words(const char *what, uintptr_t pc, uintptr_t address);
/* The default action of the signal, now. */
_Noreturn void sim_end_process(int signal);

#endif
