/* SPDX-License-Identifier: MIT */
#include "port/query/interrupt_control.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_record.h"
#include "verify/verify.h"

/* Of the entries that the driver has, only the newest is ever called (SUBMIT-071). */
void port_interrupt_control_probe(struct port_adapter *adapter)
{
    const DXGKARG_CONTROLINTERRUPT2 two = {DXGK_INTERRUPT_DMA_COMPLETED,
                                           {.InterruptState = DXGK_INTERRUPT_ENABLE}};
    const DXGKARG_CONTROLINTERRUPT3 three = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED,
                                             .InterruptState = DXGK_INTERRUPT_ENABLE};
    const char *entry = "DxgkDdiControlInterrupt";
    NTSTATUS status;

    if (!verify_current || !verify_strict(verify_current))
        return;
    if (ddi_has(&adapter->ddi, DxgkDdiControlInterrupt3)) {
        entry = "DxgkDdiControlInterrupt3";
        status = ddi_control_interrupt3(&adapter->ddi, &three);
    } else if (ddi_has(&adapter->ddi, DxgkDdiControlInterrupt2)) {
        entry = "DxgkDdiControlInterrupt2";
        status = ddi_control_interrupt2(&adapter->ddi, two);
    } else if (ddi_has(&adapter->ddi, DxgkDdiControlInterrupt)) {
        status = ddi_control_interrupt(&adapter->ddi, DXGK_INTERRUPT_DMA_COMPLETED, TRUE);
    } else {
        return;
    }
    if (status != STATUS_NOT_IMPLEMENTED)
        WARNING("SUBMIT-070",
                "%s answered %s to DXGK_INTERRUPT_DMA_COMPLETED, which it does not control", entry,
                nt_status_text(status).text);
}
