/* SPDX-License-Identifier: MIT */
/* What the callbacks tell of the device and let a driver reach: information, spaces, mappings, presence, firmware. */
#include "bus/device.h"
#include "bus/window.h"
#include "nt/cm/registry.h"
#include "nt/mm/user_range.h"
#include "port/support/probe.h"
#include "sim/irql.h"
#include "sim/sim.h"
#include "x64/x64.h"

#include <string.h>

#include <acpiioct.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

/* ---- information ---- */

TEST_WITH(probe, device_information)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    char path[128] = "";
    uint32_t one = 1;

    CHECK(NT_SUCCESS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info)));
    for (unsigned i = 0; i < info.DeviceRegistryPath.Length / sizeof(WCHAR) && i < sizeof(path) - 1;
         i++)
        path[i] = (char)info.DeviceRegistryPath.Buffer[i];
    CHECK_RULE("LIFE-085/a",
               info.MiniportDeviceContext == A->context && info.PhysicalDeviceObject == A->pdo);
    CHECK_RULE("LIFE-085/b", nt_registry_set(path, "HardwareInformation.MemorySize", REG_DWORD,
                                             &one, sizeof(one)) &&
                                 port_adapter_memory_size(p->adapter[0]) == 1u << 20);
    CHECK_RULE("LIFE-086/a", info.SystemMemorySize.QuadPart == 64 << 20);
    CHECK_RULE("LIFE-086/b", info.HighestPhysicalAddress.QuadPart == (64 << 20) - 1);
    CHECK_RULE("LIFE-087", info.AgpApertureBase.QuadPart == 0 && info.AgpApertureSize == 0);
    CHECK_RULE("LIFE-088", info.DockingState == DockStateUnsupported);
    CHECK_RULE("LIFE-089/a", info.TranslatedResourceList->Count == 1);
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    CHECK_RULE("LIFE-089/a", list->Count == 3 &&
                                 list->PartialDescriptors[0].Type == CmResourceTypeMemory &&
                                 list->PartialDescriptors[0].u.Memory.Start.QuadPart ==
                                     (LONGLONG)bus_device_bar(p->device[0], 0).value &&
                                 list->PartialDescriptors[0].u.Memory.Length == 0x1000);
    CHECK_RULE("LIFE-089/c", list->PartialDescriptors[2].Type == CmResourceTypeInterrupt &&
                                 list->PartialDescriptors[2].u.MessageInterrupt.Translated.Level ==
                                     SIM_IRQL_DEVICE);
    CHECK_RULE("LIFE-090/b", list->PartialDescriptors[2].Flags & CM_RESOURCE_INTERRUPT_MESSAGE);
}

TEST(large_bars)
{
    static const char *const vram[] = {"vram=8589934592", "messages=2", NULL};
    const struct probe_options options = {.device = vram};
    struct probe *p = probe_create(&options);
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *list;

    CHECK(NT_SUCCESS(probe_start(p)));
    list = A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;
    CHECK_RULE("LIFE-090/a",
               list[1].Type == CmResourceTypeMemoryLarge &&
                   (list[1].Flags & (CM_RESOURCE_MEMORY_LARGE_40 | CM_RESOURCE_MEMORY_LARGE_48 |
                                     CM_RESOURCE_MEMORY_LARGE_64)) == CM_RESOURCE_MEMORY_LARGE_40 &&
                   (uint64_t)list[1].u.Memory40.Length40 << 8 == 8ull << 30);
    CHECK_RULE(
        "LIFE-091/a",
        list[0].u.Memory.Start.QuadPart == (LONGLONG)bus_device_bar(p->device[0], 0).value &&
            list[1].u.Memory40.Start.QuadPart == (LONGLONG)bus_device_bar(p->device[0], 2).value &&
            list[2].Type == CmResourceTypeInterrupt && list[3].Type == CmResourceTypeInterrupt &&
            A->device.TranslatedResourceList->List[0].PartialResourceList.Count == 4);
    probe_destroy(p);
}

static void write_the_list(struct probe *p, struct probe_call *call)
{
    (void)call;
    A->device.TranslatedResourceList->Count = 0;
}

