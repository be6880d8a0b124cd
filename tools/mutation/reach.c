/* SPDX-License-Identifier: MIT */
/*
 * Which code of the rooms a process runs, for tools/mutate: the compiler calls the function below at
 * the start of each basic block (-fsanitize-coverage=trace-pc), and a byte for its place is set in a
 * file of the folder $DXGK_REACH, which has the name of the program or library.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const uint8_t __ehdr_start[] __attribute__((visibility("hidden")));
extern const uint8_t etext[];

static uint8_t *reached;
static size_t bytes;

void __sanitizer_cov_trace_pc(void);

__attribute__((visibility("hidden"))) void __sanitizer_cov_trace_pc(void)
{
    const uintptr_t at = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__ehdr_start;

    if (reached && at < bytes && !reached[at])
        reached[at] = 1;
}

/* Names the module, also where it is the program, whose own path may be relative. */
static const char *name_of_module(char *path, size_t size)
{
    Dl_info info;
    ssize_t length;

    if (dladdr(__ehdr_start, &info) && info.dli_fname && strstr(info.dli_fname, ".so"))
        snprintf(path, size, "%s", info.dli_fname);
    else if ((length = readlink("/proc/self/exe", path, size - 1)) >= 0)
        path[length] = '\0';
    else
        return NULL;
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("DXGK_REACH"), *name;
    char module[PATH_MAX], path[2 * PATH_MAX];
    void *memory;
    int file;

    name = folder ? name_of_module(module, sizeof(module)) : NULL;
    if (!name)
        return;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    bytes = (size_t)(etext - __ehdr_start);
    memory = ftruncate(file, (off_t)bytes) == 0
                 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                 : MAP_FAILED;
    close(file);
    if (memory != MAP_FAILED)
        reached = memory;
}
