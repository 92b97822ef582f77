/* See page-nodes.h. Hostile: the query, and the texts that nodes report. */
#include "rm-lite/web/pages/page-nodes.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/str.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/pages/live.h"

#define ROWS 200

static const char *const states[] = { "RUNNING", "UNHEALTHY", "DECOMMISSIONING", "DECOMMISSIONED",
                                      "LOST",    "REBOOTED",  "SHUTDOWN",        "NEW" };

/* Nodes report any number: NaN and negative ones count as 0. */
static double cores_of(float reported)
{
    return isfinite(reported) ? SV_MAX((double)reported, 0.0) : 0;
}

/* Usage of the machine, and of its containers, as bars relative to the node's size. */
static void put_load(struct sv_html *h, const struct rm_node *n, const struct rm_res *total)
{
    double cores = cores_of(n->node_cpu), own = cores_of(n->used_cpu);
    int32_t mb = SV_MAX(n->node_pmem, 0), own_mb = SV_MAX(n->used_pmem, 0);
    char text[SV_HTML_WORD];

    if (mb == 0 && own_mb == 0)
        return;
    sv_html_bar(h, (struct sv_html_bar){ .used = cores,
                                         .mark = own > 0 ? own : -1,
                                         .most = -1,
                                         .full = (double)total->vcores });
    sv_html(h, "%.1f cores, containers %.1f", cores, own);
    sv_html_bar(h, (struct sv_html_bar){ .used = mb,
                                         .mark = own_mb > 0 ? own_mb : -1,
                                         .most = -1,
                                         .full = (double)total->mem });
    sv_html(h, "%s", sv_html_mb(mb, text));
    if (own_mb > 0) /* else it has none, or no controller that counts their memory */
        sv_html(h, ", containers %s", sv_html_mb(own_mb, text));
}

/* State, health report of the node, and its time. */
static void put_health(struct sv_html *h, const struct rm_node *n)
{
    int64_t now = sv_wall_ms();
    char text[SV_HTML_WORD];

    sv_html_state(h, rm_node_fsm.state_names[n->state]);
    if (n->health && *n->health)
        sv_html(h, "<br>%.500s", n->health);
    if (n->health_ms > 0 && n->health_ms <= now)
        sv_html(h, "<br><span class=\"dim\">checked %s ago</span>",
                sv_html_span(now - n->health_ms, text));
    else if (n->health_ms > now) /* clocks differ */
        sv_html(h, "<br><span class=\"dim\">checked %s UTC</span>",
                sv_html_time(n->health_ms, text));
}

/* Why nothing new is placed on it, and until when. */
static void put_drain(struct sv_html *h, const struct rm_node *n, int containers)
{
    int64_t left = n->decommission_deadline_ms - sv_now_ms();
    char text[SV_HTML_WORD];

    if (n->state == RM_NODE_ST_DECOMMISSIONED)
        sv_html(h, "<br>the lists of hosts no longer allow it");
    if (n->state != RM_NODE_ST_DECOMMISSIONING)
        return;
    sv_html(h,
            "<br>the lists of hosts no longer allow it: it leaves when %d containers and %d "
            "applications have ended",
            containers, (int)HASH_COUNT(n->apps));
    if (n->decommission_deadline_ms)
        sv_html(h, ", at the latest in %s", sv_html_span(left, text));
}

/* The resources of its containers. */
static void put_granted(struct sv_html *h, const struct rm_node_usage *use)
{
    char used[SV_HTML_WORD], total[SV_HTML_WORD];

    sv_html_bar(h, (struct sv_html_bar){ .used = (double)use->used.mem,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)use->total.mem });
    sv_html(h, "%s of %s", sv_html_mb(use->used.mem, used), sv_html_mb(use->total.mem, total));
    sv_html_bar(h, (struct sv_html_bar){ .used = (double)use->used.vcores,
                                         .mark = -1,
                                         .most = -1,
                                         .full = (double)use->total.vcores });
    sv_html(h, "%lld of %lld vcores", (long long)use->used.vcores, (long long)use->total.vcores);
}

static void put_name(struct sv_html *h, const struct rm_node *n)
{
    if (n->http && *n->http && *n->http != ':' && rm_node_is_active(n)) {
        sv_html(h, "<a");
        sv_html_href_out(h, n->rm->conf.web_server.https, n->http, "node");
        sv_html(h, ">%.300s</a>", n->key);
    } else
        sv_html(h, "%.300s", n->key);
}

