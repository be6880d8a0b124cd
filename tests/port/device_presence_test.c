/* SPDX-License-Identifier: MIT */
/* What the callbacks about the device compare, member by member, and how they take bad pointers and shortened transfers. */
#include "bus/device.h"
#include "port/support/probe.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

#define WITH_ALL                                                                      \
    (PCI_USE_VENDEV_IDS | PCI_USE_SUBSYSTEM_IDS | PCI_USE_REVISION | PCI_USE_PROGIF | \
     PCI_USE_CLASS_SUBCLASS)

/* The one device there is. */
static const PCI_DEVICE_PRESENCE_PARAMETERS device = {.Size = sizeof(device),
                                                      .Flags = WITH_ALL,
                                                      .VendorID = 0x1AF4,
                                                      .DeviceID = 0x1234,
                                                      .RevisionID = 2,
                                                      .SubVendorID = 0x1AF4,
                                                      .SubSystemID = 40,
                                                      .BaseClass = 3,
                                                      .SubClass = 0x80,
                                                      .ProgIf = 0};

static bool present(struct probe *p, const PCI_DEVICE_PRESENCE_PARAMETERS *wanted)
{
    PCI_DEVICE_PRESENCE_PARAMETERS query = *wanted;
    BOOLEAN found = 0x5A;

    CHECK(IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &found), STATUS_SUCCESS));
    CHECK(found == TRUE || found == FALSE);
    return found;
}

/* One member is another: that matters with its flag alone. */
static void another(struct probe *p, PCI_DEVICE_PRESENCE_PARAMETERS query, ULONG flag)
{
    query.Flags = WITH_ALL;
    CHECK_RULE("LIFE-102/b", !present(p, &query));
    query.Flags = flag;
    CHECK_RULE("LIFE-102/b", !present(p, &query));
    query.Flags = WITH_ALL & ~flag;
    CHECK_RULE("LIFE-102/a", present(p, &query));
}

TEST_WITH(probe, each_member_of_a_device)
{
    PCI_DEVICE_PRESENCE_PARAMETERS query = device;

    CHECK_RULE("LIFE-102/a", present(p, &device));
    query.VendorID++;
    another(p, query, PCI_USE_VENDEV_IDS);
    query = device;
    query.DeviceID++;
    another(p, query, PCI_USE_VENDEV_IDS);
    query = device;
    query.SubVendorID++;
    another(p, query, PCI_USE_SUBSYSTEM_IDS);
    query = device;
    query.SubSystemID++;
    another(p, query, PCI_USE_SUBSYSTEM_IDS);
    query = device;
    query.RevisionID++;
    another(p, query, PCI_USE_REVISION);
    query = device;
    query.BaseClass++;
    another(p, query, PCI_USE_CLASS_SUBCLASS);
    query = device;
    query.SubClass++;
    another(p, query, PCI_USE_CLASS_SUBCLASS);
    query = device;
    query.ProgIf++;
    another(p, query, PCI_USE_PROGIF);
}

TEST_WITH(probe, questions_about_presence)
{
    PCI_DEVICE_PRESENCE_PARAMETERS query = device;
    BOOLEAN found = 0x5A;

    CHECK(IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, NULL), STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, NULL, &found), STATUS_INVALID_PARAMETER));
    query.Size--;
    CHECK(IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &found),
             STATUS_INVALID_PARAMETER) &&
          strstr(probe_refused_text, "smaller Size"));
    query.Size += 2;
    CHECK(IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, (PBOOLEAN)(uintptr_t)0x1000),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbIsDevicePresent((HANDLE)(uintptr_t)0x1234567, &query, &found),
             STATUS_INVALID_PARAMETER) &&
          probe_rule(p, "LIFE-063") == 1);
    CHECK(found == 0x5A);
    CHECK(IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &found), STATUS_SUCCESS) &&
          found == TRUE);
}

/* ---- configuration space ---- */

