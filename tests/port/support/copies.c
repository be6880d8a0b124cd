/* SPDX-License-Identifier: MIT */
/* The driver of copies.h, its GPU, and its clients. */
#include "port/support/copies.h"
#include "port/running/display.h"
#include "port/support/paged.h"
#include "port/support/va_shadow.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "support/test.h"

#include <string.h>

struct copies_record copies_seen;
struct copies_answers copies;

/* ---- memory ---- */

#define APERTURE_PAGES 4096u

static struct probe *machine;
static PFN_NUMBER frame[APERTURE_PAGES];

static void note_paging(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation != DXGK_OPERATION_MAP_APERTURE_SEGMENT)
        return;
    for (SIZE_T i = 0; i < op->MapApertureSegment.NumberOfPages; i++)
        frame[op->MapApertureSegment.OffsetInPages + i] = MmGetMdlPfnArray(
            op->MapApertureSegment.pMdl)[op->MapApertureSegment.MdlOffset + i];
}

static bool is_virtual;
static HANDLE context; /* whose addresses the GPU uses */

static uint64_t frame_at(uint64_t address)
{
    const uint64_t page = (address - (uint64_t)machine->segment[1].BaseAddress.QuadPart) / PAGE_SIZE;

    if (is_virtual) {
        const DXGK_PTE entry = va_shadow_walk(va_shadow_find(context), address);

        CHECK(entry.Valid && !entry.Segment);
        return entry.PageAddress;
    }
    CHECK(page < APERTURE_PAGES);
    return frame[page];
}

/* What is at an address of the aperture, or of the process. */
static void *at(uint64_t address)
{
    return (uint8_t *)ram_direct(machine->ram, (struct phys_addr){frame_at(address) * PAGE_SIZE}) +
           address % PAGE_SIZE;
}

/* ---- the GPU ---- */

#define COMMAND 0x636F7079u

struct command {
    UINT magic, flags, color, pitch; /* of the source, in pixels */
    uint64_t source, destination;
    RECT from, to, rect;
};

static void carry_out(const struct command *c)
{
    CHECK(c->magic == COMMAND);
    copies_seen.done++;
    if (c->flags & 4) {
        full_engine.pending = c->source;
        return;
    }
    if (copies.no_pixels)
        return;
    for (LONG y = c->rect.top; y < c->rect.bottom; y++)
        for (LONG x = c->rect.left; x < c->rect.right; x++) {
            UINT color = c->color;

            if (c->source) {
                const LONG sx = c->from.left + (x - c->to.left) * (c->from.right - c->from.left) /
                                                   (c->to.right - c->to.left);
                const LONG sy = c->from.top + (y - c->to.top) * (c->from.bottom - c->from.top) /
                                                  (c->to.bottom - c->to.top);

                color = *(UINT *)at(c->source + 4 * ((uint64_t)sy * c->pitch + (uint64_t)sx));
            }
            *(UINT *)at(c->destination + 4 * ((uint64_t)y * 1024 + (uint64_t)x)) = color;
        }
}

static void engine_done_virtual(uint32_t fence)
{
    for (UINT i = 0; i < copies_seen.virtual_submits && i < COPIES_MOST; i++) {
        const DXGKARG_SUBMITCOMMANDVIRTUAL *s = &copies_seen.virtual_submit[i];

        if (s->SubmissionFenceId != fence || !s->Flags.Present)
            continue;
        context = s->hContext;
        for (UINT byte = 0; byte < s->DmaBufferSize; byte += sizeof(struct command)) {
            struct command c;

            for (UINT k = 0; k < sizeof(c); k += 4)
                memcpy((uint8_t *)&c + k, at(s->DmaBufferVirtualAddress + byte + k), 4);
            carry_out(&c);
        }
    }
}

static void engine_done(unsigned device, unsigned node, uint32_t fence)
{
    if (is_virtual)
        engine_done_virtual(fence);
    for (UINT i = 0; i < copies_seen.submits && i < COPIES_MOST; i++) {
        const DXGKARG_SUBMITCOMMAND *s = &copies_seen.submit[i];

        if (s->SubmissionFenceId != fence || s->NodeOrdinal != node || !s->Flags.Present)
            continue;
        for (UINT byte = s->DmaBufferSubmissionStartOffset; byte < s->DmaBufferSubmissionEndOffset;
             byte += sizeof(struct command)) {
            struct command c;

            CHECK(probe_device_dma(device, (uint64_t)s->DmaBufferPhysicalAddress.QuadPart + byte,
                                   &c, sizeof(c), false));
            carry_out(&c);
        }
    }
}

