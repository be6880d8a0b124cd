/* SPDX-License-Identifier: MIT */
/* DxgkInitializeDisplayOnlyDriver: what of a display-only driver's table is taken, refused, and
 * never called. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define DARK               0x5A5A5A5A5A5A5A5Aull

static PDRIVER_OBJECT entry_object;
static NTSTATUS entry_status[8];

/* ---- who may call ---- */

static void call_badly(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KIRQL before;

    entry_object = object;
    entry_status[0] = DxgkInitializeDisplayOnlyDriver(NULL, path, &display.table);
    entry_status[1] = DxgkInitializeDisplayOnlyDriver(object, NULL, &display.table);
    entry_status[2] = DxgkInitializeDisplayOnlyDriver(object, path, NULL);
    CHECK(probe_rule(p, "LIFE-013") == 0);
    KeRaiseIrql(APC_LEVEL, &before);
    entry_status[3] = DxgkInitializeDisplayOnlyDriver(object, path, &display.table);
    KeLowerIrql(before);
}

static NTSTATUS (*register_driver)(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path);

/* What was registered is the driver's no more. */
static NTSTATUS register_and_overwrite(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    const NTSTATUS status = register_driver(p, object, path);

    memset(&display.table, 0x5A, sizeof(display.table));
    return status;
}

static void register_late(struct probe *p)
{
    UNICODE_STRING path = {0};

    CHECK_RULE("DISP-003", IS(DxgkInitializeDisplayOnlyDriver(entry_object, &path, &display.table),
                              STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "LIFE-015") == 1);
}

TEST(registers_inside_its_entry_only)
{
    const struct probe_options strict_level = {.strict = true};
    struct probe *p = display_create(NULL);

    display.in_entry = call_badly;
    register_driver = p->driver_entry;
    p->driver_entry = register_and_overwrite;
    /* the call at APC_LEVEL is reported, and carried out: the one that follows is the second */
    CHECK(IS(probe_start(p), STATUS_INVALID_DEVICE_REQUEST));
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("DISP-003", IS(entry_status[i], STATUS_INVALID_PARAMETER));
    CHECK_RULE("DISP-003", IS(entry_status[3], STATUS_SUCCESS) && probe_rule(p, "LIFE-013") == 1);
    probe_destroy(p);

    p = display_create(&strict_level);
    display.in_entry = call_badly;
    (void)probe_start(p);
    CHECK_RULE("DISP-003", IS(entry_status[3], STATUS_INVALID_DEVICE_REQUEST));
    probe_destroy(p);

    p = display_create(NULL);
    register_driver = p->driver_entry;
    p->driver_entry = register_and_overwrite;
    CHECK_RULE("DISP-003", IS(probe_start(p), STATUS_SUCCESS) && display_seen.commits == 1 &&
                               display_seen.visible[0]);
    CHECK(probe_run(p, register_late) == SIM_DONE);
    display_end(p);
}

/* ---- versions ---- */

TEST(versions_are_those_of_windows_from_8_on)
{
    static const UINT bad[] = {DXGKDDI_INTERFACE_VERSION_VISTA,
                               DXGKDDI_INTERFACE_VERSION_VISTA_SP1,
                               DXGKDDI_INTERFACE_VERSION_WIN7,
                               0x300D,
                               0x300F,
                               0xF0FF};
    const struct probe_options old_host = {
        .port.interface_version = DXGKDDI_INTERFACE_VERSION_WDDM2_0};
    struct probe *p;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        p = display_create(NULL);
        p->table.Version = bad[i];
        CHECK_RULE("DISP-004/a", IS(probe_start(p), STATUS_REVISION_MISMATCH) &&
                                     probe_rule(p, "DISP-004") == 1 && p->calls == 0);
        probe_destroy(p);
    }
    p = display_create(&old_host); /* a driver newer than the host */
    p->table.Version = DXGKDDI_INTERFACE_VERSION_WDDM2_1;
    CHECK_RULE("DISP-004/a", IS(probe_start(p), STATUS_REVISION_MISMATCH));
    probe_destroy(p);
}

static void fill_what_is_behind(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    (void)p;
    (void)object;
    (void)path;
    display.table.DxgkDdiPowerRuntimeSetDeviceHandle =
        (PDXGKDDI_POWERRUNTIMESETDEVICEHANDLE)(uintptr_t)DARK;
}

TEST(what_is_behind_the_table_of_windows_8_is_not_called)
{
    const struct probe_options windows_8 = {.version = DXGKDDI_INTERFACE_VERSION_WIN8};
    struct probe *p = display_create(&windows_8);

    display.in_entry = fill_what_is_behind;
    CHECK_RULE("DISP-004/b", IS(probe_start(p), STATUS_SUCCESS) && display_seen.commits == 1);
    CHECK(probe_stop(p) == 0 && probe_reports(p, VERIFY_ERROR) == 0);
    probe_destroy(p);
}

