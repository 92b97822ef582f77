/* See page-queues.h. Hostile: the query, and names of users. */
#include "rm-lite/web/pages/page-queues.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/pages/live.h"

#define QUEUES_MAX 1000
#define USERS_MAX 200

static const char *const states[] = { "", "STOPPED", "RUNNING", "DRAINING" };

/* ---- All queues ---- */

struct queues {
    struct sv_html *h;
    size_t n;
    bool details;
};

static int depth_of(const char *path)
{
    int depth = 0;

    for (; *path && depth < 3; path++)
        depth += *path == '.';
    return depth;
}

static void put_details(struct sv_html *h, const struct rm_queue_info *q)
{
    char used[SV_HTML_WORD], waits[SV_HTML_WORD];

    sv_html(h, "<td class=\"n\">%s, %lld</td>", sv_html_mb(q->used.mem, used),
            (long long)q->used.vcores);
    sv_html(h, "<td class=\"n x\">%s, %lld</td>", sv_html_mb(q->pending.mem, waits),
            (long long)q->pending.vcores);
    sv_html(h, "<td class=\"n\">%d</td>", q->containers);
    if (q->leaf)
        sv_html(h, "<td class=\"n x\">%.0f %%, factor %.2f</td>", q->user_limit,
                q->user_limit_factor);
    else
        sv_html(h, "<td class=\"x\"></td>");
}

static void put_share(struct sv_html *h, const struct rm_queue_info *q)
{
    sv_html_bar(h, (struct sv_html_bar){ .used = q->abs_used_capacity,
                                         .mark = q->abs_capacity,
                                         .most = q->abs_max_capacity,
                                         .full = 1 });
    sv_html(h, "used %.1f %%, guaranteed %.1f %%, maximum %.1f %%", q->abs_used_capacity * 100,
            q->abs_capacity * 100, q->abs_max_capacity * 100);
}

static int put_queue(const struct rm_queue_info *q, void *userdata)
{
    const char *query[] = { "queue", q->path, NULL };
    struct queues *l = userdata;

    if (++l->n > QUEUES_MAX)
        return -E2BIG;
    sv_html(l->h, "<tr><td class=\"any depth%d\"><a", depth_of(q->path));
    sv_html_href(l->h, RM_PAGE_QUEUES, query);
    sv_html(l->h, ">%s</a></td><td class=\"x\">", q->path);
    sv_html_state(l->h, states[q->state]);
    sv_html(l->h, "</td><td>");
    put_share(l->h, q);
    sv_html(l->h, "</td>");
    if (q->leaf)
        sv_html(l->h, "<td class=\"n\">%d</td><td class=\"n\">%d</td>", q->active_apps,
                q->pending_apps);
    else
        sv_html(l->h, "<td></td><td></td>");
    if (l->details)
        put_details(l->h, q);
    sv_html(l->h, "</tr>\n");
    return 0;
}

void rm_page_put_queues(struct sv_html *h, const struct rm *rm, bool details)
{
    static const char *const few[] = { "Queue",    "-State",   "Of the cluster",
                                       "#Running", "#Waiting", NULL };
    static const char *const all[] = { "Queue",      "-State",      "Of the cluster",
                                       "#Running",   "#Waiting",    "#Used memory, vcores",
                                       "-Asked for", "#Containers", "-User limit",
                                       NULL };
    struct queues l = { .h = h, .details = details };

    sv_html_part(h, "queues");
    sv_html_table(h, details ? all : few);
    if (rm_sched_each_queue(rm->sched, put_queue, &l) < 0)
        sv_html(h, "<tr><td>… and more</td></tr>\n");
    sv_html_table_end(h);
    sv_html_part_end(h);
}

/* ---- One queue ---- */

static void put_amount(struct sv_html *h, const char *name, struct rm_res r)
{
    char text[SV_HTML_WORD];

    sv_html(h, "<tr><th>%s</th><td>%s, %lld vcores</td></tr>\n", name, sv_html_mb(r.mem, text),
            (long long)r.vcores);
}

static void put_limits(struct sv_html *h, const struct rm_queue_info *q)
{
    sv_html(h,
            "<tr><th>Applications</th><td>%d running, %d waiting; at most %d, %d of one "
            "user</td></tr>\n",
            q->active_apps, q->pending_apps, q->max_apps, q->max_apps_per_user);
    sv_html(h, "<tr><th>Limit of a user</th><td>%.0f %%, factor %.2f; users now: %d</td></tr>\n",
            q->user_limit, q->user_limit_factor, q->users);
    put_amount(h, "ApplicationMasters use", q->am_used);
    put_amount(h, "ApplicationMasters at most", q->am_limit);
    put_amount(h, "A container at most", q->max_allocation);
    sv_html(h, "<tr><th>Order</th><td>%s</td></tr>\n", q->ordering);
}

