/* SPDX-License-Identifier: MIT */
/* The pool as drivers use it: ExAllocatePool*, ExFreePool*. This file checks arguments; pool.c
 * relies on that. */
#include <string.h>

#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/image.h"
#include "nt/base/nt_report.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/raise.h"
#include "nt/mm/address_query.h"
#include "nt/mm/mdl.h"
#include "nt/mm/pool.h"
#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/dpc.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "util/address.h"
#include "verify/verify.h"

#define BAD_POOL_CALLER         0xC2u
#define POOL_TYPE_PAGED         0x1u
#define POOL_TYPE_MUST_SUCCEED  0x2u
#define POOL_TYPE_CACHE_ALIGNED 0x4u
#define POOL_TYPE_SESSION       0x20u
#define POOL_FLAGS_KNOWN                                                                           \
    (POOL_FLAG_USE_QUOTA | POOL_FLAG_UNINITIALIZED | POOL_FLAG_SESSION | POOL_FLAG_CACHE_ALIGNED | \
     POOL_FLAG_RAISE_ON_FAILURE | POOL_FLAG_NON_PAGED | POOL_FLAG_NON_PAGED_EXECUTE |              \
     POOL_FLAG_PAGED)
#define TAG_NONE 0x656E6F4Eu /* "None" */
#define TAG_BIG  0x00474942u /* "BIG" */

static bool tag_valid(uint32_t tag)
{
    unsigned length = 0;
    bool significant = false;

    while (length < 4 && (tag >> (8 * length) & 0xFF) != 0) {
        uint32_t c = tag >> (8 * length) & 0xFF;

        if (c < 0x20 || c > 0x7E)
            return false;
        if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
            significant = true;
        length++;
    }
    /* Zero bytes are allowed only at the end. */
    return significant && (length == 4 || tag >> (8 * length) == 0);
}

static void check_tag(uint32_t tag, const char *routine)
{
    char text[5];

    if (tag == 0) {
        verify_fatal("NT-011", BAD_POOL_CALLER, 0x9B, 0, 0, 0, "%s with tag 0", routine);
    } else if (tag == TAG_BIG) {
        verify_fatal("NT-011", BAD_POOL_CALLER, 0x9C, 0, 0, 0, "%s with tag BIG", routine);
    } else if (!tag_valid(tag)) {
        nt_pool_tag_text(tag, text);
        verify_fatal("NT-011", BAD_POOL_CALLER, 0x9D, 0, tag, 0,
                     "%s with tag '%s' (%#x), which has no letter or digit or an unprintable byte",
                     routine, text, tag);
    }
}

static void check_level(bool paged, const char *routine)
{
    uint8_t irql = sim_irql();

    if (paged && irql > SIM_IRQL_APC)
        NT_VERIFIER("NT-009", 0x01, irql, PagedPool, 0, "%s of paged pool at %s", routine,
                    nt_irql_name(irql));
    else if (irql > SIM_IRQL_DISPATCH)
        NT_VERIFIER("NT-009", 0x02, irql, NonPagedPool, 0, "%s of nonpaged pool at %s", routine,
                    nt_irql_name(irql));
}

static void check_unloading(uint64_t bytes, const char *routine)
{
    const struct nt_image *image = nt_image_current();

    if (image && image->unloading)
        NT_VERIFIER("NT-027", 0x61, bytes, 0, 0, "%s of %llu bytes while %s unloads", routine,
                    (unsigned long long)bytes, image->name);
}

/* Common part of all allocation routines. */
static void *allocate(uint64_t bytes, uint32_t tag, enum nt_pool_kind kind, bool zero,
                      const char *routine, const void *caller)
{
    bool paged = kind == NT_POOL_PAGED;
    struct nt_block *block;

    if (bytes == 0)
        NT_VERIFIER("NT-010", 0x00, sim_irql(), paged, 0, "%s of zero bytes", routine);
    check_level(paged, routine);
    check_unloading(bytes, routine);
    block = nt_pool_take(bytes, tag, kind, zero, caller);
    return block ? block->address : NULL;
}

static void check_type(POOL_TYPE type, const char *routine)
{
    uint32_t bits = (uint32_t)type;

    if (bits & POOL_TYPE_MUST_SUCCEED)
        verify_fatal("NT-012", BAD_POOL_CALLER, 0x9A, bits, 0, 0, "%s of must-succeed pool",
                     routine);
    else if (bits & (POOL_TYPE_SESSION | POOL_TYPE_CACHE_ALIGNED))
        WARNING("NT-012", "%s of pool type %u, which is not for drivers", routine, bits);
}

