/* SPDX-License-Identifier: MIT */
/* Names and rights of NT handles: what a name may be, what it finds, and what the generic rights allow. */
#include "support/recorded.h"

#include <ntifs.h>

static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;
    bool so = dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
              strstr(refusal.reason, part);

    if (!so)
        printf("    \"%s\" (%s)\n", refusal.reason, refusal.rule);
    return so;
}

static D3DKMT_HANDLE make_sync(const struct gpu *g)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args = {.Info = {.Type = D3DDDI_SEMAPHORE}};

    args.hDevice = g->device;
    args.Info.Semaphore.MaxCount = args.Info.Semaphore.InitialCount = 3;
    args.Info.Flags.Shared = args.Info.Flags.NtSecuritySharing = 1;
    return D3DKMTCreateSynchronizationObject2(&args) == STATUS_SUCCESS ? args.hSyncObject : 0;
}

static D3DKMT_HANDLE make_resource(const struct gpu *g)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                   .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_CREATEALLOCATION args = {.NumAllocations = 1, .pAllocationInfo2 = &info};

    args.hDevice = g->device;
    args.Flags.CreateResource = args.Flags.CreateShared = args.Flags.NtSecuritySharing = 1;
    return D3DKMTCreateAllocation2(&args) == STATUS_SUCCESS ? args.hResource : 0;
}

static NTSTATUS share_as(D3DKMT_HANDLE object, OBJECT_ATTRIBUTES *attributes, DWORD access,
                         HANDLE *nt)
{
    *nt = (HANDLE)(uintptr_t)NONSENSE;
    return D3DKMTShareObjects(1, &object, attributes, access, nt);
}

static NTSTATUS open_sync_name(OBJECT_ATTRIBUTES *attributes, DWORD access, HANDLE *nt)
{
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME args = {.dwDesiredAccess = access,
                                                  .pObjAttrib = attributes};
    NTSTATUS status = D3DKMTOpenSyncObjectNtHandleFromName(&args);

    *nt = args.hNtHandle;
    return status;
}

static NTSTATUS open_resource_name(OBJECT_ATTRIBUTES *attributes, DWORD access, HANDLE *nt)
{
    D3DKMT_OPENNTHANDLEFROMNAME args = {.dwDesiredAccess = access, .pObjAttrib = attributes};
    NTSTATUS status = D3DKMTOpenNtHandleFromName(&args);

    *nt = args.hNtHandle;
    return status;
}

