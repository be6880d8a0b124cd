/* SPDX-License-Identifier: MIT */
/* Memory that client processes asked for (dxgk_client_allocate). */
#ifndef DXGK_HOST_CLIENT_PAGES_H
#define DXGK_HOST_CLIENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct ram;

/* Zeroed pages for a process whose list it is. NULL: there is no room. */
void *host_client_pages_take(struct ram *ram, struct list *list, uint64_t bytes);
/* False: it is none of the list, or an allocation uses a page of it (KMT-202). */
bool host_client_pages_free(struct ram *ram, struct list *list, const void *memory);
/* The process is gone: free what it has not freed. */
void host_client_pages_free_all(struct ram *ram, struct list *list);

#endif
