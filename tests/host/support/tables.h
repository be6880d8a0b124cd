/* SPDX-License-Identifier: MIT */
/* Machines on which page tables are checked, with the reference device and the driver
 * tests/drivers/tables, which makes the mistake that it is told to make. */
#ifndef DXGK_TESTS_HOST_TABLES_H
#define DXGK_TESTS_HOST_TABLES_H

#include "../drivers/tables/broken.h"
#include "host/support/refgpu_client.h"

#include <stdarg.h>
#include <unistd.h>

#define TABLES_MAX_CALLS 64u

struct tables {
    struct machine m;
    struct client c;
    enum table_fault fault;
    uint64_t wrong[TABLES_MAX_CALLS]; /* calls in which the driver says that it was wrong */
    unsigned calls;
    char loss[2048]; /* the line of the last fault */
};

static inline void tables_log(void *context, const char *line)
{
    struct tables *t = context;
    const char *said = strstr(line, "wrong in call ");

    if (said && t->calls < TABLES_MAX_CALLS)
        t->wrong[t->calls++] = strtoull(said + 14, NULL, 10);
    machine_log(&t->m, line);
}

static inline void tables_loss(void *context, const char *line)
{
    struct tables *t = context;

    if (strstr(line, ": page fault: "))
        snprintf(t->loss, sizeof(t->loss), "%s", line);
    if (t->m.noisy)
        printf("    lost: %s\n", line);
}

/* The value TableFault of the service key. */
static inline void tables_choose(struct tables *t, enum table_fault fault)
{
    char path[] = "/tmp/dxgkhost-tables-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\tables]\n");
    fprintf(file, "\"TableFault\"=4:%02x000000\n", (unsigned)fault);
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(t->m.dxgk, path, t->m.error, sizeof(t->m.error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

static inline void tables_load_driver(struct tables *t)
{
    if (dxgk_machine_load_driver(t->m.dxgk, machine_path("tests/drivers/tables.so"), t->m.error,
                                 sizeof(t->m.error)) != DXGK_OK)
        fail_msg("driver: %s", t->m.error);
}

static inline void tables_create(struct tables *t, enum table_fault fault, uint64_t seed)
{
    struct dxgk_machine_config config;

    memset(t, 0, sizeof(*t));
    t->fault = fault;
    machine_config(&t->m, &config);
    config.seed = seed;
    config.check_page_tables = true;
    config.log = tables_log;
    config.loss = tables_loss;
    config.log_context = t;
    machine_create(&t->m, &config);
    tables_choose(t, fault);
}

static inline void tables_begin(struct tables *t, enum table_fault fault, uint64_t seed)
{
    tables_create(t, fault, seed);
    if (dxgk_machine_add_device(t->m.dxgk, machine_path("devices/refgpu.so"), NULL, 0, t->m.error,
                                sizeof(t->m.error)) != DXGK_OK)
        fail_msg("device: %s", t->m.error);
    tables_load_driver(t);
}

static inline void tables_run(struct tables *t, void (*program)(struct client *c))
{
    t->c.context = t;
    machine_run_with(&t->m, &t->c, program, DXGK_OK);
}

/* The first record of a rule that says all of these words, up to NULL; NULL: none does. */
static inline const char *tables_said(const struct tables *t, const char *rule, ...)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(t->m.dxgk, i, &v); i++) {
        const char *word;
        bool all = strcmp(v.rule, rule) == 0;
        va_list words;

        va_start(words, rule);
        while (all && (word = va_arg(words, const char *)) != NULL)
            all = strstr(v.seen, word) != NULL;
        va_end(words);
        if (all)
            return v.seen;
    }
    return NULL;
}

/* " call 57 (UPDATE_PAGE_TABLE", for a call in which the driver says that it was wrong. */
static inline const char *tables_call(const struct tables *t, unsigned n, const char *operation)
{
    static char text[4][64];
    static unsigned turn;
    char *to = text[turn++ % 4];

    snprintf(to, sizeof(text[0]), "call %llu (%s",
             n < t->calls ? (unsigned long long)t->wrong[n] : 0ull, operation);
    return to;
}

/* Records of page tables. */
static inline unsigned tables_records(const struct tables *t)
{
    static const char *const rules[] = {"GPUVA-191", "GPUVA-192", "GPUVA-193", "GPUVA-194",
                                        "GPUVA-195", "GPUVA-196", "GPUVA-197", "GPUVA-198",
                                        "GPUVA-206", "GPUVA-213", "GPUVA-260", "GPUVA-261",
                                        "GPUVA-262", "GPUVA-263", "GPUVA-264", "GPUVA-265"};
    struct dxgk_violation v;
    unsigned count = 0;

    for (size_t i = 0; dxgk_machine_violation(t->m.dxgk, i, &v); i++)
        for (unsigned n = 0; n < sizeof(rules) / sizeof(rules[0]); n++)
            count += strcmp(v.rule, rules[n]) == 0;
    return count;
}

static inline void tables_end(struct tables *t)
{
    if (t->m.noisy)
        machine_print_violations(&t->m);
    (void)dxgk_machine_shutdown(t->m.dxgk);
    dxgk_machine_destroy(t->m.dxgk);
}

#endif
