/* SPDX-License-Identifier: MIT */
/* What Windows was recorded to answer about handles, adapters and devices, and to wrong arguments of
 * calls that need a display (docs/client-answers.md). */
#include "support/recorded.h"

#include <ctype.h>

TEST_WITH(client, adapters_are_counted_before_they_are_listed)
{
    D3DKMT_ADAPTERINFO list[34];
    D3DKMT_ENUMADAPTERS2 args = {0};
    D3DKMT_HANDLE last = 0;

    SHOW(c, "KMT-004", D3DKMTEnumAdapters2(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-035", D3DKMTEnumAdapters2(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-036", args.NumAdapters == 34);
    args.pAdapters = list;
    SHOW(c, "KMT-037", D3DKMTEnumAdapters2(&args) == STATUS_SUCCESS && args.NumAdapters == 1);
    SHOW(c, "KMT-028", is_next_local(list[0].hAdapter, &last));
    SHOW(c, "KMT-040", list[0].AdapterLuid.LowPart || list[0].AdapterLuid.HighPart);
    SHOW(c, "KMT-050",
         D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){list[0].hAdapter}) == STATUS_SUCCESS);
    args.NumAdapters = 0;
    SHOW(c, "KMT-037", D3DKMTEnumAdapters2(&args) == STATUS_BUFFER_TOO_SMALL);
    /* the next handle is the next one, although the last is free again */
    args.NumAdapters = 1;
    TRY(c, D3DKMTEnumAdapters2(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(list[0].hAdapter, &last));
}

