/* SPDX-License-Identifier: MIT */
/*
 * What a machine left in its recorder when its process ended.
 *
 * The one line that matters is made of numbers and short texts. All else follows pointers that the
 * process may have damaged before it died, and is read by a process that is forked for it.
 */
#include "cli/ending.h"
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/session.h"
#include "cli/shared.h"
#include "cli/violations.h"
#include "dxgkhost/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void describe_signal(const struct dxgk_ending *ending, int number, char *text, size_t bytes)
{
    char address[48] = "";
    const char *name = sigabbrev_np(number);

    if (ending->has_address)
        snprintf(address, sizeof(address), " at address 0x%" PRIx64, ending->address);
    snprintf(text, bytes, "the process of the machine was ended by SIG%s (%s)%s%s%s%s",
             name ? name : "?", strsignal(number), address, ending->place[0] ? " in " : "",
             ending->place,
             ending->second ? "; another fault came while this one was recorded" : "");
}

void cli_describe_ending(const struct dxgk_recorder *recorder, int ended, bool stalled, char *text,
                         size_t bytes)
{
    struct dxgk_place place;
    struct dxgk_ending ending;
    bool known = dxgk_recorder_ending(recorder, &ending);

    (void)dxgk_recorder_place(recorder, &place);
    if (stalled)
        snprintf(text, bytes,
                 "the machine stood still, without a step of its processors, and was ended%s%s",
                 known && ending.place[0] ? ": its process ran in " : "", known ? ending.place : "");
    else if (known && ending.exited && strcmp(ending.how, "exit") == 0)
        snprintf(text, bytes, "%s called exit(%d), which ended the process of the machine",
                 place.in_driver ? "the driver" : "code in the process", ending.status);
    else if (known && ending.exited && strcmp(ending.how, "system call") == 0)
        snprintf(text, bytes,
                 "the driver made the system call %s, which no isolated machine may; its process "
                 "was ended",
                 ending.place);
    else if (known && ending.exited)
        snprintf(text, bytes, "%s called %s(), which ended the process of the machine",
                 place.in_driver ? "the driver" : "code in the process", ending.how);
    else if (known)
        describe_signal(&ending, ending.signal, text, bytes);
    else if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGSYS)
        snprintf(text, bytes,
                 "the process of the machine was ended by SIGSYS: a system call, made while signals "
                 "were blocked, which no isolated machine may make");
    else if (WIFSIGNALED(ended))
        describe_signal(&ending, WTERMSIG(ended), text, bytes);
    else
        snprintf(text, bytes,
                 "the process of the machine ended with status %d and without a result, as by "
                 "_exit() or its system call",
                 WEXITSTATUS(ended));
}

void cli_describe_place(const struct dxgk_recorder *recorder, char *text, size_t bytes)
{
    struct dxgk_place place;
    bool machine = dxgk_recorder_place(recorder, &place);
    int used = 0;

    if (machine)
        used = snprintf(text, bytes, "%s%s%s%s%s%sprocessor %u, at %.6f ms",
                        place.call[0] ? "in " : "", place.call, place.call[0] ? ", " : "",
                        place.thread[0] ? "thread " : "", place.thread, place.thread[0] ? ", " : "",
                        place.processor, (double)place.virtual_ns / 1e6);
    if (used >= 0 && (size_t)used < bytes)
        snprintf(text + used, bytes - (size_t)used, "%s%s%s", used ? ", " : "",
                 place.doing[0] ? "while " : "before the machine was built", place.doing);
}

static void write_trace(const struct cli_options *options)
{
    bool written = ftruncate(fileno(options->trace_file), 0) == 0 &&
                   fseek(options->trace_file, 0, SEEK_SET) == 0 &&
                   dxgk_recorder_write_trace(options->config.recorder, options->trace_file);

    if (fflush(options->trace_file) != 0 || !written)
        fprintf(stderr, "dxgkhost: %s: the trace could not be written\n", options->trace);
}

static void write_dxgkrnl(const struct cli_options *options)
{
    bool written = ftruncate(fileno(options->dxgkrnl_file), 0) == 0 &&
                   fseek(options->dxgkrnl_file, 0, SEEK_SET) == 0 &&
                   dxgk_recorder_write_dxgkrnl(options->config.recorder, options->dxgkrnl_form,
                                               options->dxgkrnl_file);

    if (fflush(options->dxgkrnl_file) != 0 || !written)
        fprintf(stderr, "dxgkhost: %s: the trace could not be written\n", options->trace_dxgkrnl);
}

static void print_rest(const struct cli_options *options, int status, const char *message)
{
    struct dxgk_violation violation;
    struct dxgk_ending ending;

    if (dxgk_recorder_ending(options->config.recorder, &ending))
        cli_print_stack(ending.stack);
    for (size_t i = 0; dxgk_recorder_violation(options->config.recorder, i, &violation); i++)
        if (i >= CLI_RECORDS || !options->shared->told[i])
            cli_print_violation(&violation, false);
    if (options->trace_file)
        write_trace(options);
    if (options->dxgkrnl_file)
        write_dxgkrnl(options);
    (void)cli_results_write_lost(options, status, message, true);
}

/* In a process of its own, which may die of it. */
static void print_rest_apart(const struct cli_options *options, int status, const char *message)
{
    pid_t reader;
    int read = 0;

    fflush(NULL);
    reader = fork();
    if (reader == 0) {
        print_rest(options, status, message);
        fflush(NULL);
        _exit(0);
    }
    while (reader > 0 && waitpid(reader, &read, 0) < 0 && errno == EINTR)
        ;
    if (reader < 0 || read != 0)
        fputs("dxgkhost: what the machine recorded is damaged; this is all that it tells\n", stderr);
}

/* The run came to its end, but could not say so. */
static int report_mute(const struct cli_options *options)
{
    int status = options->shared->status;

    fputs("dxgkhost: code in the process of the machine closed its standard output or error, so "
          "its report is lost; this is what it recorded\n",
          stderr);
    status = status == CLI_OK ? CLI_HOST : status;
    print_rest_apart(options, status, "the report is lost");
    if (!options->inspects)
        printf("  %-22s FAIL: the report is lost\n", "result");
    return status;
}

int cli_report_ending(const struct cli_options *options, int ended, bool stalled)
{
    const struct dxgk_recorder *recorder = options->config.recorder;
    const int interrupt = atomic_load(&options->shared->interrupt);
    struct dxgk_place place;
    char what[512], where[512];
    int status;

    if (atomic_load(&options->shared->mute))
        return report_mute(options);
    if (atomic_load(&options->shared->done)) {
        cli_describe_ending(recorder, ended, false, what, sizeof(what));
        fprintf(stderr, "dxgkhost: after the run had its result, %s\n", what);
        return CLI_HOST;
    }
    (void)dxgk_recorder_place(recorder, &place);
    cli_describe_place(recorder, where, sizeof(where));
    if (interrupt)
        snprintf(what, sizeof(what), "interrupted by SIG%s; the machine came to no point in time",
                 sigabbrev_np(interrupt));
    else
        cli_describe_ending(recorder, ended, stalled, what, sizeof(what));
    fprintf(stderr, "dxgkhost: %s\n          %s\n", what, where);
    status = interrupt ? 128 + interrupt : place.in_driver ? CLI_STOPPED : CLI_HOST;
    print_rest_apart(options, status, what);
    if (!options->inspects)
        printf("  %-22s FAIL: the run has no result\n", "result");
    return status;
}
