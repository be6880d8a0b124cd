/* SPDX-License-Identifier: MIT */
/* How the DMA mode is chosen, and how isolation is switched on. */
#include "port/support/admission.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define TOP                ((64ll << 20) - 1) /* of the probe's RAM */

static const struct probe_options isolated = {.port = {.iommu = IOMMU_ISOLATION}};
static const struct probe_options remapped = {.port = {.iommu = IOMMU_REMAP}};

static const struct probe_options strict = {.strict = true, .port = {.iommu = IOMMU_ISOLATION}};

static enum iommu_mode mode_of(struct probe *p)
{
    return iommu_domain_mode(port_adapter_domain(p->adapter[0]));
}

static void no_remapping(struct probe *p)
{
    p->iommu.DmaRemappingSupported = 0;
}

/* ---- the two statements of a driver ---- */

TEST(both_statements_say_whether_isolation_is_supported)
{
    struct probe *p;

    ACCEPTED("IOMMU-011/a", no_remapping(p));
    ACCEPTED("IOMMU-011/a", no_remapping(p), p->iommu.IommuIsolationSupported = 0,
             p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0);
    EXPECTED("IOMMU-011/b", "CAPS-117", no_remapping(p), p->iommu.IommuIsolationSupported = 0);
    EXPECTED("CAPS-117/a", "CAPS-117", no_remapping(p), p->iommu.IommuIsolationSupported = 0);
    EXPECTED("CAPS-117/a", "CAPS-117", p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0);
    EXPECTED("IOMMU-013", "CAPS-117", p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0);
}

TEST(a_difference_in_what_is_required_is_told)
{
    for (unsigned side = 0; side < 2; side++)
        for (unsigned refuse = 0; refuse < 2; refuse++) {
            const struct probe_options options = {.port = {.iommu = IOMMU_ISOLATION},
                                                  .strict = refuse != 0};
            struct probe *p = probe_create(&options);

            p->iommu.IommuIsolationRequired = side == 0;
            p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = side == 1;
            CHECK_RULE("CAPS-117/b",
                       admission_expected(p, (NTSTATUS)probe_start(p), "CAPS-117",
                                          refuse ? ADMISSION_STRICT : ADMISSION_DEFAULT) &&
                           probe_count(p, PROBE_StopDevice) == refuse);
            probe_destroy(p);
        }
}

TEST(both_statements_say_whether_isolation_is_required)
{
    struct probe *p = probe_create(&isolated);

    p->iommu.IommuIsolationRequired = 1;
    CHECK_RULE("IOMMU-012", NT_SUCCESS(probe_start(p)) && probe_said(p, "CAPS-117", "Required"));
    probe_destroy(p);
}

TEST(what_is_required_is_supported)
{
    struct probe *p = probe_create(&isolated);

    p->iommu.IommuIsolationSupported = 0;
    p->iommu.IommuIsolationRequired = 1;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    CHECK_RULE("IOMMU-016/a", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION &&
                                  admission_reported(p, "IOMMU-016", VERIFY_WARNING, false));
    probe_destroy(p);
    p = probe_create(&strict);
    p->iommu.IommuIsolationSupported = 0;
    p->iommu.IommuIsolationRequired = 1;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    CHECK_RULE("IOMMU-016/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                  admission_reported(p, "IOMMU-016", VERIFY_ERROR, true));
    probe_destroy(p);
}

TEST(a_driver_without_iommu_caps_has_none_of_them)
{
    struct probe *p;

    REPORTED("IOMMU-010/b", "IOMMU-010", VERIFY_ERROR, p->iommu.Value |= 1u << 31);
    ACCEPTED("IOMMU-010/a", p->query_status[DXGKQAITYPE_IOMMU_CAPS] = STATUS_NOT_SUPPORTED,
             p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0);
}

TEST(remapping_needs_other_caps)
{
    struct probe *p;

    REPORTED("IOMMU-020/a", "IOMMU-020", VERIFY_ERROR, p->memory.HighestVisibleAddress.QuadPart = 0);
    for (unsigned i = 0; i < 2; i++) {
        p = probe_create(&remapped);
        if (i == 0) {
            p->memory.HighestVisibleAddress.QuadPart = 0;
        } else {
            p->iommu.IommuIsolationSupported = 0;
            p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
        }
        CHECK_RULE(i == 0 ? "IOMMU-020/a" : "IOMMU-020/b",
                   IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "IOMMU-020") == 1);
        probe_destroy(p);
    }
    REPORTED("IOMMU-020/b", "IOMMU-020", VERIFY_ERROR, p->iommu.IommuIsolationSupported = 0,
             p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0);
    REPORTED("IOMMU-021/b", "IOMMU-021", VERIFY_ERROR,
             p->caps.MemoryManagementCaps.MapAperture2Supported = 0);
}