/* ---- the driver ---- */

static void locate(DXGKARG_PRESENT *args, UINT index, UINT at_byte, UINT offset)
{
    D3DDDI_PATCHLOCATIONLIST *location = args->pPatchLocationListOut;

    if (copies.unlisted || (copies.only_source && index == DXGK_PRESENT_DESTINATION_INDEX))
        return;
    memset(location, 0, sizeof(*location));
    location->AllocationIndex = index;
    location->SlotId = index == DXGK_PRESENT_DESTINATION_INDEX ? copies.slot & 0xFFFFFF : 0;
    location->PatchOffset = at_byte + offset;
    args->pPatchLocationListOut++;
}

static void write_flip(DXGKARG_PRESENT *args, const DXGK_ALLOCATIONLIST *list)
{
    struct command c = {.magic = COMMAND, .flags = args->Flags.Value};

    c.source = is_virtual ? args->pAllocationInfo[1].AllocationVirtualAddress
                          : (uint64_t)list[1].PhysicalAddress.QuadPart;
    memcpy(args->pDmaBuffer, &c, sizeof(c));
    if (!is_virtual)
        locate(args, 1, 0, offsetof(struct command, source));
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + sizeof(c);
}

/* As many rectangles as fit, from MultipassOffset on. */
static NTSTATUS write_commands(DXGKARG_PRESENT *args, const DXGK_ALLOCATIONLIST *list)
{
    uint8_t *start = args->pDmaBuffer;
    UINT written = 0;

    for (UINT i = args->MultipassOffset; i < args->SubRectCnt; i++) {
        const UINT byte = (UINT)((uint8_t *)args->pDmaBuffer - start);
        struct command c = {.magic = COMMAND,
                            .flags = args->Flags.Value,
                            .color = args->Color,
                            .pitch = (UINT)(args->SrcRect.right),
                            .from = args->SrcRect,
                            .to = args->DstRect,
                            .rect = args->pDstSubRects[i]};

        if (copies.stuck || byte + sizeof(c) > args->DmaSize ||
            (copies.rects && written == copies.rects))
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        c.source = is_virtual ? args->pAllocationInfo[1].AllocationVirtualAddress
                              : (uint64_t)list[1].PhysicalAddress.QuadPart;
        c.destination = is_virtual ? args->pAllocationInfo[2].AllocationVirtualAddress
                                   : (uint64_t)list[2].PhysicalAddress.QuadPart;
        memcpy(args->pDmaBuffer, &c, sizeof(c));
        if (!is_virtual && list[1].hDeviceSpecificAllocation)
            locate(args, copies.element_zero ? 0 : 1, byte, offsetof(struct command, source));
        if (!is_virtual)
            locate(args, 2, byte, offsetof(struct command, destination));
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + sizeof(c);
        args->MultipassOffset = i + 1;
        written++;
    }
    return STATUS_SUCCESS;
}

static void present(struct probe *p, struct probe_call *call)
{
    DXGKARG_PRESENT *args = (DXGKARG_PRESENT *)(uintptr_t)call->arg[1];
    struct copies_call *seen = &copies_seen.present[copies_seen.presents++ % COPIES_MOST];
    NTSTATUS status = copies.status;

    (void)p;
    *seen = (struct copies_call){.args = *args,
                                 .context = (HANDLE)(uintptr_t)call->arg[0],
                                 .irql = sim_current->irql,
                                 .order = call->order,
                                 .process = call->process};
    if (is_virtual && args->pDmaBuffer)
        memcpy(seen->info, args->pAllocationInfo, sizeof(seen->info));
    else
        memcpy(seen->list, args->pAllocationList, sizeof(seen->list));
    for (UINT i = 0; i < args->SubRectCnt && i < 16; i++)
        seen->rect[i] = args->pDstSubRects[i];
    if (args->pPrivateDriverData)
        memcpy(seen->private_data, args->pPrivateDriverData,
               args->PrivateDriverDataSize < 32 ? args->PrivateDriverDataSize : 32);
    copies.status = STATUS_SUCCESS;
    if (NT_SUCCESS(status) && args->pDmaBuffer)
        args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData + copies.private_bytes;
    call->answered = true;
    if (NT_SUCCESS(status) && args->pDmaBuffer && args->Flags.Flip)
        write_flip(args, seen->list);
    else if (NT_SUCCESS(status) && args->pDmaBuffer)
        status = write_commands(args, seen->list);
    call->result = (uint64_t)status;
}

