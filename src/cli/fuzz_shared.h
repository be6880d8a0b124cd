/* SPDX-License-Identifier: MIT */
/*
 * What the engine of a campaign and the process with the machine (its server) share.
 *
 * The engine starts the server with a memory file of this layout and two pipes. For each input it
 * puts the bytes here and writes a byte to the first pipe; the server answers with a byte of
 * enum fuzz_answer when the counters are those of the input.
 */
#ifndef DXGK_CLI_FUZZ_SHARED_H
#define DXGK_CLI_FUZZ_SHARED_H

#include <stdint.h>

#include "cli/fuzz_grammar.h"
#include "dxgkhost/fuzz.h"

#define FUZZ_INPUT     16384u /* bytes of an input at most */
#define FUZZ_COMPARES  2048u
#define FUZZ_CONSTANTS 512u
#define FUZZ_TEXT      768u

/* Descriptors that the engine inherits from `dxgkhost fuzz`, by the names of variables of the
 * environment: the arguments for the server, each with a terminator; where standard error goes. */
#define FUZZ_ENV_SERVER "DXGKHOST_FUZZ_SERVER"
#define FUZZ_ENV_ERRORS "DXGKHOST_FUZZ_ERRORS"

enum fuzz_answer {
    FUZZ_FINE = 'f',
    FUZZ_FAILED = 'b',  /* it is a finding, after which the machine could go on */
    FUZZ_STOPPED = 's', /* it is a finding that ended the machine: nothing comes behind it */
};

struct fuzz_shared {
    uint8_t counter[DXGK_PLACES]; /* whole pages: the engine has them elsewhere, too */
    uint32_t bytes;
    uint8_t input[FUZZ_INPUT];
    uint32_t compares;
    struct dxgk_compare compare[FUZZ_COMPARES];
    uint32_t constants; /* that the driver compares with, whatever the input */
    struct dxgk_compare constant[FUZZ_CONSTANTS];
    struct fuzz_grammar grammar; /* before the first answer */
    char finding[FUZZ_TEXT];     /* of the input, in a line, if its answer says so */
};

#endif
