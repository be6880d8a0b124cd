/* SPDX-License-Identifier: MIT */
/*
 * A driver that uses a bit of everything and copes with each failure, run with the first, the
 * second, the third, ... request for memory failing until it comes through: nothing may crash, leak
 * or be reported on the way.
 */
#include "bus/device.h"
#include "bus/dma.h"
#include "iommu/iommu.h"
#include "nt/base/nt_config.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "support/harness.h"
#include "support/test_device.h"
#include "util/address.h"

static struct bus_device *device;
static DEVICE_OBJECT pdo;
static unsigned ran;
static struct {
    unsigned mdls, items, mappings, contiguous;
} refused; /* requests that found no memory */

static VOID NTAPI thread_main(PVOID context)
{
    KeSetEvent(context, 0, FALSE);
}

static VOID NTAPI work(PDEVICE_OBJECT object, PVOID context)
{
    (void)object;
    KeSetEvent(context, 0, FALSE);
}

static VOID NTAPI deferred(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)a;
    (void)b;
    KeSetEvent(context, 0, FALSE);
}

static VOID NTAPI tick(PEX_TIMER timer, PVOID context)
{
    (void)timer;
    KeSetEvent(context, 0, FALSE);
}

static void wait_for(KEVENT *event)
{
    KeWaitForSingleObject(event, Executive, KernelMode, FALSE, NULL);
    KeClearEvent(event);
    ran++;
}

static void use_threads(KEVENT *event)
{
    HANDLE handle;
    PVOID object;

    if (!NT_SUCCESS(PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, thread_main, event)))
        return;
    wait_for(event);
    if (NT_SUCCESS(ObReferenceObjectByHandle(handle, 0, *PsThreadType, KernelMode, &object, NULL))) {
        KeWaitForSingleObject(object, Executive, KernelMode, FALSE, NULL);
        ObDereferenceObject(object);
    }
    ZwClose(handle);
}

static void use_deferred(KEVENT *event)
{
    KDPC dpc;
    KTIMER timer;
    PIO_WORKITEM item = IoAllocateWorkItem(&pdo);
    PEX_TIMER ex = ExAllocateTimer(tick, event, 0);

    refused.items += !item;
    KeInitializeDpc(&dpc, deferred, event);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    wait_for(event);
    KeInitializeTimer(&timer);
    KeSetTimer(&timer, relative_ms(1), &dpc);
    wait_for(event);
    if (item) {
        IoQueueWorkItem(item, work, DelayedWorkQueue, event);
        wait_for(event);
        IoFreeWorkItem(item);
    }
    if (ex) {
        ExSetTimer(ex, -1000, 0, NULL);
        wait_for(event);
        ExDeleteTimer(ex, TRUE, TRUE, NULL);
    }
    KeFlushQueuedDpcs();
}

static void use_mdl(uint8_t *block)
{
    PMDL mdl = IoAllocateMdl(block, 5000, FALSE, FALSE, NULL);

    refused.mdls += !mdl;
    if (!mdl)
        return;
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    if (mdl->MdlFlags & MDL_PAGES_LOCKED) {
        (void)MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
        MmUnlockPages(mdl);
        ran++;
    }
    IoFreeMdl(mdl);
}

static void use_memory(void)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(0x7FFFFFFFFFFFFFFF);
    uint8_t *block = ExAllocatePoolWithTag(NonPagedPoolNx, 9000, TAG);
    PVOID contiguous = MmAllocateContiguousMemory(20000, top);
    PVOID registers = MmMapIoSpace(physical(bus_device_bar(device, 0).value), 4096, MmNonCached);
    PVOID memory = MmMapIoSpace(physical(bus_device_bar(device, 2).value), 4096, MmWriteCombined);
    PMDL pages = MmAllocatePagesForMdlEx(none, top, none, 20000, MmCached, 0);

    refused.contiguous += !contiguous;
    refused.mappings += !registers || !memory;
    if (block) {
        use_mdl(block);
        ExFreePoolWithTag(block, TAG);
    }
    if (contiguous)
        MmFreeContiguousMemory(contiguous);
    if (registers)
        MmUnmapIoSpace(registers, 4096);
    if (memory)
        MmUnmapIoSpace(memory, 4096);
    if (pages) {
        (void)MmGetSystemAddressForMdlSafe(pages, NormalPagePriority);
        MmFreePagesFromMdl(pages);
        ExFreePool(pages);
    }
}

