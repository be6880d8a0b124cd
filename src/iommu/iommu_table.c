/* SPDX-License-Identifier: MIT */
/* IO page tables: the radix tree of a domain. The theory of operation is in iommu.c. */
#include "iommu/iommu_private.h"

#include "util/alloc.h"

/* ---- tables ---- */

static struct iommu_table *table_new(struct iommu_domain *domain)
{
    struct iommu_table *table = domain->spare;

    if (!table)
        return util_zalloc(1, sizeof(*table));
    domain->spare = table->next_spare;
    domain->spare_tables--;
    return table;
}

/* The table is empty. */
static void table_drop(struct iommu_domain *domain, struct iommu_table *table)
{
    if (domain->spare_tables >= SPARE_TABLES) {
        util_free(table);
        return;
    }
    table->next_spare = domain->spare;
    domain->spare = table;
    domain->spare_tables++;
}

static void table_free(struct iommu_table *table, unsigned level)
{
    if (!table)
        return;
    for (unsigned i = 0; level > 0 && i < TABLE_ENTRIES; i++)
        table_free(table->child[i], level - 1);
    util_free(table);
}

static bool covered(const struct iommu_domain *domain, uint64_t page)
{
    return domain->levels > 0 && page >> (domain->levels * TABLE_BITS) == 0;
}

struct iommu_table *iommu_table_leaf(const struct iommu_domain *domain, uint64_t page)
{
    struct iommu_table *table = covered(domain, page) ? domain->root : NULL;

    for (unsigned level = domain->levels; table && --level > 0;)
        table = table->child[slot_at(page, level)];
    return table;
}

/* Free the tables on the way to the page that are empty, from the leaf up. */
static void prune(struct iommu_domain *domain, uint64_t page)
{
    struct iommu_table *way[MAX_LEVELS] = {0};
    struct iommu_table *table = covered(domain, page) ? domain->root : NULL;
    unsigned level = domain->levels;

    while (table) {
        way[--level] = table;
        table = level > 0 ? table->child[slot_at(page, level)] : NULL;
    }
    for (; level + 1 < domain->levels; level++) {
        if (way[level]->used > 0)
            return;
        way[level + 1]->child[slot_at(page, level + 1)] = NULL;
        way[level + 1]->used--;
        table_drop(domain, way[level]);
    }
    if (domain->root && domain->root->used == 0) {
        table_drop(domain, domain->root);
        domain->root = NULL;
        domain->levels = 0;
    }
}

/* Put roots on top until the page is covered. An empty domain gets one root, of the right level. */
static bool deepen(struct iommu_domain *domain, uint64_t page)
{
    unsigned levels = 1;

    while (levels < MAX_LEVELS && page >> (levels * TABLE_BITS) != 0)
        levels++;
    if (page >> (levels * TABLE_BITS) != 0)
        return false;
    while (domain->levels < levels) {
        struct iommu_table *root = table_new(domain);

        if (!root)
            return false;
        if (domain->root) {
            root->child[0] = domain->root;
            root->used = 1;
            domain->levels++;
        } else {
            domain->levels = levels;
        }
        domain->root = root;
    }
    return true;
}

/* The leaf table of the page, made if need be; what was made for nothing on failure is pruned
 * again. */
static struct iommu_table *leaf_make(struct iommu_domain *domain, uint64_t page)
{
    struct iommu_table *table;

    if (!deepen(domain, page))
        return NULL;
    table = domain->root;
    for (unsigned level = domain->levels; --level > 0;) {
        struct iommu_table **child = &table->child[slot_at(page, level)];

        if (!*child) {
            *child = table_new(domain);
            if (!*child) {
                prune(domain, page);
                return NULL;
            }
            table->used++;
        }
        table = *child;
    }
    return table;
}

/* ---- entries ---- */

static bool entry_add(struct iommu_domain *domain, struct iommu_table *leaf, uint64_t page,
                      uint64_t frame, unsigned access)
{
    uint64_t *entry = &leaf->leaf[slot_at(page, 0)];

    if (frame >> FRAME_BITS != 0)
        return false;
    if (entry_count(*entry) == 0) {
        *entry = COUNT_ONE | frame << FRAME_SHIFT | access;
        leaf->used++;
        domain->mapped_pages++;
    } else {
        /* A page may have several mappings only where logical = physical (IOMMU-050, PHYS-081). */
        if (entry_frame(*entry) != frame || domain->mode == IOMMU_REMAP ||
            entry_count(*entry) == COUNT_MAX)
            return false;
        *entry = (*entry + COUNT_ONE) | access;
    }
    if (in_ram(domain, frame))
        ram_iommu_map_page(domain->ram, (struct page_number){frame});
    return true;
}

