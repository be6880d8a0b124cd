/* SPDX-License-Identifier: MIT */
#include "wintrace/write.h"
#include "wintrace/etl_write.h"
#include "wintrace/text_write.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *ending;
    enum wintrace_form form;
} forms[] = {{".etl", WINTRACE_ETL}, {".csv", WINTRACE_CSV}, {".xml", WINTRACE_XML}};

bool wintrace_form_of(const char *path, enum wintrace_form *form)
{
    const char *ending = strrchr(path, '.');

    for (size_t i = 0; ending && i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcasecmp(ending, forms[i].ending) == 0) {
            *form = forms[i].form;
            return true;
        }
    }
    return false;
}

bool wintrace_write(const struct wintrace_sink *sink, enum wintrace_form form, FILE *out)
{
    if (form == WINTRACE_CSV)
        return csv_write(sink, out);
    return form == WINTRACE_XML ? xml_write(sink, out) : etl_write(sink, out);
}
