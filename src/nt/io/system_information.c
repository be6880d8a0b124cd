/* SPDX-License-Identifier: MIT */
/*
 * ZwQuerySystemInformation: processors and memory, the time of day, the version's architecture, the
 * debugger, and the loaded modules (NT-180). Other classes do not exist here.
 */
#include <stdio.h>
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/image.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/time.h"
#include "nt/mm/address_query.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "util/list.h"

#define BASIC_INFORMATION     0u
#define PROCESSOR_INFORMATION 1u
#define TIME_OF_DAY           3u
#define MODULES               11u
#define KERNEL_DEBUGGER       35u

#define KERNEL_BASE  0xFFFFF80000000000u /* nothing is mapped there; a driver only compares it */
#define KERNEL_BYTES 0x1000000u
#define MODULE_PATH  256u
#define SYSTEM_ROOT  "\\SystemRoot\\System32\\"

struct basic_information {
    uint32_t reserved, timer_resolution, page_size, physical_pages, lowest_page, highest_page,
        allocation_granularity, padding;
    uint64_t lowest_user_address, highest_user_address, affinity;
    uint8_t processors, more_padding[7];
};

struct processor_information {
    uint16_t architecture, level, revision, maximum_processors;
    uint32_t features;
};

struct time_of_day {
    uint64_t boot_time, current_time, zone_bias;
    uint32_t zone, reserved;
    uint64_t boot_time_bias, sleep_time_bias;
};

struct module {
    uint64_t section, mapped_base, base;
    uint32_t size, flags;
    uint16_t load_order, initialization_order, load_count, name_offset;
    char path[MODULE_PATH];
};
_Static_assert(sizeof(struct basic_information) == 64, "as the documented structure");
_Static_assert(sizeof(struct time_of_day) == 48, "as the documented structure");
_Static_assert(sizeof(struct module) == 296, "RTL_PROCESS_MODULE_INFORMATION");

struct answer {
    void *to;
    ULONG room, needed;
};

/* An answer of one size, which the buffer must have. */
static NTSTATUS give(struct answer *answer, const void *data, ULONG bytes)
{
    answer->needed = bytes;
    if (answer->room != bytes)
        return STATUS_INFO_LENGTH_MISMATCH;
    memcpy(answer->to, data, bytes);
    return STATUS_SUCCESS;
}

static NTSTATUS basic(struct answer *answer)
{
    const struct ram *ram = nt_state()->ram;
    struct basic_information data = {
        .timer_resolution = NT_TICK_100NS,
        .page_size = PAGE_SIZE,
        .physical_pages = (uint32_t)(ram_bytes(ram) / PAGE_SIZE),
        .highest_page = (uint32_t)(ram_highest(ram).value / PAGE_SIZE),
        .allocation_granularity = 0x10000,
        .lowest_user_address = 0x10000,
        .highest_user_address = (uint64_t)(uintptr_t)MmHighestUserAddress,
        .affinity = (uint64_t)KeQueryActiveProcessors(),
        .processors = (uint8_t)sim_current->processors,
    };

    return give(answer, &data, sizeof(data));
}

static NTSTATUS processors(struct answer *answer)
{
    const struct processor_information data = {
        .architecture = 9, /* PROCESSOR_ARCHITECTURE_AMD64 */
        .level = 6,
        .maximum_processors = (uint16_t)sim_current->processors,
    };

    return give(answer, &data, sizeof(data));
}

/* A shorter buffer gets the beginning. */
static NTSTATUS time_of_day(struct answer *answer)
{
    const struct time_of_day data = {
        .boot_time = nt_state()->config.boot_time,
        .current_time = nt_time_system(),
    };

    answer->needed = sizeof(data);
    if (answer->room > sizeof(data))
        return STATUS_INFO_LENGTH_MISMATCH;
    answer->needed = answer->room;
    if (answer->room)
        memcpy(answer->to, &data, answer->room);
    return STATUS_SUCCESS;
}

static NTSTATUS debugger(struct answer *answer)
{
    const uint8_t data[2] = {0, 1}; /* enabled, not present */

    return give(answer, data, sizeof(data));
}

/* The module of this number in an array that may be too short for it. */
static void add_module(const struct answer *answer, ULONG number, const char *name, uint64_t base,
                       uint64_t bytes)
{
    const char *folder = number == 0 ? SYSTEM_ROOT : SYSTEM_ROOT "drivers\\";
    ULONG offset = 8 + number * (ULONG)sizeof(struct module);
    struct module module = {
        .base = base,
        .size = (uint32_t)bytes,
        .load_order = (uint16_t)number,
        .load_count = 1,
        .name_offset = (uint16_t)strlen(folder),
    };

    if (offset + sizeof(module) > answer->room)
        return;
    snprintf(module.path, sizeof(module.path), "%s%s", folder, name);
    memcpy((char *)answer->to + offset, &module, sizeof(module));
}

static NTSTATUS modules(struct answer *answer)
{
    ULONG count = 0;

    add_module(answer, count++, "ntoskrnl.exe", KERNEL_BASE, KERNEL_BYTES);
    LIST_FOR(node, &nt_state()->images->all) {
        const struct nt_image *image = CONTAINER(node, struct nt_image, link);

        add_module(answer, count++, image->name, image->base, image->bytes);
    }
    answer->needed = 8 + count * (ULONG)sizeof(struct module);
    if (answer->room >= sizeof(count))
        memcpy(answer->to, &count, sizeof(count));
    return answer->room < answer->needed ? STATUS_INFO_LENGTH_MISMATCH : STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ZwQuerySystemInformation(ULONG SystemInformationClass,
                                                  PVOID SystemInformation,
                                                  ULONG SystemInformationLength, PULONG ReturnLength)
{
    struct answer answer = {.to = SystemInformation, .room = SystemInformationLength};
    NTSTATUS status = STATUS_INVALID_INFO_CLASS;

    NT_ENTER();
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!SystemInformation)
        answer.room = 0;
    if (SystemInformationClass == BASIC_INFORMATION)
        status = basic(&answer);
    else if (SystemInformationClass == PROCESSOR_INFORMATION)
        status = processors(&answer);
    else if (SystemInformationClass == TIME_OF_DAY)
        status = time_of_day(&answer);
    else if (SystemInformationClass == MODULES)
        status = modules(&answer);
    else if (SystemInformationClass == KERNEL_DEBUGGER)
        status = debugger(&answer);
    if (ReturnLength && status != STATUS_INVALID_INFO_CLASS)
        *ReturnLength = answer.needed;
    return status;
}