/* ---- modes ---- */

TEST(isolation_is_switched_on_after_the_start)
{
    struct probe *p = probe_create(&isolated);
    const DXGKARG_BEGINEXCLUSIVEACCESS *begin;

    CHECK(NT_SUCCESS(probe_start(p)));
    begin = (const DXGKARG_BEGINEXCLUSIVEACCESS *)(uintptr_t)probe_nth(
                p, PROBE_BeginExclusiveAccess, 0)
                ->arg[1];
    CHECK_RULE("IOMMU-001/b", mode_of(p) == IOMMU_ISOLATION);
    CHECK_RULE("IOMMU-041/a", probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order >
                                  probe_nth(p, PROBE_StartDevice, 0)->order);
    CHECK_RULE("IOMMU-054/abc",
               probe_count(p, PROBE_BeginExclusiveAccess) == 1 &&
                   probe_count(p, PROBE_EndExclusiveAccess) == 1 &&
                   probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order <
                       probe_nth(p, PROBE_EndExclusiveAccess, 0)->order &&
                   probe_nth(p, PROBE_BeginExclusiveAccess, 0)->irql == PASSIVE_LEVEL &&
                   probe_nth(p, PROBE_EndExclusiveAccess, 0)->irql == PASSIVE_LEVEL &&
                   probe_nth(p, PROBE_BeginExclusiveAccess, 0)->arg[0] ==
                       (uint64_t)(uintptr_t)p->state[0].context &&
                   probe_nth(p, PROBE_EndExclusiveAccess, 0)->arg[0] ==
                       (uint64_t)(uintptr_t)p->state[0].context);
    CHECK(begin != NULL);
    CHECK(probe_stop(p) == 0);
    CHECK_RULE("IOMMU-064/b", probe_count(p, PROBE_BeginExclusiveAccess) == 1);
    probe_destroy(p);

    p = probe_create(NULL);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-001/a",
               mode_of(p) == IOMMU_OFF && probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    probe_destroy(p);

    p = probe_create(&remapped);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-001/c", mode_of(p) == IOMMU_REMAP);
    CHECK_RULE("IOMMU-002/b", mode_of(p) == IOMMU_REMAP);
    CHECK_RULE("IOMMU-003/c",
               IS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_OFF), STATUS_NOT_SUPPORTED) &&
                   mode_of(p) == IOMMU_REMAP);
    CHECK_RULE("IOMMU-003/d",
               IS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_ISOLATION), STATUS_NOT_SUPPORTED) &&
                   mode_of(p) == IOMMU_REMAP && probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    CHECK_RULE("IOMMU-026", mode_of(p) == IOMMU_REMAP);
    probe_destroy(p);
}

static bool argument_zero;

static void look_at_argument(struct probe *p, struct probe_call *call)
{
    static const DXGKARG_BEGINEXCLUSIVEACCESS begin;
    static const DXGKARG_ENDEXCLUSIVEACCESS end;

    (void)p;
    argument_zero = argument_zero && call->arg[1] &&
                    memcmp((const void *)(uintptr_t)call->arg[1],
                           call->ddi == PROBE_BeginExclusiveAccess ? (const void *)&begin
                                                                   : (const void *)&end,
                           call->ddi == PROBE_BeginExclusiveAccess ? sizeof(begin) : sizeof(end)) ==
                        0;
}

static void fail_busy(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_DEVICE_BUSY;
}

