/* SPDX-License-Identifier: MIT */
/*
 * A machine with RAM, a bus and kernel services for one test, and ways to run code on it as a
 * driver would: in a thread, a DPC, an interrupt. Reports do not stop the machine; a test looks
 * them up by rule and code.
 */
#ifndef DXGK_TESTS_NT_HARNESS_H
#define DXGK_TESTS_NT_HARNESS_H

#include "support/check_rule.h"
#include "verify/verify.h"

#include <string.h>

#include <ntddk.h>

#define TAG 0x74736554u /* "Test" */

struct nt_config;
struct nt_image;
struct nt_process;

struct harness {
    struct sim_machine *machine;
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    struct verify_log *log;
    struct nt_image *image; /* the driver's */
    char line[16][600];     /* debug output, oldest first */
    unsigned lines;
    NTSTATUS raised; /* status of the last structured exception */
    unsigned raises;
    uint64_t blocks_before; /* on the machine's heap */
    uint64_t threads_left;  /* threads that the test leaves waiting */
};

extern struct harness h;

/* One processor, or four. */
int harness_setup(void);
int harness_setup_smp(void);
int harness_teardown(void);
/* With other settings; boot = true: create the machine anew. */
void harness_boot(unsigned processors, uint64_t seed, const struct nt_config *extra);

/* Run fn in a kernel thread on behalf of the driver image, until it and all threads it made have
 * ended or wait. */
void run(void (*fn)(void));
/* The same for something that may never come to rest: false: not in that virtual time, and it is left where it was. */
bool run_within(void (*fn)(void), uint64_t ns);
/* As run, in a client thread of the process. */
void run_client(struct nt_process *process, void (*fn)(void));
/* From within: at DISPATCH_LEVEL in a DPC, or in an interrupt service routine. Return when it has
 * run. */
void in_dpc(void (*fn)(void));
void in_interrupt(void (*fn)(void));
/* From within: a further thread of the driver. */
struct sim_thread *start(const char *name, void (*fn)(void *), void *arg);
/* From within: let virtual time pass. */
void pause_ns(uint64_t ns);

/* Was the rule broken, with this code and first parameter? */
bool reported(const char *rule, uint32_t code, uint64_t p1);
/* ... with any code. */
bool broken(const char *rule);
/* Reports of error or worse so far. */
size_t errors(void);
/* Forget: later questions are about what comes from now on. */
void forget_reports(void);

UNICODE_STRING unicode_text(PCWSTR source);
PHYSICAL_ADDRESS physical(uint64_t address);
LARGE_INTEGER relative_ms(int64_t ms);

#define RIG_ARGUMENT_machine void
#define RIG_RUN_machine(body)                     \
    test_set_up(harness_setup, harness_teardown); \
    body()
#define RIG_ARGUMENT_machine_smp void
#define RIG_RUN_machine_smp(body)                     \
    test_set_up(harness_setup_smp, harness_teardown); \
    body()
/* The body is a thread of the driver. */
#define RIG_ARGUMENT_driver void
#define RIG_RUN_driver(body)                      \
    test_set_up(harness_setup, harness_teardown); \
    run(body)
#define RIG_ARGUMENT_driver_smp void
#define RIG_RUN_driver_smp(body)                      \
    test_set_up(harness_setup_smp, harness_teardown); \
    run(body)

#endif
