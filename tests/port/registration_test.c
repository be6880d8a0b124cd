/* SPDX-License-Identifier: MIT */
/* DriverEntry, DxgkInitialize and its counterparts: what is accepted, refused, copied and reported. */
#include "nt/base/current.h"
#include "nt/cm/registry.h"
#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- DriverEntry ---- */

static struct {
    unsigned calls;
    uint8_t irql;
    const struct nt_process *process;
    PDRIVER_OBJECT object;
    PUNICODE_STRING path;
    char text[128];
    USHORT length;
    NTSTATUS opened;
    ULONG value, type;
    NTSTATUS initialized, again, typed;
} entry;

/* By the path as it is given, in the case it has. */
static NTSTATUS read_value(PUNICODE_STRING path, WCHAR *name_text, USHORT letters, ULONG *value)
{
    UNICODE_STRING name = {(USHORT)(letters * sizeof(WCHAR)), (USHORT)(letters * sizeof(WCHAR)),
                           name_text};
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;
    struct {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR more[16];
    } result;
    ULONG bytes;
    NTSTATUS status;

    InitializeObjectAttributes(&attributes, path, OBJ_KERNEL_HANDLE, NULL, NULL);
    status = ZwOpenKey(&key, KEY_READ, &attributes);
    if (!NT_SUCCESS(status))
        return status;
    status = ZwQueryValueKey(key, &name, KeyValuePartialInformation, &result, sizeof(result),
                             &bytes);
    if (NT_SUCCESS(status))
        memcpy(value, result.info.Data, sizeof(*value));
    ZwClose(key);
    return status;
}

static NTSTATUS record_entry(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    WCHAR setting[] = {'S', 'e', 't', 't', 'i', 'n', 'g'};
    WCHAR type[] = {'T', 'y', 'p', 'e'};

    entry.calls++;
    entry.irql = KeGetCurrentIrql();
    entry.process = nt_process_current();
    entry.object = object;
    entry.path = path;
    entry.length = path->Length;
    for (unsigned i = 0; i < path->Length / sizeof(WCHAR) && i < sizeof(entry.text) - 1; i++)
        entry.text[i] = (char)path->Buffer[i];
    entry.opened = read_value(path, setting, sizeof(setting) / sizeof(WCHAR), &entry.value);
    entry.typed = read_value(path, type, sizeof(type) / sizeof(WCHAR), &entry.type);
    return DxgkInitialize(object, path, &p->table);
}

TEST(entry_is_called_once_with_its_service_key)
{
    static const char path[] = "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe";
    const uint32_t setting = 7;
    struct probe *p = probe_create(NULL);

    memset(&entry, 0, sizeof(entry));
    p->driver_entry = record_entry;
    CHECK(nt_registry_set(path, "Setting", REG_DWORD, &setting, sizeof(setting)));
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("LIFE-006/a", entry.calls == 1 && probe_nth(p, PROBE_AddDevice, 0)->order == 0);
    CHECK_RULE("LIFE-006/b", entry.irql == PASSIVE_LEVEL && entry.process == nt_process_system());
    CHECK_RULE("LIFE-006/c", entry.object && entry.path);
    CHECK_RULE("LIFE-007", IS(entry.opened, STATUS_SUCCESS) && entry.value == 7);
    CHECK_RULE("LIFE-007", IS(entry.typed, STATUS_SUCCESS) && entry.type == 1);
    CHECK(strcmp(entry.text, path) == 0 && entry.length == strlen(path) * sizeof(WCHAR));
    probe_destroy(p);
}

static void read_kept_path(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    entry.length = entry.path->Length;
}

