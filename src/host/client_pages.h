/* SPDX-License-Identifier: MIT */
/* Memory that client processes asked for (dxgk_client_allocate). */
#ifndef DXGK_HOST_CLIENT_PAGES_H
#define DXGK_HOST_CLIENT_PAGES_H

struct dxgk_machine;
struct host_process;

/* The process is gone: free what it has not freed. */
void host_client_pages_free_all(struct dxgk_machine *machine, struct host_process *process);

#endif
