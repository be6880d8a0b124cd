/* SPDX-License-Identifier: MIT */
/*
 * SARIF 2.1.0, as code hosts take it: a result for each broken rule, at the innermost frame of its
 * stack that has a line of source, else at the driver's file. Paths below the current folder are
 * relative to it, which is where a build of a driver usually runs.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/result.h"
#include "cli/session.h"
#include "cli/stack_frame.h"
#include "verify/verify.h"

#define SCHEMA \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* ---- places ---- */

static void put_uri_text(FILE *out, const char *path)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (isalnum(c) || strchr("-._~/+@,=", c))
            putc(c, out);
        else
            fprintf(out, "%%%02X", c);
    }
}

static void put_location_of(struct cli_json *json, const char *path, uint64_t line)
{
    char folder[4096], *uri = NULL;
    size_t bytes, length;
    FILE *memory = open_memstream(&uri, &bytes);

    if (!memory)
        return;
    if (path[0] == '/') {
        length = getcwd(folder, sizeof(folder)) ? strlen(folder) : 0;
        if (length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/')
            path += length + 1;
        else
            fputs("file://", memory);
    }
    put_uri_text(memory, path);
    if (fclose(memory) == 0) {
        cli_json_object(json, "physicalLocation");
        cli_json_object(json, "artifactLocation");
        cli_json_text(json, "uri", uri);
        cli_json_end(json);
        if (line) {
            cli_json_object(json, "region");
            cli_json_number(json, "startLine", line);
            cli_json_end(json);
        }
        cli_json_end(json);
    }
    free(uri);
}

static void put_function(struct cli_json *json, const struct cli_stack_frame *frame)
{
    cli_json_array(json, "logicalLocations");
    cli_json_object(json, NULL);
    cli_json_text(json, "fullyQualifiedName", frame->name);
    if (frame->function[0])
        cli_json_text(json, "name", frame->function);
    cli_json_text(json, "kind", "function");
    cli_json_end(json);
    cli_json_end(json);
}

/* The innermost frame that has a line; else the innermost one. False: there is none. */
static bool find_place(const char *stack, struct cli_stack_frame *place)
{
    struct cli_stack_frame frame;
    bool found = false;

    while (cli_stack_frame_next(&stack, &frame)) {
        if (!found || frame.path[0])
            *place = frame;
        found = true;
        if (frame.path[0])
            break;
    }
    return found;
}

static void put_locations(struct cli_json *json, const struct cli_result *result, const char *stack)
{
    struct cli_stack_frame place;
    bool known = find_place(stack, &place);

    cli_json_array(json, "locations");
    cli_json_object(json, NULL);
    if (known && place.path[0])
        put_location_of(json, place.path, place.line);
    else
        put_location_of(json, result->options->driver, 0);
    if (known)
        put_function(json, &place);
    cli_json_end(json);
    cli_json_end(json);
}

static void put_stack(struct cli_json *json, const char *stack)
{
    struct cli_stack_frame frame;

    if (!*stack)
        return;
    cli_json_array(json, "stacks");
    cli_json_object(json, NULL);
    cli_json_array(json, "frames");
    while (cli_stack_frame_next(&stack, &frame)) {
        cli_json_object(json, NULL);
        cli_json_object(json, "location");
        if (frame.path[0])
            put_location_of(json, frame.path, frame.line);
        put_function(json, &frame);
        cli_json_end(json);
        cli_json_text(json, "module", frame.module);
        cli_json_end(json);
    }
    cli_json_end(json);
    cli_json_end(json);
    cli_json_end(json);
}

/* ---- results ---- */

static const char *level_of(const struct cli_result *result, const struct dxgk_violation *v)
{
    if (cli_result_expected(result, v) || strstr(v->severity, "note"))
        return "note";
    return strstr(v->severity, "warning") ? "warning" : "error";
}

/* The command that shows one of a campaign's failures. */
static void put_again(struct cli_json *json, const struct cli_result *result, size_t index)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = result->again ? open_memstream(&text, &bytes) : NULL;

    if (!memory)
        return;
    result->again(result->from, index, memory);
    if (fclose(memory) == 0)
        cli_json_text(json, "again", text);
    free(text);
}

