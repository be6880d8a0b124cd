/* SPDX-License-Identifier: MIT */
/* Process address spaces by PASID: each has its own IO page tables. */
#include "iommu/pasid.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/hash.h"

struct space {
    struct io_tables tables;
    bool retired;
};

void iommu_pasids_init(struct iommu_pasids *pasids)
{
    hash_init(&pasids->spaces);
    pasids->last = 0;
}

static void space_free(struct space *space)
{
    io_tables_finish(&space->tables);
    util_free(space);
}

void iommu_pasids_finish(struct iommu_pasids *pasids)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *space;

    while (hash_next(&pasids->spaces, &cursor, &key, &space))
        space_free(space);
    hash_finish(&pasids->spaces);
}

uint32_t iommu_pasid_create(struct iommu_pasids *pasids)
{
    const uint32_t mask = (1u << PASID_BITS) - 1;
    struct space *space;

    if (pasids->spaces.count >= mask)
        return 0;
    space = util_zalloc(1, sizeof(*space));
    if (!space)
        return 0;
    io_tables_init(&space->tables, false);
    do
        pasids->last = (pasids->last + 1) & mask;
    while (pasids->last == 0 || hash_get(&pasids->spaces, pasids->last));
    if (hash_put(&pasids->spaces, pasids->last, space))
        return pasids->last;
    util_free(space);
    return 0;
}

void iommu_pasid_retire(struct iommu_pasids *pasids, uint32_t pasid)
{
    struct space *space = hash_get(&pasids->spaces, pasid);

    if (space)
        space->retired = true;
}

void iommu_pasid_destroy(struct iommu_pasids *pasids, uint32_t pasid)
{
    struct space *space = hash_remove(&pasids->spaces, pasid);

    if (space)
        space_free(space);
}

enum iommu_pasid_state iommu_pasid_state(const struct iommu_pasids *pasids, uint32_t pasid)
{
    const struct space *space = hash_get(&pasids->spaces, pasid);

    if (!space)
        return PASID_UNKNOWN;
    return space->retired ? PASID_RETIRED : PASID_LIVE;
}

bool iommu_pasid_map(struct iommu_pasids *pasids, uint32_t pasid, struct logical_page page,
                     struct page_number frame, uint64_t count, unsigned access)
{
    struct space *space = hash_get(&pasids->spaces, pasid);

    return space &&
           io_tables_map(&space->tables, page.value, NULL, frame.value, count, access) == IO_DONE;
}

void iommu_pasid_unmap(struct iommu_pasids *pasids, uint32_t pasid, struct logical_page page,
                       uint64_t count)
{
    struct space *space = hash_get(&pasids->spaces, pasid);

    if (space)
        io_tables_unmap(&space->tables, page.value, count, NULL, NULL);
}

bool iommu_pasid_translate(const struct iommu_pasids *pasids, uint32_t pasid, uint64_t address,
                           enum iommu_access access, struct phys_addr *physical)
{
    const struct space *space = hash_get(&pasids->spaces, pasid);
    const uint64_t page = address >> PAGE_BITS;
    uint64_t entry;
    unsigned level;

    if (!space || space->retired)
        return false;
    entry = io_tables_find(&space->tables, page, &level);
    if (!entry || (entry & (uint64_t)access) != (uint64_t)access)
        return false;
    physical->value = (io_entry_frame(entry) + (page & (io_span(level) - 1))) << PAGE_BITS |
                      (address & (PAGE_BYTES - 1));
    return true;
}
