/* SPDX-License-Identifier: MIT */
/* Snapshots, for those who go back to one in the same process. */
#ifndef DXGK_HOST_SNAPSHOT_H
#define DXGK_HOST_SNAPSHOT_H

#include <stdbool.h>

struct dxgk_snapshot;
struct ram_keep;

/* Whether the caller is a client of its machine. */
bool host_snapshot_is_of_caller(const struct dxgk_snapshot *snapshot);
/* The files of its machine. */
const struct ram_keep *host_snapshot_keep(const struct dxgk_snapshot *snapshot);

#endif
