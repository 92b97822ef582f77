/* See page-node.h. */
#include "nodemanager/web/page-node.h"

#include <stdio.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/version.h"
#include "localizer/cache.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/logs/log-failures.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/web/live.h"
#include "nodemanager/web/node-facts.h"

/* ---- Use ---- */

struct given {
    int64_t memory_mb, vcores;
    int containers;
};

static struct given given_of(const struct nm_context *ctx)
{
    struct given g = { 0 };

    for (const struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        if (nm_container_is_done(c))
            continue;
        g.memory_mb += c->resource.memory_mb;
        g.vcores += c->resource.vcores;
        g.containers++;
    }
    return g;
}

static void put_tiles(struct sv_html *h, const struct nm_context *ctx, const struct cg_usage *use)
{
    const struct given g = given_of(ctx);
    char a[SV_HTML_WORD], b[SV_HTML_WORD];

    sv_html(h,
            "<ul class=\"tiles\">\n<li><b data-live=\"" NM_LIVE_CONTAINERS
            "\">%d</b> <span>containers</span></li>\n"
            "<li><b>%s of %s</b>",
            g.containers, sv_html_mb(g.memory_mb, a), sv_html_mb(ctx->total.memory_mb, b));
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)g.memory_mb,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)ctx->total.memory_mb });
    sv_html(h, " <span>memory given to containers</span></li>\n<li><b>%lld of %d</b>",
            (long long)g.vcores, ctx->total.vcores);
    sv_html_bar(h,
                (struct sv_html_bar){
                    .used = (double)g.vcores, .mark = -1, .most = -1, .full = ctx->total.vcores });
    sv_html(h, " <span>vcores given</span></li>\n");
    if (use && use->memory_current > 0) {
        sv_html(h, "<li><b>%s</b>", sv_html_bytes(use->memory_current, a));
        sv_html_bar(h, (struct sv_html_bar){ .used = (double)(use->memory_current >> 20),
                                             .mark = (double)g.memory_mb,
                                             .most = -1,
                                             .full = (double)ctx->total.memory_mb });
        sv_html(h, " <span>memory they use</span></li>\n");
    }
    sv_html(h, "</ul>\n");
}

static void put_stall(struct sv_html *h, const char *name, const struct cg_stall *s)
{
    sv_html(h, "<tr><th>%s</th><td class=\"n\">%.2f %%</td><td class=\"n\">%.2f %%</td><td>", name,
            s->some_avg10 / 100.0, s->full_avg10 / 100.0);
    sv_html_bar(h, (struct sv_html_bar){ .used = s->some_avg10 / 100.0,
                                         .mark = s->full_avg10 / 100.0,
                                         .most = -1,
                                         .full = 100 });
    sv_html(h, "</td></tr>\n");
}

static void put_pressure(struct sv_html *h, const struct cg_usage *use)
{
    static const char *const heads[] = { "Waiting for", "#Some", "#All", "", NULL };

    sv_html(h, "<h2>Pressure</h2>\n<p class=\"dim\">Share of the last 10 s in which some or all "
               "processes of containers waited.</p>\n");
    sv_html_table(h, heads);
    put_stall(h, "CPU", &use->cpu_stall);
    put_stall(h, "memory", &use->memory_stall);
    put_stall(h, "disks", &use->io_stall);
    sv_html_table_end(h);
}

/* ---- Facts ---- */

static void put_limits(struct sv_html *h, const struct nm_context *ctx)
{
    unsigned on = cg_root_controllers(ctx->cgroups);
    const char *why = cg_root_missing(ctx->cgroups);

    sv_html(h, "<tr><th>Limits</th><td>");
    if ((on & CG_MEMORY) && (on & CG_PIDS) && (on & CG_CPU))
        sv_html(h, "the kernel enforces memory, processes and CPU");
    else
        sv_html(h, "<span class=\"bad\">not enforced:%s%s%s</span> %.500s",
                on & CG_MEMORY ? "" : " memory", on & CG_PIDS ? "" : " processes",
                on & CG_CPU ? "" : " CPU", why);
    sv_html(h, "</td></tr>\n");
}

