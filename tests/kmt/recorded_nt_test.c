/* SPDX-License-Identifier: MIT */
/* What Windows was recorded to answer about sharing by NT handles and by name
 * (docs/client-answers.md). */
#include "support/recorded.h"

#include <ntifs.h>

static UNICODE_STRING string_of(const WCHAR *text)
{
    UNICODE_STRING string;

    RtlInitUnicodeString(&string, text);
    return string;
}

/* With the name, or without one if it is NULL. */
static NTSTATUS share(UINT count, const D3DKMT_HANDLE *objects, const WCHAR *name, DWORD access,
                      HANDLE *handle)
{
    UNICODE_STRING string = string_of(name);
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, name ? &string : NULL, 0, NULL, NULL);
    *handle = (HANDLE)(uintptr_t)NONSENSE;
    return D3DKMTShareObjects(count, objects, &attributes, access, handle);
}

/* What the object manager knows of it. */
static bool is_object(HANDLE handle, const WCHAR *type, const WCHAR *name)
{
    UNICODE_STRING type_string = string_of(type), name_string = string_of(name);
    union {
        PUBLIC_OBJECT_TYPE_INFORMATION type;
        OBJECT_NAME_INFORMATION name;
        char bytes[512];
    } answer;
    ULONG bytes;

    if (ZwQueryObject(handle, ObjectTypeInformation, &answer, 20, &bytes) !=
            STATUS_INFO_LENGTH_MISMATCH ||
        ZwQueryObject(handle, ObjectTypeInformation, &answer, bytes, &bytes) != STATUS_SUCCESS ||
        !RtlEqualUnicodeString(&answer.type.TypeName, &type_string, FALSE))
        return false;
    return ZwQueryObject(handle, ObjectNameInformation, &answer, sizeof(answer), &bytes) ==
               STATUS_SUCCESS &&
           bytes <= sizeof(answer) && RtlEqualUnicodeString(&answer.name.Name, &name_string, FALSE);
}

static const WCHAR first_name[] = L"\\BaseNamedObjects\\Recorded_One";
static const WCHAR same_name[] = L"\\baseNamedObjects\\recorded_ONE";
static const WCHAR second_name[] = L"\\BaseNamedObjects\\Recorded_Two";
static const WCHAR no_name[] = L"\\BaseNamedObjects\\Recorded_None";

/* ---- synchronization objects ---- */

static NTSTATUS destroy(D3DKMT_HANDLE handle)
{
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT args = {handle};

    return D3DKMTDestroySynchronizationObject(&args);
}

static D3DKMT_HANDLE make_mutex(const struct gpu *g, bool shared, bool secure)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    args.Info.Flags.Shared = shared;
    args.Info.Flags.NtSecuritySharing = secure;
    return D3DKMTCreateSynchronizationObject2(&args) == STATUS_SUCCESS ? args.hSyncObject : 0;
}

static NTSTATUS open_sync(HANDLE nt, D3DKMT_HANDLE device, D3DKMT_HANDLE *handle)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hNtHandle = nt;
    args.hDevice = device;
    args.hSyncObject = NONSENSE;
    status = D3DKMTOpenSyncObjectFromNtHandle2(&args);
    *handle = args.hSyncObject;
    return args.Flags.Value ? STATUS_UNSUCCESSFUL : status;
}

static NTSTATUS open_sync_name(const WCHAR *name, DWORD access, HANDLE *handle)
{
    UNICODE_STRING string = string_of(name);
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME args = {.dwDesiredAccess = access};
    OBJECT_ATTRIBUTES attributes;
    NTSTATUS status;

    InitializeObjectAttributes(&attributes, &string, 0, NULL, NULL);
    args.pObjAttrib = name ? &attributes : NULL;
    status = D3DKMTOpenSyncObjectNtHandleFromName(&args);
    *handle = args.hNtHandle;
    return status;
}

