/* SPDX-License-Identifier: MIT */
/* dxgkhost check-trace: what a trace that Windows has recorded shows of the rules. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/argument.h"
#include "cli/cli.h"
#include "cli/option.h"
#include "cli/output.h"
#include "cli/trace_page.h"
#include "cli/usage.h"
#include "option_table.h"
#include "util/array.h"
#include "wintrace/check.h"
#include "wintrace/wintrace.h"

static void print_trace(const char *path, const struct wintrace *trace)
{
    uint64_t ns = trace->events ? trace->event[trace->events - 1].time : 0;

    printf("%s\n", path);
    printf("  recorded on            ");
    if (trace->build)
        printf("Windows build %u, ", trace->build);
    if (trace->processors)
        printf("%u processors\n", trace->processors);
    else
        puts("a number of processors that it does not tell");
    printf("  events of DxgKrnl      %zu, in %" PRIu64 ".%06" PRIu64 " s\n", trace->events,
           ns / 1000000000, ns / 1000 % 1000000);
    if (trace->unknown && trace->unknown_id)
        printf("  not looked at          %" PRIu64 " (the last of kind %u, version %u)\n",
               trace->unknown, trace->unknown_id, trace->unknown_version);
    else if (trace->unknown)
        printf("  not looked at          %" PRIu64 "\n", trace->unknown);
    if (trace->undecoded)
        printf("  too short              %" PRIu64 "\n", trace->undecoded);
    printf("  of other providers     %" PRIu64 "\n", trace->others);
    printf("  lost in recording      %" PRIu64 "\n", trace->lost);
}

/* The number of findings that were broken. */
static unsigned print_findings(const struct wintrace_findings *findings)
{
    unsigned broken = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct wintrace_finding *f = &findings->finding[i];

        if (!f->looked)
            continue;
        broken += f->broken != 0;
        printf("%-12s %" PRIu64 " of %" PRIu64 " %s break it: %s\n",
               f->rule ? f->rule : "(numbers)", f->broken, f->looked, f->about, f->what);
        if (f->broken)
            printf("             first at %" PRIu64 ".%09" PRIu64 " s: %s\n", f->time / 1000000000,
                   f->time % 1000000000, f->first);
    }
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->finding[i].looked)
            printf("%-12s not seen: %s\n",
                   findings->finding[i].rule ? findings->finding[i].rule : "(numbers)",
                   findings->finding[i].what);
    if (findings->without_node)
        printf("%" PRIu64 " events of packets are of contexts whose node the trace does not tell\n",
               findings->without_node);
    return broken;
}

static int check(const char *path, const char *html)
{
    char error[512];
    struct wintrace *trace = wintrace_read(path, error, sizeof(error));
    struct wintrace_check *c = trace ? wintrace_check_create(trace) : NULL;
    struct wintrace_findings findings;
    unsigned broken;
    bool written;

    if (!c) {
        fprintf(stderr, "dxgkhost: %s\n", trace ? "out of memory" : error);
        wintrace_destroy(trace);
        return CLI_FAILED;
    }
    findings = wintrace_check_findings(c);
    print_trace(path, trace);
    broken = print_findings(&findings);
    if (trace->lost)
        puts("events were lost: what is broken may only be missing");
    written = !html || cli_check_page(html, path, trace, &findings);
    wintrace_check_destroy(c);
    wintrace_destroy(trace);
    if (!written)
        return CLI_HOST;
    return broken ? CLI_BROKEN : CLI_OK;
}

struct options {
    const char *path, *html;
};

#define CLI_OPTION_STRUCT struct options
static const struct cli_option table[] = {CLI_CHECK_TRACE_OPTIONS};

static bool parse(struct options *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        char name[CLI_NAME_BYTES];
        const char *given = cli_argument(argv[i], name);
        const struct cli_option *option = cli_option_find(table, ARRAY_COUNT(table), name);

        if (option) {
            if (!given && ++i == argc)
                return false;
            if (!cli_option_store(option, options, given ? given : argv[i]))
                return false;
        } else {
            if (options->path || argv[i][0] == '-')
                return false;
            options->path = argv[i];
        }
    }
    return options->path != NULL;
}

int cli_check_trace(int argc, char **argv)
{
    struct options options = {0};

    if (!parse(&options, argc, argv)) {
        (void)cli_usage_of(stderr, "check-trace");
        fputs("dxgkhost: check-trace takes a file\n", stderr);
        return CLI_USAGE;
    }
    return options.html && !cli_can_write(options.html) ? CLI_USAGE
                                                        : check(options.path, options.html);
}
