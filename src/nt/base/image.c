/* SPDX-License-Identifier: MIT */
/* The image on whose behalf a thread runs. */
#include <string.h>

#include "nt/base/image.h"
#include "nt/base/current.h"
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

struct nt_image *nt_image_current(void)
{
    return nt_thread()->image;
}

struct nt_image *nt_image_enter(struct nt_image *image)
{
    struct _KTHREAD *thread = nt_thread();
    struct nt_image *before = thread->image;

    thread->image = image;
    return before;
}
