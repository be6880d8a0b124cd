/* SPDX-License-Identifier: MIT */
/* Copies and fills in contexts of GPU virtual addresses. */
#include "nt/base/current.h"
#include "port/support/copies.h"
#include "port/support/paged.h"
#include "port/support/va_shadow.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct copies_client client;

static void in_virtual_mode(struct probe *p)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *submitted = copies_seen.virtual_submit;
    const struct copies_call *call;
    D3DKMT_HANDLE surface;
    D3DKMT_PRESENT args;
    uint8_t data[16] = "private";

    copies_begin_virtual(&client);
    surface = copies_surface(&client, 64, 32, 0x445566);
    args = copies_args(&client, surface);
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = args.DstRect = (RECT){0, 0, 64, 32};
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = sizeof(data);
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-115", copies_seen.patches == 0 && call->args.DmaBufferGpuVirtualAddress &&
                               !call->args.DmaBufferPhysicalAddress.QuadPart &&
                               !call->args.PatchLocationListOutSize &&
                               !call->args.NumSrcAllocations && !call->args.NumDstAllocations);
    CHECK_RULE("PRES-115",
               copies_seen.virtual_submits == 1 && submitted->Flags.Value == 2 &&
                   submitted->DmaBufferVirtualAddress == call->args.DmaBufferGpuVirtualAddress &&
                   copies_seen.done == 1 && copies_pixel(p, 63, 31) == 0x445566);
    CHECK_RULE("PRES-116", call->info[1].hDeviceSpecificAllocation &&
                               call->info[1].AllocationVirtualAddress &&
                               call->info[2].hDeviceSpecificAllocation &&
                               call->info[2].AllocationVirtualAddress);
    CHECK_RULE("PRES-117", call->args.PrivateDriverDataSize == 16 &&
                               memcmp(call->private_data, "private", 8) == 0 &&
                               call->args.pPrivateDriverData != data);
    args = copies_args(&client, 0);
    args.Color = 0x778899;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-116", !call->info[0].hDeviceSpecificAllocation &&
                               !call->info[1].hDeviceSpecificAllocation &&
                               !call->info[1].AllocationVirtualAddress &&
                               call->info[2].hDeviceSpecificAllocation &&
                               call->info[2].AllocationVirtualAddress ==
                                   copies_seen.present[0].info[2].AllocationVirtualAddress);
    CHECK_RULE("PRES-117", !call->args.pPrivateDriverData && !call->args.PrivateDriverDataSize);
    CHECK(copies_pixel(p, 1023, 767) == 0x778899);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(copies_with_gpu_virtual_addresses)
{
    copies_run(copies_create_virtual(), in_virtual_mode);
}

/* ---- where things are ---- */

static D3DGPU_VIRTUAL_ADDRESS map_read_only(D3DKMT_HANDLE allocation, UINT pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = client.gpu.queue;
    args.hAllocation = allocation;
    args.SizeInPages = pages;
    status = D3DKMTMapGpuVirtualAddress(&args);
    CHECK(NT_SUCCESS(status));
    if (status == STATUS_PENDING)
        CHECK(NT_SUCCESS(paged_wait(&client.gpu, args.PagingFenceValue)));
    return args.VirtualAddress;
}

static void mapped(struct probe *p)
{
    D3DKMT_HANDLE from, to;
    D3DGPU_VIRTUAL_ADDRESS source, read_only;
    const struct copies_call *call;
    D3DKMT_PRESENT args;

    (void)p;
    copies_begin_virtual(&client);
    from = copies_surface(&client, 64, 32, 0x445566);
    to = copies_surface(&client, 1024, 32, 0);
    source = map_read_only(from, 2);
    read_only = map_read_only(to, 32);
    CHECK(source && read_only);
    args = copies_args(&client, from);
    args.hDestination = to;
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = args.DstRect = (RECT){0, 0, 64, 32};
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-116", call->info[1].AllocationVirtualAddress == source);
    CHECK_RULE("PRES-116", call->info[2].AllocationVirtualAddress &&
                               call->info[2].AllocationVirtualAddress != read_only);
    CHECK_RULE("SUBMIT-110", copies_seen.virtual_submit[0].DmaBufferPrivateDataSize == 64 &&
                                 copies_seen.virtual_submit[0].DmaBufferUmdPrivateDataSize == 24);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void with_private_data(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->ContextInfo.DmaBufferPrivateDataSize = 64;
}

TEST(addresses_of_clients_are_used)
{
    struct probe *p = copies_create_virtual();

    va_shadow.created = with_private_data;
    copies.private_bytes = 24;
    copies_run(p, mapped);
}

/* ---- what is destroyed meanwhile ---- */

static D3DKMT_HANDLE victim;

static void destroy_victim(struct probe *p)
{
    const D3DKMT_DESTROYALLOCATION2 args = {
        .hDevice = client.device, .phAllocationList = &victim, .AllocationCount = 1};

    (void)p;
    probe_sleep(1000000);
    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&args)));
}

/* While the destination gets an address. */
static void destroyed(struct probe *p, bool source)
{
    D3DKMT_HANDLE from, to;
    D3DKMT_PRESENT args;

    copies_begin_virtual(&client);
    from = copies_surface(&client, 64, 32, 0x445566);
    to = copies_surface(&client, 1024, 32, 0);
    CHECK(map_read_only(from, 2));
    args = copies_args(&client, from);
    args.hDestination = to;
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = args.DstRect = (RECT){0, 0, 64, 32};
    victim = source ? from : to;
    probe_device_packet_ns = 5000000;
    sim_thread_release(probe_thread(p, nt_process_current(), "destroys", destroy_victim));
    CHECK_RULE("PRES-116",
               IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER) && copies_seen.presents == 0);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void destination_destroyed(struct probe *p)
{
    destroyed(p, false);
}

static void source_destroyed(struct probe *p)
{
    destroyed(p, true);
}

TEST(an_allocation_that_is_destroyed_while_it_gets_an_address)
{
    copies_run(copies_create_virtual(), destination_destroyed);
}

TEST(a_source_that_is_destroyed_while_the_destination_gets_an_address)
{
    copies_run(copies_create_virtual(), source_destroyed);
}

static probe_hook *present;

static void present_slowly(struct probe *p, struct probe_call *call)
{
    probe_sleep(5000000);
    present(p, call);
}

/* The driver writes one rectangle in each pass. */
static void between_passes(struct probe *p)
{
    RECT rects[2] = {{0, 0, 32, 32}, {32, 0, 64, 32}};
    D3DKMT_PRESENT args;

    copies_begin_virtual(&client);
    victim = copies_surface(&client, 64, 32, 0x445566);
    args = copies_args(&client, victim);
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = args.DstRect = (RECT){0, 0, 64, 32};
    args.SubRectCnt = 2;
    args.pSrcSubRects = rects;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS) && copies_seen.presents == 2);
    present = p->before[PROBE_Present];
    p->before[PROBE_Present] = present_slowly;
    sim_thread_release(probe_thread(p, nt_process_current(), "destroys", destroy_victim));
    CHECK_RULE("PRES-116",
               IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER) && copies_seen.presents == 3);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_source_that_is_destroyed_between_two_passes)
{
    struct probe *p = copies_create_virtual();

    copies.rects = 1;
    copies.no_pixels = true; /* the first pass may be of the source that is gone */
    copies_run(p, between_passes);
}
