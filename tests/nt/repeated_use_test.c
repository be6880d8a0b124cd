/* SPDX-License-Identifier: MIT */
/* What is made and given back many times leaves nothing, also where it was refused; the rig counts blocks. */
#include "nt/cm/registry.h"
#include "support/dma_rig.h"

#include <stdio.h>

#define TIMES 6

static LARGE_INTEGER zero;

/* ---- objects ---- */

static VOID NTAPI nothing(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
}

static VOID NTAPI no_work(PVOID context)
{
    (void)context;
}

static VOID NTAPI no_deletion(PVOID context)
{
    (void)context;
}

static void use_timers(void)
{
    EXT_DELETE_PARAMETERS parameters = {.DeleteCallback = no_deletion};
    KTIMER timer;
    PEX_TIMER ex;
    KDPC dpc;
    KIRQL old;

    KeInitializeDpc(&dpc, nothing, NULL);
    KeInitializeTimer(&timer);
    KeSetTimer(&timer, relative_ms(1), &dpc);
    KeSetTimer(&timer, relative_ms(1), &dpc);
    KeCancelTimer(&timer);
    KeSetTimerEx(&timer, relative_ms(1), 1, &dpc);
    pause_ns(2500000);
    KeCancelTimer(&timer);
    KeSetTimer(&timer, zero, &dpc);
    pause_ns(1000);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    CHECK(KeRemoveQueueDpc(&dpc));
    KeInsertQueueDpc(&dpc, NULL, NULL);
    KeLowerIrql(old);
    ex = ExAllocateTimer(NULL, NULL, 0);
    ExSetTimer(ex, -10000, 0, NULL);
    ExDeleteTimer(ex, TRUE, TRUE, &parameters);
    ex = ExAllocateTimer(NULL, NULL, EX_TIMER_NOTIFICATION);
    ExSetTimer(ex, -10000, 0, NULL);
    ExDeleteTimer(ex, FALSE, FALSE, NULL);
    pause_ns(2000000);
}

static void use_locks(void)
{
    KMUTEX mutex[5];
    void *objects[5];
    KWAIT_BLOCK blocks[5];
    ERESOURCE resource;

    ExInitializeResourceLite(&resource);
    KeEnterCriticalRegion();
    ExAcquireResourceSharedLite(&resource, TRUE);
    ExAcquireResourceSharedLite(&resource, TRUE);
    ExReleaseResourceLite(&resource);
    ExReleaseResourceLite(&resource);
    ExAcquireResourceExclusiveLite(&resource, TRUE);
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    ExDeleteResourceLite(&resource);
    for (unsigned i = 0; i < 5; i++) {
        KeInitializeMutex(&mutex[i], 0);
        objects[i] = &mutex[i];
    }
    CHECK(KeWaitForMultipleObjects(5, objects, WaitAll, Executive, KernelMode, FALSE, &zero,
                                   blocks) == STATUS_WAIT_0);
    for (unsigned i = 0; i < 5; i++)
        KeReleaseMutex(&mutex[i], FALSE);
}

static VOID NTAPI ignored(PVOID data, ULONG length)
{
    (void)data;
    (void)length;
}

static void use_objects(void)
{
    static const GUID id = {1, 2, 3, {4}};
    LOOKASIDE_LIST_EX cache;
    KBUGCHECK_CALLBACK_RECORD record = {0};
    OBJECT_ATTRIBUTES attributes;
    REGHANDLE provider;
    HANDLE event;
    PKEVENT made;

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    ZwCreateEvent(&event, EVENT_ALL_ACCESS, &attributes, NotificationEvent, TRUE);
    ZwWaitForSingleObject(event, FALSE, &zero);
    ZwClose(event);
    made = IoCreateNotificationEvent(NULL, &event);
    CHECK(made);
    ZwClose(event);
    ExInitializeLookasideListEx(&cache, NULL, NULL, NonPagedPoolNx, 0, 48, TAG, 0);
    CHECK(ExInitializeLookasideListEx(&cache, NULL, NULL, NonPagedPoolNx, 0, 48, TAG, 0) ==
          STATUS_INVALID_PARAMETER);
    ExFreeToLookasideListEx(&cache, ExAllocateFromLookasideListEx(&cache));
    ExDeleteLookasideListEx(&cache);
    EtwRegister(&id, NULL, NULL, &provider);
    EtwUnregister(provider);
    KeRegisterBugCheckCallback(&record, ignored, NULL, 0, NULL);
    KeRegisterBugCheckCallback(&record, ignored, NULL, 0, NULL);
    KeDeregisterBugCheckCallback(&record);
    ExSetTimerResolution(10000, TRUE);
    ExSetTimerResolution(5000, TRUE);
    ExSetTimerResolution(0, FALSE);
}

TEST_WITH(driver, objects_leave_nothing)
{
    for (unsigned i = 0; i < TIMES; i++) {
        use_timers();
        use_locks();
        use_objects();
    }
    CHECK(nt_image_leak_check(h.image) == 0);
}

static void use_workers(void)
{
    static WORK_QUEUE_ITEM item;

    for (unsigned i = 0; i < 4 * TIMES; i++) {
        ExInitializeWorkItem(&item, no_work, NULL);
        ExQueueWorkItem(&item, DelayedWorkQueue);
        pause_ns(100000);
    }
}

TEST_WITH(machine, work_leaves_nothing)
{
    run(use_workers);
    h.threads_left = 4;
}

/* ---- keys ---- */

