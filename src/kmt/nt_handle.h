/* SPDX-License-Identifier: MIT */
/* NT handles that clients give (events, processes): statuses of KMT-020, and nothing that counts against the driver. */
#ifndef DXGK_KMT_NT_HANDLE_H
#define DXGK_KMT_NT_HANDLE_H

#include <ntddk.h>

enum kmt_nt_kind { KMT_NT_PROCESS, KMT_NT_EVENT };

/* The object behind a handle of the calling process, with a reference. STATUS_INVALID_HANDLE, STATUS_OBJECT_TYPE_MISMATCH,
 * STATUS_ACCESS_DENIED. */
NTSTATUS kmt_nt_open(HANDLE handle, enum kmt_nt_kind kind, ACCESS_MASK wanted, void **body);
void kmt_nt_close(void *body);

#endif
