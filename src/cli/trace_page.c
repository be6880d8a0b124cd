/* SPDX-License-Identifier: MIT */
#include "cli/trace_page.h"
#include "cli/html.h"
#include "verify/verify.h"
#include "wintrace/known.h"
#include "wintrace/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BEFORE 3u /* events shown before the first that differs, */
#define SHOWN  6u /* and all of them */

/* ---- check-trace ---- */

static void put_rule(const struct cli_html *html, const char *rule)
{
    const struct verify_rule *found = rule ? verify_rule_find(rule) : NULL;

    cli_html_text(html, "td", "rule", rule ? rule : "-");
    cli_html_text(html, "td", "", found ? found->text : "");
}

static void put_trace(const struct cli_html *html, const struct wintrace *trace)
{
    uint64_t ns = trace->events ? trace->event[trace->events - 1].time : 0;

    cli_html_format(html, "p", "",
                    "Windows build %u, %u processors. %zu events of DxgKrnl in %" PRIu64
                    ".%06" PRIu64 " s; %" PRIu64 " of other kinds, %" PRIu64 " too short, %" PRIu64
                    " of other providers, %" PRIu64 " lost in recording.",
                    trace->build, trace->processors, trace->events, ns / 1000000000,
                    ns / 1000 % 1000000, trace->unknown, trace->undecoded, trace->others,
                    trace->lost);
}

static void put_finding(const struct cli_html *html, const struct wintrace_finding *f)
{
    cli_html_begin(html, "tr");
    cli_html_text(html, "td", "rule", f->rule ? f->rule : "(numbers)");
    cli_html_text(html, "td", "", f->what);
    cli_html_format(html, "td", "number", "%" PRIu64, f->looked);
    cli_html_format(html, "td", f->broken ? "bad" : "good", "%" PRIu64, f->broken);
    if (f->broken)
        cli_html_format(html, "td", "", "%" PRIu64 ".%09" PRIu64 " s: %s", f->time / 1000000000,
                        f->time % 1000000000, f->first);
    else
        cli_html_text(html, "td", "", f->looked ? "" : "not seen");
    cli_html_end(html, "tr");
}

bool cli_check_page(const char *path, const char *name, const struct wintrace *trace,
                    const struct wintrace_findings *findings)
{
    static const char *const columns[] = {"rule",   "what holds",        "looked at",
                                          "breaks", "the first of them", NULL};
    struct cli_html html;

    if (!cli_html_open(&html, path, "What a trace shows of the rules"))
        return false;
    cli_html_text(&html, "p", "", name);
    put_trace(&html, trace);
    cli_html_table(&html, columns);
    for (size_t i = 0; i < findings->count; i++)
        put_finding(&html, &findings->finding[i]);
    cli_html_end(&html, "table");
    if (findings->without_node)
        cli_html_format(&html, "p", "",
                        "%" PRIu64 " events of packets are of contexts whose node the trace does "
                        "not tell.",
                        findings->without_node);
    if (trace->lost)
        cli_html_text(&html, "p", "", "Events were lost: what is broken may only be missing.");
    return cli_html_close(&html);
}

/* ---- compare ---- */

static void put_side(const struct cli_html *html, const struct side *side, const struct lane *lane,
                     size_t first)
{
    char text[SHOW_BYTES];

    cli_html_begin(html, "td");
    if (!lane)
        cli_html_text(html, "pre", "", "(no such lane)");
    for (size_t i = first > BEFORE ? first - BEFORE : 0; lane && i < first + SHOWN - BEFORE; i++) {
        if (i >= lane->items) {
            cli_html_text(html, "pre", i == first ? "first" : "", "(the end)");
            break;
        }
        show_event(side, lane, i, text, sizeof(text));
        cli_html_format(html, "pre", i == first ? "first" : "", "%zu  %s", i + 1, text);
    }
    cli_html_end(html, "td");
}

