/* See page-cluster.h. */
#include "rm-lite/web/pages/page-cluster.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/pages/page-apps.h"

#define NEWEST 20
#define QUEUES_MAX 1000

/* ---- The cluster in one line ---- */

static void put_nodes(struct sv_html *h, const struct rm *rm)
{
    int unhealthy = rm_count_nodes(rm, RM_NODE_ST_UNHEALTHY);
    int lost = rm_count_nodes(rm, RM_NODE_ST_LOST);

    sv_html(h, "<li><b>%d</b> <span>nodes", rm_active_nodes(rm));
    if (unhealthy)
        sv_html(h, ", <em class=\"bad\">%d unhealthy</em>", unhealthy);
    if (lost)
        sv_html(h, ", <em class=\"bad\">%d lost</em>", lost);
    sv_html(h, "</span></li>\n");
}

static void put_memory(struct sv_html *h, const struct rm_queue_info *root)
{
    char used[SV_HTML_WORD], all[SV_HTML_WORD];

    sv_html(h, "<li><b>%s of %s</b>", sv_html_mb(root->used.mem, used),
            sv_html_mb(root->effective_max.mem, all));
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)root->used.mem,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)root->effective_max.mem });
    sv_html(h, " <span>memory</span></li>\n<li><b>%lld of %lld</b>", (long long)root->used.vcores,
            (long long)root->effective_max.vcores);
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)root->used.vcores,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)root->effective_max.vcores });
    sv_html(h, " <span>vcores</span></li>\n");
}

/* Counts the applications that the ResourceManager has:
 * yarn.resourcemanager.max-completed-applications limits the ended ones. */
static void put_applications(struct sv_html *h, const struct rm *rm,
                             const struct rm_queue_info *root)
{
    size_t running = 0, waiting = 0, walked = 0;
    char text[SV_HTML_WORD];
    const struct rm_app *app;

    DL_FOREACH (rm->app_list, app) {
        if (++walked > 5 * RM_PAGE_WALK)
            break;
        if (rm_app_is_final(app))
            continue;
        if (app->state == RM_APP_ST_RUNNING || app->state == RM_APP_ST_FINISHING)
            running++;
        else
            waiting++;
    }
    sv_html(h,
            "<li><b>%llu running</b> <span>applications, %llu waiting</span></li>\n"
            "<li><b>%d</b> <span>containers</span></li>\n",
            (unsigned long long)running, (unsigned long long)waiting, root->containers);
    sv_html(h, "<li><b>%s</b> <span>asked for and waiting, %lld vcores</span></li>\n",
            sv_html_mb(root->pending.mem, text), (long long)root->pending.vcores);
}

static void put_summary(struct sv_html *h, const struct rm *rm)
{
    struct rm_queue_info root;

    if (rm_sched_queue(rm->sched, "root", &root) < 0)
        return;
    sv_html(h, "<ul class=\"tiles\">\n");
    put_nodes(h, rm);
    put_memory(h, &root);
    put_applications(h, rm, &root);
    sv_html(h, "</ul>\n");
}

/* ---- Queues ---- */

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

static int put_queue(const struct rm_queue_info *q, void *userdata)
{
    static const char *const states[] = { "", "STOPPED", "RUNNING", "DRAINING" };
    struct queues *l = userdata;

    if (++l->n > QUEUES_MAX)
        return -E2BIG;
    sv_html(l->h, "<tr><td class=\"depth%d\">", depth_of(q->path));
    if (q->leaf) {
        const char *query[] = { "queue", q->path, NULL };

        sv_html(l->h, "<a");
        sv_html_href(l->h, RM_PAGE_APPS, query);
        sv_html(l->h, ">%s</a>", q->path);
    } else
        sv_html(l->h, "%s", q->path);
    sv_html(l->h, "</td><td class=\"x\">");
    sv_html_state(l->h, states[q->state]);
    sv_html(l->h, "</td><td>");
    sv_html_bar(l->h, (struct sv_html_bar){ .used = q->abs_used_capacity,
                                            .mark = q->abs_capacity,
                                            .most = q->abs_max_capacity,
                                            .full = 1 });
    sv_html(l->h, "used %.1f %%, guaranteed %.1f %%, maximum %.1f %%</td>",
            q->abs_used_capacity * 100, q->abs_capacity * 100, q->abs_max_capacity * 100);
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

static void put_queues(struct sv_html *h, const struct rm *rm, bool details)
{
    static const char *const few[] = { "Queue",    "-State",   "Of the cluster",
                                       "#Running", "#Waiting", NULL };
    static const char *const all[] = { "Queue",      "-State",      "Of the cluster",
                                       "#Running",   "#Waiting",    "#Used memory, vcores",
                                       "-Asked for", "#Containers", "-User limit",
                                       NULL };
    struct queues l = { .h = h, .details = details };

    sv_html_table(h, details ? all : few);
    if (rm_sched_each_queue(rm->sched, put_queue, &l) < 0)
        sv_html(h, "<tr><td>… and more</td></tr>\n");
    sv_html_table_end(h);
}

/* ---- Pages ---- */

int rm_page_cluster(const struct rm_viewer *who, const struct sv_http_request *req,
                    struct sv_http_response *ret)
{
    char text[SV_HTML_WORD];
    struct sv_html h;

    rm_page_begin(&h, req, "Cluster", RM_PAGE_CLUSTER);
    put_summary(&h, who->rm);
    sv_html(&h, "<h2>Queues</h2>\n");
    put_queues(&h, who->rm, false);
    sv_html(&h, "<h2>Newest applications</h2>\n");
    rm_page_newest_apps(&h, who, NEWEST);
    sv_html(&h, "<p class=\"dim\">ResourceManager started %s UTC",
            sv_html_time(who->rm->started_ms, text));
    sv_html(&h, ", %s ago.</p>\n", sv_html_span(sv_wall_ms() - who->rm->started_ms, text));
    return sv_html_end(&h, 200, ret);
}

int rm_page_queues(const struct rm_viewer *who, const struct sv_http_request *req,
                   struct sv_http_response *ret)
{
    struct sv_html h;

    rm_page_begin(&h, req, "Queues", RM_PAGE_QUEUES);
    put_queues(&h, who->rm, true);
    sv_html(&h,
            "<p class=\"dim\">The bar is the whole cluster: its filled part is used, the mark is "
            "what the queue is guaranteed, and the thick part ends at its maximum.</p>\n");
    return sv_html_end(&h, 200, ret);
}
