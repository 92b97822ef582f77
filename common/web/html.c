/* See html.h. */
#include "common/web/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/version.h"

#define USER_MAX 256

static void put(struct sv_html *h, const char *s, size_t n)
{
    int r;

    if (h->error < 0 || n == 0)
        return;
    r = sv_buf_put(&h->b, s, n);
    if (r < 0)
        h->error = r;
}

/* Writes at most `max` bytes, whole characters only, and "…" if anything is cut. */
static void put_cut(struct sv_html *h, const char *s, size_t max)
{
    size_t n = s ? strnlen(s, max + 1) : 0;

    if (n <= max) {
        sv_html_text(h, s, n);
        return;
    }
    for (n = max; n > 0 && max - n < 3 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
        ;
    sv_html_text(h, s, n);
    put(h, "…", strlen("…"));
}

/* Handles "%.Nf" and "%.Ns"; `p` is behind the point. */
static const char *convert_cut(struct sv_html *h, const char *p, va_list *ap)
{
    char text[400];
    int n = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (*p - '0');
    if (*p == 's') {
        put_cut(h, va_arg(*ap, const char *), (size_t)n);
        return p + 1;
    }
    (void)snprintf(text, sizeof(text), "%.*f", n, va_arg(*ap, double));
    put(h, text, strlen(text));
    return p + 1;
}

/* Handles one conversion; `p` is behind its '%'. Returns the text after it. */
static const char *convert(struct sv_html *h, const char *p, va_list *ap)
{
    char text[400];
    const char *s;

    switch (*p) {
    case '%':
        put(h, "%", 1);
        return p + 1;
    case 's':
        s = va_arg(*ap, const char *);
        if (s)
            sv_html_text(h, s, strlen(s));
        return p + 1;
    case 'd':
        (void)snprintf(text, sizeof(text), "%d", va_arg(*ap, int));
        put(h, text, strlen(text));
        return p + 1;
    case 'u':
        (void)snprintf(text, sizeof(text), "%u", va_arg(*ap, unsigned));
        put(h, text, strlen(text));
        return p + 1;
    case '.':
        return convert_cut(h, p + 1, ap);
    default: /* "%lld" and "%llu" */
        (void)snprintf(text, sizeof(text), p[2] == 'd' ? "%lld" : "%llu", va_arg(*ap, long long));
        put(h, text, strlen(text));
        return p + 3;
    }
}

void sv_html(struct sv_html *h, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    for (const char *p = fmt; *p;) {
        size_t n = strcspn(p, "%");

        put(h, p, n);
        p += n;
        if (*p)
            p = convert(h, p + 1, &ap);
    }
    va_end(ap);
}

/* ---- Links ---- */

static void put_encoded(struct sv_html *h, const char *s, const char *plain)
{
    for (; s && *s; s++) {
        char text[4];

        if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
            strchr(plain, *s)) {
            put(h, s, 1);
            continue;
        }
        (void)snprintf(text, sizeof(text), "%%%02X", (unsigned char)*s);
        put(h, text, 3);
    }
}

static void put_pair(struct sv_html *h, const char **mark, const char *and, const char *name,
                     const char *value)
{
    if (!value || !*value)
        return;
    put(h, *mark, strlen(*mark));
    put_encoded(h, name, "._-");
    put(h, "=", 1);
    put_encoded(h, value, "._-");
    *mark = and;
}

static void put_url(struct sv_html *h, const char *path, const char *const *query, const char *and)
{
    const char *mark = "?";

    put_encoded(h, path, "/._~:-");
    for (; query && query[0]; query += 2)
        put_pair(h, &mark, and, query[0], query[1]);
    put_pair(h, &mark, and, "user.name", h->user);
}

void sv_html_href(struct sv_html *h, const char *path, const char *const *query)
{
    put(h, " href=\"", 7);
    put_url(h, path, query, "&amp;");
    put(h, "\"", 1);
}

static const char *user_of(const struct sv_http_request *req)
{
    const char *user = req ? sv_http_query(req, "user.name") : NULL;

    return user && *user && strlen(user) < USER_MAX ? user : NULL;
}

int sv_html_redirect(const struct sv_http_request *req, const char *path, const char *const *query,
                     struct sv_http_response *ret)
{
    struct sv_html h = { .b = SV_BUF_INIT(SV_HTML_MAX), .user = user_of(req) };

