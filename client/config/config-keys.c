/* See config-keys.h. */
#include "client/config/config-keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "client/config/config-queues.h"
#include "client/lib/login.h"
#include "client/run/stage.h"
#include "client/ui/output.h"
#include "common/conf-hidden.h"
#include "common/edit-distance.h"
#include "common/str.h"
#include "common/zookeeper/zk-conf.h"
#include "federation/store/store.h"
#include "nodemanager/conf/conf-unread.h"
#include "nodemanager/conf/conf.h"
#include "rm-lite/conf/conf-unread.h"
#include "rm-lite/conf/rm-conf.h"
#include "rm-lite/scheduler/scheduler-keys.h"
#include "wire/ipc/proxy.h"

enum reader { NODEMANAGER = 1, RESOURCEMANAGER = 2, CLIENT = 4 };

struct known {
    const struct sv_conf_key *row;
    unsigned readers;
    UT_hash_handle hh;
};

struct cli_config_keys {
    struct sv_conf *conf;
    struct sv_conf_hidden *hidden;
    struct known *known;
    bool short_of_memory;
};

static void add(struct cli_config_keys *k, const struct sv_conf_key *row, unsigned reader)
{
    struct known *one;

    HASH_FIND_STR(k->known, row->name, one);
    if (!one) {
        one = calloc(1, sizeof(*one));
        if (!one) {
            k->short_of_memory = true;
            return;
        }
        one->row = row;
        HASH_ADD_KEYPTR(hh, k->known, row->name, strlen(row->name), one);
    }
    one->readers |= reader;
}

static void on_node_key(const struct sv_conf_key *row, void *userdata)
{
    add(userdata, row, NODEMANAGER);
}

struct cli_config_keys *cli_config_keys_new(struct sv_conf *conf)
{
    struct cli_config_keys *k = calloc(1, sizeof(*k));
    const struct sv_conf_key *row;
    size_t n;

    if (!k)
        return NULL;
    k->conf = conf;
    k->hidden = sv_conf_hidden_new(conf);
    nm_conf_each_key(on_node_key, k);
    for (size_t i = 0; (row = rm_conf_row(i)); i++)
        add(k, row, RESOURCEMANAGER);
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        add(k, &f->key, RESOURCEMANAGER);
    for (size_t i = 0; (row = rm_scheduler_key(i)); i++)
        add(k, row, RESOURCEMANAGER);
    row = yarn_proxy_conf_keys(&n);
    for (size_t i = 0; i < n; i++)
        add(k, &row[i], CLIENT);
    row = fed_store_conf_keys(&n);
    for (size_t i = 0; i < n; i++)
        add(k, &row[i], CLIENT);
    row = sv_zk_conf_keys(&n);
    for (size_t i = 0; i < n; i++)
        add(k, &row[i], CLIENT);
    row = cli_login_keys(&n);
    for (size_t i = 0; i < n; i++)
        add(k, &row[i], CLIENT);
    add(k, cli_stage_key(), CLIENT);
    return k->short_of_memory ? cli_config_keys_free(k) : k;
}

struct cli_config_keys *cli_config_keys_free(struct cli_config_keys *k)
{
    struct known *one, *tmp;

    if (!k)
        return NULL;
    HASH_ITER (hh, k->known, one, tmp) {
        HASH_DEL(k->known, one);
        free(one);
    }
    sv_conf_hidden_free(k->hidden);
    free(k);
    return NULL;
}

static const struct known *find(const struct cli_config_keys *k, const char *name)
{
    const struct known *one;

    HASH_FIND_STR(k->known, name, one);
    return one;
}

const char *cli_config_nearest(const struct cli_config_keys *k, const char *name, size_t distance)
{
    size_t best = distance + 1;
    const char *hit = NULL;

    for (const struct known *one = k->known; one; one = one->hh.next) {
        size_t d = sv_edit_distance(name, one->row->name);

        if (d < best) {
            best = d;
            hit = one->row->name;
        }
    }
    return hit;
}

/* ---- One key ---- */

/* Formats "/etc/hadoop/conf/yarn-site.xml:12" or "command line"; null if the key is not set. */
static json_t *origin(struct cli_config_keys *k, const char *name)
{
    const struct sv_conf_key row = { .name = name };
    char text[1024];
    char *end;

    if (!sv_conf_raw(k->conf, name))
        return json_null();
    sv_conf_origin(k->conf, &row, text, sizeof(text));
    end = strstr(text, ": ");
    if (end)
        *end = '\0';
    return cli_json_string(text);
}

