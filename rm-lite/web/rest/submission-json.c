/* See submission-json.h. */
#include "rm-lite/web/rest/submission-json.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/str.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/web/rest/resource-json.h"
#include "rm-lite/web/rest/web-body.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;
typedef Hadoop__Yarn__ContainerLaunchContextProto Launch;

struct in {
    struct sv_arena *a;
    struct sv_error *err;
};

static char *shared(const char *s)
{
    return (char *)(uintptr_t)s; /* protobuf-c's messages have no const, and it is only packed */
}

/* ---- Members ---- */

/* Leaves *ret unchanged without the member. */
static int text(const struct in *in, const json_t *o, const char *key, char **ret)
{
    const char *s;
    int r = rm_body_text(o, key, &s, in->err);

    if (r > 0)
        *ret = shared(s);
    return r;
}

static int flag(const struct in *in, const json_t *o, const char *key, protobuf_c_boolean *has,
                protobuf_c_boolean *ret)
{
    bool v;
    int r = rm_body_bool(o, key, &v, in->err);

    if (r > 0) {
        *has = true;
        *ret = v;
    }
    return r;
}

/* A list, or its only element, as Hadoop's JSON writes lists of one. */
static size_t list_size(const json_t *v)
{
    return json_is_array(v) ? json_array_size(v) : v && !json_is_null(v) ? 1 : 0;
}

static json_t *list_at(json_t *v, size_t i)
{
    return json_is_array(v) ? json_array_get(v, i) : v;
}

/* {"key": [TEXT…]} at `o`.`name`. */
static int texts(const struct in *in, const json_t *o, const char *name, const char *key,
                 char ***ret, size_t *ret_n)
{
    json_t *box = NULL, *list;
    int r = rm_body_object(o, name, &box, in->err);

    if (r <= 0)
        return r;
    list = json_object_get(box, key);
    *ret_n = 0;
    *ret = sv_newn(in->a, char *, list_size(list) + 1);
    if (!*ret)
        return -ENOMEM;
    for (size_t i = 0; i < list_size(list); i++) {
        const char *s = json_string_value(list_at(list, i));

        if (!s)
            return sv_error_set(in->err, -EINVAL, "%s: %s is not a text", name, key);
        (*ret)[(*ret_n)++] = shared(s);
    }
    return 0;
}

/* {"entry": [{"key": TEXT, "value": …}…]} at `o`.`name`: its list. */
static int entries(const struct in *in, const json_t *o, const char *name, json_t **ret)
{
    json_t *box = NULL;
    int r = rm_body_object(o, name, &box, in->err);

    *ret = r > 0 ? json_object_get(box, "entry") : NULL;
    return r < 0 ? r : 0;
}

static int entry(const struct in *in, json_t *list, size_t i, const char *name, char **ret_key,
                 json_t **ret_value)
{
    json_t *e = list_at(list, i);
    const char *key = json_string_value(json_object_get(e, "key"));

    *ret_value = json_object_get(e, "value");
    if (!key || !*ret_value)
        return sv_error_set(in->err, -EINVAL, "%s: an entry needs a key and a value", name);
    *ret_key = shared(key);
    return 0;
}

static int entry_text(const struct in *in, json_t *list, size_t i, const char *name, char **ret_key,
                      const char **ret_value)
{
    json_t *v;
    int r = entry(in, list, i, name, ret_key, &v);

    *ret_value = json_string_value(v);
    if (r >= 0 && !*ret_value)
        r = sv_error_set(in->err, -EINVAL, "%s: %.100s is not a text", name, *ret_key);
    return r;
}

/* Allocates `n` messages of a map's list and points `rows` at them. */
#define MAKE_ROWS(in, type, INIT, n, rows)                                                         \
    ({                                                                                             \
        type *all_ = sv_newn((in)->a, type, (n) + 1);                                              \
        (rows) = sv_newn((in)->a, type *, (n) + 1);                                                \
        for (size_t k_ = 0; all_ && (rows) && k_ < (n); k_++) {                                    \
            all_[k_] = (type)INIT;                                                                 \
            (rows)[k_] = &all_[k_];                                                                \
        }                                                                                          \
        all_ && (rows) ? 0 : -ENOMEM;                                                              \
    })

