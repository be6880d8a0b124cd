/* SPDX-License-Identifier: MIT */
/*
 * Memory as driver code addresses it: device registers, the shared data page, the missing parts of
 * processor blocks, and everything else, which is plain.
 */
#include "x64/traps/memory.h"
#include "bus/bus.h"
#include "bus/window.h"
#include "nt/mm/race_access.h"
#include "nt/mm/race_guard.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "nt/nt.h"
#include "race/race.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "verify/verify.h"
#include "x64/traps/block.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/plan.h"
#include "x64/traps/refuse.h"
#include "x64/traps/shared_data.h"
#include "x64/traps/state.h"

#include <inttypes.h>
#include <string.h>

enum region { PLAIN, REGISTER, SHARED, GAP };

static enum region region_of(uintptr_t address)
{
    if (bus_register_space(bus_current(), (const void *)address))
        return nt_user_range_denies((const void *)address) ? PLAIN : REGISTER;
    if (address - X64_SHARED_DATA < X64_PAGE)
        return SHARED;
    if (x64_block_gap(x64_state(), address))
        return GAP;
    return PLAIN;
}

bool x64_traps_at(uintptr_t address)
{
    return region_of(address) != PLAIN;
}

/* The widest access to the device that the remaining bytes allow (NT-171). */
static uint32_t register_width(uint32_t bytes)
{
    return bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
}

/* NT-139 also applies to registers that are accessed through pointers. */
static bool is_aligned(const struct x64_plan *plan, const struct x64_interrupted *frame,
                       uintptr_t address, uint32_t width)
{
    char place[128];

    if (address % width == 0)
        return true;
    x64_place(plan, frame, place, sizeof(place));
    VIOLATION("NT-139", "%s: register access at an address that is not aligned to %u bytes", place,
              width);
    return false;
}

static void report_outside(const struct x64_plan *plan, const struct x64_interrupted *frame,
                           uintptr_t address)
{
    char place[128], what[192] = "";

    x64_place(plan, frame, place, sizeof(place));
    if (nt_retired_view_at((const void *)address, what, sizeof(what))) /* PHYS-194 */
        VIOLATION("NT-139", "%s: register access outside of a mapping, in %s", place, what);
    else
        VIOLATION("NT-139", "%s: register access outside of a mapping", place);
}

static void read_registers(const struct x64_plan *plan, const struct x64_interrupted *frame,
                           uintptr_t address, uint32_t bytes, uint8_t *to)
{
    struct bus *bus = bus_current();

    for (uint32_t done = 0, width; done < bytes; done += width) {
        uint64_t value = UINT64_MAX;

        width = register_width(bytes - done);
        if (is_aligned(plan, frame, address + done, width) &&
            !bus_register_read(bus, (const void *)(address + done), width, &value))
            report_outside(plan, frame, address + done);
        memcpy(to + done, &value, width);
    }
}

static void write_registers(const struct x64_plan *plan, const struct x64_interrupted *frame,
                            uintptr_t address, uint32_t bytes, const uint8_t *from)
{
    struct bus *bus = bus_current();

    for (uint32_t done = 0, width; done < bytes; done += width) {
        uint64_t value = 0;

        width = register_width(bytes - done);
        memcpy(&value, from + done, width);
        if (is_aligned(plan, frame, address + done, width) &&
            !bus_register_write(bus, (void *)(address + done), width, value))
            report_outside(plan, frame, address + done);
    }
}

static void report_gap(const struct x64_plan *plan, const struct x64_interrupted *frame,
                       uintptr_t address)
{
    char place[128];

    x64_place(plan, frame, place, sizeof(place));
    VIOLATION("NT-173", "%s: gs:[%#" PRIxPTR "], a member of the processor block that is not there",
              place, address - x64_gs_base());
}

/* The first byte of the range that faults. */
static uintptr_t culprit(uintptr_t address)
{
    uint8_t byte;

    if (!sim_copy_checked(&byte, (const void *)address, 1))
        return address;
    return (address | (X64_PAGE - 1)) + 1;
}

/* For the detector of races: the driver's own instruction would have trapped there, too. One that
 * is interlocked has been recorded. */
static void note_plain(const struct x64_plan *plan, const struct x64_interrupted *frame,
                       uintptr_t address, uint32_t bytes, unsigned kind)
{
    if (sim_current->races && !plan->locked && nt_race_guard_traps(address, (uintptr_t)frame->rip))
        nt_race_access((const void *)address, bytes, RACE_IMAGE | kind, (uintptr_t)frame->rip);
}

bool x64_read(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
              uint32_t bytes, void *to)
{
    switch (region_of(address)) {
    case REGISTER:
        read_registers(plan, frame, address, bytes, to);
        return true;
    case SHARED:
        if (bytes > X64_PAGE - (address - X64_SHARED_DATA)) {
            x64_refuse(frame, SIM_FAULT_READ, X64_SHARED_DATA + X64_PAGE);
            return false;
        }
        x64_shared_data_read((uint32_t)(address - X64_SHARED_DATA), bytes, to);
        return true;
    case GAP:
        report_gap(plan, frame, address);
        memset(to, 0, bytes);
        return true;
    default:
        note_plain(plan, frame, address, bytes, 0);
        if (sim_copy_checked(to, (const void *)address, bytes))
            return true;
        x64_refuse(frame, SIM_FAULT_READ, culprit(address));
        return false;
    }
}

bool x64_write(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
               uint32_t bytes, const void *from)
{
    switch (region_of(address)) {
    case REGISTER:
        write_registers(plan, frame, address, bytes, from);
        return true;
    case SHARED:
        x64_refuse(frame, SIM_FAULT_WRITE, address);
        return false;
    case GAP:
        report_gap(plan, frame, address);
        return true;
    default:
        note_plain(plan, frame, address, bytes, RACE_WRITE);
        if (sim_copy_checked((void *)address, from, bytes))
            return true;
        x64_refuse(frame, SIM_FAULT_WRITE, culprit(address));
        return false;
    }
}
