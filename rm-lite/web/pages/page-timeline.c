/* See page-timeline.h. Hostile: diagnostics, which jobs write in part. */
#include "rm-lite/web/pages/page-timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/exit-meaning.h"
#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/web/pages/page-links.h"

#define WIDTH 1000.0 /* of a line, in its own units */
#define LEAST 2.0    /* of a phase that is there */

/* ---- Which ---- */

static int by_start(const void *a, const void *b)
{
    const struct rm_container *x = *(const struct rm_container *const *)a;
    const struct rm_container *y = *(const struct rm_container *const *)b;

    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return x->id.id < y->id.id ? -1 : x->id.id > y->id.id;
}

/* The newest of a list, which is in order of starts or of ends. */
static size_t newest(const struct rm_container *list, size_t most, const struct rm_container **ret)
{
    const struct rm_container *c = list ? list->p_prev : NULL;
    size_t n = 0;

    for (; c && n < most; c = c == list ? NULL : c->p_prev)
        ret[n++] = c;
    return n;
}

/* Half of them may be running ones, or more where fewer have ended. */
static size_t choose(const struct rm_app *app, const struct rm_container **ret)
{
    size_t ended = SV_MIN((size_t)app->n_ended, (size_t)RM_TIMELINE_ROWS / 2);
    size_t n = newest(app->containers, RM_TIMELINE_ROWS - ended, ret);

    n += newest(app->ended, RM_TIMELINE_ROWS - n, ret + n);
    qsort(ret, n, sizeof(*ret), by_start);
    return n;
}

/* ---- Lines ---- */

struct scale {
    int64_t from_ms, to_ms;
};

static double x_of(const struct scale *s, int64_t ms)
{
    double x = WIDTH * (double)(ms - s->from_ms) / (double)SV_MAX(s->to_ms - s->from_ms, 1);

    return SV_MAX(SV_MIN(x, WIDTH), 0.0);
}

static void put_phase(struct sv_html *h, const struct scale *s, const char *class, int64_t from,
                      int64_t to)
{
    double x = x_of(s, from), w = x_of(s, to) - x;

    if (to > from)
        sv_html(h, "<rect class=\"%s\" x=\"%.1f\" y=\"2\" width=\"%.1f\" height=\"6\"/>", class,
                SV_MIN(x, WIDTH - LEAST), SV_MAX(w, LEAST));
}

/* An end by which nobody meant to end it. */
static bool is_bad(const struct rm_container *c)
{
    switch (sv_exit_end(c->exit_status, c->diagnostics)) {
    case SV_END_SUCCESS:
    case SV_END_MASTER:
    case SV_END_APPLICATION:
        return false;
    case SV_END_SIGNAL: /* with its application, as a rule */
        return c->app->finish_ms == 0 || c->finish_ms < c->app->finish_ms - 5000;
    default:
        return true;
    }
}

static void put_line(struct sv_html *h, const struct scale *s, const struct rm_container *c)
{
    int64_t end = c->finish_ms ? c->finish_ms : s->to_ms;
    int64_t started = c->started_ms ? c->started_ms : end;
    int64_t running = c->running_ms ? c->running_ms : end;

    if (!c->started_ms && !c->acquired_ms) /* from before a restart: it runs */
        started = running = c->created_ms;
    sv_html(h, "<svg class=\"lives\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
               "aria-hidden=\"true\">");
    put_phase(h, s, "waits", c->created_ms, started);
    put_phase(h, s, "localizes", started, running);
    put_phase(h, s, "runs", running, end);
    if (c->finish_ms)
        sv_html(h, "<rect class=\"ends%s\" x=\"%.1f\" y=\"0\" width=\"4\" height=\"10\"/>",
                is_bad(c) ? " badly" : "", SV_MIN(x_of(s, end), WIDTH - 4));
    sv_html(h, "</svg>");
}

static const char *phase_of(const struct rm_container *c)
{
    if (c->running_ms || (!c->started_ms && !c->acquired_ms && c->state == RM_CON_ST_RUNNING))
        return "running";
    return c->started_ms ? "localizing" : "waiting";
}

static void put_end(struct sv_html *h, const struct rm_container *c)
{
    const char *meaning = sv_exit_meaning(c->exit_status, c->diagnostics);

    if (!c->finish_ms)
        sv_html(h, "%s", phase_of(c));
    else if (c->exit_status == 0)
        sv_html(h, "<span class=\"good\">succeeded</span>");
    else
        sv_html(h, "<span class=\"%s\">%d%s%s</span>", is_bad(c) ? "bad" : "dim", c->exit_status,
                meaning ? ": " : "", meaning ? meaning : "");
}

