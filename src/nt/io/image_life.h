/* SPDX-License-Identifier: MIT */
/*
 * The life of a driver image: loaded, unloading, drained, looked over for leaks.
 */
#ifndef DXGK_NT_IMAGE_LIFE_H
#define DXGK_NT_IMAGE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct nt_image *nt_image_create(const char *name);
void nt_image_destroy(struct nt_image *image);
/* Unloading begins: allocating from now on is 0xC4/0x61 (NT-027). */
void nt_image_unloading(struct nt_image *image);
/* Wait until the image's threads, I/O work items and deferred calls are done (what keeps a driver
 * loaded), at most `ns` of virtual time. False: something still runs. At PASSIVE_LEVEL. */
bool nt_image_drain(struct nt_image *image, uint64_t ns);
/* Report (as violations of the NT rules) and reclaim what the image left behind; returns how many
 * things. After unload. */
uint64_t nt_image_leak_check(struct nt_image *image);

#endif
