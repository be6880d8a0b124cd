/* SPDX-License-Identifier: MIT */
/*
 * bootfb for a virtio GPU: its frame buffer, in the first memory range, is the memory behind a
 * resource, which is scanned out. Each present transfers all of it to the device, and flushes the
 * upper half and the lower half, but not a half whose first pixel is UNFLUSHED.
 */
#include "bootfb.h"

#include "../../../devices/virtio_gpu/protocol.h"

#define UNFLUSHED 0x00FF00FFu
#define BAR_BYTES 0x4000u
#define NOTIFY    0x3000u
#define RING      16u /* entries of the queue */
#define RESOURCE  1u

/* The common configuration */
#define DRIVER_FEATURE_SELECT 8u
#define DRIVER_FEATURES       12u
#define STATUS                20u
#define QUEUE                 22u
#define SIZE                  24u
#define ENABLE                28u
#define DESCRIPTORS           32u
#define AVAILABLE             40u
#define USED                  48u

NTSTATUS NTAPI __real_DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                                      PKMDDOD_INITIALIZATION_DATA table);
NTSTATUS NTAPI __wrap_DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                                      PKMDDOD_INITIALIZATION_DATA table);

struct descriptor {
    ULONG64 address;
    ULONG bytes;
    USHORT flags, next;
};

/* Where the device finds all of it: a page. */
struct shared {
    struct descriptor descriptor[RING];
    USHORT available[4 + RING];
    USHORT padding[12];
    USHORT used[4 + 4 * RING]; /* elements of two ULONGs */
    UCHAR command[256], answer[256];
};

static KMDDOD_INITIALIZATION_DATA bootfb; /* what it would have registered */
static DXGKRNL_INTERFACE dxgk;
static UCHAR *registers; /* mapped; NULL: not now */
static struct shared *shared;

/* ---- the device ---- */

static NTSTATUS find(PHYSICAL_ADDRESS *start)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    NTSTATUS status;
    ULONG found = 0;

    RtlZeroMemory(&info, sizeof(info));
    status = dxgk.DxgkCbGetDeviceInformation(dxgk.DeviceHandle, &info);
    if (!NT_SUCCESS(status))
        return status;
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count; i++) {
        if (list->PartialDescriptors[i].Type != CmResourceTypeMemory || found++ != 1)
            continue;
        *start = list->PartialDescriptors[i].u.Memory.Start;
        return STATUS_SUCCESS;
    }
    return STATUS_DEVICE_CONFIGURATION_ERROR;
}

static void set_byte(ULONG offset, UCHAR value)
{
    WRITE_REGISTER_UCHAR(registers + offset, value);
}

static void set_16(ULONG offset, USHORT value)
{
    WRITE_REGISTER_USHORT((PUSHORT)(registers + offset), value);
}

static void set_32(ULONG offset, ULONG value)
{
    WRITE_REGISTER_ULONG((PULONG)(registers + offset), value);
}

static void set_address(ULONG offset, const void *memory)
{
    const PHYSICAL_ADDRESS address = MmGetPhysicalAddress((PVOID)(ULONG_PTR)memory);

    set_32(offset, address.LowPart);
    set_32(offset + 4, (ULONG)address.HighPart);
}

static void begin_device(void)
{
    RtlZeroMemory(shared, sizeof(*shared));
    set_byte(STATUS, 0);
    set_byte(STATUS, 3);
    for (ULONG half = 0; half < 2; half++) {
        set_32(DRIVER_FEATURE_SELECT, half);
        set_32(DRIVER_FEATURES, half); /* VERSION_1 */
    }
    set_byte(STATUS, 11);
    set_16(QUEUE, 0);
    set_16(SIZE, RING);
    set_address(DESCRIPTORS, shared->descriptor);
    set_address(AVAILABLE, shared->available);
    set_address(USED, shared->used);
    set_16(ENABLE, 1);
    set_byte(STATUS, 15);
}

/* One at a time. FALSE: the device did not take it. */
static BOOLEAN command(const void *bytes, ULONG count)
{
    const USHORT before = ((volatile struct shared *)shared)->used[1];
    LARGE_INTEGER wait = {.QuadPart = -100};

    RtlCopyMemory(shared->command, bytes, count);
    shared->descriptor[0] = (struct descriptor){
        (ULONG64)MmGetPhysicalAddress(shared->command).QuadPart, count, 1, 1};
    shared->descriptor[1] = (struct descriptor){
        (ULONG64)MmGetPhysicalAddress(shared->answer).QuadPart, sizeof(shared->answer), 2, 0};
    shared->available[2 + shared->available[1] % RING] = 0;
    shared->available[1]++;
    set_16(NOTIFY, 0);
    for (ULONG i = 0; i < 1000 && ((volatile struct shared *)shared)->used[1] == before; i++)
        (void)KeDelayExecutionThread(KernelMode, FALSE, &wait);
    return ((const struct gpu_header *)shared->answer)->type == GPU_OK;
}

