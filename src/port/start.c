/* SPDX-License-Identifier: MIT */
/* StartDevice and StopDevice, with all steps before, between and after them (LIFE-046 to LIFE-072,
 * LIFE-167 to LIFE-173). */
#include <stdio.h>
#include <string.h>

#include "port/start.h"
#include "bus/device.h"
#include "bus/dma.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "physmem/physical_adapter.h"
#include "port/callbacks/etw.h"
#include "port/callbacks/exclude.h"
#include "port/callbacks/feature_interface.h"
#include "port/callbacks/interface.h"
#include "port/callbacks/maps.h"
#include "port/callbacks/resources.h"
#include "port/callbacks/services.h"
#include "port/dxgkrnl_events.h"
#include "port/query/children.h"
#include "port/query/components.h"
#include "port/query/display_caps.h"
#include "port/query/integrated.h"
#include "port/query/interrupt_control.h"
#include "port/query/outputs.h"
#include "port/query/segments.h"
#include "port/query_order.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/cause.h"
#include "port/record/port_refuse.h"
#include "port/record/versions.h"
#include "port/running/boot_picture.h"
#include "port/running/display.h"
#include "port/running/dma_fault.h"
#include "port/running/domain.h"
#include "port/running/interrupts.h"
#include "port/running/isolate.h"
#include "port/running/last_screen.h"
#include "port/running/managers.h"
#include "port/running/post.h"
#include "port/running/power.h"
#include "port/running/power_components.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "verify/refusal.h"

#define MARKER     0xFEEDF00Du /* LIFE-068 */
#define SILENCE_NS 1000000u    /* how long a stopped device is watched for activity (LIFE-171) */

/* ---- before ---- */

/* LIFE-046, LIFE-047 */
static NTSTATUS link_device(struct port_adapter *adapter)
{
    LINKED_DEVICE linked;
    NTSTATUS status;

    if (!ddi_has(&adapter->ddi, DxgkDdiLinkDevice))
        return STATUS_SUCCESS;
    memset(&linked, 0, sizeof(linked));
    status = ddi_link_device(&adapter->ddi, &adapter->pdo, &linked);
    if (NT_SUCCESS(status) && linked.NumberOfLinksInChain > 1)
        PORT_CANNOT("LIFE-047",
                    "the driver reports a chain of %u links; this host has no linked adapters",
                    linked.NumberOfLinksInChain);
    return STATUS_SUCCESS;
}

/* LIFE-048, LIFE-049: the answer is about displays, so nothing here uses it. */
static void exchange_pre_start_info(struct port_adapter *adapter)
{
    DXGK_PRE_START_INFO info;
    NTSTATUS status;

    if (!ddi_has(&adapter->ddi, DxgkDdiExchangePreStartInfo))
        return;
    memset(&info, 0, sizeof(info));
    status = ddi_exchange_pre_start_info(&adapter->ddi, &info);
    port_boot_picture_note(adapter, NT_SUCCESS(status) && info.SupportPreserveBootDisplay);
    if (!NT_SUCCESS(status))
        NOTE("LIFE-049", "DxgkDdiExchangePreStartInfo returned %s", nt_status_text(status).text);
}

/* ---- StartDevice ---- */

static NTSTATUS check_outputs(struct port_adapter *adapter, ULONG sources, ULONG reported,
                              ULONG *children)
{
    if (sources == MARKER || reported == MARKER) {
        VIOLATION("LIFE-068", "StartDevice left %s unwritten",
                  sources == MARKER ? "NumberOfVideoPresentSources" : "NumberOfChildren");
        sources = sources == MARKER ? 0 : sources;
        reported = reported == MARKER ? 0 : reported;
    }
    *children = reported;
    adapter->displays = sources > 0;
    adapter->shows = adapter->ddi.present_display_only ||
                     (adapter->displays && !adapter->port->config.no_displays);
    if (sources > 0 && !adapter->ddi.present_display_only && adapter->port->config.no_displays)
        PORT_UNSERVED(adapter, "LIFE-069",
                      "the driver reports %u video present sources, but displays are switched off",
                      sources);
    if (reported > PORT_MAX_CHILDREN && adapter->shows)
        PORT_CANNOT("DISP-019", "the driver reports %u children; this host has room for %u",
                    reported, PORT_MAX_CHILDREN);
    if (reported > PORT_MAX_CHILDREN)
        PORT_REFUSE("LIFE-067", "the driver reports %u children", reported);
    return STATUS_SUCCESS;
}

