/* SPDX-License-Identifier: MIT */
/* The creation of a machine, with what only tests ask of it. */
#ifndef DXGK_HOST_MACHINE_H
#define DXGK_HOST_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct dxgk_machine_config;

/* dxgk_machine_create, with the n-th internal allocation of the creation itself failing (0:
 * none). */
struct dxgk_machine *host_machine_create(const struct dxgk_machine_config *config,
                                         uint64_t fail_in_creation, char *error, size_t error_bytes);

#endif