/* ---- one registration ---- */

static void register_twice(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry_status[0] = DxgkInitializeDisplayOnlyDriver(object, path, &display.table);
    entry_status[1] = DxgkInitialize(object, path, &p->table);
}

static NTSTATUS register_three_times(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry_status[2] = register_driver(p, object, path);
    return entry_status[0];
}

static NTSTATUS full_first(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry_status[0] = DxgkInitialize(object, path, &p->table);
    entry_status[1] = register_driver(p, object, path);
    return entry_status[0];
}

TEST(a_driver_is_of_one_kind)
{
    struct probe *p = display_create(NULL);

    register_driver = p->driver_entry;
    p->driver_entry = register_three_times;
    display.in_entry = register_twice;
    CHECK_RULE("DISP-005", IS(probe_start(p), STATUS_SUCCESS) &&
                               IS(entry_status[0], STATUS_SUCCESS) &&
                               IS(entry_status[1], STATUS_INVALID_DEVICE_REQUEST) &&
                               IS(entry_status[2], STATUS_INVALID_DEVICE_REQUEST));
    CHECK_RULE("DISP-005", display_seen.commits == 1); /* display-only as it was first */
    display_end(p);

    p = display_create(NULL);
    register_driver = p->driver_entry;
    p->driver_entry = full_first;
    (void)probe_start(p);
    CHECK_RULE("DISP-005", IS(entry_status[0], STATUS_SUCCESS) &&
                               IS(entry_status[1], STATUS_INVALID_DEVICE_REQUEST) &&
                               display_seen.commits == 0);
    probe_destroy(p);
}

/* ---- entries ---- */

static const struct required {
    size_t offset;
    const char *name;
    bool expected; /* the host can do without */
} required[] = {
#define ENTRY(name, expected)                                       \
    {                                                               \
        offsetof(KMDDOD_INITIALIZATION_DATA, name), #name, expected \
    }
    ENTRY(DxgkDdiAddDevice, false),
    ENTRY(DxgkDdiStartDevice, false),
    ENTRY(DxgkDdiStopDevice, false),
    ENTRY(DxgkDdiRemoveDevice, false),
    ENTRY(DxgkDdiResetDevice, true),
    ENTRY(DxgkDdiUnload, true),
    ENTRY(DxgkDdiSetPowerState, true),
    ENTRY(DxgkDdiQueryAdapterInfo, false),
    ENTRY(DxgkDdiQueryChildRelations, false),
    ENTRY(DxgkDdiQueryChildStatus, false),
    ENTRY(DxgkDdiQueryDeviceDescriptor, false),
    ENTRY(DxgkDdiIsSupportedVidPn, false),
    ENTRY(DxgkDdiRecommendFunctionalVidPn, true),
    ENTRY(DxgkDdiEnumVidPnCofuncModality, false),
    ENTRY(DxgkDdiSetVidPnSourceVisibility, false),
    ENTRY(DxgkDdiCommitVidPn, false),
    ENTRY(DxgkDdiUpdateActiveVidPnPresentPath, true),
    ENTRY(DxgkDdiPresentDisplayOnly, false),
#undef ENTRY
};
static const struct required *cleared;

static void clear_entry(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    (void)p;
    (void)object;
    (void)path;
    memset((char *)&display.table + cleared->offset, 0, sizeof(void *));
}

static void turn(struct probe *p)
{
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 1)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
}

TEST(entries_without_which_no_picture_comes_are_required)
{
    const struct probe_options strict = {.strict = true};

    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        struct probe *p = display_create(&strict);

        cleared = &required[i];
        display.in_entry = clear_entry;
        CHECK_RULE("DISP-006", IS(probe_start(p), STATUS_INVALID_PARAMETER) &&
                                   probe_rule(p, "DISP-006") == 1 &&
                                   probe_said(p, "DISP-006", cleared->name) && p->calls == 0);
        probe_destroy(p);

        p = display_create(NULL);
        display.in_entry = clear_entry;
        CHECK_RULE("DISP-006", IS(probe_start(p),
                                  cleared->expected ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER) &&
                                   probe_said(p, "DISP-006", cleared->name));
        if (cleared->expected)
            CHECK(probe_run(p, turn) == SIM_DONE && p->sim->stopped == false);
        display_end(p);
    }
}

