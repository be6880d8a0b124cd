/* SPDX-License-Identifier: MIT */
/* What the fields of events mean when two traces are compared: most are numbers that must be equal,
 * but handles, counters and addresses differ from one machine to another, and from run to run. */
#ifndef DXGK_WINTRACE_FIELDS_H
#define DXGK_WINTRACE_FIELDS_H

#include "wintrace/wintrace.h"

enum field_role {
    FIELD_PLAIN,
    FIELD_IGNORED, /* times, physical addresses, what says which adapter */
    FIELD_POINTER, /* memory that is used again: null or not */
    FIELD_CONTEXT, /* handles: the same one in the same places */
    FIELD_ALLOCATION,
    FIELD_OBJECT,
    FIELD_SEGMENT,    /* the implicit one of system memory has two numbers */
    FIELD_SUBMISSION, /* counters: of a node, */
    FIELD_SEQUENCE,   /* of a context or source, */
    FIELD_FENCE,      /* of a synchronization object or queue; 0 stays 0 */
};

enum field_role field_role(const struct wintrace_kind *kind, unsigned field);
/* The field by its name; kind->fields: there is none. */
unsigned field_find(const struct wintrace_kind *kind, const char *name);

#endif
