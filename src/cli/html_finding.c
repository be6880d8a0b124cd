/* SPDX-License-Identifier: MIT */
#include "cli/html_finding.h"
#include "cli/source_lines.h"
#include "cli/source_page.h"
#include "cli/stack_frame.h"
#include "dxgkhost/dxgkhost.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <string.h>

/* ---- where ---- */

/* The innermost frame that has a line. */
static bool find_place(const char *stack, struct cli_stack_frame *frame)
{
    while (cli_stack_frame_next(&stack, frame))
        if (frame->path[0])
            return true;
    return false;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool cli_html_place(const struct cli_html *html, const char *stack)
{
    struct cli_stack_frame frame;

    if (!find_place(stack, &frame))
        return false;
    fputs("<code>", html->file);
    cli_html_print(html, "%s:%" PRIu64, name_of(frame.path), frame.line);
    fputs("</code>", html->file);
    if (frame.function[0]) {
        fputs(", in <code>", html->file);
        cli_html_put(html, frame.function);
        fputs("</code>", html->file);
    }
    return true;
}

static void put_lines(const struct cli_html *html, const struct cli_source_line *lines,
                      size_t count, uint64_t guilty)
{
    fputs("<pre class=\"source\" tabindex=\"0\">", html->file);
    for (size_t i = 0; i < count; i++) {
        const bool is = lines[i].number == guilty;

        fprintf(html->file, "<span%s><i>%" PRIu64 "</i>%s", is ? " class=\"guilty\"" : "",
                lines[i].number, is ? "<b>" : "");
        cli_html_put(html, lines[i].text);
        fprintf(html->file, "%s</span>", is ? "</b>" : "");
    }
    fputs("</pre>\n", html->file);
}

static void put_source(const struct cli_html *html, const char *stack, bool no_source)
{
    struct cli_source_line lines[CLI_SOURCE_LINES];
    struct cli_stack_frame frame;
    size_t count;

    if (!find_place(stack, &frame))
        return;
    count = no_source ? 0 : cli_source_lines(frame.path, frame.line, lines);
    fputs("<figure><figcaption>", html->file);
    (void)cli_html_place(html, stack);
    if (!count)
        fputs(" (its file cannot be read from here)", html->file);
    fputs("</figcaption>", html->file);
    if (count)
        put_lines(html, lines, count, frame.line);
    fputs("</figure>\n", html->file);
}

static void put_frames(const struct cli_html *html, const char *stack)
{
    struct cli_stack_frame frame;
    unsigned frames = 0;

    while (cli_stack_frame_next(&stack, &frame)) {
        if (frames++ == 0)
            fputs("<h4>Stack of the driver, innermost frame first</h4>\n<ol class=\"stack\">",
                  html->file);
        fputs("<li><code>", html->file);
        cli_html_put(html, frame.name);
        fputs("</code>", html->file);
        if (frame.path[0]) {
            fputs(" <span class=\"dim\">", html->file);
            cli_html_print(html, "%s:%" PRIu64, frame.path, frame.line);
            fputs("</span>", html->file);
        }
        fputs("</li>\n", html->file);
    }
    if (frames)
        fputs("</ol>\n", html->file);
}

void cli_html_stack(const struct cli_html *html, const char *stack, bool no_source)
{
    put_source(html, stack, no_source);
    put_frames(html, stack);
}

/* ---- the rule ---- */

static void put_row(const struct cli_html *html, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(html->file, "<dt>%s</dt><dd>", name);
    cli_html_put(html, text);
    fputs("</dd>\n", html->file);
}

/* Pages with links, as far as it is known where they are. */
static void put_sources(const struct cli_html *html, const char *text)
{
    const char *from = text, *name;
    char address[256];
    size_t length;

    while ((name = cli_source_next(&text, &length)) != NULL) {
        cli_html_put_bytes(html, from, (size_t)(name - from));
        if (cli_source_page(name, length, address, sizeof(address)))
            fprintf(html->file, "<a rel=\"noreferrer\" href=\"%s\">%.*s</a>", address, (int)length,
                    name);
        else
            cli_html_put_bytes(html, name, length);
        from = text;
    }
    cli_html_put(html, from);
}

static void put_rule(const struct cli_html *html, const char *id)
{
    const struct verify_rule *rule = verify_rule_find(id);

    if (!rule)
        return;
    fputs("<div class=\"rule-text\"><p><strong>", html->file);
    cli_html_print(html, "What %s says", rule->id);
    fputs("</strong></p><p>", html->file);
    cli_html_put(html, rule->text);
    fputs("</p>\n<dl>", html->file);
    put_row(html, "about", rule->applies_to);
    put_row(html, "since", strcmp(rule->since, "-") == 0 ? "any version" : rule->since);
    fputs("<dt>source</dt><dd>", html->file);
    put_sources(html, rule->source);
    fputs("</dd>\n", html->file);
    put_row(html, "basis", rule->rests_on);
    if (rule->admission) {
        put_row(html, "class",
                rule->admission == VERIFY_REFUSED
                    ? "refused: a breach refuses the adapter or the object"
                    : "expected: a breach is a warning; --strict refuses");
        put_row(html, "because", rule->evidence);
    }
    if (rule->absent)
        put_row(html, "state", verify_absent[rule->absent]);
    fputs("<dt>more</dt><dd><code>dxgkhost explain ", html->file);
    cli_html_put(html, rule->id);
    fputs("</code> prints the rules that it leans on</dd>\n", html->file);
    fputs("</dl></div>\n", html->file);
}

/* ---- all of it ---- */

void cli_html_time(const struct cli_html *html, unsigned long long ns)
{
    fprintf(html->file, "%llu.%06llu ms", ns / 1000000u, ns % 1000000u);
}

static void put_facts(const struct cli_html *html, const struct dxgk_violation *v)
{
    fputs("<dl>", html->file);
    put_row(html, "in", v->where);
    put_row(html, "thread", v->thread);
    fputs("<dt>when</dt><dd>", html->file);
    cli_html_time(html, v->virtual_ns);
    if (v->count > 1)
        fprintf(html->file, " for the first time of <strong>%" PRIu64 "</strong>", v->count);
    fputs("</dd>\n", html->file);
    put_row(html, "effect", v->refuses ? "it refused the adapter, or the object" : NULL);
    put_row(html, "found", v->undoing ? "while a refused start was undone" : NULL);
    fputs("</dl>\n", html->file);
}

void cli_html_finding(const struct cli_html *html, const struct cli_finding *finding)
{
    const struct dxgk_violation *v = finding->violation;
    const bool mild = finding->expected || strstr(v->severity, "note");
    const char *style = mild ? "dim" : strstr(v->severity, "warning") ? "warn" : "bad";

    fprintf(html->file, "<article id=\"f%zu\" class=\"%s-edge\">\n<h3><span class=\"tag %s\">",
            finding->number, style, style);
    cli_html_print(html, "%s%s", finding->expected ? "expected " : "", v->severity);
    fputs("</span> <code>", html->file);
    cli_html_put(html, v->rule);
    fputs("</code> ", html->file);
    cli_html_put(html, v->seen);
    fputs("</h3>\n", html->file);
    put_source(html, v->stack ? v->stack : "", finding->no_source);
    put_facts(html, v);
    put_frames(html, v->stack ? v->stack : "");
    put_rule(html, v->rule);
    fputs("</article>\n", html->file);
}
