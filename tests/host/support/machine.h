/* SPDX-License-Identifier: MIT */
/*
 * A machine with the reference GPU, and client programs that check things. A client runs on a fiber, where cmocka must not
 * jump away: it notes the first check that failed and returns, and the test looks at that after the run.
 *
 *     TEST_WITH(client, devices_have_a_handle)
 *     {
 *         TRY(c, D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
 *         SHOW(c, "KMT-024", device.hDevice != 0);
 *     }
 */
#ifndef DXGK_TESTS_HOST_MACHINE_H
#define DXGK_TESTS_HOST_MACHINE_H

#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "dxgkhost/dxgkhost.h"

#define MAX_SHOWN 256u

struct shown {
    const char *rule, *file, *function;
    int line;
};

struct machine {
    struct dxgk_machine *dxgk;
    char error[512];
    bool noisy;
    char silent[256]; /* a call that failed without a reason; "": none did */
};

struct client {
    struct machine *machine;
    const char *failed; /* what did not hold */
    int line;
    struct shown shown[MAX_SHOWN];
    unsigned count;
    void (*program)(struct client *c);
    void *context;
};

/* The check, and giving up. The first failure is kept. */
#define TRY(c, condition)                           \
    do {                                            \
        if (!(condition)) {                         \
            client_failed(c, #condition, __LINE__); \
            return;                                 \
        }                                           \
    } while (0)

#define SHOW(c, rule, condition)                                            \
    do {                                                                    \
        if (!(condition)) {                                                 \
            client_failed(c, rule " does not hold: " #condition, __LINE__); \
            return;                                                         \
        }                                                                   \
        client_shown(c, rule, __FILE__, __LINE__, __func__);                \
    } while (0)

static inline void client_failed(struct client *c, const char *what, int line)
{
    if (c->failed)
        return;
    c->failed = what;
    c->line = line;
}

static inline void client_shown(struct client *c, const char *rule, const char *file, int line,
                                const char *function)
{
    if (c->count < MAX_SHOWN)
        c->shown[c->count++] = (struct shown){rule, file, function, line};
}

static inline void machine_log(void *context, const char *line)
{
    struct machine *m = context;

    if (m->noisy)
        printf("    %s\n", line);
    if (strstr(line, "no reason is known"))
        snprintf(m->silent, sizeof(m->silent), "%s", line);
}

static inline const char *machine_path(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *text = path[turn++ % 4];
    const char *build = getenv("DXGK_BUILD");

    snprintf(text, sizeof(path[0]), "%s/%s", build ? build : ".", name);
    return text;
}

static inline void machine_config(struct machine *m, struct dxgk_machine_config *config)
{
    memset(m, 0, sizeof(*m));
    m->noisy = getenv("DXGK_NOISY") != NULL;
    dxgk_machine_config_init(config);
    config->log = machine_log;
    config->log_context = m;
    config->ram_bytes = (uint64_t)1 << 30;
}

static inline void machine_create(struct machine *m, const struct dxgk_machine_config *config)
{
    m->dxgk = dxgk_machine_create(config, m->error, sizeof(m->error));
    if (!m->dxgk)
        fail_msg("machine: %s", m->error);
}

static inline void machine_add_refgpu(struct machine *m)
{
    if (dxgk_machine_add_device(m->dxgk, machine_path("devices/refgpu.so"), NULL, 0, m->error,
                                sizeof(m->error)) != DXGK_OK)
        fail_msg("device: %s", m->error);
    if (dxgk_machine_load_driver(m->dxgk, machine_path("drivers/refgpu.so"), m->error,
                                 sizeof(m->error)) != DXGK_OK)
        fail_msg("driver: %s", m->error);
}

/* A machine with one reference GPU, started. */
static inline void machine_begin(struct machine *m, enum dxgk_iommu iommu)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    config.iommu = iommu;
    machine_create(m, &config);
    machine_add_refgpu(m);
}

static inline void client_main(void *argument)
{
    struct client *c = argument;

    c->program(c);
}

/* What a run has shown counts only if all of it held. */
static inline void client_report(struct client *c)
{
    if (c->failed)
        fail_msg("line %d: %s", c->line, c->failed);
    for (unsigned i = 0; i < c->count; i++)
        check_rule_record(c->shown[i].rule, c->shown[i].file, c->shown[i].line,
                          c->shown[i].function);
    c->count = 0;
}

static inline void machine_print_violations(const struct machine *m)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++)
        printf("    %s (%s): %s; at %s, thread %s, %llu ns, %llu times\n", v.rule, v.severity,
               v.seen, v.where, v.thread, (unsigned long long)v.virtual_ns,
               (unsigned long long)v.count);
}

static inline void machine_run_with(struct machine *m, struct client *c,
                                    void (*program)(struct client *c), enum dxgk_result expected)
{
    enum dxgk_result result;

    c->machine = m;
    c->program = program;
    result = dxgk_machine_run(m->dxgk, "client", client_main, c);
    if (result != expected) {
        machine_print_violations(m);
        if (c->failed)
            printf("    line %d: %s\n", c->line, c->failed);
        fail_msg("run ended with result %d instead of %d", (int)result, (int)expected);
    }
    client_report(c);
}

static inline void machine_run(struct machine *m, void (*program)(struct client *c))
{
    struct client *c = calloc(1, sizeof(*c));

    machine_run_with(m, c, program, DXGK_OK);
    free(c);
}

/* Shut down in good order: nothing broken, nothing left. */
static inline void machine_end(struct machine *m)
{
    struct dxgk_statistics s;
    enum dxgk_result result = dxgk_machine_shutdown(m->dxgk);

    if (m->silent[0])
        fail_msg("%s", m->silent);
    dxgk_machine_statistics(m->dxgk, &s);
    if (m->noisy || result != DXGK_OK || s.violations || s.leaks)
        machine_print_violations(m);
    CHECK(result == DXGK_OK);
    CHECK(s.violations == 0);
    CHECK(s.leaks == 0);
    CHECK(!s.bugcheck);
    dxgk_machine_destroy(m->dxgk);
}

/* ---- the usual test: one client program on a machine of its own ---- */

static inline void machine_test(enum dxgk_iommu iommu, void (*program)(struct client *c))
{
    struct machine m;

    machine_begin(&m, iommu);
    machine_run(&m, program);
    machine_end(&m);
}

#define RIG_ARGUMENT_client              struct client *c
#define RIG_RUN_client(program)          machine_test(DXGK_IOMMU_OFF, program)
#define RIG_ARGUMENT_remapped_client     struct client *c
#define RIG_RUN_remapped_client(program) machine_test(DXGK_IOMMU_REMAP, program)

#endif
