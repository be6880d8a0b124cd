/* SPDX-License-Identifier: MIT */
/*
 * dxgkhost compare: a trace of a run of this host against one of Windows, by
 * wintrace/compare.h, where the algorithm and its cost stand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/argument.h"
#include "cli/cli.h"
#include "cli/number.h"
#include "cli/option.h"
#include "cli/output.h"
#include "cli/trace_page.h"
#include "cli/usage.h"
#include "option_table.h"
#include "util/array.h"
#include "verify/verify.h"
#include "wintrace/known.h"
#include "wintrace/show.h"

#define BEFORE   3u /* events shown before the first that differs, */
#define SHOWN    6u /* and all of them */
#define ADAPTERS 2u

struct compare_options {
    const char *ours, *windows, *html;
    struct compare_choice choice;
    uint64_t adapter[ADAPTERS];
    unsigned adapters;
    bool all;
};

/* ---- options ---- */

static bool wrong(const char *what, const char *value)
{
    (void)cli_usage_of(stderr, "compare");
    fprintf(stderr, "dxgkhost: compare: %s%s%s\n", what, value ? ": " : "", value ? value : "");
    return false;
}

static bool take_process(struct subject_choice *choice, const char *value)
{
    uint64_t number;

    if (!cli_parse_number(value, &number) || number > UINT32_MAX)
        return wrong("not the number of a process", value);
    choice->process = (uint32_t)number;
    choice->has_process = true;
    return true;
}

static bool take_process_ours(struct compare_options *options, const char *value)
{
    return take_process(&options->choice.ours, value);
}

static bool take_process_windows(struct compare_options *options, const char *value)
{
    return take_process(&options->choice.windows, value);
}

static bool take_adapter(struct compare_options *options, const char *value)
{
    if (options->adapters == ADAPTERS)
        return wrong("--adapter more than twice", NULL);
    if (!cli_parse_number(value, &options->adapter[options->adapters]) ||
        !options->adapter[options->adapters])
        return wrong("not the handle of an adapter", value);
    options->adapters++;
    return true;
}

#define CLI_OPTION_STRUCT struct compare_options
#define CLI_OPTION_PARSER compare
static const struct cli_option table[] = {CLI_COMPARE_OPTIONS};

/* `next` is the word that follows, or NULL; *taken says whether it was the value. */
static bool take_option(struct compare_options *options, const char *word, const char *next,
                        bool *taken)
{
    char name[CLI_NAME_BYTES];
    const char *given = cli_argument(word, name), *value = given ? given : next;
    const struct cli_option *option = cli_option_find(table, ARRAY_COUNT(table), name);

    if (!option)
        return wrong("unknown option", word);
    if (option->kind == CLI_KIND_SWITCH)
        return given ? wrong("this option takes no value", word)
                     : cli_option_store(option, options, NULL);
    if (!value)
        return wrong("a value is missing behind", word);
    *taken = !given;
    if (option->kind == CLI_KIND_PARSED)
        return option->parse.compare(options, value);
    return cli_option_store(option, options, value) || wrong("this option wants a path", word);
}

static bool parse(struct compare_options *options, int argc, char **argv)
{
    memset(options, 0, sizeof(*options));
    for (int i = 0; i < argc; i++) {
        bool taken = false;

        if (argv[i][0] == '-') {
            if (!take_option(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &taken))
                return false;
            i += taken;
        } else if (!options->ours) {
            options->ours = argv[i];
        } else if (!options->windows) {
            options->windows = argv[i];
        } else {
            return wrong("more than two files", argv[i]);
        }
    }
    return options->windows || wrong("it takes two files", NULL);
}

/* ---- printing ---- */

static void print_subject(const char *name, const char *path, const struct side *side)
{
    printf("%-9s%s: adapter 0x%" PRIx64 ", process %" PRIu32 ", %" PRIu64 " packets queued\n", name,
           path, side->subject.adapter, side->subject.process, side->subject.packets);
}

static void print_side(const char *name, const struct side *side, const struct lane *lane,
                       size_t first)
{
    char text[SHOW_BYTES];

    printf("  %s\n", name);
    if (!lane) {
        puts("      (no such lane)");
        return;
    }
    for (size_t i = first > BEFORE ? first - BEFORE : 0; i < first + SHOWN - BEFORE; i++) {
        uint64_t time;

        if (i >= lane->items) {
            printf("    %s (the end)\n", i == first ? ">" : " ");
            return;
        }
        time = token_event(side, lane, i)->time;
        show_event(side, lane, i, text, sizeof(text));
        printf("    %s %zu. %" PRIu64 ".%09" PRIu64 " s  %s\n", i == first ? ">" : " ", i + 1,
               time / 1000000000, time % 1000000000, text);
    }
}

