/* Builds the wire message of a launch, for submissions and for containers. */
#include <errno.h>
#include <string.h>

#include "client/lib/internal.h"
#include "common/str.h"
#include "proto/yarn.pb-c.h"

/* Parses "scheme://[host[:port]]/path". The path is sent unescaped, as in Hadoop's URL record. */
static Hadoop__Yarn__URLProto *url_to(struct sv_arena *a, const char *text, struct sv_error *err)
{
    const char *colon = strstr(text, "://");
    const char *path = colon ? strchr(colon + 3, '/') : NULL;
    Hadoop__Yarn__URLProto *url = sv_new(a, Hadoop__Yarn__URLProto);

    if (!colon || colon == text || !path) {
        sv_error_set(err, -EINVAL, "\"%s\": not a URL: expected scheme://host/path", text);
        return NULL;
    }
    if (!url)
        return NULL;
    hadoop__yarn__urlproto__init(url);
    url->scheme = sv_arena_printf(a, "%.*s", (int)(colon - text), text);
    url->file = sv_arena_strdup(a, path);
    url->has_port = true;
    url->port = -1;
    if (path > colon + 3) {
        char *host = sv_arena_printf(a, "%.*s", (int)(path - colon - 3), colon + 3);
        char *port = host ? strrchr(host, ':') : NULL;
        uint64_t number = 0;

        if (port && sv_parse_u64(port + 1, 1, 65535, &number) < 0) {
            sv_error_set(err, -EINVAL, "\"%s\": not a URL: expected a port number", text);
            return NULL;
        }
        if (port) {
            *port = '\0';
            url->port = (int32_t)number;
        }
        url->host = host;
    }
    return url;
}

static int resources_to(struct sv_arena *a, const struct cli_launch *l,
                        Hadoop__Yarn__ContainerLaunchContextProto *m, struct sv_error *err)
{
    m->localresources = sv_newn(a, Hadoop__Yarn__StringLocalResourceMapProto *, l->n_resources);
    if (l->n_resources && !m->localresources)
        return -ENOMEM;
    for (size_t i = 0; i < l->n_resources; i++) {
        const struct cli_resource *r = &l->resources[i];
        Hadoop__Yarn__StringLocalResourceMapProto *entry =
            sv_new(a, Hadoop__Yarn__StringLocalResourceMapProto);
        Hadoop__Yarn__LocalResourceProto *value = sv_new(a, Hadoop__Yarn__LocalResourceProto);

        if (!entry || !value)
            return -ENOMEM;
        hadoop__yarn__string_local_resource_map_proto__init(entry);
        hadoop__yarn__local_resource_proto__init(value);
        entry->key = sv_arena_strdup(a, r->name);
        entry->value = value;
        value->resource = url_to(a, r->url, err);
        if (!entry->key || !value->resource)
            return err && err->code ? err->code : -ENOMEM;
        value->has_size = value->has_timestamp = value->has_type = value->has_visibility = true;
        value->size = r->size;
        value->timestamp = r->timestamp;
        value->type = (Hadoop__Yarn__LocalResourceTypeProto)r->type;
        value->visibility = (Hadoop__Yarn__LocalResourceVisibilityProto)r->visibility;
        m->localresources[m->n_localresources++] = entry;
    }
    return 0;
}

static int env_to(struct sv_arena *a, const struct cli_launch *l,
                  Hadoop__Yarn__ContainerLaunchContextProto *m)
{
    m->environment = sv_newn(a, Hadoop__Yarn__StringStringMapProto *, l->n_env);
    if (l->n_env && !m->environment)
        return -ENOMEM;
    for (size_t i = 0; i < l->n_env; i++) {
        Hadoop__Yarn__StringStringMapProto *entry = sv_new(a, Hadoop__Yarn__StringStringMapProto);

        if (!entry)
            return -ENOMEM;
        hadoop__yarn__string_string_map_proto__init(entry);
        entry->key = sv_arena_strdup(a, l->env[i].name);
        entry->value = sv_arena_strdup(a, l->env[i].value);
        if (!entry->key || !entry->value)
            return -ENOMEM;
        m->environment[m->n_environment++] = entry;
    }
    return 0;
}

