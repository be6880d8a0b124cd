/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A driver gets memory its device can reach in one of two generations of services, and both end
 *   in the same three things: frames of RAM (src/ram), entries in the adapter's domain (src/iommu),
 *   and views for the CPU (src/ram again).
 *
 *     2.4   contiguous block, pages of an MDL   frames and device mapping, as long as it is held
 *           MDL mapped to the IOMMU             device mapping; the frames are the driver's
 *     2.9   object                              frames, a section, or a device range
 *            +- adapter object                  the right to make ADLs for one adapter
 *            |   +- ADL                         locks, device mapping and list of pages of a part
 *            +- mapping                         view for the CPU
 *
 *   Everything a driver holds is a *tracked* structure: entered in one table by its key, and in the
 *   list of the adapter through which it is held (or of no adapter) in order of acquisition. The
 *   table tells stale, foreign and wrong-kind handles apart; the lists are what leak checks walk.
 *   Keys are handles (a counter, never issued twice, and no canonical address, so that a driver
 *   that follows one traps) or, for ADLs and mappings, their addresses.
 *
 *   Order of release, always (PHYS trap 9, IOMMU-069): device mapping and IOTLB, then locks, then
 *   views, then frames.
 *
 *   The device mapping is booked in all modes, also without IOMMU: so isolation can be switched on
 *   under a running driver, and an access to memory that nobody holds can be told (IOMMU-041,
 *   IOMMU-075).
 *
 *   Fatal violations (0x1E4) are raised last in a call, when nothing is half done: the raise may
 *   not return.
 */
#include "vidmm/physical_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "verify/verify.h"

#define HANDLE_BASE ((uint64_t)0xD3D0 << 44) /* not canonical */
#define HANDLE_STEP 4u

static const char *const kind_names[] = {
    [PHYSICAL_CONTIGUOUS] = "contiguous block",
    [PHYSICAL_MDL_PAGES] = "pages for an MDL",
    [PHYSICAL_IOMMU_MDL] = "MDL mapped to the IOMMU",
    [PHYSICAL_OBJECT] = "physical memory object",
    [PHYSICAL_ADAPTER_OBJECT] = "adapter memory object",
    [PHYSICAL_ADL] = "ADL",
    [PHYSICAL_MAPPING] = "CPU mapping",
    [PHYSICAL_PIN] = "frame buffer pin",
    [PHYSICAL_SAVE_MAPPING] = "frame buffer mapping",
};

const char *physical_kind_name(enum physical_kind kind)
{
    return kind_names[kind];
}

NTSTATUS physical_refuse(const char *rule, const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    VIOLATION(rule, "%s", text);
    return STATUS_INVALID_PARAMETER;
}

bool physical_read_driver(const struct physical_memory *memory, void *to, const void *from,
                          size_t bytes)
{
    if (memory->hooks.read_driver)
        return memory->hooks.read_driver(memory->hooks.context, to, from, bytes);
    memcpy(to, from, bytes);
    return true;
}

/* ---- the services of a machine ---- */

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

static void reclaim(struct physical_tracked *tracked)
{
    tracked->class->free(tracked);
}

/* Reclaiming one holding may take others of the list with it, so start over at the front each time;
 * newest kinds of dependence (ADL of adapter object of object) are resolved by the kind's own
 * free. */
static void reclaim_all(struct list *held)
{
    while (!list_empty(held))
        reclaim(CONTAINER(held->prev, struct physical_tracked, link));
}