static const char *type_name(enum sv_conf_type type)
{
    static const char *const names[] = {
        [SV_CONF_STRING] = "text",  [SV_CONF_BOOL] = "boolean",      [SV_CONF_INT] = "integer",
        [SV_CONF_FLOAT] = "number", [SV_CONF_DURATION] = "duration", [SV_CONF_SIZE] = "size",
        [SV_CONF_LIST] = "list",    [SV_CONF_ADDRESS] = "address",
    };

    return names[type];
}

static json_t *readers_of(unsigned readers)
{
    json_t *list = json_array();

    if (readers & NODEMANAGER)
        (void)json_array_append_new(list, json_string("nodemanager")); /* ignoring, as below */
    if (readers & RESOURCEMANAGER)
        (void)json_array_append_new(list, json_string("resourcemanager"));
    if (readers & CLIENT)
        (void)json_array_append_new(list, json_string("client"));
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text ? cli_json_string(text) : json_null();
}

/* `row`: NULL for a key that none of Selvedge's programs reads. */
static json_t *object(struct cli_config_keys *k, const char *name, const struct sv_conf_key *row,
                      unsigned readers, const char *meaning)
{
    const char *value = sv_conf_raw(k->conf, name);
    bool set = value;

    if (!value && row)
        value = row->def;
    if (value && sv_conf_is_hidden(k->hidden, name))
        value = SV_CONF_HIDDEN_VALUE;
    return json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "key", cli_json_string(name),
                     "value", text_or_null(value), "default", text_or_null(row ? row->def : NULL),
                     "set", set, "origin", origin(k, name), "type",
                     row ? json_string(type_name(row->type)) : json_null(), "readBy",
                     readers_of(readers), "meaning", text_or_null(meaning));
}

/* Result of looking up a key that Selvedge's programs do not read. */
struct unread {
    char why[512];
    char nearest[RM_KEY_NAME_MAX + 1];
    bool hadoops, unknown;
};

static int on_unread(const char *name, const char *value, const struct nm_key_group *group,
                     const char *nearest, void *userdata)
{
    static const char *const words[] = {
        [NM_KEY_NO_MEANING] = "without meaning here",
        [NM_KEY_NOT_DONE] = "not done",
    };
    struct unread *u = userdata;

    (void)name;
    (void)value;
    u->hadoops = group;
    u->unknown = !group;
    if (group)
        snprintf(u->why, sizeof(u->why), "%s: %s", words[group->meaning], group->text);
    snprintf(u->nearest, sizeof(u->nearest), "%s", nearest ? nearest : "");
    return 0;
}

/* Looks up a ResourceManager key that its main table lacks. */
static struct unread look_up_rm(const char *name)
{
    struct unread u = { .why = "" };
    const char *word, *why;

    u.unknown = rm_conf_meaning(name, &word, &why) == RM_KEY_UNKNOWN;
    u.hadoops = !u.unknown;
    if (u.unknown)
        (void)rm_conf_nearest(name, u.nearest);
    else
        snprintf(u.why, sizeof(u.why), "%s: %s", word, why);
    return u;
}

/* Looks the key up as if it alone were set. */
static struct unread look_up_unread(const char *name)
{
    _cleanup_(sv_conf_freep) struct sv_conf *alone = sv_conf_new();
    struct unread u = { .why = "" };

    if (sv_has_prefix(name, "yarn.resourcemanager."))
        return look_up_rm(name);
    if (!alone || sv_conf_set(alone, name, "?") < 0 || nm_conf_unread(alone, on_unread, &u) < 0)
        return (struct unread){ .why = "" };
    return u;
}

/* Returns the row's help, and the values that the ResourceManager rejects. */
static const char *meaning_of(const struct sv_conf_key *row, char *text, size_t size)
{
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        if (strcmp(f->key.name, row->name) == 0) {
            (void)snprintf(text, size, "%s%sselvedge-rm refuses it unless it is \"%s\": %s",
                           row->help ? row->help : "", row->help ? " " : "", f->key.def, f->why);
            return text;
        }
    return row->help;
}

static json_t *queue_object(struct cli_config_keys *k, const char *name,
                            const struct cli_queue_key *q)
{
    const struct sv_conf_key row = { .type = q->row ? q->row->type : SV_CONF_STRING,
                                     .def = q->row ? q->row->def : NULL };
    bool has_row = q->row && !q->no_queue && q->row->use == RM_QUEUE_KEY_HONOURED;
    bool read = has_row || (q->row && q->row->use == RM_QUEUE_KEY_REFUSED);

    return object(k, name, has_row ? &row : NULL, read ? RESOURCEMANAGER : 0, q->meaning);
}

