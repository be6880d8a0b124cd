/* SPDX-License-Identifier: MIT */
/* A machine with kernel services for one test of the loader, and images made by the test build or by damaging one of those. */
#ifndef DXGK_TESTS_LOADER_MACHINE_H
#define DXGK_TESTS_LOADER_MACHINE_H

#include "loader/loader.h"
#include "support/check_rule.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nt_image;

struct machine {
    struct sim_machine *sim;
    struct verify_log *log;
    struct ram *ram;
    struct bus *bus;
    uint64_t until; /* virtual time at which a call ends at the latest; 0: when nothing is left to do */
    struct nt_image *owner; /* of what drivers leave behind; NULL: nobody */
    struct nt *nt;
    char error[1024]; /* of the last load */
};

/* *m is the one of the test; the machine is entered between the two. */
struct machine *machine_begin(struct machine *m);
void machine_end(struct machine *m);

/* Path of an image of tests/drivers/windows, made by "gcc" or "clang", or NULL where that compiler is not installed. Good
 * until four more were asked for. */
const char *windows_driver(const char *compiler, const char *name);
/* Skip the test where neither compiler is. */
#define NEED(path)     \
    do {               \
        if (!(path)) { \
            skip();    \
            return;    \
        }              \
    } while (0)

NTSTATUS machine_load(struct machine *m, const char *path, struct loader_image **image);
NTSTATUS machine_load_with(struct machine *m, const char *path, unsigned options,
                           struct loader_image **image);
/* From bytes. */
NTSTATUS machine_load_bytes(struct machine *m, const void *bytes, size_t size,
                            struct loader_image **image);
/* A whole file; to be freed. */
uint8_t *file_bytes(const char *path, size_t *size);
bool one_line(const char *text);

/* DriverEntry of an image on a kernel thread. False: it did not return. */
bool machine_try_entry(struct machine *m, const struct loader_image *image, void *path,
                       NTSTATUS *status);
/* One that returns. */
NTSTATUS machine_call_entry(struct machine *m, const struct loader_image *image, void *path);

#endif