static void put_row(struct sv_html *h, const struct rm_node *n)
{
    struct rm_node_usage use = { .total = n->total };
    char text[SV_HTML_WORD];

    (void)rm_sched_node_usage(n->rm->sched, &n->id, &use); /* not scheduled: unused, ignoring */
    sv_html(h, "<tr><td class=\"any\">");
    put_name(h, n);
    sv_html(h, "</td><td class=\"x any\">%.300s", n->rack);
    if (n->labels && *n->labels)
        sv_html(h, "<br><span class=\"dim\">label %.300s</span>", n->labels);
    sv_html(h, "</td><td class=\"any\">");
    put_health(h, n);
    put_drain(h, n, use.containers);
    sv_html(h, "</td><td class=\"n x\">%d</td><td>", use.containers);
    put_granted(h, &use);
    sv_html(h, "</td><td class=\"x\">");
    put_load(h, n, &use.total);
    sv_html(h, "</td><td class=\"x t\">");
    if (rm_node_is_active(n) || n->state == RM_NODE_ST_UNHEALTHY)
        sv_html(h, "%s ago", sv_html_span(sv_now_ms() - n->seen_ms, text));
    sv_html(h, "</td><td class=\"x t\">%s</td><td class=\"x any\">",
            n->joined_ms ? sv_html_span(sv_wall_ms() - n->joined_ms, text) : "");
    if (n->selvedge && *n->selvedge)
        sv_html(h, "Selvedge %.50s<br>", n->selvedge);
    sv_html(h, "<span class=\"dim\">Hadoop %.100s</span></td></tr>\n", n->version);
}

/* ---- The page ---- */

struct wanted {
    const char *state, *host, *after; /* or NULL, "" */
};

static bool takes(const struct wanted *w, const struct rm_node *n)
{
    return (!w->state || !*w->state ||
            strcasecmp(w->state, rm_node_fsm.state_names[n->state]) == 0) &&
           (!w->host || !*w->host || strcasestr(n->key, w->host));
}

/* The first node of the page; *ret_second: it is one of the inactive ones. */
static const struct rm_node *start_of(const struct rm *rm, const char *after, bool *ret_second)
{
    const struct rm_node *n;

    *ret_second = false;
    if (!after || !*after)
        return rm->nodes;
    n = rm_node_find_key(rm, after);
    if (n)
        return n->hh.next;
    n = rm_node_find_inactive(rm, after);
    *ret_second = n != NULL;
    return n ? n->hh.next : rm->nodes;
}

/* Returns the last node scanned, or NULL if no other follows. */
static const struct rm_node *put_rows(struct sv_html *h, const struct rm *rm,
                                      const struct wanted *w, size_t limit)
{
    bool second;
    const struct rm_node *n = start_of(rm, w->after, &second), *last = NULL;
    size_t shown = 0, walked = 0;

    while (shown < limit && walked < RM_PAGE_WALK) {
        if (!n && second)
            return NULL;
        if (!n) {
            second = true;
            n = rm->inactive_nodes;
            continue;
        }
        if (takes(w, n)) {
            put_row(h, n);
            shown++;
        }
        walked++;
        last = n;
        n = n->hh.next;
    }
    return n || (!second && rm->inactive_nodes) ? last : NULL;
}

static void put_form(struct sv_html *h, const struct wanted *w)
{
    sv_html(h, "<form method=\"get\" action=\"" RM_PAGE_NODES "\">");
    rm_page_keep_user(h);
    sv_html(h, "<label>State<select name=\"state\"><option value=\"\">any</option>");
    rm_page_options(h, states, SV_ARRAY_LEN(states), w->state);
    sv_html(h,
            "</select></label>\n<label>Address has<input name=\"host\" size=\"16\" "
            "value=\"%s\"></label>\n<button>Filter</button></form>\n",
            w->host);
}

int rm_page_nodes(const struct rm_viewer *who, const struct sv_http_request *req, const char *state,
                  struct sv_http_response *ret)
{
    static const char *const heads[] = {
        "Node",  "-Rack, label", "Health", "-#Containers", "Granted",
        "-Load", "-Heard from",  "-Age",   "-Version",     NULL
    };
    const struct wanted w = { .state = *state ? state : sv_http_query(req, "state"),
                              .host = sv_http_query(req, "host"),
                              .after = sv_http_query(req, "after") };
    const struct rm_node *last;
    struct sv_html h;

    rm_page_begin(&h, req, "Nodes", RM_PAGE_NODES);
    put_form(&h, &w);
    sv_html_follow(&h, RM_LIVE_NODES);
    sv_html_part(&h, "nodes");
    sv_html_table(&h, heads);
    last = put_rows(&h, who->rm, &w, rm_page_limit(req, ROWS));
    sv_html_table_end(&h);
    if (last) {
        const char *query[] = { "state", w.state,   "host",
                                w.host,  "limit",   sv_http_query(req, "limit"),
                                "after", last->key, NULL };

        sv_html(&h, "<p><a rel=\"next\"");
        sv_html_href(&h, RM_PAGE_NODES, query);
        sv_html(&h, ">More nodes</a></p>\n");
    }
    sv_html_part_end(&h);
    return sv_html_end(&h, 200, ret);
}
