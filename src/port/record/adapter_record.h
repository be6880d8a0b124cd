/* SPDX-License-Identifier: MIT */
/*
 * The record of one adapter, from AddDevice until its last client has closed it: its identity, its
 * state, and one structure for each concept, which belongs to that concept's files. For the files
 * of this room only; others have adapter_info.h.
 */
#ifndef DXGK_PORT_ADAPTER_RECORD_H
#define DXGK_PORT_ADAPTER_RECORD_H

#include "ddi/loan.h"
#include "port/record/callback_state.h"
#include "port/record/display_state.h"
#include "port/record/domain_state.h"
#include "port/record/interrupt_state.h"
#include "port/record/machine.h"
#include "port/record/power_state.h"
#include "port/record/queried.h"

/* ADDED until StartDevice is called, STARTING inside it, STOPPED after StopDevice or a StartDevice
 * that failed. */
enum port_state { PORT_ADDED, PORT_STARTING, PORT_STARTED, PORT_STOPPED, PORT_REMOVED };

/* The managers are the adapter's memory manager and scheduler. For managers.c; other files use
 * port_adapter_vidmm and port_adapter_vidsch. */
struct port_managers {
    struct vidmm *vidmm; /* NULL: not yet, or no longer */
    struct vidsch *vidsch;
    bool vidmm_started, vidsch_started, process_started;
    struct sim_mutex evacuation_lock; /* held while an evacuation begins or ends */
    uint32_t evacuations; /* in force; not 0: video memory is empty and the GPU is suspended */
};

struct port_adapter {
    /* identity: adapter.c */
    struct port *port;
    struct port_driver *driver;
    struct bus_device *device;
    struct ddi_adapter ddi;
    struct list link;
    HANDLE handle; /* DeviceHandle */
    LUID luid;
    GUID guid;
    DEVICE_OBJECT pdo;
    char software_key[160]; /* registry path (LIFE-085) */
    WCHAR software_key_wide[160];
    char name[64]; /* AdapterString */

    /* state: adapter.c, start.c; references: adapter_info.c */
    enum port_state state;
    bool lost;
    bool open;       /* between a start that is complete and the stop */
    bool refused;    /* a finding of the start refuses the adapter (port_refuse.h) */
    bool unserved;   /* what this machine lacks does */
    bool displays;   /* it drives video present sources */
    bool shows;      /* and the host uses them; false: displays are switched off (LIFE-069) */
    bool dismantled; /* only the record is left, for clients that have not closed it */
    uint32_t client_references;
    struct ddi_loan start_info, start_interface; /* start.c: what StartDevice gets (LIFE-061) */
    struct ddi_loan resource_loan;               /* resources.c: CM_RESOURCE_LIST (LIFE-091) */
    struct list maps; /* maps.c: ranges of the device that the driver has mapped */

    struct port_caps caps;
    struct port_segments segments;
    struct port_nodes nodes;
    struct port_mmu mmu;
    struct port_description description;
    struct port_children children;
    struct port_reserved reserved;
    struct port_domain domain;
    struct port_interrupts interrupts;
    struct port_power power;
    struct port_components components;
    struct port_managers managers;
    struct port_post post;
    struct port_display display;
    struct port_services services;
    struct port_exclusions exclusions;
    struct port_driver_features features;
};

/* The interface version the driver was built for: decides the sizes of structures and which members
 * exist. */
static inline UINT port_driver_version(const struct port_adapter *adapter)
{
    return adapter->driver->table.Version;
}

/* The driver model that the driver follows (CAPS-122), as the first interface version of that
 * model. Known once DXGK_DRIVERCAPS is. */
static inline UINT port_model_version(const struct port_adapter *adapter)
{
    return adapter->caps.model;
}

/* Descriptor of the segment with this index (its id is one more), below segments.count. */
static inline DXGK_SEGMENTDESCRIPTOR4 *port_segment(const struct port_adapter *adapter, UINT index)
{
    return (void *)(adapter->segments.table + index * adapter->segments.out.SegmentDescriptorStride);
}

/* Is the adapter started, and its device not unplugged? */
static inline bool port_runs(const struct port_adapter *adapter)
{
    return adapter->state == PORT_STARTED && !adapter->power.unplugged;
}

extern struct ddi_room port_room;

/* The adapter that this ddi_adapter belongs to; NULL: it is a driver's (unload_door). */
static inline struct port_adapter *port_adapter_of_ddi(const struct ddi_adapter *ddi)
{
    return ddi_room(ddi, &port_room);
}

#endif
