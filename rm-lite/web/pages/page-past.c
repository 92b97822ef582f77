/* See page-past.h. Hostile: the id of the path, and every text of the row. */
#include "rm-lite/web/pages/page-past.h"

#include <errno.h>
#include <stdio.h>

#include "common/arena.h"
#include "rm-lite/requests/past-apps.h"
#include "rm-lite/web/rest/web-json.h"

static void put_facts(struct sv_html *h, const struct rm_past_app *past)
{
    sv_html(h, "<tr><th>Name</th><td>%.2000s</td></tr>\n", past->name);
    sv_html(h, "<tr><th>User</th><td>%.300s</td></tr>\n", past->user);
    sv_html(h, "<tr><th>Queue</th><td>%.1000s</td></tr>\n", past->queue);
    sv_html(h, "<tr><th>Type</th><td>%.300s</td></tr>\n", past->type);
    sv_html(h, "<tr><th>State</th><td>");
    sv_html_state(h, rm_past_state_name(past));
    sv_html(h, " ");
    sv_html_state(h, rm_json_final(past->final_status));
    sv_html(h, "</td></tr>\n");
}

static void put_details(struct sv_html *h, const struct rm_past_app *past)
{
    char text[SV_HTML_WORD];

    sv_html_fact(h, "Submitted", sv_html_time(past->start_ms, text));
    sv_html_fact(h, "Launched", sv_html_time(past->launch_ms, text));
    sv_html_fact(h, "Ended", sv_html_time(past->finish_ms, text));
    sv_html_fact(h, "Lasted", sv_html_span(past->finish_ms - past->start_ms, text));
    sv_html(h, "<tr><th>Used in all</th><td>%lld MB·s, %lld vcore·s",
            (long long)past->used[0].used_ms / 1000, (long long)past->used[1].used_ms / 1000);
    for (int i = 2; i < past->n_used; i++)
        sv_html(h, ", %lld %.100s·s", (long long)past->used[i].used_ms / 1000, past->used[i].type);
    sv_html(h, "</td></tr>\n<tr><th>Attempts</th><td>%d</td></tr>\n", past->attempts);
}

static int put_page(const struct rm_viewer *who, const struct sv_http_request *req,
                    const struct rm_past_app *past, struct sv_http_response *ret)
{
    bool sees = rm_viewer_sees_past(who, past);
    char id[YARN_ID_TEXT_MAX];
    struct sv_html h;

    rm_page_begin(&h, req, yarn_app_id_text(past->id, id), RM_PAGE_APPS);
    sv_html(&h, "<div class=\"wide\"><table class=\"facts\"><tbody>\n");
    put_facts(&h, past);
    if (sees)
        put_details(&h, past);
    sv_html_table_end(&h);
    sv_html(&h, sees ? "<p class=\"dim\">It ended long ago: its attempts and containers are no "
                       "longer known.</p>\n"
                     : "<p class=\"dim\">The rest is for its owner, its VIEW_APP list and "
                       "administrators.</p>\n");
    if (sees && *past->diagnostics)
        sv_html(&h, "<h2>Diagnostics</h2>\n<pre>%.2000s</pre>\n", past->diagnostics);
    return sv_html_end(&h, 200, ret);
}

int rm_page_past(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                 struct sv_http_response *ret)
{
    struct sv_arena *a = sv_arena_new(0);
    struct rm_past_app past;
    struct yarn_app_id app;
    int r;

    if (!a)
        return -ENOMEM;
    if (yarn_app_id_parse(id, &app) >= 0 && rm_store_history_find(who->rm, app, a, &past) >= 0)
        r = put_page(who, req, &past, ret);
    else
        r = rm_page_refuse(req, 404, ret,
                           "The ResourceManager does not know the application %.100s: it may "
                           "have ended long ago.",
                           id);
    sv_arena_free(a);
    return r;
}