json_t *cli_config_key(struct cli_config_keys *k, const char *name)
{
    const struct known *known = find(k, name);
    struct cli_queue_key queue;
    char text[512];
    struct unread u;

    if (known)
        return object(k, name, known->row, known->readers,
                      meaning_of(known->row, text, sizeof(text)));
    if (cli_config_queue_key(k->conf, name, &queue))
        return queue.row || sv_conf_raw(k->conf, name) ? queue_object(k, name, &queue) : NULL;
    u = look_up_unread(name);
    if (u.hadoops)
        return object(k, name, NULL, 0, u.why);
    if (sv_conf_raw(k->conf, name))
        return object(k, name, NULL, 0, u.unknown ? "nobody knows this key" : NULL);
    return NULL;
}

/* ---- Lists ---- */

struct listing {
    struct cli_config_keys *k;
    json_t *list;
};

static int on_set(const char *name, const char *value, void *userdata)
{
    struct listing *l = userdata;

    (void)value;
    return json_array_append_new(l->list, cli_config_key(l->k, name)) < 0 ? -ENOMEM : 0;
}

static int by_name(const struct known *a, const struct known *b)
{
    return strcmp(a->row->name, b->row->name);
}

/* Appends the scheduler's keys that are not set, once for all queues. Names that are prefixes
 * ("user-settings.") are omitted. */
static int append_queue_keys(struct cli_config_keys *k, json_t *list)
{
    const struct rm_queue_key *rows;
    size_t n;
    int r = 0;

    rows = rm_queue_keys(&n);
    for (size_t i = 0; r >= 0 && i < n; i++) {
        char name[200];

        (void)snprintf(name, sizeof(name), "yarn.scheduler.capacity.%s%s",
                       rows[i].of_queue ? "QUEUE." : "", rows[i].name);
        if (strchr(".-", rows[i].name[strlen(rows[i].name) - 1]) || find(k, name) ||
            sv_conf_raw(k->conf, name))
            continue;
        r = json_array_append_new(list, cli_config_key(k, name)) < 0 ? -ENOMEM : 0;
    }
    return r;
}

json_t *cli_config_list(struct cli_config_keys *k, bool all)
{
    struct listing l = { k, json_array() };
    int r = l.list ? sv_conf_each(k->conf, on_set, &l) : -ENOMEM;

    if (all)
        HASH_SRT(hh, k->known, by_name);
    for (const struct known *one = k->known; r >= 0 && all && one; one = one->hh.next)
        if (!sv_conf_raw(k->conf, one->row->name) &&
            json_array_append_new(l.list, cli_config_key(k, one->row->name)) < 0)
            r = -ENOMEM;
    if (r >= 0 && all)
        r = append_queue_keys(k, l.list);
    if (r >= 0)
        return l.list;
    json_decref(l.list);
    return NULL;
}

static int append_unknown(struct listing *l, const char *name, const char *nearest)
{
    json_t *row = json_pack("{s:o, s:o, s:o}", "key", cli_json_string(name), "nearest",
                            text_or_null(nearest), "origin", origin(l->k, name));

    return json_array_append_new(l->list, row) < 0 ? -ENOMEM : 0;
}

/* All keys of the NodeManager, the scheduler and Selvedge are known. For Hadoop's other programs
 * they are not: there only a name within two letters of a known one is treated as a typo. */
static int on_maybe_unknown(const char *name, const char *value, void *userdata)
{
    struct listing *l = userdata;
    const char *nearest = NULL;
    struct cli_queue_key queue;
    struct unread u;

    (void)value;
    if (find(l->k, name) || nm_conf_is_used(name))
        return 0;
    if (cli_config_queue_key(l->k->conf, name, &queue))
        return queue.row && !queue.no_queue
                   ? 0
                   : append_unknown(l, name, *queue.nearest ? queue.nearest : NULL);
    u = look_up_unread(name);
    if (u.unknown && *u.nearest)
        nearest = u.nearest;
    if (!u.hadoops && !nearest &&
        (sv_has_prefix(name, "yarn.") || sv_has_prefix(name, "selvedge.")))
        nearest = cli_config_nearest(l->k, name, 2);
    if (!u.unknown && !nearest && !sv_has_prefix(name, "selvedge."))
        return 0;
    return append_unknown(l, name, nearest);
}

json_t *cli_config_unknown(struct cli_config_keys *k)
{
    struct listing l = { k, json_array() };

    if (l.list && sv_conf_each(k->conf, on_maybe_unknown, &l) >= 0)
        return l.list;
    json_decref(l.list);
    return NULL;
}