/* ---- Launch context ---- */

static int base64(const struct in *in, const char *name, const char *value, const uint8_t **ret,
                  size_t *ret_len)
{
    char *standard = sv_arena_strdup(in->a, value), *padded;
    uint8_t *bytes;
    int r;

    if (!standard)
        return -ENOMEM;
    for (char *p = standard; *p; p++) /* URL-safe, as Hadoop's clients write it */
        *p = (char)(*p == '-' ? '+' : *p == '_' ? '/' : *p);
    padded =
        sv_arena_printf(in->a, "%s%.*s", standard, (int)((4 - strlen(standard) % 4) % 4), "==");
    if (!padded)
        return -ENOMEM;
    r = sv_base64_decode(padded, strlen(padded), SIZE_MAX, &bytes, ret_len);
    if (r < 0)
        return sv_error_set(in->err, -EINVAL, "%s: a value is not base64", name);
    *ret = sv_arena_memdup(in->a, bytes, *ret_len);
    free(bytes);
    return *ret ? 0 : -ENOMEM;
}

/* "scheme://user@host:port/file#fragment" */
static int url(const struct in *in, const char *s, Hadoop__Yarn__URLProto **ret)
{
    Hadoop__Yarn__URLProto *u = sv_new(in->a, Hadoop__Yarn__URLProto);
    char *copy = sv_arena_strdup(in->a, s), *p, *host, *at, *colon;
    uint64_t port;

    if (!u || !copy)
        return -ENOMEM;
    hadoop__yarn__urlproto__init(u);
    *ret = u;
    p = strstr(copy, ":/");
    if (p && strcspn(copy, "/?#") > (size_t)(p - copy)) {
        *p = 0;
        u->scheme = copy;
        copy = p + 1;
    }
    u->file = copy;
    if (!sv_has_prefix(copy, "//"))
        return 0;
    host = copy + 2;
    p = strchr(host, '/');
    u->file = sv_arena_strdup(in->a, p ? p : "");
    if (!u->file)
        return -ENOMEM;
    if (p)
        *p = 0;
    at = strrchr(host, '@');
    if (at) {
        *at = 0;
        u->userinfo = host;
        host = at + 1;
    }
    colon = strrchr(host, ':');
    if (colon && !strchr(colon, ']')) {
        if (sv_parse_u64(colon + 1, 1, 65535, &port) < 0)
            return sv_error_set(in->err, -EINVAL, "resource: %.200s: bad port", s);
        *colon = 0;
        u->has_port = true;
        u->port = (int32_t)port;
    }
    if (*host)
        u->host = host;
    return 0;
}

static int enumeration(const struct in *in, const json_t *o, const char *key,
                       const ProtobufCEnumDescriptor *d, int *ret)
{
    const char *s = NULL;
    int r = rm_body_text(o, key, &s, in->err);

    if (r <= 0)
        return r < 0 ? r : sv_error_set(in->err, -EINVAL, "%s: missing", key);
    for (size_t i = 0; i < d->n_values; i++)
        if (strcasecmp(d->values[i].name, s) == 0) {
            *ret = d->values[i].value;
            return 0;
        }
    return sv_error_set(in->err, -EINVAL, "%s: unknown %.100s", key, s);
}

static int resource(const struct in *in, const json_t *o, Hadoop__Yarn__LocalResourceProto **ret)
{
    Hadoop__Yarn__LocalResourceProto *m = sv_new(in->a, Hadoop__Yarn__LocalResourceProto);
    const char *where = NULL;
    int type, visibility, r;

    if (!m)
        return -ENOMEM;
    hadoop__yarn__local_resource_proto__init(m);
    *ret = m;
    r = rm_body_text(o, "resource", &where, in->err);
    if (r <= 0)
        return r < 0 ? r : sv_error_set(in->err, -EINVAL, "local-resources: resource: missing");
    if ((r = url(in, where, &m->resource)) < 0 ||
        (r = enumeration(in, o, "type", &hadoop__yarn__local_resource_type_proto__descriptor,
                         &type)) < 0 ||
        (r = enumeration(in, o, "visibility",
                         &hadoop__yarn__local_resource_visibility_proto__descriptor, &visibility)) <
            0 ||
        (r = rm_body_int(o, "size", -1, INT64_MAX, &m->size, in->err)) < 0 ||
        (r = rm_body_int(o, "timestamp", -1, INT64_MAX, &m->timestamp, in->err)) < 0 ||
        (r = text(in, o, "pattern", &m->pattern)) < 0)
        return r;
    m->has_type = m->has_visibility = m->has_size = m->has_timestamp = true;
    m->type = (Hadoop__Yarn__LocalResourceTypeProto)type;
    m->visibility = (Hadoop__Yarn__LocalResourceVisibilityProto)visibility;
    return 0;
}

