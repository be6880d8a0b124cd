/* SPDX-License-Identifier: MIT */
/* Registration and names at their limits: tables that end too early, keys that are there, names that are no names. */
#include "nt/cm/registry.h"
#include "port/record/adapter_record.h"
#include "port/support/probe.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define SERVICE            "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"

/* ---- the table ---- */

static NTSTATUS bad_table, short_table, short_again;

/* The last bytes before memory that is not there. */
static NTSTATUS without_a_table(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    PDRIVER_INITIALIZATION_DATA table;

    CHECK(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    bad_table = DxgkInitialize(object, path, (PDRIVER_INITIALIZATION_DATA)(uintptr_t)0x1000);
    table = (PDRIVER_INITIALIZATION_DATA)(void *)(pages + 4096 - 64);
    memcpy(table, &p->table, 64);
    short_table = DxgkInitialize(object, path, table);
    /* to the last byte that its version has */
    table = (PDRIVER_INITIALIZATION_DATA)(void *)(pages + 4096 - 8);
    memcpy(table, &p->table, 8);
    short_again = DxgkInitialize(object, path, table);
    (void)munmap(pages, 8192);
    return DxgkInitialize(object, path, &p->table);
}

TEST(a_table_that_cannot_be_read)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = without_a_table;
    (void)probe_load(p);
    CHECK(IS(bad_table, STATUS_INVALID_PARAMETER) && IS(short_table, STATUS_INVALID_PARAMETER) &&
          IS(short_again, STATUS_INVALID_PARAMETER));
    probe_destroy(p);
}

static NTSTATUS other_object, early;

static NTSTATUS with_other_objects(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    DRIVER_OBJECT other;
    NTSTATUS status;

    memset(&other, 0, sizeof(other));
    early = DxgkUnInitialize(object);
    status = DxgkInitialize(object, path, &p->table);
    other_object = DxgkInitialize(&other, path, &p->table);
    CHECK(IS(DxgkUnInitialize(&other), STATUS_INVALID_PARAMETER));
    return status;
}

TEST(an_entry_registers_its_own_object)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = with_other_objects;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("LIFE-015/b",
               IS(other_object, STATUS_INVALID_DEVICE_REQUEST) && probe_rule(p, "LIFE-015") == 1);
    CHECK(IS(early, STATUS_INVALID_PARAMETER));
    probe_destroy(p);
}

/* ---- display-only drivers ---- */

static NTSTATUS display[4];

static NTSTATUS display_only(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA data;
    KIRQL before;

    (void)p;
    memset(&data, 0, sizeof(data));
    display[0] = DxgkInitializeDisplayOnlyDriver(NULL, path, &data);
    display[1] = DxgkInitializeDisplayOnlyDriver(object, NULL, &data);
    display[2] = DxgkInitializeDisplayOnlyDriver(object, path, NULL);
    CHECK(probe_rule(p, "LIFE-036") == 0);
    KeRaiseIrql(APC_LEVEL, &before);
    display[3] = DxgkInitializeDisplayOnlyDriver(object, path, &data);
    KeLowerIrql(before);
    return display[3];
}

TEST(display_only_drivers_at_a_level)
{
    struct probe *p = probe_create(NULL);

    CHECK(verify_set_severity(p->log, "LIFE-013", VERIFY_ERROR));
    p->driver_entry = display_only;
    CHECK(!NT_SUCCESS(probe_start(p)));
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(display[i], STATUS_INVALID_PARAMETER));
    CHECK(IS(display[3], STATUS_INVALID_DEVICE_REQUEST) && probe_rule(p, "LIFE-013") == 1 &&
          probe_rule(p, "LIFE-036") == 0);
    probe_destroy(p);
}

/* ---- the service key ---- */

static bool value_is(const char *name, uint32_t wanted)
{
    uint32_t type = 0, bytes = 0, value;
    const void *data = nt_registry_get(SERVICE, name, &type, &bytes);

    if (!data || type != REG_DWORD || bytes != sizeof(value))
        return false;
    memcpy(&value, data, sizeof(value));
    return value == wanted;
}

TEST(values_of_the_service_stay)
{
    const uint32_t four = 4;
    struct probe *p = probe_create(NULL);

    CHECK(nt_registry_set(SERVICE, "Start", REG_DWORD, &four, sizeof(four)));
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-007",
               value_is("Type", 1) && value_is("Start", 4) && value_is("ErrorControl", 0));
    probe_destroy(p);
}

/* ---- the adapter's name ---- */

static struct {
    uint32_t type;
    WCHAR text[200];
    uint32_t bytes;
} name;

static void write_name(struct probe *p, struct probe_call *call)
{
    DEVICE_OBJECT *pdo = (PDEVICE_OBJECT)(uintptr_t)call->arg[0];
    UNICODE_STRING value;
    HANDLE key;

    (void)p;
    CHECK(NT_SUCCESS(IoOpenDeviceRegistryKey(pdo, PLUGPLAY_REGKEY_DRIVER, KEY_SET_VALUE, &key)));
    RtlInitUnicodeString(&value, L"HardwareInformation.AdapterString");
    CHECK(NT_SUCCESS(ZwSetValueKey(key, &value, 0, name.type, name.text, name.bytes)));
    RtlInitUnicodeString(&value, L"HardwareInformation.MemorySize");
    CHECK(NT_SUCCESS(ZwSetValueKey(key, &value, 0, REG_BINARY, name.text, 8)));
    ZwClose(key);
}

static void check_name(uint32_t type, const WCHAR *text, uint32_t bytes, const char *wanted)
{
    struct probe *p = probe_create(NULL);

    name.type = type;
    name.bytes = bytes;
    memset(name.text, 0, sizeof(name.text));
    memcpy(name.text, text, bytes);
    p->before[PROBE_AddDevice] = write_name;
    CHECK(NT_SUCCESS(probe_start(p)));
    if (strcmp(port_adapter_name(p->adapter[0]), wanted) != 0)
        fail_msg("\"%s\" is not \"%s\"", port_adapter_name(p->adapter[0]), wanted);
    CHECK_RULE("LIFE-045/c", port_adapter_memory_size(p->adapter[0]) == 0); /* no number */
    probe_destroy(p);
}

TEST(names_of_adapters)
{
    WCHAR text[160];
    char wanted[161] = "";

    check_name(REG_SZ, L"One", sizeof(L"One"), "One");
    check_name(REG_BINARY, L"Two", sizeof(L"Two"), "Two");
    check_name(REG_DWORD, L"Three", 4, "probe");
    check_name(REG_SZ, L"", sizeof(L""), "probe");
    check_name(REG_SZ, L"Four", 3 * sizeof(WCHAR), "Fou"); /* without an end */
    check_name(REG_SZ, L"~\x7F\xE4.", sizeof(L"~\x7F\xE4."), "~??.");
    for (unsigned i = 0; i < 160; i++) {
        text[i] = (WCHAR)('a' + i % 26);
        wanted[i] = (char)('a' + i % 26);
    }
    wanted[sizeof(((struct port_adapter *)0)->name) - 1] = 0;
    check_name(REG_SZ, text, sizeof(text), wanted);
}

/* ---- contexts ---- */

static void mistake_contexts(struct probe *p)
{
    DXGK_DEVICE_INFO info;

    CHECK_RULE("LIFE-063/a", IS(A->dxgk.DxgkCbGetDeviceInformation(p->state[1].context, &info),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_said(p, "LIFE-063", "MiniportDeviceContext"));
}

TEST(contexts_of_the_second_adapter)
{
    const struct probe_options two = {.adapters = 2};

    probe_end(probe_started(&two), mistake_contexts);
}
