/* SPDX-License-Identifier: MIT */
#include "port/running/restarting.h"
#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "port/record/machine.h"
#include "port/running/tdr_settings.h"
#include "sim/machine.h"
#include "sim/wait.h"
#include "verify/verify.h"

#define SECOND UINT64_C(1000000000)

bool port_restarting_begin(struct port_adapter *adapter)
{
    const UINT delay = port_tdr_ddi_delay(&adapter->port->config.tdr);

    if (ddi_exclude_others(&adapter->ddi, delay * SECOND) != STATUS_SUCCESS) {
        verify_fatal("PRES-258", VIDEO_TDR_FAILURE, 0, 0, 0, 0,
                     "a thread did not leave the driver within %u s, which is to start again",
                     delay);
        return false;
    }
    adapter->display.restarting = true;
    return true;
}

void port_restarting_end(struct port_adapter *adapter)
{
    adapter->display.restarting = false;
    ddi_admit_others(&adapter->ddi);
    (void)sim_waitq_wake(&adapter->display.restarted, UINT32_MAX);
}

void port_restarting_await(struct port_adapter *adapter)
{
    while (adapter->display.restarting && !ddi_is_alone(&adapter->ddi) && !sim_current->stopped)
        (void)sim_waitq_wait(&adapter->display.restarted, SIM_FOREVER);
}