TEST(exclusive_access)
{
    struct probe *p = probe_create(&isolated);

    argument_zero = true;
    p->before[PROBE_BeginExclusiveAccess] = p->before[PROBE_EndExclusiveAccess] = look_at_argument;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-056", argument_zero);
    probe_destroy(p);

    p = probe_create(&isolated);
    p->after[PROBE_BeginExclusiveAccess] = fail_busy;
    CHECK_RULE("IOMMU-062/a", IS(probe_start(p), STATUS_DEVICE_BUSY) &&
                                  probe_count(p, PROBE_EndExclusiveAccess) == 0);
    probe_destroy(p);

    p = probe_create(&isolated);
    p->after[PROBE_EndExclusiveAccess] = fail_busy;
    CHECK_RULE("IOMMU-063/b", NT_SUCCESS(probe_start(p)) && probe_rule(p, "IOMMU-063") == 1 &&
                                  mode_of(p) == IOMMU_ISOLATION);
    probe_destroy(p);
}

static NTSTATUS outside;
static struct sim_thread *outsider;
static uint64_t outsider_order;

static void ask_from_outside(struct probe *p)
{
    DXGKARG_CREATEPROCESS args;

    memset(&args, 0, sizeof(args));
    outside = ddi_create_process(port_adapter_ddi(port_adapter_first(p->port)), &args);
}

static void start_outsider(struct probe *p, struct probe_call *call)
{
    (void)call;
    outsider = probe_thread(p, probe_process(p, "outsider"), "outsider", ask_from_outside);
    probe_sleep(1000000);
}

static void mark_end(struct probe *p, struct probe_call *call)
{
    (void)call;
    probe_sleep(1000000);
    outsider_order = p->calls;
}

static void wait_for_outsider(struct probe *p)
{
    (void)p;
    while (!sim_thread_ended(outsider))
        probe_sleep(1000000);
    sim_thread_release(outsider);
}

TEST(nobody_gets_in_between)
{
    struct probe *p = probe_create(&isolated);

    p->before[PROBE_BeginExclusiveAccess] = start_outsider;
    p->after[PROBE_EndExclusiveAccess] = mark_end;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, wait_for_outsider) == SIM_DONE && NT_SUCCESS(outside));
    for (size_t i = 0; i < probe_count(p, PROBE_CreateProcess); i++)
        CHECK_RULE("IOMMU-058", probe_nth(p, PROBE_CreateProcess, i)->order >= outsider_order);
    CHECK_RULE("THREAD-036", probe_nth(p, PROBE_EndExclusiveAccess, 0)->order ==
                                 probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order + 1);
    probe_destroy(p);
}

TEST(required_isolation)
{
    struct probe *p;

    DECLINED("IOMMU-014", no_remapping(p), p->iommu.IommuIsolationRequired = 1,
             p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1);
    p = probe_create(NULL);
    no_remapping(p);
    p->iommu.IommuIsolationRequired = 1;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    CHECK_RULE("IOMMU-014", IS(probe_start(p), STATUS_NOT_SUPPORTED) &&
                                probe_count(p, PROBE_StartDevice) == 0 &&
                                probe_rule(p, "IOMMU-014") == 1);
    probe_destroy(p);
    DECLINED("CAPS-066", no_remapping(p), p->iommu.IommuIsolationRequired = 1,
             p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1);
    p = probe_create(&isolated);
    p->iommu.IommuIsolationRequired = 1;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    CHECK_RULE("IOMMU-015/a", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION &&
                                  probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    probe_destroy(p);
    {
        /* A 2.7 driver says it in DXGK_DRIVERCAPS only. */
        const struct probe_options older = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_7,
                                            .port = {.iommu = IOMMU_ISOLATION}};
        const struct probe_options older_off = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_7};

        p = probe_create(&older);
        p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
        p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
        CHECK_RULE("IOMMU-015/b", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION &&
                                      probe_count(p, PROBE_BeginExclusiveAccess) == 1);
        CHECK_RULE("IOMMU-002/a", mode_of(p) == IOMMU_ISOLATION);
        probe_destroy(p);
        p = probe_create(&older_off);
        p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
        p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
        CHECK_RULE("CAPS-066",
                   IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "CAPS-066") == 1);
        probe_destroy(p);
    }
}

