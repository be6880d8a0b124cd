/* SPDX-License-Identifier: MIT */
/* The device's domain where something is missing or fails: choice of the mode, reach, put-off isolation, what is held. */
#include "bus/dma.h"
#include "nt/cm/registry.h"
#include "port/support/admission.h"
#include "ram/ram.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 1000000ull

static const struct probe_options present = {.port = {.iommu_present = true}};
static const struct probe_options remapped = {.port = {.iommu = IOMMU_REMAP}};

static enum iommu_mode mode_of(const struct probe *p)
{
    return port_adapter_dma_mode(p->adapter[0]);
}

/* ---- the mode ---- */

static void sees_half(struct probe *p)
{
    p->memory.HighestVisibleAddress.QuadPart = (32ll << 20) - 1;
}

TEST(memory_out_of_sight)
{
    struct probe *p;

    DECLINED("CAPS-116", sees_half(p));
    p = probe_create(NULL);
    sees_half(p);
    CHECK(IS(probe_start(p), STATUS_NOT_SUPPORTED) &&
          probe_said(p, "CAPS-116", "there is no IOMMU"));
    probe_destroy(p);
    p = probe_create(&present);
    sees_half(p);
    p->iommu.DmaRemappingSupported = 0;
    CHECK(IS(probe_start(p), STATUS_NOT_SUPPORTED) &&
          probe_said(p, "CAPS-116", "the driver does not support DMA remapping"));
    probe_destroy(p);
    p = probe_create(&present); /* all of it, to the last byte */
    p->memory.HighestVisibleAddress.QuadPart = (64ll << 20) - 1;
    CHECK(NT_SUCCESS(probe_start(p)) && mode_of(p) != IOMMU_REMAP);
    probe_destroy(p);
    p = probe_create(&present);
    p->memory.HighestVisibleAddress.QuadPart = (64ll << 20) - 2;
    CHECK(NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_REMAP);
    probe_destroy(p);
}

/* What is no number says nothing. */
TEST(an_opt_in_is_a_number)
{
    static const char key[] =
        "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe\\Parameters";
    const uint64_t two = 2;
    struct probe *p = probe_create(&present);

    sees_half(p);
    CHECK(nt_registry_set(key, "DmaRemappingCompatible", REG_BINARY, &two, sizeof(two)));
    CHECK_RULE("IOMMU-028", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_REMAP &&
                                probe_rule(p, "IOMMU-028") == 0);
    probe_destroy(p);
}

/* ---- reach ---- */

/* The device is narrower than the driver says: what is reserved beyond it cannot be mapped. */
TEST(a_narrow_device)
{
    static const char *const bits[][2] = {{"dma_bits=33", NULL}, {"dma_bits=34", NULL}};

    for (unsigned i = 0; i < 2; i++) {
        struct probe_options options = remapped;
        struct probe *p;

        options.device = bits[i];
        p = probe_create(&options);
        p->reserved_ranges = 1;
        p->reserved[0].BaseAddress.QuadPart = 1ll << 33;
        p->reserved[0].NumberOfBytes.QuadPart = 4096;
        p->memory.HighestVisibleAddress.QuadPart = (1ll << 40) - 1;
        CHECK(IS(probe_start(p), i ? STATUS_SUCCESS : STATUS_NO_MEMORY));
        probe_destroy(p);
    }
}

/* ---- what certification would say ---- */

static struct probe *newer(UINT claimed)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0};
    struct probe *p = probe_create(&options);

    p->caps.WDDMVersion = p->device_wddm = (DXGK_WDDMVERSION)claimed;
    p->iommu.DmaRemappingSupported = 0;
    return p;
}

