/* SPDX-License-Identifier: MIT */
/* Private requests of clients. The buffer is the host's copy; its content comes from the client and
 * is not trusted. */
#include "driver.h"

static NTSTATUS read_log(struct refgpu_adapter *adapter, struct refgpu_escape_log *log)
{
    ULONG first;
    KIRQL irql;

    refgpu_log_drain(adapter);
    KeAcquireSpinLock(&adapter->log_lock, &irql);
    first = log->first;
    if (adapter->log_next - first > REFGPU_LOG_KEEP || (LONG)(adapter->log_next - first) < 0)
        first = adapter->log_next > REFGPU_LOG_KEEP ? adapter->log_next - REFGPU_LOG_KEEP : 0;
    log->first = first;
    log->written = adapter->log_next;
    log->reserved = 0;
    for (log->count = 0;
         log->count < REFGPU_ESCAPE_LOG_RECORDS && first + log->count != adapter->log_next;
         log->count++)
        log->records[log->count] = adapter->log_kept[(first + log->count) % REFGPU_LOG_KEEP];
    KeReleaseSpinLock(&adapter->log_lock, irql);
    return STATUS_SUCCESS;
}

static NTSTATUS counters(struct refgpu_adapter *adapter, struct refgpu_escape_counters *out)
{
    const struct refgpu_escape_header header = out->header;

    RtlZeroMemory(out, sizeof *out);
    out->header = header;
    for (ULONG i = 0; i < REFGPU_NODES; i++) {
        struct refgpu_engine_counters *e = &out->engine[i];

        e->entries = refgpu_read64(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_COUNT_ENTRIES));
        e->commands = refgpu_read64(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_COUNT_COMMANDS));
        e->bytes = refgpu_read64(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_COUNT_BYTES));
        e->busy_ns = refgpu_read64(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_COUNT_BUSY));
        e->walks = refgpu_read64(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_COUNT_WALKS));
        e->preempts = refgpu_read64(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_COUNT_PREEMPTS));
        e->submitted = adapter->node[i].submitted;
        e->faults = adapter->node[i].faults;
        e->completed_fence = adapter->node[i].completed;
    }
    out->interrupts = (ULONGLONG)adapter->interrupts;
    out->residency_notes = (ULONGLONG)adapter->residency_notes;
    out->aperture_maps = (ULONGLONG)adapter->aperture_maps;
    out->aperture_unmaps = (ULONGLONG)adapter->aperture_unmaps;
    out->log_records_drained = adapter->log_drained;
    return STATUS_SUCCESS;
}

static NTSTATUS describe_allocation(struct refgpu_adapter *adapter,
                                    struct refgpu_escape_allocation *out)
{
    DXGKARGCB_GETHANDLEDATA args = {.hObject = out->allocation, .Type = DXGK_HANDLE_ALLOCATION};
    DXGKARGCB_RELEASEHANDLEDATA release = {.ReleaseHandle = NULL, .Type = DXGK_HANDLE_ALLOCATION};
    const struct refgpu_allocation *allocation = adapter->dxgk.DxgkCbAcquireHandleData(
        &args, &release.ReleaseHandle);

    if (!allocation)
        return STATUS_INVALID_PARAMETER;
    out->resident = allocation->resident;
    out->segment = allocation->segment;
    out->offset = allocation->offset;
    out->cpu_visible = allocation->cpu != NULL;
    out->first_word = 0;
    if (allocation->cpu)
        RtlCopyMemory(&out->first_word, allocation->cpu, sizeof out->first_word);
    adapter->dxgk.DxgkCbReleaseHandleData(release);
    return STATUS_SUCCESS;
}

static NTSTATUS read_register(struct refgpu_adapter *adapter, const DXGKARG_ESCAPE *args,
                              struct refgpu_escape_register *out)
{
    if (!args->Flags.HardwareAccess)
        return STATUS_INVALID_PARAMETER;
    if (out->offset % 4u || out->offset >= REFGPU_REGISTER_BYTES ||
        out->offset == REFGPU_REG_IRQ_ACK)
        return STATUS_INVALID_PARAMETER;
    out->value = refgpu_read(adapter, out->offset);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuEscape(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_ESCAPE pEscape)
{
    struct refgpu_adapter *adapter = hAdapter;
    PVOID data = pEscape->pPrivateDriverData;
    const UINT bytes = pEscape->PrivateDriverDataSize;
    const struct refgpu_escape_header *header = data;

    if (!data || bytes < sizeof *header || header->magic != REFGPU_UMD_MAGIC)
        return STATUS_INVALID_PARAMETER;
    if (!adapter->started || !adapter->powered)
        return STATUS_DEVICE_NOT_READY;
    switch (header->code) {
    case REFGPU_ESCAPE_READ_LOG:
        return bytes >= sizeof(struct refgpu_escape_log) ? read_log(adapter, data)
                                                         : STATUS_INVALID_PARAMETER;
    case REFGPU_ESCAPE_COUNTERS:
        return bytes >= sizeof(struct refgpu_escape_counters) ? counters(adapter, data)
                                                              : STATUS_INVALID_PARAMETER;
    case REFGPU_ESCAPE_ALLOCATION:
        return bytes >= sizeof(struct refgpu_escape_allocation) ? describe_allocation(adapter, data)
                                                                : STATUS_INVALID_PARAMETER;
    case REFGPU_ESCAPE_READ_REGISTER:
        return bytes >= sizeof(struct refgpu_escape_register)
                   ? read_register(adapter, pEscape, data)
                   : STATUS_INVALID_PARAMETER;
    default:
        return STATUS_INVALID_PARAMETER;
    }
}