TEST(entry_argument_is_gone_afterwards)
{
    struct probe *p = probe_create(NULL);

    memset(&entry, 0, sizeof(entry));
    p->driver_entry = record_entry;
    p->before[PROBE_AddDevice] = read_kept_path;
    CHECK(IS(probe_start(p), STATUS_DEVICE_REMOVED));
    CHECK_RULE("LIFE-008/b",
               probe_rule(p, "LIFE-008") == 1 &&
                   probe_said(p, "LIFE-008", "read from the RegistryPath") &&
                   strcmp(probe_record(p, "LIFE-008")->where, "DxgkDdiAddDevice") == 0);
    CHECK_RULE(
        "LIFE-008/a",
        strncmp(entry.text, "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\", 51) == 0);
    probe_destroy(p);
}

static NTSTATUS write_around(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    struct {
        void *start;
        long offset;
    } at[] = {
        {path, sizeof(*path)},
        {path->Buffer, -1},
        {path->Buffer, path->MaximumLength},
        {object, sizeof(*object)},
        {object, -64},
        {object->DriverExtension, sizeof(DRIVER_EXTENSION) + 63},
    };

    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
        ((uint8_t *)at[i].start)[at[i].offset] ^= 1;
    return DxgkInitialize(object, path, &p->table);
}

TEST(writes_around_the_arguments_of_the_entry_are_reported)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = write_around;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("LIFE-191",
               probe_rule(p, "LIFE-191") == 6 &&
                   probe_said(p, "LIFE-191", "DriverEntry wrote outside of DRIVER_OBJECT") &&
                   probe_rule(p, "LIFE-008") == 0);
    probe_destroy(p);
}

static NTSTATUS fail_with_a_leak(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    (void)p;
    (void)object;
    (void)path;
    return ExAllocatePool2(POOL_FLAG_NON_PAGED, 100, 0x74736554u) ? STATUS_INSUFFICIENT_RESOURCES
                                                                  : STATUS_NO_MEMORY;
}

TEST(failed_entry_is_not_loaded)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = fail_with_a_leak;
    CHECK_RULE("LIFE-009/a",
               IS(probe_start(p), STATUS_INSUFFICIENT_RESOURCES) && p->calls == 0 && !p->driver);
    CHECK_RULE("LIFE-009/b", probe_rule(p, "NT-027") == 1);
    probe_destroy(p);
}

/* ---- what DriverEntry returns, and what DxgkInitialize had returned ---- */

static NTSTATUS success_whatever(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry.initialized = DxgkInitialize(object, path, &p->table);
    return STATUS_SUCCESS;
}

static NTSTATUS another_failure(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    (void)DxgkInitialize(object, path, &p->table);
    return STATUS_UNSUCCESSFUL;
}

static NTSTATUS no_initialize(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    (void)p;
    (void)object;
    (void)path;
    return STATUS_SUCCESS;
}

TEST(status_of_initialize_is_passed_on)
{
    const struct probe_options failing = {.port = {.initialize_failure = STATUS_NO_MEMORY}};
    struct probe *p = probe_create(&failing);

    CHECK_RULE("LIFE-012", IS(probe_start(p), STATUS_NO_MEMORY) && probe_rule(p, "LIFE-010") == 0);
    probe_destroy(p);

    p = probe_create(&failing);
    p->driver_entry = success_whatever;
    CHECK_RULE("LIFE-011/b", IS(probe_start(p), STATUS_NO_MEMORY) && !p->driver);
    CHECK_RULE("LIFE-010", probe_rule(p, "LIFE-010") == 1);
    probe_destroy(p);

    p = probe_create(&failing); /* two failures: the first counts */
    p->driver_entry = another_failure;
    CHECK_RULE("LIFE-011/b", IS(probe_start(p), STATUS_NO_MEMORY) && probe_rule(p, "LIFE-010") == 1);
    probe_destroy(p);

    p = probe_create(
        NULL); /* success of the one, failure of the other: the registration is dropped */
    p->driver_entry = another_failure;
    CHECK_RULE("LIFE-011/c", IS(probe_start(p), STATUS_UNSUCCESSFUL) && p->calls == 0);
    CHECK_RULE("LIFE-010", probe_rule(p, "LIFE-010") == 1);
    probe_destroy(p);

    p = probe_create(NULL);
    p->driver_entry = no_initialize;
    CHECK_RULE("LIFE-011/a",
               !NT_SUCCESS(probe_start(p)) && p->calls == 0 && probe_rule(p, "LIFE-010") == 0);
    probe_destroy(p);
}

/* ---- the arguments of DxgkInitialize ---- */

static NTSTATUS at_apc_level(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KIRQL before;

    KeRaiseIrql(APC_LEVEL, &before);
    entry.initialized = DxgkInitialize(object, path, &p->table);
    KeLowerIrql(before);
    return entry.initialized;
}