TEST_WITH(client, devices_and_adapters_need_handles)
{
    D3DKMT_CREATEDEVICE create;
    D3DKMT_DESTROYDEVICE destroy = {0};
    D3DKMT_CLOSEADAPTER close = {0};
    D3DKMT_HANDLE last = 0;
    struct gpu g;

    SHOW(c, "KMT-004", D3DKMTCloseAdapter(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-050", D3DKMTCloseAdapter(&close) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-004", D3DKMTCreateDevice(NULL) == STATUS_INVALID_PARAMETER);
    memset(&create, 0, sizeof(create));
    SHOW(c, "KMT-026", D3DKMTCreateDevice(&create) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-004", D3DKMTDestroyDevice(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-026", D3DKMTDestroyDevice(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS && is_next_local(g.adapter, &last));
    create.hAdapter = g.adapter;
    SHOW(c, "KMT-114", D3DKMTCreateDevice(&create) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(create.hDevice, &last));
    SHOW(c, "KMT-116",
         !create.pCommandBuffer && !create.CommandBufferSize && !create.pAllocationList &&
             !create.AllocationListSize && !create.pPatchLocationList &&
             !create.PatchLocationListSize);
    g.device = create.hDevice;
    TRY(c, device_end(&g));
}

/* Wrong arguments are wrong without any display, too. */
TEST_WITH(client, calls_of_the_display_refuse_nothing_as_an_argument)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME gdi;
    D3DKMT_OPENADAPTERFROMDEVICENAME device;
    D3DKMT_OPENADAPTERFROMHDC hdc;
    D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP check;
    D3DKMT_SETVIDPNSOURCEOWNER owner;
    D3DKMT_CHECKOCCLUSION occlusion;
    D3DKMT_HANDLE last;
    struct gpu g;

    memset(&gdi, 0, sizeof(gdi));
    memset(&device, 0, sizeof(device));
    memset(&hdc, 0, sizeof(hdc));
    memset(&check, 0, sizeof(check));
    memset(&owner, 0, sizeof(owner));
    memset(&occlusion, 0, sizeof(occlusion));
    SHOW(c, "KMT-049", D3DKMTOpenAdapterFromGdiDisplayName(NULL) == STATUS_UNSUCCESSFUL);
    SHOW(c, "KMT-049", D3DKMTOpenAdapterFromGdiDisplayName(&gdi) == STATUS_UNSUCCESSFUL);
    SHOW(c, "KMT-049", D3DKMTOpenAdapterFromHdc(&hdc) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-004", D3DKMTOpenAdapterFromDeviceName(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-047", D3DKMTOpenAdapterFromDeviceName(&device) == STATUS_INVALID_PARAMETER);
    device.pDeviceName = L"\\\\?\\PCI#VEN_1234";
    SHOW(c, "KMT-047", D3DKMTOpenAdapterFromDeviceName(&device) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-004", D3DKMTCheckVidPnExclusiveOwnership(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-489", D3DKMTCheckVidPnExclusiveOwnership(&check) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-489", D3DKMTSetVidPnSourceOwner(&owner) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-004", D3DKMTCheckOcclusion(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-489", D3DKMTCheckOcclusion(&occlusion) == STATUS_INVALID_PARAMETER);
    TRY(c, device_begin(&g, &last));
    check.hAdapter = g.adapter;
    owner.hDevice = g.device;
    SHOW(c, "KMT-489", D3DKMTCheckVidPnExclusiveOwnership(&check) == STATUS_NOT_SUPPORTED);
    SHOW(c, "KMT-489", D3DKMTSetVidPnSourceOwner(&owner) == STATUS_NOT_SUPPORTED);
    TRY(c, device_end(&g));
}

static NTSTATUS open_named(const char *path, D3DKMT_OPENADAPTERFROMDEVICENAME *args)
{
    WCHAR wide[400];
    size_t bytes = strlen(path) + 1;

    for (size_t i = 0; i < bytes; i++)
        wide[i] = (WCHAR)(unsigned char)path[i];
    memset(args, 0, sizeof(*args));
    args->pDeviceName = wide;
    return D3DKMTOpenAdapterFromDeviceName(args);
}

TEST_WITH(client, a_device_interface_opens_its_adapter)
{
    D3DKMT_OPENADAPTERFROMDEVICENAME opened;
    D3DKMT_ADAPTERINFO list[1];
    D3DKMT_ENUMADAPTERS2 all = {.NumAdapters = 1, .pAdapters = list};
    char path[400], wrong[400];
    size_t length;

    TRY(c, D3DKMTEnumAdapters2(&all) == STATUS_SUCCESS);
    SHOW(c, "KMT-048", dxgk_machine_device_interface(c->machine->dxgk, 0, path, sizeof(path)));
    SHOW(c, "KMT-048",
         !dxgk_machine_device_interface(c->machine->dxgk, 1, wrong, sizeof(wrong)) && !wrong[0]);
    TRY(c, strncmp(path, "\\\\?\\PCI#VEN_", 12) == 0);
    SHOW(c, "KMT-047",
         open_named(path, &opened) == STATUS_SUCCESS && opened.hAdapter &&
             memcmp(&opened.AdapterLuid, &list[0].AdapterLuid, sizeof(LUID)) == 0);
    SHOW(c, "KMT-050",
         D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){opened.hAdapter}) == STATUS_SUCCESS);
    length = strlen(path);
    for (size_t i = 0; i <= length; i++)
        wrong[i] = (char)toupper((unsigned char)path[i]);
    SHOW(c, "KMT-048", strcmp(wrong, path) != 0 && open_named(wrong, &opened) == STATUS_SUCCESS);
    TRY(c, D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){opened.hAdapter}) == STATUS_SUCCESS);
    strcpy(wrong, path);
    strcpy(strchr(wrong, '{'), "{1024E4C9-47C9-48D3-B4A8-F9DF78523B53}");
    SHOW(c, "KMT-048", open_named(wrong, &opened) == STATUS_SUCCESS);
    TRY(c, D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){opened.hAdapter}) == STATUS_SUCCESS);
    strcpy(strchr(wrong, '{'), "{5b45201d-f2f2-4f3b-85bb-30ff1f953599}"); /* another class */
    SHOW(c, "KMT-047", open_named(wrong, &opened) == STATUS_INVALID_PARAMETER);
    strcpy(wrong, path);
    wrong[length - 1] = '\0';
    SHOW(c, "KMT-047", open_named(wrong, &opened) == STATUS_INVALID_PARAMETER);
    strcpy(wrong, path);
    strcat(wrong, "x");
    SHOW(c, "KMT-047", open_named(wrong, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-047", open_named("", &opened) == STATUS_INVALID_PARAMETER);
    memset(wrong, 'x', sizeof(wrong));
    wrong[sizeof(wrong) - 1] = '\0';
    SHOW(c, "KMT-047", open_named(wrong, &opened) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(client, questions_about_an_adapter_need_a_buffer_of_their_size)
{
    static const struct {
        KMTQUERYADAPTERINFOTYPE type;
        UINT bytes;
    } asked[] = {
        {KMTQAITYPE_CHECKDRIVERUPDATESTATUS, sizeof(BOOL)},
        {KMTQAITYPE_DRIVERVERSION, sizeof(D3DKMT_DRIVERVERSION)},
    };
    D3DKMT_HANDLE last;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    for (unsigned i = 0; i < 2; i++) {
        UINT answer[4] = {NONSENSE};
        D3DKMT_QUERYADAPTERINFO args = {
            .hAdapter = g.adapter, .Type = asked[i].type, .PrivateDriverDataSize = asked[i].bytes};

        SHOW(c, "KMT-006", D3DKMTQueryAdapterInfo(&args) == STATUS_INVALID_PARAMETER);
        args.pPrivateDriverData = answer;
        args.PrivateDriverDataSize--;
        TRY(c, D3DKMTQueryAdapterInfo(&args) == STATUS_INVALID_PARAMETER);
        args.PrivateDriverDataSize++;
        TRY(c, D3DKMTQueryAdapterInfo(&args) == STATUS_SUCCESS);
        TRY(c, i == 0 ? answer[0] == 0 : answer[0] >= KMT_DRIVERVERSION_WDDM_1_3);
    }
    TRY(c, device_end(&g));
}

TEST_WITH(client, video_memory_is_asked_for_by_process_adapter_and_group)
{
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION change = {0};
    D3DKMT_QUERYVIDEOMEMORYINFO args;
    HANDLE process;
    D3DKMT_HANDLE last;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    for (unsigned group = 0; group < 2; group++) {
        memset(&args, 0, sizeof(args));
        args.hAdapter = g.adapter;
        args.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)group;
        TRY(c, D3DKMTQueryVideoMemoryInfo(&args) == STATUS_SUCCESS);
        TRY(c, args.Budget >= args.AvailableForReservation && args.CurrentUsage <= args.Budget);
        TRY(c, args.CurrentReservation == 0);
    }
    args.hProcess = (HANDLE)(intptr_t)-1; /* the calling process */
    TRY(c, D3DKMTQueryVideoMemoryInfo(&args) == STATUS_SUCCESS);
    TRY(c, ObOpenObjectByPointer(IoGetCurrentProcess(), 0, NULL, 0x200 /* SET_INFORMATION */,
                                 *PsProcessType, UserMode, &process) == STATUS_SUCCESS);
    args.hProcess = process;
    SHOW(c, "KMT-020", D3DKMTQueryVideoMemoryInfo(&args) == STATUS_ACCESS_DENIED);
    TRY(c, ZwClose(process) == STATUS_SUCCESS);
    TRY(c, ObOpenObjectByPointer(IoGetCurrentProcess(), 0, NULL, 0x400 /* QUERY_INFORMATION */,
                                 *PsProcessType, UserMode, &process) == STATUS_SUCCESS);
    args.hProcess = process;
    SHOW(c, "KMT-020", D3DKMTQueryVideoMemoryInfo(&args) == STATUS_SUCCESS);
    change.hProcess = process;
    change.hAdapter = g.adapter;
    SHOW(c, "KMT-021", D3DKMTChangeVideoMemoryReservation(&change) == STATUS_ACCESS_DENIED);
    TRY(c, ZwClose(process) == STATUS_SUCCESS);
    args.hProcess = (HANDLE)(uintptr_t)NONSENSE;
    SHOW(c, "KMT-020", D3DKMTQueryVideoMemoryInfo(&args) == STATUS_INVALID_HANDLE);
    args.hProcess = NULL;
    args.hAdapter = NONSENSE;
    SHOW(c, "KMT-026", D3DKMTQueryVideoMemoryInfo(&args) == STATUS_INVALID_PARAMETER);
    args.hAdapter = g.adapter;
    args.PhysicalAdapterIndex = 99;
    TRY(c, D3DKMTQueryVideoMemoryInfo(&args) == STATUS_INVALID_PARAMETER);
    args.PhysicalAdapterIndex = 0;
    args.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)2;
    TRY(c, D3DKMTQueryVideoMemoryInfo(&args) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}
