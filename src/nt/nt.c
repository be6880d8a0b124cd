/* SPDX-License-Identifier: MIT */
/*
 * Creation and destruction of the kernel services of one machine. Each component declares its state
 * and its functions; this file has their order.
 */
#include "nt/nt.h"
#include "nt/base/items.h"
#include "nt/base/state.h"
#include "nt/ps/attach.h"
#include "nt/routine.h"
#include "sim/machine.h"
#include "sim/slot.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/hash.h"

#define DEFAULT_BUILD 22621u
#define ALIGNMENT     16u

/* Components are created in this order and destroyed in reverse: each needs only earlier ones. */
extern const struct nt_component nt_image_component, nt_current_component, nt_processor_component,
    nt_wait_component, nt_timer_component, nt_dpc_component, nt_dpc_rate_component,
    nt_bugcheck_component, nt_ipi_component, nt_time_component, nt_object_component,
    nt_handle_component, nt_pool_component, nt_mdl_component, nt_mdl_map_component,
    nt_contiguous_component, nt_io_space_component, nt_retired_view_component, nt_asked_component,
    nt_page_fault_component, nt_process_component, nt_user_range_component, nt_thread_component,
    nt_debug_component, nt_work_item_component, nt_ex_timer_component, nt_lookaside_component,
    nt_eresource_component, nt_etw_component, nt_device_object_component, nt_io_work_item_component,
    nt_worker_component, nt_lock_order_component, nt_registry_component, nt_variable_component,
    nt_timer_resolution_component, nt_power_setting_component, nt_power_framework_component,
    nt_bios_component, nt_wmi_component, nt_dma_component, nt_image_life_component,
    nt_pool_dma_component, nt_race_guard_component;

static const struct nt_component *const components[] = {
    &nt_image_component,
    &nt_race_guard_component,
    &nt_current_component,
    &nt_processor_component,
    &nt_wait_component,
    &nt_timer_component,
    &nt_dpc_component,
    &nt_dpc_rate_component,
    &nt_bugcheck_component,
    &nt_ipi_component,
    &nt_time_component,
    &nt_object_component,
    &nt_handle_component,
    &nt_pool_component,
    &nt_mdl_component,
    &nt_mdl_map_component,
    &nt_contiguous_component,
    &nt_io_space_component,
    &nt_retired_view_component,
    &nt_asked_component,
    &nt_page_fault_component,
    &nt_process_component,
    &nt_user_range_component,
    &nt_thread_component,
    &nt_debug_component,
    &nt_work_item_component,
    &nt_ex_timer_component,
    &nt_lookaside_component,
    &nt_eresource_component,
    &nt_etw_component,
    &nt_device_object_component,
    &nt_io_work_item_component,
    &nt_worker_component,
    &nt_lock_order_component,
    &nt_registry_component,
    &nt_variable_component,
    &nt_timer_resolution_component,
    &nt_power_setting_component,
    &nt_power_framework_component,
    &nt_bios_component,
    &nt_wmi_component,
    &nt_dma_component,
    &nt_image_life_component,
    &nt_pool_dma_component,
};

static size_t room_of(const struct nt_component *component)
{
    return align_up(component->bytes, ALIGNMENT);
}

static void **slot_of(struct nt *nt, const struct nt_component *component)
{
    return (void **)(void *)((char *)nt + component->slot);
}

/* Allocate the state of all components, zeroed, in one block. */
static struct nt *allocate(void)
{
    size_t bytes = align_up(sizeof(struct nt), ALIGNMENT);
    struct nt *nt;
    char *state;

    for (size_t i = 0; i < NT_ITEMS(components); i++)
        bytes += room_of(components[i]);
    nt = util_zalloc(1, bytes);
    if (!nt)
        return NULL;
    state = (char *)nt + align_up(sizeof(struct nt), ALIGNMENT);
    for (size_t i = 0; i < NT_ITEMS(components); i++) {
        if (components[i]->bytes != 0)
            *slot_of(nt, components[i]) = state;
        state += room_of(components[i]);
    }
    return nt;
}

static bool init(struct nt *nt, const struct nt_component *component)
{
    if (component->map)
        hash_init(*slot_of(nt, component));
    return !component->init || component->init(nt);
}

/* Finish the first `count` components. */
static void finish(struct nt *nt, size_t count)
{
    while (count-- > 0) {
        if (components[count]->finish)
            components[count]->finish(nt);
        if (components[count]->map)
            hash_finish(*slot_of(nt, components[count]));
    }
    sim_slot_set(&nt_slot, NULL);
    util_free(nt);
}

struct nt *nt_create(const struct nt_config *config)
{
    struct nt *nt;

    util_assert(sim_current && !nt_state());
    nt = allocate();
    if (!nt)
        return NULL;
    nt->config = *config;
    nt->ram = config->ram;
    nt->bus = config->bus;
    if (nt->config.boot_time == 0)
        nt->config.boot_time = NT_DEFAULT_BOOT_TIME;
    if (nt->config.os_build == 0)
        nt->config.os_build = DEFAULT_BUILD;
    nt->find_routine = nt_routine_find;
    nt->detach_to = nt_attach_end_to;
    sim_slot_set(&nt_slot, nt);
    for (size_t i = 0; i < NT_ITEMS(components); i++) {
        if (!init(nt, components[i])) {
            finish(nt, i + 1);
            return NULL;
        }
    }
    return nt;
}

void nt_destroy(struct nt *nt)
{
    if (!nt)
        return;
    util_assert(sim_current && nt == nt_state());
    finish(nt, NT_ITEMS(components));
}

uint32_t nt_build(void)
{
    return nt_state()->config.os_build;
}
