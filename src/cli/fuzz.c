/* SPDX-License-Identifier: MIT */
/*
 * dxgkhost fuzz: looks for inputs of clients that make a driver break rules. This process starts
 * engines (dxgkhost-fuzz: libFuzzer), each of which has a process with a machine (fuzz_server.c),
 * and gathers what these find.
 */
#include "cli/cli.h"
#include "cli/fuzz_afl.h"
#include "cli/fuzz_campaign.h"
#include "cli/fuzz_client.h"
#include "cli/fuzz_options.h"
#include "cli/fuzz_server.h"
#include "cli/fuzz_shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define PERSONALITY_QUERY 0xFFFFFFFFu

/* ---- replaying ---- */

struct replay {
    struct fuzz_client client;
    uint8_t input[FUZZ_INPUT];
    size_t bytes;
    unsigned calls;
};

static void before_call(void *listener, const struct fuzz_call *call)
{
    struct replay *replay = listener;

    fuzz_call_print(stdout, ++replay->calls, call);
    fflush(stdout);
}

static void after_call(void *listener, const struct fuzz_call *call, NTSTATUS status)
{
    struct dxgk_refusal refusal;

    (void)listener;
    if (!NT_SUCCESS(status) && dxgk_client_last_refusal(&refusal) &&
        strncmp(refusal.call, fuzz_kind_name(call->kind), strlen(fuzz_kind_name(call->kind))) == 0)
        printf("     -> 0x%08X: %s\n", (unsigned)status, refusal.reason);
    else
        printf("     -> 0x%08X\n", (unsigned)status);
    fflush(stdout);
}

/* The client of the machine. */
static void replay_input(struct cli_session *session)
{
    struct replay *replay = session->options->client_context;

    if (!fuzz_client_open(&replay->client)) {
        fputs("dxgkhost: fuzz: there is no adapter\n", stderr);
        return;
    }
    replay->client.before = before_call;
    replay->client.after = after_call;
    replay->client.listener = replay;
    fuzz_client_run(&replay->client, replay->input, replay->bytes);
}

static int replay_file(struct fuzz_options *options)
{
    struct replay *replay = calloc(1, sizeof(*replay));
    FILE *file = fopen(options->replay, "rb");
    int status = CLI_USAGE;

    if (replay && file) {
        replay->bytes = fread(replay->input, 1, sizeof(replay->input), file);
        options->run.client = replay_input;
        options->run.client_context = replay;
        options->run.config.coverage = true;
        status = cli_run_options(&options->run);
    } else {
        perror("dxgkhost: fuzz: the input cannot be read");
    }
    if (file)
        fclose(file);
    free(replay);
    return status;
}

/* A wild access of the driver shall hit the same in each run: the program begins again at addresses
 * that are always the same, where the host lets it. */
static void hold_addresses(char **argv)
{
    const int present = personality(PERSONALITY_QUERY);

    if (present >= 0 && !(present & ADDR_NO_RANDOMIZE) &&
        personality((unsigned long)(present | ADDR_NO_RANDOMIZE)) >= 0)
        (void)execv("/proc/self/exe", argv);
}

int cli_fuzz(int argc, char **argv)
{
    struct fuzz_options options;
    int status = fuzz_options_parse(&options, argc, argv);

    if (status == CLI_OK && (options.serves || options.replay || options.engine == FUZZ_ENGINE_AFL))
        hold_addresses(argv - 2); /* with the program and "fuzz" */
    if (status == CLI_OK && options.serves)
        status = fuzz_serve(&options);
    else if (status == CLI_OK && options.engine == FUZZ_ENGINE_AFL)
        status = fuzz_afl(&options);
    else if (status == CLI_OK && options.replay)
        status = replay_file(&options);
    else if (status == CLI_OK)
        status = fuzz_campaign(&options, argc, argv);
    fuzz_options_free(&options);
    return status;
}