static NTSTATUS null_arguments(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    CHECK_RULE("LIFE-014/a",
               IS(DxgkInitialize(NULL, path, &p->table), STATUS_INVALID_PARAMETER) &&
                   IS(DxgkInitialize(object, NULL, &p->table), STATUS_INVALID_PARAMETER) &&
                   IS(DxgkInitialize(object, path, NULL), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-014/b",
               IS(DxgkUnInitialize(object), STATUS_INVALID_PARAMETER)); /* nothing was registered */
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS twice(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    DRIVER_INITIALIZATION_DATA other = {.Version = p->table.Version};

    entry.object = object;
    entry.initialized = DxgkInitialize(object, path, &p->table);
    entry.again = DxgkInitialize(object, path, &other);
    return entry.initialized;
}

static void initialize_late(struct probe *p, struct probe_call *call)
{
    UNICODE_STRING path = {0, 0, NULL};

    (void)call;
    entry.again = DxgkInitialize(entry.object, &path, &p->table);
}

TEST(initialize_checks_level_pointers_and_time)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = at_apc_level;
    CHECK_RULE("LIFE-013", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-013") == 1);
    CHECK_RULE("LIFE-001/b", strcmp(probe_record(p, "LIFE-013")->where,
                                    "DxgkInitialize called by the driver in DriverEntry") == 0 &&
                                 strcmp(probe_record(p, "LIFE-013")->thread, "system") == 0 &&
                                 probe_record(p, "LIFE-013")->irql == APC_LEVEL);
    probe_destroy(p);
    p = probe_create(NULL);
    CHECK(verify_set_severity(p->log, "LIFE-013", VERIFY_ERROR));
    p->driver_entry = at_apc_level;
    CHECK_RULE("LIFE-013", IS(probe_start(p), STATUS_INVALID_DEVICE_REQUEST));
    probe_destroy(p);

    p = probe_create(NULL);
    p->driver_entry = null_arguments;
    CHECK(IS(probe_start(p), STATUS_INVALID_PARAMETER));
    probe_destroy(p);

    p = probe_create(NULL);
    p->driver_entry = twice;
    CHECK_RULE("LIFE-015/a", IS(probe_start(p), STATUS_SUCCESS) &&
                                 IS(entry.again, STATUS_INVALID_DEVICE_REQUEST) &&
                                 probe_rule(p, "LIFE-015") == 1 &&
                                 probe_count(p, PROBE_StartDevice) == 1 &&
                                 probe_rule(p, "LIFE-010") == 0);
    probe_destroy(p);

    p = probe_create(NULL);
    p->driver_entry = twice;
    p->before[PROBE_AddDevice] = initialize_late;
    entry.again = STATUS_SUCCESS;
    CHECK_RULE("LIFE-015/b", IS(probe_start(p), STATUS_SUCCESS) &&
                                 IS(entry.again, STATUS_INVALID_DEVICE_REQUEST) &&
                                 probe_rule(p, "LIFE-015") == 2);
    probe_destroy(p);
}

static NTSTATUS wipe_the_table(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    DRIVER_INITIALIZATION_DATA table = p->table;
    NTSTATUS status = DxgkInitialize(object, path, &table);

    memset(&table, 0xDD, sizeof(table));
    memset(&p->table, 0xDD, sizeof(p->table));
    return status;
}

TEST(table_is_copied_as_far_as_the_version_goes)
{
    static const struct {
        UINT version;
        size_t calls;
    } exchange[] = {{DXGKDDI_INTERFACE_VERSION_WDDM2_1, 0}, {DXGKDDI_INTERFACE_VERSION_WDDM2_2, 1}};
    struct probe *p = probe_create(NULL);

    p->driver_entry = wipe_the_table;
    CHECK_RULE("LIFE-016", IS(probe_start(p), STATUS_SUCCESS) && probe_stop(p) == 0 &&
                               probe_count(p, PROBE_Unload) == 1);
    probe_destroy(p);

    for (unsigned i = 0; i < 2; i++) {
        const struct probe_options options = {.version = exchange[i].version};

        p = probe_create(&options);
        p->device_wddm = (DXGK_WDDMVERSION)0;
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
        probe_set_entry(p, PROBE_ExchangePreStartInfo, true); /* exists from 2.2 */
        CHECK_RULE("LIFE-017", IS(probe_start(p), STATUS_SUCCESS) &&
                                   probe_count(p, PROBE_ExchangePreStartInfo) == exchange[i].calls);
        probe_destroy(p);
    }
}

/* ---- versions and entries ---- */

static NTSTATUS load_version(UINT version, UINT host, uint64_t *reports)
{
    const struct probe_options options = {.version = version, .port = {.interface_version = host}};
    struct probe *p = probe_create(&options);
    NTSTATUS status;

    p->devices = 0; /* only DriverEntry */
    status = probe_start(p);
    p->devices = 1;
    *reports = probe_rule(p, "LIFE-019");
    probe_destroy(p);
    return status;
}

TEST(versions)
{
    static const UINT official[] = {0x1052, 0x1053, 0x2005, 0x300E, 0x4002, 0x4003, 0x5023,
                                    0x6002, 0x6003, 0x6010, 0x6011, 0x700A, 0x8001, 0x9006,
                                    0xA00B, 0xB004, 0xC004, 0xD001, 0xE003, 0xF003, 0x10004};
    uint64_t reports;

    for (unsigned i = 0; i < sizeof(official) / sizeof(official[0]); i++)
        CHECK_RULE("LIFE-018",
                   IS(load_version(official[i], 0, &reports), STATUS_SUCCESS) && reports == 0);
    CHECK_RULE("LIFE-019/a",
               IS(load_version(0x1234, 0, &reports), STATUS_REVISION_MISMATCH) && reports == 1);
    CHECK_RULE("LIFE-019/b",
               IS(load_version(0x10005, 0, &reports), STATUS_REVISION_MISMATCH) && reports == 1);
    CHECK_RULE("LIFE-019/b", IS(load_version(0xE003, 0xD001, &reports), STATUS_REVISION_MISMATCH) &&
                                 reports == 1);
    CHECK_RULE("LIFE-018", IS(load_version(0xD001, 0xD001, &reports), STATUS_SUCCESS));
}

static unsigned reserved_calls;

static void NTAPI reserved_entry(void)
{
    reserved_calls++;
}

TEST(reserved_entries_are_reported_and_never_called)
{
#define MEMBER(name)                                      \
    {                                                     \
        offsetof(DRIVER_INITIALIZATION_DATA, name), #name \
    }
    static const struct {
        size_t offset;
        const char *name;
    } reserved[] = {
        MEMBER(DxgkDdiDescribePageTable),
        MEMBER(DxgkDdiUpdatePageTable),
        MEMBER(DxgkDdiUpdatePageDirectory),
        MEMBER(DxgkDdiMovePageDirectory),
        MEMBER(DxgkDdiSubmitRender),
        MEMBER(DxgkDdiCreateAllocation2),
        MEMBER(Reserved),
        MEMBER(DxgkDdiSetPowerPState),
        MEMBER(Reserved3),
    };

    for (unsigned i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        void(NTAPI * pointer)(void) = reserved_entry;
        struct probe *p = probe_create(NULL);

        memcpy((char *)&p->table + reserved[i].offset, &pointer, sizeof(pointer));
        CHECK_RULE("LIFE-020/a", IS(probe_start(p), STATUS_SUCCESS) &&
                                     probe_rule(p, "LIFE-020") == 1 &&
                                     probe_said(p, "LIFE-020", reserved[i].name));
        CHECK_RULE("LIFE-020/b", probe_stop(p) == 0 && reserved_calls == 0);
        probe_destroy(p);
    }
}

TEST(entries_that_registration_needs)
{
    static const struct {
        enum probe_ddi ddi;
        const char *name;
    } needed[] = {
        {PROBE_AddDevice, "DxgkDdiAddDevice"},
        {PROBE_StartDevice, "DxgkDdiStartDevice"},
        {PROBE_StopDevice, "DxgkDdiStopDevice"},
        {PROBE_RemoveDevice, "DxgkDdiRemoveDevice"},
        {PROBE_QueryAdapterInfo, "DxgkDdiQueryAdapterInfo"},
    };
    const struct probe_options wddm2_6 = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_6};
    struct probe *p;

    for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        p = probe_create(NULL);
        probe_set_entry(p, needed[i].ddi, false);
        CHECK_RULE("LIFE-021/a", IS(probe_start(p), STATUS_INVALID_PARAMETER) &&
                                     probe_said(p, "LIFE-021", needed[i].name) && p->calls == 0);
        probe_destroy(p);
    }
    p = probe_create(&wddm2_6);
    probe_set_entry(p, PROBE_QueryAdapterInfo, false);
    CHECK_RULE("LIFE-022", IS(probe_start(p), STATUS_INVALID_PARAMETER) &&
                               probe_said(p, "LIFE-021", "DxgkDdiQueryAdapterInfo"));
    probe_destroy(p);
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS) &&
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS) &&
        probe_rule(p, "LIFE-153") == 0);
}

