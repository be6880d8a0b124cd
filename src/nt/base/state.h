/* SPDX-License-Identifier: MIT */
/*
 * State of the kernel services of one machine.
 *
 * Each component owns a structure that only its own files access; here is the pointer to it. nt.c
 * allocates all of them in one block, before any is initialized.
 *
 * Objects that a driver owns (KEVENT, KTIMER, KDPC, KSPIN_LOCK, MDL, ...) are the driver's memory:
 * it may copy, overwrite or free them at any time. So the host keeps in them only what harms the
 * driver alone when it is wrong: signal states, counts, flags. What the host itself relies on is in
 * its own records, which exist while something is active (a wait, a set timer, a queued DPC, a
 * locked MDL) and are found by the object's address.
 *
 * One host thread runs the machine, so a service is atomic between points. Points are sim_point
 * (once, at the entry of each service), blocking, spinning, lowering the IRQL, and queuing a DPC:
 * after one of these, the result of an earlier lookup may be stale.
 */
#ifndef DXGK_NT_STATE_H
#define DXGK_NT_STATE_H

#include <stddef.h>

#include "nt/base/nt_config.h"
#include "sim/slot.h"

struct hash_map;
struct list;

struct nt {
    struct nt_config config; /* with defaults filled in */
    struct ram *ram;
    struct bus *bus;
    uint32_t waits_owed; /* threads that announced a wait and have not begun it (owed_wait.c) */

    /* base */
    struct nt_threads *threads;     /* current.c */
    struct nt_process *system;      /* the system's process */
    struct nt_images *images;       /* image.c */
    const struct nt_places *places; /* memory.c */
    /* ke */
    struct nt_waits *waits;              /* wait.c */
    struct nt_processors *processors;    /* processor.c */
    struct nt_timers *timers;            /* timer.c */
    struct hash_map *dpcs;               /* dpc.c: KDPC -> struct nt_dpc */
    struct nt_dpc_rate *dpc_rates;       /* dpc.c */
    struct nt_lock_order *lock_order;    /* lock_order.c; NULL: no deadlock detection */
    struct list *bugcheck_callbacks;     /* bugcheck.c */
    struct nt_ipi *ipi;                  /* ipi.c */
    struct nt_time *time;                /* time.c */
    void *(*find_routine)(const char *); /* deadlock.c: finds a kernel routine by name */
    void (*detach_to)(uint32_t);         /* driver_call.c: ends attachments beyond a number */
    /* ob */
    struct nt_objects *objects;   /* object.c */
    struct handle_table *handles; /* handle.c */
    /* mm */
    struct nt_pool *pool;                   /* pool.c */
    struct hash_map *mdls;                  /* mdl.c: MDL -> struct nt_mdl */
    struct hash_map *mappings;              /* mdl_map.c: address -> struct nt_mapping */
    struct hash_map *contiguous;            /* contiguous.c: address -> struct nt_contiguous */
    struct hash_map *io_spaces;             /* io_space.c: address -> struct nt_io_space */
    struct nt_user_ranges *user_ranges;     /* user_range.c */
    struct nt_retired_views *retired_views; /* retired_view.c */
    struct nt_asked *asked;                 /* address_query.c */
    struct nt_race_guard *race_guard;       /* race_guard.c */
    /* rtl */
    struct nt_debug *debug; /* debug.c */
    /* ps */
    struct nt_processes *processes; /* process.c */
    /* cm */
    struct nt_registry *registry; /* registry.c */
    /* ex */
    struct list *clock_wishes;      /* timer_resolution.c */
    struct nt_workers *workers;     /* work_item.c */
    struct hash_map *ex_work_items; /* work_item.c: WORK_QUEUE_ITEM -> struct nt_work */
    struct hash_map *ex_timers;     /* ex_timer.c */
    struct hash_map *lookasides;    /* lookaside.c */
    struct hash_map *eresources;    /* eresource.c: ERESOURCE -> struct nt_eresource */
    struct nt_etw *etw;             /* etw.c */
    /* io */
    struct hash_map *device_objects; /* device_object.c */
    struct hash_map *work_items;     /* io_work_item.c: PIO_WORKITEM -> struct nt_work */
    struct hash_map *wmi_devices;    /* wmi.c */
    struct nt_bios *bios;            /* bios.c */
    struct nt_dma *dma;              /* dma_adapter.c */
    struct hash_map *power_settings; /* power_setting.c: handle -> struct registration */
    struct hash_map *power_devices;  /* power_framework.c: POHANDLE -> struct device */
    /* init */
    struct nt_variables *variables; /* variable.c */
};

extern struct sim_slot nt_slot;

static inline struct nt *nt_state(void)
{
    return sim_slot_get(&nt_slot);
}

/* How nt.c creates and destroys a component: a constant of the file that owns the state. */
struct nt_component {
    size_t slot; /* offset of its pointer in struct nt */
    /* size of its state, which starts zeroed; 0: init allocates it, or there is none */
    size_t bytes;
    bool map; /* the state is a hash map, which nt.c initializes and finishes */
    /* False: out of memory; finish is called anyway. NULL: nothing to do. */
    bool (*init)(struct nt *nt);
    void (*finish)(struct nt *nt);
};

/* A component whose state is a map from addresses to records, which are released elsewhere. */
#define NT_MAP_COMPONENT(member)                                                           \
    {                                                                                      \
        .slot = offsetof(struct nt, member), .bytes = sizeof(struct hash_map), .map = true \
    }

#endif