TEST(choice_of_remapping)
{
    struct probe *p;

    p = probe_create(&remapped); /* the device reaches only half of RAM */
    p->memory.HighestVisibleAddress.QuadPart = (32ll << 20) - 1;
    CHECK_RULE("CAPS-116", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_REMAP);
    CHECK_RULE("IOMMU-024/a", mode_of(p) == IOMMU_REMAP);
    probe_destroy(p);

    p = probe_create(&isolated);
    p->memory.HighestVisibleAddress.QuadPart = (32ll << 20) - 1;
    no_remapping(p);
    CHECK_RULE("CAPS-116", IS(probe_start(p), STATUS_NOT_SUPPORTED) &&
                               probe_count(p, PROBE_StartDevice) == 0 &&
                               probe_count(p, PROBE_RemoveDevice) == 1);
    CHECK_RULE("IOMMU-024/b", probe_count(p, PROBE_StartDevice) == 0);
    probe_destroy(p);

    p = probe_create(&isolated); /* equality is enough */
    p->memory.HighestVisibleAddress.QuadPart = TOP;
    CHECK_RULE("CAPS-116", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION);
    CHECK_RULE("IOMMU-025", mode_of(p) != IOMMU_REMAP);
    probe_destroy(p);

    p = probe_create(&isolated); /* only one of the two answers */
    p->query_status[DXGKQAITYPE_PHYSICAL_MEMORY_CAPS] = STATUS_NOT_SUPPORTED;
    CHECK_RULE("CAPS-115", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION);
    probe_destroy(p);
    p = probe_create(&remapped);
    p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
    CHECK_RULE("IOMMU-021/a", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                  probe_rule(p, "IOMMU-021") == 1);
    CHECK_RULE("SEG-080", probe_said(p, "IOMMU-021", "MapAperture2Supported"));
    probe_destroy(p);

    p = probe_create(&remapped);
    p->caps.MemoryManagementCaps.VirtualAddressingSupported =
        p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
    p->physical.Flags.GpuMmuSupported = 0;
    CHECK_RULE("IOMMU-022",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "IOMMU-022") == 1);
    probe_destroy(p);
}

TEST(without_a_limit_of_logical_addresses_the_other_one_holds)
{
    struct probe *p;

    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_PHYSICAL_MEMORY_CAPS] = STATUS_NOT_SUPPORTED;
    CHECK_RULE("IOMMU-009/a", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_OFF);
    probe_destroy(p);
    p = probe_create(&remapped);
    p->query_status[DXGKQAITYPE_PHYSICAL_MEMORY_CAPS] = STATUS_NOT_SUPPORTED;
    CHECK_RULE("IOMMU-009/a", IS(probe_start(p), STATUS_NOT_SUPPORTED));
    probe_destroy(p);
    for (unsigned beyond = 0; beyond < 2; beyond++) { /* the other limit holds */
        p = probe_create(NULL);
        p->memory.HighestVisibleAddress.QuadPart = 0;
        p->caps.HighestAcceptableAddress.QuadPart = beyond ? TOP - 1 : TOP;
        CHECK_RULE("IOMMU-009/b", beyond ? IS(probe_start(p), STATUS_NOT_SUPPORTED)
                                         : NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_OFF);
        probe_destroy(p);
    }
}

/* The last byte of RAM is enough. */
TEST(the_limit_of_the_device_may_be_the_top_of_ram)
{
    struct probe *p = probe_create(&isolated);

    p->memory.HighestVisibleAddress.QuadPart = TOP;
    CHECK_RULE("IOMMU-024/c", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION);
    probe_destroy(p);
    for (unsigned with = 0; with < 2; with++) { /* one byte less is not */
        p = probe_create(&isolated);
        p->memory.HighestVisibleAddress.QuadPart = TOP - 1;
        p->iommu.DmaRemappingSupported = with & 1u;
        CHECK_RULE("IOMMU-024/c", IS(probe_start(p), with ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED) &&
                                      (!with || mode_of(p) == IOMMU_REMAP));
        probe_destroy(p);
    }
}

/* ---- what isolation asks the driver for ---- */

