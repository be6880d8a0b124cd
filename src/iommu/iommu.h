/* SPDX-License-Identifier: MIT */
/*
 * The IOMMU: domains, each with IO page tables that translate the logical addresses of devices to
 * physical addresses, and the attachment of devices to them.
 *
 * Modes: OFF: logical = physical, without checks; mappings are only recorded, so that the domain
 * can be switched to ISOLATION at any time, and accesses to memory that nothing holds for DMA can
 * be reported. ISOLATION: logical = physical, but only mapped pages pass. REMAP: the host picks
 * logical addresses within [0, highest visible]; only mapped pages pass. Map and unmap cost one
 * descent for each 512 pages (io_table.h); translation costs O(1) on an IOTLB hit and O(levels) on
 * a miss.
 *
 * Life: create, attach devices, map and unmap, detach, delete.
 */
#ifndef DXGK_IOMMU_H
#define DXGK_IOMMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/address.h"

struct logical_addr;
struct phys_addr;
struct ram;

enum iommu_mode { IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP };
enum iommu_access { IOMMU_READ = 1, IOMMU_WRITE = 2 };

struct iommu_domain;

enum iommu_result {
    IOMMU_DONE,
    IOMMU_NO_MEMORY, /* the host is out of memory, or no logical address is free */
    /* mapped already (IOMMU-050); on delete: still has attachments or mappings */
    IOMMU_IN_USE,
    IOMMU_ATTACHED,     /* the device is attached already (IOMMU-045) */
    IOMMU_NOT_ATTACHED, /* the device is not attached, or to another domain (IOMMU-045) */
    IOMMU_UNSUPPORTED,  /* this kind of domain does not support that (IOMMU-053) */
    IOMMU_INVALID,
    IOMMU_BUSY,  /* another change of the same device is under way (IOMMU-046) */
    IOMMU_BROKEN /* the hardware failed (injected) */
};

/* ---- domains ---- */

/* From now on, new logical addresses are at most this one; existing ones stay. No effect in the
 * other modes. */
void iommu_domain_set_highest(struct iommu_domain *domain, struct logical_addr highest);
/* `highest` bounds logical addresses (inclusive) in REMAP mode. NULL: out of memory. */
struct iommu_domain *iommu_domain_create(struct ram *ram, enum iommu_mode mode,
                                         struct logical_addr highest);
/* A REMAP domain that chooses the address of every mapping itself, except for the given regions (at
 * most 16), which are reserved for identity mappings. */
struct iommu_region {
    struct logical_page first;
    uint64_t pages;
};
struct iommu_domain *iommu_domain_create_placing(struct ram *ram, struct logical_addr highest,
                                                 const struct iommu_region *reserved, size_t count);
/* IOMMU_IN_USE, with nothing changed, while a device is attached or a page is mapped
 * (IOMMU-047). */
enum iommu_result iommu_domain_delete(struct iommu_domain *domain);
/* Unmap everything that is left (IOMMU-048). Returns the number of pages. */
uint64_t iommu_domain_clear(struct iommu_domain *domain);
/* Destroy without checks, when the machine is torn down; devices are not updated. */
void iommu_domain_destroy(struct iommu_domain *domain);

enum iommu_mode iommu_domain_mode(const struct iommu_domain *domain);
uint64_t iommu_domain_mapped_pages(const struct iommu_domain *domain);
/* Number of pages mapped since creation, for statistics. */
uint64_t iommu_domain_map_count(const struct iommu_domain *domain);
/* Number of 2 MiB and 1 GiB leaves; bytes of IO page tables and of the records of logical
 * addresses. */
uint64_t iommu_domain_large_pages(const struct iommu_domain *domain);
uint64_t iommu_domain_bytes(const struct iommu_domain *domain);
unsigned iommu_domain_attached(const struct iommu_domain *domain);
/* From OFF to ISOLATION, which changes no address and drops no mapping (IOMMU-003..005). False in
 * any other mode. */
bool iommu_domain_isolate(struct iommu_domain *domain);
/* Undo iommu_domain_isolate, if no device was attached since then. False: one was. */
bool iommu_domain_relax(struct iommu_domain *domain);
/* REMAP: reuse the lowest free logical range at once, instead of as late as possible
 * (IOMMU-033). */
void iommu_domain_reuse_early(struct iommu_domain *domain, bool early);

/* ---- devices ---- */

/* What the IOMMU knows of a device; embedded in the bus's device. Zero-initialize, then set the
 * requester. */
struct iommu_device {
    uint32_t requester;          /* requester ID, shown in faults */
    struct iommu_domain *domain; /* the domain it is attached to; NULL: none */
    bool changing;
    uint64_t change_ns; /* virtual time that the hardware needs for an attach or detach */
    /* Fault injection: skip the next `skip_attaches` attaches, then fail `fail_attaches`. */
    unsigned skip_attaches, fail_attaches;
};

/* A device is attached to at most one domain; to change it, detach first (IOMMU-045). Both run on a
 * simulated thread and may let others run; a second change of the same device during that time
 * returns IOMMU_BUSY and is reported (IOMMU-046). */
enum iommu_result iommu_attach(struct iommu_domain *domain, struct iommu_device *device);
enum iommu_result iommu_detach(struct iommu_domain *domain, struct iommu_device *device);