static void use_key(void)
{
    UNICODE_STRING path = unicode_text(
        L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe");
    UNICODE_STRING name = unicode_text(L"Value");
    OBJECT_ATTRIBUTES attributes;
    HANDLE key, again;
    ULONG data = 1;

    InitializeObjectAttributes(&attributes, &path, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    CHECK(ZwCreateKey(&key, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, NULL) == STATUS_SUCCESS);
    CHECK(ZwOpenKey(&again, KEY_READ, &attributes) == STATUS_SUCCESS);
    ZwSetValueKey(key, &name, 0, REG_DWORD, &data, 4);
    ZwSetValueKey(key, &name, 0, REG_BINARY, &data, 3);
    ZwDeleteValueKey(key, &name);
    ZwSetValueKey(key, &name, 0, REG_DWORD, &data, 4);
    ZwDeleteKey(key);
    ZwClose(key);
    ZwClose(again);
}

TEST_WITH(driver, keys_leave_nothing)
{
    static const char bad[] = "[\\Registry\\Machine]\n\"A\"=4:0\n";

    for (unsigned i = 0; i < TIMES; i++) {
        FILE *file = fmemopen((void *)(uintptr_t)bad, sizeof(bad) - 1, "r");

        use_key();
        CHECK(!nt_registry_load(file));
        fclose(file);
    }
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- DMA ---- */

static PVOID base;

static IO_ALLOCATION_ACTION NTAPI keep(PDEVICE_OBJECT object, PIRP irp, PVOID given, PVOID context)
{
    (void)object;
    (void)irp;
    (void)context;
    base = given;
    return KeepObject;
}

static void use_adapter(PMDL mdl, PMDL high)
{
    PHYSICAL_ADDRESS logical, low = physical(8);
    uint8_t buffer[128], context[DMA_TRANSFER_CONTEXT_SIZE_V1];
    PVOID va = MmGetMdlVirtualAddress(mdl), memory;
    SCATTER_GATHER_LIST *made;
    PFN_NUMBER own = MmGetMdlPfnArray(mdl)[1];
    ULONG length = 2 * PAGE_SIZE;
    KIRQL old;

    get_narrow();
    memory = ops->AllocateCommonBuffer(adapter, PAGE_SIZE, &logical, TRUE);
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    CHECK(!ops->AllocateCommonBuffer(adapter, 128u << 20, &logical, TRUE));
    CHECK(!ops->AllocateCommonBufferEx(adapter, &low, PAGE_SIZE, &logical, TRUE, 0));
    ops->InitializeDmaTransferContext(adapter, context);
    get_list(mdl, 0, 2 * PAGE_SIZE, TRUE);
    put_list(TRUE);
    get_list(high, 0, 2 * PAGE_SIZE, FALSE); /* copied */
    put_list(FALSE);
    get_list(mdl, 0, 3 * PAGE_SIZE, TRUE); /* not there */
    MmGetMdlPfnArray(mdl)[1] = (PFN_NUMBER)1 << 24;
    if (mode != IOMMU_REMAP)
        CHECK(get_list(mdl, 0, 2 * PAGE_SIZE, TRUE) == STATUS_INSUFFICIENT_RESOURCES);
    MmGetMdlPfnArray(mdl)[1] = own;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    for (ULONG room = 16; room <= sizeof(buffer); room += 112) { /* too small; large enough */
        if (ops->BuildScatterGatherList(adapter, &pdo, mdl, va, 16, keep_list, &called, TRUE,
                                        buffer, room) == STATUS_SUCCESS) {
            CHECK(ops->BuildScatterGatherList(adapter, &pdo, mdl, va, 16, keep_list, &called, TRUE,
                                              buffer, room) == STATUS_INVALID_PARAMETER);
            ops->PutScatterGatherList(adapter, (PSCATTER_GATHER_LIST)(void *)buffer, TRUE);
        }
    }
    ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 0, 16, DMA_SYNCHRONOUS_CALLBACK, NULL,
                                NULL, TRUE, NULL, NULL, &made);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    ops->AllocateAdapterChannel(adapter, &pdo, 4, keep, NULL);
    ops->AllocateAdapterChannelEx(adapter, &pdo, context, 4, 0, keep, NULL, NULL);
    CHECK(ops->CancelAdapterChannel(adapter, &pdo, context));
    ops->MapTransfer(adapter, high, base, MmGetMdlVirtualAddress(high), &length, TRUE);
    ops->FlushAdapterBuffers(adapter, high, base, MmGetMdlVirtualAddress(high), length, TRUE);
    length = 2 * PAGE_SIZE; /* room for one element: the first try is given up */
    ops->MapTransferEx(adapter, mdl, base, 0, 0, &length, TRUE,
                       (PSCATTER_GATHER_LIST)(void *)buffer, 16 + 24, NULL, NULL);
    ops->FreeAdapterChannel(adapter); /* with the transfer */
    KeLowerIrql(old);
    put();
}

static void use_adapters(void)
{
    uint64_t free_before;
    PMDL mdl = MmAllocatePagesForMdl(physical(0), physical(HALF - 1), physical(0), 2 * PAGE_SIZE);
    PMDL high = MmAllocatePagesForMdl(physical(HALF), physical(-1ull), physical(0), 2 * PAGE_SIZE);

    exchange_ends(mdl);
    free_before = ram_free_pages(h.ram);
    for (unsigned i = 0; i < TIMES; i++)
        use_adapter(mdl, high);
    CHECK(ram_free_pages(h.ram) == free_before);
    exchange_ends(mdl);
    free_pages(mdl);
    free_pages(high);
    CHECK(nt_image_leak_check(h.image) == 0);
    if (domain)
        CHECK(iommu_domain_mapped_pages(domain) == 0);
}

TEST(adapters_leave_nothing)
{
    in_each_mode(use_adapters, true);
}
