/* SPDX-License-Identifier: MIT */
/* NT objects of shared objects: what D3DKMTShareObjects makes, a bundle of one or three objects
 * with a name or without. It lives as long as it has NT handles, and keeps its members alive. */
#ifndef DXGK_KMT_NT_SHARE_H
#define DXGK_KMT_NT_SHARE_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "nt/ob/object.h"
#include "nt/ob/user_handle.h"
#include "util/list.h"

struct kmt;
struct kmt_shared;

/* In the order in which D3DKMTShareObjects takes them (KMT-242). */
enum kmt_part { KMT_PART_RESOURCE, KMT_PART_MUTEX, KMT_PART_SYNC, KMT_PARTS };

struct kmt_nt_share {
    struct nt_object object;
    struct list link;                   /* kmt->nt_shares */
    struct kmt_shared *part[KMT_PARTS]; /* NULL: not in the bundle; each with a reference */
    WCHAR *name;                        /* that of the object, or NULL */
};

/* The object of a handle of the calling process, with a reference; NT statuses for a bad one
 * (KMT-020), STATUS_ACCESS_DENIED without the right to open it (KMT-246). */
NTSTATUS kmt_nt_share_open(HANDLE handle, enum nt_user_object kind, struct kmt_nt_share **share);
void kmt_nt_share_close(struct kmt_nt_share *share);

#endif