void physical_memory_destroy(struct physical_memory *memory)
{
    if (!memory)
        return;
    reclaim_all(&memory->unattached);
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

/* ---- adapters ---- */

struct physical_adapter *physical_adapter_create(const struct physical_adapter_config *config)
{
    struct physical_adapter *adapter = util_zalloc(1, sizeof(*adapter));

    if (!adapter)
        return NULL;
    adapter->memory = config->memory;
    adapter->domain = config->domain;
    adapter->driver = config->driver;
    adapter->legacy_refused = config->legacy_refused;
    adapter->started = true;
    snprintf(adapter->name, sizeof(adapter->name), "%s", config->name ? config->name : "adapter");
    list_init(&adapter->held);
    list_push_back(&config->memory->adapters, &adapter->link);
    return adapter;
}

void physical_adapter_destroy(struct physical_adapter *adapter)
{
    if (!adapter)
        return;
    reclaim_all(&adapter->held);
    physical_save_free(adapter);
    list_remove(&adapter->link);
    util_free(adapter);
}

void physical_adapter_set_started(struct physical_adapter *adapter, bool started)
{
    adapter->started = started;
}

void physical_adapter_set_legacy_refused(struct physical_adapter *adapter, bool refused)
{
    adapter->legacy_refused = refused;
}

bool physical_may_acquire(const struct physical_adapter *adapter)
{
    if (adapter->started)
        return true;
    VIOLATION("LIFE-064", "memory was asked for while %s is stopped", adapter->name);
    return false;
}

bool physical_may_use_legacy(const struct physical_adapter *adapter)
{
    if (adapter->legacy_refused) {
        VIOLATION(
            "IOMMU-093",
            "a WDDM 3.0 driver with DmaRemappingSupported must use physical memory objects and ADLs");
        return false;
    }
    if (iommu_domain_mode(adapter->domain) == IOMMU_REMAP) {
        NOTE("IOMMU-094", "in logical mode an MDL cannot describe what the device sees");
        return false;
    }
    return true;
}

/* ---- tracking ---- */

bool physical_track(struct physical_tracked *tracked, struct physical_memory *memory,
                    struct physical_adapter *adapter, const struct physical_class *class,
                    uint64_t bytes, uint64_t key)
{
    const struct physical_hooks *hooks = &memory->hooks;

    if (key == 0)
        key = HANDLE_BASE + ++memory->handles * HANDLE_STEP;
    /* A record that another would replace could not be found any more. */
    if (hash_get(&memory->table, key) || !hash_put(&memory->table, key, tracked))
        return false;
    *tracked = (struct physical_tracked){
        .memory = memory,
        .adapter = adapter,
        .class = class,
        .key = key,
        .bytes = bytes,
        .order = ++memory->orders,
        .caller = hooks->caller ? hooks->caller(hooks->context) : 0,
    };
    list_push_back(adapter ? &adapter->held : &memory->unattached, &tracked->link);
    return true;
}

void physical_untrack(struct physical_tracked *tracked)
{
    hash_remove(&tracked->memory->table, tracked->key);
    list_remove(&tracked->link);
}

struct physical_tracked *physical_find(struct physical_memory *memory,
                                       const struct physical_adapter *adapter,
                                       enum physical_kind kind, uint64_t key, const char *rule)
{
    struct physical_tracked *tracked = hash_get(&memory->table, key);
    bool retired = !tracked && key > HANDLE_BASE &&
                   key <= HANDLE_BASE + memory->handles * HANDLE_STEP;

    if (tracked && tracked->class->kind != kind) {
        VIOLATION(rule, "the handle of a %s was given where a %s is wanted",
                  kind_names[tracked->class->kind], kind_names[kind]);
        return NULL;
    }
    if (tracked && adapter && tracked->adapter != adapter) {
        VIOLATION(rule, "the %s belongs to another adapter than %s", kind_names[kind],
                  adapter->name);
        return NULL;
    }
    if (!tracked)
        VIOLATION(rule, "%s handle of a %s",
                  retired    ? "retired"
                  : key == 0 ? "NULL"
                             : "unknown",
                  kind_names[kind]);
    return tracked;
}

static uint64_t context_of(const struct physical_tracked *tracked)
{
    return tracked->class->context ? tracked->class->context(tracked) : 0;
}

size_t physical_holdings(const struct physical_memory *memory,
                         const struct physical_adapter *adapter, struct physical_holding *list,
                         size_t capacity)
{
    const struct list *held = adapter ? &adapter->held : &memory->unattached;
    size_t count = 0;

    LIST_FOR(link, held) {
        const struct physical_tracked *tracked = CONTAINER(link, const struct physical_tracked,
                                                           link);

        if (count < capacity) {
            list[count] = (struct physical_holding){
                .kind = tracked->class->kind,
                .bytes = tracked->bytes,
                .order = tracked->order,
                .context = context_of(tracked),
                .caller = tracked->caller,
            };
            list[count].has_cache = tracked->class->cache != NULL;
            if (tracked->class->cache)
                list[count].cache = tracked->class->cache(tracked);
        }
        count++;
    }
    return count;
}

/* ---- leaks ---- */

/* "ADL of 8192 bytes, acquired as number 12 by refgpu.so!StartDevice+0x42" */
static void describe(const struct physical_tracked *tracked, char *text, size_t bytes)
{
    const struct physical_hooks *hooks = &tracked->memory->hooks;
    char place[64] = "", context[40] = "";

    if (!hooks->symbolize ||
        !hooks->symbolize(hooks->context, tracked->caller, place, sizeof(place)))
        place[0] = '\0';
    if (tracked->class->context)
        snprintf(context, sizeof(context), ", Context 0x%llx",
                 (unsigned long long)context_of(tracked));
    snprintf(text, bytes, "%s of %llu bytes%s, number %llu%s%s", kind_names[tracked->class->kind],
             (unsigned long long)tracked->bytes, context, (unsigned long long)tracked->order,
             place[0] ? " by " : "", place);
}

static bool leaks_fatally(const struct physical_tracked *tracked)
{
    return tracked->class->kind == PHYSICAL_ADAPTER_OBJECT || tracked->class->kind == PHYSICAL_ADL;
}

/* PHYS-143: one bug check that names them all, as far as a report has room. */
static void report_fatal_leaks(const struct physical_adapter *adapter, unsigned objects,
                               unsigned adls)
{
    char text[160] = "", one[128];
    size_t used = 0;

    LIST_FOR(link, &adapter->held) {
        const struct physical_tracked *tracked = CONTAINER(link, const struct physical_tracked,
                                                           link);

        if (!leaks_fatally(tracked) || used >= sizeof(text))
            continue;
        describe(tracked, one, sizeof(one));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "; %s", one);
    }
    verify_fatal("PHYS-143", SYSMM_BUGCHECK,
                 adls > 0 ? SYSMM_ADL_LEAKED : SYSMM_ADAPTER_OBJECT_LEAKED, objects, adls, 0,
                 "%s left%s", adapter->name, text);
}

