/* SPDX-License-Identifier: MIT */
/* Arguments that callbacks refuse: levels, pointers, sizes, numbers; and what is left then. */
#include "port/running/acpi.h"
#include "bus/window.h"
#include "port/support/probe.h"
#include "sim/machine.h"
#include "sim/sim.h"

#include <string.h>

#include <acpiioct.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define NOWHERE            ((void *)(uintptr_t)0x1000)
#define BAD_HANDLE         ((HANDLE)(uintptr_t)0x1234567)

/* ---- mappings ---- */

static NTSTATUS map(struct probe *p, bool ports, ULONG bytes, MEMORY_CACHING_TYPE cache, PVOID *out)
{
    PHYSICAL_ADDRESS start = probe_bar(p, 0);

    if (ports)
        start = A->device.TranslatedResourceList->List[0]
                    .PartialResourceList.PartialDescriptors[2]
                    .u.Port.Start;
    return DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, start, bytes, ports, FALSE, cache, out);
}

static void mappings_body(struct probe *p)
{
    uint64_t before = bus_mappings(p->bus);

    for (unsigned ports = 0; ports < 2; ports++) {
        PVOID mapped = NOWHERE;

        CHECK_RULE("LIFE-098/c",
                   IS(map(p, ports, 4, MmNotMapped, &mapped), STATUS_INVALID_PARAMETER) &&
                       mapped == NULL);
        CHECK_RULE("LIFE-098/c",
                   IS(map(p, ports, 4, (MEMORY_CACHING_TYPE)(MmWriteCombined + 1), &mapped),
                      STATUS_INVALID_PARAMETER));
        CHECK_RULE("LIFE-098/b",
                   IS(map(p, ports, 0, MmNonCached, &mapped), STATUS_INVALID_PARAMETER));
        CHECK(strstr(probe_refused_text,
                     ports ? "0 ports with cache type 0" : "0 bytes with cache type 0"));
        CHECK_RULE("PHYS-036/a", IS(map(p, ports, 4, MmNonCached, NULL), STATUS_INVALID_PARAMETER));
        CHECK(IS(map(p, ports, 4, MmNonCached, NOWHERE), STATUS_INVALID_PARAMETER));
        CHECK(bus_mappings(p->bus) == before);
        CHECK(IS(map(p, ports, 4, MmNonCached, &mapped), STATUS_SUCCESS) && mapped != NULL);
        CHECK(bus_mappings(p->bus) == before + !ports);
        CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped), STATUS_SUCCESS));
        CHECK(bus_mappings(p->bus) == before);
        mapped = NOWHERE;
        p->sim->heap.fail_at = p->sim->heap.requests + 1;
        CHECK_RULE("PHYS-036/b",
                   IS(map(p, ports, 4, MmNonCached, &mapped), STATUS_INSUFFICIENT_RESOURCES) &&
                       mapped == NULL);
        p->sim->heap.fail_at = 0;
        CHECK(bus_mappings(p->bus) == before);
    }
}

TEST(mappings)
{
    static const char *const ports[] = {"ports=256", NULL};
    const struct probe_options options = {.device = ports};

    probe_end(probe_started(&options), mappings_body);
}

/* ---- synchronized routines, notifications ---- */

static unsigned runs;

static BOOLEAN NTAPI count_run(PVOID context)
{
    CHECK(context == &runs);
    runs++;
    return TRUE;
}

static NTSTATUS synchronize(struct probe *p, HANDLE handle, ULONG message, PBOOLEAN result)
{
    (void)p;
    return DXGK.DxgkCbSynchronizeExecution(handle, count_run, &runs, message, result);
}

TEST_WITH(probe, synchronized_routines)
{
    BOOLEAN result = 0x5A;
    NTSTATUS status;
    KIRQL before;

    runs = 0;
    CHECK(IS(synchronize(p, BAD_HANDLE, 0, &result), STATUS_INVALID_PARAMETER) &&
          probe_rule(p, "LIFE-063") == 1);
    CHECK_RULE("THREAD-069",
               IS(synchronize(p, DXGK.DeviceHandle, 1, &result), STATUS_INVALID_PARAMETER));
    CHECK(strstr(probe_refused_text, "message 1 of 1"));
    CHECK(IS(synchronize(p, DXGK.DeviceHandle, 0, NULL), STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, NULL, NULL, 0, &result),
             STATUS_INVALID_PARAMETER));
    KeRaiseIrql(DISPATCH_LEVEL + 1, &before);
    status = synchronize(p, DXGK.DeviceHandle, 0, &result);
    KeLowerIrql(before);
    CHECK_RULE("THREAD-050",
               IS(status, STATUS_INVALID_DEVICE_REQUEST) && probe_rule(p, "THREAD-050") == 1);
    CHECK(runs == 0 && result == 0x5A);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    status = synchronize(p, DXGK.DeviceHandle, 0, &result);
    KeLowerIrql(before);
    CHECK(IS(status, STATUS_SUCCESS) && runs == 1 && result == TRUE);
    CHECK(IS(synchronize(p, DXGK.DeviceHandle, 0, NOWHERE), STATUS_INVALID_PARAMETER) && runs == 2);
}

