/* SPDX-License-Identifier: MIT */
#include "cli/stack_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes "." and ".." out of a path, as far as there is something before ".." that it takes back. */
static void simplify(char *path)
{
    const bool absolute = path[0] == '/';
    char whole[sizeof(((struct cli_stack_frame *)0)->path)];
    char *rest = whole, *part;
    size_t used = absolute;

    strcpy(whole, path);
    while ((part = strsep(&rest, "/")) != NULL) {
        const char *last = used > absolute ? memrchr(path, '/', used) : NULL;
        const char *name = last ? last + 1 : path + absolute;

        if (!part[0] || strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0 && used > absolute &&
            strncmp(name, "..", used - (size_t)(name - path)) != 0) {
            used = last && last > path ? (size_t)(last - path) : absolute;
            continue;
        }
        if (strcmp(part, "..") == 0 && absolute && used == absolute)
            continue; /* above the root is the root */
        if (used > absolute)
            path[used++] = '/';
        memmove(path + used, part, strlen(part));
        used += strlen(part);
    }
    path[used] = '\0';
}

static void cut(const char *text, size_t length, char *to, size_t bytes)
{
    snprintf(to, bytes, "%.*s", (int)length, text);
}

/* Behind "a (inlined into b)", if that is there. */
static const char *place_of(const char *text, size_t length)
{
    static const char inlined[] = " (inlined into ";
    const char *place = memmem(text, length, " (", 2);
    const size_t rest = place ? (size_t)(text + length - place) : 0;

    if (rest <= sizeof(inlined) || memcmp(place, inlined, sizeof(inlined) - 1) != 0)
        return place;
    return memmem(place + 1, rest - 1, " (", 2);
}

bool cli_stack_frame_next(const char **stack, struct cli_stack_frame *frame)
{
    const char *text = *stack;
    const size_t length = strcspn(text, "\n");
    const char *place = place_of(text, length), *end = place ? place : text + length;
    const char *function = memchr(text, '!', (size_t)(end - text));
    const char *offset = memmem(text, (size_t)(end - text), "+0x", 3);

    if (!*text)
        return false;
    memset(frame, 0, sizeof(*frame));
    *stack = text + length + (text[length] == '\n');
    offset = offset ? offset : end;
    cut(text, (size_t)(end - text), frame->name, sizeof(frame->name));
    cut(text, (size_t)((function && function < offset ? function : offset) - text), frame->module,
        sizeof(frame->module));
    if (function && function < offset)
        cut(function + 1, (size_t)(offset - function - 1), frame->function, sizeof(frame->function));
    if (place) {
        const char *colon = memrchr(place, ':', (size_t)(text + length - place));

        if (colon) {
            cut(place + 2, (size_t)(colon - place - 2), frame->path, sizeof(frame->path));
            frame->line = strtoull(colon + 1, NULL, 10);
            simplify(frame->path);
        }
    }
    return true;
}
