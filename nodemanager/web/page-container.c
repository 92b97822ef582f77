/* See page-container.h. Hostile: its diagnostics, which have the end of its error log. */
#include "nodemanager/web/page-container.h"

#include <stdio.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/exit-meaning.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/services/finished-containers.h"
#include "nodemanager/web/live.h"
#include "wire/exit-status.h"

/* ---- Use ---- */

static void put_memory(struct sv_html *h, const struct nm_figures *f)
{
    double limit = (double)f->memory_mb * 1048576;
    char a[SV_HTML_WORD], b[SV_HTML_WORD], c[SV_HTML_WORD];

    sv_html(h, "<tr><th>Memory</th><td>");
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)f->memory_bytes,
                                         .mark = f->peak_bytes ? (double)f->peak_bytes : -1,
                                         .most = -1,
                                         .full = limit });
    if (f->memory_bytes || f->peak_bytes)
        sv_html(h, "%s now, %s at most", sv_html_bytes(f->memory_bytes, a),
                f->peak_bytes ? sv_html_bytes(f->peak_bytes, b) : "–");
    else
        sv_html(h, "not measured");
    sv_html(h, "</td><td class=\"t\">%s</td></tr>\n", sv_html_mb(f->memory_mb, c));
    if (f->usage.max || f->usage.oom_kills)
        sv_html(h,
                "<tr><th></th><td>met its limit %llu times; processes killed for memory: %llu</td>"
                "<td></td></tr>\n",
                (unsigned long long)f->usage.max, (unsigned long long)f->usage.oom_kills);
}

static void put_cpu(struct sv_html *h, const struct nm_figures *f, int64_t ran_ms)
{
    char a[SV_HTML_WORD], b[SV_HTML_WORD];
    double average = ran_ms > 0 ? (double)f->cpu_usec / 1000 / (double)ran_ms : 0;

    sv_html(h, "<tr><th>CPU</th><td>");
    sv_html_bar(h,
                (struct sv_html_bar){
                    .used = (double)f->cpu_cores, .mark = average, .most = -1, .full = f->vcores });
    sv_html(h, "%.2f cores now, %.2f on average, %s in all", (double)f->cpu_cores, average,
            sv_html_span((int64_t)(f->cpu_usec / 1000), a));
    if (f->usage.throttled_usec)
        sv_html(h, ", held back for %s",
                sv_html_span((int64_t)(f->usage.throttled_usec / 1000), b));
    sv_html(h, "</td><td class=\"t\">%d vcores</td></tr>\n", f->vcores);
}

static void put_use(struct sv_html *h, const struct nm_figures *f)
{
    static const char *const heads[] = { "", "Use", "Limit or share", NULL };
    int64_t ran_ms = f->launch_ms ? (f->finish_ms ? f->finish_ms : sv_wall_ms()) - f->launch_ms : 0;
    char a[SV_HTML_WORD], b[SV_HTML_WORD];

    sv_html(h, "<h2>Use over its life</h2>\n");
    sv_html_table(h, heads);
    put_memory(h, f);
    put_cpu(h, f, ran_ms);
    sv_html(h,
            "<tr><th>Processes</th><td>%llu now, %llu at most, %llu refused</td><td></td></tr>\n"
            "<tr><th>Disks</th><td>%s read, %s written</td><td></td></tr>\n",
            (unsigned long long)f->pids, (unsigned long long)f->usage.pids_peak,
            (unsigned long long)f->usage.pids_refused, sv_html_bytes(f->usage.io_read_bytes, a),
            sv_html_bytes(f->usage.io_write_bytes, b));
    if (!f->finish_ms)
        sv_html(h,
                "<tr><th>Waits</th><td>some of it, in the last 10 s: CPU %.1f %%, memory %.1f %%, "
                "disks %.1f %%</td><td></td></tr>\n",
                f->usage.cpu_stall.some_avg10 / 100.0, f->usage.memory_stall.some_avg10 / 100.0,
                f->usage.io_stall.some_avg10 / 100.0);
    sv_html_table_end(h);
}

/* ---- Its end ---- */

