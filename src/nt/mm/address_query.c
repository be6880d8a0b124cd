/* SPDX-License-Identifier: MIT */
/* Questions about addresses: physical address, validity, user or kernel. */
#include "nt/mm/address_query.h"
#include "bus/window.h"
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/raise.h"
#include "nt/mm/pool.h"
#include "nt/mm/user_range.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "util/address.h"
#include "util/checked.h"
#include "verify/verify.h"

#define LOWEST_USER  0x10000u
#define SYSTEM_START 0xFFFF800000000000u
#define USER_PROBE   0x00007FFFFFFF0000u

/* A driver of a PE image reaches these through a pointer, one of an ELF image by name; the loader
 * knows the difference. */
NT_EXPORT_VALUE ULONG_PTR MmUserProbeAddress = USER_PROBE;
NT_EXPORT_VALUE PVOID MmHighestUserAddress = (PVOID)(USER_PROBE - 1);
NT_EXPORT_VALUE PVOID MmSystemRangeStart = (PVOID)SYSTEM_START;

/*
 * Hosted code has one address space. Kernel addresses are those that the kernel hands out:
 * simulated RAM other than clients' own, device memory, and the stacks of kernel threads. A
 * client's stack stays a user address even while the client is inside the kernel.
 */
bool nt_address_is_kernel(const void *address)
{
    struct nt *nt = nt_state();
    struct sim_thread *thread = sim_current->thread;
    struct phys_addr physical;

    if ((uintptr_t)address >= USER_PROBE)
        return true;
    if (nt_user_range_holds(address))
        return false;
    if (ram_physical(nt->ram, address, &physical))
        return ram_page_owner(nt->ram, phys_page(physical)) != RAM_CLIENT;
    if (bus_window_space(nt->bus, address) || bus_physical(nt->bus, address, &physical))
        return true;
    return nt_memory_on_stack(address) && (!thread || sim_thread_kind(thread) == SIM_THREAD_KERNEL);
}

bool nt_address_is_user(const void *address)
{
    struct nt *nt = nt_state();
    struct phys_addr physical;

    if ((uintptr_t)address < LOWEST_USER || nt_user_range_holds(address))
        return true;
    return ram_physical(nt->ram, address, &physical) &&
           ram_page_owner(nt->ram, phys_page(physical)) == RAM_CLIENT;
}

/* ---- caching ---- */

bool nt_address_cache(const void *address, enum ram_cache *cache)
{
    const struct nt *nt = nt_state();
    struct phys_addr physical;

    if (!ram_physical(nt->ram, address, &physical))
        return bus_cache(nt->bus, address, cache);
    *cache = ram_page_cache(nt->ram, phys_page(physical));
    return true;
}

enum ram_cache nt_address_cache_type(MEMORY_CACHING_TYPE type)
{
    switch (type) {
    case MmNonCached:
    case MmNonCachedUnordered:
        return RAM_NON_CACHED;
    case MmWriteCombined:
    case MmUSWCCached:
        return RAM_WRITE_COMBINED;
    default:
        return RAM_CACHED;
    }
}

/* ---- physical addresses ---- */

/* Why the address has no stable physical address; NULL: it has one. */
static const char *unfit(const void *address, struct phys_addr *physical)
{
    struct nt *nt = nt_state();
    const struct nt_block *block;

    if (bus_physical(nt->bus, address, physical))
        return NULL;
    if (!ram_physical(nt->ram, address, physical))
        return "memory that is not simulated RAM";
    block = nt_pool_find(address);
    if (block && block->freed)
        return "freed pool";
    if (block && block->paged)
        return "paged pool";
    switch (ram_page_owner(nt->ram, phys_page(*physical))) {
    case RAM_FREE:
    case RAM_QUARANTINED:
        return "freed memory";
    case RAM_CLIENT:
        return "a user address";
    default:
        return NULL;
    }
}

/* Pages whose physical address a driver was told last: with DMA remapping they are no addresses of
 * the device's. */
#define ASKED 64u

struct nt_asked {
    struct {
        uint64_t page;
        const void *caller;
    } each[ASKED];
    uint64_t count;
};

const struct nt_component nt_asked_component = {
    .slot = offsetof(struct nt, asked),
    .bytes = sizeof(struct nt_asked),
};

static void note_asked(uint64_t physical, const void *caller)
{
    struct nt_asked *asked = nt_state()->asked;
    const uint64_t at = asked->count++ % ASKED;

    asked->each[at].page = physical / PAGE_BYTES;
    asked->each[at].caller = caller;
}

