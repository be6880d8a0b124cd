/* SPDX-License-Identifier: MIT */
/*
 * Processes: creating and ending them.
 */
#ifndef DXGK_NT_PROCESS_H
#define DXGK_NT_PROCESS_H

#include <ntddk.h>

struct nt_process *nt_process_create(const char *name);
void nt_process_destroy(struct nt_process *process);
/* The process ID that drivers see: a multiple of four; 4 for the system process. */
HANDLE nt_process_id(const struct nt_process *process);

#endif
