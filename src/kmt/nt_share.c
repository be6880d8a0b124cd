/* SPDX-License-Identifier: MIT */
/*
 * NT handles of shared objects (KMT-241 to KMT-251, KMT-364).
 *
 * A name is a whole path, compared without regard to case, and lasts as long as a handle of its
 * object: the shared objects themselves may outlive it and be shared again.
 */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/nt_share.h"
#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "kmt/keyed_mutex.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "kmt/sync.h"
#include "nt/base/kprocess.h"
#include "nt/ob/handle.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation.h"

/* ---- objects ---- */

static void destroy_share(struct nt_object *object)
{
    struct kmt_nt_share *share = CONTAINER(object, struct kmt_nt_share, object);

    list_remove(&share->link);
    for (unsigned i = 0; i < KMT_PARTS; i++)
        if (share->part[i])
            kmt_shared_release(share->part[i]);
    util_free(share->name);
    util_free(share);
}

NTSTATUS kmt_nt_share_open(HANDLE handle, enum nt_user_object kind, struct kmt_nt_share **share)
{
    void *body = NULL;
    NTSTATUS status = nt_user_handle_open(handle, kind, READ_CONTROL, &body);

    if (!NT_SUCCESS(status))
        return refuse(status, NULL, "handle %p is not that of a shared %s, or lacks the right to it",
                      handle, kind == NT_USER_SHARED_RESOURCE ? "resource" : "object");
    *share = body;
    return status;
}

void kmt_nt_share_close(struct kmt_nt_share *share)
{
    nt_user_handle_close(share);
}

/* KMT-246: what the generic rights mean for these objects. */
static ACCESS_MASK map_access(ACCESS_MASK access, bool resource)
{
    ACCESS_MASK all = resource ? SHARED_ALLOCATION_ALL_ACCESS : D3DDDI_SYNC_OBJECT_ALL_ACCESS;
    ACCESS_MASK mapped = access & ~(GENERIC_READ | GENERIC_WRITE | GENERIC_EXECUTE | GENERIC_ALL);

    if (access & GENERIC_ALL)
        mapped |= all;
    if (access & (GENERIC_READ | GENERIC_EXECUTE))
        mapped |= resource ? READ_CONTROL : READ_CONTROL | D3DDDI_SYNC_OBJECT_WAIT;
    if (access & GENERIC_WRITE)
        mapped |= READ_CONTROL | (resource ? SHARED_ALLOCATION_WRITE : D3DDDI_SYNC_OBJECT_SIGNAL);
    return mapped;
}

/* ---- names ---- */

struct name {
    WCHAR *text; /* NULL: none */
    USHORT chars;
};

static NTSTATUS copy_name(const OBJECT_ATTRIBUTES *user, struct name *name)
{
    OBJECT_ATTRIBUTES attributes;
    UNICODE_STRING string;
    NTSTATUS status;

    *name = (struct name){0};
    if (!user)
        return STATUS_SUCCESS;
    if (!kmt_client_get(&attributes, user, sizeof(attributes)))
        return STATUS_INVALID_PARAMETER;
    if (!attributes.ObjectName)
        return STATUS_SUCCESS;
    if (attributes.RootDirectory || !kmt_client_get(&string, attributes.ObjectName, sizeof(string)))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "a RootDirectory, or an ObjectName that cannot be read");
    if (string.Length % sizeof(WCHAR))
        return refuse(STATUS_OBJECT_NAME_INVALID, NULL, "a name of %u bytes", string.Length);
    status = kmt_client_copy_private(string.Buffer, string.Length, (void **)&name->text);
    name->chars = string.Length / sizeof(WCHAR);
    return status;
}

static WCHAR upper(WCHAR c)
{
    return RtlUpcaseUnicodeChar(c);
}

static bool is_named(const struct kmt_nt_share *share, const struct name *name)
{
    if (share->object.name_chars != name->chars || !share->name)
        return false;
    for (unsigned i = 0; i < name->chars; i++)
        if (upper(share->name[i]) != upper(name->text[i]))
            return false;
    return true;
}

