/* SPDX-License-Identifier: MIT */
/* A page of one file, that needs nothing from elsewhere: headings, texts and tables. All texts are
 * escaped. */
#ifndef DXGK_CLI_HTML_H
#define DXGK_CLI_HTML_H

#include <stdbool.h>
#include <stdio.h>

struct cli_html {
    FILE *file;
    const char *path;
};

/* False, with a message: it cannot be written. */
bool cli_html_open(struct cli_html *html, const char *path, const char *title);
/* An element with a text; `style` is "" or one of "good", "bad", "rule", "first", "number". */
void cli_html_text(const struct cli_html *html, const char *element, const char *style,
                   const char *text);
void cli_html_format(const struct cli_html *html, const char *element, const char *style,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void cli_html_begin(const struct cli_html *html, const char *element);
void cli_html_end(const struct cli_html *html, const char *element);
/* A table begins with the names of its columns, up to a NULL. */
void cli_html_table(const struct cli_html *html, const char *const *columns);
/* False, with a message: something of it could not be written. */
bool cli_html_close(struct cli_html *html);

#endif
