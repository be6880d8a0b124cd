/* SPDX-License-Identifier: MIT */
/* Writes JSON: valid whatever the texts have in them, members in the order of the calls. */
#ifndef DXGK_CLI_JSON_H
#define DXGK_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_JSON_DEPTH 16u

struct cli_json {
    FILE *file;
    unsigned depth;
    bool filled[CLI_JSON_DEPTH]; /* it has a member already */
    char end[CLI_JSON_DEPTH];
};

void cli_json_start(struct cli_json *json, FILE *file);
/* `name` is NULL in arrays, and of the outermost value. */
void cli_json_object(struct cli_json *json, const char *name);
void cli_json_array(struct cli_json *json, const char *name);
/* Of the innermost object or array; of the outermost one with a line break. */
void cli_json_end(struct cli_json *json);
/* What is no UTF-8 becomes U+FFFD. NULL: null. */
void cli_json_text(struct cli_json *json, const char *name, const char *text);
void cli_json_format(struct cli_json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_json_number(struct cli_json *json, const char *name, uint64_t number);
void cli_json_seconds(struct cli_json *json, const char *name, double seconds);
void cli_json_flag(struct cli_json *json, const char *name, bool flag);

#endif
