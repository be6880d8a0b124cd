/* SPDX-License-Identifier: MIT */
/*
 * Feeds inputs to a fuzz target, without libFuzzer:
 *
 *     replay_x FOLDER...                          every file of the folders, in order of name; or single files
 *     replay_x --random OPERATIONS [--seed N]     random ones, until the target has counted so many operations
 *     replay_x --fail-each FILE...                each file once for each allocation of the host, which fails
 *
 * With FUZZ_KEEP=FILE in the environment each random input is left in that file before it is fed.
 *
 * The last two are for targets that count: they define fuzz_operations; fuzz_fail_at and fuzz_failures.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern uint64_t fuzz_operations __attribute__((weak));
extern uint64_t fuzz_fail_at __attribute__((weak));  /* which allocation of a run fails; 0: none */
extern uint64_t fuzz_failures __attribute__((weak)); /* how many have, in all runs */

static uint8_t data[1 << 20];

static bool load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        return false;
    }
    *size = fread(data, 1, sizeof(data), file);
    fclose(file);
    return true;
}

static int replay(const char *path)
{
    size_t size;

    if (!load(path, &size))
        return 1;
    LLVMFuzzerTestOneInput(data, size);
    return 0;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folders(int argc, char **argv)
{
    int failed = argc < 2, replayed = 0;

    for (int i = 1; i < argc; i++) {
        struct dirent **list;
        int count = scandir(argv[i], &list, is_input, alphasort);

        if (count < 0 && errno == ENOTDIR) {
            failed |= replay(argv[i]);
            replayed++;
            continue;
        }
        if (count < 0) {
            perror(argv[i]);
            return 1;
        }
        for (int k = 0; k < count; k++) {
            char path[4096];

            snprintf(path, sizeof(path), "%s/%s", argv[i], list[k]->d_name);
            failed |= replay(path);
            free(list[k]);
            replayed++;
        }
        free(list);
    }
    printf("%d inputs\n", replayed);
    return failed || replayed == 0;
}

/* ---- random inputs ---- */

static uint64_t state;

static uint64_t next(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void keep(size_t size)
{
    const char *path = getenv("FUZZ_KEEP");
    FILE *file = path ? fopen(path, "wb") : NULL;

    if (!file)
        return;
    (void)fwrite(data, 1, size, file);
    fclose(file);
}

static int replay_random(uint64_t operations, uint64_t seed)
{
    uint64_t runs = 0;

    while (fuzz_operations < operations) {
        const size_t size = 2048;

        state = seed * 1000003 + runs++;
        for (size_t i = 0; i < size; i += 8) {
            const uint64_t word = next();

            memcpy(data + i, &word, 8);
        }
        keep(size);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("seed %llu: %llu operations in %llu runs\n", (unsigned long long)seed,
           (unsigned long long)fuzz_operations, (unsigned long long)runs);
    return 0;
}

/* ---- failing allocations ---- */

static int fail_each(const char *path)
{
    uint64_t n = 0, before;
    size_t size;

    if (!load(path, &size))
        return 1;
    do {
        before = fuzz_failures;
        fuzz_fail_at = ++n;
        LLVMFuzzerTestOneInput(data, size);
    } while (fuzz_failures > before);
    fuzz_fail_at = 0;
    printf("%s: each of %llu allocations has failed\n", path, (unsigned long long)n - 1);
    return n == 1;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc >= 3 && strcmp(argv[1], "--random") == 0 && &fuzz_operations)
        return replay_random(strtoull(argv[2], NULL, 0), argc >= 5 && strcmp(argv[3], "--seed") == 0
                                                             ? strtoull(argv[4], NULL, 0)
                                                             : 1);
    if (argc >= 3 && strcmp(argv[1], "--fail-each") == 0 && &fuzz_fail_at) {
        for (int i = 2; i < argc; i++)
            failed |= fail_each(argv[i]);
        return failed;
    }
    return replay_folders(argc, argv);
}
