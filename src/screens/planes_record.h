/* SPDX-License-Identifier: MIT */
/* What is known of the planes of a source; for the files of this room. */
#ifndef DXGK_SCREENS_PLANES_RECORD_H
#define DXGK_SCREENS_PLANES_RECORD_H

#include "screens/planes.h"
#include "screens/scanouts_record.h"

/* A plane of a present, on its way to the screen. */
struct plane_flip {
    struct flip flip; /* first: it ends as one (flip.c) */
    struct plane_setting setting;
    struct planes_composition composition;
    UINT duration;
    UINT metadata_type, metadata_bytes;
    uint8_t *metadata; /* behind the private data, in this record */
    uint64_t call;     /* those of one present have the same */
    bool converted;    /* the driver has made it immediate */
    bool wants_post;   /* and wants to be called after it */
};

static inline const struct plane_flip *plane_flip_at(const struct list *node)
{
    return CONTAINER(CONTAINER(node, struct flip, link), struct plane_flip, flip);
}

struct plane {
    struct shown now; /* of layer 0 it is scanout.now */
    bool enabled;
    bool stale; /* the driver has switched it off: what it showed is to be given back */
    struct plane_setting setting;
    struct plane_flip *handed[SCANOUT_MOST_FLIPS]; /* oldest first */
    UINT handed_count;
    uint64_t latched; /* count of vertical syncs when it became complete last */
    uint64_t id;      /* of the last call */
    /* when all that is queued has been shown */
    bool will_be;
    bool plain; /* by DxgkDdiSetVidPnSourceAddress, which says nothing of a look */
    struct plane_look look;
};

/* A configuration to which the driver has said yes (PRES-183). */
struct plane_answer {
    struct list link;
    UINT layers; /* bits */
    struct plane_look look[PLANES_MOST];
};

/* As a service routine told it. */
struct plane_news {
    UINT layer, mask;
    bool enabled, wants_post;
    uint64_t value; /* PresentId, or the address */
};
struct planes_blank {
    bool by_id;
    UINT count;
    struct plane_news news[PLANES_MOST];
};

struct plane_post {
    UINT layer, mask;
    uint64_t id;
};

#define PLANES_POSTS 64u

struct planes {
    UINT count;
    struct plane *plane;
    bool shown; /* overlay mode: since a call for planes, until one for the primary alone */
    struct list waiting; /* struct plane_flip.flip.link, those of one call side by side */
    struct plane_flip *moving[PLANES_MOST]; /* have left those that wait, and are not handed over */
    UINT moving_count;
    uint64_t calls;
    struct list answers; /* struct plane_answer.link, the newest first */
    UINT answer_count;
    bool asked_caps, asked_composition; /* in this mode */
    struct planes_caps caps;
    float stretch, shrink;
    struct planes_blank blank[SCANOUT_BLANKS]; /* beside scanout.blank */
    struct plane_post post[PLANES_POSTS];      /* that the driver is to be called for */
    UINT posts;
};

/* planes.c */
/* False: out of memory. */
bool planes_create(struct scanout *s, UINT count);
void planes_destroy(struct scanout *s);
/* What the thread of the adapter has to do. True: something was done. */
bool planes_step(struct scanout *s, uint64_t *until);
/* May a flip of the primary alone be handed over? */
bool planes_let(const struct scanout *s, const struct flip *flip);
/* The driver has switched off all planes but that of the primary (PRES-190). */
void planes_off(struct scanout *s);
/* All that is queued ends, not shown. */
void planes_drop_all(struct scanout *s);
/* What is handed over counts as shown: no vertical sync comes any more. */
void planes_complete_all(struct scanout *s);
/* Complete the first `count` flips of a layer; at most DISPATCH_LEVEL. */
void planes_complete(struct scanout *s, UINT layer, UINT count);
void planes_drop_waiting_of(struct scanout *s, const struct vidmm_device *device);

/* plane_expect.c: a plane was queued; a flip of the primary alone was, which will be all that is
 * shown; some have been dropped. */
void planes_expect(struct scanout *s, const struct plane_setting *setting);
void planes_will_end(struct scanout *s);
void planes_expect_again(struct scanout *s);

/* plane_count.c */
bool planes_pending(const struct scanout *s);
UINT planes_queued_of(const struct scanout *s, const struct vidmm_device *device);
bool planes_hold(const struct scanout *s, const struct vidmm_device *device);

/* plane_call.c: looks in each form. */
void plane_look_1(DXGK_MULTIPLANE_OVERLAY_ATTRIBUTES *to, const struct plane_look *from);
void plane_look_2(DXGK_MULTIPLANE_OVERLAY_ATTRIBUTES2 *to, const struct plane_look *from);
void plane_look_3(DXGK_MULTIPLANE_OVERLAY_ATTRIBUTES3 *to, const struct plane_setting *setting);
/* One call of the driver for the planes `flip[0]` to `flip[count - 1]`; what it makes
 * of a failure it has told. PASSIVE_LEVEL. */
NTSTATUS planes_call(struct scanout *s, struct plane_flip **flip, UINT count);
bool plane_flip_is_immediate(const struct scanouts *scanouts, const struct plane_flip *flip);
/* The primary alone, of a driver without DxgkDdiSetVidPnSourceAddress (PRES-191). `flip` NULL: a
 * switch of mode. */
NTSTATUS planes_call_plain(struct scanout *s, const struct vidmm_scanout *where, struct flip *flip);
void planes_call_post(struct scanout *s, const struct plane_post *post);

/* plane_sync.c */
void planes_notify(struct scanout *s, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* True: the picture is another. */
bool planes_settle(struct scanout *s, const struct planes_blank *blank);

/* plane_check.c */
/* Has the driver said yes to what is shown when all that is queued has been? */
bool planes_answered(const struct scanout *s);
void planes_forget_answers(struct scanouts *scanouts);

/* plane_picture.c: what is shown, of the planes whose pixels the host knows. False: out of
 * memory. */
bool planes_compose(struct scanout *s, struct scanouts_picture *picture);

#endif
