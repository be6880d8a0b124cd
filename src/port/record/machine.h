/* SPDX-License-Identifier: MIT */
/*
 * The port driver of one machine: its configuration, its drivers and its adapters. Every file of
 * the room starts from this record; port.c makes it, driver.c and adapter.c fill the lists.
 */
#ifndef DXGK_PORT_MACHINE_H
#define DXGK_PORT_MACHINE_H

#include "ddi/guarded.h"
#include "ddi/loan.h"
#include "port/record/port_config.h"
#include "sim/mutex.h"
#include "sim/slot.h"
#include "util/list.h"

struct bus_device;
struct port_adapter;
struct port_driver;
struct port_left;

/* What firmware has lit (PRES-002). */
struct port_firmware_display {
    const struct bus_device *device; /* NULL: the first that may be (PRES-003) */
    UINT width, height, pitch;       /* port_post_configure; width 0: nothing was said */
    D3DDDIFORMAT format;
};

#define PORT_FIRST_LUID 0x1000u

struct port {
    struct port_config config;
    struct ddi_handles handles; /* DeviceHandle values, CPU events */
    struct list drivers, adapter_list;
    struct port_driver *loading; /* the driver whose DriverEntry runs now */
    struct sim_mutex add_lock;   /* AddDevice is serialized (THREAD-025) */
    uint32_t next_luid;
    char cause[800]; /* cause.h */
    NTSTATUS cause_status;
    bool etw; /* etw.c */
    UCHAR etw_level;
    struct physical_memory *physical;
    void (*end_clients)(void *context, struct port_adapter *adapter); /* port_on_stop; or NULL */
    void *end_clients_context;
    struct port_firmware_display firmware;
    struct port_left *left;       /* post.c: the display of a device without a driver; NULL: none */
    DRIVER_OBJECT dxgkrnl_driver; /* registration_device.c */
    DEVICE_OBJECT dxgkrnl_device;
};

/* One loaded miniport. */
struct port_driver {
    struct port *port;
    struct list link;
    DRIVER_OBJECT *object;
    struct ddi_guarded object_memory, extension_memory; /* the driver may write to the object */
    char service[64];
    struct nt_image *image;
    DRIVER_INITIALIZATION_DATA table;
    PDXGKDDI_PRESENTDISPLAYONLY present_display_only; /* of a display-only driver; else NULL */
    bool registered;
    bool initialize_called;
    NTSTATUS initialize_status;
    uint32_t adapters;
    struct ddi_loan registry_path, registry_buffer; /* LIFE-008 */
    struct ddi_adapter unload_door; /* to call DxgkDdiUnload, which belongs to no adapter */
};

/* The port driver of the current machine; NULL: there is no machine, or it has none. */
extern struct sim_slot port_slot;

static inline struct port *port_current(void)
{
    return sim_slot_get(&port_slot);
}

/* Set what port_current returns. */
void port_machine_set(struct port *port);

/* Is the IoMmu model (shared address spaces) offered? */
static inline bool port_shares_address_spaces(const struct port *port)
{
    return port->config.shared_address_space && port->config.iommu_present;
}

/* Print a message for the user, by port_config.log. */
void port_machine_log(const struct port *port, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
