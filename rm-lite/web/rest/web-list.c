/* See web-list.h. A client that reads slowly holds the items and one entry's text; HTTP_STREAM_MAX
 * bytes wait for it in the server. */
#include "rm-lite/web/rest/web-list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "common/web/http-stream.h"
#include "common/web/json-xml.h"
#include "rm-lite/web/rest/web-reply.h"

#define SHORT 64         /* entries that are written immediately */
#define TURN 32          /* entries, about half a millisecond */
#define TEXT_MAX 1048576 /* bytes of one entry */
#define SLICE 65536

struct list {
    struct rm *rm;
    const struct rm_list_kind *kind;
    struct sv_http_stream *stream;
    sd_event_source *turn;
    struct rm_list_item *items;
    size_t n, at;
    bool xml, some; /* an entry has been written */
    struct sv_buf text;
};

struct rm_list_item *rm_list_free(struct rm_list_item *items, size_t n)
{
    for (size_t i = 0; items && i < n; i++)
        free(items[i].node);
    free(items);
    return NULL;
}

static void list_free(struct list *l)
{
    l->rm->n_lists--;
    sd_event_source_disable_unref(l->turn);
    rm_list_free(l->items, l->n);
    sv_buf_free(&l->text);
    free(l);
}

/* ---- Text ---- */

static int put_json(struct list *l, const json_t *entry)
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

static int put_entry(struct list *l, const struct rm_list_item *item)
{
    json_t *entry = l->kind->entry(l->rm, item);
    int r = 0;

    if (!entry)
        return 0;
    r = l->xml ? sv_json_xml_element(entry, l->kind->inner, &l->text) : put_json(l, entry);
    json_decref(entry);
    l->some = true;
    return r;
}

static int put_frame(struct list *l, bool begin)
{
    const struct rm_list_kind *k = l->kind;

    if (l->xml)
        return sv_buf_printf(&l->text, begin ? SV_XML_HEAD "<%s>" : "</%s>", k->outer);
    return begin ? sv_buf_printf(&l->text, "{\"%s\":{\"%s\":[", k->outer, k->inner)
                 : sv_buf_put_str(&l->text, "]}}");
}

/* ---- Turns ---- */

/* -EAGAIN: the client must read first. */
static int flush(struct list *l)
{
    while (sv_buf_left(&l->text) > 0) {
        size_t n = SV_MIN(sv_buf_left(&l->text), (size_t)SLICE);
        int r = sv_http_stream_put(l->stream, l->text.data + l->text.pos, n);

        if (r < 0)
            return r;
        l->text.pos += n;
    }
    l->text.len = l->text.pos = 0;
    return 0;
}

static int go_on(struct list *l)
{
    int r = flush(l);

    for (int i = 0; i < TURN && l->at < l->n && r >= 0; i++) {
        r = put_entry(l, &l->items[l->at]);
        l->at++;
        if (r >= 0 && l->at == l->n)
            r = put_frame(l, false);
        if (r >= 0)
            r = flush(l);
    }
    return r;
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct list *l = userdata;
    int r = go_on(l);

    if (r == -EAGAIN) {
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* cannot fail, ignoring */
    } else if (r < 0 || (l->at == l->n && sv_buf_left(&l->text) == 0)) {
        sv_http_stream_end(l->stream, r >= 0);
        list_free(l);
    }
    return 0;
}

static void on_drained(void *userdata)
{
    struct list *l = userdata;

    (void)sd_event_source_set_enabled(l->turn, SD_EVENT_ON); /* cannot fail, ignoring */
}

static void on_gone(void *userdata)
{
    list_free(userdata);
}

/* ---- Answers ---- */

static int answer_short(struct rm *rm, struct sv_http_response *ret,
                        const struct rm_list_kind *kind, const struct rm_list_item *items, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *entry = kind->entry(rm, &items[i]);

        if (entry)
            (void)json_array_append_new(list, entry); /* no memory: it is missing, ignoring */
    }
    return rm_web_json(ret, 200, json_pack("{s:{s:o}}", kind->outer, kind->inner, list));
}

static int start(struct list *l, const struct sv_http_request *req)
{
    static const struct sv_http_stream_events events = { .drained = on_drained, .gone = on_gone };
    int r = put_frame(l, true);

    if (r >= 0)
        r = sd_event_add_defer(l->rm->event, &l->turn, on_turn, l);
    if (r >= 0)
        r = sd_event_source_set_enabled(l->turn, SD_EVENT_ON);
    if (r < 0)
        return r;
    l->stream = sv_http_stream_new(req, &events, l);
    if (!l->stream)
        return -ENOMEM;
    /* Without memory the header is missing, ignoring. */
    (void)!sv_http_stream_header(l->stream, "Content-Type",
                                 l->xml ? SV_XML_TYPE : "application/json;charset=utf-8");
    sv_http_stream_begin(l->stream, 200, -1);
    return 0;
}

int rm_web_list(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                const struct rm_list_kind *kind, struct rm_list_item *items, size_t n)
{
    struct list *l;
    int r;

    if (n <= SHORT || rm->n_lists >= RM_LISTS_MAX) {
        r = n <= SHORT
                ? answer_short(rm, ret, kind, items, n)
                : rm_web_error(ret, 503, "WebApplicationException",
                               "%d long lists are being written: try again later", RM_LISTS_MAX);
        rm_list_free(items, n);
        return r;
    }
    l = calloc(1, sizeof(*l));
    if (!l) {
        rm_list_free(items, n);
        return -ENOMEM;
    }
    *l = (struct list){ .rm = rm, .kind = kind, .items = items, .n = n, .xml = ret->xml };
    l->text = SV_BUF_INIT(TEXT_MAX);
    rm->n_lists++;
    r = start(l, req);
    if (r < 0)
        list_free(l);
    return r < 0 ? r : SV_HTTP_LATER;
}
