/* SPDX-License-Identifier: MIT */
/* Modules: what drivers import from, beside the host. */
#ifndef DXGK_HOST_MODULE_H
#define DXGK_HOST_MODULE_H

#include <ntddk.h>

#include "util/list.h"

struct dxgk_machine;

struct host_module {
    struct list link;
    struct loader_image *image; /* the loader's, as long as a driver needs it */
    struct nt_image *nt_image;
};

/* On a kernel thread: for an image that is about to be entered for the first time, or is not going
 * to be entered again. */
NTSTATUS host_module_initialize_all(struct dxgk_machine *machine, const struct loader_image *image);
void host_module_unload_all(struct dxgk_machine *machine, const struct loader_image *image);
void host_module_free_all(struct dxgk_machine *machine); /* what is left of them */

#endif