/* NT-012: NonPagedPool is executable, unless the driver has opted in to no-execute pool. */
static enum nt_pool_kind kind_of(uint32_t type)
{
    if (type & POOL_TYPE_PAGED)
        return NT_POOL_PAGED;
    return type & POOL_NX_ALLOCATION ? NT_POOL_NONPAGED : NT_POOL_EXECUTABLE;
}

static enum nt_pool_kind kind_of_flag(uint64_t flag)
{
    return flag == POOL_FLAG_PAGED               ? NT_POOL_PAGED
           : flag == POOL_FLAG_NON_PAGED_EXECUTE ? NT_POOL_EXECUTABLE
                                                 : NT_POOL_NONPAGED;
}

static void *allocate_typed(POOL_TYPE type, SIZE_T bytes, ULONG tag, bool raise,
                            const char *routine, const void *caller)
{
    uint32_t bits = (uint32_t)type;
    void *block;

    check_type(type, routine);
    block = allocate(bytes, tag, kind_of(bits), bits & POOL_ZERO_ALLOCATION, routine, caller);
    if (!block && raise)
        nt_raise(STATUS_INSUFFICIENT_RESOURCES, "NT-013", routine);
    return block;
}

NT_EXPORT PVOID NTAPI ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    NT_ENTER();
    check_tag(Tag, __func__);
    return allocate_typed(PoolType, NumberOfBytes, Tag,
                          (uint32_t)PoolType & POOL_RAISE_IF_ALLOCATION_FAILURE, __func__,
                          NT_CALLER());
}

NT_EXPORT PVOID NTAPI ExAllocatePool(POOL_TYPE PoolType, SIZE_T NumberOfBytes)
{
    NT_ENTER();
    return allocate_typed(PoolType, NumberOfBytes, TAG_NONE,
                          (uint32_t)PoolType & POOL_RAISE_IF_ALLOCATION_FAILURE, __func__,
                          NT_CALLER());
}

NT_EXPORT PVOID NTAPI ExAllocatePoolWithTagPriority(POOL_TYPE PoolType, SIZE_T NumberOfBytes,
                                                    ULONG Tag, EX_POOL_PRIORITY Priority)
{
    NT_ENTER();
    (void)Priority;
    check_tag(Tag, __func__);
    return allocate_typed(PoolType, NumberOfBytes, Tag,
                          (uint32_t)PoolType & POOL_RAISE_IF_ALLOCATION_FAILURE, __func__,
                          NT_CALLER());
}

NT_EXPORT PVOID NTAPI ExAllocatePoolWithQuotaTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    NT_ENTER();
    check_tag(Tag, __func__);
    if (sim_in_dpc())
        NT_VERIFIER("NT-014", 0x10B, 0, 0, 0, "%s in a DPC routine", __func__);
    else if (!nt_thread()->sim)
        NT_VERIFIER("NT-014", 0x10A, 0, 0, 0, "%s in the idle process", __func__);
    return allocate_typed(
        (POOL_TYPE)((uint32_t)PoolType & ~(uint32_t)POOL_QUOTA_FAIL_INSTEAD_OF_RAISE), NumberOfBytes,
        Tag, !((uint32_t)PoolType & POOL_QUOTA_FAIL_INSTEAD_OF_RAISE), __func__, NT_CALLER());
}

static void *allocate_flags(POOL_FLAGS flags, SIZE_T bytes, ULONG tag, const char *routine,
                            const void *caller)
{
    uint64_t pool = flags & (POOL_FLAG_NON_PAGED | POOL_FLAG_NON_PAGED_EXECUTE | POOL_FLAG_PAGED);
    void *block = NULL;

    if (tag != 0 && is_power_of_two(pool) &&
        (flags & POOL_FLAG_REQUIRED_MASK & ~POOL_FLAGS_KNOWN) == 0) {
        if (!tag_valid(tag))
            check_tag(tag, routine);
        block = allocate(bytes, tag, kind_of_flag(pool), !(flags & POOL_FLAG_UNINITIALIZED),
                         routine, caller);
    }
    if (!block && flags & POOL_FLAG_RAISE_ON_FAILURE)
        nt_raise(STATUS_INSUFFICIENT_RESOURCES, "NT-017", routine);
    return block;
}

NT_EXPORT PVOID NTAPI ExAllocatePool2(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag)
{
    NT_ENTER();
    return allocate_flags(Flags, NumberOfBytes, Tag, __func__, NT_CALLER());
}

