/* See page-apps.h. Hostile: the query, and names of jobs. */
#include "nodemanager/web/page-apps.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/exit-meaning.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/services/finished-containers.h"

#define PAGE_WALK_MS 4

/* ---- Containers ---- */

static void begin_containers(struct sv_html *h)
{
    static const char *const heads[] = { "Container", "-User",   "State", "-Command", "Memory",
                                         "-Peak",     "-#Cores", "-Runs", "",         NULL };

    sv_html_table(h, heads);
}

static void put_container(struct sv_html *h, const struct nm_container *c)
{
    char text[SV_HTML_WORD], other[SV_HTML_WORD], path[512];
    const char *meaning = sv_exit_meaning(c->exit_code, c->diagnostics);
    struct nm_figures f;

    nm_figures_of(c, &f);
    sv_html(h, "<tr><td class=\"id\">");
    sv_html_link_below(h, "/node/container/", c->text);
    sv_html(h, "</td><td class=\"x\">%.100s</td><td>", f.user);
    sv_html_state(h, nm_container_state_name(c->state));
    if (nm_container_is_done(c) && c->exit_code != 0)
        sv_html(h, " <span class=\"dim\">%d %s</span>", c->exit_code, meaning);
    sv_html(h, "</td><td class=\"x\">%s</td><td>", c->command);
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)f.memory_bytes,
                                         .mark = f.peak_bytes ? (double)f.peak_bytes : -1,
                                         .most = -1,
                                         .full = (double)f.memory_mb * 1048576 });
    sv_html(h, "%s of %s</td>",
            f.memory_bytes || f.peak_bytes ? sv_html_bytes(f.memory_bytes, text) : "–",
            sv_html_mb(f.memory_mb, other));
    sv_html(h, "<td class=\"x t\">%s</td><td class=\"x n\">%.2f of %d</td>",
            f.peak_bytes ? sv_html_bytes(f.peak_bytes, text) : "–", (double)f.cpu_cores, f.vcores);
    sv_html(h, "<td class=\"x t\">%s</td><td>",
            f.launch_ms
                ? sv_html_span((f.finish_ms ? f.finish_ms : sv_wall_ms()) - f.launch_ms, text)
                : "");
    (void)snprintf(path, sizeof(path), "/node/containerlogs/%s/%.100s", c->text, f.user);
    sv_html_link(h, path, "Logs");
    sv_html(h, "</td></tr>\n");
}

/* Objects that are not the caller's take time too: comparing a VIEW_APP list takes up to 50 us. */
static bool walks_on(int64_t begin_ms, size_t i)
{
    return i < NM_PAGE_WALK && sv_now_ms() - begin_ms < PAGE_WALK_MS;
}

int nm_page_containers(const struct nm_web *w, const struct nm_web_caller *who,
                       const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *after = sv_http_query(req, "after"), *last = NULL;
    const struct nm_container *at = after ? nm_container_find(w->ctx, after) : NULL,
                              *c = at ? at->hh.next : w->ctx->containers;
    int64_t begin = sv_now_ms();
    size_t shown = 0;
    struct sv_html h;

    nm_page_begin(&h, req, "Containers", NM_PAGE_CONTAINERS, 0);
    begin_containers(&h);
    for (size_t i = 0; c && shown < NM_PAGE_ROWS && walks_on(begin, i); i++, c = c->hh.next) {
        last = c->text;
        if (!nm_web_may_view(who, c->app))
            continue;
        put_container(&h, c);
        shown++;
    }
    sv_html_table_end(&h);
    if (shown == 0)
        sv_html(&h, "<p class=\"dim\">No containers that you may see.</p>\n");
    if (c && last)
        nm_page_more(&h, NM_PAGE_CONTAINERS, last);
    return sv_html_end(&h, 200, ret);
}

/* ---- Applications ---- */

int nm_page_apps(const struct nm_web *w, const struct nm_web_caller *who,
                 const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const char *const heads[] = { "Application", "User", "State", "#Containers", NULL };
    const char *after = sv_http_query(req, "after"), *last = NULL;
    const struct nm_app *at = after ? nm_app_find(w->ctx, after) : NULL,
                        *a = at ? at->hh.next : w->ctx->apps;
    int64_t begin = sv_now_ms();
    size_t shown = 0;
    struct sv_html h;

    nm_page_begin(&h, req, "Applications", NM_PAGE_APPS, 0);
    sv_html_table(&h, heads);
    for (size_t i = 0; a && shown < NM_PAGE_ROWS && walks_on(begin, i); i++, a = a->hh.next) {
        last = a->text;
        if (!nm_web_may_view(who, a))
            continue;
        sv_html(&h, "<tr><td class=\"id\">");
        sv_html_link_below(&h, "/node/application/", a->text);
        sv_html(&h, "</td><td>%.100s</td><td>", a->user);
        sv_html_state(&h, nm_app_state_name(a->state));
        sv_html(&h, "</td><td class=\"n\">%u</td></tr>\n", HASH_COUNT(a->members));
        shown++;
    }
    sv_html_table_end(&h);
    if (shown == 0)
        sv_html(&h, "<p class=\"dim\">No applications that you may see.</p>\n");
    if (a && last)
        nm_page_more(&h, NM_PAGE_APPS, last);
    return sv_html_end(&h, 200, ret);
}

static const struct nm_app_member *member_behind(const struct nm_app *a, const char *after)
{
    const struct nm_app_member *m = NULL;

    if (after)
        HASH_FIND_STR(a->members, after, m);
    return m ? m->hh.next : a->members;
}

int nm_page_app(const struct nm_web *w, const struct nm_web_caller *who, const char *id,
                const struct sv_http_request *req, struct sv_http_response *ret)
{
    const struct nm_app *a = nm_app_find(w->ctx, id);
    const struct nm_app_member *m;
    char path[YARN_ID_TEXT_MAX + 32];
    const char *last = NULL;
    size_t shown = 0;
    struct sv_html h;

    if (!nm_web_may_view(who, a))
        return nm_page_forbid(who, id, req, ret);
    if (!a)
        return nm_page_refuse(req, 404, ret, "This node has no application %.100s (any more).", id);
    nm_page_begin(&h, req, a->text, NM_PAGE_APPS, 0);
    sv_html(&h, "<p>%.100s ", a->user);
    sv_html_state(&h, nm_app_state_name(a->state));
    sv_html(&h, "</p>\n");
    if (a->init_error)
        sv_html(&h, "<pre>%.5000s</pre>\n", a->init_error);
    begin_containers(&h);
    for (m = member_behind(a, sv_http_query(req, "after")); m && shown < NM_PAGE_ROWS;
         m = m->hh.next, shown++) {
        last = m->c->text;
        put_container(&h, m->c);
    }
    sv_html_table_end(&h);
    (void)snprintf(path, sizeof(path), "/node/application/%s", a->text);
    if (m && last)
        nm_page_more(&h, path, last);
    return sv_html_end(&h, 200, ret);
}
