/* SPDX-License-Identifier: MIT */
/*
 * A model of build/devices on a bench: RAM at bus address 0, the memory of BAR 0, virtual time, counters of
 * interrupts. What the model shows is what it told its outputs of.
 */
#ifndef TESTS_DISPLAY_DEVICES_BENCH_H
#define TESTS_DISPLAY_DEVICES_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"

#define BENCH_RAM      (8u << 20)
#define BENCH_MESSAGES 32u

struct bench {
    void *library;
    const struct dxgk_device_model *model;
    struct dxgk_device_description description;
    const struct dxgk_device_outputs *outputs;
    void *device;
    uint8_t *ram, *vram;
    uint64_t time;
    bool armed[DXGK_DEVICE_TIMERS];
    uint64_t due[DXGK_DEVICE_TIMERS];
    unsigned interrupts[BENCH_MESSAGES];
    unsigned refused; /* accesses behind RAM */
};

/* Powers on the model of this name; `options` end with NULL. Fails the test if that is impossible. */
struct bench *bench_create(const char *name, const char *const *options);
void bench_destroy(struct bench *bench);
/* Why the model does not take this option. */
const char *bench_refusal(const struct bench *bench, const char *option);

uint64_t bench_read(struct bench *bench, unsigned bar, uint64_t offset, unsigned width);
void bench_write(struct bench *bench, unsigned bar, uint64_t offset, unsigned width, uint64_t value);
/* Virtual time passes, and the timers that are due meanwhile fire. */
void bench_pass(struct bench *bench, uint64_t nanoseconds);

enum dxgk_scanout_state bench_scanout(struct bench *bench, unsigned output,
                                      struct dxgk_scanout *scanout);
/* What is shown at a place as 0xRRGGBB; the output must be on. */
uint32_t bench_pixel(struct bench *bench, unsigned output, uint32_t x, uint32_t y);

#endif
