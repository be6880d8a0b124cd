/* SPDX-License-Identifier: MIT */
/* A driver that uses kernel services, one scenario after the other. The test calls DriverEntry with a report in the place of the
 * registry path. */
#include <ntddk.h>

#include "services.h"

DRIVER_INITIALIZE DriverEntry;

#define TAG 0x76726553 /* Serv */
#define MS  10000      /* of system time */

static struct services_report *report;

static void check(BOOLEAN holds, unsigned line)
{
    report->checks++;
    if (!holds && report->failed_line == 0)
        report->failed_line = line;
}

#define EXPECT(condition) check((condition) ? TRUE : FALSE, __LINE__)

static NTSTATUS wait_one(PVOID object, LONG milliseconds)
{
    LARGE_INTEGER timeout;

    timeout.QuadPart = -(LONGLONG)milliseconds * MS;
    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &timeout);
}

static PVOID start_thread(PKSTART_ROUTINE routine, PVOID context)
{
    HANDLE handle;
    PVOID thread = NULL;

    if (!NT_SUCCESS(
            PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, routine, context)))
        return NULL;
    ObReferenceObjectByHandle(handle, 0, *PsThreadType, KernelMode, &thread, NULL);
    ZwClose(handle);
    return thread;
}

/* ---- dispatcher objects ---- */

static KEVENT gate;
static KMUTEX mutex;
static LONG volatile entered;

