/* SPDX-License-Identifier: MIT */
/* Address descriptor lists (ADLs) for a range of an object: what drivers get from
 * DxgkCbAllocateAdl, and the pins of frame buffer saves. */
#ifndef DXGK_PHYSMEM_PHYSICAL_ADL_H
#define DXGK_PHYSMEM_PHYSICAL_ADL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "physmem/physical_tracked.h"
#include "util/list.h"

struct physical_adapter;
struct physical_object;

struct physical_adl {
    struct physical_tracked tracked; /* key: address of the DXGK_ADL */
    struct physical_object *object;
    struct list of_opened; /* in physical_adapter_object.adls; a pin is in no list */
    DXGK_ADL *adl;
    bool apart;                  /* a driver's: in pages of its own */
    DXGK_PAGE_NUMBER *pages_out; /* follows the ADL, unless contiguous */
    uint64_t arena_bytes;
    uint64_t first_page, pages; /* range of the object */
    uint64_t logical_first;     /* REMAP: first logical page */
    bool contiguous;
};

struct physical_adl_request {
    struct physical_object *object;
    struct physical_adapter *adapter;
    enum physical_kind kind;    /* PHYSICAL_ADL or PHYSICAL_PIN */
    uint64_t first_page, pages; /* range of the object */
    bool want_contiguous;       /* one run instead of an array, if the pages are contiguous */
};

NTSTATUS physical_adl_create(const struct physical_adl_request *request, struct physical_adl **out);
/* Reports a list that the driver has changed (PHYS-178); unmaps and unlocks. */
void physical_adl_destroy(struct physical_adl *adl);

#endif
