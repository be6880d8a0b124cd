/* SPDX-License-Identifier: MIT */
#include "cli/html_parts.h"
#include "cli/html_finding.h"
#include "cli/page_parts.h"
#include "cli/result.h"
#include "cli/session.h"
#include "cli/shared.h"
#include "dxgkhost/recorder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PERFETTO "https://ui.perfetto.dev"

/* ---- elements ---- */

void cli_html_pair(const struct cli_html *html, const char *name, const char *format, ...)
{
    char text[4096];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fputs("<dt>", html->file);
    cli_html_put(html, name);
    fputs("</dt><dd>", html->file);
    cli_html_put(html, text);
    fputs("</dd>\n", html->file);
}

void cli_html_box(const struct cli_html *html, const char *text)
{
    fputs("<pre class=\"box\" tabindex=\"0\">\n", html->file); /* this line break is dropped */
    cli_html_put(html, text);
    fputs("</pre>\n", html->file);
}

static void begin_section(const struct cli_html *html, const char *id, const char *heading)
{
    fprintf(html->file, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
}

static void end_section(const struct cli_html *html)
{
    fputs("</section>\n", html->file);
}

static void put_time_cell(const struct cli_html *html, uint64_t ns)
{
    fputs("<td class=\"number\">", html->file);
    cli_html_time(html, ns);
    fputs("</td>\n", html->file);
}

void cli_html_scroll(const struct cli_html *html, const char *label, const char *style)
{
    fputs("<div role=\"region\" tabindex=\"0\" aria-label=\"", html->file);
    cli_html_put(html, label);
    fprintf(html->file, "\" class=\"scroll %s\">\n", style);
}

static void begin_table(const struct cli_html *html, const char *label, const char *const *columns)
{
    cli_html_scroll(html, label, "");
    cli_html_table(html, columns);
}

static void end_table(const struct cli_html *html)
{
    fputs("</table></div>\n", html->file);
}

/* ---- failed calls ---- */

static void put_refusals(const struct cli_html *html, const struct dxgk_machine *machine)
{
    static const char *const columns[] = {"time", "call", "failed with", "reason", "thread", NULL};
    const uint64_t all = dxgk_machine_refusals(machine);
    struct dxgk_refusal r;

    begin_table(html, "failed calls", columns);
    for (size_t i = 0; dxgk_machine_refusal(machine, i, &r); i++) {
        cli_html_begin(html, "tr");
        put_time_cell(html, r.virtual_ns);
        cli_html_text(html, "td", "rule", r.call);
        cli_html_format(html, "td", "rule", r.status[0] ? "%s" : "%s0x%08" PRIX32, r.status, r.code);
        cli_html_format(html, "td", "text", "%s%s%s%s", r.reason, r.rule[0] ? " (" : "", r.rule,
                        r.rule[0] ? ")" : "");
        cli_html_text(html, "td", "", r.thread);
        cli_html_end(html, "tr");
    }
    end_table(html);
    cli_html_format(html, "p", "dim",
                    "%" PRIu64 " in all; the last ones are here, the latest first. A call may fail "
                    "because its caller asks for what is not possible: that breaks no rule.",
                    all);
}

static void put_losses(const struct cli_html *html, const struct dxgk_machine *machine)
{
    static const char *const columns[] = {"time", "what was lost, and why", NULL};
    struct dxgk_loss loss;

    if (!dxgk_machine_loss(machine, 0, &loss))
        return;
    fputs("<h3>Lost work</h3>\n", html->file);
    begin_table(html, "lost work", columns);
    for (size_t i = 0; dxgk_machine_loss(machine, i, &loss); i++) {
        cli_html_begin(html, "tr");
        put_time_cell(html, loss.virtual_ns);
        cli_html_text(html, "td", "text", loss.line);
        cli_html_end(html, "tr");
    }
    end_table(html);
}

void cli_html_calls(const struct cli_html *html, const struct cli_result *result)
{
    const struct dxgk_machine *machine = result->session ? result->session->machine : NULL;

    if (!machine)
        return;
    begin_section(html, "calls", "Failed calls");
    if (dxgk_machine_refusals(machine))
        put_refusals(html, machine);
    else
        fputs("<p class=\"dim\">None.</p>\n", html->file);
    put_losses(html, machine);
    end_section(html);
}

/* ---- the run ---- */

static void put_facts(const struct cli_html *html, const struct cli_result *result)
{
    const struct cli_options *options = result->options;
    const struct dxgk_statistics *s = result->statistics;

    fputs("<dl>", html->file);
    cli_html_pair(html, "driver", "%s", options->driver);
    cli_html_pair(html, "device model", "%s", options->device ? options->device : "none");
    cli_html_pair(html, "workload", "%s", options->workload);
    cli_html_pair(html, "seed", "%" PRIu64, options->config.seed);
    cli_html_pair(html, "machine", "%u processors, %" PRIu64 " MiB of RAM, IOMMU %s",
                  options->config.processors, options->config.ram_bytes >> 20,
                  options->iommu ? options->iommu : "off");
    if (s)
        cli_html_pair(html, "time", "%.6f ms virtual, %.3f s on the wall",
                      (double)s->virtual_ns / 1e6, result->wall_s);
    if (s && s->bugcheck)
        cli_html_pair(html, "bug check",
                      "0x%" PRIX32 " (0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64
                      "), by the %s",
                      s->bugcheck_code, s->bugcheck_parameter[0], s->bugcheck_parameter[1],
                      s->bugcheck_parameter[2], s->bugcheck_parameter[3],
                      s->bugcheck_client ? "client" : "driver");
    cli_html_pair(html, "exit status", "%d", result->status);
    cli_html_pair(html, "host", "dxgkhost %s", DXGK_VERSION);
    fputs("</dl>\n", html->file);
}

static void put_workload(const struct cli_html *html, const struct cli_session *session)
{
    if (!session || !session->workload.rows)
        return;
    fputs("<h3>What the workload says</h3>\n<dl>", html->file);
    for (size_t i = 0; i < session->workload.rows; i++)
        cli_html_pair(html, session->workload.row[i].name, "%s", session->workload.row[i].value);
    fputs("</dl>\n", html->file);
}

void cli_html_run(const struct cli_html *html, const struct cli_result *result)
{
    char *command = cli_result_command_text(result);

    begin_section(html, "run", "The run");
    put_facts(html, result);
    put_workload(html, result->session);
    fputs("<h3>Once more</h3>\n<pre class=\"box command\" tabindex=\"0\">\n", html->file);
    cli_html_put(html, command ? command : "(out of memory)");
    fputs("</pre>\n", html->file);
    free(command);
    end_section(html);
}

/* ---- timeline ---- */

static void put_perfetto(const struct cli_html *html, const char *trace)
{
    fputs("<p class=\"dim\">", html->file);
    if (trace) {
        fputs("All of it is in <code>", html->file);
        cli_html_put(html, trace);
        fputs("</code>: open it", html->file);
    } else {
        fputs("With <code>--trace FILE</code>, all of it is in a file: open that", html->file);
    }
    fputs(" at <a rel=\"noreferrer\" href=\"" PERFETTO "\">ui.perfetto.dev</a>.</p>\n", html->file);
}

void cli_html_timeline(const struct cli_html *html, const struct cli_result *result)
{
    const struct cli_session *session = result->session;
    const struct dxgk_recorder *recorder = result->options->config.recorder;
    bool drawn;

    begin_section(html, "timeline", "Timeline");
    fputs("<p class=\"dim\">Virtual time. The darker a bar, the more of the time something was in "
          "progress; red lines are the first broken rules.</p>\n",
          html->file);
    cli_html_scroll(html, "timeline", "");
    if (session)
        drawn = session->machine && dxgk_machine_write_timeline(session->machine, html->file);
    else
        drawn = recorder && dxgk_recorder_write_timeline(recorder, html->file);
    fputs("</div>\n", html->file);
    if (!drawn)
        fputs("<p>There is none: nothing was recorded.</p>\n", html->file);
    put_perfetto(html, result->options->trace);
    end_section(html);
}

/* ---- pictures ---- */

static void put_base64(FILE *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < count; i += 3) {
        const unsigned long word = (unsigned long)bytes[i] << 16 |
                                   (i + 1 < count ? (unsigned long)bytes[i + 1] << 8 : 0) |
                                   (i + 2 < count ? bytes[i + 2] : 0);

        putc(digits[word >> 18 & 63], out);
        putc(digits[word >> 12 & 63], out);
        putc(i + 1 < count ? digits[word >> 6 & 63] : '=', out);
        putc(i + 2 < count ? digits[word & 63] : '=', out);
    }
}

