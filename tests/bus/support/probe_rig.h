/* SPDX-License-Identifier: MIT */
/* A machine with RAM, an IOMMU domain, and a bus to which the test adds devices that do as they are told. */
#ifndef DXGK_TESTS_BUS_PROBE_RIG_H
#define DXGK_TESTS_BUS_PROBE_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/device.h"
#include "dxgkhost/device.h"

/* The state of one device. */
struct probe {
    const struct dxgk_device_services *services;
    void *host;
    uint64_t reg[512];
    unsigned reads, writes, timers, resets;
    unsigned last_timer;
    uint64_t last_time;
};

/* One for the program, made anew for each test. */
extern struct probe_rig {
    struct sim_machine *machine; /* entered */
    struct ram *ram;
    struct bus *bus;
    struct iommu_domain *domain;
    struct probe *probe; /* created last */
    /* What the model answers, and what it was told. */
    struct dxgk_device_description description;
    const char *refusal;
    bool refuse_create;
    size_t options;
    struct bus_refusal error; /* of the last device that was added */
} rig;

extern const struct dxgk_device_model rig_model;

void rig_default_description(void);
int rig_setup(void);
int rig_teardown(void);
/* Add a device of the model; it must be accepted. */
struct bus_device *rig_add(void);

#define RIG_ARGUMENT_bus void
#define RIG_RUN_bus(body)                 \
    test_set_up(rig_setup, rig_teardown); \
    body()

#endif
