/* SPDX-License-Identifier: MIT */
/* The threads of the host process that an ELF image starts of its own, past the kernel services. */
#ifndef DXGK_LOADER_THREADS_H
#define DXGK_LOADER_THREADS_H

#include <stdbool.h>
#include <stddef.h>

struct loader_image;

/* Note which threads there are before the image is mapped. False: out of memory. */
bool loader_threads_note(struct loader_image *image);
void loader_threads_forget(struct loader_image *image);
/* The process may not look at its threads, nor start any: from now on there is nothing to note. */
void loader_threads_hide(void);

#endif
