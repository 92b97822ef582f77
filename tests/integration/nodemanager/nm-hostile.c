/* See nm-hostile.h. */
#include "tests/integration/nodemanager/nm-hostile.h"

#include <stdio.h>
#include <string.h>

#include "wire/ids.h"

#define MANY 100000
#define LONG ((size_t)10 << 20)

static char *literal(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- requests ---- */

static void add_resources(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                          const char *key, size_t n)
{
    clc->localresources = sv_newn(a, Hadoop__Yarn__StringLocalResourceMapProto *, n);
    for (size_t i = 0; i < n; i++) {
        Hadoop__Yarn__StringLocalResourceMapProto *row =
            sv_new(a, Hadoop__Yarn__StringLocalResourceMapProto);
        Hadoop__Yarn__LocalResourceProto *r = sv_new(a, Hadoop__Yarn__LocalResourceProto);
        Hadoop__Yarn__URLProto *url = sv_new(a, Hadoop__Yarn__URLProto);
        char text[64];

        hadoop__yarn__string_local_resource_map_proto__init(row);
        hadoop__yarn__local_resource_proto__init(r);
        hadoop__yarn__urlproto__init(url);
        (void)snprintf(text, sizeof(text), n > 1 ? "%s%zu" : "%s", key, i);
        row->key = sv_arena_strdup(a, text);
        row->value = r;
        url->scheme = literal("file");
        url->file = literal("/etc/hostname");
        r->resource = url;
        r->has_size = r->has_timestamp = r->has_type = r->has_visibility = true;
        r->size = r->timestamp = 1;
        r->type = HADOOP__YARN__LOCAL_RESOURCE_TYPE_PROTO__FILE;
        r->visibility = HADOOP__YARN__LOCAL_RESOURCE_VISIBILITY_PROTO__APPLICATION;
        clc->localresources[clc->n_localresources++] = row;
    }
}

static void add_variable(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                         const char *key, const char *value)
{
    clc->environment = sv_newn(a, Hadoop__Yarn__StringStringMapProto *, 1);
    clc->environment[0] = sv_new(a, Hadoop__Yarn__StringStringMapProto);
    hadoop__yarn__string_string_map_proto__init(clc->environment[0]);
    clc->environment[0]->key = literal(key);
    clc->environment[0]->value = literal(value);
    clc->n_environment = 1;
}

/* `n` variables of `length` bytes, each of which is references to the last of them. */
static void add_references(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                           size_t n, size_t length)
{
    static const char reference[] = "$V9999";
    char *value = sv_arena_alloc(a, length + 1);

    for (size_t i = 0; i < length; i++)
        value[i] = reference[i % (sizeof(reference) - 1)];
    value[length] = '\0';
    clc->environment = sv_newn(a, Hadoop__Yarn__StringStringMapProto *, n);
    for (size_t i = 0; i < n; i++) {
        clc->environment[i] = sv_new(a, Hadoop__Yarn__StringStringMapProto);
        hadoop__yarn__string_string_map_proto__init(clc->environment[i]);
        clc->environment[i]->key = sv_arena_printf(a, "V%04zu", i + 10000 - n);
        clc->environment[i]->value = value;
    }
    clc->n_environment = n;
}

bool hostile_context(struct sv_arena *a, const char *fault,
                     Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    static const struct {
        const char *fault, *key;
    } keys[] = { { "key-up", "../x" },
                 { "key-slash", "a/b" },
                 { "key-absolute", "/etc/x" },
                 { "key-empty", "" },
                 { "key-dots", ".." } },
      names[] = { { "env-equals", "A=B" },
                  { "env-empty", "" },
                  { "env-space", "A B" },
                  { "env-newline", "A\nB" },
                  { "env-substitution", "$(touch x)" } };

    if (strcmp(fault, "docker") == 0) {
        add_variable(a, clc, "YARN_CONTAINER_RUNTIME_TYPE", "docker");
        return true;
    }

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(fault, keys[i].fault) == 0) {
            add_resources(a, clc, keys[i].key, 1);
            return true;
        }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(fault, names[i].fault) == 0) {
            add_variable(a, clc, names[i].key, "value");
            return true;
        }
    if (strcmp(fault, "many-resources") == 0) {
        add_resources(a, clc, "r", MANY);
    } else if (strcmp(fault, "many-references") == 0) { /* 4.9 MiB */
        add_references(a, clc, 4020, 1270);
    } else if (strcmp(fault, "most-bytes") == 0) { /* 8 MiB */
        add_references(a, clc, 4095, 2043);
    } else if (strcmp(fault, "most-references") == 0) { /* accepted */
        add_references(a, clc, 3000, 240);
    } else if (strcmp(fault, "long-variable") == 0) {
        char *value = sv_arena_alloc(a, LONG + 1);

        memset(value, 'x', LONG);
        value[LONG] = '\0';
        add_variable(a, clc, "LONG", value);
    } else {
        return false;
    }
    return true;
}