static int resources(const struct in *in, const json_t *o, Launch *m)
{
    json_t *list, *value;
    int r = entries(in, o, "local-resources", &list);
    size_t n = list_size(list);

    if (r >= 0)
        r = MAKE_ROWS(in, Hadoop__Yarn__StringLocalResourceMapProto,
                      HADOOP__YARN__STRING_LOCAL_RESOURCE_MAP_PROTO__INIT, n, m->localresources);
    for (; r >= 0 && m->n_localresources < n; m->n_localresources++) {
        Hadoop__Yarn__StringLocalResourceMapProto *row = m->localresources[m->n_localresources];

        r = entry(in, list, m->n_localresources, "local-resources", &row->key, &value);
        if (r >= 0)
            r = resource(in, value, &row->value);
    }
    return r;
}

static int environment(const struct in *in, const json_t *o, Launch *m)
{
    const char *value;
    json_t *list;
    int r = entries(in, o, "environment", &list);
    size_t n = list_size(list);

    if (r >= 0)
        r = MAKE_ROWS(in, Hadoop__Yarn__StringStringMapProto,
                      HADOOP__YARN__STRING_STRING_MAP_PROTO__INIT, n, m->environment);
    for (; r >= 0 && m->n_environment < n; m->n_environment++) {
        Hadoop__Yarn__StringStringMapProto *row = m->environment[m->n_environment];

        r = entry_text(in, list, m->n_environment, "environment", &row->key, &value);
        row->value = shared(value);
    }
    return r;
}

static int service_data(const struct in *in, const json_t *o, Launch *m)
{
    const uint8_t *bytes;
    const char *value;
    json_t *list;
    int r = entries(in, o, "service-data", &list);
    size_t n = list_size(list), len;

    if (r >= 0)
        r = MAKE_ROWS(in, Hadoop__Yarn__StringBytesMapProto,
                      HADOOP__YARN__STRING_BYTES_MAP_PROTO__INIT, n, m->service_data);
    for (; r >= 0 && m->n_service_data < n; m->n_service_data++) {
        Hadoop__Yarn__StringBytesMapProto *row = m->service_data[m->n_service_data];

        r = entry_text(in, list, m->n_service_data, "service-data", &row->key, &value);
        if (r >= 0)
            r = base64(in, "service-data", value, &bytes, &len);
        if (r >= 0) {
            row->has_value = true;
            row->value = (ProtobufCBinaryData){ .data = (uint8_t *)(uintptr_t)bytes, .len = len };
        }
    }
    return r;
}

static int acls(const struct in *in, const json_t *o, Launch *m)
{
    const char *value;
    json_t *list;
    char *key;
    int r = entries(in, o, "application-acls", &list);
    size_t n = list_size(list);

    if (r >= 0)
        r = MAKE_ROWS(in, Hadoop__Yarn__ApplicationACLMapProto,
                      HADOOP__YARN__APPLICATION_ACLMAP_PROTO__INIT, n, m->application_acls);
    for (; r >= 0 && m->n_application_acls < n; m->n_application_acls++) {
        Hadoop__Yarn__ApplicationACLMapProto *row = m->application_acls[m->n_application_acls];

        r = entry_text(in, list, m->n_application_acls, "application-acls", &key, &value);
        if (r < 0)
            break;
        row->has_accesstype = true;
        row->acl = shared(value);
        if (strcmp(key, "VIEW_APP") == 0)
            row->accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP;
        else if (strcmp(key, "MODIFY_APP") == 0)
            row->accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP;
        else
            r = sv_error_set(in->err, -EINVAL, "application-acls: unknown %.100s", key);
    }
    return r;
}

