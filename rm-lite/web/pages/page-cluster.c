/* See page-cluster.h. */
#include "rm-lite/web/pages/page-cluster.h"

#include "common/clock.h"
#include "common/str.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/pages/live.h"
#include "rm-lite/web/pages/page-apps.h"
#include "rm-lite/web/pages/page-queues.h"

#define NEWEST 20

/* ---- The cluster in one line ---- */

static void put_nodes(struct sv_html *h, const struct rm *rm)
{
    int unhealthy = rm_count_nodes(rm, RM_NODE_ST_UNHEALTHY);
    int lost = rm_count_nodes(rm, RM_NODE_ST_LOST);

    sv_html(h, "<li><b data-live=\"" RM_LIVE_NODE_COUNT "\">%d</b> <span>nodes",
            rm_active_nodes(rm));
    if (unhealthy)
        sv_html(h, ", <em class=\"bad\">%d unhealthy</em>", unhealthy);
    if (lost)
        sv_html(h, ", <em class=\"bad\">%d lost</em>", lost);
    sv_html(h, "</span></li>\n");
}

static void put_memory(struct sv_html *h, const struct rm_queue_info *root)
{
    char used[SV_HTML_WORD], all[SV_HTML_WORD];

    sv_html(h, "<li><b data-live=\"" RM_LIVE_MEMORY "\">%s of %s</b>",
            sv_html_mb(root->used.mem, used), sv_html_mb(root->effective_max.mem, all));
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)root->used.mem,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)root->effective_max.mem });
    sv_html(h,
            " <span>memory</span></li>\n<li><b data-live=\"" RM_LIVE_VCORES "\">%lld of %lld</b>",
            (long long)root->used.vcores, (long long)root->effective_max.vcores);
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)root->used.vcores,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)root->effective_max.vcores });
    sv_html(h, " <span>vcores</span></li>\n");
}

static void put_applications(struct sv_html *h, const struct rm *rm,
                             const struct rm_queue_info *root)
{
    int32_t running, waiting;
    char text[SV_HTML_WORD];

    rm_live_apps(rm, &running, &waiting);
    sv_html(h,
            "<li><b><span data-live=\"" RM_LIVE_RUNNING "\">%d</span> running</b> "
            "<span>applications, <i data-live=\"" RM_LIVE_WAITING "\">%d</i> waiting</span></li>\n"
            "<li><b data-live=\"" RM_LIVE_CONTAINERS "\">%d</b> <span>containers</span></li>\n",
            running, waiting, root->containers);
    sv_html(h,
            "<li><b data-live=\"" RM_LIVE_PENDING "\">%s</b> <span>asked for and waiting, "
            "<i data-live=\"" RM_LIVE_PENDING_VCORES "\">%lld</i> vcores</span></li>\n",
            sv_html_mb(root->pending.mem, text), (long long)root->pending.vcores);
}

static void put_summary(struct sv_html *h, const struct rm *rm)
{
    struct rm_queue_info root;

    if (rm_sched_queue(rm->sched, "root", &root) < 0)
        return;
    sv_html_part(h, "tiles");
    sv_html(h, "<ul class=\"tiles\">\n");
    put_nodes(h, rm);
    put_memory(h, &root);
    put_applications(h, rm, &root);
    sv_html(h, "</ul>\n");
    sv_html_part_end(h);
}

/* ---- Pages ---- */

int rm_page_cluster(const struct rm_viewer *who, const struct sv_http_request *req,
                    struct sv_http_response *ret)
{
    char text[SV_HTML_WORD];
    struct sv_html h;

    rm_page_begin(&h, req, "Cluster", RM_PAGE_CLUSTER);
    put_summary(&h, who->rm);
    sv_html_history(&h, RM_LIVE_QUEUE "root", RM_LIVE_HISTORY "root");
    sv_html(&h, "<h2>Queues</h2>\n");
    rm_page_put_queues(&h, who->rm, false);
    sv_html(&h, "<h2>Newest applications</h2>\n");
    rm_page_newest_apps(&h, who, NEWEST);
    sv_html(&h, "<p class=\"dim\">ResourceManager started %s UTC",
            sv_html_time(who->rm->started_ms, text));
    sv_html(&h, ", %s ago.</p>\n", sv_html_span(sv_wall_ms() - who->rm->started_ms, text));
    return sv_html_end(&h, 200, ret);
}