static VOID NTAPI signal_main(PVOID context)
{
    LARGE_INTEGER delay;

    delay.QuadPart = -5 * MS;
    KeDelayExecutionThread(KernelMode, FALSE, &delay);
    KeSetEvent((PKEVENT)context, IO_NO_INCREMENT, FALSE);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static VOID NTAPI mutex_main(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    KeWaitForSingleObject(&mutex, Executive, KernelMode, FALSE, NULL);
    InterlockedIncrement(&entered);
    KeReleaseMutex(&mutex, FALSE);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static void events(void)
{
    KEVENT event;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    EXPECT(KeReadStateEvent(&event) == 0 && wait_one(&event, 1) == STATUS_TIMEOUT);
    EXPECT(KeSetEvent(&event, IO_NO_INCREMENT, FALSE) == 0);
    EXPECT(wait_one(&event, 1) == STATUS_SUCCESS && wait_one(&event, 1) == STATUS_SUCCESS);
    KeClearEvent(&event);
    EXPECT(KeResetEvent(&event) == 0);
    KeInitializeEvent(&event, SynchronizationEvent, TRUE);
    EXPECT(wait_one(&event, 1) == STATUS_SUCCESS && wait_one(&event, 1) == STATUS_TIMEOUT);
}

static void semaphores(void)
{
    KSEMAPHORE semaphore;

    KeInitializeSemaphore(&semaphore, 1, 3);
    EXPECT(wait_one(&semaphore, 1) == STATUS_SUCCESS && wait_one(&semaphore, 1) == STATUS_TIMEOUT);
    EXPECT(KeReleaseSemaphore(&semaphore, IO_NO_INCREMENT, 2, FALSE) == 0);
    EXPECT(KeReadStateSemaphore(&semaphore) == 2);
}

static void mutexes(void)
{
    PVOID thread;

    KeInitializeMutex(&mutex, 0);
    EXPECT(wait_one(&mutex, 1) == STATUS_SUCCESS && wait_one(&mutex, 1) == STATUS_SUCCESS);
    thread = start_thread(mutex_main, NULL);
    EXPECT(thread != NULL && wait_one(thread, 5) == STATUS_TIMEOUT && entered == 0);
    KeReleaseMutex(&mutex, FALSE);
    EXPECT(wait_one(thread, 5) == STATUS_TIMEOUT && entered == 0);
    KeReleaseMutex(&mutex, FALSE);
    EXPECT(wait_one(thread, 1000) == STATUS_SUCCESS && entered == 1);
    ObDereferenceObject(thread);
}

static void timers(void)
{
    LARGE_INTEGER due;
    KTIMER timer;

    due.QuadPart = -10 * MS;
    KeInitializeTimerEx(&timer, NotificationTimer);
    EXPECT(!KeSetTimer(&timer, due, NULL) && !KeReadStateTimer(&timer));
    EXPECT(wait_one(&timer, 1) == STATUS_TIMEOUT && wait_one(&timer, 100) == STATUS_SUCCESS);
    EXPECT(wait_one(&timer, 1) == STATUS_SUCCESS && !KeCancelTimer(&timer));
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    EXPECT(!KeSetTimerEx(&timer, due, 10, NULL)); /* and again each 10 ms */
    EXPECT(wait_one(&timer, 100) == STATUS_SUCCESS && wait_one(&timer, 1) == STATUS_TIMEOUT);
    EXPECT(wait_one(&timer, 100) == STATUS_SUCCESS && KeCancelTimer(&timer));
}

static void objects(void)
{
    events();
    semaphores();
    mutexes();
    timers();
}

/* ---- waits ---- */

static void waits(void)
{
    KEVENT first, second;
    PVOID both[2] = {&first, &second}, thread;
    LARGE_INTEGER none, due, before, after;

    none.QuadPart = 0;
    due.QuadPart = -2 * MS;
    KeInitializeEvent(&first, NotificationEvent, FALSE);
    KeInitializeEvent(&second, SynchronizationEvent, TRUE);
    EXPECT(KeWaitForMultipleObjects(2, both, WaitAny, Executive, KernelMode, FALSE, NULL, NULL) ==
           STATUS_WAIT_1);
    EXPECT(KeWaitForMultipleObjects(2, both, WaitAny, Executive, KernelMode, FALSE, &none, NULL) ==
           STATUS_TIMEOUT);
    KeSetEvent(&second, IO_NO_INCREMENT, FALSE);
    EXPECT(KeWaitForMultipleObjects(2, both, WaitAll, Executive, KernelMode, FALSE, &due, NULL) ==
           STATUS_TIMEOUT);
    EXPECT(KeReadStateEvent(&second) != 0); /* a wait for all that fails takes none */
    KeInitializeEvent(&gate, SynchronizationEvent, FALSE);
    thread = start_thread(signal_main, &first);
    EXPECT(KeWaitForMultipleObjects(2, both, WaitAll, Executive, KernelMode, FALSE, NULL, NULL) ==
           STATUS_SUCCESS);
    EXPECT(KeReadStateEvent(&second) == 0);
    EXPECT(KeWaitForSingleObject(thread, Executive, KernelMode, FALSE, NULL) == STATUS_SUCCESS);
    ObDereferenceObject(thread);
    EXPECT(KeWaitForSingleObject(&gate, Executive, KernelMode, TRUE, &due) ==
           STATUS_TIMEOUT); /* alertable */
    KeQuerySystemTimePrecise(&before);
    EXPECT(KeDelayExecutionThread(KernelMode, FALSE, &due) == STATUS_SUCCESS);
    KeQuerySystemTimePrecise(&after);
    EXPECT(after.QuadPart - before.QuadPart >= 2 * MS);
    after.QuadPart += 3 * MS; /* an absolute time */
    EXPECT(KeWaitForSingleObject(&gate, Executive, KernelMode, FALSE, &after) == STATUS_TIMEOUT);
    KeQuerySystemTimePrecise(&before);
    EXPECT(before.QuadPart >= after.QuadPart);
}

/* ---- MDLs ---- */

static void mdls(void)
{
    PUCHAR block = (PUCHAR)ExAllocatePoolWithTag(NonPagedPoolNx, 3 * PAGE_SIZE, TAG), view;
    PMDL mdl, part;

    EXPECT(block != NULL);
    if (!block)
        return;
    block[PAGE_SIZE + 5] = 77;
    mdl = IoAllocateMdl(block + 100, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    EXPECT(mdl != NULL && MmGetMdlByteCount(mdl) == 2 * PAGE_SIZE &&
           MmGetMdlByteOffset(mdl) == ((ULONG_PTR)(block + 100) & (PAGE_SIZE - 1)));
    MmBuildMdlForNonPagedPool(mdl);
    EXPECT(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority) == block + 100);
    part = IoAllocateMdl(block + PAGE_SIZE, PAGE_SIZE, FALSE, FALSE, NULL);
    IoBuildPartialMdl(mdl, part, block + PAGE_SIZE, PAGE_SIZE / 2);
    view = (PUCHAR)MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
    EXPECT(view == block + PAGE_SIZE && MmGetMdlByteCount(part) == PAGE_SIZE / 2);
    MmPrepareMdlForReuse(part);
    IoFreeMdl(part);
    IoFreeMdl(mdl);
    mdl = IoAllocateMdl(block, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    EXPECT((mdl->MdlFlags & MDL_PAGES_LOCKED) != 0);
    EXPECT(MmGetMdlPfnArray(mdl)[0] ==
           (ULONG_PTR)(MmGetPhysicalAddress(block).QuadPart >> PAGE_SHIFT));
    view = (PUCHAR)MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE,
                                                NormalPagePriority);
    EXPECT(view != NULL && view[PAGE_SIZE + 5] == 77);
    if (view) {
        view[6] = 78;
        EXPECT(block[6] == 78);
        MmUnmapLockedPages(view, mdl);
    }
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ExFreePoolWithTag(block, TAG);
}

/* ---- registry ---- */

static void registry(void)
{
    UNICODE_STRING path, name;
    OBJECT_ATTRIBUTES attributes;
    UCHAR buffer[128];
    PKEY_VALUE_PARTIAL_INFORMATION value = (PKEY_VALUE_PARTIAL_INFORMATION)buffer;
    PKEY_VALUE_BASIC_INFORMATION basic = (PKEY_VALUE_BASIC_INFORMATION)buffer;
    ULONG number = 4711, bytes, disposition;
    HANDLE key;

    RtlInitUnicodeString(&path, L"\\Registry\\Machine\\Software\\Services");
    RtlInitUnicodeString(&name, L"Number");
    InitializeObjectAttributes(&attributes, &path, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    EXPECT(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_NAME_NOT_FOUND);
    EXPECT(NT_SUCCESS(ZwCreateKey(&key, KEY_ALL_ACCESS, &attributes, 0, NULL, REG_OPTION_VOLATILE,
                                  &disposition)));
    EXPECT(disposition == REG_CREATED_NEW_KEY);
    EXPECT(NT_SUCCESS(ZwSetValueKey(key, &name, 0, REG_DWORD, &number, sizeof(number))));
    EXPECT(NT_SUCCESS(
        ZwQueryValueKey(key, &name, KeyValuePartialInformation, value, sizeof(buffer), &bytes)));
    EXPECT(value->Type == REG_DWORD && value->DataLength == 4 && *(PULONG)value->Data == 4711);
    EXPECT(ZwQueryValueKey(key, &name, KeyValuePartialInformation, value, 2, &bytes) ==
           STATUS_BUFFER_TOO_SMALL);
    EXPECT(NT_SUCCESS(
        ZwEnumerateValueKey(key, 0, KeyValueBasicInformation, basic, sizeof(buffer), &bytes)));
    EXPECT(basic->NameLength == name.Length);
    EXPECT(ZwEnumerateValueKey(key, 1, KeyValueBasicInformation, basic, sizeof(buffer), &bytes) ==
           STATUS_NO_MORE_ENTRIES);
    EXPECT(NT_SUCCESS(ZwDeleteKey(key)));
    ZwClose(key);
    EXPECT(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_NAME_NOT_FOUND);
}

/* ---- floating point ---- */

static volatile double dpc_sum;
static KDPC dpc;

static VOID NTAPI compute_dpc(PKDPC object, PVOID context, PVOID first, PVOID second)
{
    KFLOATING_SAVE save;
    double x = 1;

    UNREFERENCED_PARAMETER(object);
    UNREFERENCED_PARAMETER(first);
    UNREFERENCED_PARAMETER(second);
    if (!NT_SUCCESS(KeSaveFloatingPointState(&save)))
        return;
    for (ULONG i = 0; i < 20; i++)
        x = x / 2 + 3;
    dpc_sum += x;
    KeRestoreFloatingPointState(&save);
    KeSetEvent((PKEVENT)context, IO_NO_INCREMENT, FALSE);
}

static void floating(void)
{
    KEVENT done;
    double sum = 0;

    KeInitializeEvent(&done, SynchronizationEvent, FALSE);
    KeInitializeDpc(&dpc, compute_dpc, &done);
    for (ULONG i = 1; i <= 50; i++) {
        sum += 1.0 / i;
        EXPECT(KeInsertQueueDpc(&dpc, NULL, NULL));
        KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
    }
    EXPECT(sum > 4.4992053 && sum < 4.4992054);
    EXPECT(dpc_sum > 299.9997 && dpc_sum < 300.0);
}

/* ---- code in pool ---- */

static void code(POOL_TYPE type)
{
    static const UCHAR add_seven[] = {0x8D, 0x41, 0x07, 0xC3}; /* lea eax, [rcx + 7]; ret */
    PUCHAR block = (PUCHAR)ExAllocatePoolWithTag(type, PAGE_SIZE, TAG);
    ULONG (*function)(ULONG);

    EXPECT(block != NULL);
    if (!block)
        return;
    RtlCopyMemory(block, add_seven, sizeof(add_seven));
    *(PVOID *)&function = block;
    EXPECT(function(35) == 42);
    ExFreePoolWithTag(block, TAG);
}

/* ---- the end ---- */

static KTIMER left;

static void leave_timer(void)
{
    LARGE_INTEGER due;

    due.QuadPart = -1000 * MS;
    KeInitializeTimer(&left);
    EXPECT(!KeSetTimer(&left, due, NULL));
}

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    report = (struct services_report *)(PVOID)RegistryPath;
    switch (report->scenario) {
    case SERVICES_OBJECTS:
        objects();
        break;
    case SERVICES_WAITS:
        waits();
        break;
    case SERVICES_MDL:
        mdls();
        break;
    case SERVICES_REGISTRY:
        registry();
        break;
    case SERVICES_FLOAT:
        floating();
        break;
    case SERVICES_EXECUTABLE:
        code(NonPagedPoolExecute);
        break;
    case SERVICES_NX:
        code(NonPagedPoolNx);
        break;
    case SERVICES_TIMER_LEFT:
        leave_timer();
        break;
    }
    return STATUS_SUCCESS;
}