TEST_WITH(client, a_name_can_be_read_and_has_whole_characters)
{
    WCHAR text[] = L"\\BaseNamedObjects\\Whole";
    UNICODE_STRING string;
    OBJECT_ATTRIBUTES attributes;
    HANDLE nt;
    D3DKMT_HANDLE sync;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    sync = make_sync(&g);
    RtlInitUnicodeString(&string, text);
    InitializeObjectAttributes(&attributes, &string, 0, NULL, NULL);
    attributes.RootDirectory = (HANDLE)(uintptr_t)4;
    TRY(c, share_as(sync, &attributes, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER && !nt &&
               because("", "a RootDirectory"));
    attributes.RootDirectory = NULL;
    attributes.ObjectName = (void *)(uintptr_t)0x1000;
    TRY(c, share_as(sync, &attributes, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER && !nt);
    TRY(c, share_as(sync, (void *)(uintptr_t)0x1000, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER &&
               !nt);
    attributes.ObjectName = &string;
    string.Length--;
    TRY(c, share_as(sync, &attributes, GENERIC_ALL, &nt) == STATUS_OBJECT_NAME_INVALID && !nt &&
               because("", "a name of 45 bytes"));
    string.Length++;
    string.Buffer = (void *)(uintptr_t)0x1000;
    TRY(c, share_as(sync, &attributes, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER && !nt);
    string.Buffer = text;
    SHOW(c, "KMT-248", share_as(sync, &attributes, GENERIC_ALL, &nt) == STATUS_SUCCESS && is_nt(nt));
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);
    TRY(c,
        share_as(sync, NULL, GENERIC_ALL, &nt) == STATUS_SUCCESS && ZwClose(nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-249",
         open_sync_name(NULL, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER &&
             because("", "no name is given"));
    attributes.ObjectName = NULL;
    SHOW(c, "KMT-249",
         open_resource_name(&attributes, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_name_is_that_of_one_object)
{
    WCHAR text[] = L"\\BaseNamedObjects\\Same_One", other[] = L"\\BaseNamedObjects\\Same_Two";
    UNICODE_STRING string, second;
    OBJECT_ATTRIBUTES attributes, more;
    HANDLE nt, found, resource_nt;
    D3DKMT_HANDLE sync, resource;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    sync = make_sync(&g);
    resource = make_resource(&g);
    RtlInitUnicodeString(&string, text);
    RtlInitUnicodeString(&second, other);
    InitializeObjectAttributes(&attributes, &string, 0, NULL, NULL);
    InitializeObjectAttributes(&more, &second, 0, NULL, NULL);
    TRY(c, share_as(sync, &attributes, GENERIC_ALL, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-249",
         share_as(resource, &attributes, GENERIC_ALL, &resource_nt) == STATUS_OBJECT_NAME_COLLISION &&
             !resource_nt && because("KMT-249", "the name is taken"));
    TRY(c, share_as(resource, &more, GENERIC_ALL, &resource_nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-249",
         open_resource_name(&attributes, GENERIC_ALL, &found) == STATUS_OBJECT_TYPE_MISMATCH &&
             because("", "the name is that of a synchronization object"));
    SHOW(c, "KMT-249",
         open_sync_name(&more, GENERIC_ALL, &found) == STATUS_OBJECT_TYPE_MISMATCH &&
             because("", "the name is that of a resource"));
    SHOW(c, "KMT-249",
         open_sync_name(&attributes, 0, &found) == STATUS_ACCESS_DENIED &&
             because("KMT-249", "no right is asked for"));
    SHOW(c, "KMT-249", open_resource_name(&more, 0, &found) == STATUS_ACCESS_DENIED);
    string.Length = (USHORT)(string.Length - 2); /* the beginning of a name */
    SHOW(c, "KMT-249",
         open_sync_name(&attributes, GENERIC_ALL, &found) == STATUS_OBJECT_NAME_NOT_FOUND &&
             because("", "nothing is shared by this name"));
    string.Length = (USHORT)(string.Length + 2);
    text[string.Length / sizeof(WCHAR) - 1] = L'f'; /* another end */
    TRY(c, open_sync_name(&attributes, GENERIC_ALL, &found) == STATUS_OBJECT_NAME_NOT_FOUND);
    text[string.Length / sizeof(WCHAR) - 1] = L'E'; /* the same, in capitals */
    SHOW(c, "KMT-249", open_sync_name(&attributes, GENERIC_ALL, &found) == STATUS_SUCCESS);
    TRY(c, ZwClose(found) == STATUS_SUCCESS && ZwClose(nt) == STATUS_SUCCESS &&
               ZwClose(resource_nt) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* Bit 0: what was opened may be waited for; bit 1: it may be signaled; 4: it cannot be opened. */
static unsigned allowed(const struct gpu *g, D3DKMT_HANDLE sync, DWORD access)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 open = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 1};
    unsigned can = 0;
    HANDLE nt;

    if (share_as(sync, NULL, access, &nt) != STATUS_SUCCESS)
        return 8;
    open.hNtHandle = nt;
    open.hDevice = g->device;
    if (D3DKMTOpenSyncObjectFromNtHandle2(&open) != STATUS_SUCCESS)
        return ZwClose(nt) == STATUS_SUCCESS ? 4 : 8;
    wait.hContext = signal.hContext = g->render;
    wait.ObjectHandleArray[0] = signal.ObjectHandleArray[0] = open.hSyncObject;
    can |= D3DKMTWaitForSynchronizationObject(&wait) == STATUS_SUCCESS ? 1 : 0;
    can |= D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS ? 2 : 0;
    /* the count stays above 0 */
    signal.ObjectHandleArray[0] = wait.ObjectHandleArray[0] = sync;
    if (can == 1)
        (void)D3DKMTSignalSynchronizationObject(&signal);
    if (can == 2)
        (void)D3DKMTWaitForSynchronizationObject(&wait);
    return gpu_wait_idle(g) == STATUS_SUCCESS && ZwClose(nt) == STATUS_SUCCESS ? can : 8;
}

TEST_WITH(client, generic_rights_stand_for_those_of_the_object)
{
    D3DKMT_HANDLE sync;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    sync = make_sync(&g);
    SHOW(c, "KMT-246", allowed(&g, sync, GENERIC_ALL) == 3);
    SHOW(c, "KMT-246", allowed(&g, sync, D3DDDI_SYNC_OBJECT_ALL_ACCESS) == 3);
    TRY(c, allowed(&g, sync, GENERIC_READ) == 1);
    TRY(c, allowed(&g, sync, GENERIC_EXECUTE) == 1);
    TRY(c, allowed(&g, sync, GENERIC_WRITE) == 2);
    TRY(c, allowed(&g, sync, GENERIC_READ | GENERIC_WRITE) == 3);
    SHOW(c, "KMT-246", allowed(&g, sync, D3DDDI_SYNC_OBJECT_WAIT) == 4);
    SHOW(c, "KMT-247", allowed(&g, sync, STANDARD_RIGHTS_READ | D3DDDI_SYNC_OBJECT_WAIT) == 1);
    SHOW(c, "KMT-247", allowed(&g, sync, STANDARD_RIGHTS_READ | D3DDDI_SYNC_OBJECT_SIGNAL) == 2);
    TRY(c, allowed(&g, sync, STANDARD_RIGHTS_READ) == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static NTSTATUS open_resource(const struct gpu *g, D3DKMT_HANDLE resource, DWORD access)
{
    uint8_t total[256];
    D3DDDI_OPENALLOCATIONINFO2 info = {0};
    D3DKMT_OPENRESOURCEFROMNTHANDLE open = {.NumAllocations = 1};
    NTSTATUS status;
    HANDLE nt;

    if (share_as(resource, NULL, access, &nt) != STATUS_SUCCESS)
        return STATUS_UNSUCCESSFUL;
    open.hDevice = g->device;
    open.hNtHandle = nt;
    open.pOpenAllocationInfo2 = &info;
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = sizeof(struct refgpu_allocation_data);
    status = D3DKMTOpenResourceFromNtHandle(&open);
    return ZwClose(nt) == STATUS_SUCCESS ? status : STATUS_UNSUCCESSFUL;
}

TEST_WITH(client, a_resource_is_opened_with_the_right_to_read)
{
    D3DKMT_HANDLE resource;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    resource = make_resource(&g);
    SHOW(c, "KMT-246", open_resource(&g, resource, GENERIC_ALL) == STATUS_SUCCESS);
    SHOW(c, "KMT-246", open_resource(&g, resource, SHARED_ALLOCATION_WRITE) == STATUS_ACCESS_DENIED);
    TRY(c, open_resource(&g, resource, GENERIC_WRITE) == STATUS_SUCCESS);
    TRY(c, open_resource(&g, resource, GENERIC_READ) == STATUS_SUCCESS);
    TRY(c, open_resource(&g, resource, STANDARD_RIGHTS_READ) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, what_is_shared_is_one_object_or_a_bundle)
{
    static const HANDLE constant;
    D3DKMT_CREATEKEYEDMUTEX2 mutex = {.InitialValue = 0};
    D3DKMT_HANDLE parts[4];
    HANDLE nt;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    mutex.Flags.NtSecuritySharing = 1;
    TRY(c, D3DKMTCreateKeyedMutex2(&mutex) == STATUS_SUCCESS);
    parts[0] = make_resource(&g);
    parts[1] = mutex.hKeyedMutex;
    parts[2] = make_sync(&g);
    parts[3] = make_sync(&g);
    for (UINT count = 0; count <= 4; count++) {
        nt = (HANDLE)(uintptr_t)NONSENSE;
        if (count == 1 || count == 3)
            SHOW(c, "KMT-242",
                 D3DKMTShareObjects(count, parts, NULL, GENERIC_ALL, &nt) == STATUS_SUCCESS &&
                     ZwClose(nt) == STATUS_SUCCESS);
        else
            SHOW(c, "KMT-242",
                 D3DKMTShareObjects(count, parts, NULL, GENERIC_ALL, &nt) ==
                         STATUS_INVALID_PARAMETER &&
                     because("", "1 or 3 objects"));
    }
    for (unsigned i = 0; i < 3; i++) { /* each at another's place */
        D3DKMT_HANDLE order[3] = {parts[i], parts[(i + 1) % 3], parts[(i + 2) % 3]};

        if (i)
            TRY(c,
                D3DKMTShareObjects(3, order, NULL, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER &&
                    !nt && because("", "object 0 of 3"));
    }
    TRY(c, D3DKMTShareObjects(1, &parts[1], NULL, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER &&
               because("", "object 0 of 1"));
    /* the synchronization object belongs to its bundle, with whatever mutex */
    TRY(c, D3DKMTCreateKeyedMutex2(&mutex) == STATUS_SUCCESS);
    {
        D3DKMT_HANDLE again[3] = {make_resource(&g), mutex.hKeyedMutex, parts[2]};

        SHOW(c, "KMT-251",
             D3DKMTShareObjects(3, again, NULL, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER &&
                 because("KMT-251", "object 2 belongs to another bundle"));
    }
    TRY(c, D3DKMTShareObjects(1, &parts[3], NULL, GENERIC_ALL, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-253",
         D3DKMTOpenResourceFromNtHandle(&(D3DKMT_OPENRESOURCEFROMNTHANDLE){
             .hDevice = g.device, .hNtHandle = nt}) == STATUS_INVALID_PARAMETER &&
             because("KMT-253", "the NT handle is not of a resource"));
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);
    parts[1] = g.device;
    TRY(c, D3DKMTShareObjects(3, parts, NULL, GENERIC_ALL, &nt) == STATUS_INVALID_PARAMETER &&
               because("", "object 1 of 3"));
    TRY(c, D3DKMTShareObjects(1, parts, NULL, GENERIC_ALL, (void *)(uintptr_t)&constant) ==
               STATUS_INVALID_PARAMETER);
    TRY(c, D3DKMTShareObjects(1, (void *)(uintptr_t)0x1000, NULL, GENERIC_ALL, &nt) ==
               STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