static NTSTATUS start_device(struct port_adapter *adapter, ULONG *sources, ULONG *children)
{
    DXGK_START_INFO *info;
    NTSTATUS status;

    *sources = *children = MARKER;
    ddi_loan_finish(&adapter->start_info); /* of an earlier start */
    ddi_loan_finish(&adapter->start_interface);
    if (!ddi_loan_init(&adapter->start_info, sizeof(*info), "LIFE-061", "DXGK_START_INFO",
                       " of StartDevice, which has returned") ||
        !ddi_loan_init(&adapter->start_interface, sizeof(DXGKRNL_INTERFACE), "LIFE-061",
                       "DXGKRNL_INTERFACE", " of StartDevice, which has returned"))
        return STATUS_NO_MEMORY;
    port_interface_fill(adapter, adapter->start_interface.address,
                        port_version_of_host(adapter->port));
    info = adapter->start_info.address;
    info->RequiredDmaQueueEntry = adapter->port->config.required_dma_queue_entry;
    info->AdapterGuid = adapter->guid;
    info->AdapterLuid = adapter->luid;
    status = ddi_start_device(&adapter->ddi, info, adapter->start_interface.address, sources,
                              children);
    ddi_loan_revoke(&adapter->start_info);
    ddi_loan_revoke(&adapter->start_interface);
    return status;
}

/* ---- StopDevice ---- */

/* LIFE-171: a stopped device must raise no interrupt and access no memory. */
static void watch_silence(struct port_adapter *adapter, uint64_t interrupts, uint64_t dma)
{
    if (sim_current->thread)
        sim_block(sim_now() + SILENCE_NS, NULL);
    if (bus_device_interrupts(adapter->device) != interrupts)
        VIOLATION("LIFE-171", "the device raised an interrupt after StopDevice");
    if (bus_device_dma_bytes(adapter->device) != dma)
        VIOLATION("LIFE-171", "the device accessed memory after StopDevice");
}

/* After StopDevice returned (with any status), or StartDevice failed: report what the driver still
 * holds, and take back what it cannot have use for in RemoveDevice. */
static void after_stop(struct port_adapter *adapter, const char *when)
{
    port_interrupts_disconnect(adapter);
    adapter->state = PORT_STOPPED;
    port_feature_interface_end(adapter);
    port_services_revoke(adapter);
    port_maps_stopped(adapter, when); /* LIFE-101 */
    port_resources_revoke(adapter);
    physical_adapter_set_started(port_adapter_physical(adapter), false);
    if (!adapter->ddi.gone) /* else the driver could not give anything back */
        physical_adapter_report_leaks(port_adapter_physical(adapter)); /* PHYS-022 */
}

static void stop_driver(struct port_adapter *adapter, bool stopped)
{
    uint64_t interrupts, dma;

    if (!stopped) {
        NTSTATUS status = ddi_stop_device(&adapter->ddi);

        if (!NT_SUCCESS(status) && !adapter->ddi.gone)
            VIOLATION("LIFE-170", "StopDevice returned %s", nt_status_text(status).text);
    }
    interrupts = bus_device_interrupts(adapter->device);
    dma = bus_device_dma_bytes(adapter->device);
    after_stop(adapter, "after StopDevice");
    watch_silence(adapter, interrupts, dma);
}

void port_stop(struct port_adapter *adapter)
{
    sim_assert_passive();
    adapter->open = false;
    port_exclude_wait(adapter);
    port_power_up(adapter);
    if (adapter->client_references && adapter->port->end_clients && !sim_current->stopped)
        adapter->port->end_clients(adapter->port->end_clients_context, adapter); /* LIFE-168 */
    port_power_stopping(adapter);
    port_isolate_stopping(adapter);
    port_last_screen_end(adapter);
    port_display_stop(adapter, port_post_is_released(adapter));
    port_managers_destroy(adapter); /* LIFE-167 */
    port_tell_stop(adapter);
    port_power_components_stop(adapter);
    stop_driver(adapter, port_post_release(adapter));
}

