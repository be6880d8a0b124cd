/* SPDX-License-Identifier: MIT */
#include "cli/instruments.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/elf_file.h"
#include "loader/file.h"

#define LINE_BYTES (256u << 10)
#define MOST_WORDS 4096u

/* The name of the runtime among the libraries that the driver needs. False: none is. */
static bool find_runtime(const char *driver, char *name, size_t bytes)
{
    struct loader_file source;
    struct elf_file file;
    bool found = false;

    if (!NT_SUCCESS(loader_file_read(&source, driver, driver, NULL, 0)))
        return false;
    if (!loader_file_is_pe(&source) && NT_SUCCESS(elf_file_parse(&file, &source, NULL, 0)))
        for (uint32_t i = 0; i < file.needed_count && !found; i++) {
            const char *needed = elf_string(&file, &file.dynamic, file.needed[i]);

            found = needed && (strstr(needed, "libasan.so") || strstr(needed, "libclang_rt.asan"));
            if (found)
                snprintf(name, bytes, "%s", needed);
        }
    loader_file_free(&source);
    return found;
}

/* False: it is there already, and did not help. */
static bool put_first(const char *runtime)
{
    const char *others = getenv("LD_PRELOAD");
    char list[4096];

    if (others && strstr(others, runtime))
        return false;
    snprintf(list, sizeof(list), "%s%s%s", runtime, others && *others ? ":" : "",
             others ? others : "");
    return setenv("LD_PRELOAD", list, 1) == 0 && setenv("ASAN_OPTIONS", "detect_leaks=0", 0) == 0;
}

static void start_again(void)
{
    char *line = malloc(LINE_BYTES);
    char **word = calloc(MOST_WORDS + 1, sizeof(char *));
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = 0, more = 1;
    size_t words = 0;

    while (line && file >= 0 && more > 0 && (size_t)bytes < LINE_BYTES) {
        more = read(file, line + bytes, LINE_BYTES - (size_t)bytes);
        bytes += more > 0 ? more : 0;
    }
    for (ssize_t at = 0; word && at < bytes && words < MOST_WORDS; words++) {
        word[words] = line + at;
        at += (ssize_t)strnlen(line + at, (size_t)(bytes - at)) + 1;
    }
    fflush(NULL);
    if (words && (size_t)bytes < LINE_BYTES)
        execv("/proc/self/exe", word);
    if (file >= 0)
        close(file);
    free((void *)word);
    free(line);
}

/* It puts libraries of its own before all others. */
static bool in_valgrind(void)
{
    const char *first = getenv("LD_PRELOAD");

    return first && strstr(first, "/vgpreload_");
}

bool cli_instruments_ready(const char *driver)
{
    char runtime[256];

    if (in_valgrind()) {
        fputs("dxgkhost: no machine runs under valgrind, which lacks the addresses and the signals "
              "that it needs: build the driver with -fsanitize=address (docs/debugging.md)\n",
              stderr);
        return false;
    }
    if (!dlsym(RTLD_DEFAULT, "__asan_init") && find_runtime(driver, runtime, sizeof(runtime)) &&
        put_first(runtime))
        start_again();
    return true;
}
