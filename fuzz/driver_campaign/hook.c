/* SPDX-License-Identifier: MIT */
/* Registration with stubs in place of refgpu's entries, and the choice of the call to act in. */
#include "acts.h"

#include "../../tests/drivers/service_value.h"

#define SLOTS ((sizeof(DRIVER_INITIALIZATION_DATA) - 8u) / sizeof(void *))

NTSTATUS NTAPI ActsInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              DRIVER_INITIALIZATION_DATA *Data);
void *NTAPI acts_before(struct acts_call *call);
ULONG NTAPI acts_after(struct acts_call *call);
extern char acts_stubs[];

DXGKRNL_INTERFACE acts_interface;
ULONG acts_on_return;
BOOLEAN acts_again;

static struct {
    ULONG act, slot, nth, seed;
    BOOLEAN after; /* when the entry has returned */
    ULONG calls;
    BOOLEAN done, said;
} chosen;

static void *entry[SLOTS]; /* of refgpu */
static KTIMER timer;
static KDPC dpc;
static WORK_QUEUE_ITEM item;

static void act_now(struct acts_call *call)
{
    if (chosen.done)
        return;
    chosen.done = TRUE;
    if (!chosen.said)
        DbgPrint("act %u\n", chosen.act);
    chosen.said = TRUE;
    acts_do(chosen.act, chosen.seed, call);
    if (acts_again) {
        acts_again = chosen.done = FALSE;
        chosen.nth++;
    }
}

static BOOLEAN is_chosen(const struct acts_call *call)
{
    return (ULONG)call->slot == chosen.slot && chosen.calls == chosen.nth;
}

void *NTAPI acts_before(struct acts_call *call)
{
    void *routine = entry[call->slot];

    /* StartDevice: its third argument */
    if (call->slot == 1 && acts_interface.Size == 0)
        acts_interface = *(const DXGKRNL_INTERFACE *)call->r8;
    if ((ULONG)call->slot == chosen.slot)
        chosen.calls++;
    if (is_chosen(call) && !chosen.after)
        act_now(call);
    return routine;
}

ULONG NTAPI acts_after(struct acts_call *call)
{
    ULONG on_return = acts_on_return;

    if (is_chosen(call) && chosen.after)
        act_now(call);
    on_return = acts_on_return;
    acts_on_return = 0;
    return on_return;
}

static void NTAPI thread_main(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    act_now(NULL);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static void NTAPI on_dpc(PKDPC which, PVOID context, PVOID one, PVOID two)
{
    UNREFERENCED_PARAMETER(which);
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(one);
    UNREFERENCED_PARAMETER(two);
    act_now(NULL);
}

static void NTAPI on_work(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    act_now(NULL);
}

static void act_elsewhere(void)
{
    LARGE_INTEGER soon;
    HANDLE thread;

    soon.QuadPart = -10000; /* a millisecond */
    if (chosen.slot == ACTS_IN_THREAD) {
        if (NT_SUCCESS(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL,
                                            thread_main, NULL)))
            ZwClose(thread);
    } else if (chosen.slot == ACTS_IN_DPC) {
        KeInitializeTimer(&timer);
        KeInitializeDpc(&dpc, on_dpc, NULL);
        KeSetTimer(&timer, soon, &dpc);
    } else if (chosen.slot == ACTS_IN_WORK_ITEM) {
        ExInitializeWorkItem(&item, on_work, NULL);
        ExQueueWorkItem(&item, DelayedWorkQueue);
    }
}

NTSTATUS NTAPI ActsInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              DRIVER_INITIALIZATION_DATA *Data)
{
    DRIVER_INITIALIZATION_DATA data = *Data;
    void **slot = (void **)((char *)&data + 8);

    chosen.act = ServiceValue(RegistryPath, L"Act");
    chosen.slot = ServiceValue(RegistryPath, L"Slot");
    chosen.nth = ServiceValue(RegistryPath, L"Nth");
    chosen.seed = ServiceValue(RegistryPath, L"Seed");
    chosen.after = ServiceValue(RegistryPath, L"After") != 0;
    for (ULONG i = 0; i < SLOTS; i++) {
        entry[i] = slot[i];
        if (slot[i])
            slot[i] = acts_stubs + 16 * (size_t)i;
    }
    act_elsewhere();
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
