/* SPDX-License-Identifier: MIT */
/*
 * What the rigs of this room stand on: a simulated machine with RAM, a bus with one device that has
 * memory and does nothing, an IOMMU domain and the kernel services.
 */
#ifndef DXGK_TESTS_VIDMM_MACHINE_H
#define DXGK_TESTS_VIDMM_MACHINE_H

#include "iommu/iommu.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "verify/verify.h"

struct nt_process;

struct rig_machine {
    struct sim_machine *sim;
    struct verify_log *log;
    struct ram *ram;
    struct bus *bus;
    struct bus_device *device;
    struct iommu_domain *domain;
    struct nt *nt;
};

struct rig_machine_config {
    uint64_t seed, ram_bytes;
    uint64_t vram_bytes; /* of the device's only BAR */
    enum iommu_mode iommu;
};

/* Makes the machine and enters it. */
void rig_machine_begin(struct rig_machine *machine, const struct rig_machine_config *config);
/* Leaves it and takes it down. Processes of it are gone. */
void rig_machine_end(struct rig_machine *machine);
/* Runs `body` on a client thread of the process, to its end. */
void rig_machine_run(struct nt_process *process, void (*body)(void *arg), void *arg);

#endif