static void entry_remove(struct iommu_domain *domain, struct iommu_table *leaf, uint64_t page)
{
    uint64_t *entry = &leaf->leaf[slot_at(page, 0)];
    uint64_t frame = entry_frame(*entry);

    if (entry_count(*entry) == 0)
        return;
    if (in_ram(domain, frame))
        ram_iommu_unmap_page(domain->ram, (struct page_number){frame});
    *entry -= COUNT_ONE;
    if (entry_count(*entry) > 0)
        return;
    *entry = 0;
    leaf->used--;
    domain->mapped_pages--;
}

static uint64_t pages_left_in_leaf(uint64_t page, uint64_t count)
{
    uint64_t left = TABLE_ENTRIES - slot_at(page, 0);

    return count < left ? count : left;
}

void iommu_table_remove(struct iommu_domain *domain, uint64_t page, uint64_t count)
{
    while (count > 0) {
        uint64_t now = pages_left_in_leaf(page, count);
        struct iommu_table *leaf = iommu_table_leaf(domain, page);

        for (uint64_t i = 0; leaf && i < now; i++)
            entry_remove(domain, leaf, page + i);
        if (leaf && leaf->used == 0)
            prune(domain, page);
        page += now;
        count -= now;
    }
}

bool iommu_table_add(struct iommu_domain *domain, uint64_t page, const struct page_number *frames,
                     uint64_t first, uint64_t count, unsigned access)
{
    struct iommu_table *leaf = NULL;

    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || slot_at(page + i, 0) == 0)
            leaf = leaf_make(domain, page + i);
        if (!leaf ||
            !entry_add(domain, leaf, page + i, frames ? frames[i].value : first + i, access)) {
            if (leaf && leaf->used == 0)
                prune(domain, page + i);
            iommu_table_remove(domain, page, i);
            return false;
        }
    }
    domain->map_count += count;
    return true;
}

/* ---- the end, and validation ---- */

/* Take the mappings of a table out of the books of the frames. */
static void forget(struct iommu_domain *domain, const struct iommu_table *table, unsigned level)
{
    for (unsigned i = 0; table && i < TABLE_ENTRIES; i++) {
        if (level > 0) {
            forget(domain, table->child[i], level - 1);
            continue;
        }
        for (uint64_t n = entry_count(table->leaf[i]);
             n > 0 && in_ram(domain, entry_frame(table->leaf[i])); n--)
            ram_iommu_unmap_page(domain->ram, (struct page_number){entry_frame(table->leaf[i])});
    }
}

void iommu_table_drop_all(struct iommu_domain *domain)
{
    if (domain->root) {
        forget(domain, domain->root, domain->levels - 1);
        table_free(domain->root, domain->levels - 1);
    }
    while (domain->spare) {
        struct iommu_table *table = domain->spare;

        domain->spare = table->next_spare;
        util_free(table);
    }
    domain->root = NULL;
    domain->levels = 0;
}

static bool validate_table(const struct iommu_domain *domain, const struct iommu_table *table,
                           unsigned level, uint64_t base, uint64_t *mapped)
{
    uint32_t used = 0;

    for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
        uint64_t page = base + ((uint64_t)i << (level * TABLE_BITS));

        if (level > 0) {
            if (!table->child[i])
                continue;
            used++;
            if (!validate_table(domain, table->child[i], level - 1, page, mapped))
                return false;
            continue;
        }
        if (entry_count(table->leaf[i]) == 0) {
            if (table->leaf[i] != 0)
                return false;
            continue;
        }
        used++;
        ++*mapped;
        if (domain->mode != IOMMU_REMAP && entry_frame(table->leaf[i]) != page)
            return false;
        if (domain->mode == IOMMU_REMAP &&
            (page == 0 || page > domain->highest_page || entry_count(table->leaf[i]) != 1 ||
             extent_is_free(&domain->logical, page, 1)))
            return false;
        if (in_ram(domain, entry_frame(table->leaf[i])) &&
            ram_page_iommu_maps(domain->ram, (struct page_number){entry_frame(table->leaf[i])}) <
                entry_count(table->leaf[i]))
            return false;
    }
    return used == table->used && used > 0;
}

bool iommu_table_validate(const struct iommu_domain *domain, uint64_t *mapped)
{
    *mapped = 0;
    if ((domain->root == NULL) != (domain->levels == 0))
        return false;
    return !domain->root || validate_table(domain, domain->root, domain->levels - 1, 0, mapped);
}
