/* SPDX-License-Identifier: MIT */
/* A client inside the driver: a thread whose DxgkDdiCreateDevice takes 10 ms. */
#ifndef DXGK_TESTS_PORT_HELD_CLIENT_H
#define DXGK_TESTS_PORT_HELD_CLIENT_H

#include "port/support/probe.h"

/* A client thread that creates a device, held by nobody. */
struct sim_thread *held_client_free(struct probe *p);
/* The same, held; returns when it is inside the driver. */
struct sim_thread *held_client_start(struct probe *p);
/* Is it inside still? */
bool held_client_inside(void);

#endif
