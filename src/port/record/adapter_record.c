/* SPDX-License-Identifier: MIT */
/* The key under which a struct ddi_adapter keeps its port_adapter. */
#include "port/record/adapter_record.h"

struct ddi_room port_room;
DDI_ROOM_CLAIM(port_room)