/* Those that may never be called are only expected. */
TEST(entries_that_registration_only_expects)
{
    static const enum probe_ddi expected[] = {PROBE_ResetDevice, PROBE_Unload,
                                              PROBE_InterruptRoutine, PROBE_DpcRoutine,
                                              PROBE_SetPowerState};
    const struct probe_options strict = {.strict = true};
    struct probe *p = probe_create(NULL);

    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        probe_set_entry(p, expected[i], false);
    CHECK_RULE("LIFE-021/b", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-021") == 5 &&
                                 probe_record(p, "LIFE-021")->severity == VERIFY_WARNING);
    CHECK(probe_run(p, sleep_and_wake) == SIM_DONE);
    CHECK_RULE("LIFE-021/b", probe_stop(p) == 0);
    probe_destroy(p);
    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        p = probe_create(&strict);
        probe_set_entry(p, expected[i], false);
        CHECK_RULE("LIFE-021/a", IS(probe_start(p), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "LIFE-021") == 1 && p->calls == 0);
        probe_destroy(p);
    }
}

/* ---- the counterparts ---- */

static NTSTATUS display_only(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA data = {.Version = p->table.Version};
    KIRQL before;

    CHECK_RULE(
        "LIFE-036/a",
        IS(DxgkInitializeDisplayOnlyDriver(object, path, &data), STATUS_NOT_SUPPORTED) &&
            IS(DxgkInitializeDisplayOnlyDriver(NULL, path, &data), STATUS_INVALID_PARAMETER) &&
            IS(DxgkInitializeDisplayOnlyDriver(object, NULL, &data), STATUS_INVALID_PARAMETER) &&
            IS(DxgkInitializeDisplayOnlyDriver(object, path, NULL), STATUS_INVALID_PARAMETER) &&
            probe_rule(p, "LIFE-013") == 0);
    KeRaiseIrql(APC_LEVEL, &before);
    (void)DxgkInitializeDisplayOnlyDriver(object, path, &data);
    KeLowerIrql(before);
    CHECK_RULE("LIFE-036/b", probe_rule(p, "LIFE-013") == 1);
    CHECK_RULE("LIFE-036/c", IS(DxgkUnInitialize(object), STATUS_INVALID_PARAMETER));
    return STATUS_NOT_SUPPORTED;
}