static bool of_nobody;

static void notify_badly(struct probe *p, struct probe_call *call)
{
    call->answered = true;
    call->result = TRUE;
    DXGK.DxgkCbNotifyInterrupt(of_nobody ? BAD_HANDLE : DXGK.DeviceHandle, NULL);
}

static void raise_body(struct probe *p)
{
    for (of_nobody = false;; of_nobody = true) {
        probe_device_raise(0, 0);
        probe_sleep(1000000);
        if (of_nobody)
            break;
    }
    CHECK(probe_rule(p, "SUBMIT-059") == 1 && probe_said(p, "SUBMIT-059", "bad pointer"));
    CHECK(probe_rule(p, "LIFE-063") == 1);
    CHECK(probe_rule(p, "THREAD-061") == 0); /* it has not notified */
    DXGK.DxgkCbNotifyDpc(BAD_HANDLE);
    CHECK(probe_rule(p, "LIFE-063") == 2 && probe_rule(p, "THREAD-051") == 0);
    CHECK(!DXGK.DxgkCbQueueDpc(BAD_HANDLE) && probe_rule(p, "LIFE-063") == 3);
}

TEST(bad_notifications)
{
    struct probe *p = probe_started(NULL);

    p->before[PROBE_InterruptRoutine] = notify_badly;
    probe_end(p, raise_body);
}

/* ---- power ---- */

static NTSTATUS control(struct probe *p, const GUID *code, PSIZE_T returned)
{
    return DXGK.DxgkCbPowerRuntimeControlRequest(DXGK.DeviceHandle, (LPCGUID)(uintptr_t)code, NULL,
                                                 0, NULL, 0, returned);
}

static const GUID some_code = {.Data1 = 1};
static NTSTATUS early_control;
static SIZE_T early_returned;

static void control_early(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (probe_rule(p, "LIFE-159") > 0)
        return;
    early_returned = 77;
    early_control = control(p, &some_code, &early_returned);
}

static void control_body(struct probe *p)
{
    SIZE_T returned = 77;

    CHECK_RULE("LIFE-159", probe_rule(p, "LIFE-159") == 1 &&
                               IS(early_control, STATUS_NOT_SUPPORTED) && early_returned == 77 &&
                               probe_said(p, "LIFE-159", "outside POWER_MANAGEMENT_STARTED"));
    CHECK(IS(control(p, &some_code, &returned), STATUS_NOT_SUPPORTED) && returned == 0);
    CHECK(IS(control(p, &some_code, NULL), STATUS_NOT_SUPPORTED));
    CHECK(strstr(probe_refused_text, "no platform firmware"));
    returned = 77;
    CHECK(IS(control(p, NULL, &returned), STATUS_INVALID_PARAMETER) && returned == 77);
    CHECK(IS(control(p, &some_code, NOWHERE), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-159", probe_rule(p, "LIFE-159") == 1);
    CHECK(IS(DXGK.DxgkCbPowerRuntimeControlRequest(BAD_HANDLE, &some_code, NULL, 0, NULL, 0, NULL),
             STATUS_INVALID_PARAMETER));
    DXGK.DxgkCbSetPowerComponentActive(DXGK.DeviceHandle, 1); /* one above the last */
    CHECK_RULE("LIFE-160/c", probe_rule(p, "LIFE-160") == 1);
    DXGK.DxgkCbSetPowerComponentActive(DXGK.DeviceHandle, 0);
    CHECK_RULE("LIFE-160/b", probe_rule(p, "LIFE-160") == 1);
}

TEST(requests_to_the_platform)
{
    struct probe *p = probe_create(NULL);

    probe_use_components(p, 1);
    p->before[PROBE_PowerRuntimeControlRequest] = control_early;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, control_body);
}

/* ---- firmware and displays ---- */

static void firmware_body(struct probe *p)
{
    ACPI_EVAL_INPUT_BUFFER_COMPLEX input = {.Signature = 5};
    DXGK_DISPLAY_INFORMATION display;
    DXGK_DISPLAY_OWNERSHIP_FLAGS flags = {.Value = 3};

    CHECK(IS(DXGK.DxgkCbEvalAcpiMethod(DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID, NULL,
                                       sizeof(input), NULL, 0),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbEvalAcpiMethod(DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID, &input,
                                       sizeof(input) - 1, NULL, 0),
             STATUS_INVALID_PARAMETER) &&
          input.Signature == 5);
    CHECK(IS(DXGK.DxgkCbEvalAcpiMethod(DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID, NOWHERE,
                                       sizeof(input), NULL, 0),
             STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-104", IS(DXGK.DxgkCbEvalAcpiMethod(DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID,
                                                        &input, sizeof(input) + 1, NULL, 0),
                              STATUS_OBJECT_NAME_NOT_FOUND));
    CHECK(IS(DXGK.DxgkCbAcquirePostDisplayOwnership(DXGK.DeviceHandle, NULL),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbAcquirePostDisplayOwnership2(DXGK.DeviceHandle, NOWHERE, &flags),
             STATUS_INVALID_PARAMETER));
    memset(&display, 0x5A, sizeof(display));
    CHECK(IS(DXGK.DxgkCbAcquirePostDisplayOwnership(BAD_HANDLE, &display),
             STATUS_INVALID_PARAMETER) &&
          display.Width == 0x5A5A5A5A);
}

