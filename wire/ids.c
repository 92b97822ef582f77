/* YARN identifiers and resources: text forms, wire messages, Hadoop's order.
 *
 * Hostile: texts from command lines, REST paths, state stores and directory names, and messages
 * from any authenticated peer: accepted ids are in range, and their text has only characters that
 * the printers emit. */
#include "wire/ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"

#define NODE_TEXT_MAX 264
#define SEQUENCE_BITS 40
#define SEQUENCE_MAX ((INT64_C(1) << SEQUENCE_BITS) - 1)
#define EPOCH_MAX (INT64_MAX >> SEQUENCE_BITS)

char *yarn_app_id_text(struct yarn_app_id id, char *buf)
{
    (void)snprintf(buf, YARN_ID_TEXT_MAX, "application_%" PRId64 "_%04" PRId32, id.cluster_ts,
                   id.id);
    return buf;
}

char *yarn_attempt_id_text(struct yarn_attempt_id id, char *buf)
{
    (void)snprintf(buf, YARN_ID_TEXT_MAX, "appattempt_%" PRId64 "_%04" PRId32 "_%06" PRId32,
                   id.app.cluster_ts, id.app.id, id.attempt);
    return buf;
}

char *yarn_container_id_text(struct yarn_container_id id, char *buf)
{
    char epoch[16] = "";

    if (id.id >> SEQUENCE_BITS > 0)
        (void)snprintf(epoch, sizeof(epoch), "e%02" PRId64 "_", id.id >> SEQUENCE_BITS);
    (void)snprintf(buf, YARN_ID_TEXT_MAX,
                   "container_%s%" PRId64 "_%04" PRId32 "_%02" PRId32 "_%06" PRId64, epoch,
                   id.attempt.app.cluster_ts, id.attempt.app.id, id.attempt.attempt,
                   id.id & SEQUENCE_MAX);
    return buf;
}

/* Called for each heartbeat, so without printf. */
char *yarn_node_id_text(const struct yarn_node_id *id, char *buf)
{
    char digits[12], *p = digits + sizeof(digits);
    uint32_t port = id->port < 0 ? -(uint32_t)id->port : (uint32_t)id->port;
    size_t host = strnlen(id->host, sizeof(id->host) - 1), n;

    do
        *--p = (char)('0' + port % 10);
    while ((port /= 10) > 0);
    if (id->port < 0)
        *--p = '-';
    n = SV_MIN((size_t)(digits + sizeof(digits) - p), NODE_TEXT_MAX - 2 - host);
    memcpy(buf, id->host, host);
    buf[host] = ':';
    memcpy(buf + host + 1, p, n);
    buf[host + 1 + n] = 0;
    return buf;
}

/* At least `digits` decimal digits, a value in [min, max], then `end`. Moves *s past `end`, but not
 * past a final NUL. */
static int number(const char **s, int digits, int64_t min, int64_t max, char end, int64_t *ret)
{
    const char *p = *s;
    int64_t v = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return -EINVAL;
    if (p - *s < digits || p == *s || p - *s > 40 || *p != end || v < min || v > max)
        return -EINVAL;
    *s = end ? p + 1 : p;
    *ret = v;
    return 0;
}

static int prefix(const char **s, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*s, word, n) != 0)
        return -EINVAL;
    *s += n;
    return 0;
}

/* <timestamp>_<app>, then `end`. */
static int app_part(const char **s, char end, struct yarn_app_id *ret)
{
    int64_t ts, id;

    if (number(s, 1, 0, INT64_MAX, '_', &ts) < 0 || number(s, 4, 1, INT32_MAX, end, &id) < 0)
        return -EINVAL;
    *ret = (struct yarn_app_id){ .cluster_ts = ts, .id = (int32_t)id };
    return 0;
}

int yarn_app_id_parse(const char *s, struct yarn_app_id *ret)
{
    struct yarn_app_id id;

    if (prefix(&s, "application_") < 0 || app_part(&s, '\0', &id) < 0)
        return -EINVAL;
    *ret = id;
    return 0;
}