static int credentials(const struct in *in, const json_t *o, Launch *m)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    struct yarn_credentials c = { 0 };
    json_t *box = NULL, *tokens = NULL, *secrets = NULL;
    const uint8_t *bytes;
    const char *value;
    char *key;
    size_t len;
    int r = rm_body_object(o, "credentials", &box, in->err);

    if (r <= 0)
        return r;
    if ((r = entries(in, box, "tokens", &tokens)) < 0 ||
        (r = entries(in, box, "secrets", &secrets)) < 0)
        return r;
    for (size_t i = 0; i < list_size(tokens) && r >= 0; i++) {
        struct yarn_token t;

        r = entry_text(in, tokens, i, "tokens", &key, &value);
        if (r >= 0 && yarn_token_parse(in->a, value, &t) < 0)
            r = sv_error_set(in->err, -EINVAL, "tokens: %.100s is no token", key);
        if (r >= 0)
            r = yarn_credentials_add(in->a, &c, key, &t);
    }
    for (size_t i = 0; i < list_size(secrets) && r >= 0; i++) {
        r = entry_text(in, secrets, i, "secrets", &key, &value);
        if (r >= 0)
            r = base64(in, "secrets", value, &bytes, &len);
        if (r >= 0)
            r = yarn_credentials_add_secret(in->a, &c, key, bytes, len);
    }
    if (r >= 0)
        r = yarn_credentials_write(&c, &out);
    if (r < 0)
        return r;
    m->has_tokens = true;
    m->tokens.len = out.len;
    m->tokens.data = sv_arena_memdup(in->a, out.data, out.len);
    return m->tokens.data ? 0 : -ENOMEM;
}

static int launch(const struct in *in, const json_t *body, Submission *ctx)
{
    Launch *m = sv_new(in->a, Launch);
    json_t *o = NULL;
    int r = rm_body_object(body, "am-container-spec", &o, in->err);

    if (r <= 0)
        return r;
    if (!m)
        return -ENOMEM;
    hadoop__yarn__container_launch_context_proto__init(m);
    ctx->am_container_spec = m;
    if ((r = texts(in, o, "commands", "command", &m->command, &m->n_command)) < 0 ||
        (r = resources(in, o, m)) < 0 || (r = environment(in, o, m)) < 0 ||
        (r = service_data(in, o, m)) < 0 || (r = acls(in, o, m)) < 0)
        return r;
    return credentials(in, o, m);
}

/* ---- The rest ---- */

static int master_resource(const struct in *in, const json_t *body, Submission *ctx)
{
    struct rm_res res = { 0 };
    json_t *o = NULL;
    int r = rm_body_object(body, "resource", &o, in->err);

    if (r <= 0)
        return r;
    if ((r = rm_resource_from_json(o, INT32_MIN, &res, in->err)) < 0)
        return r;
    ctx->resource = rm_res_to(in->a, res);
    return ctx->resource ? 0 : -ENOMEM;
}

static int timeouts(const struct in *in, const json_t *body, Submission *ctx)
{
    json_t *list, *value;
    char *key;
    int r = entries(in, body, "application-timeouts", &list);
    size_t n = list_size(list);

    if (r >= 0)
        r = MAKE_ROWS(in, Hadoop__Yarn__ApplicationTimeoutMapProto,
                      HADOOP__YARN__APPLICATION_TIMEOUT_MAP_PROTO__INIT, n,
                      ctx->application_timeouts);
    for (; r >= 0 && ctx->n_application_timeouts < n; ctx->n_application_timeouts++) {
        Hadoop__Yarn__ApplicationTimeoutMapProto *row =
            ctx->application_timeouts[ctx->n_application_timeouts];

        r = entry(in, list, ctx->n_application_timeouts, "application-timeouts", &key, &value);
        if (r >= 0 && strcasecmp(key, "LIFETIME") != 0)
            r = sv_error_set(in->err, -EINVAL, "application-timeouts: unknown %.100s", key);
        if (r >= 0)
            r = rm_body_int(list_at(list, ctx->n_application_timeouts), "value", 0, INT64_MAX,
                            &row->timeout, in->err);
        row->has_application_timeout_type = row->has_timeout = true;
        row->application_timeout_type =
            HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
    }
    return r;
}