TEST(firmware_and_displays)
{
    const struct probe_options dark = {.port.no_displays = true};

    probe_end(probe_started(&dark), firmware_body);
}

/* ---- exclusion ---- */

static unsigned protected_calls;
static NTSTATUS protected_status;

static bool stays_raised;

static void NTAPI protected_callback(IN_CONST_PVOID context, PVOID own, NTSTATUS status)
{
    KIRQL before;

    CHECK(context == probe->state[0].context && own == &protected_calls);
    if (stays_raised)
        KeRaiseIrql(APC_LEVEL, &before);
    protected_calls++;
    protected_status = status;
}

static NTSTATUS exclude(struct probe *p, ULONG attributes)
{
    return DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, attributes, protected_callback,
                                           &protected_calls);
}

static NTSTATUS inside[2];

static void exclude_inside(struct probe *p, struct probe_call *call)
{
    inside[call->arg[0] != (uint64_t)(uintptr_t)A->context] = exclude(
        p, DXGK_EXCLUDE_CALL_SYNCHRONOUS);
}

static void exclusion_body(struct probe *p)
{
    unsigned failed = 0;

    protected_calls = 0;
    for (unsigned n = 1; n <= 8; n++) {
        NTSTATUS status;

        p->sim->heap.fail_at = p->sim->heap.requests + n;
        status = exclude(p, 0);
        p->sim->heap.fail_at = 0;
        probe_sleep(100000000);
        if (NT_SUCCESS(status))
            break;
        CHECK(IS(status, STATUS_NO_MEMORY) && protected_calls == 0);
        failed++;
    }
    CHECK(failed >= 2 && protected_calls == 1 && IS(protected_status, STATUS_SUCCESS));
    CHECK_RULE("LIFE-111/a", IS(DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, 0, NULL, NULL),
                                STATUS_INVALID_PARAMETER) &&
                                 IS(exclude(p, 0x80000000u), STATUS_INVALID_PARAMETER));
    /* inside a DDI of the other adapter that is alone there, it is not alone in this one */
    p->before[PROBE_NotifyAcpiEvent] = exclude_inside;
    CHECK(NT_SUCCESS(port_adapter_notify_mains(p->adapter[0], true)) &&
          NT_SUCCESS(port_adapter_notify_mains(p->adapter[1], true)));
    CHECK_RULE("LIFE-110/c", IS(inside[0], STATUS_SUCCESS) && protected_calls == 2);
    CHECK_RULE("LIFE-110/b", IS(inside[1], STATUS_INVALID_PARAMETER));
    CHECK(IS(exclude(p, DXGK_EXCLUDE_EVICT_ALL), STATUS_SUCCESS));
    probe_sleep(100000000);
    CHECK(protected_calls == 3 && probe_rule(p, "THREAD-006") == 0);
    stays_raised = true;
    CHECK(IS(exclude(p, 0), STATUS_SUCCESS));
    probe_sleep(100000000);
    stays_raised = false;
    CHECK_RULE("THREAD-006/b", protected_calls == 4 && probe_rule(p, "THREAD-006") == 1);
}

TEST(exclusions)
{
    const struct probe_options options = {.adapters = 2};
    struct probe *p = probe_create(&options);

    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, exclusion_body);
}

