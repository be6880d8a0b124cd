/* SPDX-License-Identifier: MIT */
/* Layouts of private data that a team knows of its driver, from a file in Lua. */
#ifndef DXGK_CLI_FUZZ_GRAMMAR_H
#define DXGK_CLI_FUZZ_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_LAYOUTS      64u
#define FUZZ_FIELDS       48u
#define FUZZ_LAYOUT_BYTES 255u /* data of a record */

/* A field of 1 to 8 bytes has a value in [low, high], little-endian; one with `any` has bytes of
 * any value, and may be longer. */
struct fuzz_field {
    uint8_t bytes;
    uint8_t any;
    uint64_t low, high;
};

/* Data of one kind of call. */
struct fuzz_layout {
    uint8_t kind;       /* enum fuzz_kind */
    uint8_t has_choice; /* it is always this one */
    uint8_t choice;
    uint8_t fields;
    uint32_t bytes; /* of all of them */
    struct fuzz_field field[FUZZ_FIELDS];
};

struct fuzz_grammar {
    uint32_t layouts;
    struct fuzz_layout layout[FUZZ_LAYOUTS];
};

/*
 * Reads a file that returns a list of layouts:
 *
 *     return {
 *         {call = "Escape", choice = 0, fields = {{4, 0x5A5A5546}, {4, 0, 3}, {8}}},
 *     }
 *
 * A field is its bytes alone (any value), with a value, or with the lowest and the highest one.
 * False: *error says what is wrong with it.
 */
bool fuzz_grammar_read(const char *path, struct fuzz_grammar *grammar, char *error,
                       size_t error_bytes);

#endif
