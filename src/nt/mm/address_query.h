/* SPDX-License-Identifier: MIT */
/*
 * Questions about addresses: whether they are kernel or user addresses, and how the memory is
 * cached.
 */
#ifndef DXGK_NT_ADDRESS_H
#define DXGK_NT_ADDRESS_H

#include <stdbool.h>

#include <ntddk.h>

#include "ram/ram.h"

/* Whether it is an address of the simulated kernel (pool, views, BARs, kernel stacks), not of a
 * client. */
bool nt_address_is_kernel(const void *address);
bool nt_address_is_user(const void *address);

/* Who was given this physical address, or another of its page, by MmGetPhysicalAddress lately: the
 * return address of the call; NULL: nobody. */
const void *nt_address_asked(uint64_t physical);

/* The cache attribute of the memory at the address, through whatever mapping: for RAM, that of the
 * page's allocation (PHYS-025); for device memory, that of the mapping. False: not simulated
 * memory. */
bool nt_address_cache(const void *address, enum ram_cache *cache);
/* The cache attribute for a Windows caching type. */
enum ram_cache nt_address_cache_type(MEMORY_CACHING_TYPE type);

#endif
