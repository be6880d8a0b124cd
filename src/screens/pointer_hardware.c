/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/pointer_hardware.h"
#include "ddi/entries_display.h"
#include "nt/base/status_name.h"
#include "screens/pointer_shape.h"
#include "verify/verify.h"

bool pointer_hardware_exists(const struct pointer_hardware *hardware)
{
    return hardware->caps.Value && hardware->width && hardware->height &&
           ddi_has(hardware->ddi, DxgkDdiSetPointerShape) &&
           ddi_has(hardware->ddi, DxgkDdiSetPointerPosition);
}

/* PRES-235 */
void pointer_tell_place(const struct pointer_hardware *hardware, struct pointer_told *told,
                        const struct pointer_place *place)
{
    struct ddi_adapter *ddi = hardware->ddi;
    DXGKARG_SETPOINTERPOSITION args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.VidPnSourceId = place->source;
    args.X = place->visible ? place->x : 0;
    args.Y = place->visible ? place->y : 0;
    args.Flags.Visible = place->visible;
    args.Flags.Procedural = place->by_program;
    if (!ddi_has(ddi, DxgkDdiSetPointerPosition) || ddi->gone ||
        (told->known && told->visible == place->visible && told->x == args.X && told->y == args.Y))
        return;
    told->known = true;
    told->visible = place->visible;
    told->x = args.X;
    told->y = args.Y;
    status = ddi_set_pointer_position(ddi, &args);
    /* a driver without pointer hardware may not implement even hiding */
    if (NT_SUCCESS(status) || !pointer_hardware_exists(hardware) || ddi->gone)
        return;
    if (place->dark)
        WARNING("PRES-230",
                "DxgkDdiSetPointerPosition returned %s for source %u, which has no path; it is to "
                "return STATUS_SUCCESS and do nothing",
                nt_status_text(status).text, place->source);
    else
        WARNING("PRES-241", "DxgkDdiSetPointerPosition returned %s for source %u",
                nt_status_text(status).text, place->source);
}

bool pointer_tell_shape(const struct pointer_hardware *hardware, struct pointer_told *told,
                        UINT source, const struct pointer_shape *shape)
{
    struct ddi_adapter *ddi = hardware->ddi;
    DXGKARG_SETPOINTERSHAPE args;
    NTSTATUS status;

    if (told->shaped)
        return true;
    memset(&args, 0, sizeof(args));
    args.Flags = pointer_shape_flags(shape);
    args.Width = shape->width;
    args.Height = shape->height;
    args.Pitch = shape->pitch;
    args.VidPnSourceId = source;
    args.pPixels = shape->pixels;
    args.XHot = shape->hot_x;
    args.YHot = shape->hot_y;
    status = ddi_set_pointer_shape(ddi, &args);
    told->shaped = NT_SUCCESS(status);
    if (told->shaped)
        return true;
    if (status != STATUS_NO_MEMORY && !ddi->gone)
        WARNING("PRES-241", "DxgkDdiSetPointerShape returned %s for source %u",
                nt_status_text(status).text, source);
    return false;
}