static void put_facts(struct sv_html *h, const struct nm_web *w)
{
    const struct nm_context *ctx = w->ctx;
    char report[NM_HEALTH_REPORT_MAX], text[512];
    bool healthy = nm_health_report(ctx->health, report);
    int64_t heard = nm_updater_last_heartbeat_ms(w->updater);
    struct loc_stats s;

    sv_html(h, "<h2>Health</h2>\n<div class=\"wide\"><table class=\"facts\"><tbody>\n"
               "<tr><th>State</th><td><span data-live=\"" NM_LIVE_STATE "\">");
    sv_html_state(h, healthy ? "RUNNING" : "UNHEALTHY");
    sv_html(h, "</span> <span data-live=\"" NM_LIVE_HEALTH "\">%.2000s</span></td></tr>\n", report);
    sv_html(h, "<tr><th>ResourceManager</th><td>%s",
            nm_updater_rm_address(w->updater, text, sizeof(text)));
    if (heard)
        sv_html(h, ", last heartbeat <span data-live=\"" NM_LIVE_HEARTBEAT "\">%s</span> ago",
                sv_html_span(sv_wall_ms() - heard, text));
    sv_html(h, "</td></tr>\n");
    put_limits(h, ctx);
    nm_page_node_facts(h, w);
    sv_html_fact(h, "Started", sv_html_time(ctx->start_ms, text));
    sv_html_fact(h, "Version", "Selvedge " SV_VERSION ", protocols of Hadoop " NM_HADOOP_VERSION);
    nm_localization_stats(w->localization, &s);
    sv_html(h, "<tr><th>Localizing</th><td>%llu downloads now</td></tr>\n",
            (unsigned long long)s.downloading);
    if (ctx->stuck_deletions)
        sv_html(h, "<tr><th>Stuck deletions</th><td class=\"bad\">%u</td></tr>\n",
                ctx->stuck_deletions);
    if (nm_aggregation_failures(w->aggregation)->all)
        sv_html(h, "<tr><th>Failed uploads of logs</th><td class=\"bad\">%u</td></tr>\n",
                HASH_COUNT(nm_aggregation_failures(w->aggregation)->all));
    sv_html_table_end(h);
}

static void put_directory(struct sv_html *h, int index, const struct nm_dir_space *s)
{
    char used[SV_HTML_WORD], all[SV_HTML_WORD], text[NM_LIVE_STATE_MAX];
    const char *class;

    (void)nm_live_directory(s, text, &class);
    sv_html(h,
            "<tr><td class=\"id\">%.1000s <span class=\"dim\">%s</span></td><td class=\"any\">"
            "<span class=\"%s\" data-live=\"" NM_LIVE_DIRECTORY "\">%s</span></td><td>",
            s->path, s->local ? "local" : "logs", class, index, text);
    if (s->all_bytes > 0) {
        sv_html_bar(h, (struct sv_html_bar){
                           .used = s->used_percent, .mark = -1, .most = -1, .full = 100 });
        sv_html(h, "%s of %s, %.0f %%", sv_html_bytes(s->used_bytes, used),
                sv_html_bytes(s->all_bytes, all), s->used_percent);
    }
    sv_html(h, "</td></tr>\n");
}

static void put_directories(struct sv_html *h, const struct nm_dirs *d, bool written)
{
    static const char *const heads[] = { "Directory", "State", "Space used", NULL };
    struct nm_dir_space s;
    char text[SV_HTML_WORD];

    sv_html(h, "<h2>Disks</h2>\n<p class=\"dim\">Checked %s ago%s.</p>\n",
            sv_html_span(sv_wall_ms() - nm_dirs_checked_ms(d), text),
            written ? ", with a file written" : "");
    sv_html_table(h, heads);
    for (int i = 0; nm_dirs_space(d, i, &s); i++)
        put_directory(h, i, &s);
    sv_html_table_end(h);
}

static void put_services(struct sv_html *h, const struct nm_aux *aux)
{
    static const char *const heads[] = { "Auxiliary service", "Ready since", "#Restarts", NULL };
    char text[SV_HTML_WORD];

    if (nm_aux_count(aux) == 0)
        return;
    sv_html(h, "<h2>Services</h2>\n");
    sv_html_table(h, heads);
    for (size_t i = 0; i < nm_aux_count(aux); i++) {
        struct nm_aux_info info;

        nm_aux_info(aux, i, &info);
        sv_html(h, "<tr><td>%s</td><td>%s</td><td class=\"n\">%d</td></tr>\n", info.name,
                info.ready_since_ms ? sv_html_time(info.ready_since_ms, text) : "not ready",
                (int)info.restarts);
    }
    sv_html_table_end(h);
}

int nm_page_node(const struct nm_web *w, const struct sv_http_request *req,
                 struct sv_http_response *ret)
{
    struct cg_usage use;
    bool known = cg_root_usage(w->ctx->cgroups, &use) >= 0;
    struct sv_html h;

    nm_page_begin_live(&h, req, w->ctx->node_id_text, NM_PAGE_NODE);
    put_tiles(&h, w->ctx, known ? &use : NULL);
    sv_html_live(&h, NM_LIVE_NODE);
    put_facts(&h, w);
    put_directories(&h, w->ctx->dirs, w->ctx->conf->disk_check_enabled);
    if (known)
        put_pressure(&h, &use);
    put_services(&h, w->aux);
    return sv_html_end(&h, 200, ret);
}