void port_start_forget(struct port_adapter *adapter)
{
    port_segments_forget(adapter);
    port_children_forget(adapter);
    port_components_forget(adapter);
}

/* ---- the sequence ---- */

/* Resources, interrupts and StartDevice; a failure leaves none of them. */
static NTSTATUS start_driver(struct port_adapter *adapter, ULONG *sources, ULONG *children)
{
    NTSTATUS status = port_resources_create(adapter);

    if (NT_SUCCESS(status)) {
        status = port_feature_interface_begin(adapter);
        if (!NT_SUCCESS(status))
            port_resources_revoke(adapter);
    }
    if (!NT_SUCCESS(status)) {
        port_cause_of_failure(adapter, status);
        return status;
    }
    bus_device_on_fault(adapter->device, port_dma_fault, adapter);
    physical_adapter_set_started(port_adapter_physical(adapter), true);
    adapter->state = PORT_STARTING;
    port_interrupts_connect(adapter); /* LIFE-066 */
    status = start_device(adapter, sources, children);
    if (!NT_SUCCESS(status)) {
        port_cause_of_failure(adapter, status);
        port_post_start_failed(adapter, status);
        verify_set_undoing(verify_current, true);
        after_stop(adapter, "after a StartDevice that failed"); /* LIFE-070: no StopDevice */
        return status;
    }
    port_boot_picture_check(adapter);
    adapter->state = PORT_STARTED;
    return STATUS_SUCCESS;
}

/* PRES-258: a display-only driver, with the same resources; what the host knows of it stays. On the
 * display worker. */
static NTSTATUS start_again(struct port_adapter *adapter)
{
    ULONG sources, children;

    stop_driver(adapter, false);
    port_post_restarting(adapter);
    return start_driver(adapter, &sources, &children);
}

/* DISP-011, DISP-170: the same for a display-only driver, which is asked about nothing but displays
 * and power, and has no memory and no nodes to manage. */
static NTSTATUS complete_display_start(struct port_adapter *adapter, ULONG sources, ULONG reported)
{
    ULONG children = 0;
    NTSTATUS status = check_outputs(adapter, sources, reported, &children);

    sources = sources == MARKER ? 0 : sources;
    if (NT_SUCCESS(status))
        status = port_children_query_relations(adapter, children);
    if (NT_SUCCESS(status))
        status = port_outputs_check(adapter, sources);
    if (NT_SUCCESS(status))
        status = port_display_caps_query(adapter);
    if (NT_SUCCESS(status) && adapter->caps.driver.SupportRuntimePowerManagement)
        status = port_components_query(adapter);
    if ((NT_SUCCESS(status) || status == STATUS_NOT_SUPPORTED) && adapter->refused)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    if (NT_SUCCESS(status))
        status = port_power_components_start(adapter);
    adapter->display.start_again = start_again;
    if (NT_SUCCESS(status)) {
        port_last_screen_begin(adapter);
        status = port_display_start(adapter, sources);
    }
    if (NT_SUCCESS(status)) {
        port_etw_tell(adapter);
        port_tell_start(adapter);
    }
    return status;
}

/* DISP-170: what a full driver with displays is asked when its memory is managed. */
static NTSTATUS light(struct port_adapter *adapter, ULONG sources)
{
    NTSTATUS status = port_integrated_query(adapter);

    if ((NT_SUCCESS(status) || status == STATUS_NOT_SUPPORTED) && adapter->refused)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    if (!NT_SUCCESS(status))
        return status;
    port_last_screen_begin(adapter);
    status = port_display_start(adapter, sources);
    if (NT_SUCCESS(status))
        port_etw_tell(adapter);
    return status;
}

/* What else is wrong belongs to the list of what refuses the adapter, too. */
static void find_more(struct port_adapter *adapter)
{
    port_managers_check(adapter);
    if (adapter->shows)
        (void)port_integrated_query(adapter);
}

