/* See page-logs.h. */
#include "nodemanager/web/page-logs.h"

#include <errno.h>
#include <stdio.h>

#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/log-request.h"

#define TAIL 4096
#define FOLLOWED "-32768"
#define FOLLOW_S 3
#define FILES_MAX 500

struct place { /* of the page */
    char container[YARN_ID_TEXT_MAX];
    char base[512]; /* /node/containerlogs/ID/USER */
    char path[1024];
};

static void place_of(struct yarn_container_id id, const char *user, const char *file,
                     struct place *ret)
{
    yarn_container_id_text(id, ret->container);
    (void)snprintf(ret->base, sizeof(ret->base), "/node/containerlogs/%s/%.256s", ret->container,
                   user);
    (void)snprintf(ret->path, sizeof(ret->path), "%s/%.400s", ret->base, file ? file : "");
}

/* ---- The list ---- */

struct list {
    struct sv_html *h;
    const struct place *at;
    int n;
};

static void put_file(const struct nm_log_entry *e, void *userdata)
{
    struct list *l = userdata;
    char path[1024], text[SV_HTML_WORD];

    if (++l->n > FILES_MAX)
        return;
    (void)snprintf(path, sizeof(path), "%s/%.400s", l->at->base, e->name);
    sv_html(l->h, "<tr><td>");
    sv_html_link(l->h, path, e->name);
    sv_html(l->h, "</td><td class=\"n t\">%s</td>", sv_html_bytes((uint64_t)e->size, text));
    sv_html(l->h, "<td class=\"t\">%s</td></tr>\n", sv_html_time(e->modified_s * 1000, text));
}

static int unread(const struct sv_http_request *req, const char *why, struct sv_http_response *ret)
{
    return nm_page_refuse(req, 503, ret, "The logs cannot be read now: %s.", why);
}

static int put_list(const struct nm_web *w, struct yarn_container_id id, const struct place *at,
                    const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const char *const heads[] = { "File", "#Size", "Written", NULL };
    struct sv_html h;
    struct list l = { .h = &h, .at = at };
    struct nm_log_search *s;
    const char *why;
    int r = nm_log_request_search(w, req, id, NULL, &s);

    if (r < 0)
        return r;
    why = nm_log_search_unread(s);
    if (!nm_log_search_each(s, NULL, NULL))
        return why ? unread(req, why, ret)
                   : nm_page_refuse(req, 404, ret,
                                    "This node has no logs of %s (any more). If logs are "
                                    "aggregated, `selvedge logs` and `yarn logs` find them.",
                                    at->container);
    nm_page_begin(&h, req, "Logs", NM_PAGE_CONTAINERS, 0);
    sv_html(&h, "<p>");
    sv_html_link_below(&h, "/node/container/", at->container);
    sv_html(&h, "</p>\n");
    sv_html_table(&h, heads);
    (void)nm_log_search_each(s, put_file, &l); /* found, ignoring */
    sv_html_table_end(&h);
    if (l.n > FILES_MAX)
        sv_html(&h, "<p class=\"dim\">… and more.</p>\n");
    if (why)
        sv_html(&h, "<p class=\"dim\">Not searched: %s.</p>\n", why);
    return sv_html_end(&h, 200, ret);
}

/* ---- One file ---- */

struct window {
    int64_t start, end, size; /* bytes of the file */
};

static int read_number(const struct sv_http_request *req, const char *key, int64_t usual,
                       int64_t *ret)
{
    const char *text = sv_http_query(req, key);

    *ret = usual;
    return text && *text ? sv_parse_i64(text, INT64_MIN + 1, INT64_MAX, ret) : 0;
}

static int window_of(const struct sv_http_request *req, int64_t size, struct window *ret)
{
    int64_t start, end;

    if (read_number(req, "start", -TAIL, &start) < 0 || read_number(req, "end", size, &end) < 0)
        return -EINVAL;
    ret->size = size;
    ret->end = end < 0 ? SV_MAX(size + end, 0) : SV_MIN(end, size);
    ret->start = SV_MIN(start < 0 ? SV_MAX(size + start, 0) : start, ret->end);
    if (ret->end - ret->start <= NM_PAGE_LOG_MAX)
        return 0;
    if (start < 0) /* negative: counts from the end */
        ret->start = ret->end - NM_PAGE_LOG_MAX;
    else
        ret->end = ret->start + NM_PAGE_LOG_MAX;
    return 0;
}

static void put_part(struct sv_html *h, const struct place *at, const char *name, int64_t start,
                     int64_t end)
{
    char a[32], b[32];
    const char *query[] = { "start", a, "end", b, NULL };

    (void)snprintf(a, sizeof(a), "%lld", (long long)start);
    (void)snprintf(b, sizeof(b), "%lld", (long long)end);
    sv_html(h, "<a");
    sv_html_href(h, at->path, query);
    sv_html(h, ">%s</a>\n", name);
}

