/* SPDX-License-Identifier: MIT */
/*
 * A display-only driver by the probe: one source and one output unless told otherwise, a list of
 * source modes and target modes that it offers for each path, and a picture that presents are copied
 * into. Hooks of the probe (p->before, p->after) change any answer.
 *
 *     struct probe *p = display_create(NULL);
 *     display.outputs = 2;                              answers: plain data, before the start
 *     CHECK_RULE("...", probe_start(p) == STATUS_SUCCESS && display.commits == 1);
 *     display_end(p);
 */
#ifndef DXGK_TESTS_DISPLAY_H
#define DXGK_TESTS_DISPLAY_H

#include "modes/display_worker.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "port/record/adapter_record.h"
#include "port/running/display.h"
#include "port/support/probe.h"
#include "screens/screens.h"

#define DISPLAY_MODES 8u
#define DISPLAY_CHILD 0x100u /* ChildUid of the first output; the others follow */

struct display_answers {
    KMDDOD_INITIALIZATION_DATA table; /* filled in from p->table when it registers */
    bool own_table;                   /* `table` is as the test has set it */
    UINT outputs, sources;
    bool connected[4];                                    /* what QueryChildStatus answers */
    D3DKMDT_VIDPN_SOURCE_MODE source_mode[DISPLAY_MODES]; /* Id is not used */
    UINT source_modes;
    D3DKMDT_VIDPN_TARGET_MODE target_mode[DISPLAY_MODES];
    UINT target_modes;
    D3DKMDT_VIDPN_PRESENT_PATH_SCALING_SUPPORT scaling;
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT rotation;
    BOOLEAN supported;       /* what IsSupportedVidPn answers */
    NTSTATUS present_status; /* what PresentDisplayOnly answers */
    /* in EnumVidPnCofuncModality, before and after the default */
    void (*before_enum)(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                        const DXGK_VIDPN_INTERFACE *vidpn);
    void (*after_enum)(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                       const DXGK_VIDPN_INTERFACE *vidpn);
    /* inside CommitVidPn, before the default */
    void (*in_commit)(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *vidpn);
    /* in PresentDisplayOnly, whose answer it gives */
    NTSTATUS (*in_present)(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args);
    /* in DriverEntry, before the driver registers `table` */
    void (*in_entry)(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path);
};

/* What has happened. */
struct display_record {
    UINT commits;
    struct display_commit {
        UINT source, paths;
        bool power;
        D3DKMDT_2DREGION size; /* of the pinned source mode; 0: there is none */
        UINT target;
        D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling;
        D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation;
    } commit[64];
    UINT presents;
    DXGKARG_PRESENT_DISPLAYONLY present; /* the last; pMoves and pDirtyRect are gone */
    RECT dirty;                          /* the first rectangle of the last */
    bool visible[4];
    /* status of the last call of a VidPN function by the defaults that failed */
    NTSTATUS failure;
};

extern struct display_answers display;
extern struct display_record display_seen;

/* As probe_create; the driver registers as display-only, for WDDM 2.9 unless options->version says
 * otherwise. */
struct probe *display_create(const struct probe_options *options);
/* Create, start (which must succeed), run the body on a thread of the system, stop and destroy. */
void display_run(const struct probe_options *options, void (*body)(struct probe *p));
/* Stop and destroy. */
void display_end(struct probe *p);

/* The parts of display_create, for other drivers: answers and hooks; and, in DriverEntry, the
 * sources and outputs of `display`. */
void display_prepare(struct probe *p);
void display_outputs(struct probe *p);

/* Modes as the defaults have them. */
D3DKMDT_VIDPN_SOURCE_MODE display_source_mode(UINT width, UINT height);
D3DKMDT_VIDPN_TARGET_MODE display_target_mode(UINT width, UINT height);

/* The interface of a VidPN handle that a DDI got. */
const DXGK_VIDPN_INTERFACE *display_interface(struct probe *p, D3DKMDT_HVIDPN vidpn);
/* Of the first adapter. */
struct modes *display_modes(const struct probe *p);
struct screens *display_screens(const struct probe *p);
/* The driver says that a monitor has come or gone, and the host has looked into it afterwards. */
void display_indicate(struct probe *p, UINT output, bool connected);
/* A change of the mode, as a user asks for it. */
NTSTATUS display_ask_mode(struct probe *p, UINT source, UINT width, UINT height, UINT quarters);

#endif