TEST_WITH(client, what_is_shared_must_be_made_for_it)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT old;
    D3DKMT_HANDLE last, object;
    struct gpu g;
    HANDLE nt;

    TRY(c, device_begin(&g, &last));
    memset(&old, 0, sizeof(old));
    old.hDevice = g.device;
    old.Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    TRY(c, D3DKMTCreateSynchronizationObject(&old) == STATUS_SUCCESS);
    SHOW(c, "KMT-245",
         share(1, &old.hSyncObject, NULL, STANDARD_RIGHTS_WRITE, &nt) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-243", nt == NULL);
    for (unsigned i = 0; i < 2; i++) {
        object = make_mutex(&g, i != 0, false);
        SHOW(c, "KMT-245",
             object &&
                 share(1, &object, NULL, STANDARD_RIGHTS_WRITE, &nt) == STATUS_INVALID_PARAMETER);
        TRY(c, destroy(object) == STATUS_SUCCESS);
    }
    TRY(c, device_end(&g));
}

TEST_WITH(client, an_nt_handle_keeps_its_object)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE args = {0};
    D3DKMT_HANDLE last, object, opened;
    HANDLE nt, again;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    object = make_mutex(&g, true, true);
    SHOW(c, "KMT-241",
         object && share(1, &object, first_name, STANDARD_RIGHTS_WRITE, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-030", is_nt(nt));
    SHOW(c, "KMT-492", is_object(nt, L"DxgkSharedSyncObject", first_name));
    SHOW(c, "KMT-030", destroy((D3DKMT_HANDLE)(uintptr_t)nt) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-249",
         share(1, &object, same_name, STANDARD_RIGHTS_READ, &again) == STATUS_OBJECT_NAME_COLLISION);
    SHOW(c, "KMT-250", destroy(object) == STATUS_SUCCESS);
    SHOW(c, "KMT-491", D3DKMTOpenSyncObjectFromNtHandle(&args) == STATUS_INVALID_HANDLE);
    args.hNtHandle = nt;
    args.hSyncObject = NONSENSE;
    SHOW(c, "KMT-358", D3DKMTOpenSyncObjectFromNtHandle(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-358", is_local(args.hSyncObject));
    /* the creator's handle is gone and shares nothing */
    SHOW(c, "KMT-245",
         share(1, &object, second_name, STANDARD_RIGHTS_WRITE, &again) == STATUS_INVALID_PARAMETER);
    TRY(c, destroy(args.hSyncObject) == STATUS_SUCCESS);
    SHOW(c, "KMT-491", open_sync(NULL, 0, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-360", open_sync(nt, 0, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-360", open_sync(nt, g.device, &opened) == STATUS_SUCCESS && is_local(opened));
    /* what was opened can be shared, under one more name */
    SHOW(c, "KMT-251",
         share(1, &opened, second_name, STANDARD_RIGHTS_READ, &again) == STATUS_SUCCESS);
    TRY(c, ZwClose(again) == STATUS_SUCCESS && destroy(opened) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-020", open_sync(nt, g.device, &opened) == STATUS_INVALID_HANDLE);
    TRY(c, device_end(&g));
}

TEST_WITH(client, a_name_lasts_as_long_as_the_nt_handles)
{
    D3DKMT_HANDLE last, object, opened;
    HANDLE nt, named, more;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    object = make_mutex(&g, true, true);
    TRY(c, share(1, &object, first_name, STANDARD_RIGHTS_WRITE, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-364", open_sync_name(NULL, 0, &named) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-249", open_sync_name(no_name, 0, &named) == STATUS_OBJECT_NAME_NOT_FOUND);
    SHOW(c, "KMT-249", open_sync_name(same_name, 0, &named) == STATUS_ACCESS_DENIED);
    SHOW(c, "KMT-249", open_sync_name(same_name, STANDARD_RIGHTS_WRITE, &named) == STATUS_SUCCESS);
    SHOW(c, "KMT-030", is_nt(named) && named != nt);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-250", open_sync(named, g.device, &opened) == STATUS_SUCCESS && is_local(opened));
    TRY(c, ZwClose(named) == STATUS_SUCCESS && destroy(object) == STATUS_SUCCESS);
    SHOW(c, "KMT-249",
         open_sync_name(same_name, STANDARD_RIGHTS_WRITE, &named) == STATUS_OBJECT_NAME_NOT_FOUND);
    /* the object lives, and gets the name again */
    SHOW(c, "KMT-251", share(1, &opened, first_name, STANDARD_RIGHTS_READ, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-249", open_sync_name(first_name, STANDARD_RIGHTS_READ, &more) == STATUS_SUCCESS);
    TRY(c, ZwClose(more) == STATUS_SUCCESS && ZwClose(nt) == STATUS_SUCCESS);
    TRY(c, destroy(opened) == STATUS_SUCCESS && device_end(&g));
}

/* The rights of the NT handle are those of what it opens. */
TEST_WITH(client, rights_belong_to_the_nt_handle)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal;
    D3DKMT_HANDLE object;
    HANDLE nt;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    object = make_mutex(&g, true, true);
    memset(&wait, 0, sizeof(wait));
    memset(&signal, 0, sizeof(signal));
    wait.hContext = signal.hContext = g.render;
    wait.ObjectCount = signal.ObjectCount = 1;
    TRY(c, share(1, &object, NULL, D3DDDI_SYNC_OBJECT_WAIT, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-246", open_sync(nt, g.device, &wait.ObjectHandleArray[0]) == STATUS_ACCESS_DENIED);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);
    TRY(c, share(1, &object, NULL, READ_CONTROL | D3DDDI_SYNC_OBJECT_WAIT, &nt) == STATUS_SUCCESS);
    TRY(c, open_sync(nt, g.device, &wait.ObjectHandleArray[0]) == STATUS_SUCCESS);
    signal.ObjectHandleArray[0] = wait.ObjectHandleArray[0];
    SHOW(c, "KMT-247", D3DKMTWaitForSynchronizationObject(&wait) == STATUS_SUCCESS);
    SHOW(c, "KMT-247", D3DKMTSignalSynchronizationObject(&signal) == STATUS_ACCESS_DENIED);
    signal.ObjectHandleArray[0] = object;
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);
    TRY(c, share(1, &object, NULL, GENERIC_WRITE, &nt) == STATUS_SUCCESS);
    TRY(c, open_sync(nt, g.device, &wait.ObjectHandleArray[0]) == STATUS_SUCCESS);
    SHOW(c, "KMT-247", D3DKMTWaitForSynchronizationObject(&wait) == STATUS_ACCESS_DENIED);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- resources ---- */

static const char runtime_data[4] = {9, 8, 7, 6};

static NTSTATUS make_resource(struct heap *h, bool shared, bool secure)
{
    h->args.Flags.CreateResource = 1;
    h->args.Flags.CreateShared = shared;
    h->args.Flags.NtSecuritySharing = secure;
    h->args.pPrivateRuntimeData = runtime_data;
    h->args.PrivateRuntimeDataSize = sizeof(runtime_data);
    h->args.hResource = 0;
    return heap_create(h);
}

static NTSTATUS open_name(const WCHAR *name, DWORD access, HANDLE *handle)
{
    UNICODE_STRING string = string_of(name);
    D3DKMT_OPENNTHANDLEFROMNAME args = {.dwDesiredAccess = access};
    OBJECT_ATTRIBUTES attributes;
    NTSTATUS status;

    InitializeObjectAttributes(&attributes, &string, 0, NULL, NULL);
    args.pObjAttrib = name ? &attributes : NULL;
    status = D3DKMTOpenNtHandleFromName(&args);
    *handle = args.hNtHandle;
    return status;
}

struct open {
    D3DKMT_OPENRESOURCEFROMNTHANDLE args;
    D3DDDI_OPENALLOCATIONINFO2 info;
    uint8_t runtime[64], total[1024], mutex[64];
};

static void open_init(struct open *o, const struct gpu *g, HANDLE nt)
{
    memset(o, 0x77, sizeof(*o));
    memset(&o->args, 0, sizeof(o->args));
    o->args.hDevice = g->device;
    o->args.hNtHandle = nt;
    o->args.NumAllocations = 1;
    o->args.pOpenAllocationInfo2 = &o->info;
    o->args.pPrivateRuntimeData = o->runtime;
    o->args.PrivateRuntimeDataSize = sizeof(runtime_data);
    o->args.pTotalPrivateDriverDataBuffer = o->total;
    o->args.TotalPrivateDriverDataBufferSize = sizeof(struct refgpu_allocation_data);
    o->args.hResource = o->args.hKeyedMutex = o->args.hSyncObject = NONSENSE;
}

TEST_WITH(client, only_a_resource_made_for_it_is_shared)
{
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;
    HANDLE nt;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    for (unsigned i = 0; i < 2; i++) {
        TRY(c, make_resource(&h, i != 0, false) == STATUS_SUCCESS);
        SHOW(c, "KMT-193", i ? is_global(h.args.hGlobalShare) : h.args.hGlobalShare == 0);
        SHOW(c, "KMT-242",
             share(1, &h.info[0].hAllocation, NULL, STANDARD_RIGHTS_READ, &nt) ==
                 STATUS_INVALID_PARAMETER);
        SHOW(c, "KMT-245",
             share(1, &h.args.hResource, NULL, STANDARD_RIGHTS_READ, &nt) ==
                 STATUS_INVALID_PARAMETER);
        TRY(c, resource_destroy(&g, h.args.hResource) == STATUS_SUCCESS);
    }
    TRY(c, make_resource(&h, true, true) == STATUS_SUCCESS);
    SHOW(c, "KMT-194", h.args.hGlobalShare == 0);
    SHOW(c, "KMT-242",
         share(1, &h.info[0].hAllocation, NULL, STANDARD_RIGHTS_READ, &nt) ==
             STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-241",
         share(1, &h.args.hResource, NULL, STANDARD_RIGHTS_READ, &nt) == STATUS_SUCCESS &&
             is_nt(nt));
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && device_end(&g));
}

TEST_WITH(client, a_resource_has_a_name_too)
{
    D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE query;
    D3DKMT_HANDLE last, opened;
    uint8_t buffer[64];
    struct gpu g;
    struct heap h;
    HANDLE nt, named;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    TRY(c, make_resource(&h, true, true) == STATUS_SUCCESS);
    TRY(c, share(1, &h.args.hResource, first_name, STANDARD_RIGHTS_READ, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-492", is_object(nt, L"DxgkSharedResource", first_name));
    SHOW(c, "KMT-248", open_name(NULL, 0, &named) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-249", open_name(no_name, 0, &named) == STATUS_OBJECT_NAME_NOT_FOUND);
    SHOW(c, "KMT-249", open_name(same_name, 0, &named) == STATUS_ACCESS_DENIED);
    SHOW(c, "KMT-249",
         open_sync_name(same_name, GENERIC_ALL, &named) == STATUS_OBJECT_TYPE_MISMATCH);
    SHOW(c, "KMT-248", open_name(same_name, GENERIC_ALL, &named) == STATUS_SUCCESS);
    SHOW(c, "KMT-030", is_nt(named));
    memset(&query, 0x55, sizeof(query));
    query.hDevice = g.device;
    query.hNtHandle = named;
    query.pPrivateRuntimeData = NULL;
    SHOW(c, "KMT-230", D3DKMTQueryResourceInfoFromNtHandle(&query) == STATUS_SUCCESS);
    SHOW(c, "KMT-230",
         query.PrivateRuntimeDataSize == 4 && query.ResourcePrivateDriverDataSize == 0 &&
             query.NumAllocations == 1 &&
             query.TotalPrivateDriverDataSize == sizeof(struct refgpu_allocation_data));
    memset(buffer, 0x77, sizeof(buffer));
    query.pPrivateRuntimeData = buffer;
    query.PrivateRuntimeDataSize = 0;
    SHOW(c, "KMT-227",
         D3DKMTQueryResourceInfoFromNtHandle(&query) == STATUS_SUCCESS &&
             query.PrivateRuntimeDataSize == 4 && buffer[0] == 0x77);
    TRY(c, ZwClose(named) == STATUS_SUCCESS);
    SHOW(c, "KMT-253", open_sync(nt, g.device, &opened) == STATUS_OBJECT_TYPE_MISMATCH);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && device_end(&g));
}

TEST_WITH(client, a_resource_is_opened_from_an_nt_handle)
{
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;
    struct open o;
    HANDLE nt;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    TRY(c, make_resource(&h, true, true) == STATUS_SUCCESS);
    TRY(c, share(1, &h.args.hResource, NULL, STANDARD_RIGHTS_READ, &nt) == STATUS_SUCCESS);
    open_init(&o, &g, nt);
    o.args.KeyedMutexPrivateRuntimeDataSize = 5;
    SHOW(c, "KMT-252", D3DKMTOpenResourceFromNtHandle(&o.args) == STATUS_SUCCESS);
    SHOW(c, "KMT-252", is_local(o.args.hResource) && is_local(o.info.hAllocation));
    SHOW(c, "KMT-253",
         o.args.hKeyedMutex == 0 && o.args.hSyncObject == 0 &&
             o.args.KeyedMutexPrivateRuntimeDataSize == 0);
    SHOW(c, "KMT-252",
         o.args.NumAllocations == 1 && o.args.PrivateRuntimeDataSize == 4 &&
             o.args.ResourcePrivateDriverDataSize == 0);
    SHOW(c, "KMT-234",
         o.args.TotalPrivateDriverDataBufferSize == sizeof(struct refgpu_allocation_data) &&
             o.info.PrivateDriverDataSize == sizeof(struct refgpu_allocation_data));
    SHOW(c, "KMT-235", memcmp(o.runtime, runtime_data, 4) == 0 && o.total[0] != 0x77);
    TRY(c, resource_destroy(&g, o.args.hResource) == STATUS_SUCCESS);
#define REFUSED(rule, change, status)                                       \
    do {                                                                    \
        open_init(&o, &g, nt);                                              \
        change;                                                             \
        SHOW(c, rule, D3DKMTOpenResourceFromNtHandle(&o.args) == (status)); \
        TRY(c, o.args.hResource == NONSENSE && o.total[0] == 0x77);         \
    } while (0)
    REFUSED("KMT-006", o.args.pOpenAllocationInfo2 = NULL, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-081", o.args.NumAllocations = 0, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-006", o.args.pPrivateRuntimeData = NULL, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-081", o.args.PrivateRuntimeDataSize++, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-006", o.args.pTotalPrivateDriverDataBuffer = NULL, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-252", o.args.TotalPrivateDriverDataBufferSize--, STATUS_NO_MEMORY);
#undef REFUSED
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && device_end(&g));
}

/* ---- bundles ---- */

static D3DKMT_HANDLE make_keyed(const void *data, UINT bytes)
{
    D3DKMT_CREATEKEYEDMUTEX2 args;

    memset(&args, 0, sizeof(args));
    args.Flags.NtSecuritySharing = 1;
    args.pPrivateRuntimeData = (void *)(uintptr_t)data;
    args.PrivateRuntimeDataSize = bytes;
    return D3DKMTCreateKeyedMutex2(&args) == STATUS_SUCCESS ? args.hKeyedMutex : 0;
}

static NTSTATUS destroy_keyed(D3DKMT_HANDLE handle)
{
    D3DKMT_DESTROYKEYEDMUTEX args = {handle};

    return D3DKMTDestroyKeyedMutex(&args);
}

TEST_WITH(client, a_keyed_mutex_is_not_shared_alone)
{
    D3DKMT_CREATEKEYEDMUTEX create = {0};
    D3DKMT_HANDLE secure;
    HANDLE nt;

    TRY(c, D3DKMTCreateKeyedMutex(&create) == STATUS_SUCCESS);
    SHOW(c, "KMT-242",
         share(1, &create.hKeyedMutex, NULL, STANDARD_RIGHTS_WRITE, &nt) ==
             STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-242",
         share(1, &create.hSharedHandle, NULL, STANDARD_RIGHTS_WRITE, &nt) ==
             STATUS_INVALID_PARAMETER);
    secure = make_keyed(NULL, 0);
    SHOW(c, "KMT-242",
         secure && share(1, &secure, NULL, STANDARD_RIGHTS_WRITE, &nt) == STATUS_INVALID_PARAMETER);
    TRY(c, destroy_keyed(create.hKeyedMutex) == STATUS_SUCCESS &&
               destroy_keyed(secure) == STATUS_SUCCESS);
}

TEST_WITH(client, a_bundle_is_resource_mutex_and_object_in_that_order)
{
    static const uint8_t data[20] = {1, 2, 3};
    D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE keyed_args;
    D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE query;
    D3DKMT_HANDLE last, r, k, s;
    struct gpu g;
    struct heap h;
    struct open o;
    HANDLE nt;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    TRY(c, make_resource(&h, true, true) == STATUS_SUCCESS);
    r = h.args.hResource;
    k = make_keyed(data, sizeof(data));
    s = make_mutex(&g, true, true);
    TRY(c, k && s);
#define REFUSED(...)                                                                               \
    SHOW(c, "KMT-243",                                                                             \
         share(sizeof((D3DKMT_HANDLE[]){__VA_ARGS__}) / sizeof(r), (D3DKMT_HANDLE[]){__VA_ARGS__}, \
               NULL, STANDARD_RIGHTS_ALL, &nt) == STATUS_INVALID_PARAMETER)
    REFUSED(r, r, r);
    REFUSED(r, k);
    REFUSED(r, s);
    REFUSED(k, s);
    REFUSED(r, k, s, s);
    REFUSED(r, s, k);
#undef REFUSED
    SHOW(c, "KMT-242",
         share(3, (D3DKMT_HANDLE[]){r, k, s}, first_name, STANDARD_RIGHTS_ALL, &nt) ==
             STATUS_SUCCESS);
    SHOW(c, "KMT-492", is_object(nt, L"DxgkSharedResource", first_name));
    TRY(c, destroy_keyed(k) == STATUS_SUCCESS && destroy(s) == STATUS_SUCCESS);
    TRY(c, resource_destroy(&g, r) == STATUS_SUCCESS);
    memset(&query, 0, sizeof(query));
    memset(o.runtime, 0x77, sizeof(o.runtime));
    query.hDevice = g.device;
    query.hNtHandle = nt;
    query.pPrivateRuntimeData = o.runtime;
    query.PrivateRuntimeDataSize = sizeof(o.runtime);
    SHOW(c, "KMT-230",
         D3DKMTQueryResourceInfoFromNtHandle(&query) == STATUS_SUCCESS &&
             query.PrivateRuntimeDataSize == 4 && query.NumAllocations == 1 &&
             query.TotalPrivateDriverDataSize > 0 && query.ResourcePrivateDriverDataSize == 0 &&
             o.runtime[0] == 0x77);
    open_init(&o, &g, nt);
    o.args.pKeyedMutexPrivateRuntimeData = o.mutex;
    o.args.KeyedMutexPrivateRuntimeDataSize = sizeof(data);
    SHOW(c, "KMT-250", D3DKMTOpenResourceFromNtHandle(&o.args) == STATUS_SUCCESS);
    SHOW(c, "KMT-252",
         is_local(o.args.hResource) && is_local(o.args.hKeyedMutex) &&
             is_local(o.args.hSyncObject) && is_local(o.info.hAllocation));
    SHOW(c, "KMT-254", o.args.KeyedMutexPrivateRuntimeDataSize == sizeof(data));
    SHOW(c, "KMT-252",
         o.args.NumAllocations == 1 && o.args.PrivateRuntimeDataSize == 4 &&
             o.info.PrivateDriverDataSize == sizeof(struct refgpu_allocation_data));
    memset(&keyed_args, 0, sizeof(keyed_args));
    keyed_args.hNtHandle = nt;
    SHOW(c, "KMT-404", D3DKMTOpenKeyedMutexFromNtHandle(&keyed_args) == STATUS_SUCCESS);
    TRY(c, destroy_keyed(keyed_args.hKeyedMutex) == STATUS_SUCCESS);
    TRY(c, resource_destroy(&g, o.args.hResource) == STATUS_SUCCESS);
    TRY(c, destroy_keyed(o.args.hKeyedMutex) == STATUS_SUCCESS);
    TRY(c, destroy(o.args.hSyncObject) == STATUS_SUCCESS);
    /* a mutex of the wrong size leaves nothing open */
    open_init(&o, &g, nt);
    o.args.pKeyedMutexPrivateRuntimeData = o.mutex;
    o.args.KeyedMutexPrivateRuntimeDataSize = sizeof(data) - 1;
    SHOW(c, "KMT-254", D3DKMTOpenResourceFromNtHandle(&o.args) == STATUS_INVALID_PARAMETER);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && device_end(&g));
}

/* Whoever is left at the end leaves nothing. */
TEST_WITH(client, a_process_may_end_with_everything_open)
{
    D3DKMT_HANDLE last, k, s;
    struct gpu g;
    struct heap h;
    HANDLE nt;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    TRY(c, make_resource(&h, true, true) == STATUS_SUCCESS);
    k = make_keyed(NULL, 0);
    s = make_mutex(&g, true, true);
    SHOW(c, "KMT-476",
         share(3, (D3DKMT_HANDLE[]){h.args.hResource, k, s}, first_name, GENERIC_ALL, &nt) ==
             STATUS_SUCCESS);
}
