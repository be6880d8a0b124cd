/* SPDX-License-Identifier: MIT */
/* The image on whose behalf a thread runs. */
#include <string.h>

#include "nt/base/image.h"
#include "nt/base/state.h"
#include "util/list.h"

static bool init(struct nt *nt)
{
    struct nt_images *images = nt->images;

    list_init(&images->all);
    list_init(&images->host.resources);
    list_init(&images->host.link);
    strcpy(images->host.name, "host");
    return true;
}

const struct nt_component nt_image_component = {
    .slot = offsetof(struct nt, images),
    .bytes = sizeof(struct nt_images),
    .init = init,
};
