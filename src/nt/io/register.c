/* SPDX-License-Identifier: MIT */
/*
 * Register and port access. An address in a register window becomes a call of the device model; any
 * other is plain memory (a memory BAR, or RAM that a driver accesses like a register).
 */
#include <string.h>

#include "bus/ports.h"
#include "bus/window.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "sim/point.h"
#include "verify/verify.h"

static bool check(const volatile void *address, unsigned width, const char *routine)
{
    if ((uintptr_t)address % width == 0)
        return true;
    VIOLATION("NT-139", "%s at an address that is not aligned to %u bytes", routine, width);
    return false;
}

static uint64_t read_memory(const volatile void *address, unsigned width)
{
    switch (width) {
    case 1:
        return *(const volatile uint8_t *)address;
    case 2:
        return *(const volatile uint16_t *)address;
    case 4:
        return *(const volatile uint32_t *)address;
    default:
        return *(const volatile uint64_t *)address;
    }
}

static void write_memory(volatile void *address, unsigned width, uint64_t value)
{
    switch (width) {
    case 1:
        *(volatile uint8_t *)address = (uint8_t)value;
        break;
    case 2:
        *(volatile uint16_t *)address = (uint16_t)value;
        break;
    case 4:
        *(volatile uint32_t *)address = (uint32_t)value;
        break;
    default:
        *(volatile uint64_t *)address = value;
        break;
    }
}

/* There is no window any more, or never was: no device answers (PHYS-194). False: continue. */
static bool outside(const volatile void *address, const char *routine)
{
    const void *at = (const void *)(uintptr_t)address;
    const struct nt *nt = nt_state();
    struct phys_addr physical;
    char what[192] = "";

    if (!bus_window_space(nt->bus, at) ||
        (!bus_register_space(nt->bus, at) && bus_physical(nt->bus, at, &physical)))
        return false;
    if (nt_retired_view_at(at, what, sizeof(what)))
        VIOLATION("NT-139", "%s outside of a mapping, in %s", routine, what);
    else
        VIOLATION("NT-139", "%s outside of a mapping", routine);
    return true;
}

/* An access to a register contains points of its own. */
static uint64_t read_register(const volatile void *address, unsigned width, const char *routine)
{
    struct nt *nt = nt_state();
    uint64_t value = UINT64_MAX;

    if (!check(address, width, routine))
        return value;
    if (nt_user_range_denies((const void *)(uintptr_t)address)) /* the fault is the caller's */
        return read_memory(address, width);
    if (bus_register_read(nt->bus, address, width, &value))
        return value;
    sim_point();
    if (outside(address, routine))
        return value;
    return read_memory(address, width);
}

static void write_register(volatile void *address, unsigned width, uint64_t value,
                           const char *routine)
{
    struct nt *nt = nt_state();

    if (!check(address, width, routine))
        return;
    if (nt_user_range_denies((const void *)(uintptr_t)address)) {
        write_memory(address, width, value);
        return;
    }
    if (bus_register_write(nt->bus, address, width, value))
        return;
    sim_point();
    if (!outside(address, routine))
        write_memory(address, width, value);
}

#define DEFINE_REGISTER(SUFFIX, TYPE)                                                          \
    NT_EXPORT TYPE NTAPI READ_REGISTER_##SUFFIX(volatile TYPE *Register)                       \
    {                                                                                          \
        return (TYPE)read_register(Register, sizeof(TYPE), "READ_REGISTER_" #SUFFIX);          \
    }                                                                                          \
    NT_EXPORT VOID NTAPI WRITE_REGISTER_##SUFFIX(volatile TYPE *Register, TYPE Value)          \
    {                                                                                          \
        write_register(Register, sizeof(TYPE), Value, "WRITE_REGISTER_" #SUFFIX);              \
    }                                                                                          \
    NT_EXPORT VOID NTAPI READ_REGISTER_BUFFER_##SUFFIX(volatile TYPE *Register, TYPE *Buffer,  \
                                                       ULONG Count)                            \
    {                                                                                          \
        for (ULONG i = 0; i < Count; i++)                                                      \
            Buffer[i] = (TYPE)read_register(&Register[i], sizeof(TYPE),                        \
                                            "READ_REGISTER_BUFFER_" #SUFFIX);                  \
    }                                                                                          \
    NT_EXPORT VOID NTAPI WRITE_REGISTER_BUFFER_##SUFFIX(volatile TYPE *Register, TYPE *Buffer, \
                                                        ULONG Count)                           \
    {                                                                                          \
        for (ULONG i = 0; i < Count; i++)                                                      \
            write_register(&Register[i], sizeof(TYPE), Buffer[i],                              \
                           "WRITE_REGISTER_BUFFER_" #SUFFIX);                                  \
    }

DEFINE_REGISTER(UCHAR, UCHAR)
DEFINE_REGISTER(USHORT, USHORT)
DEFINE_REGISTER(ULONG, ULONG)
DEFINE_REGISTER(ULONG64, ULONG64)

/* Port accessors: a pointer to a port contains the port number. */
static uint32_t read_port(const volatile void *port, unsigned width, const char *routine)
{
    uint32_t value;

    if (!bus_port_read(nt_state()->bus, (uint32_t)(uintptr_t)port, width, &value))
        VIOLATION("NT-139", "%s of port %#x, which no device has", routine,
                  (unsigned)(uintptr_t)port);
    return value;
}

static void write_port(const volatile void *port, unsigned width, uint32_t value,
                       const char *routine)
{
    if (!bus_port_write(nt_state()->bus, (uint32_t)(uintptr_t)port, width, value))
        VIOLATION("NT-139", "%s of port %#x, which no device has", routine,
                  (unsigned)(uintptr_t)port);
}

#define DEFINE_PORT(SUFFIX, TYPE)                                                          \
    NT_EXPORT TYPE NTAPI READ_PORT_##SUFFIX(TYPE *Port)                                    \
    {                                                                                      \
        NT_ENTER_SHORT();                                                                  \
        return (TYPE)read_port(Port, sizeof(TYPE), __func__);                              \
    }                                                                                      \
    NT_EXPORT VOID NTAPI WRITE_PORT_##SUFFIX(TYPE *Port, TYPE Value)                       \
    {                                                                                      \
        NT_ENTER_SHORT();                                                                  \
        write_port(Port, sizeof(TYPE), Value, __func__);                                   \
    }                                                                                      \
    NT_EXPORT VOID NTAPI READ_PORT_BUFFER_##SUFFIX(TYPE *Port, TYPE *Buffer, ULONG Count)  \
    {                                                                                      \
        NT_ENTER_SHORT();                                                                  \
        for (ULONG i = 0; i < Count; i++)                                                  \
            Buffer[i] = (TYPE)read_port(Port, sizeof(TYPE), __func__);                     \
    }                                                                                      \
    NT_EXPORT VOID NTAPI WRITE_PORT_BUFFER_##SUFFIX(TYPE *Port, TYPE *Buffer, ULONG Count) \
    {                                                                                      \
        NT_ENTER_SHORT();                                                                  \
        for (ULONG i = 0; i < Count; i++)                                                  \
            write_port(Port, sizeof(TYPE), Buffer[i], __func__);                           \
    }

DEFINE_PORT(UCHAR, UCHAR)
DEFINE_PORT(USHORT, USHORT)
DEFINE_PORT(ULONG, ULONG)