TEST_WITH(probe, transfers_at_their_limits)
{
    const HANDLE handle = DXGK.DeviceHandle;
    UCHAR bytes[300], all[256];
    ULONG moved = 77;

    memset(bytes, 0x5A, sizeof(bytes));
    CHECK_RULE("LIFE-093/a", IS(DXGK.DxgkCbReadDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, bytes, 0,
                                                           sizeof(bytes), &moved),
                                STATUS_SUCCESS) &&
                                 moved == 256 && bytes[255] != 0x5A && bytes[256] == 0x5A);
    memcpy(all, bytes, sizeof(all));
    memset(bytes, 0x5A, sizeof(bytes));
    CHECK_RULE("LIFE-093/a",
               IS(DXGK.DxgkCbReadDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, bytes, 255, 2, &moved),
                  STATUS_SUCCESS) &&
                   moved == 1 && bytes[0] == all[255] && bytes[1] == 0x5A);
    CHECK(IS(DXGK.DxgkCbReadDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, bytes, 4, 0, &moved),
             STATUS_SUCCESS) &&
          moved == 0);
    /* nobody wants to know how much */
    CHECK(IS(DXGK.DxgkCbReadDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, bytes, 0, 4, NULL),
             STATUS_SUCCESS) &&
          memcmp(bytes, all, 4) == 0);
    CHECK(IS(DXGK.DxgkCbReadDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, bytes, 0, 4,
                                        (PULONG)(uintptr_t)0x1000),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbReadDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, (PVOID)(uintptr_t)0x1000, 0,
                                        4, &moved),
             STATUS_INVALID_PARAMETER) &&
          moved == 4);
    CHECK(IS(DXGK.DxgkCbWriteDeviceSpace(handle, DXGK_WHICHSPACE_CONFIG, (PVOID)(uintptr_t)0x1000,
                                         0x3C, 1, &moved),
             STATUS_INVALID_PARAMETER) &&
          moved == 0);
    moved = 77;
    CHECK_RULE("LIFE-094/c",
               IS(DXGK.DxgkCbWriteDeviceSpace(handle, DXGK_WHICHSPACE_BRIDGE, bytes, 0, 1, &moved),
                  STATUS_UNSUCCESSFUL) &&
                   moved == 0 && probe_rule(p, "LIFE-094") == 1);
    CHECK(IS(DXGK.DxgkCbReadDeviceSpace((HANDLE)(uintptr_t)0x1234567, DXGK_WHICHSPACE_CONFIG, bytes,
                                        0, 4, &moved),
             STATUS_INVALID_PARAMETER) &&
          probe_rule(p, "LIFE-063") == 1);
}

TEST_WITH(probe, what_device_information_leaves_zero)
{
    DXGK_DEVICE_INFO info;

    memset(&info, 0x5A, sizeof(info));
    CHECK(IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info), STATUS_SUCCESS));
    CHECK_RULE("LIFE-087", info.AgpApertureBase.QuadPart == 0 && info.AgpApertureSize == 0);
    CHECK(info.DeviceRegistryPath.MaximumLength == info.DeviceRegistryPath.Length + sizeof(WCHAR) &&
          info.DeviceRegistryPath.Buffer[info.DeviceRegistryPath.Length / sizeof(WCHAR)] == 0 &&
          info.DeviceRegistryPath.Buffer[info.DeviceRegistryPath.Length / sizeof(WCHAR) - 1] != 0);
    CHECK(info.TranslatedResourceList == A->device.TranslatedResourceList);
}

/* ---- resources ---- */