static void put_picture(const struct cli_html *html, const struct cli_page_part *part)
{
    cli_html_scroll(html, part->title, "plain");
    if (part->svg) {
        fwrite(part->svg, 1, part->bytes, html->file);
    } else {
        fputs("<img alt=\"", html->file);
        cli_html_put(html, part->title);
        fputs("\" src=\"data:image/png;base64,", html->file);
        put_base64(html->file, part->png, part->bytes);
        fputs("\">", html->file);
    }
    fputs("</div>\n", html->file);
}

void cli_html_pictures(const struct cli_html *html, const struct cli_result *result)
{
    const struct cli_page_parts *page = result->session ? result->session->page : NULL;

    if (!page)
        return;
    begin_section(html, "pictures", "Pictures");
    for (size_t i = 0; i < page->parts; i++) {
        const struct cli_page_part *part = &page->part[i];

        fputs("<figure>\n", html->file);
        cli_html_text(html, "figcaption", "", part->title);
        if (part->bytes)
            put_picture(html, part);
        if (part->note[0])
            cli_html_text(html, "p", "dim", part->note);
        fputs("</figure>\n", html->file);
        if (!part->text)
            continue;
        fputs("<details><summary>In words</summary>\n", html->file);
        cli_html_box(html, part->text);
        fputs("</details>\n", html->file);
    }
    end_section(html);
}

