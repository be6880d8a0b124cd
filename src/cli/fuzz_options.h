/* SPDX-License-Identifier: MIT */
/* Options of fuzz: its own, and those of run. */
#ifndef DXGK_CLI_FUZZ_OPTIONS_H
#define DXGK_CLI_FUZZ_OPTIONS_H

#include "cli/fuzz_grammar.h"
#include "cli/session.h"

#define FUZZ_ENGINES 256u

/* How the machine is set back behind an input. */
enum fuzz_reset {
    FUZZ_RESET_MEMORY,  /* in the process of the machine, where the kernel can */
    FUZZ_RESET_CHECKED, /* the same, and all memory is compared */
    FUZZ_RESET_FORK,    /* by another process for each batch */
};

/* Who makes inputs. */
enum fuzz_engine {
    FUZZ_ENGINE_CAMPAIGN, /* dxgkhost-fuzz, for a campaign, which keeps findings itself */
    FUZZ_ENGINE_AFL,      /* afl-fuzz, which has started this process */
    FUZZ_ENGINE_TARGET,   /* dxgkhost-fuzz, run as any program that is linked with libFuzzer */
};

struct fuzz_options {
    struct cli_options run; /* its workload is the input to be replayed, else the driver itself */
    int run_argc;           /* the driver and the options of run; owned */
    char **run_argv;
    const char *corpus;   /* folder; NULL: "corpus" in the folder of --out */
    const char *findings; /* the same: "findings" */
    const char *dictionary, *replay;
    const char *grammar_file;
    struct fuzz_grammar grammar;
    uint64_t runs;    /* 0: any number */
    uint64_t seconds; /* 0: any number */
    uint64_t seed;    /* of the engine; 0: another one each time */
    uint64_t most_bytes;
    uint64_t limit_s; /* host time of one input */
    uint64_t stop_after;
    enum fuzz_reset reset;
    enum fuzz_engine engine;
    uint64_t batch; /* inputs of one child, where memory is not set back */
    uint64_t engines;
    bool reduce_corpus; /* --merge */
    /* This process serves an engine, by these descriptors: the shared memory, requests, answers,
     * events; -1: none. */
    bool serves;
    int shared, requests, answers, events;
    char corpus_path[4096], findings_path[4096];
};

int fuzz_options_parse(struct fuzz_options *options, int argc, char **argv);
void fuzz_options_free(struct fuzz_options *options);

#endif
