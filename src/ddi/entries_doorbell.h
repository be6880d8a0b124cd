/* SPDX-License-Identifier: MIT */
/* The entries of submission from user mode; as those in ddi.h. */
#ifndef DXGK_DDI_ENTRIES_DOORBELL_H
#define DXGK_DDI_ENTRIES_DOORBELL_H

#include "ddi/ddi.h"

NTSTATUS ddi_create_doorbell(struct ddi_adapter *a, DXGKARG_CREATEDOORBELL *args);
NTSTATUS ddi_connect_doorbell(struct ddi_adapter *a, DXGKARG_CONNECTDOORBELL *args);
NTSTATUS ddi_disconnect_doorbell(struct ddi_adapter *a, DXGKARG_DISCONNECTDOORBELL *args);
NTSTATUS ddi_destroy_doorbell(struct ddi_adapter *a, DXGKARG_DESTROYDOORBELL *args);
NTSTATUS ddi_notify_work_submission(struct ddi_adapter *a, DXGKARG_NOTIFYWORKSUBMISSION *args);

#endif