static void print_pair(const struct comparison *c, const struct compare_pair *pair)
{
    char name[SHOW_BYTES], how[SHOW_BYTES];
    const struct verify_rule *rule = pair->rule ? verify_rule_find(pair->rule) : NULL;

    show_pair(c, pair, name, sizeof(name));
    show_part(pair, how, sizeof(how));
    printf("\n%s (%zu events and %zu, %" PRIu64 " agree with none): %s\n", name,
           pair->ours ? pair->ours->items : 0, pair->windows ? pair->windows->items : 0,
           pair->result.differences, how);
    if (rule)
        printf("  touches %s: %s\n", rule->id, rule->text);
    print_side("ours", &c->ours, pair->ours, pair->result.ours);
    print_side("Windows", &c->windows, pair->windows, pair->result.windows);
}

static void print_order(const struct comparison *c, enum cause cause)
{
    const struct cause_seen *a = &c->ours_order[cause], *b = &c->windows_order[cause];
    const struct side *side = a->broken ? &c->ours : &c->windows;
    const struct wintrace_event *event = &side->trace->event[a->broken ? a->event : b->event];

    printf("\norder: %s (%s): %" PRIu64 " of %" PRIu64 " break it in %s, none in the other\n",
           cause_text[cause], cause_rule[cause], a->broken ? a->broken : b->broken,
           a->broken ? a->broken + a->holds : b->broken + b->holds,
           a->broken ? "our trace" : "that of Windows");
    printf("  first at %" PRIu64 ".%09" PRIu64 " s: %s %s\n", event->time / 1000000000,
           event->time % 1000000000, event->kind->name, event->kind->opcode);
}

static void print_known(const struct comparison *c, bool all)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < c->state.knowns; i++)
        count += c->state.known[i].count;
    if (count)
        printf("\n%" PRIu64 " known differences%s\n", count, all ? ":" : " (--all shows them)");
    for (unsigned i = 0; all && i < c->state.knowns; i++) {
        const struct align_known *known = &c->state.known[i];

        printf("  %" PRIu64 " times, event %u, %s: %s\n", known->count, known->event,
               known->field ? known->field : "the event itself",
               known->field ? known_field(known->event, known->field) : known_event(known->event));
    }
}

static void print(const struct comparison *c, const struct compare_options *options)
{
    print_subject("ours", options->ours, &c->ours);
    print_subject("Windows", options->windows, &c->windows);
    printf("%zu of %zu lanes are equal but for known differences\n", c->pairs - c->parted, c->pairs);
    for (size_t i = 0; i < c->pairs; i++)
        if (c->pair[i].result.part != ALIGN_EQUAL)
            print_pair(c, &c->pair[i]);
    for (unsigned i = 0; i < CAUSES; i++)
        if (compare_order_parts(c, i))
            print_order(c, i);
    print_known(c, options->all);
}

/* ---- comparing ---- */

/* An adapter is of the trace that has it: handles of two machines are not the same. */
static void choose_adapters(struct compare_options *options, const struct wintrace *ours)
{
    for (unsigned i = 0; i < options->adapters; i++) {
        struct subject_choice choice = {.adapter = options->adapter[i]};
        struct subject subject;
        char error[256];

        if (!options->choice.ours.adapter &&
            subject_init(&subject, ours, &choice, error, sizeof(error)))
            options->choice.ours.adapter = options->adapter[i];
        else
            options->choice.windows.adapter = options->adapter[i];
        subject_finish(&subject);
    }
}

static int compare(struct compare_options *options, const struct wintrace *ours,
                   const struct wintrace *windows)
{
    char error[256];
    bool of_windows, parts, written;
    struct comparison *c;

    choose_adapters(options, ours);
    c = compare_create(ours, windows, &options->choice, &of_windows, error, sizeof(error));
    if (!c) {
        fprintf(stderr, "dxgkhost: %s: %s\n", of_windows ? options->windows : options->ours, error);
        return CLI_FAILED;
    }
    print(c, options);
    if (ours->lost || windows->lost)
        puts("events were lost in recording: what differs may only be missing");
    written = !options->html || cli_compare_page(options->html, options->ours, options->windows, c);
    parts = c->parted || c->orders_parted;
    compare_destroy(c);
    if (!written)
        return CLI_HOST;
    return parts ? CLI_BROKEN : CLI_OK;
}

int cli_compare(int argc, char **argv)
{
    struct compare_options options;
    struct wintrace *ours, *windows = NULL;
    char error[512];
    int status = CLI_FAILED;

    if (!parse(&options, argc, argv))
        return CLI_USAGE;
    if (options.html && !cli_can_write(options.html))
        return CLI_USAGE;
    ours = wintrace_read(options.ours, error, sizeof(error));
    if (ours)
        windows = wintrace_read(options.windows, error, sizeof(error));
    if (windows)
        status = compare(&options, ours, windows);
    else
        fprintf(stderr, "dxgkhost: %s\n", error);
    wintrace_destroy(ours);
    wintrace_destroy(windows);
    return status;
}
