/* SPDX-License-Identifier: MIT */
/*
 * Names of NTSTATUS values, for reports.
 */
#ifndef DXGK_NT_STATUS_NAME_H
#define DXGK_NT_STATUS_NAME_H

#include <ntddk.h>

/* "STATUS_NO_MEMORY"; NULL for an unknown value. */
const char *nt_status_name(NTSTATUS status);

struct nt_status_text {
    char text[80];
};

/* The name, or the number of a value that has none: nt_status_text(status).text in a call. */
struct nt_status_text nt_status_text(NTSTATUS status);

#endif
