/* SPDX-License-Identifier: MIT */
/*
 * The device writes a log into system memory. When the DPC says that something of interest happened
 * (a fault, a reset), a system thread copies the records, so that none is overwritten unread; an
 * escape gives them to clients.
 */
#include "driver.h"

static const struct refgpu_log_record *device_record(const struct refgpu_adapter *adapter,
                                                     ULONG sequence)
{
    const ULONG slots = (ULONG)(adapter->log.bytes / sizeof(struct refgpu_log_record));

    return (const struct refgpu_log_record *)adapter->log.cpu + sequence % slots;
}

void refgpu_log_drain(struct refgpu_adapter *adapter)
{
    KIRQL irql;

    KeAcquireSpinLock(&adapter->log_lock, &irql);
    if (adapter->powered && adapter->log.cpu) {
        const ULONG slots = (ULONG)(adapter->log.bytes / sizeof(struct refgpu_log_record));
        const ULONG written = refgpu_read(adapter, REFGPU_REG_LOG_COUNT);

        if (written - adapter->log_read > slots)
            adapter->log_read = written - slots;
        while (adapter->log_read != written) {
            const ULONG slot = adapter->log_next % REFGPU_LOG_KEEP;

            /* The device counts from 0 again after each reset; clients see one sequence. */
            adapter->log_kept[slot] = *device_record(adapter, adapter->log_read++);
            adapter->log_kept[slot].sequence = adapter->log_next++;
            adapter->log_drained++;
        }
    }
    KeReleaseSpinLock(&adapter->log_lock, irql);
}

static VOID NTAPI logger_thread(PVOID context)
{
    struct refgpu_adapter *adapter = context;

    for (;;) {
        (void)KeWaitForSingleObject(&adapter->log_wake, Executive, KernelMode, FALSE, NULL);
        if (adapter->log_stop)
            break;
        refgpu_log_drain(adapter);
    }
    (void)KeSetEvent(&adapter->log_gone, IO_NO_INCREMENT, FALSE);
    (void)PsTerminateSystemThread(STATUS_SUCCESS);
}

NTSTATUS refgpu_logger_start(struct refgpu_adapter *adapter)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle = NULL;
    NTSTATUS status;

    adapter->log_stop = FALSE;
    adapter->log_wanted = 0;
    KeInitializeEvent(&adapter->log_wake, SynchronizationEvent, FALSE);
    KeInitializeEvent(&adapter->log_gone, NotificationEvent, FALSE);
    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    status = PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, &attributes, NULL, NULL,
                                  logger_thread, adapter);
    if (!NT_SUCCESS(status))
        return status;
    status = ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, NULL, KernelMode,
                                       &adapter->log_thread, NULL);
    if (!NT_SUCCESS(status)) {
        /* Without the thread object its end cannot be awaited; instead, wait until it has passed
         * the point after which it uses no memory of ours. */
        adapter->log_thread = NULL;
        adapter->log_stop = TRUE;
        (void)KeSetEvent(&adapter->log_wake, IO_NO_INCREMENT, FALSE);
        (void)KeWaitForSingleObject(&adapter->log_gone, Executive, KernelMode, FALSE, NULL);
    }
    (void)ZwClose(handle);
    return status;
}

void refgpu_logger_stop(struct refgpu_adapter *adapter)
{
    if (!adapter->log_thread)
        return;
    adapter->log_stop = TRUE;
    (void)KeSetEvent(&adapter->log_wake, IO_NO_INCREMENT, FALSE);
    (void)KeWaitForSingleObject(adapter->log_thread, Executive, KernelMode, FALSE, NULL);
    ObDereferenceObject(adapter->log_thread);
    adapter->log_thread = NULL;
}