static void clear_optional(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA *t = &display.table;

    (void)p;
    (void)object;
    (void)path;
    t->DxgkDdiDispatchIoRequest = NULL;
    t->DxgkDdiNotifyAcpiEvent = NULL;
    t->DxgkDdiQueryInterface = NULL;
    t->DxgkDdiControlEtwLogging = NULL;
    t->DxgkDdiSetPalette = NULL;
    t->DxgkDdiSetPointerPosition = NULL;
    t->DxgkDdiSetPointerShape = NULL;
    t->DxgkDdiEscape = NULL;
    t->DxgkDdiCollectDbgInfo = NULL;
    t->DxgkDdiRecommendMonitorModes = NULL;
    t->DxgkDdiQueryVidPnHWCapability = NULL;
    t->DxgkDdiGetChildContainerId = NULL;
    t->DxgkDdiSetPowerComponentFState = NULL;
    t->DxgkDdiPowerRuntimeControlRequest = NULL;
    t->DxgkDdiNotifySurpriseRemoval = NULL;
    t->DxgkDdiPowerRuntimeSetDeviceHandle = NULL;
}

static void live(struct probe *p)
{
    turn(p);
    display_indicate(p, 0, false);
    display_indicate(p, 0, true);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalHibernation, true)));
}

TEST(all_other_entries_are_optional)
{
    struct probe *p = display_create(NULL);

    display.in_entry = clear_optional;
    CHECK_RULE("DISP-007", IS(probe_start(p), STATUS_SUCCESS) && display_seen.commits == 1 &&
                               probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(probe_run(p, live) == SIM_DONE);
    CHECK_RULE("DISP-007", !p->sim->stopped && display_seen.commits > 1);
    display_end(p);
}

/* ---- interrupts ---- */

static void raise_interrupt(struct probe *p)
{
    (void)p;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(1000000);
}

static const struct combination {
    bool control, scan_line, isr, dpc;
    const char *rule, *said;
} combinations[] = {
    {false, false, true, true, NULL, NULL},
    {true, true, true, true, NULL, NULL},
    {false, false, false, false, NULL, NULL},
    {false, false, true, false, "DISP-008", "DxgkDdiDpcRoutine is NULL"},
    {false, false, false, true, "DISP-008", "DxgkDdiInterruptRoutine is NULL"},
    {false, true, true, true, "DISP-010", "DxgkDdiControlInterrupt is NULL"},
    {true, false, true, true, "DISP-010", "DxgkDdiGetScanLine is NULL"},
    {true, true, false, false, "DISP-010", "DxgkDdiInterruptRoutine is NULL"},
};

static struct probe *combine(const struct probe_options *options, const struct combination *c)
{
    struct probe *p = display_create(options);
    D3DKMDT_VIDEO_SIGNAL_INFO *signal = &display.target_mode[0].VideoSignalInfo;

    if (c->control && c->scan_line && c->isr) { /* else modes must not have them (PRES-195) */
        signal->VSyncFreq = (D3DDDI_RATIONAL){60, 1};
        signal->HSyncFreq = (D3DDDI_RATIONAL){60 * 768, 1};
        signal->PixelRate = (SIZE_T)60 * 768 * 1024;
    }
    probe_set_entry(p, PROBE_ControlInterrupt, c->control);
    probe_set_entry(p, PROBE_GetScanLine, c->scan_line);
    probe_set_entry(p, PROBE_InterruptRoutine, c->isr);
    probe_set_entry(p, PROBE_DpcRoutine, c->dpc);
    return p;
}

TEST(interrupt_entries_go_together)
{
    const struct probe_options strict = {.strict = true};

    for (size_t i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++) {
        const struct combination *c = &combinations[i];
        const bool connected = c->isr && c->dpc;
        struct probe *p = combine(&strict, c);
        const NTSTATUS status = probe_start(p);

        if (!c->rule)
            CHECK_RULE("DISP-009", IS(status, STATUS_SUCCESS));
        else if (strcmp(c->rule, "DISP-008") == 0)
            CHECK_RULE("DISP-008/a",
                       IS(status, STATUS_INVALID_PARAMETER) && probe_said(p, "DISP-008", c->said));
        else
            CHECK_RULE("DISP-010",
                       IS(status, STATUS_INVALID_PARAMETER) && probe_said(p, "DISP-010", c->said));
        display_end(p);

        p = combine(NULL, c); /* else it goes on, and what is superfluous is not used */
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK((c->rule ? probe_rule(p, c->rule) : probe_reports(p, VERIFY_WARNING)) ==
              (c->rule != NULL));
        CHECK(probe_run(p, raise_interrupt) == SIM_DONE);
        if (!connected)
            CHECK_RULE("DISP-008/b", probe_count(p, PROBE_InterruptRoutine) == 0 &&
                                         probe_count(p, PROBE_DpcRoutine) == 0);
        else
            CHECK(probe_count(p, PROBE_InterruptRoutine) > 0);
        CHECK_RULE("DISP-009", display_modes(p)->vsync_control == (i == 1));
        display_end(p);
    }
}
