/* SPDX-License-Identifier: MIT */
/* What ends with a thread, a process, a machine: references, waits, what was owned, and views. */
#include "nt/io/image_life.h"
#include "bus/device.h"
#include "nt/mm/mdl.h"
#include "nt/mm/retired_view.h"
#include "nt/ps/process.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "support/harness.h"
#include "support/test_device.h"

static struct nt_process *client;

static LONG_PTR count(PVOID object)
{
    (void)ObReferenceObject(object);
    return ObDereferenceObject(object);
}

/* ---- threads ---- */

static VOID NTAPI attach_twice(PVOID context)
{
    static KAPC_STATE states[2];

    (void)context;
    KeStackAttachProcess((PRKPROCESS)(void *)client, &states[0]);
    KeStackAttachProcess((PRKPROCESS)(void *)client, &states[1]);
}

static void end_attached(void)
{
    LONG_PTR before = count(client);
    HANDLE handle;

    CHECK(PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, attach_twice, NULL) == STATUS_SUCCESS);
    pause_ns(1000000);
    ZwClose(handle);
    CHECK_RULE("NT-177/d", broken("NT-177") && count(client) == before);
    forget_reports();
}

TEST_WITH(machine, threads_that_end_attached_hold_no_process)
{
    client = nt_process_create("client");
    run(end_attached);
    nt_process_destroy(client);
}

/* A machine that ends frees what its threads own. */
static KMUTEX mutexes[8];
static KEVENT never;

static void own_and_wait(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 8; i++)
        CHECK(KeWaitForSingleObject(&mutexes[i], Executive, KernelMode, FALSE, NULL) ==
              STATUS_SUCCESS);
    KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
}

static void start_owner(void)
{
    KeInitializeEvent(&never, NotificationEvent, FALSE);
    for (unsigned i = 0; i < 8; i++)
        KeInitializeMutex(&mutexes[i], 0);
    start("owner", own_and_wait, NULL);
    pause_ns(1000000);
}

TEST_WITH(machine, mutexes_that_are_owned_at_the_end)
{
    run(start_owner);
    h.threads_left = 1;
}

/* ---- processes ---- */

static bool waited;

static void wait_for_process(void *process)
{
    CHECK(KeWaitForSingleObject(process, Executive, KernelMode, FALSE, NULL) == STATUS_SUCCESS);
    waited = true;
    ObDereferenceObject(process);
}

static void wait_for_the_end(void)
{
    waited = false;
    (void)ObReferenceObject(client);
    start("waiter", wait_for_process, client);
    pause_ns(1000000);
    CHECK(!waited);
    nt_process_destroy(client);
    pause_ns(1000000);
    CHECK(waited && errors() == 0);
}

TEST_WITH(machine, the_end_of_a_process_is_waited_for)
{
    client = nt_process_create("client");
    run(wait_for_the_end);
}

/* ---- views of MDLs of the host ---- */

static struct {
    MDL mdl;
    PFN_NUMBER page;
} host[8];

static void map_host_mdls(bool unmap)
{
    uint8_t *block = ExAllocatePoolWithTag(NonPagedPoolNx, PAGE_SIZE, TAG);
    PHYSICAL_ADDRESS at = MmGetPhysicalAddress(block);

    for (unsigned i = 0; i < 8; i++) {
        PVOID view;

        memset(&host[i], 0, sizeof(host[i]));
        host[i].mdl.Size = sizeof(host[i]);
        host[i].mdl.MdlFlags = (CSHORT)(MDL_PAGES_LOCKED | MDL_INTERNAL);
        host[i].mdl.ByteCount = PAGE_SIZE;
        host[i].page = (PFN_NUMBER)at.QuadPart / PAGE_SIZE;
        view = MmGetSystemAddressForMdlSafe(&host[i].mdl, NormalPagePriority);
        CHECK(view && host[i].mdl.MappedSystemVa == view);
        if (unmap)
            MmUnmapLockedPages(view, &host[i].mdl);
    }
    ExFreePool(block);
    CHECK(errors() == 0);
}

static void map_and_unmap(void)
{
    map_host_mdls(true);
}

static void map_only(void)
{
    map_host_mdls(false);
}

/* Nothing is kept of an MDL that is not mapped any more. */
TEST_WITH(machine, unmapped_mdls_are_forgotten)
{
    run(map_and_unmap);
    CHECK(nt_image_leak_check(h.image) == 0);
}

TEST_WITH(machine, views_that_were_left_are_forgotten)
{
    run(map_only);
    CHECK(nt_image_leak_check(h.image) == 8 && broken("NT-123"));
    forget_reports();
}

/* ---- views that have ended are told ---- */

static struct bus_device *device;

static void use_after_unmapping(void)
{
    PVOID block = MmAllocateContiguousMemory(PAGE_SIZE, physical(~0ull >> 1));
    uint8_t *view = MmMapIoSpace(MmGetPhysicalAddress(block), PAGE_SIZE, MmCached);
    char text[200] = "", expected[64];

    MmUnmapIoSpace(view, PAGE_SIZE);
    snprintf(expected, sizeof(expected), "a view of RAM at 0x%llx that MmUnmapIoSpace had ended, ",
             (unsigned long long)MmGetPhysicalAddress(block).QuadPart);
    CHECK(nt_retired_view_at(view, text, sizeof(text)) &&
          strncmp(text, expected, strlen(expected)) == 0);
    MmFreeContiguousMemory(block);
    view = MmMapIoSpace(physical(bus_device_bar(device, 0).value), PAGE_SIZE, MmNonCached);
    MmUnmapIoSpace(view, PAGE_SIZE);
    CHECK(errors() == 0);
    CHECK_RULE("NT-139/c", READ_REGISTER_UCHAR(view) == 0xFF && broken("NT-139"));
    CHECK(strncmp(verify_record_at(h.log, verify_records(h.log) - 1)->seen,
                  "READ_REGISTER_UCHAR outside of a mapping, in a view of BAR 0", 60) == 0);
    forget_reports();
}

TEST_WITH(machine, views_of_memory_that_have_ended_are_told)
{
    device = test_device_add(h.bus);
    run(use_after_unmapping);
}
