/* SPDX-License-Identifier: MIT */
/*
 * What other rooms and files ask about an adapter: which adapters there are, its identity, the
 * objects that other rooms keep for it, and its driver's answers. Nothing here calls the driver.
 * For kmt, host and the files of this room.
 */
#ifndef DXGK_PORT_ADAPTER_INFO_H
#define DXGK_PORT_ADAPTER_INFO_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "iommu/iommu.h"

struct bus_device;
struct ddi_adapter;
struct physical_adapter;
struct port;
struct port_adapter;
struct vidmm;
struct vidsch;

/* ---- which there are ---- */
struct port_adapter *port_adapter_first(struct port *port);
struct port_adapter *port_adapter_next(struct port_adapter *adapter);
struct port_adapter *port_adapter_by_luid(struct port *port, LUID luid);

/* ---- identity ---- */
LUID port_adapter_luid(const struct port_adapter *adapter);
GUID port_adapter_guid(const struct port_adapter *adapter);
/* The path under which clients find it as a device interface of this class, a GUID as text with
 * braces (KMT-048). */
void port_adapter_interface(const struct port_adapter *adapter, const char *class, char *text,
                            size_t bytes);
/* The driver's AdapterString, or the name of its service. */
const char *port_adapter_name(const struct port_adapter *adapter);
/* Bytes, from the driver's registry value; 0: it wrote none (LIFE-045). */
uint64_t port_adapter_memory_size(const struct port_adapter *adapter);

/* ---- what belongs to it ---- */
struct ddi_adapter *port_adapter_ddi(struct port_adapter *adapter);
struct bus_device *port_adapter_bus_device(struct port_adapter *adapter);
struct iommu_domain *port_adapter_domain(const struct port_adapter *adapter);
struct physical_adapter *port_adapter_physical(const struct port_adapter *adapter);
struct vidmm *port_adapter_vidmm(const struct port_adapter *adapter);   /* NULL: not started */
struct vidsch *port_adapter_vidsch(const struct port_adapter *adapter); /* NULL: not started */

/* ---- state ---- */
/* Lost for good (stopped, removed, bug check): calls give STATUS_DEVICE_REMOVED. */
bool port_adapter_lost(const struct port_adapter *adapter);
/* Has it started, so that clients may find it (KMT-044, DISP-170)? */
bool port_adapter_is_open(const struct port_adapter *adapter);
DEVICE_POWER_STATE port_adapter_power(const struct port_adapter *adapter);
enum iommu_mode port_adapter_dma_mode(const struct port_adapter *adapter);
/* PORT_IOMMU_DOMAIN, _MAPPINGS and _ATTACHED in force, whether IOMMUFlags, the driver or a caller
 * asked for isolation. */
UINT port_adapter_isolation(const struct port_adapter *adapter);

/* ---- what its driver answered ---- */
const DXGK_DRIVERCAPS *port_adapter_caps(const struct port_adapter *adapter);
DXGK_WDDMVERSION port_adapter_wddm(const struct port_adapter *adapter);
/* Is the driver treated as one of WDDM 2.x, by its interface version and the version it claims
 * (CAPS-122)? */
bool port_adapter_is_2x(const struct port_adapter *adapter);
/* Its driver only shows pictures: there are no nodes, memory, devices or contexts (DISP-012). */
/* FlipCaps.FlipInterval (PRES-147). */
bool port_adapter_flips_at_intervals(const struct port_adapter *adapter);
/* DXGK_SEGMENTFLAGS.DirectFlip of a segment, which counts from 1 (PRES-083). */
bool port_adapter_segment_flips(const struct port_adapter *adapter, UINT segment);
bool port_adapter_display_only(const struct port_adapter *adapter);
ULONG port_adapter_sources(const struct port_adapter *adapter);
/* Did the firmware light it? */
bool port_adapter_is_post(const struct port_adapter *adapter);
UINT port_adapter_nodes(const struct port_adapter *adapter);
/* NULL: no such node. */
const DXGKARG_GETNODEMETADATA *port_adapter_node(const struct port_adapter *adapter, UINT node);
/* Are history buffers of one of its nodes read (CAPS-109)? */
bool port_adapter_stamps(const struct port_adapter *adapter);
bool port_adapter_node_virtual(const struct port_adapter *adapter, UINT node);
/* KMT-091 */
struct port_hw_scheduling {
    UINT support; /* DXGK_FEATURE_SUPPORT_*, as the driver states it */
    bool enabled, by_default;
};
struct port_hw_scheduling port_adapter_hw_scheduling(const struct port_adapter *adapter);
bool port_adapter_gpu_mmu(const struct port_adapter *adapter);
/* Zeros without GpuMmu. */
const DXGK_GPUMMUCAPS *port_adapter_mmu(const struct port_adapter *adapter);
/* Zeros: the driver did not answer (CAPS-110). */
const DXGK_GPUVERSION *port_adapter_gpu_version(const struct port_adapter *adapter);
const DXGK_ADAPTER_PERFDATACAPS *port_adapter_perf_caps(const struct port_adapter *adapter);
bool port_adapter_child_connected(const struct port_adapter *adapter, ULONG uid);

/* ---- who holds it ---- */
/* References by client objects, counted by kmt. The record is freed with the last one. */
void port_adapter_retain(struct port_adapter *adapter);
void port_adapter_release(struct port_adapter *adapter);

#endif
