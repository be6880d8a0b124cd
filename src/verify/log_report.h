/* SPDX-License-Identifier: MIT */
/* How a report gets into a log, for the reports that verify.h declares. */
#ifndef DXGK_VERIFY_LOG_REPORT_H
#define DXGK_VERIFY_LOG_REPORT_H

#include "verify/verify.h"

#include <stdarg.h>

/* It decides what strict mode and a configured severity make of a report. */
enum verify_kind {
    VERIFY_KIND_BREACH,
    VERIFY_KIND_EACH,     /* a breach that is merged only with one that says the same */
    VERIFY_KIND_FINDING,  /* refuses as an error, else it is only told */
    VERIFY_KIND_REFUSAL,  /* refuses at any severity */
    VERIFY_KIND_UNSERVED, /* refuses unless the user has chosen a severity below error */
    VERIFY_KIND_CLIENT,   /* what a client did: strict mode does not raise it */
};

/* The caller has set severity, code and parameters of the record. True: the report refuses. */
bool verify_log_report(struct verify_log *log, const char *id, struct verify_record *record,
                       enum verify_kind kind, const char *format, va_list arguments);

#endif
