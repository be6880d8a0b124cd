/* SPDX-License-Identifier: MIT */
/* For handlers of the machine's process that end it. */
#ifndef DXGK_HOST_LAST_WORDS_H
#define DXGK_HOST_LAST_WORDS_H

#include <stdbool.h>

/* Whether code of a driver runs: in a call, or since its file is being loaded or unloaded. */
bool host_last_words_in_driver(void);
bool host_last_words_in_driver_call(void);
/* LIFE-190: a driver made a system call that its process has no right to. Reports it and ends the
 * process, if dxgk_recorder_catch was called. `context`: ucontext_t of the signal. */
void host_last_words_system_call(const char *what, const void *context);

#endif