static int acls_to(struct sv_arena *a, const struct cli_launch *l,
                   Hadoop__Yarn__ContainerLaunchContextProto *m)
{
    const struct {
        Hadoop__Yarn__ApplicationAccessTypeProto type;
        const char *acl;
    } lists[] = {
        { HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP, l->view_acl },
        { HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP, l->modify_acl },
    };

    m->application_acls = sv_newn(a, Hadoop__Yarn__ApplicationACLMapProto *, SV_ARRAY_LEN(lists));
    if (!m->application_acls)
        return -ENOMEM;
    for (size_t i = 0; i < SV_ARRAY_LEN(lists); i++) {
        Hadoop__Yarn__ApplicationACLMapProto *entry;

        if (!lists[i].acl)
            continue;
        entry = sv_new(a, Hadoop__Yarn__ApplicationACLMapProto);
        if (!entry)
            return -ENOMEM;
        hadoop__yarn__application_aclmap_proto__init(entry);
        entry->has_accesstype = true;
        entry->accesstype = lists[i].type;
        entry->acl = sv_arena_strdup(a, lists[i].acl);
        if (!entry->acl)
            return -ENOMEM;
        m->application_acls[m->n_application_acls++] = entry;
    }
    return 0;
}

static int retry_to(struct sv_arena *a, const struct cli_retry *retry,
                    Hadoop__Yarn__ContainerLaunchContextProto *m)
{
    Hadoop__Yarn__ContainerRetryContextProto *r;

    if (!retry)
        return 0;
    r = sv_new(a, Hadoop__Yarn__ContainerRetryContextProto);
    if (!r)
        return -ENOMEM;
    hadoop__yarn__container_retry_context_proto__init(r);
    r->has_retry_policy = r->has_max_retries = r->has_retry_interval = true;
    r->retry_policy = (Hadoop__Yarn__ContainerRetryPolicyProto)retry->policy;
    r->max_retries = retry->max;
    r->retry_interval = retry->interval_ms;
    r->has_failures_validity_interval = retry->validity_ms > 0;
    r->failures_validity_interval = retry->validity_ms;
    r->n_error_codes = retry->n_codes;
    if (retry->n_codes)
        r->error_codes = sv_arena_memdup(a, retry->codes, retry->n_codes * sizeof(int32_t));
    if (retry->n_codes && !r->error_codes)
        return -ENOMEM;
    m->container_retry_context = r;
    return 0;
}

static int service_data_to(struct sv_arena *a, const struct cli_launch *l,
                           Hadoop__Yarn__ContainerLaunchContextProto *m)
{
    m->service_data = sv_newn(a, Hadoop__Yarn__StringBytesMapProto *, l->n_service_data + 1);
    if (!m->service_data)
        return -ENOMEM;
    for (size_t i = 0; i < l->n_service_data; i++) {
        Hadoop__Yarn__StringBytesMapProto *entry = sv_new(a, Hadoop__Yarn__StringBytesMapProto);

        if (!entry)
            return -ENOMEM;
        hadoop__yarn__string_bytes_map_proto__init(entry);
        entry->key = sv_arena_strdup(a, l->service_data[i].service);
        entry->has_value = true;
        entry->value.len = l->service_data[i].len;
        entry->value.data = sv_arena_memdup(a, l->service_data[i].data, entry->value.len);
        if (!entry->key || !entry->value.data)
            return -ENOMEM;
        m->service_data[m->n_service_data++] = entry;
    }
    return 0;
}

Hadoop__Yarn__ContainerLaunchContextProto *
cli_launch_to(struct sv_arena *a, const struct cli_launch *l, struct sv_error *err)
{
    Hadoop__Yarn__ContainerLaunchContextProto *m =
        sv_new(a, Hadoop__Yarn__ContainerLaunchContextProto);
    struct sv_error own = { 0 };
    int r;

    if (!m)
        goto no_memory;
    hadoop__yarn__container_launch_context_proto__init(m);
    r = resources_to(a, l, m, &own);
    if (r == -EINVAL) {
        if (err)
            *err = own;
        return NULL;
    }
    if (r < 0 || env_to(a, l, m) < 0 || acls_to(a, l, m) < 0 || retry_to(a, l->retry, m) < 0 ||
        service_data_to(a, l, m) < 0)
        goto no_memory;
    m->command = sv_newn(a, char *, 1);
    if (!m->command || !(m->command[0] = sv_arena_strdup(a, l->command)))
        goto no_memory;
    m->n_command = 1;
    if (l->tokens) {
        m->has_tokens = true;
        m->tokens.data = sv_arena_memdup(a, l->tokens, l->tokens_len);
        m->tokens.len = l->tokens_len;
        if (!m->tokens.data)
            goto no_memory;
    }
    return m;

no_memory:
    sv_error_set(err, -ENOMEM, "launch request: too large");
    return NULL;
}