static BOOLEAN scan_out(const DXGK_DISPLAY_INFORMATION *post)
{
    const struct gpu_rect all = {0, 0, post->Width, post->Height};
    const struct gpu_create_2d create = {
        {.type = GPU_RESOURCE_CREATE_2D}, RESOURCE, GPU_BGRX, post->Width, post->Height};
    const struct {
        struct gpu_attach_backing command;
        struct gpu_memory_entry entry;
    } attach = {{{.type = GPU_ATTACH_BACKING}, RESOURCE, 1},
                {(ULONG64)post->PhysicAddress.QuadPart, post->Pitch * post->Height, 0}};
    const struct gpu_set_scanout show = {{.type = GPU_SET_SCANOUT}, all, 0, RESOURCE};

    return command(&create, sizeof(create)) && command(&attach, sizeof(attach)) &&
           command(&show, sizeof(show));
}

/* ---- life ---- */

static void end_device(void)
{
    if (registers) {
        set_byte(STATUS, 0);
        MmUnmapIoSpace(registers, BAR_BYTES);
    }
    registers = NULL;
    if (shared)
        MmFreeContiguousMemory(shared);
    shared = NULL;
}

static NTSTATUS NTAPI start_device(PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE offered,
                                   PULONG sources, PULONG children)
{
    const PHYSICAL_ADDRESS highest = {.QuadPart = -1};
    const struct bootfb *fb = context;
    PHYSICAL_ADDRESS start;
    NTSTATUS status;

    RtlCopyMemory(&dxgk, offered, offered->Size < sizeof(dxgk) ? offered->Size : sizeof(dxgk));
    status = find(&start);
    if (NT_SUCCESS(status))
        status = bootfb.DxgkDdiStartDevice(context, info, offered, sources, children);
    if (!NT_SUCCESS(status))
        return status;
    registers = MmMapIoSpaceEx(start, BAR_BYTES, PAGE_READWRITE | PAGE_NOCACHE);
    shared = MmAllocateContiguousMemory(PAGE_SIZE, highest);
    if (!registers || !shared) {
        end_device();
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    begin_device();
    return scan_out(&fb->post) ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
}

static NTSTATUS NTAPI stop_device(PVOID context)
{
    end_device();
    return bootfb.DxgkDdiStopDevice(context);
}

static NTSTATUS NTAPI stop_and_release(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                       PDXGK_DISPLAY_INFORMATION info)
{
    end_device();
    return bootfb.DxgkDdiStopDeviceAndReleasePostDisplayOwnership(context, target, info);
}

/* ---- pictures ---- */

static BOOLEAN flush(const struct bootfb *fb, struct gpu_rect half)
{
    const struct gpu_flush args = {{.type = GPU_RESOURCE_FLUSH}, half, RESOURCE, 0};
    ULONG first;

    RtlCopyMemory(&first, fb->pixels + (SIZE_T)half.y * fb->post.Pitch, sizeof(first));
    return (first & 0xFFFFFF) == UNFLUSHED || command(&args, sizeof(args));
}

static NTSTATUS NTAPI present(HANDLE context, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const struct bootfb *fb = context;
    const ULONG middle = fb->post.Height / 2;
    const struct gpu_rect all = {0, 0, fb->post.Width, fb->post.Height};
    const struct gpu_transfer transfer = {{.type = GPU_TRANSFER_TO_HOST_2D}, all, 0, RESOURCE, 0};
    const NTSTATUS status = bootfb_present_display_only(context, args);

    if (!NT_SUCCESS(status))
        return status;
    return command(&transfer, sizeof(transfer)) &&
                   flush(fb, (struct gpu_rect){0, 0, all.width, middle}) &&
                   flush(fb, (struct gpu_rect){0, middle, all.width, all.height - middle})
               ? STATUS_SUCCESS
               : STATUS_UNSUCCESSFUL;
}

NTSTATUS NTAPI __wrap_DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                                      PKMDDOD_INITIALIZATION_DATA table)
{
    bootfb = *table;
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiStopDeviceAndReleasePostDisplayOwnership = stop_and_release;
    table->DxgkDdiPresentDisplayOnly = present;
    return __real_DxgkInitializeDisplayOnlyDriver(object, path, table);
}