TEST(adapters_without_memory_need_not_remap)
{
    struct probe *p = newer(DXGKDDI_WDDMv3_0);

    p->segment[0] = p->segment[1];
    p->segments = 1;
    for (unsigned i = 0; i < 8; i++)
        p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
    CHECK_RULE("IOMMU-027", NT_SUCCESS(probe_start(p)) && probe_rule(p, "IOMMU-027") == 0);
    probe_destroy(p);
    p = newer(DXGKDDI_WDDMv2_9); /* built with later headers */
    CHECK_RULE("IOMMU-027", NT_SUCCESS(probe_start(p)) && probe_rule(p, "IOMMU-027") == 0);
    probe_destroy(p);
    p = newer(DXGKDDI_WDDMv3_0);
    CHECK_RULE("IOMMU-027", NT_SUCCESS(probe_start(p)) && probe_rule(p, "IOMMU-027") == 1);
    probe_destroy(p);
}

/* ---- isolation ---- */

static void modes_body(struct probe *p)
{
    struct port_adapter *a = p->adapter[0];

    CHECK(IS(port_adapter_set_dma_mode(a, IOMMU_OFF), STATUS_SUCCESS) &&
          probe_rule(p, "IOMMU-005") == 0);
    CHECK_RULE("IOMMU-003/b", IS(port_adapter_set_dma_mode(a, IOMMU_REMAP), STATUS_NOT_SUPPORTED) &&
                                  probe_rule(p, "IOMMU-005") == 1);
    CHECK(IS(port_adapter_set_power(a, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-064/c", IS(port_adapter_set_dma_mode(a, IOMMU_ISOLATION), STATUS_PENDING));
    bus_device_iommu(p->device[0])->fail_attaches = 1;
    CHECK(IS(port_adapter_set_power(a, PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK(mode_of(p) == IOMMU_OFF && probe_rule(p, "IOMMU-064") == 1 &&
          probe_record(p, "IOMMU-064")->severity == VERIFY_WARNING &&
          probe_said(p, "IOMMU-064", "put off until D0, failed with"));
    /* it is not tried again by itself */
    CHECK(IS(port_adapter_set_power(a, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS) &&
          IS(port_adapter_set_power(a, PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK(mode_of(p) == IOMMU_OFF && probe_count(p, PROBE_BeginExclusiveAccess) == 1);
    CHECK(IS(port_adapter_set_dma_mode(a, IOMMU_ISOLATION), STATUS_SUCCESS) &&
          mode_of(p) == IOMMU_ISOLATION);
    CHECK(IS(port_adapter_set_dma_mode(a, IOMMU_ISOLATION), STATUS_SUCCESS) &&
          probe_count(p, PROBE_BeginExclusiveAccess) == 2);
    CHECK(IS(port_adapter_create_secure_vm(a), STATUS_SUCCESS));
}

TEST(isolation_that_was_put_off_can_fail)
{
    probe_end(probe_started(&present), modes_body);
}

static void without_iommu_body(struct probe *p)
{
    CHECK(IS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_ISOLATION), STATUS_NOT_SUPPORTED) &&
          probe_count(p, PROBE_BeginExclusiveAccess) == 0);
}

TEST(there_is_no_isolation_without_iommu)
{
    probe_end(probe_started(NULL), without_iommu_body);
}

static UINT isolation_inside;

static void note_isolation(struct probe *p, struct probe_call *call)
{
    (void)call;
    isolation_inside = port_adapter_isolation(port_adapter_first(p->port));
}

TEST(it_is_attached_when_it_is)
{
    const struct probe_options options = {.port = {.iommu_present = true, .iommu_flags = 0x07}};
    struct probe *p = probe_create(&options);

    p->before[PROBE_BeginExclusiveAccess] = note_isolation;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(isolation_inside == (PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS) &&
          port_adapter_isolation(p->adapter[0]) ==
              (PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED));
    probe_destroy(p);
}

/* ---- deferred calls in the window ---- */

static size_t dpcs_in_window;
static BOOLEAN queued;

static void queue_in_window(struct probe *p)
{
    size_t before;

    probe_sleep(MS);
    before = probe_count(p, PROBE_DpcRoutine);
    queued = p->state[0].dxgk.DxgkCbQueueDpc(p->state[0].dxgk.DeviceHandle);
    probe_sleep(MS);
    dpcs_in_window = probe_count(p, PROBE_DpcRoutine) - before;
}

static void begin_access(struct probe *p, struct probe_call *call)
{
    (void)call;
    bus_device_iommu(p->device[0])->change_ns = 20 * MS;
    sim_thread_release(probe_thread(p, probe_process(p, "actor"), "actor", queue_in_window));
}

static void end_access(struct probe *p, struct probe_call *call)
{
    (void)call;
    bus_device_iommu(p->device[0])->change_ns = 0;
    dpcs_in_window += probe_count(p, PROBE_DpcRoutine); /* none yet at all */
}

static void window_body(struct probe *p)
{
    probe_forget(p);
    CHECK(IS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_ISOLATION), STATUS_SUCCESS));
    probe_sleep(5 * MS);
    CHECK_RULE("IOMMU-061/a", queued && dpcs_in_window == 0 &&
                                  probe_count(p, PROBE_DpcRoutine) == 1 &&
                                  probe_nth(p, PROBE_DpcRoutine, 0)->order >
                                      probe_nth(p, PROBE_EndExclusiveAccess, 0)->order);
}

TEST(deferred_calls_wait_for_the_end_of_the_window)
{
    struct probe *p = probe_started(&present);

    dpcs_in_window = 0;
    p->after[PROBE_BeginExclusiveAccess] = begin_access;
    p->before[PROBE_EndExclusiveAccess] = end_access;
    probe_end(p, window_body);
}

/* The first switch fails, the second one does not: what was held in the first is over. */

static bool first_window;

static void act_in_window(struct probe *p)
{
    probe_sleep(MS);
    queued = p->state[0].dxgk.DxgkCbQueueDpc(p->state[0].dxgk.DeviceHandle);
    probe_device_raise(0, 0);
}

static void begin_again(struct probe *p, struct probe_call *call)
{
    (void)call;
    bus_device_iommu(p->device[0])->change_ns = 20 * MS;
    bus_device_iommu(p->device[0])->fail_attaches = first_window;
    if (first_window)
        sim_thread_release(probe_thread(p, probe_process(p, "actor"), "actor", act_in_window));
    first_window = false;
}

static void twice_body(struct probe *p)
{
    size_t isrs, dpcs;

    probe_forget(p);
    CHECK(!NT_SUCCESS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_ISOLATION)));
    probe_sleep(5 * MS);
    isrs = probe_count(p, PROBE_InterruptRoutine);
    dpcs = probe_count(p, PROBE_DpcRoutine);
    CHECK(isrs == 1 && dpcs == 1 && mode_of(p) == IOMMU_OFF);
    CHECK(IS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_ISOLATION), STATUS_SUCCESS));
    probe_sleep(5 * MS);
    CHECK_RULE("IOMMU-061/a", probe_count(p, PROBE_InterruptRoutine) == isrs &&
                                  probe_count(p, PROBE_DpcRoutine) == dpcs);
    bus_device_iommu(p->device[0])->change_ns = 0;
}

TEST(what_was_held_comes_once)
{
    struct probe *p = probe_started(&present);

    first_window = true;
    p->after[PROBE_BeginExclusiveAccess] = begin_again;
    probe_end(p, twice_body);
}

/* ---- gone while asleep ---- */

static void unplug_asleep(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK(IS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true), STATUS_SUCCESS));
}

TEST(a_device_that_went_asleep_is_not_woken)
{
    struct probe *p = probe_started(NULL);

    CHECK(probe_run(p, unplug_asleep) == SIM_DONE);
    CHECK(probe_stop(p) == 0);
    CHECK(probe_count(p, PROBE_SetPowerState) == 1);
    probe_destroy(p);
}
