/* SPDX-License-Identifier: MIT */
/*
 * Tests of one context allocation at a time, the latest of which is context_item: the client around the calls, the calls that
 * many of them make from inside a DDI, and the run.
 *
 *     context_run(body);            body on the client's thread of a new adapter
 *     context_run_beside(body);     the same of a body that starts another client, context_beside
 */
#ifndef DXGK_TESTS_PORT_CONTEXT_CLIENT_H
#define DXGK_TESTS_PORT_CONTEXT_CLIENT_H

#include "port/support/context_calls.h"

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define G                  (&context_rig.gpu)
#define MB                 (1ull << 20)

static HANDLE context_item;
static struct probe_client *context_beside;

static inline void context_begin_client(void)
{
    CHECK(IS(probe_gpu_begin(G), STATUS_SUCCESS));
}

static inline void context_end_client(void)
{
    CHECK(IS(probe_gpu_end(G), STATUS_SUCCESS));
}

static inline uint64_t context_errors(const struct probe *p)
{
    return probe_reports(p, VERIFY_WARNING);
}

/* ---- from inside a DDI ---- */

static inline void context_make_item(struct probe *p)
{
    context_item = context_make(p);
}

static inline void context_destroy_item(struct probe *p)
{
    NTSTATUS status = context_destroy(p, context_item);

    CHECK_RULE("CTXA-062", status == STATUS_SUCCESS);
    CHECK_RULE("PREEMPT-032", status == STATUS_SUCCESS);
}

static inline void context_update_item(struct probe *p)
{
    CHECK_RULE("CTXA-054", context_update(p, context_item) == STATUS_SUCCESS);
}

/* At 64 MB, where it or one before it was. */
static inline void context_map_item_again(struct probe *p)
{
    CHECK_RULE("CTXA-064", context_map_at(p, context_item, 64 * MB) == 64 * MB);
}

/* ---- the run ---- */

static inline void context_run(void (*body)(struct probe *p))
{
    context_rig_run(context_rig_create(NULL), body);
}

static inline void context_run_beside(void (*body)(struct probe *p))
{
    struct probe *p = context_rig_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_client_end(p, context_beside);
    probe_clients_end(p);
    probe_destroy(p);
}

#define RIG_ARGUMENT_context         struct probe *p
#define RIG_RUN_context(body)        context_run(body)
#define RIG_ARGUMENT_context_beside  struct probe *p
#define RIG_RUN_context_beside(body) context_run_beside(body)

#endif