static IO_ALLOCATION_ACTION NTAPI own_adapter(PDEVICE_OBJECT object, PIRP irp, PVOID base,
                                              PVOID context)
{
    (void)object;
    (void)irp;
    *(PVOID *)context = base;
    return DeallocateObjectKeepRegisters;
}

static VOID NTAPI keep_list(PDEVICE_OBJECT object, PIRP irp, PSCATTER_GATHER_LIST list,
                            PVOID context)
{
    (void)object;
    (void)irp;
    *(PSCATTER_GATHER_LIST *)context = list;
}

static void transfer(DMA_ADAPTER *adapter, PMDL mdl)
{
    DMA_OPERATIONS *ops = adapter->DmaOperations;
    PSCATTER_GATHER_LIST list = NULL;
    PVOID va = MmGetMdlVirtualAddress(mdl), base = NULL;
    ULONG length = 5000;
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    if (NT_SUCCESS(ops->GetScatterGatherList(adapter, &pdo, mdl, va, 5000, keep_list, &list, TRUE)))
        ops->PutScatterGatherList(adapter, list, TRUE);
    if (NT_SUCCESS(ops->AllocateAdapterChannel(adapter, &pdo, 3, own_adapter, &base))) {
        ops->MapTransfer(adapter, mdl, base, va, &length, FALSE);
        if (length)
            ops->FlushAdapterBuffers(adapter, mdl, base, va, length, FALSE);
        ops->FreeMapRegisters(adapter, base, 3);
    }
    KeLowerIrql(old);
}

/* For a device that reaches half of the RAM, with a transfer from the other half. */
static void use_dma(void)
{
    DEVICE_DESCRIPTION description = {.Version = 3,
                                      .Master = TRUE,
                                      .ScatterGather = TRUE,
                                      .DmaAddressWidth = 25,
                                      .MaximumLength = 65536};
    ULONG registers;
    DMA_ADAPTER *adapter = IoGetDmaAdapter(&pdo, &description, &registers);
    PHYSICAL_ADDRESS logical;
    PMDL pages;
    PVOID memory;

    if (!adapter)
        return;
    memory = adapter->DmaOperations->AllocateCommonBuffer(adapter, 9000, &logical, TRUE);
    if (memory)
        adapter->DmaOperations->FreeCommonBuffer(adapter, 9000, logical, memory, TRUE);
    pages = MmAllocatePagesForMdl(physical(1 << 25), physical(0x7FFFFFFFFFFFFFFF), physical(0),
                                  8192);
    if (pages) {
        if (pages->ByteCount == 8192)
            transfer(adapter, pages);
        MmFreePagesFromMdl(pages);
        ExFreePool(pages);
    }
    adapter->DmaOperations->PutDmaAdapter(adapter);
}

static void use_registry(void)
{
    static const GUID provider = {1, 2, 3, {4}};
    ULONG value = 5, length;
    uint64_t buffer[8];
    UNICODE_STRING name, guid;
    REGHANDLE events;
    HANDLE key;

    RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"shortage", L"Value", REG_DWORD, &value, 4);
    if (NT_SUCCESS(IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DRIVER, KEY_ALL_ACCESS, &key))) {
        RtlInitUnicodeString(&name, L"Other");
        ZwSetValueKey(key, &name, 0, REG_DWORD, &value, 4);
        ZwQueryValueKey(key, &name, KeyValueFullInformation, buffer, sizeof(buffer), &length);
        ZwClose(key);
    }
    if (NT_SUCCESS(RtlStringFromGUID(&provider, &guid)))
        RtlFreeUnicodeString(&guid);
    if (NT_SUCCESS(EtwRegister(&provider, NULL, NULL, &events)))
        EtwUnregister(events);
}

static void use_locks(void)
{
    static NPAGED_LOOKASIDE_LIST list;
    ERESOURCE resource;
    KMUTEX mutex;
    KEVENT event[10];
    KWAIT_BLOCK blocks[11];
    void *objects[11], *entry;

    KeInitializeMutex(&mutex, 0);
    for (unsigned i = 0; i < 10; i++) {
        KeInitializeEvent(&event[i], SynchronizationEvent, TRUE);
        objects[i] = &event[i];
    }
    objects[10] = &mutex;
    assert_int_equal(
        KeWaitForMultipleObjects(11, objects, WaitAll, Executive, KernelMode, FALSE, NULL, blocks),
        STATUS_SUCCESS);
    KeReleaseMutex(&mutex, FALSE);
    ExInitializeResourceLite(&resource);
    KeEnterCriticalRegion();
    assert_true(ExAcquireResourceExclusiveLite(&resource, TRUE));
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    ExDeleteResourceLite(&resource);
    ExInitializeNPagedLookasideList(&list, NULL, NULL, 0, 64, TAG, 0);
    entry = ExAllocateFromNPagedLookasideList(&list);
    if (entry)
        ExFreeToNPagedLookasideList(&list, entry);
    ExDeleteNPagedLookasideList(&list);
}

