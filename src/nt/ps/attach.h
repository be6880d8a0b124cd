/* SPDX-License-Identifier: MIT */
/*
 * Threads that are attached to processes.
 */
#ifndef DXGK_NT_ATTACH_H
#define DXGK_NT_ATTACH_H

#include <stdint.h>

struct nt_process;

/* End the newest attachments of the current thread until only `attaches` are left. */
void nt_attach_end_to(uint32_t attaches);

/* The host works for another process, or for the system: make it the current thread's process,
 * below what the driver attaches to. Returns the one before, to be given back in turn. */
struct nt_process *nt_process_switch(struct nt_process *process);

#endif
