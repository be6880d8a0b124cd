/* SPDX-License-Identifier: MIT */
/*
 * JUnit's XML, as build servers read it: a suite for the run. Its first case is the workload; each
 * rule that the driver or the workload broke is a further one, which failed. What kept the run from
 * its end is an error of the first case.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/expected.h"
#include "cli/result.h"
#include "cli/session.h"
#include "cli/stack_frame.h"
#include "cli/utf8.h"

/* XML has no way to write most control characters. */
static void put(FILE *out, const char *text)
{
    for (size_t length; *text; text += length ? length : 1) {
        unsigned char c = (unsigned char)*text;

        length = cli_utf8_length(text);
        if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\n' || c == '\t')
            fprintf(out, "&#%u;", c);
        else if (c < ' ' || length == 0 || strncmp(text, "\xEF\xBF\xBE", 3) == 0 ||
                 strncmp(text, "\xEF\xBF\xBF", 3) == 0)
            fputs(CLI_UTF8_BAD, out);
        else
            fwrite(text, 1, length, out);
    }
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    put(out, value);
    putc('"', out);
}

/* What the workload does not expect. */
static bool fails(const struct cli_result *result, const struct dxgk_violation *v)
{
    return !cli_result_expected(result, v) && !strstr(v->severity, "warning") &&
           !strstr(v->severity, "note");
}

static void put_stack(FILE *out, const char *stack)
{
    struct cli_stack_frame frame;

    while (cli_stack_frame_next(&stack, &frame)) {
        put(out, "\n  at ");
        put(out, frame.name);
        if (!frame.path[0])
            continue;
        put(out, " (");
        put(out, frame.path);
        fprintf(out, ":%" PRIu64 ")", frame.line);
    }
}

/* The command that shows one of a campaign's failures. */
static void put_again(FILE *out, const struct cli_result *result, size_t index)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = result->again ? open_memstream(&text, &bytes) : NULL;

    if (!memory)
        return;
    result->again(result->from, index, memory);
    if (fclose(memory) == 0) {
        put(out, "\nagain with: ");
        put(out, text);
    }
    free(text);
}

static void put_violation(FILE *out, const struct cli_result *result, size_t index,
                          const struct dxgk_violation *v)
{
    fputs("    <testcase classname=\"rules\"", out);
    fputs(" name=\"", out);
    put(out, v->rule);
    if (v->where && v->where[0]) { /* another place is another case */
        put(out, " in ");
        put(out, v->where);
    }
    fputs("\" time=\"0\">\n      <failure", out);
    put_attribute(out, "type", v->severity);
    put_attribute(out, "message", v->seen);
    fputs(">", out);
    put(out, v->severity);
    put(out, " ");
    put(out, v->rule);
    put(out, ": ");
    put(out, v->seen);
    if (v->where && v->where[0]) {
        put(out, "\n  in ");
        put(out, v->where);
        fprintf(out, ", thread ");
        put(out, v->thread ? v->thread : "");
        fprintf(out, ", at %.6f ms, %" PRIu64 " times", (double)v->virtual_ns / 1e6, v->count);
    }
    put_stack(out, v->stack ? v->stack : "");
    put_again(out, result, index);
    fputs("</failure>\n    </testcase>\n", out);
}

static void put_workload(FILE *out, const struct cli_result *result)
{
    const bool failed = strcmp(result->outcome, "failed") == 0,
               good = strcmp(result->outcome, "passed") == 0 ||
                      strcmp(result->outcome, "broken") == 0;
    const char *element = failed ? "failure" : "error";

    fputs("    <testcase", out);
    put_attribute(out, "classname", result->options->driver);
    put_attribute(out, "name", result->options->workload);
    fprintf(out, " time=\"%.3f\"", result->wall_s);
    if (good) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", element);
    put_attribute(out, "type", result->outcome);
    put_attribute(out, "message", result->message);
    fprintf(out, "/>\n    </testcase>\n");
}

static void put_properties(FILE *out, const struct cli_result *result)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);

    fputs("    <properties>\n", out);
    if (!result->again) /* a run */
        fprintf(out, "      <property name=\"seed\" value=\"%" PRIu64 "\"/>\n",
                result->options->config.seed);
    fprintf(out, "      <property name=\"status\" value=\"%d\"/>\n", result->status);
    if (memory) {
        cli_put_command(memory, result->command, result->argc, result->argv);
        if (fclose(memory) == 0) {
            fputs("      <property name=\"command\"", out);
            put_attribute(out, "value", text);
            fputs("/>\n", out);
        }
        free(text);
    }
    fputs("    </properties>\n", out);
}

bool cli_result_junit(const struct cli_result *result, FILE *file)
{
    const bool failed = strcmp(result->outcome, "failed") == 0,
               error = !failed && strcmp(result->outcome, "passed") != 0 &&
                       strcmp(result->outcome, "broken") != 0;
    struct dxgk_violation v;
    uint64_t broken = 0;

    for (size_t i = 0; result->violation(result->from, i, &v); i++)
        broken += fails(result, &v);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", file);
    fprintf(file,
            "<testsuites>\n  <testsuite name=\"dxgkhost %s\" tests=\"%" PRIu64
            "\" failures=\"%" PRIu64 "\" errors=\"%u\" skipped=\"0\" time=\"%.3f\">\n",
            result->command, broken + 1, broken + failed, error, result->wall_s);
    put_properties(file, result);
    put_workload(file, result);
    for (size_t i = 0; result->violation(result->from, i, &v); i++)
        if (fails(result, &v))
            put_violation(file, result, i, &v);
    fputs("  </testsuite>\n</testsuites>\n", file);
    return !ferror(file);
}