TEST(display_only_drivers_are_not_run)
{
    const struct probe_options dark = {.port.no_displays = true};
    struct probe *p = probe_create(&dark);

    p->driver_entry = display_only;
    CHECK(IS(probe_start(p), STATUS_NOT_SUPPORTED));
    probe_destroy(p);
}

static NTSTATUS keep_object(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry.object = object;
    return DxgkInitialize(object, path, &p->table);
}

static void uninitialize_body(struct probe *p)
{
    DRIVER_OBJECT other;

    CHECK_RULE("LIFE-037/a", IS(DxgkUnInitialize(entry.object), STATUS_DEVICE_BUSY));
    probe_remove(p, 0);
    CHECK_RULE("LIFE-037/b", IS(DxgkUnInitialize(entry.object), STATUS_SUCCESS));
    CHECK_RULE("LIFE-037/b", IS(DxgkUnInitialize(entry.object), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-037/c", IS(DxgkUnInitialize(&other), STATUS_INVALID_PARAMETER));
}

TEST(registration_can_be_withdrawn)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = keep_object;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, uninitialize_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- the severity of rules ---- */

TEST(severity_is_the_callers)
{
    const struct probe_options strict = {.strict = true};
    struct probe *p = probe_create(&strict);

    p->segment[0].Flags.PreservedDuringHibernate = 1; /* reported, and ignored: SEG-051 */
    CHECK(IS(probe_start(p), STATUS_DEVICE_REMOVED) && p->sim->stopped);
    probe_destroy(p);

    p = probe_create(&strict);
    CHECK(verify_set_severity(p->log, "SEG-051", VERIFY_WARNING));
    p->segment[0].Flags.PreservedDuringHibernate = 1;
    CHECK_RULE("LIFE-004/a", IS(probe_start(p), STATUS_SUCCESS) &&
                                 probe_record(p, "SEG-051")->severity == VERIFY_WARNING);
    probe_destroy(p);

    p = probe_create(NULL);
    p->segment[0].Flags.PreservedDuringHibernate = 1;
    CHECK_RULE("LIFE-004/b", IS(probe_start(p), STATUS_SUCCESS) &&
                                 probe_record(p, "SEG-051")->severity == VERIFY_ERROR);
    probe_destroy(p);

    p = probe_create(NULL);
    CHECK(verify_set_severity(p->log, "SEG-051", VERIFY_FATAL));
    p->segment[0].Flags.PreservedDuringHibernate = 1;
    CHECK_RULE("LIFE-004/c", IS(probe_start(p), STATUS_DEVICE_REMOVED) &&
                                 verify_bugcheck_state(p->log)->happened);
    probe_destroy(p);
}