/* ---- map and unmap ---- */

/* Map pages for the device at one contiguous logical range (REMAP: chosen here; ISOLATION: logical
 * = physical, so the range is contiguous only if the pages are; OFF: recorded only). *logical
 * (pages long, may be NULL) gets the logical page of each. The frame records count the mappings.
 * Pages beyond RAM (device windows) are allowed. False: out of memory or address space; nothing
 * changed. */
bool iommu_map(struct iommu_domain *domain, const struct page_number *pages, uint64_t count,
               unsigned access, struct logical_page *logical);
/* The same for one physical run. */
bool iommu_map_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                   unsigned access, struct logical_page *logical_first);
/* Map a physical run at its own address in REMAP mode too (reserved ranges, IOMMU-082); false also
 * when a mapping or the limit is in the way. Undone by iommu_unmap_run. */
bool iommu_map_identity_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                            unsigned access);
/* The primitive of the hardware interface: map at *at, which a placing domain refuses outside its
 * reserved regions, or (at NULL) where the domain chooses, which any other domain refuses
 * (IOMMU-053). Never shares a page (IOMMU-050). *logical (may be NULL) gets the first page. */
enum iommu_result iommu_map_at(struct iommu_domain *domain, const struct logical_page *at,
                               struct page_number first, uint64_t count, unsigned access,
                               struct logical_page *logical);
/* Undo a map: `logical` must be the whole array that it returned. The IOTLB is flushed before
 * return. */
void iommu_unmap(struct iommu_domain *domain, const struct logical_page *logical, uint64_t count);
void iommu_unmap_run(struct iommu_domain *domain, struct logical_page logical_first, uint64_t count);
/* Undo iommu_map of pages that are mapped at their own addresses (OFF, ISOLATION). */
void iommu_unmap_identity(struct iommu_domain *domain, const struct page_number *pages,
                          uint64_t count);

/* ---- translation ---- */

/* Translate one access that stays inside a 4 KiB page. False: fault. */
bool iommu_translate(const struct iommu_domain *domain, struct logical_addr address,
                     enum iommu_access access, struct phys_addr *physical);

/* Why an access is refused, or reported although it is carried out. */
enum iommu_cause {
    IOMMU_CAUSE_NONE,
    IOMMU_CAUSE_DETACHED,      /* the device is not attached to a domain */
    IOMMU_CAUSE_MASTER,        /* it is unplugged, or not allowed to be bus master */
    IOMMU_CAUSE_WIDTH,         /* more address bits than the device has */
    IOMMU_CAUSE_UNMAPPED,      /* nothing is mapped there */
    IOMMU_CAUSE_STALE,         /* not mapped any more; it was unmapped recently */
    IOMMU_CAUSE_RIGHTS,        /* mapped, but not for this kind of access */
    IOMMU_CAUSE_NO_RAM,        /* neither RAM nor a peer is at the translated address */
    IOMMU_CAUSE_EXCLUSIVE,     /* during exclusive access (IOMMU-059), carried out or not */
    IOMMU_CAUSE_RESET,         /* while the adapter is reset (TDR-046), carried out or not */
    IOMMU_CAUSE_PASID,         /* no process has this PASID (any more) */
    IOMMU_CAUSE_PASID_RETIRED, /* the PASID is being retired */
    /* RAM that nothing holds for DMA (IOMMU-075); carried out */
    IOMMU_CAUSE_NOT_HELD
};

/* One access that the IOMMU refused or reported. */
struct iommu_fault {
    struct logical_addr address; /* first byte refused */
    enum iommu_access access;
    enum iommu_cause cause;
    uint64_t bytes;     /* of the whole access */
    uint32_t requester; /* of the device */
    uint32_t engine;    /* engine of the device, if the device says so; else UINT32_MAX */
    uint64_t command;   /* command of the device, in the same way */
    uint64_t count;     /* how often this command did it so far; 1: the first time */
    uint64_t time;      /* virtual time of the first one */
};

/* Why iommu_translate refused. */
enum iommu_cause iommu_refusal(const struct iommu_domain *domain, struct logical_addr address,
                               enum iommu_access access);
/* A phrase such as "which was unmapped meanwhile", for reports. */
const char *iommu_cause_text(enum iommu_cause cause);

/* Whether the page is mapped for the device, or recorded in OFF mode. */
bool iommu_page_mapped(const struct iommu_domain *domain, struct logical_page logical);
/* Of `count` (> 0) pages, how many at the start are all mapped, or all not mapped; *mapped says
 * which. Costs a step for each leaf and each missing table. */
uint64_t iommu_run_mapped(const struct iommu_domain *domain, struct logical_page logical,
                          uint64_t count, bool *mapped);

/* ---- the IOTLB, for tests ---- */

/* iommu_unmap_run in two steps: cached translations stay usable until the flush (IOMMU-074). */
void iommu_unmap_run_unflushed(struct iommu_domain *domain, struct logical_page logical_first,
                               uint64_t count);
void iommu_flush_run(struct iommu_domain *domain, struct logical_page logical_first, uint64_t count);
/* Fault injection: the next `count` flushes never reach the IOTLB. */
void iommu_domain_lose_flushes(struct iommu_domain *domain, unsigned count);

bool iommu_validate(const struct iommu_domain *domain);

#endif
