/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A driver gets memory that its device can access from one of two generations of services. Both
 *   build on the same three things: frames of RAM (src/ram), entries in the adapter's domain
 *   (src/iommu), and views for the CPU (src/ram again).
 *
 *     2.4   contiguous block, pages of an MDL   frames and device mapping, as long as it is held
 *           MDL mapped to the IOMMU             device mapping; the frames are the driver's
 *     2.9   object                              frames, a section, or a device range
 *            +- adapter object                  the right to make ADLs for one adapter
 *            |   +- ADL                         locks, device mapping and list of pages of a part
 *            +- mapping                         view for the CPU
 *
 *   Everything a driver holds is a *tracked* structure. It is entered in one table by its key, and
 *   in a list in order of acquisition: the list of the adapter through which it is held, or of
 *   those held through none. The table distinguishes stale, foreign and wrong-kind handles; leak
 *   checks walk the lists. A key is a handle or, for ADLs and mappings, an address. Handles are a
 *   counter in a range of non-canonical addresses, so that a driver that dereferences one faults.
 *
 *   Files, from the bottom: what all services share (refuse, hooks, tracked, gate, backing, pages),
 *   objects and what depends on them (object, mapping, section, adl, adapter_object), then a file
 *   for each pair of callbacks (object_create, object_map, adl_allocate, contiguous, mdl,
 *   iommu_mdl, ...) and at the top adapter and memory, which free all that is left.
 *
 *   Order of release, always (IOMMU-069): device mapping and IOTLB, then locks, then views, then
 *   frames.
 *
 *   Device mappings are recorded in every mode, even without IOMMU. So isolation can be switched on
 *   while a driver runs, and a device's access to memory that is not held is detected (IOMMU-041,
 *   IOMMU-075).
 *
 *   Fatal violations (0x1E4) are raised at the end of a call, when all state is consistent, since
 *   the raise may not return.
 */
#include "physmem/physical_memory.h"

#include "physmem/physical_adapter_object.h"
#include "physmem/physical_mapping.h"
#include "physmem/physical_object.h"
#include "physmem/physical_record.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct physical_memory *physical_memory_create(struct ram *ram, const struct physical_hooks *hooks)
{
    struct physical_memory *memory = util_zalloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->ram = ram;
    if (hooks)
        memory->hooks = *hooks;
    hash_init(&memory->table);
    list_init(&memory->unattached);
    list_init(&memory->adapters);
    list_init(&memory->objects);
    memory->commit_limit = 2 * ram_bytes(ram);
    memory->scatter = true;
    memory->guard = true;
    if (!physical_adl_arena_create(&memory->arena)) {
        util_free(memory);
        return NULL;
    }
    return memory;
}

void physical_memory_destroy(struct physical_memory *memory)
{
    if (!memory)
        return;
    physical_tracked_reclaim(&memory->unattached);
    hash_finish(&memory->table);
    physical_adl_arena_destroy(&memory->arena);
    util_free(memory);
}

uint64_t physical_memory_commit(const struct physical_memory *memory)
{
    return memory->commit;
}

void physical_memory_set_commit_limit(struct physical_memory *memory, uint64_t bytes)
{
    memory->commit_limit = bytes;
}

void physical_memory_set_guard(struct physical_memory *memory, bool guard)
{
    memory->guard = guard;
}

void physical_memory_set_scatter(struct physical_memory *memory, bool scatter)
{
    memory->scatter = scatter;
}

/* ---- what is left behind ---- */

unsigned physical_memory_driver_unloaded(struct physical_memory *memory, const void *driver)
{
    unsigned count = 0;
    char text[160];

    LIST_FOR_SAFE(link, following, &memory->objects) {
        struct physical_object *object = CONTAINER(link, struct physical_object, all);

        if (object->driver != driver || object->tracked.adapter)
            continue;
        physical_tracked_describe(&object->tracked, text, sizeof(text));
        VIOLATION("PHYS-144", "left at unload: %s", text);
        physical_object_free(object);
        count++;
    }
    return count;
}

unsigned physical_memory_process_ended(struct physical_memory *memory,
                                       const struct nt_process *process)
{
    unsigned count = 0;
    char text[160];

    LIST_FOR(link, &memory->objects) {
        struct physical_object *object = CONTAINER(link, struct physical_object, all);

        LIST_FOR_SAFE(at, following, &object->mappings) {
            struct physical_mapping *mapping = CONTAINER(at, struct physical_mapping, of_object);

            if (!mapping->user || mapping->process != process)
                continue;
            physical_tracked_describe(&mapping->tracked, text, sizeof(text));
            VIOLATION("PHYS-159", "left by a process that ended: %s", text);
            physical_mapping_free(mapping);
            count++;
        }
    }
    return count;
}

/* ---- validation ---- */

static uint64_t validate_list(const struct physical_memory *memory, const struct list *held,
                              const struct physical_adapter *adapter, bool *valid)
{
    uint64_t count = 0, order = 0;

    LIST_FOR(link, held) {
        struct physical_tracked *tracked = CONTAINER(link, struct physical_tracked, link);

        *valid &= tracked->adapter == adapter && tracked->order > order &&
                  hash_get(&memory->table, tracked->key) == tracked;
        order = tracked->order;
        count++;
    }
    return count;
}

bool physical_memory_validate(const struct physical_memory *memory)
{
    bool valid = hash_validate(&memory->table);
    uint64_t count = validate_list(memory, &memory->unattached, NULL, &valid), commit = 0;

    LIST_FOR(link, &memory->adapters) {
        const struct physical_adapter *adapter = CONTAINER(link, const struct physical_adapter,
                                                           link);

        count += validate_list(memory, &adapter->held, adapter, &valid);
    }
    LIST_FOR(link, &memory->objects) {
        const struct physical_object *object = CONTAINER(link, const struct physical_object, all);

        if (object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION)
            commit += object->bytes;
        valid &= !object->opened || object->opened->object == object;
        valid &= physical_section_validate(object);
    }
    return valid && count == memory->table.count && commit == memory->commit;
}
