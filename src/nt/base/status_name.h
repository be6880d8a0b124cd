/* SPDX-License-Identifier: MIT */
/*
 * Names of NTSTATUS values, for reports.
 */
#ifndef DXGK_NT_STATUS_NAME_H
#define DXGK_NT_STATUS_NAME_H

#include <ntddk.h>

/* "STATUS_NO_MEMORY"; NULL for an unknown value. */
const char *nt_status_name(NTSTATUS status);

#endif
