/* SPDX-License-Identifier: MIT */
/*
 * Interface versions: which exist (LIFE-018), and the sizes in each of the tables and structures
 * that grow (LIFE-017, LIFE-058, CAPS-006). The numbers are those of tests/abi/tables.tsv and
 * structs_by_version.tsv.
 */
#include "port/record/versions.h"
#include "port/record/machine.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct since {
    ULONG version;
    ULONG value;
};

/* The value of the last row whose version is not above `version`. */
static ULONG value_at(const struct since *rows, size_t count, ULONG version)
{
    ULONG value = rows[0].value;

    for (size_t i = 0; i < count && rows[i].version <= version; i++)
        value = rows[i].value;
    return value;
}

/* All versions, with the size of DRIVER_INITIALIZATION_DATA. */
static const struct since versions[] = {
    {0x1052, 496},  {0x1053, 496},  {0x2005, 568},   {0x300E, 664},  {0x4002, 712},  {0x4003, 712},
    {0x5023, 832},  {0x6002, 880},  {0x6003, 880},   {0x6010, 880},  {0x6011, 880},  {0x700A, 1032},
    {0x8001, 1056}, {0x9006, 1152}, {0xA00B, 1192},  {0xB004, 1224}, {0xC004, 1232}, {0xD001, 1232},
    {0xE003, 1264}, {0xF003, 1296}, {0x10004, 1376},
};

size_t port_version_table_bytes(ULONG version)
{
    for (size_t i = 0; i < COUNT(versions); i++)
        if (versions[i].version == version)
            return versions[i].value;
    return 0;
}

UINT port_version_of_host(const struct port *port)
{
    return port->config.interface_version ? port->config.interface_version
                                          : DXGKDDI_INTERFACE_VERSION_WDDM3_1;
}

ULONG port_version_interface_bytes(UINT version)
{
    static const struct since rows[] = {
        {0x1052, 184}, {0x300E, 256}, {0x4002, 264},  {0x5023, 312}, {0x6002, 328},
        {0x700A, 360}, {0x8001, 368}, {0x9006, 456},  {0xA00B, 464}, {0xB004, 480},
        {0xD001, 488}, {0xE003, 568}, {0x10004, 576},
    };

    return value_at(rows, COUNT(rows), version);
}

#define UP_TO(member) ((ULONG)((offsetof(DXGK_DRIVERCAPS, member) + 7) & ~(size_t)7))

UINT port_version_caps_bytes(UINT version)
{
    static const struct since rows[] = {
        {DXGKDDI_INTERFACE_VERSION_VISTA, UP_TO(WDDMVersion)},
        {DXGKDDI_INTERFACE_VERSION_WIN7, UP_TO(PreemptionCaps)},
        {DXGKDDI_INTERFACE_VERSION_WIN8, UP_TO(HybridDiscrete)},
        {DXGKDDI_INTERFACE_VERSION_WDDM1_3, UP_TO(HybridIntegrated)},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, UP_TO(MiscCaps)},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_4, UP_TO(MaxHwQueuedFlips)},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_9, sizeof(DXGK_DRIVERCAPS)},
    };

    _Static_assert(UP_TO(HybridIntegrated) == 552 && UP_TO(MiscCaps) == 576 &&
                       UP_TO(MaxHwQueuedFlips) == 584 && sizeof(DXGK_DRIVERCAPS) == 592,
                   "DXGK_DRIVERCAPS");
    return value_at(rows, COUNT(rows), version);
}

UINT port_version_physical_caps_bytes(UINT version)
{
    return version < DXGKDDI_INTERFACE_VERSION_WDDM2_7
               ? offsetof(DXGK_PHYSICALADAPTERCAPS, VirtualCopyNodeIndex)
               : (UINT)sizeof(DXGK_PHYSICALADAPTERCAPS);
}

/* CAPS-032 */
bool port_version_wddm_known(UINT wddm)
{
    static const UINT known[] = {0x1000, 0x1200, 0x1300, 0x2000, 0x2100, 0x2105,
                                 0x2106, 0x2200, 0x2300, 0x2400, 0x2500, 0x2600,
                                 0x2700, 0x2800, 0x2900, 0x3000, 0x3100};

    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i] == wddm)
            return true;
    return false;
}

/* ---- bits that exist (CAPS-019): each row gives the mask from its version on ---- */

UINT port_version_scheduling_bits(UINT version)
{
    static const struct since rows[] = {
        {DXGKDDI_INTERFACE_VERSION_VISTA, 0x3},     {DXGKDDI_INTERFACE_VERSION_WIN8, 0x1F},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, 0x7F},  {DXGKDDI_INTERFACE_VERSION_WDDM2_3, 0x7FF},
        {DXGKDDI_INTERFACE_VERSION_WDDM3_1, 0xFFF},
    };

    return value_at(rows, COUNT(rows), version);
}

UINT port_version_memory_bits(UINT version)
{
    static const struct since rows[] = {
        {DXGKDDI_INTERFACE_VERSION_VISTA, 0x1},       {DXGKDDI_INTERFACE_VERSION_WIN7, 0xF},
        {DXGKDDI_INTERFACE_VERSION_WDDM1_3, 0x1F},    {DXGKDDI_INTERFACE_VERSION_WDDM2_0, 0x3FF},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_2, 0x7FF},   {DXGKDDI_INTERFACE_VERSION_WDDM2_4, 0x1FFF},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_7, 0x3FFF},  {DXGKDDI_INTERFACE_VERSION_WDDM2_9, 0x1FFFF},
        {DXGKDDI_INTERFACE_VERSION_WDDM3_1, 0x3FFFF},
    };

    return value_at(rows, COUNT(rows), version);
}

UINT port_version_misc_bits(UINT version)
{
    static const struct since rows[] = {
        {DXGKDDI_INTERFACE_VERSION_WDDM2_4, 0x3},  {DXGKDDI_INTERFACE_VERSION_WDDM2_5, 0x7},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_6, 0xF},  {DXGKDDI_INTERFACE_VERSION_WDDM2_7, 0x1F},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_8, 0x3F}, {DXGKDDI_INTERFACE_VERSION_WDDM3_0, 0x7F},
    };

    return value_at(rows, COUNT(rows), version);
}
