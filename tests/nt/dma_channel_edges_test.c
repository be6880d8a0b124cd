/* SPDX-License-Identifier: MIT */
/* Adapter channels in turn, transfers that stay, pages that no transfer can have. */
#include "support/dma_rig.h"

static uint8_t context[2][DMA_TRANSFER_CONTEXT_SIZE_V1];
static PVOID base[8];
static char order[8];
static IO_ALLOCATION_ACTION answer;
static void (*inside)(void);
static PIRP expected;

static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

static IO_ALLOCATION_ACTION NTAPI take_channel(PDEVICE_OBJECT object, PIRP irp, PVOID given,
                                               PVOID name)
{
    size_t length = strlen(order);

    (void)object;
    CHECK(irp == expected);
    base[length] = given;
    order[length] = *(const char *)name;
    order[length + 1] = '\0';
    if (inside)
        inside();
    return answer;
}

static NTSTATUS channel(PDEVICE_OBJECT object, ULONG count, const char *name)
{
    return ops->AllocateAdapterChannel(adapter, object, count, take_channel, (PVOID)(uintptr_t)name);
}

static NTSTATUS channel_ex(unsigned of, ULONG count, const char *name)
{
    return ops->AllocateAdapterChannelEx(adapter, &pdo, context[of], count, 0, take_channel,
                                         (PVOID)(uintptr_t)name, NULL);
}

static void begin(void)
{
    get(description_of(3));
    for (unsigned i = 0; i < 2; i++)
        CHECK(ops->InitializeDmaTransferContext(adapter, context[i]) == STATUS_SUCCESS);
    order[0] = '\0';
    answer = KeepObject;
    inside = NULL;
    expected = NULL;
}

/* ---- turns ---- */

static void free_itself(void)
{
    inside = NULL;
    ops->FreeAdapterChannel(adapter);
}

static void check_turns(void)
{
    KIRQL old;

    begin();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    channel(&pdo, 1, "a");
    channel_ex(0, 1, "b");
    channel_ex(1, 1, "c");
    CHECK(channel_ex(0, 1, "d") == STATUS_SUCCESS);
    CHECK_RULE("NT-191/f", strcmp(order, "a") == 0);
    CHECK_RULE("NT-192/f",
               ops->AllocateAdapterChannelEx(adapter, &pdo, context[0], 1, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, &base[7]) == STATUS_INSUFFICIENT_RESOURCES);
    /* The first of that context; then the next one. */
    CHECK_RULE("NT-192/g", !ops->CancelAdapterChannel(adapter, &pdo, NULL) &&
                               !ops->CancelAdapterChannel(adapter, &pdo, base));
    CHECK_RULE("NT-192/g", ops->CancelAdapterChannel(adapter, &pdo, context[0]));
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-192/g", strcmp(order, "ac") == 0);
    CHECK_RULE("NT-192/g", ops->CancelAdapterChannel(adapter, &pdo, context[0]) &&
                               !ops->CancelAdapterChannel(adapter, &pdo, context[0]) &&
                               !ops->CancelAdapterChannel(adapter, &pdo, context[1]));
    /* The registers of c stay when the object goes on. */
    channel(&pdo, 2, "e");
    ops->FreeAdapterObject(adapter, DeallocateObjectKeepRegisters);
    CHECK_RULE("NT-191/f", strcmp(order, "ace") == 0 && errors() == 0);
    ops->FreeMapRegisters(adapter, base[1], 1);
    CHECK_RULE("NT-191/f", errors() == 0);
    /* A routine that frees what it was given lets the others go on. */
    inside = free_itself;
    channel(&pdo, 1, "f");
    channel(&pdo, 1, "g");
    ops->FreeAdapterChannel(adapter);
    CHECK(strcmp(order, "acefg") == 0 && errors() == 0);
    ops->FreeAdapterChannel(adapter);
    CHECK(errors() == 0);
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-191/c", one_told("NT-191"));
    KeLowerIrql(old);
    put();
    CHECK(errors() == 0);
}

TEST(channels_are_cancelled_passed_on_and_kept)
{
    in_each_mode(check_turns, true);
}

/* ---- the request that a device works on ---- */

