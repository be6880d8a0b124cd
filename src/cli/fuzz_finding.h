/* SPDX-License-Identifier: MIT */
/* Findings of a campaign: rules that inputs made the driver break, told apart by rule and place. */
#ifndef DXGK_CLI_FUZZ_FINDING_H
#define DXGK_CLI_FUZZ_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_FINDINGS 8u /* of one input that are told apart */

struct dxgk_violation;

struct fuzz_finding {
    char rule[24];     /* or "crash", "hang", "exit", "time" */
    char severity[20]; /* "error", "bug check" */
    char where[112];   /* the call in progress */
    char frame[160];   /* the innermost frame of the driver: "gpu.so!Escape+0x42"; "": unknown */
    char seen[400];
};

void fuzz_finding_of_violation(struct fuzz_finding *finding, const struct dxgk_violation *v);
void fuzz_finding_of_ending(struct fuzz_finding *finding, const char *rule, const char *where,
                            const char *seen);
/* Whether they are one: rule, call and frame are equal. */
bool fuzz_finding_same(const struct fuzz_finding *a, const struct fuzz_finding *b);
/* "NT-030-1a2b3c4d": a name for its file, of rule and place. */
void fuzz_finding_name(const struct fuzz_finding *finding, char *name, size_t bytes);

/* As a line of text, with tabs between the members and the file at the end; and back. */
void fuzz_finding_write(int to, const struct fuzz_finding *finding, const char *file);
bool fuzz_finding_read(char *line, struct fuzz_finding *finding, char **file);

#endif
