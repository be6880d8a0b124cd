/* SPDX-License-Identifier: MIT */
/*
 * The debug report that a driver writes before a reset or a bug check (LIFE-141, LIFE-142, TDR-066
 * to TDR-070). When the machine is out of memory, a small buffer on the stack is used.
 */
#include <string.h>

#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "util/alloc.h"

#define REPORT_BYTES 65536u /* TDR-069 */
#define SMALL_BYTES  1024u

static void check_answer(NTSTATUS status, const DXGKARG_COLLECTDBGINFO_EXT *extension)
{
    if (extension->Reserved2 || extension->Reserved3 || extension->Reserved4 ||
        extension->Reserved5 || extension->Reserved6 || extension->Reserved7)
        VIOLATION("LIFE-141", "DxgkDdiCollectDbgInfo wrote to reserved members of the extension");
    if (status != STATUS_SUCCESS && status != STATUS_NO_MEMORY && status != STATUS_UNSUCCESSFUL &&
        status != STATUS_DEVICE_REMOVED)
        WARNING("LIFE-141", "DxgkDdiCollectDbgInfo returned %s", nt_status_text(status).text);
}

NTSTATUS ddi_debug_report(struct ddi_adapter *adapter, uint32_t reason,
                          DXGKARG_COLLECTDBGINFO_EXT *extension)
{
    uint8_t small[SMALL_BYTES];
    uint8_t *large = util_alloc(REPORT_BYTES);
    uint8_t *buffer = large ? large : small;
    uint32_t bytes = large ? REPORT_BYTES : SMALL_BYTES;
    DXGKARG_COLLECTDBGINFO_EXT own;
    DXGKARG_COLLECTDBGINFO args;
    NTSTATUS status;

    if (!extension)
        extension = &own;
    memset(extension, 0, sizeof(*extension));
    memset(buffer, 0, bytes);
    memset(&args, 0, sizeof(args));
    args.Reason = reason;
    args.pBuffer = buffer;
    args.BufferSize = bytes;
    args.pExtension = extension;
    status = ddi_collect_dbg_info(adapter, &args);
    check_answer(status, extension);
    util_free(large);
    return status;
}
