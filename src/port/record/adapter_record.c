/* SPDX-License-Identifier: MIT */
/* The key by which a door into the driver knows its adapter. */
#include "port/record/adapter_record.h"

struct ddi_room port_room;
DDI_ROOM_CLAIM(port_room)
