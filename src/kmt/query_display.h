/* SPDX-License-Identifier: MIT */
/* Queries about displays (PRES-265). */
#ifndef DXGK_KMT_QUERY_DISPLAY_H
#define DXGK_KMT_QUERY_DISPLAY_H

#include "kmt/query_buffer.h"

/* STATUS_NOT_IMPLEMENTED: the query is of another kind, or the adapter has no sources. */
NTSTATUS kmt_query_display(const struct kmt_query *query);

#endif