/* ---- answers ---- */

/* Returns the i-th of ids that are negative, huge, zero or unknown. */
static struct yarn_container_id nobody(size_t i)
{
    static const int64_t numbers[] = { -1, INT64_MIN, INT64_MAX, 0, 1 };
    static const int32_t apps[] = { -7, INT32_MIN, INT32_MAX, 0, 4095 };

    return (struct yarn_container_id){
        .attempt = { .app = { .cluster_ts = i % 3 ? 1700000000000LL : -1, .id = apps[i % 5] },
                     .attempt = i % 7 ? 1 : -1 },
        .id = numbers[i / 5 % 5] + (i >= 25 && numbers[i / 5 % 5] == 1 ? (int64_t)i : 0),
    };
}

static void cleanups(struct sv_arena *a, size_t n, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    m->containers_to_cleanup = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n);
    m->containers_to_be_removed_from_nm = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n);
    m->applications_to_cleanup = sv_newn(a, Hadoop__Yarn__ApplicationIdProto *, n);
    for (size_t i = 0; i < n; i++) {
        m->containers_to_cleanup[i] = yarn_container_id_to(a, nobody(i));
        m->containers_to_be_removed_from_nm[i] = m->containers_to_cleanup[i];
        m->applications_to_cleanup[i] = yarn_app_id_to(a, nobody(i).attempt.app);
    }
    /* some lack the mandatory field */
    for (size_t i = 0; i < n && i < 3; i++) {
        hadoop__yarn__container_id_proto__init(m->containers_to_cleanup[i]);
        hadoop__yarn__application_id_proto__init(m->applications_to_cleanup[i]);
    }
    m->n_containers_to_cleanup = m->n_containers_to_be_removed_from_nm = n;
    m->n_applications_to_cleanup = n;
}

static void signals(struct sv_arena *a, size_t n, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    m->containers_to_signal = sv_newn(a, Hadoop__Yarn__SignalContainerRequestProto *, n);
    for (size_t i = 0; i < n; i++) {
        Hadoop__Yarn__SignalContainerRequestProto *q =
            sv_new(a, Hadoop__Yarn__SignalContainerRequestProto);

        hadoop__yarn__signal_container_request_proto__init(q);
        if (i)
            q->container_id = yarn_container_id_to(a, nobody(i));
        else
            hadoop__yarn__container_id_proto__init(q->container_id =
                                                       sv_new(a, Hadoop__Yarn__ContainerIdProto));
        q->command = (Hadoop__Yarn__SignalContainerCommandProto)(1 + i % 3);
        m->containers_to_signal[i] = q;
    }
    m->n_containers_to_signal = n;
}

static void updates(struct sv_arena *a, size_t n, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    m->containers_to_update = sv_newn(a, Hadoop__Yarn__ContainerProto *, n);
    for (size_t i = 0; i < n; i++) {
        Hadoop__Yarn__ContainerProto *c = sv_new(a, Hadoop__Yarn__ContainerProto);

        hadoop__yarn__container_proto__init(c);
        if (i % 2)
            c->id = yarn_container_id_to(a, nobody(i));
        if (i % 3)
            c->resource = yarn_resource_to(
                a, (struct yarn_resource){ i % 5 ? -1 : INT64_MAX, i % 7 ? -1 : INT32_MAX, 0 });
        m->containers_to_update[i] = c;
    }
    m->n_containers_to_update = n;
    m->containers_to_decrease = m->containers_to_update;
    m->n_containers_to_decrease = n;
}

static void keys(struct sv_arena *a, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    m->container_token_master_key = sv_new(a, Hadoop__Yarn__MasterKeyProto);
    hadoop__yarn__master_key_proto__init(m->container_token_master_key); /* no number, no bytes */
    m->nm_token_master_key = m->container_token_master_key;
}

bool hostile_heartbeat(const char *kind, size_t n, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    static struct sv_arena *a; /* of the last lie: more than the arena of a call would hold */

    sv_arena_free(a);
    a = sv_arena_new(0);
    if (strcmp(kind, "cleanup") == 0) {
        cleanups(a, n, m);
    } else if (strcmp(kind, "signal") == 0) {
        signals(a, n, m);
    } else if (strcmp(kind, "update") == 0) {
        updates(a, n, m);
    } else if (strcmp(kind, "keys") == 0) {
        keys(a, m);
    } else if (strcmp(kind, "numbers") == 0) {
        m->response_id = INT32_MIN;
        m->nextheartbeatinterval = INT64_MIN;
        m->resource = yarn_resource_to(a, (struct yarn_resource){ -1, INT32_MIN, 0 });
    } else if (strcmp(kind, "action") == 0) {
        m->nodeaction = (Hadoop__Yarn__NodeActionProto)77;
    } else {
        return false;
    }
    return true;
}
