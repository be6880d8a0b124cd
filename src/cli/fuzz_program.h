/* SPDX-License-Identifier: MIT */
/*
 * Inputs of a campaign: sequences of calls of a client.
 *
 * An input is a sequence of records, each a head of four bytes and data:
 *
 *     kind     which call, by table; all values have a meaning
 *     choice   which of the objects, and flags of the call
 *     length   how many bytes of data follow; the input may end before
 *     zeroes   how many zeroes follow the data in what the driver gets, by table
 *
 * So every sequence of bytes is a program, and data that drivers compare lies in it as it is.
 */
#ifndef DXGK_CLI_FUZZ_PROGRAM_H
#define DXGK_CLI_FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FUZZ_CALLS 64u   /* that are made of one input */
#define FUZZ_HEAD  4u    /* bytes */
#define FUZZ_DATA  8192u /* of one call, zeroes included */

enum fuzz_kind {
    FUZZ_ESCAPE,
    FUZZ_CREATE_ALLOCATION,
    FUZZ_OPEN_RESOURCE,
    FUZZ_DESTROY_ALLOCATION,
    FUZZ_RENDER,
    FUZZ_SUBMIT_COMMAND,
    FUZZ_PRESENT,
    FUZZ_QUERY_ADAPTER,
    FUZZ_CREATE_CONTEXT,
    FUZZ_DESTROY_CONTEXT,
    FUZZ_CREATE_DEVICE,
    FUZZ_DESTROY_DEVICE,
    FUZZ_WAIT,
    FUZZ_KINDS
};

struct fuzz_call {
    enum fuzz_kind kind;
    uint8_t choice;
    const uint8_t *data; /* in the input */
    uint32_t length;     /* of it */
    uint32_t bytes;      /* with the zeroes behind it */
};

/* Reads the record at *at, and moves it behind. False: the input ends. */
bool fuzz_program_next(const uint8_t *input, size_t bytes, size_t *at, struct fuzz_call *call);
/* "D3DKMTEscape". */
const char *fuzz_kind_name(enum fuzz_kind kind);
/* Prints the call in lines, with its data. */
void fuzz_call_print(FILE *out, unsigned number, const struct fuzz_call *call);

/*
 * Makes an input smaller as long as `still(context, input, bytes)` says so: without some of its
 * calls, with less data, with zeroes in it. At most `tries` questions. Returns the new length.
 */
size_t fuzz_program_reduce(uint8_t *input, size_t bytes, unsigned tries,
                           bool (*still)(void *context, const uint8_t *input, size_t bytes),
                           void *context);

#endif