static void read_the_list(struct probe *p, struct probe_call *call)
{
    (void)call;
    A->device.DockingState = (DOCKING_STATE)A->device.TranslatedResourceList->Count;
}

TEST(resource_list_is_on_loan)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_GetNodeMetadata] = write_the_list;
    (void)probe_start(p);
    CHECK_RULE("LIFE-091/b", p->sim->stopped && probe_said(p, "LIFE-091", "wrote to"));
    probe_destroy(p);

    p = probe_started(NULL);
    p->after[PROBE_StopDevice] = read_the_list; /* still there */
    (void)probe_stop(p);
    CHECK_RULE("LIFE-091/c", !p->sim->stopped && probe_rule(p, "LIFE-091") == 0);
    probe_destroy(p);

    p = probe_started(NULL);
    p->before[PROBE_RemoveDevice] = read_the_list;
    (void)probe_stop(p);
    CHECK_RULE("LIFE-091/d", p->sim->stopped && probe_said(p, "LIFE-091", "read from"));
    probe_destroy(p);
}

/* ---- spaces and mappings ---- */

static NTSTATUS space(struct probe *p, bool write, ULONG type, void *buffer, ULONG offset,
                      ULONG length, ULONG *moved)
{
    *moved = 99;
    return write
               ? DXGK.DxgkCbWriteDeviceSpace(DXGK.DeviceHandle, type, buffer, offset, length, moved)
               : DXGK.DxgkCbReadDeviceSpace(DXGK.DeviceHandle, type, buffer, offset, length, moved);
}

/* A driver finds the device's own capability by the list, as it would on a machine. */
TEST_WITH(probe, capability_of_the_device_is_in_its_space)
{
    UCHAR at = 0, id = 0;
    UCHAR own[6];
    USHORT status;
    ULONG moved;

    assert_true(
        IS(space(p, false, DXGK_WHICHSPACE_CONFIG, &status, 0x06, 2, &moved), STATUS_SUCCESS));
    assert_int_equal(status & 0x10, 0x10);
    (void)space(p, false, DXGK_WHICHSPACE_CONFIG, &at, 0x34, 1, &moved);
    while (at) {
        (void)space(p, false, DXGK_WHICHSPACE_CONFIG, &id, at, 1, &moved);
        if (id == 0x09)
            break;
        (void)space(p, false, DXGK_WHICHSPACE_CONFIG, &at, at + 1u, 1, &moved);
    }
    assert_true(at != 0);
    (void)space(p, false, DXGK_WHICHSPACE_CONFIG, own, at, sizeof(own), &moved);
    assert_int_equal(own[2], 6);
    assert_memory_equal(own + 3, "own", 3);
}

