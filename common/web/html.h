/* HTML pages of the daemons' web servers: markup comes from literals, every value is escaped. No
 * inline script or style: the Content-Security-Policy of common/web/http.c forbids both. A page may
 * load one script file, SV_HTML_SCRIPT, and is complete without it.
 *
 * Write errors are stored and returned by sv_html_end. Hostile: every value. Users choose names,
 * jobs write logs and diagnostics, and a page is limited to SV_HTML_MAX. */
#ifndef SELVEDGE_COMMON_WEB_HTML_H
#define SELVEDGE_COMMON_WEB_HTML_H

#include <stdarg.h>

#include "common/buf.h"
#include "common/web/http.h"

#define SV_HTML_MAX ((size_t)8 << 20)
#define SV_HTML_STYLE "/static/selvedge.css"
#define SV_HTML_ICON "/favicon.ico" /* which browsers ask for by themselves */
#define SV_HTML_SCRIPT "/static/live.js"

struct sv_html {
    struct sv_buf b;
    int error;
    const char *user; /* user.name of the request, preserved in links; or NULL */
    bool script;      /* the page loads SV_HTML_SCRIPT */
};

struct sv_html_link {
    const char *path, *text;
};
/* A daemon's pages; constant. */
struct sv_html_site {
    const char *program;             /* "ResourceManager" */
    const struct sv_html_link *menu; /* the first entry is the start page */
    size_t n_menu;
    const char *refused; /* title of a refusal with another status than 403 and 404 */
    const char *find;    /* path of a box that jumps to an id, ?id=; or NULL */
};
struct sv_html_frame {
    const struct sv_html_site *site;
    const char *title;
    const char *here;   /* path of the current menu entry */
    unsigned refresh_s; /* reload interval; 0: none */
    bool script;        /* loads SV_HTML_SCRIPT */
};

/* Begins a page, up to its heading, which is the title. */
void sv_html_begin(struct sv_html *h, const struct sv_http_request *req,
                   const struct sv_html_frame *f);
/* Moves the page into the response; frees it on failure. */
int sv_html_end(struct sv_html *h, unsigned status, struct sv_http_response *ret) _must_use_;
/* A whole page with the reason for a refusal. */
int sv_html_refuse(const struct sv_html_site *site, const struct sv_http_request *req,
                   unsigned status, struct sv_http_response *ret, const char *fmt, va_list ap)
    _printf_(5, 0) _must_use_;
/* Answers SV_HTML_STYLE. */
int sv_html_style(struct sv_http_response *ret) _must_use_;
/* Answers SV_HTML_ICON: a picture of a few bytes. */
int sv_html_icon(struct sv_http_response *ret) _must_use_;
/* Answers SV_HTML_SCRIPT (live.js), which draws the plots of sv_html_live. */
int sv_html_script(struct sv_http_response *ret) _must_use_;

/* printf with %s and %.Ns (escaped; NULL is ""; N bytes at most, then "…"), %d %u %lld %llu %.Nf
 * and
 * %% alone. */
void sv_html(struct sv_html *h, const char *fmt, ...) _printf_(2, 3);
/* Writes `n` bytes of text, escaped (html-text.c): invalid UTF-8, control characters and those that
 * change the writing direction appear as \xNN or \uNNNN. Newlines and tabs are kept. */
void sv_html_text(struct sv_html *h, const char *s, size_t n);
/* Like sv_html_text() for a log: colours of SGR sequences become classes c0…c15 and b (bold); other
 * escape sequences are dropped; a carriage return ends a line. */
void sv_html_log(struct sv_html *h, const char *s, size_t n);

/* ` href="…"` of a path of this server. Each byte of the path outside of [A-Za-z0-9/._~:-] is
 * percent-encoded. `query`: alternating names and values, NULL-terminated; a pair with an empty
 * value is omitted. NULL: none. */
void sv_html_href(struct sv_html *h, const char *path, const char *const *query);
/* ` href="http://ADDRESS/PATH"` of another server. */
void sv_html_href_out(struct sv_html *h, bool https, const char *address, const char *path);
/* Redirects to a path of this server with 302, encoded as in sv_html_href(), with the user.name of
 * the request. */
int sv_html_redirect(const struct sv_http_request *req, const char *path, const char *const *query,
                     struct sv_http_response *ret) _must_use_;
/* The path, percent-encoded as in an href. */
void sv_html_path(struct sv_html *h, const char *path);
/* A complete <a> element. */
void sv_html_link(struct sv_html *h, const char *path, const char *text);
/* <a> to PREFIX + NAME, whose text is NAME. */
void sv_html_link_below(struct sv_html *h, const char *prefix, const char *name);

/* ---- html-parts.c: parts of pages ---- */

/* Column heads, NULL-terminated. A name that begins with "-" is hidden on narrow screens, with "#"
 * or "-#" is a number; cells use the classes of their heads: x and n. */
void sv_html_table(struct sv_html *h, const char *const *heads);
void sv_html_table_end(struct sv_html *h);
/* A bar from 0 to `full`: the used part, in another colour from 90 % on unless `calm`; a mark; and
 * the limit `most`. Negative: absent. */
struct sv_html_bar {
    double used, mark, most, full;
    bool calm;
};
void sv_html_bar(struct sv_html *h, struct sv_html_bar bar);
/* A row of a table of facts: <th> and text. */
void sv_html_fact(struct sv_html *h, const char *name, const char *value);
/* Placeholder for live plots, empty without script: shows server-sent events from `path`
 * (common/web/http-events.h), each {"rows": [[NAME, share from 0 to 1, TEXT], …]}. An event may
 * also have "facts": [[ID, TEXT, CLASS], …]; elements of the page with data-live="ID" get that
 * text, and the class unless it is empty. */
void sv_html_live(struct sv_html *h, const char *path);
/* As above, with plots of the last hour, which JSON from `history` begins: {"step_s": N, "samples":
 * N, "at": number of the last sample, "plots": [{"name", "unit": "bytes", "seconds" or "count",
 * "full": N or null, "values": [N or null, …]}, …]}. An event has "points": {"at": number,
 * "values": […], "full": […]}, a value a plot. */
void sv_html_history(struct sv_html *h, const char *path, const char *history);
/* As above without plots: facts and parts alone. */
void sv_html_follow(struct sv_html *h, const char *path);
/* A part of a page, replaced by a newer one when "version" of the events changes. Not nested. */
void sv_html_part(struct sv_html *h, const char *name);
void sv_html_part_end(struct sv_html *h);
/* A badge whose class depends on the word: RUNNING, SUCCEEDED, FAILED, LOST… */
void sv_html_state(struct sv_html *h, const char *state);

#define SV_HTML_WORD 48
const char *sv_html_bytes(uint64_t bytes, char ret[static SV_HTML_WORD]); /* "1.5 GiB" */
const char *sv_html_mb(int64_t mb, char ret[static SV_HTML_WORD]);
const char *sv_html_span(int64_t ms, char ret[static SV_HTML_WORD]);      /* "2h 03m", "1.250 s" */
const char *sv_html_time(int64_t wall_ms, char ret[static SV_HTML_WORD]); /* UTC; 0: "–" */

#endif
