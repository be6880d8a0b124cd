/* SPDX-License-Identifier: MIT */
/* The fixed text: no allocation, no lock, no stdio. */
#include "sim/last_words.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct line {
    char text[512];
    size_t length;
};

static void add(struct line *line, const char *text)
{
    while (*text && line->length < sizeof(line->text))
        line->text[line->length++] = *text++;
}

static void add_number(struct line *line, uintptr_t value)
{
    char digits[2 * sizeof(value) + 1];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    add(line, "0x");
    add(line, digits + at);
}

/* _dl_find_object is made for signal handlers. The name of the program itself is empty. */
static void add_place(struct line *line, uintptr_t pc)
{
    struct dl_find_object object;
    const char *name, *slash;

    add_number(line, pc);
    if (_dl_find_object((void *)pc, &object) != 0 || !object.dlfo_link_map)
        return;
    name = object.dlfo_link_map->l_name;
    slash = strrchr(name, '/');
    add(line, " (");
    add(line, slash ? slash + 1 : name[0] ? name : "the program");
    add(line, "+");
    add_number(line, pc - (uintptr_t)object.dlfo_link_map->l_addr);
    add(line, ")");
}

void sim_last_words(const char *what, uintptr_t pc, uintptr_t address)
{
    struct line line = {.length = 0};
    ssize_t ignored;

    add(&line, "dxgkhost: ");
    add(&line, what);
    add(&line, " at ");
    add_place(&line, pc);
    add(&line, ", address ");
    add_number(&line, address);
    add(&line, "\n");
    ignored = write(STDERR_FILENO, line.text, line.length);
    (void)ignored;
}

_Noreturn void sim_end_process(int signal)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;

    sigaction(signal, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    _exit(128 + signal);
}