static int logs(const struct in *in, const json_t *body, Submission *ctx)
{
    Hadoop__Yarn__LogAggregationContextProto *m =
        sv_new(in->a, Hadoop__Yarn__LogAggregationContextProto);
    json_t *o = NULL;
    int r = rm_body_object(body, "log-aggregation-context", &o, in->err);

    if (r <= 0)
        return r;
    if (!m)
        return -ENOMEM;
    hadoop__yarn__log_aggregation_context_proto__init(m);
    ctx->log_aggregation_context = m;
    if ((r = text(in, o, "log-include-pattern", &m->include_pattern)) < 0 ||
        (r = text(in, o, "log-exclude-pattern", &m->exclude_pattern)) < 0 ||
        (r = text(in, o, "rolled-log-include-pattern", &m->rolled_logs_include_pattern)) < 0 ||
        (r = text(in, o, "rolled-log-exclude-pattern", &m->rolled_logs_exclude_pattern)) < 0 ||
        (r = text(in, o, "log-aggregation-policy-class-name",
                  &m->log_aggregation_policy_class_name)) < 0)
        return r;
    return text(in, o, "log-aggregation-policy-parameters", &m->log_aggregation_policy_parameters);
}

static int identity(const struct in *in, const json_t *body, Submission *ctx)
{
    Hadoop__Yarn__PriorityProto *p = sv_new(in->a, Hadoop__Yarn__PriorityProto);
    const char *id_text = NULL;
    struct yarn_app_id id;
    int64_t priority;
    int r = rm_body_text(body, "application-id", &id_text, in->err);

    if (r < 0)
        return r;
    if (!id_text || yarn_app_id_parse(id_text, &id) < 0)
        return sv_error_set(in->err, -EINVAL, "application-id: missing or malformed");
    ctx->application_id = yarn_app_id_to(in->a, id);
    if (!ctx->application_id || !p)
        return -ENOMEM;
    r = rm_body_int(body, "priority", INT32_MIN, INT32_MAX, &priority, in->err);
    if (r <= 0)
        return r;
    hadoop__yarn__priority_proto__init(p);
    p->has_priority = true;
    p->priority = (int32_t)priority;
    ctx->priority = p;
    return 0;
}

int rm_submission_from_json(const json_t *body, struct sv_arena *a, Submission **ret,
                            struct sv_error *err)
{
    const struct in in = { a, err };
    Submission *m = sv_new(a, Submission);
    int64_t attempts = 0, validity = -1;
    int r;

    if (!m)
        return -ENOMEM;
    hadoop__yarn__application_submission_context_proto__init(m);
    if ((r = identity(&in, body, m)) < 0 ||
        (r = text(&in, body, "application-name", &m->application_name)) < 0 ||
        (r = text(&in, body, "queue", &m->queue)) < 0 ||
        (r = text(&in, body, "application-type", &m->applicationtype)) < 0 ||
        (r = text(&in, body, "app-node-label-expression", &m->node_label_expression)) < 0 ||
        (r = flag(&in, body, "unmanaged-AM", &m->has_unmanaged_am, &m->unmanaged_am)) < 0 ||
        (r = flag(&in, body, "keep-containers-across-application-attempts",
                  &m->has_keep_containers_across_application_attempts,
                  &m->keep_containers_across_application_attempts)) < 0 ||
        (r = rm_body_int(body, "max-app-attempts", INT32_MIN, INT32_MAX, &attempts, err)) < 0 ||
        (r = rm_body_int(body, "attempt-failures-validity-interval", INT64_MIN, INT64_MAX,
                         &validity, err)) < 0 ||
        (r = texts(&in, body, "application-tags", "tag", &m->applicationtags,
                   &m->n_applicationtags)) < 0 ||
        (r = master_resource(&in, body, m)) < 0 || (r = launch(&in, body, m)) < 0 ||
        (r = timeouts(&in, body, m)) < 0 || (r = logs(&in, body, m)) < 0)
        return r;
    m->has_maxappattempts = m->has_attempt_failures_validity_interval = true;
    m->maxappattempts = (int32_t)attempts;
    m->attempt_failures_validity_interval = validity;
    *ret = m;
    return 0;
}
