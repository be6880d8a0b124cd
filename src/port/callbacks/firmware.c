/* SPDX-License-Identifier: MIT */
/*
 * The firmware table interface of DxgkCbQueryServices (LIFE-121): the tables of the machine's
 * configuration, by provider (ACPI, FIRM, RSMB) and number. A machine without tables does not offer
 * the interface (LIFE-114).
 */
#include "port/callbacks/firmware.h"
#include "port/record/boundary.h"
#include "port/record/machine.h"
#include "sim/machine.h"

#define PROVIDER(a, b, c, d) ((ULONG)(a) << 24 | (ULONG)(b) << 16 | (ULONG)(c) << 8 | (ULONG)(d))
#define ACPI                 PROVIDER('A', 'C', 'P', 'I')
#define FIRM                 PROVIDER('F', 'I', 'R', 'M')
#define RSMB                 PROVIDER('R', 'S', 'M', 'B')

static const struct port_config *config(void)
{
    const struct port *port = sim_current && !sim_current->stopped ? port_current() : NULL;

    return port ? &port->config : NULL;
}

static bool known(ULONG provider)
{
    return provider == ACPI || provider == FIRM || provider == RSMB;
}

/* Copy to `buffer` if its `room` bytes are enough; *required is set to the bytes needed. */
static NTSTATUS answer(const void *data, ULONG bytes, void *buffer, ULONG room, ULONG *required)
{
    if (!PORT_GIVE(ULONG, required, &bytes))
        return STATUS_INVALID_PARAMETER;
    if (room < bytes || (bytes && !buffer))
        return STATUS_BUFFER_TOO_SMALL;
    return port_boundary_give_bytes(buffer, data, bytes) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI enumerate(void *context, ULONG provider, ULONG room, void *buffer,
                                ULONG *required)
{
    const struct port_config *c = config();
    ULONG ids[PORT_MAX_FIRMWARE_TABLES], count = 0;

    (void)context;
    if (!c)
        return STATUS_DEVICE_REMOVED;
    if (!known(provider))
        return STATUS_NOT_IMPLEMENTED;
    for (size_t i = 0; i < c->firmware_tables && i < PORT_MAX_FIRMWARE_TABLES; i++)
        if (c->firmware[i].provider == provider)
            ids[count++] = c->firmware[i].id;
    return answer(ids, count * (ULONG)sizeof(ids[0]), buffer, room, required);
}

static NTSTATUS NTAPI read_table(void *context, ULONG provider, ULONG id, ULONG room, void *buffer,
                                 ULONG *required)
{
    const struct port_config *c = config();

    (void)context;
    if (!c)
        return STATUS_DEVICE_REMOVED;
    if (!known(provider))
        return STATUS_NOT_IMPLEMENTED;
    for (size_t i = 0; i < c->firmware_tables && i < PORT_MAX_FIRMWARE_TABLES; i++)
        if (c->firmware[i].provider == provider && c->firmware[i].id == id)
            return answer(c->firmware[i].data, c->firmware[i].bytes, buffer, room, required);
    return STATUS_NOT_FOUND;
}

void port_firmware_fill(DXGK_FIRMWARE_TABLE_INTERFACE *interface)
{
    interface->EnumSystemFirmwareTables = enumerate;
    interface->ReadSystemFirmwareTable = read_table;
}