int yarn_attempt_id_parse(const char *s, struct yarn_attempt_id *ret)
{
    struct yarn_app_id app;
    int64_t attempt;

    if (prefix(&s, "appattempt_") < 0 || app_part(&s, '_', &app) < 0 ||
        number(&s, 6, 1, INT32_MAX, '\0', &attempt) < 0)
        return -EINVAL;
    *ret = (struct yarn_attempt_id){ .app = app, .attempt = (int32_t)attempt };
    return 0;
}

int yarn_container_id_parse(const char *s, struct yarn_container_id *ret)
{
    struct yarn_app_id app;
    int64_t epoch = 0, attempt, sequence;

    if (prefix(&s, "container_") < 0)
        return -EINVAL;
    if (prefix(&s, "e") == 0 && number(&s, 2, 1, EPOCH_MAX, '_', &epoch) < 0)
        return -EINVAL;
    if (app_part(&s, '_', &app) < 0 || number(&s, 2, 1, INT32_MAX, '_', &attempt) < 0 ||
        number(&s, 6, 0, SEQUENCE_MAX, '\0', &sequence) < 0)
        return -EINVAL;
    *ret = (struct yarn_container_id){
        .attempt = { .app = app, .attempt = (int32_t)attempt },
        .id = epoch << SEQUENCE_BITS | sequence,
    };
    return 0;
}

/* Host names, IPv4 and IPv6 addresses: letters, digits and punctuation of those. */
static bool host_ok(const char *host, size_t len)
{
    if (len == 0 || len >= sizeof(((struct yarn_node_id *)NULL)->host))
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)host[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && (c == '\0' || !strchr("._-:[]%", c)))
            return false;
    }
    return true;
}