static struct kmt_nt_share *find_named(const struct kmt *kmt, const struct name *name)
{
    LIST_FOR(node, &kmt->nt_shares) {
        struct kmt_nt_share *share = CONTAINER(node, struct kmt_nt_share, link);

        if (is_named(share, name))
            return share;
    }
    return NULL;
}

static NTSTATUS open_named(const struct kmt_call *call, ACCESS_MASK access,
                           const OBJECT_ATTRIBUTES *attributes, bool resource, HANDLE *handle)
{
    struct kmt_nt_share *share;
    struct name name;
    NTSTATUS status = copy_name(attributes, &name);

    if (!NT_SUCCESS(status))
        return status;
    if (!name.text)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "no name is given");
    share = find_named(call->process->kmt, &name);
    util_free(name.text);
    if (!share)
        return refuse(STATUS_OBJECT_NAME_NOT_FOUND, NULL, "nothing is shared by this name");
    if ((share->object.type == NT_OBJECT_SHARED_RESOURCE) != resource)
        return refuse(STATUS_OBJECT_TYPE_MISMATCH, NULL, "the name is that of %s",
                      resource ? "a synchronization object" : "a resource");
    access = map_access(access, resource);
    if (access == 0)
        return refuse(STATUS_ACCESS_DENIED, "KMT-249", "no right is asked for");
    *handle = nt_handle_create(&share->object, access, false, NULL);
    return *handle ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS open_resource_named(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENNTHANDLEFROMNAME *args = arguments;

    return open_named(call, args->dwDesiredAccess, args->pObjAttrib, true, &args->hNtHandle);
}

static NTSTATUS open_sync_named(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME *args = arguments;

    return open_named(call, args->dwDesiredAccess, args->pObjAttrib, false, &args->hNtHandle);
}

/* ---- sharing ---- */

struct share_arguments {
    UINT count;
    const D3DKMT_HANDLE *objects;
    const OBJECT_ATTRIBUTES *attributes;
    ACCESS_MASK access;
    HANDLE *handle;
};

/* The shared object behind a handle of the process, created with NtSecuritySharing; NULL: none. */
static struct kmt_shared *secure_object(const struct kmt_call *call, D3DKMT_HANDLE handle)
{
    const struct nt_process *process = call->process->nt;
    struct kmt_shared *shared = NULL;

    switch (handle_type(&process->handles, handle)) {
    case DDI_CLIENT_RESOURCE:
        shared = vidmm_resource_context(process, handle);
        break;
    case DDI_CLIENT_SYNC:
        shared = ((struct kmt_sync *)kmt_handle_lookup(call, handle, DDI_CLIENT_SYNC))->shared;
        break;
    case DDI_CLIENT_KEYED_MUTEX:
        shared =
            ((struct kmt_keyed *)kmt_handle_lookup(call, handle, DDI_CLIENT_KEYED_MUTEX))->shared;
        break;
    default:
        kmt_handle_note_gone(call, handle);
        break;
    }
    return shared && shared->secure ? shared : NULL; /* KMT-244, KMT-245 */
}

/* KMT-242, KMT-243: one resource, one synchronization object, or resource, mutex and object. */
static NTSTATUS find_parts(const struct kmt_call *call, const D3DKMT_HANDLE *handles, UINT count,
                           struct kmt_shared **part)
{
    static const enum ddi_client_handle types[KMT_PARTS] = {
        [KMT_PART_RESOURCE] = DDI_CLIENT_RESOURCE,
        [KMT_PART_MUTEX] = DDI_CLIENT_KEYED_MUTEX,
        [KMT_PART_SYNC] = DDI_CLIENT_SYNC,
    };

    for (UINT i = 0; i < count; i++) {
        struct kmt_shared *shared = secure_object(call, handles[i]);

        if (!shared ||
            (count == 1 ? shared->type == DDI_CLIENT_KEYED_MUTEX : shared->type != types[i]))
            return refuse(STATUS_INVALID_PARAMETER, NULL,
                          "object %u of %u, handle 0x%x, was not made for NT handles, or is of a "
                          "kind that does not go there",
                          (UINT)i, (UINT)count, handles[i]);
        part[shared->type == DDI_CLIENT_SYNC ? KMT_PART_SYNC : i] = shared;
    }
    for (unsigned i = KMT_PART_MUTEX; count > 1 && i < KMT_PARTS; i++)
        if (part[i]->bundle && part[i]->bundle != part[KMT_PART_RESOURCE])
            return refuse(STATUS_INVALID_PARAMETER, "KMT-251",
                          "object %u belongs to another bundle", i);
    return STATUS_SUCCESS;
}