/* ---- counters ---- */

void cli_html_counters(const struct cli_html *html, const struct cli_result *result)
{
    const struct dxgk_statistics *s = result->statistics;

    if (!s)
        return;
    const struct {
        const char *name;
        uint64_t number;
    } counter[] = {{"submissions", s->submissions},
                   {"paging submissions", s->paging_submissions},
                   {"patches", s->patches},
                   {"page-table entries written", s->page_table_updates},
                   {"bytes paged in", s->bytes_paged_in},
                   {"bytes paged out", s->bytes_paged_out},
                   {"evictions", s->evictions},
                   {"evictions of page tables", s->table_evictions},
                   {"pages mapped by the IOMMU", s->iommu_maps},
                   {"faults of the IOMMU", s->iommu_faults},
                   {"interrupts", s->interrupts},
                   {"DDI calls", s->ddi_calls},
                   {"preemptions", s->preemptions},
                   {"engine resets", s->engine_resets},
                   {"adapter resets", s->adapter_resets},
                   {"violations", s->violations},
                   {"of them warnings", s->warnings},
                   {"client errors", s->client_errors},
                   {"leaks", s->leaks}};

    begin_section(html, "counters", "Counters");
    fputs("<dl class=\"counters\">\n", html->file);
    for (size_t i = 0; i < sizeof(counter) / sizeof(counter[0]); i++) {
        fputs("<div>", html->file);
        cli_html_pair(html, counter[i].name, "%" PRIu64, counter[i].number);
        fputs("</div>\n", html->file);
    }
    fputs("</dl>\n", html->file);
    end_section(html);
}

/* ---- log ---- */

void cli_html_log(const struct cli_html *html, const struct cli_result *result)
{
    const struct cli_shared *shared = result->options->shared;
    char *text = shared ? cli_log_text(&shared->log) : NULL;

    begin_section(html, "log", "Log");
    if (text && text[0]) {
        if (cli_log_is_cut(&shared->log))
            fputs("<p class=\"dim\">The last lines; with <code>--verbose</code>, all are "
                  "printed.</p>\n",
                  html->file);
        cli_html_box(html, text);
    } else {
        fputs("<p class=\"dim\">The driver and the host said nothing.</p>\n", html->file);
    }
    end_section(html);
    free(text);
}
