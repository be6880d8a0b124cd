/* SPDX-License-Identifier: MIT */
/* Members of DMA adapters with an adapter, an argument or a level that cannot be. */
#include "support/dma_rig.h"

static uint8_t context[DMA_TRANSFER_CONTEXT_SIZE_V1];
static uint8_t buffer[512] __attribute__((aligned(8)));

static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

static IO_ALLOCATION_ACTION NTAPI never(PDEVICE_OBJECT object, PIRP irp, PVOID given, PVOID argument)
{
    (void)object;
    (void)irp;
    (void)given;
    (void)argument;
    fail_msg("called");
    return DeallocateObject;
}

static VOID NTAPI never_list(PDEVICE_OBJECT object, PIRP irp, PSCATTER_GATHER_LIST given,
                             PVOID argument)
{
    (void)object;
    (void)irp;
    (void)given;
    (void)argument;
    fail_msg("called");
}

/* ---- the adapter ---- */

/* The members that every adapter has. */
static void refuse_plain(const DMA_OPERATIONS *of, DMA_ADAPTER *wrong, PMDL mdl)
{
    static const char rule[] = "NT-187";
    PHYSICAL_ADDRESS logical = {.QuadPart = 77};
    PVOID va = MmGetMdlVirtualAddress(mdl);
    ULONG length = 16, size = 0;

    CHECK(!of->AllocateCommonBuffer(wrong, PAGE_SIZE, &logical, TRUE) && one_told(rule) &&
          logical.QuadPart == 77);
    of->FreeCommonBuffer(wrong, PAGE_SIZE, logical, va, TRUE);
    CHECK(one_told(rule));
    CHECK(of->AllocateAdapterChannel(wrong, &pdo, 1, never, NULL) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    CHECK(!of->FlushAdapterBuffers(wrong, mdl, va, va, 16, TRUE) && one_told(rule));
    of->FreeAdapterChannel(wrong);
    CHECK(one_told(rule));
    of->FreeMapRegisters(wrong, va, 1);
    CHECK(one_told(rule));
    CHECK(of->MapTransfer(wrong, mdl, va, va, &length, TRUE).QuadPart == 0 && one_told(rule) &&
          length == 16);
    CHECK(of->GetDmaAlignment(wrong) == 1 && one_told(rule));
    CHECK(of->GetScatterGatherList(wrong, &pdo, mdl, va, 16, never_list, NULL, TRUE) ==
              STATUS_INVALID_PARAMETER &&
          one_told(rule));
    of->PutScatterGatherList(wrong, (PSCATTER_GATHER_LIST)(void *)buffer, TRUE);
    CHECK(one_told(rule));
    CHECK(of->CalculateScatterGatherList(wrong, mdl, va, 16, &size, NULL) ==
              STATUS_INVALID_PARAMETER &&
          one_told(rule) && size == 0);
    CHECK(of->BuildScatterGatherList(wrong, &pdo, mdl, va, 16, never_list, NULL, TRUE, buffer,
                                     sizeof(buffer)) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    of->PutDmaAdapter(wrong);
    CHECK(one_told(rule));
}

/* Those of version 3. */
static void refuse_extended(const DMA_OPERATIONS *of, DMA_ADAPTER *wrong, PMDL mdl, const char *rule)
{
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    DMA_TRANSFER_INFO transfer = {.Version = DMA_TRANSFER_INFO_VERSION1};
    PHYSICAL_ADDRESS logical = {.QuadPart = 77};
    SCATTER_GATHER_LIST *made = NULL;
    PVOID given = NULL;
    ULONG length = 16;

    CHECK(of->GetDmaAdapterInfo(wrong, &info) == STATUS_INVALID_PARAMETER && one_told(rule));
    CHECK(of->GetDmaTransferInfo(wrong, mdl, 0, 16, TRUE, &transfer) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    CHECK(of->InitializeDmaTransferContext(wrong, buffer) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    CHECK(!of->AllocateCommonBufferEx(wrong, NULL, PAGE_SIZE, &logical, TRUE, 0) && one_told(rule));
    CHECK(!of->AllocateCommonBufferWithBounds(wrong, NULL, NULL, PAGE_SIZE, 0, NULL, 0, &logical) &&
          one_told(rule) && logical.QuadPart == 77);
    CHECK(of->AllocateAdapterChannelEx(wrong, &pdo, context, 1, DMA_SYNCHRONOUS_CALLBACK, NULL,
                                       NULL, &given) == STATUS_INVALID_PARAMETER &&
          one_told(rule) && !given);
    CHECK(!of->CancelAdapterChannel(wrong, &pdo, context) && one_told(rule));
    CHECK(of->MapTransferEx(wrong, mdl, buffer, 0, 0, &length, TRUE,
                            (PSCATTER_GATHER_LIST)(void *)buffer, sizeof(buffer), NULL,
                            NULL) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    CHECK(of->GetScatterGatherListEx(wrong, &pdo, context, mdl, 0, 16, DMA_SYNCHRONOUS_CALLBACK,
                                     NULL, NULL, TRUE, NULL, NULL,
                                     &made) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    CHECK(of->BuildScatterGatherListEx(wrong, &pdo, context, mdl, 0, 16, DMA_SYNCHRONOUS_CALLBACK,
                                       NULL, NULL, TRUE, buffer, sizeof(buffer), NULL, NULL,
                                       &made) == STATUS_INVALID_PARAMETER &&
          one_told(rule) && !made);
    CHECK(of->FlushAdapterBuffersEx(wrong, mdl, buffer, 0, 16, TRUE) == STATUS_INVALID_PARAMETER &&
          one_told(rule));
    of->FreeAdapterObject(wrong, DeallocateObject);
    CHECK(one_told(rule));
    CHECK(of->FlushDmaBuffer(wrong, mdl, TRUE) == STATUS_INVALID_PARAMETER && one_told(rule));
}

static void check_wrong_adapters(void)
{
    PMDL mdl = scattered(2);
    DMA_OPERATIONS all;
    DMA_ADAPTER *gone;

    gone = get(description_of(3));
    all = *ops;
    CHECK(ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS);
    put();
    refuse_plain(&all, gone, mdl);
    refuse_extended(&all, gone, mdl, "NT-187");
    refuse_plain(&all, NULL, mdl);
    refuse_extended(&all, NULL, mdl, "NT-187");
    get(description_of(2));
    refuse_extended(ops, adapter, mdl, "NT-192");
    put();
    CHECK(errors() == 0);
    free_scattered(mdl);
}

TEST(members_want_an_adapter_of_theirs)
{
    in_each_mode(check_wrong_adapters, true);
}

/* ---- arguments ---- */

static void check_arguments(void)
{
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    DMA_TRANSFER_INFO transfer = {.Version = DMA_TRANSFER_INFO_VERSION1};
    PMDL mdl = scattered(2);
    PVOID va = MmGetMdlVirtualAddress(mdl), base = NULL, other = &base;
    PSCATTER_GATHER_LIST room = (PSCATTER_GATHER_LIST)(void *)buffer;
    PHYSICAL_ADDRESS address = {.QuadPart = 77};
    ULONG length = 16, size = 0, registers_needed = 0;
    DEVICE_DESCRIPTION single = description_of(3);
    KIRQL old;

    single.ScatterGather = FALSE;
    get(single);
    CHECK(ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/i", info.V1.ScatterGatherLimit == 1 && info.V1.DmaAddressWidth == 64 &&
                               info.V1.MinimumTransferUnit == 1);
    put();
    get(description_of(3));
    CHECK(ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS);
    CHECK_RULE("NT-192/i", info.V1.ScatterGatherLimit == 17 && info.V1.MinimumTransferUnit == 1);
    CHECK(ops->GetDmaAdapterInfo(adapter, NULL) == STATUS_INVALID_PARAMETER);
    info.Version++;
    CHECK(ops->GetDmaAdapterInfo(adapter, &info) == STATUS_NOT_SUPPORTED);
    CHECK(ops->InitializeDmaTransferContext(adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS);
    CHECK(ops->FlushDmaBuffer(adapter, NULL, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK(ops->FlushDmaBuffer(adapter, mdl, TRUE) == STATUS_SUCCESS &&
          ops->FlushDmaBuffer(adapter, mdl, FALSE) == STATUS_SUCCESS);

    /* Version 1 of the information has no pages. */
    transfer.V2.LogicalPageCount = 99;
    CHECK_RULE(
        "NT-192/a",
        ops->GetDmaTransferInfo(adapter, mdl, PAGE_SIZE - 1, 2, TRUE, &transfer) == STATUS_SUCCESS &&
            transfer.V1.MapRegisterCount == 2 && transfer.V1.ScatterGatherElementCount == 2 &&
            transfer.V1.ScatterGatherListSize == 16 + 2 * 24 && transfer.V2.LogicalPageCount == 99);
    CHECK(ops->GetDmaTransferInfo(adapter, mdl, 0, 16, TRUE, NULL) == STATUS_INVALID_PARAMETER);
    transfer.Version = 0;
    CHECK_RULE("NT-192/b", ops->GetDmaTransferInfo(adapter, mdl, 0, 16, TRUE, &transfer) ==
                               STATUS_NOT_SUPPORTED);
    CHECK(errors() == 0);
    transfer.Version = DMA_TRANSFER_INFO_VERSION2;
    CHECK(ops->GetDmaTransferInfo(adapter, mdl, PAGE_SIZE, PAGE_SIZE + 1, TRUE, &transfer) ==
              STATUS_BUFFER_TOO_SMALL &&
          one_told("NT-190") && transfer.V2.LogicalPageCount == 99);

    /* Sizes of lists. */
    CHECK(ops->CalculateScatterGatherList(adapter, mdl, va, 16, NULL, NULL) ==
          STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190/i",
               ops->CalculateScatterGatherList(adapter, mdl, (PUCHAR)va + PAGE_SIZE - 1, 2, &size,
                                               &registers_needed) == STATUS_SUCCESS &&
                   size == 16 + 2 * 24 && registers_needed == 2);
    CHECK(errors() == 0);
    CHECK(ops->CalculateScatterGatherList(adapter, mdl, va, 2 * PAGE_SIZE + 1, &size, NULL) ==
              STATUS_BUFFER_TOO_SMALL &&
          one_told("NT-190") && size == 16 + 2 * 24);
    CHECK(ops->CalculateScatterGatherList(adapter, NULL, NULL, 17 * PAGE_SIZE, &size,
                                          &registers_needed) == STATUS_SUCCESS &&
          registers_needed == 17 && size == 16 + 17 * 24);
    CHECK(ops->CalculateScatterGatherList(adapter, NULL, NULL, 17 * PAGE_SIZE + 1, &size,
                                          &registers_needed) == STATUS_INSUFFICIENT_RESOURCES &&
          registers_needed == 17);

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(ops->BuildScatterGatherListEx(adapter, &pdo, context, mdl, 0, 16, DMA_SYNCHRONOUS_CALLBACK,
                                        never_list, NULL, TRUE, NULL, sizeof(buffer), NULL, NULL,
                                        NULL) == STATUS_INVALID_PARAMETER &&
          one_told("NT-190"));
    CHECK_RULE("NT-192/d", ops->GetScatterGatherListEx(
                               adapter, &pdo, context, mdl, 0, 16, DMA_SYNCHRONOUS_CALLBACK, NULL,
                               NULL, TRUE, NULL, NULL, NULL) == STATUS_INVALID_PARAMETER &&
                               one_told("NT-192"));
    CHECK_RULE("NT-192/d", ops->GetScatterGatherListEx(
                               adapter, &pdo, context, mdl, 0, 16, 0, NULL, NULL, TRUE, NULL, NULL,
                               (PSCATTER_GATHER_LIST *)&other) == STATUS_INVALID_PARAMETER &&
                               one_told("NT-192") && other == &base);

    /* Channels without a routine. */
    CHECK_RULE("NT-192/d", ops->AllocateAdapterChannelEx(adapter, &pdo, context, 2, 0, NULL, NULL,
                                                         &base) == STATUS_INVALID_PARAMETER &&
                               one_told("NT-192"));
    CHECK_RULE("NT-192/d",
               ops->AllocateAdapterChannelEx(adapter, &pdo, context, 2, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, NULL) == STATUS_INVALID_PARAMETER &&
                   one_told("NT-192") && !base);
    CHECK_RULE("NT-192/f",
               ops->AllocateAdapterChannelEx(adapter, &pdo, context, 2, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, &base) == STATUS_SUCCESS &&
                   base);
    CHECK(ops->MapTransfer(adapter, mdl, base, va, NULL, TRUE).QuadPart == 0 && errors() == 0);
    length = 0;
    CHECK(ops->MapTransfer(adapter, mdl, base, va, &length, TRUE).QuadPart == 0 &&
          one_told("NT-190"));
    length = 16;
    CHECK(ops->MapTransfer(adapter, NULL, base, va, &length, TRUE).QuadPart == 0 &&
          one_told("NT-190") && length == 0);
    CHECK(ops->MapTransferEx(adapter, mdl, base, 0, 0, NULL, TRUE, room, sizeof(buffer), NULL,
                             NULL) == STATUS_INVALID_PARAMETER &&
          errors() == 0);
    length = 16;
    CHECK(ops->MapTransferEx(adapter, mdl, base, 0, 0, &length, TRUE, NULL, sizeof(buffer), NULL,
                             NULL) == STATUS_INVALID_PARAMETER &&
          one_told("NT-192"));
    CHECK(ops->MapTransferEx(adapter, mdl, base, 0, 0, &length, TRUE, room, 16 + 24 - 1, NULL,
                             NULL) == STATUS_INVALID_PARAMETER &&
          one_told("NT-192"));
    CHECK(ops->MapTransferEx(adapter, mdl, base, 2 * PAGE_SIZE, 0, &length, TRUE, room, 16 + 24,
                             NULL, NULL) == STATUS_BUFFER_TOO_SMALL &&
          one_told("NT-190") && length == 16);
    length = 2 * PAGE_SIZE;
    CHECK_RULE("NT-192/h", ops->MapTransferEx(adapter, mdl, base, 0, 0, &length, TRUE, room,
                                              16 + 24, NULL, NULL) == STATUS_SUCCESS &&
                               length == (mode == IOMMU_REMAP ? 2 * PAGE_SIZE : PAGE_SIZE) &&
                               room->NumberOfElements == 1 && room->Elements[0].Length == length);
    CHECK_RULE("NT-192/h",
               ops->FlushAdapterBuffersEx(adapter, mdl, base, 0, length, TRUE) == STATUS_SUCCESS);
    CHECK_RULE("NT-191/c", ops->FlushAdapterBuffersEx(adapter, mdl, base, 0, length, TRUE) ==
                                   STATUS_INVALID_PARAMETER &&
                               one_told("NT-191"));
    ops->FreeAdapterObject(adapter, (IO_ALLOCATION_ACTION)0);
    CHECK(one_told("NT-191"));
    ops->FreeAdapterObject(adapter, (IO_ALLOCATION_ACTION)(DeallocateObjectKeepRegisters + 1));
    CHECK(one_told("NT-191"));
    ops->FreeAdapterObject(adapter, DeallocateObject);
    CHECK(!ops->FlushAdapterBuffers(adapter, mdl, base, va, 16, TRUE) && one_told("NT-191"));
    KeLowerIrql(old);

    /* Nothing to tell who asks for a part of a vector. */
    ops->GetCommonBufferFromVectorByIndex(adapter, NULL, 0, &other, &address);
    CHECK_RULE("NT-193/c", !other && address.QuadPart == 0);
    put();
    CHECK(errors() == 0);
    free_scattered(mdl);
}

TEST(arguments_of_members_are_checked)
{
    in_each_mode(check_arguments, true);
}

/* ---- levels ---- */

static void check_levels(void)
{
    DEVICE_DESCRIPTION description = description_of(3);
    DMA_TRANSFER_INFO transfer = {.Version = DMA_TRANSFER_INFO_VERSION1};
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    PMDL mdl = scattered(2);
    PVOID va = MmGetMdlVirtualAddress(mdl), base = NULL;
    ULONG length = 16;
    KIRQL old;

    get(description_of(3));
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(!IoGetDmaAdapter(&pdo, &description, &length) && one_told("NT-187") && length == 16);
    CHECK(ops->GetDmaAlignment(adapter) == 1 && one_told("NT-187"));
    CHECK(ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS && errors() == 0);
    KeLowerIrql(old);
    /* Too high, and yet done. */
    KeRaiseIrql(DISPATCH_LEVEL + 1, &old);
    CHECK(ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS &&
          one_told("NT-192"));
    CHECK(ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS && one_told("NT-192"));
    CHECK(ops->GetDmaTransferInfo(adapter, mdl, 0, 16, TRUE, &transfer) == STATUS_SUCCESS &&
          one_told("NT-192"));
    CHECK(ops->AllocateAdapterChannelEx(adapter, &pdo, context, 2, DMA_SYNCHRONOUS_CALLBACK, NULL,
                                        NULL, &base) == STATUS_SUCCESS &&
          one_told("NT-191"));
    ops->MapTransfer(adapter, mdl, base, va, &length, TRUE);
    CHECK(length == 16 && one_told("NT-191"));
    CHECK(ops->FlushAdapterBuffers(adapter, mdl, base, va, 16, TRUE) && one_told("NT-191"));
    CHECK(!ops->CancelAdapterChannel(adapter, &pdo, context) && one_told("NT-191"));
    ops->FreeMapRegisters(adapter, base, 2);
    CHECK(one_told("NT-191") && KeGetCurrentIrql() == DISPATCH_LEVEL + 1);
    KeLowerIrql(old);
    /* At a low level the object is freed likewise. */
    CHECK(ops->AllocateAdapterChannelEx(adapter, &pdo, context, 2, DMA_SYNCHRONOUS_CALLBACK, NULL,
                                        NULL, &base) == STATUS_SUCCESS);
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL + 1, &old);
    put();
    CHECK(one_told("NT-187"));
    KeLowerIrql(old);
    free_scattered(mdl);
}

TEST(members_have_levels)
{
    in_each_mode(check_levels, true);
}