int yarn_node_id_parse(const char *s, struct yarn_node_id *ret)
{
    const char *colon = strrchr(s, ':'), *p;
    int64_t port;

    if (!colon || !host_ok(s, (size_t)(colon - s)))
        return -EINVAL;
    p = colon + 1;
    if (number(&p, 1, 0, UINT16_MAX, '\0', &port) < 0)
        return -EINVAL;
    *ret = (struct yarn_node_id){ .port = (int32_t)port };
    memcpy(ret->host, s, (size_t)(colon - s));
    return 0;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int yarn_app_id_cmp(struct yarn_app_id a, struct yarn_app_id b)
{
    int r = ORDER(a.cluster_ts, b.cluster_ts);

    return r ? r : ORDER(a.id, b.id);
}

int yarn_attempt_id_cmp(struct yarn_attempt_id a, struct yarn_attempt_id b)
{
    int r = yarn_app_id_cmp(a.app, b.app);

    return r ? r : ORDER(a.attempt, b.attempt);
}

int yarn_container_id_cmp(struct yarn_container_id a, struct yarn_container_id b)
{
    int r = yarn_attempt_id_cmp(a.attempt, b.attempt);

    return r ? r : ORDER(a.id, b.id);
}

int yarn_app_id_from(const Hadoop__Yarn__ApplicationIdProto *m, struct yarn_app_id *ret)
{
    if (!m || !m->has_id || !m->has_cluster_timestamp || m->id < 1 || m->cluster_timestamp < 0)
        return -EBADMSG;
    *ret = (struct yarn_app_id){ .cluster_ts = m->cluster_timestamp, .id = m->id };
    return 0;
}

int yarn_attempt_id_from(const Hadoop__Yarn__ApplicationAttemptIdProto *m,
                         struct yarn_attempt_id *ret)
{
    struct yarn_app_id app;

    if (!m || !m->has_attemptid || m->attemptid < 1 ||
        yarn_app_id_from(m->application_id, &app) < 0)
        return -EBADMSG;
    *ret = (struct yarn_attempt_id){ .app = app, .attempt = m->attemptid };
    return 0;
}

/* app_id is a redundant older form of app_attempt_id.application_id. */
int yarn_container_id_from(const Hadoop__Yarn__ContainerIdProto *m, struct yarn_container_id *ret)
{
    struct yarn_attempt_id attempt;

    if (!m || !m->has_id || m->id < 0 || yarn_attempt_id_from(m->app_attempt_id, &attempt) < 0)
        return -EBADMSG;
    *ret = (struct yarn_container_id){ .attempt = attempt, .id = m->id };
    return 0;
}

int yarn_node_id_from(const Hadoop__Yarn__NodeIdProto *m, struct yarn_node_id *ret)
{
    size_t n;

    if (!m || !m->host || !m->has_port || m->port < 0 || m->port > UINT16_MAX)
        return -EBADMSG;
    n = strlen(m->host);
    if (!host_ok(m->host, n))
        return -EBADMSG;
    *ret = (struct yarn_node_id){ .port = m->port };
    memcpy(ret->host, m->host, n);
    return 0;
}

/* The entry's amount in `unit`, rounded down. One that names no unit counts in that, one whose unit
 * is empty in `bare`. */
static int entry_value(const Hadoop__Yarn__ResourceInformationProto *e, const char *unit,
                       const char *bare, int64_t *ret)
{
    const char *own = !e->units ? unit : *e->units ? e->units : bare;

    return !e->has_value || yarn_unit_convert(e->value, own, unit, ret) < 0 ? -EBADMSG : 0;
}

int yarn_resource_from(const Hadoop__Yarn__ResourceProto *m, struct yarn_resource *ret)
{
    const struct yarn_types *types = yarn_types();
    int64_t extra[YARN_TYPES_MAX] = { 0 };
    int64_t memory, vcores, gpus = 0;

    if (!m) {
        *ret = (struct yarn_resource){ 0 };
        return 0;
    }
    memory = m->has_memory ? m->memory : 0;
    vcores = m->has_virtual_cores ? m->virtual_cores : 0;
    for (size_t i = 0; i < m->n_resource_value_map; i++) {
        const Hadoop__Yarn__ResourceInformationProto *e = m->resource_value_map[i];
        int k = yarn_types_index(types, e->key), r = 0;

        if (strcmp(e->key, "memory-mb") == 0)
            r = entry_value(e, "Mi", "Mi", &memory);
        else if (strcmp(e->key, "vcores") == 0)
            r = entry_value(e, "", "", &vcores);
        else if (strcmp(e->key, YARN_GPU) == 0)
            r = entry_value(e, "", "", &gpus);
        else if (k >= 0)
            r = entry_value(e, types->types[k].unit, "", &extra[k]);
        if (r < 0)
            return r;
    }
    if (memory < 0 || vcores < 0 || gpus < 0)
        return -EBADMSG;
    *ret = (struct yarn_resource){ .memory_mb = memory,
                                   .vcores = (int32_t)SV_MIN(vcores, (int64_t)INT32_MAX),
                                   .gpus = (int32_t)SV_MIN(gpus, (int64_t)INT32_MAX) };
    memcpy(ret->extra, extra, sizeof(extra));
    return 0;
}

bool yarn_resource_names(const Hadoop__Yarn__ResourceProto *m, const char *type)
{
    for (size_t i = 0; i < m->n_resource_value_map; i++)
        if (strcmp(m->resource_value_map[i]->key, type) == 0)
            return true;
    return false;
}

void yarn_resource_unknown(const Hadoop__Yarn__ResourceProto *m, char *dst, size_t size)
{
    static const char *const known[] = { "memory-mb", "vcores", YARN_GPU };

    *dst = '\0';
    for (size_t i = 0; m && i < m->n_resource_value_map && !*dst; i++) {
        const Hadoop__Yarn__ResourceInformationProto *e = m->resource_value_map[i];
        bool unknown = e->has_value && e->value > 0 && yarn_types_index(yarn_types(), e->key) < 0;

        for (size_t j = 0; j < SV_ARRAY_LEN(known); j++)
            unknown = unknown && strcmp(e->key, known[j]) != 0;
        if (unknown)
            sv_escape(dst, size, e->key);
    }
}

#define NEW(arena, var, type, init)                                                                \
    type *var = sv_new(arena, type);                                                               \
    if (!var)                                                                                      \
        return NULL;                                                                               \
    init(var)

Hadoop__Yarn__ApplicationIdProto *yarn_app_id_to(struct sv_arena *a, struct yarn_app_id id)
{
    NEW(a, m, Hadoop__Yarn__ApplicationIdProto, hadoop__yarn__application_id_proto__init);
    m->has_id = m->has_cluster_timestamp = true;
    m->id = id.id;
    m->cluster_timestamp = id.cluster_ts;
    return m;
}

Hadoop__Yarn__ApplicationAttemptIdProto *yarn_attempt_id_to(struct sv_arena *a,
                                                            struct yarn_attempt_id id)
{
    NEW(a, m, Hadoop__Yarn__ApplicationAttemptIdProto,
        hadoop__yarn__application_attempt_id_proto__init);
    m->application_id = yarn_app_id_to(a, id.app);
    m->has_attemptid = true;
    m->attemptid = id.attempt;
    return m->application_id ? m : NULL;
}

Hadoop__Yarn__ContainerIdProto *yarn_container_id_to(struct sv_arena *a,
                                                     struct yarn_container_id id)
{
    NEW(a, m, Hadoop__Yarn__ContainerIdProto, hadoop__yarn__container_id_proto__init);
    m->app_attempt_id = yarn_attempt_id_to(a, id.attempt);
    m->has_id = true;
    m->id = id.id;
    return m->app_attempt_id ? m : NULL;
}

Hadoop__Yarn__NodeIdProto *yarn_node_id_to(struct sv_arena *a, const struct yarn_node_id *id)
{
    NEW(a, m, Hadoop__Yarn__NodeIdProto, hadoop__yarn__node_id_proto__init);
    m->host = sv_arena_strdup(a, id->host);
    m->has_port = true;
    m->port = id->port;
    return m->host ? m : NULL;
}

static int add_entry(struct sv_arena *a, Hadoop__Yarn__ResourceProto *m, const char *name,
                     const char *unit, int64_t value)
{
    Hadoop__Yarn__ResourceInformationProto *e = sv_new(a, Hadoop__Yarn__ResourceInformationProto);

    if (!e)
        return -ENOMEM;
    hadoop__yarn__resource_information_proto__init(e);
    e->key = (char *)(uintptr_t)name;
    e->units = (char *)(uintptr_t)unit;
    e->has_value = true;
    e->value = value;
    m->resource_value_map[m->n_resource_value_map++] = e;
    return 0;
}

/* The map is for resources without a field of their own; Hadoop fills in the two fields. */
static int add_map(struct sv_arena *a, Hadoop__Yarn__ResourceProto *m,
                   const struct yarn_resource *r)
{
    const struct yarn_types *types = yarn_types();
    int result = 0;

    m->resource_value_map = sv_newn(a, Hadoop__Yarn__ResourceInformationProto *, types->n + 1);
    if (!m->resource_value_map)
        return -ENOMEM;
    if (r->gpus)
        result = add_entry(a, m, YARN_GPU, "", r->gpus);
    for (size_t i = 0; result >= 0 && i < types->n; i++)
        if (r->extra[i])
            result = add_entry(a, m, types->types[i].name, types->types[i].unit, r->extra[i]);
    return result;
}

static bool has_map(const struct yarn_resource *r)
{
    bool any = r->gpus;

    for (size_t i = 0; i < yarn_types()->n; i++)
        any = any || r->extra[i];
    return any;
}

/* Without the map: Hadoop reads memory and virtual_cores when it is absent (as from 2.x peers). */
Hadoop__Yarn__ResourceProto *yarn_resource_to(struct sv_arena *a, struct yarn_resource r)
{
    NEW(a, m, Hadoop__Yarn__ResourceProto, hadoop__yarn__resource_proto__init);
    m->has_memory = m->has_virtual_cores = true;
    m->memory = r.memory_mb;
    m->virtual_cores = r.vcores;
    return has_map(&r) && add_map(a, m, &r) < 0 ? NULL : m;
}