static void put_facts(struct sv_html *h, const struct rm_queue_info *q)
{
    sv_html_part(h, "facts");
    sv_html(h, "<div class=\"wide\"><table class=\"facts\"><tbody>\n<tr><th>State</th><td>");
    sv_html_state(h, states[q->state]);
    sv_html(h, "</td></tr>\n<tr><th>Of the cluster</th><td>");
    put_share(h, q);
    sv_html(h, "</td></tr>\n");
    put_amount(h, "Used", q->used);
    put_amount(h, "Reserved", q->reserved);
    put_amount(h, "Asked for", q->pending);
    put_amount(h, "Guaranteed", q->effective_min);
    put_amount(h, "Maximum", q->effective_max);
    if (q->leaf)
        put_limits(h, q);
    sv_html_table_end(h);
    sv_html_part_end(h);
}

static void put_user(const struct rm_queue_user *u, void *userdata)
{
    struct sv_html *h = userdata;
    char used[SV_HTML_WORD], most[SV_HTML_WORD];

    sv_html(h, "<tr><td class=\"any\">%.100s</td><td>", u->name);
    sv_html_bar(
        h, (struct sv_html_bar){
               .used = (double)u->used.mem, .mark = -1, .most = -1, .full = (double)u->limit.mem });
    sv_html(h, "%s of %s", sv_html_mb(u->used.mem, used), sv_html_mb(u->limit.mem, most));
    sv_html(h, "</td><td class=\"n\">%lld of %lld</td>", (long long)u->used.vcores,
            (long long)u->limit.vcores);
    sv_html(h, "<td class=\"n x\">%s of %s</td>", sv_html_mb(u->am_used.mem, used),
            sv_html_mb(u->am_limit.mem, most));
    sv_html(h,
            "<td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n x\">%.1f</td>"
            "<td class=\"x\">%s</td></tr>\n",
            u->active_apps, u->pending_apps, u->weight, u->asking ? "yes" : "");
}

static void put_users(struct sv_html *h, const struct rm *rm, const struct rm_queue_info *q)
{
    static const char *const heads[] = {
        "User",     "Memory, and its limit", "#Vcores", "-#Masters", "#Running", "#Waiting",
        "-#Weight", "-Asks for more",        NULL
    };
    size_t n;

    sv_html_part(h, "users");
    sv_html(h, "<h2>Users: %d</h2>\n", q->users);
    sv_html_table(h, heads);
    n = rm_sched_queue_users(rm->sched, q->path, USERS_MAX, put_user, h);
    sv_html_table_end(h);
    if (n == USERS_MAX)
        sv_html(h, "<p class=\"dim\">There may be more.</p>\n");
    sv_html_part_end(h);
}

static void follow(struct sv_html *h, const char *queue)
{
    char path[SV_HTTP_EVENTS_OBJECT], history[SV_HTTP_EVENTS_OBJECT];

    if (strlen(queue) + sizeof(RM_LIVE_QUEUE) > sizeof(path))
        return; /* a page without plots */
    (void)snprintf(path, sizeof(path), RM_LIVE_QUEUE "%s", queue);
    (void)snprintf(history, sizeof(history), RM_LIVE_HISTORY "%s", queue);
    sv_html_history(h, path, history);
}

static int one_queue(const struct rm_viewer *who, const struct sv_http_request *req,
                     const struct rm_queue_info *q, struct sv_http_response *ret)
{
    const char *query[] = { "queue", q->path, NULL };
    struct sv_html h;

    rm_page_begin(&h, req, q->path, RM_PAGE_QUEUES);
    sv_html(&h, "<p class=\"links\">");
    sv_html_link(&h, RM_PAGE_QUEUES, "All queues");
    if (q->leaf) {
        sv_html(&h, " <a");
        sv_html_href(&h, RM_PAGE_APPS, query);
        sv_html(&h, ">Its applications</a>");
    }
    sv_html(&h, "</p>\n");
    follow(&h, q->path);
    put_facts(&h, q);
    if (q->leaf)
        put_users(&h, who->rm, q);
    return sv_html_end(&h, 200, ret);
}

int rm_page_queues(const struct rm_viewer *who, const struct sv_http_request *req,
                   struct sv_http_response *ret)
{
    const char *name = sv_http_query(req, "queue");
    struct rm_queue_info q;
    struct sv_html h;

    if (name && *name && rm_sched_queue(who->rm->sched, name, &q) >= 0)
        return one_queue(who, req, &q, ret);
    if (name && *name)
        return rm_page_refuse(req, 404, ret, "There is no queue %.200s.", name);
    rm_page_begin(&h, req, "Queues", RM_PAGE_QUEUES);
    sv_html_follow(&h, RM_LIVE_QUEUE "root");
    rm_page_put_queues(&h, who->rm, true);
    sv_html(&h,
            "<p class=\"dim\">The bar is the whole cluster: its filled part is used, the mark is "
            "what the queue is guaranteed, and the thick part ends at its maximum.</p>\n");
    return sv_html_end(&h, 200, ret);
}
