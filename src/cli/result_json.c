/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "cli/json.h"
#include "cli/result.h"
#include "cli/session.h"
#include "cli/stack_frame.h"

static void put_statistics(struct cli_json *json, const struct dxgk_statistics *s)
{
    const struct {
        const char *name;
        uint64_t number;
    } member[] = {{"virtual_ns", s->virtual_ns},
                  {"submissions", s->submissions},
                  {"paging_submissions", s->paging_submissions},
                  {"patches", s->patches},
                  {"page_table_updates", s->page_table_updates},
                  {"bytes_paged_in", s->bytes_paged_in},
                  {"bytes_paged_out", s->bytes_paged_out},
                  {"evictions", s->evictions},
                  {"table_evictions", s->table_evictions},
                  {"iommu_maps", s->iommu_maps},
                  {"iommu_faults", s->iommu_faults},
                  {"interrupts", s->interrupts},
                  {"ddi_calls", s->ddi_calls},
                  {"preemptions", s->preemptions},
                  {"engine_resets", s->engine_resets},
                  {"adapter_resets", s->adapter_resets},
                  {"violations", s->violations},
                  {"warnings", s->warnings},
                  {"client_errors", s->client_errors},
                  {"leaks", s->leaks}};

    cli_json_object(json, "statistics");
    for (size_t i = 0; i < sizeof(member) / sizeof(member[0]); i++)
        cli_json_number(json, member[i].name, member[i].number);
    cli_json_end(json);
    if (!s->bugcheck)
        return;
    cli_json_object(json, "bug_check");
    cli_json_format(json, "code", "0x%" PRIX32, s->bugcheck_code);
    cli_json_array(json, "parameters");
    for (unsigned i = 0; i < 4; i++)
        cli_json_format(json, NULL, "0x%" PRIX64, s->bugcheck_parameter[i]);
    cli_json_end(json);
    cli_json_text(json, "by", s->bugcheck_client ? "client" : "driver");
    cli_json_end(json);
}

static void put_stack(struct cli_json *json, const char *stack)
{
    struct cli_stack_frame frame;

    cli_json_array(json, "stack");
    while (cli_stack_frame_next(&stack, &frame)) {
        cli_json_object(json, NULL);
        cli_json_text(json, "frame", frame.name);
        cli_json_text(json, "module", frame.module);
        if (frame.function[0])
            cli_json_text(json, "function", frame.function);
        if (frame.path[0]) {
            cli_json_text(json, "file", frame.path);
            cli_json_number(json, "line", frame.line);
        }
        cli_json_end(json);
    }
    cli_json_end(json);
}

static void put_violation(struct cli_json *json, const struct cli_result *result,
                          const struct dxgk_violation *v)
{
    cli_json_object(json, NULL);
    cli_json_text(json, "rule", v->rule);
    cli_json_text(json, "severity", v->severity);
    cli_json_text(json, "seen", v->seen);
    cli_json_text(json, "where", v->where ? v->where : "");
    cli_json_text(json, "thread", v->thread ? v->thread : "");
    cli_json_number(json, "virtual_ns", v->virtual_ns);
    cli_json_number(json, "count", v->count);
    cli_json_flag(json, "expected", cli_result_expected(result, v));
    cli_json_flag(json, "refuses", v->refuses);
    cli_json_flag(json, "undoing", v->undoing);
    cli_json_flag(json, "client", v->client);
    put_stack(json, v->stack ? v->stack : "");
    cli_json_end(json);
}

static void put_violations(struct cli_json *json, const struct cli_result *result)
{
    struct dxgk_violation v;

    cli_json_array(json, "violations");
    for (size_t i = 0; result->violation(result->from, i, &v); i++)
        put_violation(json, result, &v);
    cli_json_end(json);
}

/* Oldest first. */
static void put_refusals(struct cli_json *json, const struct dxgk_machine *machine)
{
    struct dxgk_refusal r;
    size_t kept = 0;

    while (dxgk_machine_refusal(machine, kept, &r))
        kept++;
    cli_json_number(json, "refused_calls", dxgk_machine_refusals(machine));
    cli_json_array(json, "refusals");
    while (kept-- > 0) {
        (void)dxgk_machine_refusal(machine, kept, &r);
        cli_json_object(json, NULL);
        cli_json_text(json, "call", r.call);
        cli_json_text(json, "status", r.status);
        cli_json_format(json, "code", "0x%08" PRIX32, r.code);
        cli_json_text(json, "reason", r.reason);
        cli_json_text(json, "rule", r.rule);
        cli_json_text(json, "thread", r.thread);
        cli_json_number(json, "virtual_ns", r.virtual_ns);
        cli_json_end(json);
    }
    cli_json_end(json);
}

static void put_losses(struct cli_json *json, const struct dxgk_machine *machine)
{
    struct dxgk_loss loss;
    size_t kept = 0;

    while (dxgk_machine_loss(machine, kept, &loss))
        kept++;
    cli_json_array(json, "losses");
    while (kept-- > 0) {
        (void)dxgk_machine_loss(machine, kept, &loss);
        cli_json_object(json, NULL);
        cli_json_text(json, "what", loss.line);
        cli_json_number(json, "virtual_ns", loss.virtual_ns);
        cli_json_end(json);
    }
    cli_json_end(json);
}

static void put_head(struct cli_json *json, const struct cli_result *result)
{
    const struct cli_options *options = result->options;

    cli_json_text(json, "version", DXGK_VERSION);
    cli_json_text(json, "driver", options->driver);
    cli_json_text(json, "workload", options->workload);
    cli_json_number(json, "seed", options->config.seed);
    cli_result_command(json, "command", result);
    cli_json_text(json, "result", result->status == CLI_OK ? "PASS" : "FAIL");
    cli_json_text(json, "outcome", result->outcome);
    cli_json_number(json, "status", (uint64_t)result->status);
    cli_json_text(json, "message", result->message);
    cli_json_seconds(json, "wall_seconds", result->wall_s);
}

bool cli_result_json(const struct cli_result *result, FILE *file)
{
    const struct cli_session *session = result->session;
    struct cli_json json;

    cli_json_start(&json, file);
    cli_json_object(&json, NULL);
    put_head(&json, result);
    for (size_t i = 0; session && i < session->workload.rows; i++) {
        if (i == 0)
            cli_json_object(&json, "workload_says");
        cli_json_text(&json, session->workload.row[i].name, session->workload.row[i].value);
        if (i + 1 == session->workload.rows)
            cli_json_end(&json);
    }
    if (result->statistics)
        put_statistics(&json, result->statistics);
    put_violations(&json, result);
    if (session && session->machine) {
        put_refusals(&json, session->machine);
        put_losses(&json, session->machine);
    }
    cli_json_end(&json);
    return !ferror(file);
}