/* LIFE-072: what follows once StartDevice has succeeded. */
static NTSTATUS complete_start(struct port_adapter *adapter, ULONG sources, ULONG reported)
{
    ULONG children = 0;
    NTSTATUS status = check_outputs(adapter, sources, reported, &children);

    sources = sources == MARKER ? 0 : sources;
    if (NT_SUCCESS(status))
        status = port_children_query_relations(adapter, children);
    if (NT_SUCCESS(status) && adapter->shows)
        status = port_outputs_check(adapter, sources);
    if (NT_SUCCESS(status))
        status = port_query_order_after_start(adapter);
    if (NT_SUCCESS(status) && adapter->shows)
        status = port_display_caps_check(adapter);
    if (NT_SUCCESS(status)) {
        if (!adapter->shows)
            port_children_query(adapter);
        port_interrupt_control_probe(adapter);
    }
    if (NT_SUCCESS(status) && (adapter->refused || adapter->unserved))
        find_more(adapter);
    if (adapter->unserved)
        return STATUS_NOT_SUPPORTED;
    if ((NT_SUCCESS(status) || status == STATUS_NOT_SUPPORTED) && adapter->refused)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    if (NT_SUCCESS(status) && !adapter->shows)
        port_etw_tell(adapter);
    if (NT_SUCCESS(status))
        status = port_isolate_at_start(adapter);
    if (NT_SUCCESS(status))
        status = port_power_components_start(adapter);
    if (NT_SUCCESS(status)) {
        port_tell_start(adapter);
        status = port_managers_create(adapter);
    }
    return NT_SUCCESS(status) && adapter->shows ? light(adapter, sources) : status;
}

static NTSTATUS prepare_start(struct port_adapter *adapter)
{
    NTSTATUS status = link_device(adapter);

    if (!NT_SUCCESS(status))
        return status;
    exchange_pre_start_info(adapter);
    if (!adapter->ddi.present_display_only)
        status = port_query_order_before_start(adapter);
    return NT_SUCCESS(status) ? port_domain_create(adapter) : status;
}

/* Log what this host lacks for a driver of WDDM 1.x: each missing ability once. */
static void tell_what_is_absent(struct port_adapter *adapter)
{
    bool told[VERIFY_MAX_ABSENT] = {false};
    char text[768] = "";
    size_t used = 0;

    for (size_t i = 0; i < verify_rules_count && used < sizeof(text); i++) {
        const struct verify_rule *rule = &verify_rules[i];

        if (!rule->absent || !rule->since_1x || told[rule->absent])
            continue;
        told[rule->absent] = true;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%s)", used ? ", " : "",
                                 verify_absent[rule->absent], rule->id);
    }
    if (used)
        port_machine_log(adapter->port, "%s: a driver of WDDM 1.x; not in force yet: %s",
                         adapter->name, text);
}

static NTSTATUS start(struct port_adapter *adapter)
{
    bool again =
        port_adapter_domain(adapter) !=
        NULL; /* a restart: the domain and the answers before the first start stay (IOMMU-003) */
    ULONG sources, children;
    NTSTATUS status;

    sim_assert_passive();
    adapter->refused = adapter->unserved = adapter->domain.settled = false;
    adapter->displays = adapter->shows = false;
    adapter->ddi.failed_entry = NULL;
    status = again ? STATUS_SUCCESS : prepare_start(adapter);
    if (!NT_SUCCESS(status))
        port_cause_of_failure(adapter, status);
    else
        status = start_driver(adapter, &sources, &children);
    if (!NT_SUCCESS(status))
        return status;
    port_power_started(adapter);
    status = adapter->ddi.present_display_only ? complete_display_start(adapter, sources, children)
                                               : complete_start(adapter, sources, children);
    if (!NT_SUCCESS(status)) {
        port_cause_of_failure(adapter, status);
        verify_set_undoing(verify_current, true);
        port_stop(adapter); /* LIFE-071 */
    } else if (!again && !adapter->ddi.present_display_only &&
               port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        tell_what_is_absent(adapter);
    return status;
}

NTSTATUS port_start(struct port_adapter *adapter)
{
    struct refusal refusal; /* keeps the reason for the cause */
    NTSTATUS status;

    refusal_begin(&refusal);
    status = start(adapter);
    refusal_drop(&refusal);
    adapter->open = NT_SUCCESS(status);
    return status;
}
