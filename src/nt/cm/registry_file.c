/* SPDX-License-Identifier: MIT */
/*
 * The registry as a text file, for initial settings of a run and for its results:
 *
 *     [\Registry\Machine\System\CurrentControlSet\Services\refgpu]
 *     "LogLevel"=4:02000000
 *
 * A line in brackets names a key, the lines after it its values: name, type number, bytes in
 * hexadecimal. In names, a character outside of printable ASCII, a quote or a backslash is written
 * \xHHHH, and so is an x that begins the name of a key. Volatile keys are not saved (NT-151).
 */
#include <stdio.h>
#include <string.h>

#include "nt/base/state.h"
#include "nt/cm/registry.h"
#include "nt/cm/registry_key.h"
#include "util/alloc.h"
#include "util/list.h"

#define FIRST_ROOM         (64u * 1024u) /* for a line */
#define LONGEST_LINE       (1u << 30)
#define LONGEST_VALUE_NAME 1024u

/* ---- saving ---- */

static void save_name(const struct reg_name *name, bool of_key, FILE *out)
{
    for (uint32_t i = 0; i < name->length; i++) {
        WCHAR c = name->text[i];

        if (c < 0x20 || c > 0x7E || c == '"' || c == '\\' || c == ']' ||
            (of_key && i == 0 && c == 'x'))
            fprintf(out, "\\x%04X", c);
        else
            fputc(c, out);
    }
}

static void save_path(const struct reg_key *key, FILE *out)
{
    if (key->parent)
        save_path(key->parent, out);
    fputc('\\', out);
    save_name(&key->name, true, out);
}

static void save_key(const struct reg_key *key, FILE *out)
{
    if (key->temporary)
        return;
    fputc('[', out);
    save_path(key, out);
    fputs("]\n", out);
    LIST_FOR(node, &key->values) {
        const struct reg_value *value = CONTAINER(node, struct reg_value, link);

        fputc('"', out);
        save_name(&value->name, false, out);
        fprintf(out, "\"=%u:", value->type);
        for (uint32_t i = 0; i < value->bytes; i++)
            fprintf(out, "%02X", value->data[i]);
        fputc('\n', out);
    }
    LIST_FOR(node, &key->children)
        save_key(CONTAINER(node, struct reg_key, link), out);
}

bool nt_registry_save(FILE *out)
{
    save_key(nt_state()->registry->root, out);
    return !ferror(out);
}

/* ---- loading ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode up to `end`; a backslash followed by x and four digits is one character. Returns what
 * follows the end character; NULL: invalid. */
static const char *load_name(const char *at, char end, WCHAR *name, size_t *length)
{
    size_t count = 0;

    for (; *at != end; at++) {
        WCHAR c = (unsigned char)*at;

        if (*at == '\0' || count == LONGEST_VALUE_NAME)
            return NULL;
        if (at[0] == '\\' && at[1] == 'x') {
            c = 0;
            for (unsigned i = 2; i < 6; i++) {
                if (hex_digit(at[i]) < 0)
                    return NULL;
                c = (WCHAR)(c << 4 | hex_digit(at[i]));
            }
            at += 5;
        }
        name[count++] = c;
    }
    *length = count;
    return at + 1;
}

static bool load_value(struct reg_key *key, char *line)
{
    WCHAR name[LONGEST_VALUE_NAME];
    size_t length;
    const char *at = load_name(line + 1, '"', name, &length);
    uint8_t *data = (uint8_t *)line; /* decoded in place: two digits per byte */
    uint32_t bytes = 0;
    unsigned type;
    int used = 0;

    if (!at || sscanf(at, "=%u:%n", &type, &used) != 1 || used == 0)
        return false;
    for (at += used; at[0] && at[1]; at += 2) {
        int high = hex_digit(at[0]), low = hex_digit(at[1]);

        if (high < 0 || low < 0)
            return false;
        data[bytes++] = (uint8_t)(high << 4 | low);
    }
    return at[0] == '\0' && reg_set_value(key, name, length, type, data, bytes);
}

static bool load_line(struct reg_key **key, char *line)
{
    WCHAR path[LONGEST_VALUE_NAME];
    size_t length;

    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '\0' || line[0] == '#')
        return true;
    if (line[0] == '[') {
        if (!load_name(line + 1, ']', path, &length))
            return false;
        *key = reg_path(path, length, true, true, false, NULL);
        return *key != NULL;
    }
    return line[0] == '"' && *key && load_value(*key, line);
}

struct line {
    char *text;
    size_t room;
};

/* Read a line, however long. False: there is none, or no room for it (then the text is NULL). */
static bool read_line(struct line *line, FILE *in)
{
    size_t used = 0;
    char *more;

    while (fgets(line->text + used, (int)(line->room - used), in)) {
        used += strlen(line->text + used);
        if (used + 1 < line->room || line->text[used - 1] == '\n')
            return true;
        more = line->room < LONGEST_LINE ? util_realloc(line->text, 2 * line->room) : NULL;
        if (!more) {
            util_free(line->text);
            line->text = NULL;
            return false;
        }
        line->text = more;
        line->room *= 2;
    }
    return used != 0;
}

bool nt_registry_load(FILE *in)
{
    struct line line = {util_alloc(FIRST_ROOM), FIRST_ROOM};
    struct reg_key *key = NULL;
    bool good = line.text != NULL;

    while (good && read_line(&line, in))
        good = load_line(&key, line.text);
    good = good && line.text;
    util_free(line.text);
    return good && !ferror(in);
}
