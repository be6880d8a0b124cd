/* SPDX-License-Identifier: MIT */
/*
 * Questions about addresses: whose they are, and what they are cached as.
 */
#ifndef DXGK_NT_ADDRESS_H
#define DXGK_NT_ADDRESS_H

#include <stdbool.h>

#include <ntddk.h>

#include "ram/ram.h"

/* Is it an address of the simulated kernel (pool, views, BARs, kernel stacks), not of a client? */
bool nt_address_is_kernel(const void *address);
bool nt_address_is_user(const void *address);

/* What memory at the address is cached as, by whatever mapping it is reached: RAM as its page was
 * allocated (PHYS-025), device memory as it was mapped. False: no simulated memory. */
bool nt_address_cache(const void *address, enum ram_cache *cache);
/* The page attribute that a type stands for. */
enum ram_cache nt_address_cache_type(MEMORY_CACHING_TYPE type);

#endif