static void put_row(struct sv_html *h, const struct scale *s, const struct rm_container *c)
{
    int64_t end = c->finish_ms ? c->finish_ms : s->to_ms;
    char text[SV_HTML_WORD], node[300], path[YARN_ID_TEXT_MAX + 24];
    const char *number = strstr(c->id_str, c->app->id_str + strlen("application"));

    (void)snprintf(path, sizeof(path), "/cluster/container/%s", c->id_str);
    sv_html(h, "<tr><td class=\"t\">");
    sv_html_link(h, path,
                 number ? number + strlen(c->app->id_str) - strlen("application") + 1 : c->id_str);
    sv_html(h, "</td><td class=\"any x addr\">");
    rm_page_put_node(h, c->app->rm, c->node_http, yarn_node_id_text(&c->node_id, node));
    sv_html(h, "</td><td>");
    put_line(h, s, c);
    sv_html(h, "</td><td>");
    put_end(h, c);
    sv_html(h, "</td><td class=\"n x t\">%s</td>", sv_html_span(end - c->created_ms, text));
    sv_html(h, "<td class=\"n x t\">%s</td>",
            c->use.peak_bytes ? sv_html_bytes((uint64_t)c->use.peak_bytes, text) : "");
    sv_html(h, "<td class=\"n x\">");
    if (c->use.told && !c->finish_ms)
        sv_html(h, "%.2f", (double)c->use.cores);
    sv_html(h, "</td><td>");
    rm_page_put_logs(h, c->app->rm, c->node_http, c->id_str, c->app->user);
    sv_html(h, "</td></tr>\n");
}

static void put_key(struct sv_html *h)
{
    static const char *const phases[][2] = { { "waits", "waits for its master and its node" },
                                             { "localizes", "localizes, or is queued" },
                                             { "runs", "runs" },
                                             { "ends", "ends" },
                                             { "ends badly", "fails" } };

    sv_html(h, "<ul class=\"key\">");
    for (size_t i = 0; i < SV_ARRAY_LEN(phases); i++)
        sv_html(h,
                "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"%s\" "
                "width=\"10\" height=\"10\"/></svg>%s</li>",
                phases[i][0], phases[i][1]);
    sv_html(h, "</ul>\n");
}

void rm_page_put_timeline(struct sv_html *h, const struct rm_app *app)
{
    static const char *const heads[] = { "Container",    "-Node",   "Its life",
                                         "State or end", "-#Lasts", "-#Peak memory",
                                         "-#Cores",      "",        NULL };
    const struct rm_container *shown[RM_TIMELINE_ROWS];
    size_t n = choose(app, shown);
    struct scale s;
    char text[SV_HTML_WORD];

    if (n == 0)
        return;
    s.from_ms = shown[0]->created_ms;
    s.to_ms = app->finish_ms ? app->finish_ms : sv_wall_ms();
    sv_html(h, "<h2>Timeline of its containers</h2>\n");
    put_key(h);
    sv_html(h, "<p class=\"dim\">%llu of %d containers, over %s", (unsigned long long)n,
            app->total_containers, sv_html_span(s.to_ms - s.from_ms, text));
    sv_html(h, " from %s UTC on.</p>\n", sv_html_time(s.from_ms, text));
    sv_html_table(h, heads);
    for (size_t i = 0; i < n; i++)
        put_row(h, &s, shown[i]);
    sv_html_table_end(h);
}

/* ---- Failures ---- */

const char *rm_page_last_lines(const char *diagnostics, int n)
{
    const char *from = diagnostics, *mark = diagnostics, *end;

    /* "Last 4096 bytes of stderr :", as a NodeManager heads each file */
    while ((mark = strstr(mark, "Last ")) != NULL) {
        const char *line = mark + strcspn(mark, "\n");

        if (line - mark > 16 && line[-1] == ':' && *line)
            from = line + 1;
        mark += strlen("Last ");
    }
    end = from + strlen(from);
    while (end > from && end[-1] == '\n')
        end--;
    for (; end > from; end--)
        if (end[-1] == '\n' && --n == 0)
            return end;
    return from;
}

void rm_page_put_failures(struct sv_html *h, const struct rm_app *app)
{
    const struct rm_container *c = app->ended ? app->ended->p_prev : NULL;
    int shown = 0;

    for (; c && shown < RM_FAILURES_SHOWN; c = c == app->ended ? NULL : c->p_prev) {
        char node[300];

        if (!is_bad(c))
            continue;
        if (shown++ == 0)
            sv_html(h, "<h2>What failed</h2>\n");
        sv_html(h, "<p>");
        sv_html_link_below(h, "/cluster/container/", c->id_str);
        sv_html(h, " on ");
        rm_page_put_node(h, c->app->rm, c->node_http, yarn_node_id_text(&c->node_id, node));
        sv_html(h, ": ");
        put_end(h, c);
        sv_html(h, " ");
        rm_page_put_logs(h, c->app->rm, c->node_http, c->id_str, app->user);
        sv_html(h, "</p>\n");
        if (c->diagnostics && *c->diagnostics)
            sv_html(h, "<pre>%.4000s</pre>\n",
                    rm_page_last_lines(c->diagnostics, RM_FAILURE_LINES));
    }
}
