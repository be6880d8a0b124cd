/* SPDX-License-Identifier: MIT */
/*
 * A machine with a device and the emulation of instructions, for code that behaves as a driver's: it runs in a kernel thread,
 * inside the driver as far as the machine knows. The device has two pages of registers that remember what is written to them.
 */
#ifndef DXGK_TESTS_X64_RIG_H
#define DXGK_TESTS_X64_RIG_H

#include "sim/fault.h"
#include "support/check_rule.h"
#include "verify/verify.h"
#include "x64/x64.h"

#include <string.h>

#include <ntddk.h>

struct nt_image;

/* For functions that touch by pointer what no sanitizer knows of. */
#define RIG_DRIVER_CODE __attribute__((no_sanitize("address"), no_sanitize("undefined")))

#define RIG_REGISTERS 8192u /* INERT_DEVICE_REGISTERS */
#define RIG_ACCESSES  4096u

struct rig_access {
    bool write;
    unsigned width;
    uint64_t offset, value;
};

struct rig {
    struct sim_machine *machine;
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    struct nt_image *image;
    struct verify_log *log;
    struct bus_device *device;
    volatile uint8_t *registers; /* mapped */
    uint8_t value[RIG_REGISTERS];
    struct rig_access access[RIG_ACCESSES];
    unsigned accesses;
    void (*on_access)(void); /* called by the device; NULL: nobody */
    bool faulted;
    struct sim_fault fault;
    struct sim_registers registers_then; /* when it faulted */
};

extern struct rig rig;

/* One processor, or four. */
int rig_setup(void);
int rig_setup_smp(void);
int rig_teardown(void);
/* The same with a seed of the caller's, for tests that look at many: rig_boot ... rig_teardown. */
void rig_boot(uint64_t seed, unsigned processors);

#define RIG_ARGUMENT_machine void
#define RIG_RUN_machine(body)             \
    test_set_up(rig_setup, rig_teardown); \
    body()
#define RIG_ARGUMENT_machine_smp void
#define RIG_RUN_machine_smp(body)             \
    test_set_up(rig_setup_smp, rig_teardown); \
    body()
/* The body is driver code, and comes to its end. */
#define RIG_ARGUMENT_driver void
#define RIG_RUN_driver(body)              \
    test_set_up(rig_setup, rig_teardown); \
    CHECK(rig_run(body))

/* Run fn as driver code; true: it came to its end, without a fault. */
bool rig_run(void (*fn)(void));
/* The same, in a thread of its own, which need not have ended when this returns. */
void rig_start(void (*fn)(void));
void rig_forget_accesses(void);
/* Was this access the index-th since the last rig_forget_accesses? */
bool rig_accessed(unsigned index, bool write, uint64_t offset, unsigned width, uint64_t value);
uint64_t rig_reported(const char *rule);
/* What the last report of the rule said. */
const char *rig_said(const char *rule);

/* ---- single instructions with chosen registers ---- */

struct rig_registers {
    uint64_t gpr[16]; /* the stack pointer is left alone */
    uint64_t flags;
    uint64_t unused;
    uint8_t xmm[16][16];
};

/* Call a function with these registers, and take the registers that it leaves. It returns with the stack as it was. */
void rig_call(struct rig_registers *registers, const void *function);
/* The same for the code of an instruction, which must leave the stack as it is. */
void rig_execute(struct rig_registers *registers, const uint8_t *code, size_t bytes);

#endif
