/* SPDX-License-Identifier: MIT */
/*
 * The life of a driver image: loading, unloading, draining, and the check for leaks.
 */
#ifndef DXGK_NT_IMAGE_LIFE_H
#define DXGK_NT_IMAGE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct nt_image *nt_image_create(const char *name);
/* Say where the image is mapped, for the list of modules. */
void nt_image_place(struct nt_image *image, uintptr_t base, uint64_t bytes);
void nt_image_destroy(struct nt_image *image);
/* Unloading begins: from now on, allocating is 0xC4/0x61 (NT-027). */
void nt_image_unloading(struct nt_image *image);
/* Wait at most `ns` of virtual time until the image's threads, I/O work items and DPCs, which keep
 * a driver loaded, have ended. False: something still runs. At PASSIVE_LEVEL. */
bool nt_image_drain(struct nt_image *image, uint64_t ns);
/* After unload: report what the image leaked (as violations of the NT rules) and reclaim it;
 * returns how many resources that were. */
uint64_t nt_image_leak_check(struct nt_image *image);

#endif