static void put_pair(const struct cli_html *html, const struct comparison *c,
                     const struct compare_pair *pair)
{
    static const char *const columns[] = {"ours", "Windows", NULL};
    char name[SHOW_BYTES], how[SHOW_BYTES];
    const struct verify_rule *rule = pair->rule ? verify_rule_find(pair->rule) : NULL;

    show_pair(c, pair, name, sizeof(name));
    show_part(pair, how, sizeof(how));
    cli_html_format(html, "h2", "", "%s: %s", name, how);
    if (pair->rule)
        cli_html_format(html, "p", "", "It touches %s: %s", pair->rule, rule ? rule->text : "");
    cli_html_format(html, "p", "", "%zu events and %zu; %" PRIu64 " agree with none.",
                    pair->ours ? pair->ours->items : 0, pair->windows ? pair->windows->items : 0,
                    pair->result.differences);
    cli_html_table(html, columns);
    cli_html_begin(html, "tr");
    put_side(html, &c->ours, pair->ours, pair->result.ours);
    put_side(html, &c->windows, pair->windows, pair->result.windows);
    cli_html_end(html, "tr");
    cli_html_end(html, "table");
}

static void put_orders(const struct cli_html *html, const struct comparison *c)
{
    static const char *const columns[] = {"order",          "rule",       "",
                                          "broken by ours", "by Windows", NULL};

    cli_html_text(html, "h2", "", "What must happen before what");
    cli_html_table(html, columns);
    for (unsigned i = 0; i < CAUSES; i++) {
        const char *style = compare_order_parts(c, i) ? "bad" : "number";

        cli_html_begin(html, "tr");
        cli_html_text(html, "td", "", cause_text[i]);
        put_rule(html, cause_rule[i]);
        cli_html_format(html, "td", style, "%" PRIu64 " of %" PRIu64, c->ours_order[i].broken,
                        c->ours_order[i].broken + c->ours_order[i].holds);
        cli_html_format(html, "td", style, "%" PRIu64 " of %" PRIu64, c->windows_order[i].broken,
                        c->windows_order[i].broken + c->windows_order[i].holds);
        cli_html_end(html, "tr");
    }
    cli_html_end(html, "table");
}

static void put_known(const struct cli_html *html, const struct comparison *c)
{
    static const char *const columns[] = {"event", "field", "times", "why it may differ", NULL};

    cli_html_text(html, "h2", "", "Known differences");
    cli_html_table(html, columns);
    for (unsigned i = 0; i < c->state.knowns; i++) {
        const struct align_known *known = &c->state.known[i];

        cli_html_begin(html, "tr");
        cli_html_format(html, "td", "number", "%u", known->event);
        cli_html_text(html, "td", "", known->field ? known->field : "(the event)");
        cli_html_format(html, "td", "number", "%" PRIu64, known->count);
        cli_html_text(html, "td", "",
                      known->field ? known_field(known->event, known->field)
                                   : known_event(known->event));
        cli_html_end(html, "tr");
    }
    cli_html_end(html, "table");
}

bool cli_compare_page(const char *path, const char *ours, const char *windows,
                      const struct comparison *c)
{
    struct cli_html html;

    if (!cli_html_open(&html, path, "Two traces beside each other"))
        return false;
    cli_html_format(&html, "p", "", "Ours: %s, adapter 0x%" PRIx64 ", process %u", ours,
                    c->ours.subject.adapter, c->ours.subject.process);
    cli_html_format(&html, "p", "", "Windows: %s, adapter 0x%" PRIx64 ", process %u", windows,
                    c->windows.subject.adapter, c->windows.subject.process);
    cli_html_format(&html, "p", c->parted || c->orders_parted ? "bad" : "good",
                    "%zu of %zu lanes part, and %u orders.", c->parted, c->pairs, c->orders_parted);
    for (size_t i = 0; i < c->pairs; i++)
        if (c->pair[i].result.part != ALIGN_EQUAL)
            put_pair(&html, c, &c->pair[i]);
    put_orders(&html, c);
    if (c->state.knowns)
        put_known(&html, c);
    return cli_html_close(&html);
}