TEST_WITH(probe, device_spaces)
{
    UCHAR bytes[16];
    USHORT id;
    ULONG moved;

    CHECK_RULE("LIFE-092/a",
               IS(space(p, false, DXGK_WHICHSPACE_CONFIG, &id, 0, 2, &moved), STATUS_SUCCESS) &&
                   moved == 2 && id == 0x1AF4);
    CHECK_RULE("LIFE-092/b", IS(space(p, false, 7, &id, 0, 2, &moved), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-092/c", IS(space(p, false, DXGK_WHICHSPACE_CONFIG, NULL, 0, 2, &moved),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-092/d",
               IS(space(p, false, DXGK_WHICHSPACE_ROM, &id, 0, 2, &moved), STATUS_UNSUCCESSFUL) &&
                   moved == 0);
    CHECK_RULE("LIFE-093/a", IS(space(p, false, DXGK_WHICHSPACE_CONFIG, bytes, 250, 16, &moved),
                                STATUS_SUCCESS) &&
                                 moved == 6);
    CHECK_RULE("LIFE-093/b", IS(space(p, false, DXGK_WHICHSPACE_CONFIG, bytes, 256, 1, &moved),
                                STATUS_UNSUCCESSFUL) &&
                                 moved == 0);
    CHECK_RULE("LIFE-093/c",
               IS(space(p, false, DXGK_WHICHSPACE_MCH, bytes, 0, 1, &moved), STATUS_UNSUCCESSFUL) &&
                   moved == 0);
    CHECK_RULE("LIFE-093/d",
               IS(space(p, true, DXGK_WHICHSPACE_ROM, bytes, 0, 1, &moved), STATUS_UNSUCCESSFUL) &&
                   moved == 0);
    (void)space(p, false, DXGK_WHICHSPACE_BRIDGE, bytes, 0, 4, &moved);
    CHECK_RULE("LIFE-094/a", probe_rule(p, "LIFE-094") == 1);
    bytes[0] = 0x42;
    CHECK_RULE("LIFE-095/a",
               IS(space(p, true, DXGK_WHICHSPACE_CONFIG, bytes, 0x3C, 1, &moved), STATUS_SUCCESS) &&
                   probe_rule(p, "LIFE-095") == 0 &&
                   IS(space(p, false, DXGK_WHICHSPACE_CONFIG, bytes + 1, 0x3C, 1, &moved),
                      STATUS_SUCCESS) &&
                   bytes[1] == 0x42);
    id = 0xFFFF;
    CHECK_RULE("LIFE-095/b",
               IS(space(p, true, DXGK_WHICHSPACE_CONFIG, &id, 0, 2, &moved), STATUS_SUCCESS) &&
                   probe_rule(p, "LIFE-095") == 1 &&
                   probe_record(p, "LIFE-095")->severity == VERIFY_WARNING &&
                   IS(space(p, false, DXGK_WHICHSPACE_CONFIG, &id, 0, 2, &moved), STATUS_SUCCESS) &&
                   id == 0x1AF4);
}

static void mappings_body(struct probe *p)
{
    PHYSICAL_ADDRESS registers = probe_bar(p, 0), beyond = probe_bar(p, 0),
                     ram = {.QuadPart = 0x1000};
    PVOID a, b, c;

    beyond.QuadPart += 1;
    CHECK_RULE("LIFE-096/a", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, FALSE,
                                                     FALSE, MmNonCached, &a),
                                STATUS_SUCCESS) &&
                                 READ_REGISTER_ULONG(a) == PROBE_ID);
    CHECK_RULE("LIFE-097/b", !nt_user_range_holds(a));
    CHECK_RULE("LIFE-098/a", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, beyond, 0x1000, FALSE,
                                                     FALSE, MmNonCached, &b),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-098/b", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0, FALSE, FALSE,
                                                     MmNonCached, &b),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-098/c", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 4, FALSE, FALSE,
                                                     (MEMORY_CACHING_TYPE)9, &b),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-027/c", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, ram, 0x1000, FALSE, FALSE,
                                                     MmNonCached, &b),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-027") == 2);
    CHECK_RULE("LIFE-098/d", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, FALSE,
                                                     FALSE, MmNonCached, &b),
                                STATUS_SUCCESS));
    CHECK_RULE("LIFE-098/e", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, FALSE,
                                                     FALSE, MmCached, &c),
                                STATUS_CONFLICTING_ADDRESSES) &&
                                 probe_rule(p, "LIFE-098") == 1);
    CHECK_RULE("LIFE-099", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, a), STATUS_SUCCESS) &&
                               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, b), STATUS_SUCCESS));
    CHECK_RULE("LIFE-100/a",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, a), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-100") == 1);
    CHECK_RULE("LIFE-097/d", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, TRUE,
                                                     TRUE, MmNonCached, &a),
                                STATUS_INVALID_PARAMETER)); /* no ports */
}

static void pointer_body(struct probe *p)
{
    volatile ULONG *mapped;
    PVOID address;

    CHECK(NT_SUCCESS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 0), 0x1000, FALSE, FALSE,
                                          MmNonCached, &address)));
    mapped = address;
    CHECK_RULE("NT-171/f", mapped[0] == PROBE_ID && x64_traps() == 1);
    CHECK(NT_SUCCESS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, address)));
}

TEST(mapped_registers_are_read_through_pointers)
{
    struct probe *p = probe_started(NULL);

    CHECK(x64_create());
    CHECK(probe_run(p, pointer_body) == SIM_DONE);
    x64_destroy();
    probe_destroy(p);
}

static PVOID user_mapping;

static void map_for_user(struct probe *p)
{
    CHECK(NT_SUCCESS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 1), 0x1000, FALSE, TRUE,
                                          MmWriteCombined, &user_mapping)));
}