/* ---- hot update ---- */

static NTSTATUS save(struct probe *p, PDXGK_KSR_MEMORY_RANGE ranges, UINT count)
{
    DXGKARGCB_SAVEMEMORYFORHOTUPDATE args;

    memset(&args, 0, sizeof(args));
    args.NumDataMemoryRanges = count;
    args.pDataMemoryRanges = ranges;
    return DXGK.DxgkCbSaveMemoryForHotUpdate(DXGK.DeviceHandle, &args);
}

#define RANGE(page, pages)               \
    {                                    \
        (uint64_t)(pages) << 40 | (page) \
    }

TEST_WITH(probe, ranges_to_be_saved)
{
    DXGK_KSR_MEMORY_RANGE apart[] = {RANGE(103, 2), RANGE(100, 3), RANGE(90, 10)};
    DXGK_KSR_MEMORY_RANGE empty[] = {RANGE(100, 3), RANGE(101, 0)};
    DXGK_KSR_MEMORY_RANGE twice[] = {RANGE(200, 1), RANGE(102, 2), RANGE(100, 3)};
    DXGK_KSR_MEMORY_RANGE same[] = {RANGE(7, 1), RANGE(7, 1)};

    CHECK_RULE("PHYS-190/a", IS(save(p, apart, 3), STATUS_NOT_SUPPORTED) &&
                                 IS(save(p, apart, 1), STATUS_NOT_SUPPORTED) &&
                                 IS(save(p, empty, 2), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PHYS-189", probe_rule(p, "PHYS-189") == 0);
    CHECK_RULE("PHYS-189", IS(save(p, twice, 3), STATUS_NOT_SUPPORTED) &&
                               probe_rule(p, "PHYS-189") == 1 &&
                               probe_said(p, "PHYS-189", "physical page 0x66 is saved twice"));
    CHECK_RULE("PHYS-189",
               IS(save(p, same, 2), STATUS_NOT_SUPPORTED) && probe_rule(p, "PHYS-189") == 2);
    CHECK(IS(save(p, apart, 0), STATUS_INVALID_PARAMETER) &&
          strstr(probe_refused_text, "0 memory ranges, 1 to 65536 are possible"));
    CHECK(IS(save(p, apart, 65537), STATUS_INVALID_PARAMETER) &&
          strstr(probe_refused_text, "65537 memory ranges"));
    CHECK(IS(save(p, NOWHERE, 65536), STATUS_INVALID_PARAMETER) &&
          strstr(probe_refused_text, "cannot be read"));
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(IS(save(p, apart, 3), STATUS_INSUFFICIENT_RESOURCES));
    p->sim->heap.fail_at = 0;
    CHECK(IS(DXGK.DxgkCbSaveMemoryForHotUpdate(DXGK.DeviceHandle, NULL), STATUS_INVALID_PARAMETER));
}

/* ---- requests that are passed on ---- */

static const GUID some_interface = {.Data1 = 0x12345678};

static void passed_on_body(struct probe *p)
{
    INTERFACE interface = {.Size = sizeof(interface), .Version = 1};
    VIDEO_REQUEST_PACKET packet;

    memset(&packet, 0, sizeof(packet));
    interface.Size--;
    CHECK(IS(port_adapter_query_interface(p->adapter[0], &some_interface, &interface),
             STATUS_INVALID_PARAMETER));
    interface.Size++;
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(IS(port_adapter_query_interface(p->adapter[0], &some_interface, &interface),
             STATUS_NO_MEMORY));
    p->sim->heap.fail_at = 0;
    CHECK(probe_count(p, PROBE_QueryInterface) == 0);
    CHECK(IS(port_adapter_query_interface(p->adapter[0], &some_interface, &interface),
             STATUS_NOT_SUPPORTED) &&
          probe_count(p, PROBE_QueryInterface) == 1);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true)));
    CHECK(IS(port_adapter_dispatch_io(p->adapter[0], 0, &packet), STATUS_INVALID_DEVICE_STATE) &&
          probe_count(p, PROBE_DispatchIoRequest) == 0);
    CHECK(IS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true),
             STATUS_INVALID_DEVICE_STATE));
    CHECK(IS(port_adapter_restart(p->adapter[0]), STATUS_INVALID_DEVICE_STATE));
}

static void not_known(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_NOT_SUPPORTED;
}

TEST(requests_that_are_not_passed_on)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_QueryInterface, true);
    probe_set_entry(p, PROBE_DispatchIoRequest, true);
    p->before[PROBE_QueryInterface] = not_known;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, passed_on_body);
}
