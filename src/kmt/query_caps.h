/* SPDX-License-Identifier: MIT */
/* Queries answered from what the driver said about itself when it started. */
#ifndef DXGK_KMT_QUERY_CAPS_H
#define DXGK_KMT_QUERY_CAPS_H

#include <ntddk.h>

struct kmt_query;

/* STATUS_NOT_IMPLEMENTED: not a type of these. */
NTSTATUS kmt_query_caps(const struct kmt_query *query);

#endif