static void unmap_elsewhere(struct probe *p)
{
    CHECK_RULE("LIFE-100/b", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, user_mapping),
                                STATUS_INVALID_PARAMETER));
}

static void unmap_here(struct probe *p)
{
    CHECK_RULE("LIFE-100/b",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, user_mapping), STATUS_SUCCESS));
}

static void user_mappings_body(struct probe *p)
{
    struct nt_process *process = probe_process(p, "client");

    probe_run_in(p, process, map_for_user);
    unmap_elsewhere(p); /* the system process */
    probe_run_in(p, process, unmap_here);
}

TEST(mappings)
{
    struct probe *p;

    probe_end(probe_started(NULL), mappings_body);
    probe_end(probe_started(NULL), user_mappings_body);
    p = probe_started(NULL);
    A->registers = NULL; /* StopDevice forgets to unmap */
    (void)probe_stop(p);
    CHECK_RULE("LIFE-101/a", probe_rule(p, "LIFE-101") == 1);
    CHECK_RULE("LIFE-101/d", bus_mappings(p->bus) == 0);
    probe_destroy(p);
}

TEST_WITH(probe, device_presence)
{
    PCI_DEVICE_PRESENCE_PARAMETERS query = {
        .Size = sizeof(query), .Flags = PCI_USE_VENDEV_IDS, .VendorID = 0x1AF4, .DeviceID = 0x1234};
    BOOLEAN present = FALSE;

    CHECK_RULE("LIFE-102/a", IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &present),
                                STATUS_SUCCESS) &&
                                 present);
    query.Flags |= PCI_USE_CLASS_SUBCLASS | PCI_USE_REVISION | PCI_USE_SUBSYSTEM_IDS;
    query.RevisionID = 2;
    query.SubVendorID = 0x1AF4;
    query.SubSystemID = 40;
    query.BaseClass = 3;
    query.SubClass = 0x80;
    CHECK_RULE("LIFE-102/a", IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &present),
                                STATUS_SUCCESS) &&
                                 present);
    query.DeviceID = 0x4321;
    CHECK_RULE("LIFE-102/b", IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &present),
                                STATUS_SUCCESS) &&
                                 !present);
}

static void firmware_body(struct probe *p)
{
    ACPI_EVAL_INPUT_BUFFER_COMPLEX input = {.Signature = 0x12345678};
    UCHAR output[32];
    DXGK_DISPLAY_INFORMATION display;
    DXGK_DISPLAY_OWNERSHIP_FLAGS flags;

    memset(output, 0x5A, sizeof(output));
    CHECK_RULE("LIFE-104", IS(DXGK.DxgkCbEvalAcpiMethod(
                                  DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID, &input, sizeof(input),
                                  (PACPI_EVAL_OUTPUT_BUFFER)output, sizeof(output)),
                              STATUS_OBJECT_NAME_NOT_FOUND) &&
                               output[0] == 0x5A && output[31] == 0x5A);
    CHECK_RULE("LIFE-103", input.Signature == ACPI_EVAL_INPUT_BUFFER_COMPLEX_SIGNATURE);
    memset(&display, 0x5A, sizeof(display));
    CHECK_RULE("LIFE-073/a", IS(DXGK.DxgkCbAcquirePostDisplayOwnership(DXGK.DeviceHandle, &display),
                                STATUS_UNSUCCESSFUL) &&
                                 display.Width == 0 && display.PhysicAddress.QuadPart == 0);
    memset(&display, 0x5A, sizeof(display));
    flags.Value = 3;
    CHECK_RULE("LIFE-073/b",
               IS(DXGK.DxgkCbAcquirePostDisplayOwnership2(DXGK.DeviceHandle, &display, &flags),
                  STATUS_UNSUCCESSFUL) &&
                   display.Height == 0 && flags.Value == 0);
    CHECK_RULE("LIFE-083/a", IS(DXGK.DxgkCbIndicateChildStatus(
                                    DXGK.DeviceHandle,
                                    &(DXGK_CHILD_STATUS){.Type = StatusConnection, .ChildUid = 5}),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "LIFE-083") == 1);
}

TEST(firmware_and_displays)
{
    const struct probe_options dark = {.port.no_displays = true};

    probe_end(probe_started(&dark), firmware_body);
}