static void check_irp(void)
{
    DEVICE_OBJECT unknown = {0};
    PIRP irp = IoAllocateIrp(2, FALSE);
    KIRQL old;

    begin();
    CHECK(irp);
    answer = DeallocateObject;
    pdo.CurrentIrp = unknown.CurrentIrp = irp;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    expected = irp;
    CHECK(channel(&pdo, 1, "a") == STATUS_SUCCESS);
    expected = NULL;
    CHECK(channel(&unknown, 1, "b") == STATUS_SUCCESS && channel(NULL, 1, "c") == STATUS_SUCCESS);
    pdo.CurrentIrp = NULL;
    CHECK(channel(&pdo, 1, "d") == STATUS_SUCCESS && strcmp(order, "abcd") == 0);
    KeLowerIrql(old);
    IoFreeIrp(irp);
    put();
    CHECK(errors() == 0);
}

TEST(routines_get_the_current_request)
{
    in_each_mode(check_irp, true);
}

/* ---- transfers ---- */

static ULONG map(PMDL mdl, ULONG offset, ULONG length, BOOLEAN write)
{
    ops->MapTransfer(adapter, mdl, base[0], (PUCHAR)MmGetMdlVirtualAddress(mdl) + offset, &length,
                     write);
    return length;
}

static BOOLEAN flush(PMDL mdl, ULONG offset, ULONG length, BOOLEAN write)
{
    return ops->FlushAdapterBuffers(adapter, mdl, base[0],
                                    (PUCHAR)MmGetMdlVirtualAddress(mdl) + offset, length, write);
}

static void check_flushes(void)
{
    PMDL mdl = scattered(2), other = scattered(2);
    KIRQL old;

    begin();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    channel(&pdo, 4, "a");
    CHECK(map(mdl, 64, 64, TRUE) == 64 && map(mdl, 256, 64, TRUE) == 64);
    /* What touches it is not part of it. */
    CHECK_RULE("NT-191/c", !flush(mdl, 0, 64, TRUE) && one_told("NT-191"));
    CHECK_RULE("NT-191/c", !flush(mdl, 128, 128, TRUE) && one_told("NT-191"));
    CHECK_RULE("NT-191/c", !flush(other, 64, 64, TRUE) && one_told("NT-191"));
    CHECK_RULE("NT-191/b", flush(mdl, 0, 65, TRUE) && errors() == 0);
    CHECK_RULE("NT-191/c", !flush(mdl, 0, 65, TRUE) && one_told("NT-191"));
    CHECK_RULE("NT-191/b", flush(mdl, 319, 1, TRUE) && errors() == 0);
    /* Both at once; the direction is that of the transfer. */
    map(mdl, 0, 16, FALSE);
    map(mdl, 16, 16, FALSE);
    CHECK_RULE("NT-191/b", flush(mdl, 0, 32, FALSE) && errors() == 0);
    map(mdl, 0, 16, FALSE);
    CHECK(flush(mdl, 0, 16, TRUE) && one_told("NT-191"));
    CHECK_RULE("NT-191/c", !flush(mdl, 0, 16, FALSE) && one_told("NT-191"));
    map(mdl, 0, 16, TRUE);
    CHECK(flush(mdl, 0, 16, FALSE) && one_told("NT-191"));
    /* No more than the page, where the next one is elsewhere. */
    CHECK_RULE("NT-191/a", map(mdl, PAGE_SIZE - 16, 32, TRUE) == (mode == IOMMU_REMAP ? 32 : 16));
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-191/c", one_told("NT-191"));
    KeLowerIrql(old);
    put();
    CHECK(errors() == 0);
    free_scattered(mdl);
    free_scattered(other);
}

TEST(transfers_are_flushed_by_their_bytes)
{
    in_each_mode(check_flushes, true);
}

/* ---- what is left ---- */

static void check_left(void)
{
    PHYSICAL_ADDRESS logical;
    PMDL mdl = scattered(2);
    SCATTER_GATHER_LIST *made = NULL;
    DMA_ADAPTER *first;
    PVOID buffer;
    KIRQL old;

    begin();
    buffer = ops->AllocateCommonBuffer(adapter, PAGE_SIZE, &logical, TRUE);
    put();
    CHECK_RULE("NT-187/e", one_told("NT-187"));
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, buffer, TRUE);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    channel(&pdo, 4, "a");
    put();
    CHECK(one_told("NT-187"));
    ops->FreeAdapterChannel(adapter);
    CHECK(get_list(mdl, 0, 16, TRUE) == STATUS_SUCCESS);
    put();
    CHECK(one_told("NT-187"));
    KeLowerIrql(old);
    /* The list is that of its adapter, and so is one that ends with the object. */
    CHECK(ops->GetScatterGatherListEx(adapter, &pdo, context[0], mdl, PAGE_SIZE, 16,
                                      DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE, NULL, NULL,
                                      &made) == STATUS_SUCCESS);
    first = adapter;
    get(description_of(3));
    put_list(TRUE);
    CHECK_RULE("NT-190/c", one_told("NT-190"));
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ops->PutScatterGatherList(adapter, NULL, TRUE);
    CHECK_RULE("NT-190/c", one_told("NT-190"));
    ops->FreeAdapterObject(adapter, DeallocateObject); /* nothing of the other one's */
    KeLowerIrql(old);
    put();
    adapter = first;
    ops = first->DmaOperations;
    put_list(FALSE);
    CHECK_RULE("NT-190/c", one_told("NT-190"));
    put();
    CHECK(one_told("NT-187"));
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    ops->PutScatterGatherList(adapter, made, TRUE);
    CHECK(one_told("NT-190")); /* gone with the object */
    KeLowerIrql(old);
    put_list(TRUE);
    CHECK_RULE("NT-190/c", one_told("NT-190")); /* it was put back nevertheless */
    put();
    CHECK(errors() == 0);
    free_scattered(mdl);
}