static void patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
    struct copies_patch *seen = &copies_seen.patch[copies_seen.patches % COPIES_MOST];

    (void)p;
    if (!args->Flags.Present)
        return;
    copies_seen.patches++;
    seen->args = *args;
    memcpy(seen->list, args->pAllocationList, sizeof(seen->list));
    for (UINT i = 0; i < args->PatchLocationListSubmissionLength; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l =
            &args->pPatchLocationList[args->PatchLocationListSubmissionStart + i];
        const uint64_t address =
            (uint64_t)args->pAllocationList[l->AllocationIndex].PhysicalAddress.QuadPart;

        if (i < 8)
            seen->location[i] = *l;
        memcpy((uint8_t *)args->pDmaBuffer + l->PatchOffset, &address, sizeof(address));
    }
}

static void note_submit(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        copies_seen.submit[copies_seen.submits++ % COPIES_MOST] = *args;
}

static void note_submit_virtual(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        copies_seen.virtual_submit[copies_seen.virtual_submits++ % COPIES_MOST] = *args;
}

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    copies.describes++;
    copies.described = args->hAllocation;
    args->Width = copies.width ? copies.width : 1024;
    args->Height = copies.height ? copies.height : 768;
    args->Format = copies.format ? copies.format : D3DDDIFMT_X8R8G8B8;
    args->PrivateDriverFormatAttribute = copies.attribute;
    call->answered = true;
    call->result = (uint64_t)copies.describe_status;
}

static probe_hook *created; /* of full_display.c */

static void in_aperture(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    created(p, call);
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 2;
        info->PreferredSegment.Value = 2;
        info->FlagsWddm2.Value = 0;
        info->FlagsWddm2.CpuVisible = 1;
        info->FlagsWddm2.AccessedPhysically = machine->table.Version >=
                                              DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    }
}

struct probe *copies_create(UINT version)
{
    const struct probe_options options = {.version = version};
    struct probe *p = full_display_create(&options);

    machine = p;
    is_virtual = false;
    memset(&copies, 0, sizeof(copies));
    memset(&copies_seen, 0, sizeof(copies_seen));
    memset(frame, 0, sizeof(frame));
    if (version < DXGKDDI_INTERFACE_VERSION_WDDM2_0) {
        probe_make_1x(p);
        p->caps.MaxAllocationListSlotId = 7;
    }
    p->before[PROBE_Present] = present;
    p->before[PROBE_Patch] = patch;
    p->before[PROBE_SubmitCommand] = note_submit;
    p->before[PROBE_SubmitCommandVirtual] = note_submit_virtual;
    p->before[PROBE_BuildPagingBuffer] = note_paging;
    p->before[PROBE_DescribeAllocation] = describe;
    created = p->after[PROBE_CreateAllocation];
    p->after[PROBE_CreateAllocation] = in_aperture;
    probe_device_done = engine_done;
    return p;
}

struct probe *copies_create_virtual(void)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM2_9);

    is_virtual = true;
    va_shadow_begin(p);
    return p;
}

void copies_run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
    probe_device_done = NULL;
}

/* ---- clients ---- */

void copies_begin(struct copies_client *c)
{
    D3DKMT_ENUMADAPTERS adapters = {0};
    D3DKMT_CREATEDEVICE device = {0};

    memset(c, 0, sizeof(*c));
    CHECK(NT_SUCCESS(D3DKMTEnumAdapters(&adapters)) && adapters.NumAdapters);
    c->adapter = device.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&device)));
    c->device = c->answer.hDevice = device.hDevice;
    c->answer.EngineAffinity = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&c->answer)));
    c->context = c->answer.hContext;
}

void copies_end(const struct copies_client *c)
{
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){c->device})));
    CHECK(NT_SUCCESS(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){c->adapter})));
}