/* Takes the name over, whatever comes of it. */
static NTSTATUS make_share(struct kmt *kmt, struct kmt_shared *const *part, struct name *name,
                           ACCESS_MASK access, HANDLE *handle)
{
    bool resource = part[KMT_PART_RESOURCE] != NULL;
    struct kmt_nt_share *share = util_zalloc(1, sizeof(*share));

    if (!share || !nt_object_init(&share->object,
                                  resource ? NT_OBJECT_SHARED_RESOURCE : NT_OBJECT_SHARED_SYNC,
                                  share, destroy_share)) {
        util_free(share);
        util_free(name->text);
        return STATUS_NO_MEMORY;
    }
    share->name = name->text;
    share->object.name = (const uint16_t *)name->text;
    share->object.name_chars = name->chars;
    list_push_back(&kmt->nt_shares, &share->link);
    for (unsigned i = 0; i < KMT_PARTS; i++) {
        share->part[i] = part[i];
        if (part[i])
            kmt_shared_reference(part[i]);
    }
    *handle = nt_handle_create(&share->object, map_access(access, resource), false, NULL);
    if (*handle && part[KMT_PART_MUTEX])
        part[KMT_PART_MUTEX]->bundle = part[KMT_PART_SYNC]->bundle = part[KMT_PART_RESOURCE];
    nt_object_release(&share->object); /* from now on the handles keep it */
    return *handle ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS share_objects(struct kmt_call *call, void *arguments)
{
    const struct share_arguments *args = arguments;
    D3DKMT_HANDLE objects[KMT_PARTS];
    struct kmt_shared *part[KMT_PARTS] = {NULL};
    struct kmt *kmt = call->process->kmt;
    HANDLE handle = NULL;
    struct name name = {0};
    NTSTATUS status;

    if ((args->count != 1 && args->count != KMT_PARTS) ||
        !kmt_client_get(objects, args->objects, args->count * sizeof(*objects)) ||
        !kmt_client_probe_write(args->handle, sizeof(handle)))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "%u objects at %p, the handle goes to %p: 1 or %u objects", (UINT)args->count,
                      (const void *)args->objects, (void *)args->handle, (UINT)KMT_PARTS);
    status = copy_name(args->attributes, &name);
    if (NT_SUCCESS(status))
        status = find_parts(call, objects, args->count, part);
    if (NT_SUCCESS(status) && name.text && find_named(kmt, &name))
        status = refuse(STATUS_OBJECT_NAME_COLLISION, "KMT-249", "the name is taken");
    if (NT_SUCCESS(status))
        status = make_share(kmt, part, &name, args->access, &handle);
    else
        util_free(name.text);
    (void)kmt_client_put(args->handle, &handle, sizeof(handle)); /* KMT-243: NULL on failure */
    return status;
}

NTSTATUS APIENTRY D3DKMTShareObjects(UINT cObjects, const D3DKMT_HANDLE *hObjects,
                                     POBJECT_ATTRIBUTES pObjectAttributes, DWORD dwDesiredAccess,
                                     HANDLE *phSharedNtHandle)
{
    struct share_arguments given = {
        .count = cObjects,
        .objects = hObjects,
        .attributes = pObjectAttributes,
        .access = dwDesiredAccess,
        .handle = phSharedNtHandle,
    };
    struct share_arguments arguments;

    return kmt_call_run(__func__, share_objects, &given, &arguments, sizeof(arguments), 0);
}

KMT_IN_OUT(D3DKMTOpenNtHandleFromName, D3DKMT_OPENNTHANDLEFROMNAME, open_resource_named)
KMT_IN_OUT(D3DKMTOpenSyncObjectNtHandleFromName, D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME,
           open_sync_named)
