/* See web-list.h. A client that waits for its selection holds its query, one that reads slowly the
 * items of its answer and one entry's text; HTTP_STREAM_MAX bytes wait for it in the server. */
#include "rm-lite/web/rest/web-list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "common/user-groups.h"
#include "common/web/http-stream.h"
#include "common/web/json-xml.h"
#include "rm-lite/core/text.h"
#include "rm-lite/requests/turn.h"
#include "rm-lite/web/rest/web-reply.h"

#define TEXT_MAX 1048576                         /* bytes of one entry */
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 20) /* of lists: services.c's of clients */

struct rm_web_list {
    struct rm *rm;
    struct rm_list list;
    struct sv_http_stream *stream;
    sd_event_source *turn;
    struct rm_list_items all; /* all objects; once selected, those of the answer */
    size_t at, kept;
    bool selecting, xml;
    bool some;    /* an entry has been written */
    bool counted; /* in rm->n_lists */
    struct sv_buf text;
    struct rm_web_list *prev, *next; /* rm->selecting */
};

bool rm_list_items_new(struct rm_list_items *items, size_t n)
{
    *items = (struct rm_list_items){ .items = calloc(n + 1, sizeof(*items->items)) };
    return items->items != NULL;
}

static void items_free(struct rm_list_items *items)
{
    for (size_t i = 0; items->items && i < items->n; i++)
        free(items->items[i].node);
    free(items->items);
    *items = (struct rm_list_items){ 0 };
}

static void wanted_free(const struct rm_list *list)
{
    if (list->wanted)
        list->kind->free_wanted(list->wanted);
}

/* ---- The queue of those that select ---- */

static void wake(const struct rm_web_list *l)
{
    (void)sd_event_source_set_enabled(l->turn, SD_EVENT_ON); /* cannot fail, ignoring */
}

static void leave_queue(struct rm_web_list *l)
{
    struct rm *rm = l->rm;

    l->selecting = false;
    DL_DELETE(rm->selecting, l);
    if (rm->selecting)
        wake(rm->selecting);
}

static void list_free(struct rm_web_list *l)
{
    if (l->selecting)
        leave_queue(l);
    l->rm->n_lists -= l->counted;
    sd_event_source_disable_unref(l->turn);
    items_free(&l->all);
    wanted_free(&l->list);
    sv_buf_free(&l->text);
    free(l);
}

/* ---- Text ---- */

/* Cuts the texts of an entry, at any depth: one user's applications may have long ones, and each
 * list of everybody has them. */
static void cut_texts(json_t *value)
{
    json_t *part;
    const char *key;
    size_t i;

    if (json_is_string(value) && json_string_length(value) > RM_LIST_TEXT_MAX) {
        char *cut = rm_strdup_cut(json_string_value(value), RM_LIST_TEXT_MAX);

        (void)json_string_set_nocheck(value, cut); /* no memory: it stays, ignoring */
        free(cut);
    }
    json_object_foreach(value, key, part) cut_texts(part);
    json_array_foreach(value, i, part) cut_texts(part);
}

static int put_json(struct rm_web_list *l, const json_t *entry)
{
    char *text = json_dumps(entry, JSON_COMPACT);
    int r = text ? 0 : -ENOMEM;

    if (r >= 0 && l->some)
        r = sv_buf_put_u8(&l->text, ',');
    if (r >= 0)
        r = sv_buf_put_str(&l->text, text);
    free(text);
    return r;
}

static int put_entry(struct rm_web_list *l, const struct rm_list_item *item)
{
    json_t *entry = l->list.kind->entry(l->rm, item);
    int r = 0;

    if (!entry)
        return 0;
    cut_texts(entry);
    r = l->xml ? sv_json_xml_element(entry, l->list.kind->inner, &l->text) : put_json(l, entry);
    json_decref(entry);
    l->some = true;
    return r;
}

static int put_frame(struct rm_web_list *l, bool begin)
{
    const struct rm_list_kind *k = l->list.kind;

    if (l->xml)
        return sv_buf_printf(&l->text, begin ? SV_XML_HEAD "<%s>" : "</%s>", k->outer);
    if (k->bare)
        return begin ? sv_buf_printf(&l->text, "{\"%s\":[", k->inner)
                     : sv_buf_put_str(&l->text, "]}");
    return begin ? sv_buf_printf(&l->text, "{\"%s\":{\"%s\":[", k->outer, k->inner)
                 : sv_buf_put_str(&l->text, "]}}");
}

/* ---- Selection ---- */

/* Keeps the next object or leaves it out; both in place. */
static void select_next(struct rm_web_list *l)
{
    struct rm_list_item *item = &l->all.items[l->at++];
    bool (*takes)(struct rm *, const void *, struct rm_list_item *) = l->list.kind->takes;

    if (!takes || takes(l->rm, l->list.wanted, item)) {
        struct rm_list_item left_out = l->all.items[l->kept];

        l->all.items[l->kept++] = *item;
        *item = left_out;
    }
}

static bool is_selected(const struct rm_web_list *l)
{
    return l->at == l->all.n || (int64_t)l->kept >= l->list.limit;
}

/* Frees what is left out and begins with the first entry. */
static void end_selection(struct rm_web_list *l)
{
    for (size_t i = l->kept; i < l->all.n; i++)
        free(l->all.items[i].node);
    l->all.n = l->kept;
    l->at = 0;
}

