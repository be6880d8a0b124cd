/* SPDX-License-Identifier: MIT */
/* Pool that is seen through another view, the ends of pool pages, empty parts of MDLs, and attached threads. */
#include "nt/base/current.h"
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "nt/mm/mdl.h"
#include "nt/nt.h"
#include "nt/ps/process.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "support/harness.h"

static void *pool(POOL_TYPE type, SIZE_T bytes)
{
    return ExAllocatePoolWithTag(type, bytes, TAG);
}

/* ---- pool ---- */

/* A block is found by its own addresses, not by those of another view of its memory. */
TEST_WITH(driver, pool_has_one_address)
{
    uint8_t *paged = pool(PagedPool, 2 * PAGE_SIZE), *view;
    PMDL mdl = IoAllocateMdl(paged, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    PHYSICAL_ADDRESS at;

    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    ExFreePool(view);
    CHECK_RULE("NT-023/a", reported("NT-023", 0xC4, 0x10) && errors() == 1);
    forget_reports();
    at = MmGetPhysicalAddress(view + PAGE_SIZE);
    CHECK((uint64_t)at.QuadPart == MmGetMdlPfnArray(mdl)[1] * PAGE_SIZE && errors() == 0);
    KeInitializeEvent((PKEVENT)(void *)view, NotificationEvent, FALSE); /* of no paged pool */
    CHECK(errors() == 0 && MmIsAddressValid(view));
    CHECK(MmGetPhysicalAddress(paged + PAGE_SIZE).QuadPart == 0 && broken("NT-138"));
    forget_reports();
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ExFreePool(paged);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* What is left of a page behind the last block that has room is no block's. */
TEST_WITH(driver, the_rest_of_a_page_is_no_block)
{
    static const SIZE_T sizes[] = {1, 16, 24, 40, 56, 100, 150, 250, 300, 500, 600, 700, 900, 1200};

    for (unsigned i = 0; i < RTL_NUMBER_OF(sizes); i++) {
        uint8_t *block = pool(NonPagedPoolNx, sizes[i]);
        uint8_t *last = (uint8_t *)PAGE_ALIGN(block) + PAGE_SIZE - 1;

        forget_reports();
        ExFreePool(last);
        CHECK_RULE("NT-023/a", reported("NT-023", 0xC4, 0x10) || block + sizes[i] > last - 32);
        forget_reports();
        ExFreePool(block);
        CHECK(errors() == 0);
    }
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- parts ---- */

TEST_WITH(driver, parts_may_be_empty)
{
    uint8_t *block = pool(NonPagedPoolNx, 2 * PAGE_SIZE), *view;
    PMDL mdl = IoAllocateMdl(block + 16, PAGE_SIZE, FALSE, FALSE, NULL);
    PMDL part = IoAllocateMdl(block, PAGE_SIZE, FALSE, FALSE, NULL);

    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    IoBuildPartialMdl(mdl, part, block + 16 + PAGE_SIZE, 0);
    CHECK_RULE("NT-128/c",
               errors() == 0 && MmGetMdlByteCount(part) == 0 && MmGetMdlByteOffset(part) == 16);
    IoBuildPartialMdl(mdl, part, block + 16 + PAGE_SIZE - 1, 0);
    CHECK_RULE("NT-128/c", errors() == 0 && MmGetMdlByteCount(part) == 1 &&
                               MmGetMdlByteOffset(part) == 15 &&
                               part->StartVa == block + PAGE_SIZE &&
                               MmGetMdlPfnArray(part)[0] == MmGetMdlPfnArray(mdl)[1]);
    part->ByteCount = 77;
    IoBuildPartialMdl(mdl, part, block + 16 + PAGE_SIZE + 1, 0);
    CHECK_RULE("NT-128/d", errors() == 1 && broken("NT-128") && part->ByteCount == 77);
    IoBuildPartialMdl(mdl, part, block + 15, 1);
    CHECK_RULE("NT-128/d", errors() == 2);
    IoBuildPartialMdl(mdl, part, block + 16 + PAGE_SIZE - 4, 5);
    CHECK_RULE("NT-128/d", errors() == 3 && part->ByteCount == 77);
    forget_reports();
    IoBuildPartialMdl(mdl, part, block + 16 + PAGE_SIZE - 4, 4);
    CHECK_RULE("NT-128/a", errors() == 0 && part->ByteCount == 4);
    IoFreeMdl(part);
    part = IoAllocateMdl(block, 4, FALSE, FALSE, NULL);
    IoBuildPartialMdl(mdl, part, block + PAGE_SIZE - 2, 4); /* two pages, room for one */
    CHECK_RULE("NT-128/d", errors() == 1 && part->ByteCount == 0 && part->MdlFlags == 0);
    forget_reports();
    IoBuildPartialMdl(mdl, part, block + PAGE_SIZE - 4, 4);
    CHECK_RULE("NT-128/a", errors() == 0 && part->Process == mdl->Process);
    view = MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
    CHECK_RULE("NT-122/a", view && (uintptr_t)view % PAGE_SIZE == PAGE_SIZE - 4);
    CHECK(part->MdlFlags & MDL_PARTIAL_HAS_BEEN_MAPPED && part->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA);
    view[3] = 0x55;
    CHECK_RULE("NT-122/a", block[PAGE_SIZE - 1] == 0x55);
    MmUnmapLockedPages(view, part);
    CHECK_RULE("NT-126/d", errors() == 1);
    forget_reports();
    IoFreeMdl(part);
    CHECK_RULE("NT-123/b", errors() == 0);
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ExFreePool(block);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* Pages of an MDL that the host made are held by somebody; else nothing is mapped. */
TEST_WITH(driver, only_held_pages_are_mapped)
{
    uint64_t pages = ram_bytes(h.ram) / PAGE_SIZE;
    struct {
        MDL mdl;
        PFN_NUMBER page;
    } host = {.mdl = {.Size = sizeof(host), .MdlFlags = (CSHORT)(MDL_PAGES_LOCKED | MDL_INTERNAL)}};

    host.mdl.ByteCount = PAGE_SIZE;
    host.page = pages - 1; /* free */
    CHECK_RULE("NT-124/a", MmGetSystemAddressForMdlSafe(&host.mdl, 0) == NULL);
    CHECK(broken("PHYS-155") && errors() == 1);
    host.page = pages; /* none */
    CHECK_RULE("NT-124/a", MmGetSystemAddressForMdlSafe(&host.mdl, 0) == NULL && errors() == 2);
    forget_reports();
    nt_mdl_gone(&host.mdl); /* nothing is left of it */
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* ---- attached threads ---- */

static struct nt_process *first, *second;

static PRKPROCESS kernel_process(struct nt_process *process)
{
    return (PRKPROCESS)(void *)process;
}

static LONG_PTR count(PVOID object)
{
    (void)ObReferenceObject(object);
    return ObDereferenceObject(object);
}

static void attach_and_detach(void)
{
    LONG_PTR before = count(first);
    PEPROCESS own = IoGetCurrentProcess();
    KAPC_STATE state, inner;
    KIRQL old;

    KeStackAttachProcess(kernel_process(first), NULL);
    CHECK(IoGetCurrentProcess() == own && errors() == 0);
    KeUnstackDetachProcess(NULL);
    CHECK(errors() == 0);
    memset(&state, 0x5A, sizeof(state));
    KeStackAttachProcess(kernel_process(first), &state);
    CHECK(state.Process == (PKPROCESS)(void *)own && !state.KernelApcInProgress &&
          !state.KernelApcPending && !state.UserApcPending);
    CHECK(count(first) == before + 1);
    KeStackAttachProcess(kernel_process(first), &inner); /* once more */
    CHECK(inner.Process == (PKPROCESS)(void *)first && count(first) == before + 2);
    KeUnstackDetachProcess(&inner);
    KeUnstackDetachProcess(&state);
    CHECK(count(first) == before && IoGetCurrentProcess() == own && errors() == 0);
    KeStackAttachProcess((PRKPROCESS)(void *)KeGetCurrentThread(), &state);
    CHECK_RULE("NT-177/b", broken("NT-177") && IoGetCurrentProcess() == own);
    forget_reports();
    KeAttachProcess(kernel_process(second));
    KeAttachProcess((PRKPROCESS)(void *)&state); /* no process, and no reason to be attached */
    CHECK(broken("NT-177") && !reported("NT-177", 0x5, (uintptr_t)&state));
    forget_reports();
    KeUnstackDetachProcess(&state);
    CHECK_RULE("NT-177/b", reported("NT-177", 0x6, 1));
    forget_reports();
    KeRaiseIrql(APC_LEVEL, &old);
    KeDetachProcess();
    KeStackAttachProcess(kernel_process(first), &state);
    KeUnstackDetachProcess(&state);
    KeLowerIrql(old);
    CHECK(errors() == 0 && IoGetCurrentProcess() == own);
    CHECK(count(second) == 1 && count(first) == before);
}

static void end_while_attached(void)
{
    KAPC_STATE state;

    KeStackAttachProcess(kernel_process(first), &state);
    CHECK(ExGetPreviousMode() == UserMode &&
          PsGetCurrentProcessId() != PsGetProcessId((PEPROCESS)first));
    KeUnstackDetachProcess(&state);
}

TEST_WITH(machine, attached_threads_hold_the_process)
{
    first = nt_process_create("first");
    second = nt_process_create("second");
    run(attach_and_detach);
    run_client(second, end_while_attached);
    nt_process_destroy(first);
    nt_process_destroy(second);
    CHECK(errors() == 0);
}

/* ---- levels of ends ---- */

static void terminate_raised(void)
{
    CHECK_RULE("NT-094/b", PsTerminateSystemThread(STATUS_SUCCESS) == STATUS_INVALID_PARAMETER);
    CHECK(broken("NT-094") && errors() == 1);
    forget_reports();
    CHECK(ExGetPreviousMode() == KernelMode);
}

static bool came_back;

static VOID NTAPI terminate_at_levels(PVOID context)
{
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-094/b", PsTerminateSystemThread(STATUS_SUCCESS) == STATUS_INVALID_PARAMETER);
    CHECK(broken("NT-094") && errors() == 1);
    forget_reports();
    KeLowerIrql(old);
    came_back = true;
    PsTerminateSystemThread(STATUS_SUCCESS);
    *(bool *)context = true;
}

static void terminate(void)
{
    bool further = false;
    HANDLE handle;

    in_dpc(terminate_raised);
    terminate_raised(); /* a thread of the host's */
    CHECK(PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, terminate_at_levels, &further) ==
          STATUS_SUCCESS);
    pause_ns(1000000);
    CHECK_RULE("NT-095", came_back && !further && errors() == 0);
    ZwClose(handle);
}

TEST_WITH(machine, threads_end_below_dispatch_level)
{
    came_back = false;
    run(terminate);
}

static void ask_for_time(void)
{
    uint64_t data[6] = {0};

    CHECK(ZwQuerySystemInformation(3, data, sizeof(data), NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-180/d", data[0] == 132000000000000000);
}

TEST_WITH(machine, the_time_begins_as_configured)
{
    const struct nt_config config = {.boot_time = 132000000000000000};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(ask_for_time);
}

/* ---- ranges of resources ---- */

TEST_WITH(driver, lengths_of_resources_have_forms)
{
    static const struct {
        ULONGLONG length;
        USHORT flag;
        ULONG stored;
    } form[] = {
        {0xFFFFFFFF00, CM_RESOURCE_MEMORY_LARGE_40, 0xFFFFFFFF},
        {0xFFFFFFFF0000, CM_RESOURCE_MEMORY_LARGE_48, 0xFFFFFFFF},
        {0xFFFFFFFF00000000, CM_RESOURCE_MEMORY_LARGE_64, 0xFFFFFFFF},
        {0x8000000000000000, CM_RESOURCE_MEMORY_LARGE_64, 0x80000000},
    };
    static const ULONGLONG odd[] = {0x100000080, 0xFFFFFFFF01, 0x10000008000, 0x1000080000000,
                                    0xFFFFFFFFFFFFFFFF};
    CM_PARTIAL_RESOURCE_DESCRIPTOR range;
    ULONGLONG start = 5;

    for (unsigned i = 0; i < RTL_NUMBER_OF(form); i++) {
        memset(&range, 0, sizeof(range));
        CHECK_RULE("NT-179/b", RtlCmEncodeMemIoResource(&range, CmResourceTypeMemoryLarge,
                                                        form[i].length, 7) == STATUS_SUCCESS);
        CHECK_RULE("NT-179/b", range.Type == CmResourceTypeMemoryLarge &&
                                   range.Flags == form[i].flag &&
                                   range.u.Generic.Length == form[i].stored &&
                                   RtlCmDecodeMemIoResource(&range, &start) == form[i].length);
        CHECK(start == 7);
    }
    for (unsigned i = 0; i < RTL_NUMBER_OF(odd); i++) {
        memset(&range, 0x5A, sizeof(range));
        CHECK_RULE("NT-179/c", RtlCmEncodeMemIoResource(&range, CmResourceTypeMemory, odd[i], 7) ==
                                   STATUS_UNSUCCESSFUL);
        CHECK_RULE("NT-179/e", range.Type == 0x5A && range.Flags == 0x5A5A);
    }
    range = (CM_PARTIAL_RESOURCE_DESCRIPTOR){.Type = CmResourceTypeMemoryLarge};
    range.u.Generic.Length = 5;
    CHECK(RtlCmDecodeMemIoResource(&range, &start) == 0 && start == 0); /* of no form */
    CHECK(RtlCmDecodeMemIoResource(NULL, &start) == 0);
    CHECK(RtlCmEncodeMemIoResource(NULL, CmResourceTypeMemory, 5, 5) == STATUS_INVALID_PARAMETER);
    start = 9;
    range.Type = CmResourceTypeInterrupt;
    CHECK_RULE("NT-179/f", RtlCmDecodeMemIoResource(&range, &start) == 0 && start == 9);
}