static void put_exit(struct sv_html *h, const struct nm_figures *f)
{
    const char *meaning = sv_exit_meaning(f->exit_code, NULL);
    char a[SV_HTML_WORD], b[SV_HTML_WORD];

    sv_html(h, "<tr><th>Exit code</th><td>%d", f->exit_code);
    if (f->exit_code == 0)
        sv_html(h, ": success");
    else if (meaning)
        sv_html(h, ": %s", meaning);
    else
        sv_html(h, ": the program's own");
    if (f->usage.oom_kills || f->exit_code == YARN_EXIT_KILLED_EXCEEDED_PMEM)
        sv_html(h, ". Its memory reached %s of %s%s", sv_html_bytes(f->peak_bytes, a),
                sv_html_mb(f->memory_mb, b),
                f->usage.oom_kills ? ", and the kernel killed in this container alone" : "");
    sv_html(h, "</td></tr>\n");
}

static void put_times(struct sv_html *h, const struct nm_figures *f)
{
    char text[SV_HTML_WORD];

    sv_html_fact(h, "Requested", sv_html_time(f->start_ms, text));
    if (f->launch_ms) {
        sv_html_fact(h, "Files fetched in", sv_html_span(f->localize_ms, text));
        sv_html_fact(h, "Launched", sv_html_time(f->launch_ms, text));
    }
    if (f->finish_ms)
        sv_html_fact(h, "Ended", sv_html_time(f->finish_ms, text));
    if (f->launch_ms)
        sv_html_fact(
            h, f->finish_ms ? "Ran" : "Runs",
            sv_html_span((f->finish_ms ? f->finish_ms : sv_wall_ms()) - f->launch_ms, text));
}

static int put_page(const struct nm_context *ctx, const struct nm_figures *f, const char *state,
                    const char *command, const char *diagnostics, bool ended,
                    const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct yarn_container_id id;
    char path[512], app[YARN_ID_TEXT_MAX];
    struct sv_html h;

    if (ended)
        nm_page_begin(&h, req, f->text, NM_PAGE_CONTAINERS, 0);
    else
        nm_page_begin_live(&h, req, f->text, NM_PAGE_CONTAINERS);
    sv_html(&h, "<div class=\"wide\"><table class=\"facts\"><tbody>\n");
    if (yarn_container_id_parse(f->text, &id) >= 0) {
        sv_html(&h, "<tr><th>Application</th><td>");
        sv_html_link_below(&h, "/node/application/", yarn_app_id_text(id.attempt.app, app));
        sv_html(&h, "</td></tr>\n");
    }
    sv_html(&h, "<tr><th>State</th><td>");
    sv_html_state(&h, state);
    sv_html(&h, "</td></tr>\n<tr><th>User</th><td>%.100s</td></tr>\n", f->user);
    if (command && *command)
        sv_html_fact(&h, "Command", command);
    if (ended)
        put_exit(&h, f);
    put_times(&h, f);
    sv_html_table_end(&h);
    (void)snprintf(path, sizeof(path), "/node/containerlogs/%s/%.100s", f->text, f->user);
    sv_html(&h, "<p class=\"links\">");
    sv_html_link(&h, path, "Logs");
    sv_html(&h, "</p>\n");
    if (diagnostics && *diagnostics)
        sv_html(&h, "<h2>Diagnostics</h2>\n<pre>%.20000s</pre>\n", diagnostics);
    if (!ended) {
        (void)snprintf(path, sizeof(path), "/node/container/%s" NM_LIVE_CONTAINER, f->text);
        sv_html_live(&h, path);
    }
    put_use(&h, f);
    if (!(cg_root_controllers(ctx->cgroups) & CG_MEMORY))
        sv_html(&h, "<p class=\"bad\">This node's kernel does not enforce memory limits.</p>\n");
    return sv_html_end(&h, 200, ret);
}

int nm_page_container(const struct nm_web *w, const char *id, const struct sv_http_request *req,
                      struct sv_http_response *ret)
{
    const struct nm_container *c = nm_container_find(w->ctx, id);
    const struct nm_figures *ended = c ? NULL : nm_finished_find(w->finished, id);
    struct nm_figures f;

    if (ended)
        return put_page(w->ctx, ended, "DONE", NULL, NULL, true, req, ret);
    if (!c)
        return nm_page_refuse(req, 404, ret,
                              "This node has no container %.100s (any more): it remembers the last "
                              "%d that ended.",
                              id, NM_FINISHED_MAX);
    nm_figures_of(c, &f);
    return put_page(w->ctx, &f, nm_container_state_name(c->state), c->command, c->diagnostics,
                    nm_container_is_done(c) || c->finish_ms > 0, req, ret);
}
