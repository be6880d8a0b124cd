/* SPDX-License-Identifier: MIT */
/* What many tests of the probe do, each in a call or two. */
#include "port/support/probe.h"
#include "sim/thread.h"

#include <string.h>

#define DXGK p->state[0].dxgk

void probe_fail_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

void probe_run_in(struct probe *p, struct nt_process *process, void (*body)(struct probe *p))
{
    struct sim_thread *thread = probe_thread(p, process, "client", body);

    while (!sim_thread_ended(thread))
        probe_sleep(1000000);
    sim_thread_release(thread);
}

void probe_restart(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_restart(p->adapter[0])));
}

void probe_ask_driver(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;
    UINT bytes[4] = {0};

    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_UMDRIVERPRIVATE;
    args.pOutputData = bytes;
    args.OutputDataSize = sizeof(bytes);
    (void)ddi_query_adapter_info(port_adapter_ddi(p->adapter[0]), &args);
}

PHYSICAL_ADDRESS probe_bar(const struct probe *p, unsigned index)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *first =
        p->state[0].device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    return first[index].u.Memory.Start;
}

bool probe_feature_enabled(struct probe *p, DXGK_FEATURE_ID feature, NTSTATUS *status)
{
    DXGKARGCB_ISFEATUREENABLED args = {
        .DeviceHandle = DXGK.DeviceHandle, .FeatureId = feature, .Enabled = TRUE};

    *status = DXGK.DxgkCbIsFeatureEnabled(&args);
    return args.Enabled;
}

bool probe_feature_supported(struct probe *p, DXGK_FEATURE_ID feature, UINT driver, NTSTATUS *status)
{
    DXGKARGCB_QUERYFEATURESUPPORT args = {.DeviceHandle = DXGK.DeviceHandle,
                                          .FeatureId = feature,
                                          .DriverSupportState = driver,
                                          .Enabled = TRUE};

    *status = DXGK.DxgkCbQueryFeatureSupport(&args);
    return args.Enabled;
}
