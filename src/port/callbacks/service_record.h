/* SPDX-License-Identifier: MIT */
/* An interface of DxgkCbQueryServices that a driver holds. For services.c, and for services that
 * must know who holds them. */
#ifndef DXGK_PORT_SERVICE_RECORD_H
#define DXGK_PORT_SERVICE_RECORD_H

#include <ntddk.h>
#include <dispmprt.h>

#include "util/list.h"

struct port_service {
    struct list link; /* port_services.interfaces */
    DXGK_SERVICES type;
    uint32_t references;
};

#endif
