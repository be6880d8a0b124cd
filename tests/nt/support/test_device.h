/* SPDX-License-Identifier: MIT */
/* A device of two BARs: 16 registers of 64 bits that remember what they are told, and 64 KiB of
 * memory. */
#ifndef DXGK_TESTS_NT_TEST_DEVICE_H
#define DXGK_TESTS_NT_TEST_DEVICE_H

#include <stdint.h>

struct bus;

struct test_device {
    const struct dxgk_device_services *services;
    void *host;
    uint64_t registers[512];
    unsigned reads, writes, last_width;
    uint64_t last_offset, last_value;
};

extern struct test_device *test_device; /* the one that was created last */

struct bus_device *test_device_add(struct bus *bus);

#endif