const void *nt_address_asked(uint64_t physical)
{
    const struct nt_asked *asked = nt_state() ? nt_state()->asked : NULL;

    for (uint64_t i = asked ? asked->count : 0, seen = 0; i-- > 0 && seen < ASKED; seen++)
        if (asked->each[i % ASKED].page == physical / PAGE_BYTES)
            return asked->each[i % ASKED].caller;
    return NULL;
}

NT_EXPORT PHYSICAL_ADDRESS NTAPI MmGetPhysicalAddress(PVOID BaseAddress)
{
    PHYSICAL_ADDRESS result = {.QuadPart = 0};
    struct phys_addr physical;
    const char *why;

    NT_ENTER();
    why = unfit(BaseAddress, &physical);
    if (why)
        VIOLATION("NT-138", "%s of %s", __func__, why);
    else
        result.QuadPart = (LONGLONG)physical.value;
    if (!why)
        note_asked(physical.value, NT_CALLER());
    return result;
}

NT_EXPORT PVOID NTAPI MmGetVirtualForPhysical(PHYSICAL_ADDRESS PhysicalAddress)
{
    NT_ENTER();
    return ram_direct(nt_state()->ram, (struct phys_addr){(uint64_t)PhysicalAddress.QuadPart});
}

NT_EXPORT BOOLEAN NTAPI MmIsAddressValid(PVOID VirtualAddress)
{
    struct nt *nt;
    struct phys_addr physical;
    uint8_t byte;

    NT_ENTER();
    nt = nt_state();
    if (nt_user_range_denies(VirtualAddress)) /* PHYS-195 */
        return FALSE;
    if (bus_window_space(nt->bus, VirtualAddress))
        return bus_physical(nt->bus, VirtualAddress, &physical);
    if (ram_physical(nt->ram, VirtualAddress, &physical))
        return ram_page_owner(nt->ram, phys_page(physical)) != RAM_FREE;
    return sim_copy_checked(&byte, VirtualAddress, 1);
}

/* One range from 0 to the top, and the zero entry that ends the list. The driver frees it. */
NT_EXPORT PPHYSICAL_MEMORY_RANGE NTAPI MmGetPhysicalMemoryRanges(void)
{
    struct nt_block *block;
    PPHYSICAL_MEMORY_RANGE range;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return NULL;
    block = nt_pool_take(2 * sizeof(*range), 0x686D6D4Du /* "Mmmh" */, NT_POOL_NONPAGED, true,
                         NT_CALLER());
    if (!block)
        return NULL;
    range = (PPHYSICAL_MEMORY_RANGE)(void *)block->address;
    range->NumberOfBytes.QuadPart = (LONGLONG)ram_bytes(nt_state()->ram);
    return range;
}

/* ---- probes ---- */

static bool probe(const volatile void *address, SIZE_T length, ULONG alignment, const char *routine)
{
    const uint8_t *first = (const uint8_t *)(uintptr_t)address;
    uintptr_t end;

    if (!nt_level(NT_APC, "NT-108", NT_NO_CODE, routine) || length == 0)
        return false;
    if (alignment != 0 && (uintptr_t)first % alignment != 0) {
        nt_raise(STATUS_DATATYPE_MISALIGNMENT, "NT-108", routine);
        return false;
    }
    if (ckd_add(&end, (uintptr_t)first, length) || nt_address_is_kernel(first) ||
        nt_address_is_kernel(first + length - 1)) {
        nt_raise(STATUS_ACCESS_VIOLATION, "NT-108", routine);
        return false;
    }
    return true;
}

NT_EXPORT VOID NTAPI ProbeForRead(const volatile VOID *Address, SIZE_T Length, ULONG Alignment)
{
    NT_ENTER();
    probe(Address, Length, Alignment, __func__);
}

/* Each page must be writable: one byte of it is read and written back. */
NT_EXPORT VOID NTAPI ProbeForWrite(volatile VOID *Address, SIZE_T Length, ULONG Alignment)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)Address;
    uint8_t *end = byte + Length;

    NT_ENTER();
    if (!probe(Address, Length, Alignment, __func__))
        return;
    while (byte < end) {
        if (!sim_copy_checked(byte, byte, 1)) {
            nt_raise(STATUS_ACCESS_VIOLATION, "NT-108", __func__);
            return;
        }
        byte = (uint8_t *)PAGE_ALIGN(byte) + PAGE_SIZE;
    }
}
