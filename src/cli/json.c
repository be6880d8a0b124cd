/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/utf8.h"
#include "util/assert.h"

void cli_json_start(struct cli_json *json, FILE *file)
{
    memset(json, 0, sizeof(*json));
    json->file = file;
}

static void put_text(const struct cli_json *json, const char *text)
{
    putc('"', json->file);
    for (size_t length; *text; text += length ? length : 1) {
        unsigned char c = (unsigned char)*text;

        length = cli_utf8_length(text);
        if (c == '"' || c == '\\')
            fprintf(json->file, "\\%c", c);
        else if (c < ' ' || c == 127)
            fprintf(json->file, "\\u%04x", c);
        else if (length)
            fwrite(text, 1, length, json->file);
        else
            fputs(CLI_UTF8_BAD, json->file);
    }
    putc('"', json->file);
}

/* A member that begins: on a line of its own, but for those of what stands deep inside. */
static void begin(struct cli_json *json, const char *name)
{
    if (json->depth) {
        bool *filled = &json->filled[json->depth - 1];

        if (*filled)
            putc(',', json->file);
        if (json->depth <= 2)
            fprintf(json->file, "\n%*s", (int)json->depth * 2, "");
        else if (*filled)
            putc(' ', json->file);
        *filled = true;
    }
    if (name) {
        put_text(json, name);
        fputs(": ", json->file);
    }
}

static void open_value(struct cli_json *json, const char *name, char open, char end)
{
    begin(json, name);
    util_assert(json->depth < CLI_JSON_DEPTH);
    putc(open, json->file);
    json->filled[json->depth] = false;
    json->end[json->depth++] = end;
}

void cli_json_object(struct cli_json *json, const char *name)
{
    open_value(json, name, '{', '}');
}

void cli_json_array(struct cli_json *json, const char *name)
{
    open_value(json, name, '[', ']');
}

void cli_json_end(struct cli_json *json)
{
    json->depth--;
    if (json->filled[json->depth] && json->depth < 2)
        fprintf(json->file, "\n%*s", (int)json->depth * 2, "");
    putc(json->end[json->depth], json->file);
    if (json->depth == 0)
        putc('\n', json->file);
}

void cli_json_text(struct cli_json *json, const char *name, const char *text)
{
    begin(json, name);
    if (text)
        put_text(json, text);
    else
        fputs("null", json->file);
}

void cli_json_format(struct cli_json *json, const char *name, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    cli_json_text(json, name, length < 0 ? "(out of memory)" : text);
    if (length >= 0)
        free(text);
}

void cli_json_number(struct cli_json *json, const char *name, uint64_t number)
{
    begin(json, name);
    fprintf(json->file, "%" PRIu64, number);
}

void cli_json_seconds(struct cli_json *json, const char *name, double seconds)
{
    begin(json, name);
    fprintf(json->file, "%.3f", seconds);
}

void cli_json_flag(struct cli_json *json, const char *name, bool flag)
{
    begin(json, name);
    fputs(flag ? "true" : "false", json->file);
}