static void put_links(struct sv_html *h, const struct place *at, const char *file,
                      const struct window *v, bool running, bool following)
{
    static const char *const follow[] = { "start", FOLLOWED, "follow", "1", NULL };
    static const char *const bare[] = { "format", "octet-stream", NULL };
    int64_t step = SV_MAX(v->end - v->start, (int64_t)TAIL);
    char path[1024];

    sv_html(h, "<p class=\"links\">");
    sv_html_link(h, at->base, "All files");
    sv_html(h, "\n");
    if (v->start > 0) {
        put_part(h, at, "Beginning", 0, SV_MIN(v->size, (int64_t)65536));
        put_part(h, at, "Earlier", SV_MAX(v->start - step, (int64_t)0), v->start);
    }
    if (v->end < v->size)
        put_part(h, at, "Later", v->end, SV_MIN(v->end + step, v->size));
    sv_html_link(h, at->path, "End");
    sv_html(h, "\n");
    if (running && !following) {
        sv_html(h, "<a");
        sv_html_href(h, at->path, follow);
        sv_html(h, ">Follow</a>\n");
    }
    (void)snprintf(path, sizeof(path), "/ws/v1/node/containerlogs/%s/%.400s", at->container, file);
    sv_html(h, "<a download=\"%s\"", file);
    sv_html_href(h, path, bare);
    sv_html(h, ">Download</a></p>\n");
}

/* The bytes of the window, from its first whole character on. */
static void put_bytes(struct sv_html *h, const struct nm_log_text *text, const struct window *v)
{
    size_t skip = 0;

    while (v->start > 0 && skip < 3 && skip < text->n &&
           ((unsigned char)text->bytes[skip] & 0xc0) == 0x80)
        skip++;
    sv_html(h, "<pre>");
    if (skip < text->n && text->bytes[skip] == '\n')
        sv_html(h, "\n"); /* a browser drops the first newline */
    sv_html_log(h, text->bytes + skip, text->n - skip);
    sv_html(h, "</pre>\n");
}

static int put_log(const struct nm_web *w, struct yarn_container_id id, const struct place *at,
                   const char *file, const struct sv_http_request *req,
                   struct sv_http_response *ret)
{
    const struct nm_container *c = nm_container_find(w->ctx, at->container);
    bool running = c && !nm_container_is_done(c), following = sv_http_query(req, "follow");
    const struct nm_log_file *found;
    struct sv_error why = { 0 };
    struct nm_log_search *s;
    struct nm_log_text bytes;
    struct window v;
    struct sv_html h;
    int r = nm_log_request_search(w, req, id, file, &s);

    if (r < 0 && r != -EINVAL)
        return r;
    found = r < 0 ? NULL : nm_log_search_file(s);
    if (!found && r >= 0 && nm_log_search_unread(s))
        return unread(req, nm_log_search_unread(s), ret);
    if (!found)
        return nm_page_refuse(req, r < 0 ? 400 : 404, ret,
                              "This node has no log file \"%.200s\" of %s.", file, at->container);
    if (window_of(req, found->st.st_size, &v) < 0)
        return nm_page_refuse(req, 400, ret, "start and end must be numbers of bytes.");
    r = nm_log_request_text(w, req, found, v.start, (size_t)(v.end - v.start), &bytes, &why);
    if (r < 0)
        return r == -EIO ? unread(req, why.text, ret) : r;
    nm_page_begin(&h, req, file, NM_PAGE_CONTAINERS, running && following ? FOLLOW_S : 0);
    sv_html(&h, "<p>");
    sv_html_link_below(&h, "/node/container/", at->container);
    sv_html(&h, ", bytes %lld to %lld of %lld%s</p>\n", (long long)v.start, (long long)v.end,
            (long long)v.size,
            running && following ? ", read again every few seconds"
            : running            ? ", still being written"
                                 : "");
    put_links(&h, at, file, &v, running, following);
    put_bytes(&h, &bytes, &v);
    return sv_html_end(&h, 200, ret);
}

int nm_page_logs(const struct nm_web *w, struct yarn_container_id id, const char *user,
                 const char *file, const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct place at;

    if (!w->ctx->conf->web.logs_enabled)
        return nm_page_refuse(req, 403, ret,
                              "Container logs are not served over HTTP on this node: "
                              "selvedge.nodemanager.webapp.logs.enabled is false.");
    place_of(id, user, file, &at);
    return file ? put_log(w, id, &at, file, req, ret) : put_list(w, id, &at, req, ret);
}
