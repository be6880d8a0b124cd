/* SPDX-License-Identifier: MIT */
/* Copies and fills in contexts of GPU virtual addresses. */
#include "port/support/copies.h"
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