static uint64_t fail_at;
static bool fail_onward;

static void driver(void)
{
    KEVENT event;

    h.machine->heap.fail_at = h.machine->heap.requests + fail_at;
    h.machine->heap.fail_onward = fail_onward;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    use_threads(&event);
    use_deferred(&event);
    use_memory();
    use_dma();
    use_registry();
    use_locks();
    h.machine->heap.fail_at = 0;
}

static struct iommu_domain *domain;

static void build(uint64_t seed)
{
    struct nt_device_info info = {0};

    harness_boot(2, seed, NULL);
    info.device = device = test_device_add(h.bus);
    assert_true(nt_device_object_register_physical(&pdo, &info));
    domain = iommu_domain_create(h.ram, IOMMU_ISOLATION, (struct logical_addr){UINT64_MAX});
    assert_int_equal(bus_device_attach(device, domain), IOMMU_DONE);
    h.threads_left = 4;
}

static void take_down(void)
{
    assert_int_equal(iommu_domain_mapped_pages(domain), 0);
    bus_device_attach(device, NULL);
    assert_int_equal(iommu_domain_delete(domain), IOMMU_DONE);
    harness_teardown();
}

/* `onward`: all requests from the n-th on fail, not only that one. */
static void sweep(bool onward)
{
    uint64_t n = 0, failures;

    memset(&refused, 0, sizeof(refused));
    do {
        build(1);
        ran = 0;
        fail_at = ++n;
        fail_onward = onward;
        run(driver);
        failures = h.machine->heap.failures;
        if (errors() != 0)
            fail_msg("request %u: %s", (unsigned)n,
                     verify_record_at(h.log, verify_records(h.log) - 1)->seen);
        CHECK_RULE("NT-003/d", nt_image_leak_check(h.image) == 0);
        assert_int_equal(ram_validate(h.ram), true);
        take_down();
    } while (failures != 0);
    assert_true(n > 50);
    CHECK_RULE("NT-003/d", refused.mdls > 0 && refused.mappings > 0);
    CHECK_RULE("NT-003/d", refused.items > 0 && refused.contiguous > 0);
    assert_int_equal(ran, 6);
}

TEST(any_single_request_may_fail)
{
    sweep(false);
}

TEST(all_later_requests_may_fail)
{
    sweep(true);
}

/* Of 100 requests of each kind about half fail. */
static void request_each(void)
{
    uint8_t *block = NULL;
    PVOID contiguous, mapping;
    PIO_WORKITEM item;
    PMDL mdl, pages;
    unsigned failed[5] = {0};

    while (!block)
        block = ExAllocatePoolWithTag(NonPagedPoolNx, 4096, TAG);
    for (unsigned i = 0; i < 100; i++) {
        mdl = IoAllocateMdl(block, 4096, FALSE, FALSE, NULL);
        failed[0] += !mdl;
        if (mdl)
            IoFreeMdl(mdl);
        item = IoAllocateWorkItem(&pdo);
        failed[1] += !item;
        if (item)
            IoFreeWorkItem(item);
        mapping = MmMapIoSpace(physical(bus_device_bar(device, 0).value), 4096, MmNonCached);
        failed[2] += !mapping;
        if (mapping)
            MmUnmapIoSpace(mapping, 4096);
        contiguous = MmAllocateContiguousMemory(8192, physical(INT64_MAX));
        failed[3] += !contiguous;
        if (contiguous)
            MmFreeContiguousMemory(contiguous);
        pages = MmAllocatePagesForMdl(physical(0), physical(INT64_MAX), physical(0), 8192);
        failed[4] += !pages;
        if (pages) {
            MmFreePagesFromMdl(pages);
            ExFreePool(pages);
        }
    }
    ExFreePool(block);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("NT-003/c", failed[i] > 35 && failed[i] < 65);
}

TEST(a_share_of_each_kind_may_fail)
{
    const struct nt_config config = {.fail_percent = 50};
    struct nt_device_info info = {0};

    harness_boot(1, 3, &config);
    info.device = device = test_device_add(h.bus);
    assert_true(nt_device_object_register_physical(&pdo, &info));
    run(request_each);
    assert_int_equal(errors(), 0);
    assert_int_equal(nt_image_leak_check(h.image), 0);
    harness_teardown();
}
