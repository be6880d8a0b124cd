/* SPDX-License-Identifier: MIT */
/*
 * Threads that are attached to processes.
 */
#ifndef DXGK_NT_ATTACH_H
#define DXGK_NT_ATTACH_H

#include <stdint.h>

/* End the newest attachments of the current thread until only `attaches` are left. */
void nt_attach_end_to(uint32_t attaches);

#endif