void copies_begin_virtual(struct copies_client *c)
{
    memset(c, 0, sizeof(*c));
    CHECK(NT_SUCCESS(probe_gpu_begin(&c->gpu)));
    c->adapter = c->gpu.adapter;
    c->device = c->gpu.device;
    c->context = c->gpu.context;
}

static NTSTATUS create(const struct copies_client *c, uint64_t bytes, UINT source, bool primary,
                       D3DKMT_HANDLE *handle)
{
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.VidPnSourceId = source;
    info.Flags.Primary = primary;
    args.hDevice = c->device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *handle = info.hAllocation;
    return status;
}

UINT *copies_lock(const struct copies_client *c, D3DKMT_HANDLE surface)
{
    D3DKMT_LOCK lock = {.hDevice = c->device, .hAllocation = surface};
    D3DKMT_LOCK2 lock2 = {.hDevice = c->device, .hAllocation = surface};

    if (machine->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return NT_SUCCESS(D3DKMTLock(&lock)) ? lock.pData : NULL;
    return NT_SUCCESS(D3DKMTLock2(&lock2)) ? lock2.pData : NULL;
}

void copies_unlock(const struct copies_client *c, D3DKMT_HANDLE surface)
{
    const D3DKMT_UNLOCK unlock = {
        .hDevice = c->device, .NumAllocations = 1, .phAllocations = &surface};
    const D3DKMT_UNLOCK2 unlock2 = {.hDevice = c->device, .hAllocation = surface};

    CHECK(NT_SUCCESS(machine->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM2_0
                         ? D3DKMTUnlock(&unlock)
                         : D3DKMTUnlock2(&unlock2)));
}

D3DKMT_HANDLE copies_surface(const struct copies_client *c, UINT width, UINT height, UINT color)
{
    D3DKMT_HANDLE surface;
    UINT *pixel;

    CHECK(NT_SUCCESS(create(c, (uint64_t)width * height * 4, 0, false, &surface)));
    pixel = copies_lock(c, surface);
    CHECK(pixel != NULL);
    for (UINT i = 0; i < width * height; i++)
        pixel[i] = color;
    copies_unlock(c, surface);
    if (is_virtual) {
        uint64_t fence;

        CHECK(NT_SUCCESS(paged_make_resident(&c->gpu, surface, &fence)) &&
              NT_SUCCESS(paged_wait(&c->gpu, fence)));
    }
    return surface;
}

NTSTATUS copies_create_primary(const struct copies_client *c, UINT source, D3DKMT_HANDLE *handle)
{
    return create(c, 1024 * 768 * 4, source, true, handle);
}

NTSTATUS copies_own(const struct copies_client *c, UINT source)
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    const D3DKMT_SETVIDPNSOURCEOWNER args = {
        .hDevice = c->device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};

    return D3DKMTSetVidPnSourceOwner(&args);
}

static const RECT everything = {0, 0, 10000, 10000}; /* to be clipped */

D3DKMT_PRESENT copies_args(const struct copies_client *c, D3DKMT_HANDLE surface)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = c->context;
    args.hSource = surface;
    args.Flags.Blt = surface != 0;
    args.Flags.ColorFill = surface == 0;
    if (surface) {
        args.SubRectCnt = 1;
        args.pSrcSubRects = &everything;
    }
    return args;
}

void copies_wait(const struct copies_client *c)
{
    D3DKMT_WAITFORIDLE wait = {c->device};

    CHECK(NT_SUCCESS(D3DKMTWaitForIdle(&wait)));
}

NTSTATUS copies_present(const struct copies_client *c, D3DKMT_PRESENT *args)
{
    const NTSTATUS status = D3DKMTPresent(args);

    if (NT_SUCCESS(status))
        copies_wait(c);
    return status;
}

UINT copies_pixel(const struct probe *p, UINT x, UINT y)
{
    const struct port_scanout scanout = port_display_scanout(p->adapter[0], 0);
    UINT pixel;

    CHECK(scanout.pixels && x < scanout.width && y < scanout.height);
    memcpy(&pixel, scanout.pixels + (size_t)scanout.pitch * y + (size_t)x * 4, sizeof(pixel));
    return pixel;
}

const struct copies_call *copies_last(void)
{
    return &copies_seen.present[(copies_seen.presents - 1) % COPIES_MOST];
}