    put_url(&h, path, query, "&");
    put(&h, "", 1);
    if (h.error < 0) {
        sv_buf_free(&h.b);
        return h.error;
    }
    ret->status = 302;
    ret->location = (char *)SV_TAKE(h.b.data); /* freed by the server */
    return 0;
}

void sv_html_path(struct sv_html *h, const char *path)
{
    put_encoded(h, path, "/._~:-");
}

void sv_html_href_out(struct sv_html *h, bool https, const char *address, const char *path)
{
    sv_html(h, " href=\"%s://", https ? "https" : "http");
    put_encoded(h, address, "._:[]-");
    put(h, "/", 1);
    put_encoded(h, path, "/._~:-");
    put(h, "\"", 1);
}

void sv_html_link(struct sv_html *h, const char *path, const char *text)
{
    sv_html(h, "<a");
    sv_html_href(h, path, NULL);
    sv_html(h, ">%s</a>", text);
}

void sv_html_link_below(struct sv_html *h, const char *prefix, const char *name)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s%s", prefix, name);
    sv_html_link(h, path, name);
}

/* ---- The page ---- */

static void put_find(struct sv_html *h, const char *path)
{
    sv_html(h, "<form class=\"find\" method=\"get\" action=\"%s\">", path);
    if (h->user)
        sv_html(h, "<input type=\"hidden\" name=\"user.name\" value=\"%s\">", h->user);
    sv_html(h, "<input name=\"id\" placeholder=\"Go to an id, a node, a queue\" "
               "aria-label=\"Go to an id, a node, a queue\" autocomplete=\"off\"></form>\n");
}

void sv_html_begin(struct sv_html *h, const struct sv_http_request *req,
                   const struct sv_html_frame *f)
{
    *h = (struct sv_html){ .b = SV_BUF_INIT(SV_HTML_MAX) };
    h->user = user_of(req);
    sv_html(h, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    h->script = f->script;
    if (f->script)
        sv_html(h, "<script src=\"" SV_HTML_SCRIPT "\" defer></script>\n");
    if (f->refresh_s)
        sv_html(h, "<meta http-equiv=\"refresh\" content=\"%u\">\n", f->refresh_s);
    sv_html(h,
            "<title>%s – Selvedge %s</title>\n<link rel=\"stylesheet\" href=\"" SV_HTML_STYLE
            "\">\n</head>\n<body>\n<header>\n<strong>Selvedge</strong> <span>%s</span>\n<nav>",
            f->title, f->site->program, f->site->program);
    for (size_t i = 0; i < f->site->n_menu; i++) {
        sv_html(h, "\n<a");
        if (f->here && sv_streq(f->here, f->site->menu[i].path))
            sv_html(h, " class=\"here\"");
        sv_html_href(h, f->site->menu[i].path, NULL);
        sv_html(h, ">%s</a>", f->site->menu[i].text);
    }
    sv_html(h, "\n</nav>\n");
    if (f->site->find)
        put_find(h, f->site->find);
    sv_html(h, "</header>\n<main>\n<h1>%s</h1>\n", f->title);
}

int sv_html_end(struct sv_html *h, unsigned status, struct sv_http_response *ret)
{
    sv_html(h, "</main>\n<footer>Selvedge " SV_VERSION "</footer>\n</body>\n</html>\n");
    if (h->error < 0) {
        sv_buf_free(&h->b);
        return h->error;
    }
    ret->status = status;
    ret->script = h->script;
    ret->content_type = "text/html; charset=utf-8";
    ret->body_len = h->b.len;
    ret->body = (char *)SV_TAKE(h->b.data); /* freed by the server */
    return 0;
}

int sv_html_refuse(const struct sv_html_site *site, const struct sv_http_request *req,
                   unsigned status, struct sv_http_response *ret, const char *fmt, va_list ap)
{
    const char *title = status == 403 ? "Not for you" : status == 404 ? "Not found" : site->refused;
    struct sv_html h;
    char text[1024];

    (void)vsnprintf(text, sizeof(text), fmt, ap);
    sv_html_begin(&h, req, &(struct sv_html_frame){ .site = site, .title = title });
    sv_html(&h, "<p>%s</p>\n", text);
    return sv_html_end(&h, status, ret);
}
