/* SPDX-License-Identifier: MIT */
#include "cli/reports.h"

#include <stdio.h>

#include "cli/session.h"
#include "dxgkhost/dxgkhost.h"

const char *const cli_report_names[CLI_REPORTS] = {
    [CLI_REPORT_MEMORY] = "memory",
    [CLI_REPORT_GPUVA] = "gpuva",
    [CLI_REPORT_RESIDENCY] = "residency",
    [CLI_REPORT_SUBMISSIONS] = "submissions",
};

enum { REPORTED_ADAPTERS = 16 };

static const enum dxgk_report reports[CLI_REPORTS] = {
    [CLI_REPORT_GPUVA] = DXGK_REPORT_GPUVA,
    [CLI_REPORT_RESIDENCY] = DXGK_REPORT_RESIDENCY,
    [CLI_REPORT_SUBMISSIONS] = DXGK_REPORT_SUBMISSIONS,
};

/* Of one adapter, or of the machine. */
static bool write_report(const struct cli_session *session, enum cli_report report,
                         unsigned adapter, enum dxgk_memory_form form, FILE *out)
{
    if (report == CLI_REPORT_MEMORY)
        return dxgk_machine_write_memory(session->machine, form, out);
    return dxgk_machine_write_report(session->machine, adapter, reports[report], form, out);
}

/* The picture of the first adapter is called as the report, others have its number. */
static bool draw_report(const struct cli_session *session, enum cli_report report, unsigned adapter)
{
    char path[4096], number[16] = "";
    FILE *picture;
    bool drawn;

    if (report == CLI_REPORT_SUBMISSIONS) /* the trace is its picture */
        return true;
    if (adapter > 0)
        snprintf(number, sizeof(number), "-%u", adapter);
    snprintf(path, sizeof(path), "%s/%s%s.svg", session->options->out, cli_report_names[report],
             number);
    picture = fopen(path, "w");
    if (!picture)
        return false;
    drawn = write_report(session, report, adapter, DXGK_MEMORY_SVG, picture);
    return fclose(picture) == 0 && drawn;
}

/* An adapter that has nothing of the kind is left out, beside others that do. */
static bool report_adapters(struct cli_session *session, enum cli_report report, FILE *text)
{
    const unsigned adapters = dxgk_machine_adapters(session->machine);
    char why[sizeof(session->report_error)];
    unsigned told = 0;

    for (unsigned adapter = 0; adapter < adapters && adapter < REPORTED_ADAPTERS; adapter++) {
        if (!dxgk_machine_has_report(session->machine, adapter, reports[report], why, sizeof(why))) {
            if (!session->report_error[0])
                snprintf(session->report_error, sizeof(session->report_error), "%s", why);
            continue;
        }
        if (!write_report(session, report, adapter, DXGK_MEMORY_TEXT, text) ||
            !draw_report(session, report, adapter)) {
            session->report_error[0] = '\0';
            return false;
        }
        told++;
    }
    if (told)
        session->report_error[0] = '\0';
    return told != 0;
}

bool cli_reports_keep(struct cli_session *session)
{
    FILE *text = open_memstream(&session->report_text, &session->report_bytes);
    bool done = text != NULL;

    for (unsigned report = 0; done && report < CLI_REPORTS; report++) {
        if (!(session->options->reports & 1u << report) ||
            (session->loaded != DXGK_OK && report != CLI_REPORT_MEMORY))
            continue;
        session->failed_report = report;
        done = report == CLI_REPORT_MEMORY
                   ? write_report(session, report, 0, DXGK_MEMORY_TEXT, text) &&
                         draw_report(session, report, 0)
                   : report_adapters(session, report, text);
    }
    return text && fclose(text) == 0 && done;
}
