/* SPDX-License-Identifier: MIT */
/*
 * NT handles that clients pass. A bad one is the client's mistake, not a driver's, so it gives a
 * status and no report.
 */
#ifndef DXGK_NT_USER_HANDLE_H
#define DXGK_NT_USER_HANDLE_H

#include <ntddk.h>

enum nt_user_object {
    NT_USER_PROCESS,
    NT_USER_EVENT,
    NT_USER_SHARED_RESOURCE,
    NT_USER_SHARED_SYNC,
};
/* The object of a handle of the calling process, with a reference. Fails with
 * STATUS_INVALID_HANDLE, STATUS_OBJECT_TYPE_MISMATCH, STATUS_ACCESS_DENIED (KMT-020). */
NTSTATUS nt_user_handle_open(HANDLE handle, enum nt_user_object kind, ACCESS_MASK wanted,
                             void **body);
/* The rights that a valid handle of the calling process was given; else 0. */
ACCESS_MASK nt_user_handle_access(HANDLE handle);
/* Releases the reference. */
void nt_user_handle_close(void *body);

#endif