unsigned physical_adapter_report_leaks(struct physical_adapter *adapter)
{
    unsigned plain = 0, objects = 0, adls = 0;
    char text[160];

    LIST_FOR(link, &adapter->held) {
        const struct physical_tracked *tracked = CONTAINER(link, const struct physical_tracked,
                                                           link);

        objects += tracked->class->kind == PHYSICAL_ADAPTER_OBJECT;
        adls += tracked->class->kind == PHYSICAL_ADL;
        if (leaks_fatally(tracked))
            continue;
        describe(tracked, text, sizeof(text));
        VIOLATION("PHYS-022", "%s left: %s", adapter->name, text);
        plain++;
    }
    if (objects + adls > 0)
        report_fatal_leaks(adapter, objects, adls);
    return plain + objects + adls;
}

unsigned physical_memory_driver_unloaded(struct physical_memory *memory, const void *driver)
{
    unsigned count = 0;
    char text[160];

    LIST_FOR_SAFE(link, following, &memory->objects) {
        struct physical_object *object = CONTAINER(link, struct physical_object, all);

        if (object->driver != driver || object->tracked.adapter)
            continue;
        describe(&object->tracked, text, sizeof(text));
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
            describe(&mapping->tracked, text, sizeof(text));
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

static bool validate_section(const struct physical_object *object)
{
    const struct physical_section *section = &object->section;
    uint64_t resident = 0;

    for (uint64_t i = 0; section->locks && i < object->bytes / PAGE_BYTES; i++) {
        resident += section->resident[i] != 0;
        if (section->locks[i] > 0 && section->resident[i] == 0)
            return false;
    }
    return resident == section->resident_pages;
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
        valid &= validate_section(object);
    }
    return valid && count == memory->table.count && commit == memory->commit;
}
