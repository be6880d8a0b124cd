/* SPDX-License-Identifier: MIT */
/* Adapter channels, and the members of version 3. */
#include "support/dma_rig.h"

/* ---- channels ---- */

static PVOID base;
static IO_ALLOCATION_ACTION answer;
static char order[8];

static IO_ALLOCATION_ACTION NTAPI take_channel(PDEVICE_OBJECT object, PIRP irp, PVOID given,
                                               PVOID context)
{
    CHECK(object == &pdo && !irp && KeGetCurrentIrql() == DISPATCH_LEVEL);
    base = given;
    strcat(order, context);
    return answer;
}

static NTSTATUS channel(ULONG count, const char *name)
{
    return ops->AllocateAdapterChannel(adapter, &pdo, count, take_channel, (PVOID)(uintptr_t)name);
}

static void transfer_by_channel(PMDL mdl)
{
    PHYSICAL_ADDRESS logical = {.QuadPart = 0};
    ULONG mapped = 0, length;
    uint8_t seen = 0;

    while (mapped < 4 * PAGE_SIZE) {
        PUCHAR va = (PUCHAR)MmGetMdlVirtualAddress(mdl) + mapped;

        length = 4 * PAGE_SIZE - mapped;
        logical = ops->MapTransfer(adapter, mdl, base, va, &length, TRUE);
        CHECK_RULE("NT-191/a", length > 0 && length % PAGE_SIZE == 0);
        CHECK_RULE("NT-191/a",
                   mode == IOMMU_REMAP ? length == 4 * PAGE_SIZE : length < 4 * PAGE_SIZE);
        *byte_of(mdl, mapped + length - 1) = 0x77;
        logical.QuadPart += length - 1;
        CHECK_RULE("NT-191/b", device_reads(logical, &seen, 1) && seen == 0x77);
        mapped += length;
    }
    CHECK_RULE("NT-191/a", mapped == 4 * PAGE_SIZE && faults == 0);
    CHECK_RULE("NT-191/b", ops->FlushAdapterBuffers(adapter, mdl, base, MmGetMdlVirtualAddress(mdl),
                                                    4 * PAGE_SIZE, TRUE));
    device_reads(logical, &seen, 1);
    CHECK_RULE("NT-191/b", faults == (mode != IOMMU_OFF) && errors() == 0);
}

