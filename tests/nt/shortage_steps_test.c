/* SPDX-License-Identifier: MIT */
/* Each operation with its first, second, third, ... request for memory failing: the answer, and that
 * nothing is left or changed. */
#include "nt/cm/registry.h"
#include "sim/machine.h"
#include "support/dma_rig.h"

/* `op` undoes what it did when it has succeeded. */
static void step(const char *name, NTSTATUS (*op)(void), NTSTATUS failing)
{
    struct util_heap *heap = &h.machine->heap;
    uint64_t failures, blocks;
    NTSTATUS status;
    unsigned n = 0;

    CHECK(op() == STATUS_SUCCESS); /* tables have grown */
    do {
        failures = heap->failures;
        blocks = heap->live_blocks;
        heap->fail_at = heap->requests + ++n;
        status = op();
        heap->fail_at = 0;
        if (heap->live_blocks != blocks ||
            status != (heap->failures == failures ? STATUS_SUCCESS : failing))
            fail_msg("%s, request %u: 0x%x, %d blocks", name, n, (unsigned)status,
                     (int)(heap->live_blocks - blocks));
    } while (heap->failures != failures);
    CHECK(n > 1 && errors() == 0);
}

#define STEP(op, failing) step(#op, op, failing)

/* ---- objects ---- */

static NTSTATUS register_provider(void)
{
    static const GUID id = {1, 2, 3, {4}};
    REGHANDLE handle = 77;
    NTSTATUS status = EtwRegister(&id, NULL, NULL, &handle);

    CHECK((handle == 77) == (status != STATUS_SUCCESS));
    if (status == STATUS_SUCCESS)
        EtwUnregister(handle);
    return status;
}

static NTSTATUS create_event(void)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle = NULL;
    NTSTATUS status;

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    status = ZwCreateEvent(&handle, EVENT_ALL_ACCESS, &attributes, NotificationEvent, TRUE);
    CHECK(!handle == (status != STATUS_SUCCESS));
    if (handle)
        ZwClose(handle);
    return status;
}

static NTSTATUS create_io_event(void)
{
    HANDLE handle = NULL;
    PKEVENT event = IoCreateSynchronizationEvent(NULL, &handle);

    if (!event)
        return STATUS_NO_MEMORY;
    ZwClose(handle);
    return STATUS_SUCCESS;
}

static NTSTATUS allocate_timer(void)
{
    PEX_TIMER timer = ExAllocateTimer(NULL, NULL, 0);

    if (!timer)
        return STATUS_NO_MEMORY;
    ExDeleteTimer(timer, TRUE, FALSE, NULL);
    return STATUS_SUCCESS;
}

static NTSTATUS init_lookaside(void)
{
    static LOOKASIDE_LIST_EX cache;
    NTSTATUS status = ExInitializeLookasideListEx(&cache, NULL, NULL, NonPagedPoolNx, 0, 48, TAG, 0);

    if (status == STATUS_SUCCESS)
        ExDeleteLookasideListEx(&cache);
    return status;
}

static VOID NTAPI ignored(PVOID data, ULONG length)
{
    (void)data;
    (void)length;
}

static NTSTATUS register_callback(void)
{
    static KBUGCHECK_CALLBACK_RECORD record;

    if (!KeRegisterBugCheckCallback(&record, ignored, NULL, 0, NULL))
        return KeDeregisterBugCheckCallback(&record) ? STATUS_UNSUCCESSFUL : STATUS_NO_MEMORY;
    return KeDeregisterBugCheckCallback(&record) ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
}