/* 1: selected. 0: goes on in the next turn. -EAGAIN: without the viewer's groups. */
static int select_some(struct rm_web_list *l)
{
    struct rm_turn turn = rm_turn_begin();

    if (!l->all.items && !l->list.kind->gather(l->rm, l->list.wanted, &l->all))
        return -ENOMEM;
    (void)sv_groups_missed(l->rm->groups); /* missed by others, ignoring */
    for (; !is_selected(l) && !rm_turn_is_over(&turn); rm_turn_count(&turn, false))
        select_next(l);
    if (sv_groups_missed(l->rm->groups))
        return -EAGAIN;
    if (!is_selected(l))
        return 0;
    end_selection(l);
    return 1;
}

/* ---- Writing ---- */

static bool is_written(const struct rm_web_list *l)
{
    return l->at == l->all.n && sv_buf_left(&l->text) == 0;
}

static int write_next(struct rm_web_list *l)
{
    int r = put_entry(l, &l->all.items[l->at++]);

    if (r >= 0 && l->at == l->all.n)
        r = put_frame(l, false);
    return r < 0 ? r : sv_http_stream_flush(l->stream, &l->text);
}

static int write_some(struct rm_web_list *l)
{
    struct rm_turn turn = rm_turn_begin();
    int r = sv_http_stream_flush(l->stream, &l->text);

    for (; l->at < l->all.n && r >= 0 && !rm_turn_is_over(&turn); rm_turn_count(&turn, true))
        r = write_next(l);
    return r;
}

static int begin_writing(struct rm_web_list *l)
{
    int r = put_frame(l, true);

    if (r >= 0 && l->all.n == 0)
        r = put_frame(l, false);
    if (r < 0)
        return r;
    r = sv_http_stream_own(l->stream, l->xml ? SV_XML_TYPE : "application/json;charset=utf-8");
    if (r < 0)
        return r;
    if (l->all.n > RM_LIST_SHORT) {
        l->counted = true;
        l->rm->n_lists++;
    }
    sv_http_stream_begin(l->stream, 200, -1);
    return 0;
}

/* ---- Turns ---- */

static void refuse(struct rm_web_list *l, const char *why)
{
    struct sv_http_response ret = { .xml = l->xml };

    if (rm_web_error(&ret, 503, "WebApplicationException", "%s: try again later", why) >= 0)
        sv_http_stream_text(l->stream, ret.status, ret.content_type, ret.body);
    else
        sv_http_stream_end(l->stream, false);
    free(ret.body);
    list_free(l);
}

static void on_selected(struct rm_web_list *l)
{
    char why[64];

    leave_queue(l);
    (void)snprintf(why, sizeof(why), "%d long lists are being written", RM_LISTS_MAX);
    if (l->all.n > RM_LIST_SHORT && l->rm->n_lists >= RM_LISTS_MAX)
        refuse(l, why);
    else if (begin_writing(l) < 0)
        refuse(l, "out of memory");
}

static void on_select(struct rm_web_list *l)
{
    int r = select_some(l);

    if (r == -EAGAIN)
        refuse(l, "the user's groups are being looked up");
    else if (r < 0)
        refuse(l, "out of memory");
    else if (r > 0)
        on_selected(l);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_web_list *l = userdata;
    int r;

    if (l->selecting) {
        on_select(l);
        return 0;
    }
    r = write_some(l);
    if (r == -EAGAIN) {
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* cannot fail, ignoring */
    } else if (r < 0 || is_written(l)) {
        sv_http_stream_end(l->stream, r >= 0);
        list_free(l);
    }
    return 0;
}

static void on_drained(void *userdata)
{
    wake(userdata);
}

static void on_gone(void *userdata)
{
    list_free(userdata);
}

/* ---- Answers ---- */

static int answer_short(struct rm *rm, struct sv_http_response *ret, const struct rm_list *list)
{
    struct rm_web_list l = { .rm = rm, .list = *list };
    json_t *entries = json_array();

    if (!list->kind->gather(rm, list->wanted, &l.all)) {
        json_decref(entries);
        return -ENOMEM;
    }
    while (!is_selected(&l))
        select_next(&l);
    end_selection(&l);
    for (size_t i = 0; i < l.all.n; i++) {
        json_t *entry = list->kind->entry(rm, &l.all.items[i]);

        if (!entry)
            continue;
        cut_texts(entry);
        (void)json_array_append_new(entries, entry); /* no memory: it is missing, ignoring */
    }
    items_free(&l.all);
    return rm_web_json(ret, 200,
                       json_pack("{s:{s:o}}", list->kind->outer, list->kind->inner, entries));
}

static int start(struct rm_web_list *l, const struct sv_http_request *req)
{
    static const struct sv_http_stream_events events = { .drained = on_drained, .gone = on_gone };
    int r = sd_event_add_defer(l->rm->event, &l->turn, on_turn, l);

    if (r >= 0)
        r = sd_event_source_set_priority(l->turn, PRIORITY);
    if (r >= 0)
        r = sd_event_source_set_enabled(l->turn, SD_EVENT_OFF);
    if (r < 0)
        return r;
    l->stream = sv_http_stream_new(req, &events, l);
    if (!l->stream)
        return -ENOMEM;
    l->selecting = true;
    DL_APPEND(l->rm->selecting, l);
    wake(l->rm->selecting);
    return 0;
}

int rm_web_list(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                const struct rm_list *list)
{
    struct rm_web_list *l;
    int r;

    if (list->most <= RM_LIST_SHORT && !list->kind->bare) {
        r = answer_short(rm, ret, list);
        wanted_free(list);
        return r;
    }
    l = calloc(1, sizeof(*l));
    if (!l) {
        wanted_free(list);
        return -ENOMEM;
    }
    *l = (struct rm_web_list){ .rm = rm, .list = *list, .xml = ret->xml };
    l->text = SV_BUF_INIT(TEXT_MAX);
    r = start(l, req);
    if (r < 0)
        list_free(l);
    return r < 0 ? r : SV_HTTP_LATER;
}