TEST(queries_of_isolation)
{
    static const DXGK_QUERYADAPTERINFOTYPE asked[] = {DXGKQAITYPE_FRAMEBUFFERSAVESIZE,
                                                      DXGKQAITYPE_HARDWARERESERVEDRANGES};
    struct probe *p;

    for (unsigned i = 0; i < 2; i++) {
        p = probe_create(NULL);
        p->query_status[asked[i]] = STATUS_NO_MEMORY;
        CHECK_RULE("CAPS-064", IS(probe_start(p), STATUS_NO_MEMORY));
        CHECK_RULE("IOMMU-017/c", probe_count(p, PROBE_RemoveDevice) == 1);
        probe_destroy(p);
        p = probe_create(NULL);
        no_remapping(p);
        p->iommu.IommuIsolationSupported = p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
        CHECK_RULE("CAPS-064", NT_SUCCESS(probe_start(p)) && probe_queries(p, asked[i]) == 0);
        probe_destroy(p);
    }
    p = probe_create(NULL);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE(
        "CAPS-118/a",
        probe_query(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, 0)->order ==
                probe_query(p, DXGKQAITYPE_PHYSICALADAPTERCAPS, 0)->order + 1 &&
            probe_query(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, 0)->query.InputDataSize == sizeof(UINT) &&
            *(UINT *)(void *)probe_query(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, 0)->query_input == 0);
    probe_destroy(p);
    EXPECTED("CAPS-118/b", "CAPS-118", p->save_bytes = 1);
    EXPECTED("CAPS-118/b", "CAPS-118", p->save_bytes = 4095);
    EXPECTED("CAPS-118/b", "CAPS-118", p->save_bytes = 4097);
    ACCEPTED("CAPS-118/b", p->save_bytes = 0);
    ACCEPTED("CAPS-118/b", p->save_bytes = 4096);
}

static void set_range(struct probe *p, uint64_t base, uint64_t bytes)
{
    p->reserved_ranges = 1;
    p->reserved[0].BaseAddress.QuadPart = (LONGLONG)base;
    p->reserved[0].NumberOfBytes.QuadPart = (LONGLONG)bytes;
}

TEST(reserved_ranges)
{
    const uint64_t beyond = 1ull << 38;
    struct phys_addr physical;
    struct probe *p;

    EXPECTED("CAPS-119/b", "CAPS-119", set_range(p, 1u << 20, 4096)); /* inside RAM */
    EXPECTED("CAPS-119/b", "CAPS-119", set_range(p, TOP + 1 - 4096, 4096));
    EXPECTED("CAPS-119/b", "CAPS-119", set_range(p, TOP + 1 - 4096, 8192));
    ACCEPTED("CAPS-119/b", set_range(p, TOP + 1, 4096));
    EXPECTED("CAPS-119/c", "CAPS-119", set_range(p, beyond, 0));
    EXPECTED("CAPS-119/d", "CAPS-119", set_range(p, ~0xFFFull, 8192));
    EXPECTED("CAPS-119/e", "CAPS-119", set_range(p, beyond, 2048));
    EXPECTED("CAPS-119/e", "CAPS-119", set_range(p, beyond, 4096 + 2048));
    EXPECTED("CAPS-119/e", "CAPS-119", set_range(p, beyond + 2048, 4096));
    p = probe_create(&isolated);
    set_range(p, beyond, 3 * 4096);
    CHECK_RULE("CAPS-119/a", NT_SUCCESS(probe_start(p)) &&
                                 probe_queries(p, DXGKQAITYPE_HARDWARERESERVEDRANGES) == 2);
    CHECK_RULE("CAPS-119/f",
               iommu_translate(port_adapter_domain(p->adapter[0]),
                               (struct logical_addr){beyond + 8192}, IOMMU_WRITE, &physical) &&
                   physical.value == beyond + 8192);
    CHECK(probe_stop(p) == 0);
    probe_destroy(p);
}

/* ---- the bus ---- */

TEST(refused_accesses_are_reported)
{
    struct probe *p = probe_create(&isolated);
    uint32_t value = 0;

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-072/ac", !probe_device_dma(0, 0x123000, &value, sizeof(value), false) &&
                                   value == ~0u && probe_rule(p, "IOMMU-072") == 1 &&
                                   probe_said(p, "IOMMU-072", "read logical address 0x123000"));
    probe_destroy(p);
}