static NTSTATUS set_resolution(void)
{
    ULONG set = ExSetTimerResolution(10000, TRUE), back = ExSetTimerResolution(0, FALSE);

    if (back != 156250)
        return STATUS_UNSUCCESSFUL;
    return set == 10000 ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

TEST_WITH(driver, objects_that_cannot_be_had_leave_nothing)
{
    STEP(register_provider, STATUS_NO_MEMORY);
    STEP(create_event, STATUS_INSUFFICIENT_RESOURCES);
    STEP(create_io_event, STATUS_NO_MEMORY);
    STEP(allocate_timer, STATUS_NO_MEMORY);
    STEP(init_lookaside, STATUS_INSUFFICIENT_RESOURCES);
    STEP(register_callback, STATUS_NO_MEMORY);
    STEP(set_resolution, STATUS_NO_MEMORY);
}

/* ---- keys ---- */

#define SERVICE L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\"
#define KEY     "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"

static HANDLE probe;

static NTSTATUS open_probe(HANDLE *handle, bool create)
{
    UNICODE_STRING name = unicode_text(SERVICE L"probe");
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    return create ? ZwCreateKey(handle, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, NULL)
                  : ZwOpenKey(handle, KEY_ALL_ACCESS, &attributes);
}

static NTSTATUS open_key(void)
{
    HANDLE handle = NULL;
    NTSTATUS status = open_probe(&handle, false);

    CHECK(!handle == (status != STATUS_SUCCESS));
    if (handle)
        ZwClose(handle);
    return status;
}

static NTSTATUS set_value(void)
{
    UNICODE_STRING name = unicode_text(L"Fresh");
    ULONG data = 1;
    uint32_t type, bytes;
    NTSTATUS status = ZwSetValueKey(probe, &name, 0, REG_DWORD, &data, 4);

    CHECK(!nt_registry_get(KEY, "Fresh", &type, &bytes) == (status != STATUS_SUCCESS));
    if (status == STATUS_SUCCESS)
        ZwDeleteValueKey(probe, &name);
    return status;
}

static NTSTATUS replace_value(void)
{
    static const uint8_t longer[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    UNICODE_STRING name = unicode_text(L"Kept");
    ULONG data = 1;
    uint32_t type, bytes;
    const ULONG *now;
    NTSTATUS status = ZwSetValueKey(probe, &name, 0, REG_BINARY, (PVOID)(uintptr_t)longer, 8);

    now = nt_registry_get(KEY, "Kept", &type, &bytes);
    CHECK(now && *now == (status == STATUS_SUCCESS ? 0x07070707u : 1u) &&
          bytes == (status == STATUS_SUCCESS ? 8 : 4) &&
          type == (status == STATUS_SUCCESS ? REG_BINARY : REG_DWORD));
    h.machine->heap.fail_at = 0;
    if (status == STATUS_SUCCESS)
        ZwSetValueKey(probe, &name, 0, REG_DWORD, &data, 4);
    return status;
}

static NTSTATUS write_value(void)
{
    ULONG data = 1;
    NTSTATUS status = RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Fresh", REG_DWORD,
                                            &data, 4);

    if (status == STATUS_SUCCESS)
        RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Fresh");
    return status;
}

static NTSTATUS load_file(void)
{
    static const char text[] = "[\\Registry\\Machine\\Software\\probe]\n";
    FILE *file = fmemopen((void *)(uintptr_t)text, sizeof(text) - 1, "r");
    bool good = nt_registry_load(file);

    fclose(file);
    return good ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

TEST_WITH(driver, keys_that_cannot_be_written_stay)
{
    ULONG data = 1;

    CHECK(open_probe(&probe, true) == STATUS_SUCCESS);
    nt_registry_set(KEY, "Kept", REG_DWORD, &data, 4);
    STEP(open_key, STATUS_INSUFFICIENT_RESOURCES);
    STEP(set_value, STATUS_INSUFFICIENT_RESOURCES);
    STEP(replace_value, STATUS_INSUFFICIENT_RESOURCES);
    STEP(write_value, STATUS_INSUFFICIENT_RESOURCES);
    STEP(load_file, STATUS_NO_MEMORY);
    ZwClose(probe);
}

/* ---- DMA ---- */

static PMDL near, far;
static PVOID base;

static NTSTATUS get_adapter(void)
{
    DEVICE_DESCRIPTION description = description_of(3);
    ULONG count = 99;
    DMA_ADAPTER *made = IoGetDmaAdapter(&pdo, &description, &count);

    CHECK((count == 99) == !made);
    if (!made)
        return STATUS_NO_MEMORY;
    made->DmaOperations->PutDmaAdapter(made);
    return STATUS_SUCCESS;
}

static NTSTATUS allocate_buffer(void)
{
    PHYSICAL_ADDRESS logical = {.QuadPart = 1};
    PVOID memory = ops->AllocateCommonBuffer(adapter, 3 * PAGE_SIZE, &logical, TRUE);

    CHECK((logical.QuadPart == 1) == !memory);
    if (!memory)
        return STATUS_NO_MEMORY;
    ops->FreeCommonBuffer(adapter, 3 * PAGE_SIZE, logical, memory, TRUE);
    return STATUS_SUCCESS;
}

static NTSTATUS list_of(PMDL mdl)
{
    NTSTATUS status;

    called = 0;
    status = get_list(mdl, 4, 2 * PAGE_SIZE - 4, FALSE);
    CHECK(called == (status == STATUS_SUCCESS));
    if (status == STATUS_SUCCESS)
        put_list(FALSE);
    return status;
}

static NTSTATUS list_near(void)
{
    return list_of(near);
}

static NTSTATUS list_far(void)
{
    return list_of(far);
}

static NTSTATUS list_in_buffer(void)
{
    uint8_t buffer[128];
    NTSTATUS status = ops->BuildScatterGatherList(adapter, &pdo, near, MmGetMdlVirtualAddress(near),
                                                  16, keep_list, &called, TRUE, buffer,
                                                  sizeof(buffer));

    if (status == STATUS_SUCCESS)
        ops->PutScatterGatherList(adapter, (PSCATTER_GATHER_LIST)(void *)buffer, TRUE);
    return status;
}

static IO_ALLOCATION_ACTION NTAPI take(PDEVICE_OBJECT object, PIRP irp, PVOID given, PVOID context)
{
    (void)object;
    (void)irp;
    (void)context;
    base = given;
    return KeepObject;
}

static NTSTATUS own_channel(void)
{
    NTSTATUS status;

    base = NULL;
    status = ops->AllocateAdapterChannel(adapter, &pdo, 2, take, NULL);
    CHECK(!base == (status != STATUS_SUCCESS));
    if (status == STATUS_SUCCESS)
        ops->FreeAdapterChannel(adapter);
    return status;
}

static NTSTATUS map_run(void)
{
    ULONG length = 16;
    PVOID va = MmGetMdlVirtualAddress(near);

    ops->MapTransfer(adapter, near, base, va, &length, TRUE);
    if (length == 0)
        return STATUS_NO_MEMORY;
    ops->FlushAdapterBuffers(adapter, near, base, va, length, TRUE);
    return STATUS_SUCCESS;
}

/* Room for one run of two: the transfer is begun twice. */
static NTSTATUS map_list(void)
{
    uint8_t buffer[16 + 24];
    ULONG length = 2 * PAGE_SIZE;
    NTSTATUS status = ops->MapTransferEx(adapter, near, base, 0, 0, &length, TRUE,
                                         (PSCATTER_GATHER_LIST)(void *)buffer, sizeof(buffer), NULL,
                                         NULL);

    if (status == STATUS_SUCCESS)
        ops->FlushAdapterBuffersEx(adapter, near, base, 0, length, TRUE);
    else
        CHECK(length == 2 * PAGE_SIZE);
    return status;
}

static void check_dma(void)
{
    const uint64_t free_before = ram_free_pages(h.ram);
    KIRQL old;

    near = MmAllocatePagesForMdl(physical(0), physical(HALF - 1), physical(0), 2 * PAGE_SIZE);
    far = MmAllocatePagesForMdl(physical(HALF), physical(-1ull), physical(0), 2 * PAGE_SIZE);
    exchange_ends(near);
    STEP(get_adapter, STATUS_NO_MEMORY);
    get_narrow();
    STEP(allocate_buffer, STATUS_NO_MEMORY);
    STEP(list_near, STATUS_INSUFFICIENT_RESOURCES);
    STEP(list_far, STATUS_INSUFFICIENT_RESOURCES);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    STEP(list_in_buffer, STATUS_INSUFFICIENT_RESOURCES);
    STEP(own_channel, STATUS_INSUFFICIENT_RESOURCES);
    ops->AllocateAdapterChannel(adapter, &pdo, 2, take, NULL);
    STEP(map_run, STATUS_NO_MEMORY);
    STEP(map_list, STATUS_INSUFFICIENT_RESOURCES);
    ops->FreeAdapterChannel(adapter);
    KeLowerIrql(old);
    put();
    exchange_ends(near);
    free_pages(near);
    free_pages(far);
    CHECK(nt_image_leak_check(h.image) == 0 && ram_free_pages(h.ram) <= free_before);
    if (domain)
        CHECK(iommu_domain_mapped_pages(domain) == 0);
}

TEST(transfers_that_cannot_be_had_leave_nothing)
{
    in_each_mode(check_dma, true);
}