TEST(adapters_are_put_back_when_nothing_is_left)
{
    in_each_mode(check_left, true);
}

/* Lists without a routine end with the object, however many. */
static void check_many_lists(void)
{
    SCATTER_GATHER_LIST *made;
    PMDL mdl = scattered(2);
    KIRQL old;

    begin();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    for (ULONG i = 0; i < 40; i++)
        CHECK(ops->GetScatterGatherListEx(adapter, &pdo, context[0], mdl, i * 16, 16,
                                          DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE, NULL, NULL,
                                          &made) == STATUS_SUCCESS);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    KeLowerIrql(old);
    put();
    CHECK_RULE("NT-192/c", errors() == 0);
    free_scattered(mdl);
}

TEST(lists_without_a_routine_end_with_the_object)
{
    in_each_mode(check_many_lists, true);
}

/* ---- pages ---- */

static void check_pages(void)
{
    PMDL mdl = scattered(2), gone = scattered(1);
    PFN_NUMBER own = MmGetMdlPfnArray(mdl)[1];

    get(description_of(3));
    MmGetMdlPfnArray(mdl)[1] = MmGetMdlPfnArray(gone)[0];
    free_scattered(gone);
    CHECK(get_list(mdl, PAGE_SIZE - 8, 16, TRUE) == STATUS_INVALID_PARAMETER && one_told("NT-190"));
    CHECK(get_list(mdl, 0, PAGE_SIZE, TRUE) == STATUS_SUCCESS && errors() == 0);
    put_list(TRUE);
    MmGetMdlPfnArray(mdl)[1] = own;
    put();
    /* Neither reached nor copied: it is no memory of the machine. */
    get_narrow();
    MmGetMdlPfnArray(mdl)[1] = (PFN_NUMBER)1 << 24;
    if (mode != IOMMU_REMAP)
        CHECK_RULE("NT-190/k",
                   get_list(mdl, 0, 2 * PAGE_SIZE, TRUE) == STATUS_INSUFFICIENT_RESOURCES);
    MmGetMdlPfnArray(mdl)[1] = own;
    CHECK(get_list(mdl, 0, 2 * PAGE_SIZE, TRUE) == STATUS_SUCCESS &&
          bytes_of(list) == 2 * PAGE_SIZE);
    put_list(TRUE);
    put();
    CHECK(errors() == 0);
    free_scattered(mdl);
}

TEST(pages_that_are_not_there_are_not_transferred)
{
    in_each_mode(check_pages, true);
}

/* ---- cache types ---- */

static void check_cache_types(void)
{
    MEMORY_CACHING_TYPE type;
    PHYSICAL_ADDRESS logical;
    PVOID buffer;

    get(description_of(3));
    for (int i = MmNonCached; i <= MmWriteCombined; i++) {
        type = (MEMORY_CACHING_TYPE)i;
        buffer = ops->AllocateCommonBufferWithBounds(adapter, NULL, NULL, PAGE_SIZE, 0, &type, 0,
                                                     &logical);
        CHECK_RULE("NT-188/f", !buffer == (i == MmWriteCombined) &&
                                   one_told("NT-188") == (i == MmWriteCombined));
        if (buffer)
            ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, buffer, TRUE);
    }
    buffer = ops->AllocateCommonBufferWithBounds(adapter, NULL, NULL, PAGE_SIZE, 2, NULL, 0,
                                                 &logical);
    CHECK_RULE("NT-188/f", !buffer && one_told("NT-188"));
    put();
    CHECK(errors() == 0);
}

TEST(common_buffers_have_two_cache_types)
{
    in_each_mode(check_cache_types, true);
}
