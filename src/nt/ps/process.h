/* SPDX-License-Identifier: MIT */
/*
 * Processes: making and ending them.
 */
#ifndef DXGK_NT_PROCESS_H
#define DXGK_NT_PROCESS_H

#include <ntddk.h>

struct nt_process *nt_process_create(const char *name);
void nt_process_destroy(struct nt_process *process);
/* As drivers see it: a multiple of four; the system process has 4. */
HANDLE nt_process_id(const struct nt_process *process);

#endif
