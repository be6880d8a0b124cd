/* SPDX-License-Identifier: MIT */
/*
 * A page of one file for who opens it after a red run: the verdict, then the broken rules with
 * their lines of source, the worst one first; then what else is known of the run. It refers to
 * nothing elsewhere but by links that a reader may follow, has no script, and is of bounded size
 * whatever the length of the run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/html_finding.h"
#include "cli/html_parts.h"
#include "cli/result.h"
#include "cli/result_style.h"
#include "cli/session.h"
#include "dxgkhost/recorder.h"

#define MOST_FULL 60u  /* broken rules that are shown with everything, and */
#define MOST_ROWS 500u /* in a table besides */

/* ---- the order of broken rules ---- */

struct ranked {
    unsigned rank;
    size_t index;
};

/* What a reader must mend comes first: what stopped the machine, then by severity. */
static unsigned rank_of(const struct cli_result *result, const struct dxgk_violation *v)
{
    if (cli_result_expected(result, v))
        return 6;
    if (v->undoing)
        return 4;
    if (strstr(v->severity, "note"))
        return 5;
    if (strstr(v->severity, "warning"))
        return 3;
    if (v->client)
        return 2;
    return strstr(v->severity, "bug check") || v->refuses ? 0 : 1;
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;

    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

/* To be freed; NULL: there is none, or out of memory. */
static struct ranked *rank_all(const struct cli_result *result, size_t *count)
{
    struct dxgk_violation v;
    struct ranked *all;
    size_t i = 0;

    while (result->violation(result->from, i, &v))
        i++;
    all = i ? calloc(i, sizeof(*all)) : NULL;
    *count = all ? i : 0;
    for (i = 0; i < *count && result->violation(result->from, i, &v); i++)
        all[i] = (struct ranked){rank_of(result, &v), i};
    if (all)
        qsort(all, *count, sizeof(*all), by_rank);
    return all;
}

/* ---- the head ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *outcome_text(const char *outcome)
{
    static const char *const texts[][2] = {
        {"passed", "The workload passed, and no rule was broken that it did not expect."},
        {"failed", "The workload failed."},
        {"broken", "The driver broke a rule, or left something behind."},
        {"stopped", "The driver stopped the machine."},
        {"refused", "The driver or the device was refused, or could not be loaded."},
        {"interrupted", "A signal asked for the end of the run."},
        {"lost", "The machine could not be built, or its process ended without a result."}};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(texts[i][0], outcome) == 0)
            return texts[i][1];
    return outcome;
}

static void put_title(const struct cli_html *html, const struct cli_result *result)
{
    char title[512];

    snprintf(title, sizeof(title), "%s: %s with %s", result->status == CLI_OK ? "PASS" : "FAIL",
             base_name(result->options->driver), base_name(result->options->workload));
    cli_html_head(html, title, cli_result_style);
}

/* Where the first of the broken rules happened. */
static void put_jump(const struct cli_html *html, const struct cli_result *result,
                     const struct ranked *first)
{
    struct dxgk_violation v;

    if (!first || first->rank > 3 || !result->violation(result->from, first->index, &v))
        return;
    fputs("<p>First look at <a href=\"#f1\">", html->file);
    cli_html_put(html, v.rule);
    fputs("</a>", html->file);
    if (!result->message[0]) {
        fputs(": ", html->file);
        cli_html_put(html, v.seen);
    }
    if (v.stack && strstr(v.stack, " (")) {
        fputs(", at ", html->file);
        (void)cli_html_place(html, v.stack);
    }
    if (v.where && v.where[0]) {
        fputs(", during <code>", html->file);
        cli_html_put(html, v.where);
        fputs("</code>", html->file);
    }
    fputs("</p>\n", html->file);
}

static void put_link(const struct cli_html *html, const char *id, const char *name)
{
    fprintf(html->file, "<a href=\"#%s\">%s</a> ", id, name);
}

static void put_contents(const struct cli_html *html, const struct cli_result *result,
                         size_t findings)
{
    const struct cli_session *session = result->session;

    fputs("<nav aria-label=\"Contents\">", html->file);
    fprintf(html->file, "<a href=\"#findings\">Findings (%zu)</a> ", findings);
    if (session && session->machine)
        fprintf(html->file, "<a href=\"#calls\">Failed calls (%" PRIu64 ")</a> ",
                dxgk_machine_refusals(session->machine));
    put_link(html, "run", "The run");
    put_link(html, "timeline", "Timeline");
    if (session && session->page)
        put_link(html, "pictures", "Pictures");
    if (result->statistics)
        put_link(html, "counters", "Counters");
    put_link(html, "log", "Log");
    fputs("</nav>\n", html->file);
}

static void put_header(const struct cli_html *html, const struct cli_result *result,
                       const struct ranked *ranked, size_t findings)
{
    const bool passed = result->status == CLI_OK;

    fprintf(html->file, "<header%s>\n<p class=\"verdict\"><strong class=\"%s\">%s</strong> ",
            passed ? "" : " class=\"failed\"", passed ? "good" : "bad", passed ? "PASS" : "FAIL");
    cli_html_put(html, outcome_text(result->outcome));
    fputs("</p>\n<h1>", html->file);
    cli_html_put(html, base_name(result->options->driver));
    fputs(" <small>with ", html->file);
    cli_html_put(html, base_name(result->options->workload));
    fputs("</small></h1>\n", html->file);
    if (result->message[0])
        cli_html_text(html, "p", "message", result->message);
    put_jump(html, result, ranked);
    put_contents(html, result, findings);
    fputs("</header>\n", html->file);
}

/* ---- broken rules ---- */

static void put_row(const struct cli_html *html, const struct dxgk_violation *v)
{
    cli_html_begin(html, "tr");
    cli_html_text(html, "td", "rule", v->rule);
    cli_html_text(html, "td", "", v->severity);
    cli_html_text(html, "td", "text", v->seen);
    cli_html_format(html, "td", "number", "%" PRIu64, v->count);
    cli_html_end(html, "tr");
}

static void put_rest(const struct cli_html *html, const struct cli_result *result,
                     const struct ranked *ranked, size_t count)
{
    static const char *const columns[] = {"rule", "severity", "what was seen", "times", NULL};
    struct dxgk_violation v;

    if (count <= MOST_FULL)
        return;
    cli_html_format(html, "h3", "", "And %zu more", count - MOST_FULL);
    cli_html_scroll(html, "more findings", "");
    cli_html_table(html, columns);
    for (size_t i = MOST_FULL; i < count && i < MOST_FULL + MOST_ROWS; i++)
        if (result->violation(result->from, ranked[i].index, &v))
            put_row(html, &v);
    cli_html_end(html, "table");
    cli_html_end(html, "div");
    if (count > MOST_FULL + MOST_ROWS)
        cli_html_format(html, "p", "", "%zu are left out; --json has all.",
                        count - MOST_FULL - MOST_ROWS);
}

/* What the machine was at. */
static void put_place(const struct cli_html *html, const struct dxgk_recorder *recorder)
{
    struct dxgk_place place;

    if (!dxgk_recorder_place(recorder, &place))
        return;
    fputs("<dl>", html->file);
    if (place.call[0])
        cli_html_pair(html, "in", "%s", place.call);
    if (place.thread[0])
        cli_html_pair(html, "thread", "%s", place.thread);
    fputs("<dt>when</dt><dd>", html->file);
    cli_html_time(html, place.virtual_ns);
    fputs("</dd>\n", html->file);
    if (place.doing[0])
        cli_html_pair(html, "while", "%s", place.doing);
    fputs("</dl>\n", html->file);
}

/* How the process of the machine ended. False: it did not, but came to a result. */
static bool put_ending(const struct cli_html *html, const struct cli_result *result)
{
    const struct dxgk_recorder *recorder = result->options->config.recorder;
    struct dxgk_ending ending;

    if (!result->ended || !recorder)
        return false;
    fputs("<article id=\"end\" class=\"bad-edge\">\n<h3><span class=\"tag bad\">end of the "
          "process</span> ",
          html->file);
    cli_html_put(html, result->message);
    fputs("</h3>\n", html->file);
    put_place(html, recorder);
    if (dxgk_recorder_ending(recorder, &ending) && ending.stack)
        cli_html_stack(html, ending.stack, result->options->isolated);
    fputs("</article>\n", html->file);
    return true;
}

static void put_findings(const struct cli_html *html, const struct cli_result *result,
                         const struct ranked *ranked, size_t count)
{
    /* of an isolated machine nothing is read that it could not have read itself */
    const bool no_source = result->options->isolated && result->ended;
    struct dxgk_violation v;
    bool ended;

    fputs("<section id=\"findings\">\n<h2>Findings</h2>\n", html->file);
    ended = put_ending(html, result);
    if (!count)
        fprintf(html->file, "<p class=\"dim\">%s.</p>\n",
                ended ? "Before that, no rule was broken" : "No rule was broken");
    for (size_t i = 0; i < count && i < MOST_FULL; i++) {
        if (!result->violation(result->from, ranked[i].index, &v))
            continue;
        cli_html_finding(html, &(struct cli_finding){.violation = &v,
                                                     .number = i + 1,
                                                     .expected = cli_result_expected(result, &v),
                                                     .no_source = no_source});
    }
    put_rest(html, result, ranked, count);
    if (result->session && result->session->machine && dxgk_machine_waits(result->session->machine)) {
        fputs("<h3>Who waited for what</h3>\n", html->file);
        cli_html_box(html, dxgk_machine_waits(result->session->machine));
    }
    fputs("</section>\n", html->file);
}

/* ---- the page ---- */

bool cli_result_html(const struct cli_result *result, FILE *file)
{
    const struct cli_html html = {.file = file};
    size_t count;
    struct ranked *ranked = rank_all(result, &count);

    put_title(&html, result);
    put_header(&html, result, ranked, count);
    fputs("<main>\n", file);
    put_findings(&html, result, ranked, count);
    cli_html_calls(&html, result);
    cli_html_run(&html, result);
    cli_html_timeline(&html, result);
    cli_html_pictures(&html, result);
    cli_html_counters(&html, result);
    cli_html_log(&html, result);
    fputs("</main>\n</body></html>\n", file);
    free(ranked);
    return !ferror(file);
}