static bool parameters_valid(PCPOOL_EXTENDED_PARAMETER parameters, ULONG count)
{
    if (count != 0 && !parameters)
        return false;
    for (ULONG i = 0; i < count; i++) {
        if (parameters[i].Optional)
            continue;
        if (parameters[i].Type != PoolExtendedParameterPriority &&
            parameters[i].Type != PoolExtendedParameterNumaNode)
            return false;
    }
    return true;
}

NT_EXPORT PVOID NTAPI ExAllocatePool3(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag,
                                      PCPOOL_EXTENDED_PARAMETER ExtendedParameters,
                                      ULONG ExtendedParametersCount)
{
    NT_ENTER();
    if (!parameters_valid(ExtendedParameters, ExtendedParametersCount))
        return NULL;
    return allocate_flags(Flags, NumberOfBytes, Tag, __func__, NT_CALLER());
}

/* ---- freeing ---- */

static void bad_address(const void *address, const struct nt_block *block, const char *routine)
{
    if (!address)
        NT_VERIFIER("NT-024", 0x10, 0, 0, 0, "%s of NULL", routine);
    else if (block && block->freed)
        NT_VERIFIER("NT-023", 0x13, (uintptr_t)address, 0, 0,
                    "%s of a block of %llu bytes that is free already", routine,
                    (unsigned long long)block->bytes);
    else if (block)
        NT_VERIFIER("NT-023", 0x16, (uintptr_t)address, (uintptr_t)block->address, 0,
                    "%s of an address %llu bytes inside a block", routine,
                    (unsigned long long)((const uint8_t *)address - block->address));
    else if (nt_address_is_user(address))
        verify_fatal("NT-023", BAD_POOL_CALLER, 0x40, (uintptr_t)address, 0, 0,
                     "%s of a user-mode address", routine);
    else
        NT_VERIFIER("NT-023", 0x10, (uintptr_t)address, 0, 0,
                    "%s of an address that no allocation returned", routine);
}

static void check_free_level(const struct nt_block *block, const char *routine)
{
    uint8_t irql = sim_irql();

    if (block->paged && irql > SIM_IRQL_APC)
        NT_VERIFIER("NT-020", 0x11, irql, PagedPool, (uintptr_t)block->address,
                    "%s of paged pool at %s", routine, nt_irql_name(irql));
    else if (irql > SIM_IRQL_DISPATCH)
        NT_VERIFIER("NT-020", 0x12, irql, NonPagedPool, (uintptr_t)block->address,
                    "%s of nonpaged pool at %s", routine, nt_irql_name(irql));
}

/* tag 0 matches any (NT-022). */
static void free_block(void *address, uint32_t tag, const char *routine, const void *caller)
{
    struct nt_block *block = nt_pool_find(address);
    char have[5], given[5];

    if (nt_mdl_is_lent(address, routine))
        return;
    if (!block || block->freed || block->address != address) {
        bad_address(address, block, routine);
        return;
    }
    check_free_level(block, routine);
    if (tag != 0 && tag != block->tag) {
        nt_pool_tag_text(block->tag, have);
        nt_pool_tag_text(tag, given);
        verify_fatal("NT-021", BAD_POOL_CALLER, 0x0A, (uintptr_t)address, block->tag, tag,
                     "%s with tag '%s' of a block of %llu bytes with tag '%s'", routine, given,
                     (unsigned long long)block->bytes, have);
        return;
    }
    nt_mdl_forget(address, routine, caller);
    if (sim_current->races)
        nt_race_access(address, block->bytes, RACE_WRITE | RACE_FREE, (uintptr_t)caller);
    nt_pool_give(block);
}

NT_EXPORT VOID NTAPI ExFreePoolWithTag(PVOID P, ULONG Tag)
{
    NT_ENTER();
    free_block(P, Tag, __func__, NT_CALLER());
}

NT_EXPORT VOID NTAPI ExFreePool(PVOID P)
{
    NT_ENTER();
    free_block(P, 0, __func__, NT_CALLER());
}

NT_EXPORT VOID NTAPI ExFreePool2(PVOID P, ULONG Tag, PCPOOL_EXTENDED_PARAMETER ExtendedParameters,
                                 ULONG ExtendedParametersCount)
{
    NT_ENTER();
    if (!parameters_valid(ExtendedParameters, ExtendedParametersCount))
        VIOLATION("NT-019", "%s with an invalid extended parameter", __func__);
    free_block(P, Tag, __func__, NT_CALLER());
}