static void put_violation(struct cli_json *json, const struct cli_result *result, size_t index,
                          const struct dxgk_violation *v)
{
    const char *where = v->where ? v->where : "", *stack = v->stack ? v->stack : "";

    cli_json_object(json, NULL);
    cli_json_text(json, "ruleId", v->rule);
    cli_json_text(json, "level", level_of(result, v));
    cli_json_object(json, "message");
    cli_json_format(json, "text", "%s%s%s", v->seen, where[0] ? ", in " : "", where);
    cli_json_end(json);
    put_locations(json, result, stack);
    put_stack(json, stack);
    cli_json_number(json, "occurrenceCount", v->count);
    cli_json_object(json, "partialFingerprints");
    cli_json_format(json, "rulePlace/v1", "%s %s", v->rule, where);
    cli_json_end(json);
    cli_json_object(json, "properties");
    cli_json_text(json, "severity", v->severity);
    cli_json_text(json, "thread", v->thread ? v->thread : "");
    cli_json_number(json, "virtual_ns", v->virtual_ns);
    cli_json_flag(json, "expected", cli_result_expected(result, v));
    put_again(json, result, index);
    cli_json_end(json);
    cli_json_end(json);
}

static bool is_first(const struct cli_result *result, size_t index, const char *rule)
{
    struct dxgk_violation v;

    for (size_t i = 0; i < index && result->violation(result->from, i, &v); i++)
        if (strcmp(v.rule, rule) == 0)
            return false;
    return true;
}

/* Each rule that was broken, once. */
static void put_rules(struct cli_json *json, const struct cli_result *result)
{
    struct dxgk_violation v;

    cli_json_array(json, "rules");
    for (size_t i = 0; result->violation(result->from, i, &v); i++) {
        const struct verify_rule *rule = verify_rule_find(v.rule);

        if (!rule || !is_first(result, i, v.rule))
            continue;
        cli_json_object(json, NULL);
        cli_json_text(json, "id", rule->id);
        cli_json_object(json, "shortDescription");
        cli_json_text(json, "text", rule->applies_to);
        cli_json_end(json);
        cli_json_object(json, "fullDescription");
        cli_json_text(json, "text", rule->text);
        cli_json_end(json);
        cli_json_object(json, "help");
        cli_json_format(json, "text", "%s\nSource: %s. See also: dxgkhost explain %s", rule->text,
                        rule->source, rule->id);
        cli_json_end(json);
        cli_json_end(json);
    }
    cli_json_end(json);
}

static void put_invocation(struct cli_json *json, const struct cli_result *result)
{
    cli_json_array(json, "invocations");
    cli_json_object(json, NULL);
    cli_result_command(json, "commandLine", result);
    cli_json_number(json, "exitCode", (uint64_t)result->status);
    cli_json_flag(json, "executionSuccessful", strcmp(result->outcome, "lost") != 0);
    if (result->message[0]) {
        cli_json_array(json, "toolExecutionNotifications");
        cli_json_object(json, NULL);
        cli_json_text(json, "level", result->status == CLI_OK ? "note" : "error");
        cli_json_object(json, "message");
        cli_json_text(json, "text", result->message);
        cli_json_end(json);
        cli_json_end(json);
        cli_json_end(json);
    }
    cli_json_end(json);
    cli_json_end(json);
}

bool cli_result_sarif(const struct cli_result *result, FILE *file)
{
    struct dxgk_violation v;
    struct cli_json json;

    cli_json_start(&json, file);
    cli_json_object(&json, NULL);
    cli_json_text(&json, "$schema", SCHEMA);
    cli_json_text(&json, "version", "2.1.0");
    cli_json_array(&json, "runs");
    cli_json_object(&json, NULL);
    cli_json_object(&json, "tool");
    cli_json_object(&json, "driver");
    cli_json_text(&json, "name", "dxgkhost");
    cli_json_text(&json, "version", DXGK_VERSION);
    put_rules(&json, result);
    cli_json_end(&json);
    cli_json_end(&json);
    put_invocation(&json, result);
    cli_json_array(&json, "results");
    for (size_t i = 0; result->violation(result->from, i, &v); i++)
        put_violation(&json, result, i, &v);
    cli_json_end(&json);
    cli_json_end(&json);
    cli_json_end(&json);
    cli_json_end(&json);
    return !ferror(file);
}