static void misuse_channel(PMDL mdl)
{
    ULONG length = 16;

    CHECK_RULE("NT-191/c", !ops->FlushAdapterBuffers(adapter, mdl, base,
                                                     MmGetMdlVirtualAddress(mdl), 16, TRUE));
    CHECK_RULE("NT-191/c", broken("NT-191"));
    forget_reports();
    CHECK_RULE("NT-191/c",
               ops->MapTransfer(adapter, mdl, &length, MmGetMdlVirtualAddress(mdl), &length, TRUE)
                       .QuadPart == 0);
    CHECK_RULE("NT-191/c", broken("NT-191"));
    forget_reports();
    ops->MapTransfer(adapter, mdl, base, MmGetMdlVirtualAddress(mdl), &length, TRUE);
    ops->FreeMapRegisters(adapter, base, 4);
    CHECK_RULE("NT-191/c", broken("NT-191")); /* not flushed */
    forget_reports();
    ops->FreeMapRegisters(adapter, base, 4);
    CHECK_RULE("NT-191/c", broken("NT-191")); /* gone */
    forget_reports();
    CHECK_RULE("NT-191/d", channel(18, "") == STATUS_INSUFFICIENT_RESOURCES && errors() == 0);
    CHECK_RULE("NT-191/d", channel(17, "") == STATUS_SUCCESS);
    ops->FreeMapRegisters(adapter, base, 16);
    CHECK_RULE("NT-191/c", broken("NT-191")); /* another number */
    forget_reports();
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-191/c", broken("NT-191")); /* nobody owns it */
    forget_reports();
    answer = (IO_ALLOCATION_ACTION)9;
    CHECK_RULE("NT-191/e", channel(1, "") == STATUS_SUCCESS && broken("NT-191"));
    forget_reports();
    CHECK_RULE("NT-191/e", ops->AllocateAdapterChannel(adapter, &pdo, 1, NULL, NULL) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-191/e", broken("NT-191"));
    forget_reports();
}

static void check_channels(void)
{
    PMDL mdl;
    KIRQL old;

    get(description_of(3));
    mdl = scattered(4);
    order[0] = '\0';
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    answer = DeallocateObjectKeepRegisters;
    CHECK_RULE("NT-191/g", channel(4, "a") == STATUS_SUCCESS && strcmp(order, "a") == 0);
    transfer_by_channel(mdl);
    misuse_channel(mdl);
    order[0] = '\0';
    answer = KeepObject;
    CHECK_RULE("NT-191/f", channel(1, "b") == STATUS_SUCCESS && channel(1, "c") == STATUS_SUCCESS);
    CHECK_RULE("NT-191/f", strcmp(order, "b") == 0);
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-191/f", strcmp(order, "bc") == 0);
    answer = DeallocateObject;
    CHECK_RULE("NT-191/f", channel(1, "d") == STATUS_SUCCESS && strcmp(order, "bc") == 0);
    ops->FreeAdapterObject(adapter, KeepObject);
    CHECK_RULE("NT-191/f", strcmp(order, "bc") == 0);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    CHECK_RULE("NT-191/f", strcmp(order, "bcd") == 0 && errors() == 0);
    answer = KeepObject;
    channel(1, "e");
    KeLowerIrql(old);
    free_scattered(mdl);
    CHECK_RULE("NT-191/h", nt_image_leak_check(h.image) == 2 && broken("NT-191"));
    forget_reports();
}

TEST(channels_own_the_adapter_in_turn)
{
    in_each_mode(check_channels, true);
}

/* ---- extended members ---- */

static uint8_t context[DMA_TRANSFER_CONTEXT_SIZE_V1];

static void extended_lists(PMDL mdl)
{
    DMA_TRANSFER_INFO info = {.Version = DMA_TRANSFER_INFO_VERSION2};
    SCATTER_GATHER_LIST *made = NULL;
    uint8_t buffer[512];

    CHECK_RULE("NT-192/a", ops->GetDmaTransferInfo(adapter, mdl, 8, 4 * PAGE_SIZE - 8, TRUE,
                                                   &info) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/a",
               info.V2.MapRegisterCount == 4 && info.V2.ScatterGatherElementCount == 4 &&
                   info.V2.ScatterGatherListSize == 16 + 4 * 24 && info.V2.LogicalPageCount == 4);
    info.Version = 3;
    CHECK_RULE("NT-192/b",
               ops->GetDmaTransferInfo(adapter, mdl, 0, 8, TRUE, &info) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("NT-192/c", ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16,
                                                       DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE,
                                                       NULL, NULL, &made) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/c", made && bytes_of(made) == 16);
    CHECK_RULE("NT-192/c",
               ops->BuildScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16,
                                             DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE, buffer,
                                             sizeof(buffer), NULL, NULL, &made) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/c", (PVOID)made == (PVOID)buffer);
    called = 0;
    CHECK_RULE("NT-192/c",
               ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16, 0, keep_list,
                                           &called, TRUE, NULL, NULL, NULL) == STATUS_SUCCESS &&
                   called == 1);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    ops->PutScatterGatherList(adapter, list, TRUE); /* not ended by that */
    CHECK_RULE("NT-192/c", errors() == 0);
    CHECK_RULE("NT-192/d",
               ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16, 0, NULL, NULL, TRUE,
                                           NULL, NULL, &made) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-192/d", broken("NT-192"));
    forget_reports();
    memset(context, 0, sizeof(context));
    CHECK_RULE("NT-192/e", ops->GetScatterGatherListEx(
                               adapter, &pdo, context, mdl, 8, 16, DMA_SYNCHRONOUS_CALLBACK, NULL,
                               NULL, TRUE, NULL, NULL, &made) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-192/e", broken("NT-192"));
    forget_reports();
}

static void extended_channel(PMDL mdl)
{
    uint8_t small[16 + 24], other[DMA_TRANSFER_CONTEXT_SIZE_V1];
    SCATTER_GATHER_LIST *in_small = (PVOID)small;
    ULONG length = 4 * PAGE_SIZE;
    PVOID second = NULL;

    CHECK_RULE("NT-192/e", ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/e", ops->InitializeDmaTransferContext(adapter, other) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/f",
               ops->AllocateAdapterChannelEx(adapter, &pdo, context, 4, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, &base) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/f",
               ops->AllocateAdapterChannelEx(adapter, &pdo, other, 4, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, &second) == STATUS_INSUFFICIENT_RESOURCES);
    order[0] = '\0';
    CHECK_RULE("NT-192/f", ops->AllocateAdapterChannelEx(adapter, &pdo, other, 4, 0, take_channel,
                                                         "x", NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/g", ops->CancelAdapterChannel(adapter, &pdo, other) &&
                               !ops->CancelAdapterChannel(adapter, &pdo, other));
    CHECK_RULE("NT-192/h", ops->MapTransferEx(adapter, mdl, base, 0, 0, &length, FALSE, in_small,
                                              sizeof(small), NULL, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/h", in_small->NumberOfElements == 1 && bytes_of(in_small) == length);
    CHECK_RULE("NT-192/h", mode == IOMMU_REMAP ? length == 4 * PAGE_SIZE : length < 4 * PAGE_SIZE);
    CHECK_RULE("NT-192/h",
               ops->FlushAdapterBuffersEx(adapter, mdl, base, 0, length, FALSE) == STATUS_SUCCESS);
    ops->FreeAdapterObject(adapter, DeallocateObjectKeepRegisters);
    ops->FreeMapRegisters(adapter, base, 4);
    CHECK_RULE("NT-192/g", order[0] == '\0' && errors() == 0);
    CHECK_RULE("NT-192/h", ops->FlushDmaBuffer(adapter, mdl, TRUE) == STATUS_SUCCESS);
}

static void check_extended(void)
{
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    PMDL mdl;
    KIRQL old;

    get(description_of(3));
    mdl = scattered(4);
    CHECK_RULE("NT-192/i", ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS &&
                               info.V1.ScatterGatherLimit == 17 && info.V1.DmaAddressWidth == 64);
    info.Version = 2;
    CHECK_RULE("NT-192/b", ops->GetDmaAdapterInfo(adapter, &info) == STATUS_NOT_SUPPORTED);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-192/e", ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS);
    extended_lists(mdl);
    extended_channel(mdl);
    KeLowerIrql(old);
    free_scattered(mdl);
    put();
    CHECK_RULE("NT-192/i", errors() == 0 && nt_image_leak_check(h.image) == 0);
    get(description_of(2));
    CHECK_RULE("NT-192/j",
               ops->InitializeDmaTransferContext(adapter, context) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-192/j", broken("NT-192"));
    forget_reports();
    put();
}

TEST(version_3_has_the_extended_members)
{
    in_each_mode(check_extended, true);
}