TEST(a_bar_beyond_40_bits)
{
    static const char *const vram[] = {"vram=1099511627776", NULL};
    static const char *const half[] = {"vram=549755813888", NULL};
    const struct probe_options huge = {.device = vram}, large = {.device = half};
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *list;
    const USHORT widths = CM_RESOURCE_MEMORY_LARGE_40 | CM_RESOURCE_MEMORY_LARGE_48 |
                          CM_RESOURCE_MEMORY_LARGE_64;
    struct probe *p = probe_started(&huge);

    list = A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;
    CHECK_RULE("LIFE-090/a", list[1].Type == CmResourceTypeMemoryLarge &&
                                 (list[1].Flags & widths) == CM_RESOURCE_MEMORY_LARGE_48 &&
                                 (uint64_t)list[1].u.Memory48.Length48 << 16 == 1ull << 40);
    CHECK(list[1].Flags & CM_RESOURCE_MEMORY_PREFETCHABLE &&
          !(list[0].Flags & CM_RESOURCE_MEMORY_PREFETCHABLE) && list[0].ShareDisposition == 1 &&
          list[1].ShareDisposition == 1);
    probe_destroy(p);
    p = probe_started(&large);
    list = A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;
    CHECK_RULE("LIFE-090/a", list[1].Type == CmResourceTypeMemoryLarge &&
                                 (list[1].Flags & widths) == CM_RESOURCE_MEMORY_LARGE_40 &&
                                 (uint64_t)list[1].u.Memory40.Length40 << 8 == 1ull << 39);
    probe_destroy(p);
}

TEST(each_message_is_a_resource)
{
    static const char *const messages[] = {"messages=3", "ports=256", NULL};
    const struct probe_options options = {.device = messages, .processors = 3};
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *d;
    const CM_RESOURCE_LIST *list;
    struct probe *p = probe_started(&options);

    list = A->device.TranslatedResourceList;
    CHECK(list->Count == 1 && list->List[0].InterfaceType == PCIBus &&
          list->List[0].PartialResourceList.Version == 1 &&
          list->List[0].PartialResourceList.Revision == 1 &&
          list->List[0].PartialResourceList.Count == 6);
    d = list->List[0].PartialResourceList.PartialDescriptors;
    CHECK(d[2].Type == CmResourceTypePort && d[2].ShareDisposition == 1 &&
          d[2].Flags == (CM_RESOURCE_PORT_IO | CM_RESOURCE_PORT_16_BIT_DECODE) &&
          d[2].u.Port.Length == 256 && d[2].u.Port.Start.QuadPart >= 0x1000);
    for (ULONG i = 0; i < 3; i++)
        CHECK_RULE("LIFE-090/b",
                   d[3 + i].Type == CmResourceTypeInterrupt && d[3 + i].ShareDisposition == 1 &&
                       d[3 + i].Flags ==
                           (CM_RESOURCE_INTERRUPT_LATCHED | CM_RESOURCE_INTERRUPT_MESSAGE) &&
                       d[3 + i].u.MessageInterrupt.Translated.Level == 5 &&
                       d[3 + i].u.MessageInterrupt.Translated.Vector == 0x50 + i &&
                       d[3 + i].u.MessageInterrupt.Translated.Affinity == 7);
    probe_destroy(p);
}

/* ---- mappings with a cache type ---- */

static void cached_body(struct probe *p)
{
    const HANDLE handle = DXGK.DeviceHandle;
    PVOID first, second;

    CHECK(IS(
        DXGK.DxgkCbMapMemory(handle, probe_bar(p, 1), 4096, FALSE, FALSE, MmWriteCombined, &first),
        STATUS_SUCCESS));
    CHECK_RULE("LIFE-098/e", IS(DXGK.DxgkCbMapMemory(handle, probe_bar(p, 1), 4096, FALSE, FALSE,
                                                     MmNonCached, &second),
                                STATUS_CONFLICTING_ADDRESSES) &&
                                 second == NULL && probe_rule(p, "LIFE-098") == 1);
    CHECK_RULE("LIFE-098/d", IS(DXGK.DxgkCbMapMemory(handle, probe_bar(p, 1), 4096, FALSE, FALSE,
                                                     MmWriteCombined, &second),
                                STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbUnmapMemory(handle, first), STATUS_SUCCESS) &&
          IS(DXGK.DxgkCbUnmapMemory(handle, second), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbMapMemory(handle, probe_bar(p, 1), 4096, FALSE, FALSE, MmNonCached, &first),
             STATUS_SUCCESS)); /* nobody has it now */
    CHECK(IS(DXGK.DxgkCbUnmapMemory(handle, first), STATUS_SUCCESS));
}

TEST(the_first_mapping_has_the_cache_type)
{
    probe_end(probe_started(NULL), cached_body);
}
