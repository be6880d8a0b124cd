/* SPDX-License-Identifier: MIT */
/* Feeds every file of the folders named on the command line to a fuzz target, in order of name. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file) {
        perror(path);
        return 1;
    }
    size = fread(data, 1, sizeof(data), file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    return 0;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    int failed = argc < 2, replayed = 0;

    for (int i = 1; i < argc; i++) {
        struct dirent **list;
        int count = scandir(argv[i], &list, is_input, alphasort);

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
