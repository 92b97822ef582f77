/* nm-driver as ApplicationMasters: clients of ContainerManagementProtocol with NMTokens and
 * ContainerTokens that it makes itself, with whatever is to be wrong with them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/acl.h"
#include "common/clock.h"
#include "tests/integration/nodemanager/nm-driver.h"
#include "tests/integration/nodemanager/nm-hostile.h"
#include "wire/ipc/ipc-client.h"

#define TOKEN_LIFE_MS 600000

static struct am { /* one connection an attempt */
    UT_hash_handle hh;
    struct {
        int app, attempt;
    } key;
    bool bad;
    struct ipc_client *client;
} * ams;

/* fault: "nmtoken": signed with a wrong key; "othernode": for another node. */
struct ipc_client *am_client(int app, const char *user, const char *fault)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_nm_token t = { .attempt = { app_id(app), rm.attempt },
                               .node = rm.node,
                               .key_id = rm.nm_key.key_id };
    struct yarn_master_key key = rm.nm_key;
    struct yarn_token token = { .kind = YARN_KIND_NM, .service = "" };
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    struct sv_error err;
    struct am *am = NULL, wanted = { .key = { app, rm.attempt } };
    bool bad = !strcmp(fault, "nmtoken") || !strcmp(fault, "nmnode");
    int r;

    HASH_FIND(hh, ams, &wanted.key, sizeof(wanted.key), am);
    if (am && !am->bad && !bad)
        return am->client;
    if (am) {
        HASH_DEL(ams, am);
        ipc_client_free(am->client);
        free(am);
    }
    snprintf(t.submitter, sizeof(t.submitter), "%s", user);
    if (!strcmp(fault, "nmtoken"))
        key.bytes[0] ^= 1;
    if (!strcmp(fault, "nmnode"))
        t.node.port++;
    r = yarn_nm_token_encode(a, &t, &token.id, &token.id_len);
    if (r >= 0)
        r = yarn_token_password(YARN_HMAC_SHA1, &key, token.id, token.id_len, password,
                                &token.password_len);
    if (r < 0)
        die("NMToken", r);
    token.password = password;
    am = calloc(1, sizeof(*am));
    am->key = wanted.key;
    am->bad = bad;
    r = ipc_client_new(rm.event,
                       &(struct ipc_client_config){
                           .host = rm.node.host,
                           .port = (uint16_t)rm.node.port,
                           .protocol = YARN_CONTAINER_MANAGEMENT_PROTOCOL,
                           .version = 1,
                           .token = &token,
                       },
                       &am->client, &err);
    if (r < 0)
        die(err.text, r);
    HASH_ADD(hh, ams, key, sizeof(am->key), am);
    return am->client;
}

void am_forget_clients(void)
{
    struct am *am, *tmp;

    HASH_ITER (hh, ams, am, tmp) {
        HASH_DEL(ams, am);
        ipc_client_free(am->client);
        free(am);
    }
}

/* "type:NAME=AMOUNT" or "type:NAME=AMOUNT,UNIT" as a fault: a resource type beside memory. */
static void add_resource_type(struct sv_arena *a, struct yarn_token *token, const char *fault)
{
    char *name = sv_newn(a, char, 64), *unit = sv_newn(a, char, 8);
    long long amount;

    Hadoop__Yarn__ContainerTokenIdentifierProto *m =
        hadoop__yarn__container_token_identifier_proto__unpack(NULL, token->id_len, token->id);
    Hadoop__Yarn__ResourceInformationProto *e = sv_new(a, Hadoop__Yarn__ResourceInformationProto);
    uint8_t *id;

    if (sscanf(fault, "type:%63[^=]=%lld,%7s", name, &amount, unit) < 2)
        die(fault, -EINVAL);
    hadoop__yarn__resource_information_proto__init(e);
    e->key = name;
    e->units = unit;
    e->has_value = true;
    e->value = amount;
    m->resource->resource_value_map = sv_newn(a, Hadoop__Yarn__ResourceInformationProto *, 1);
    m->resource->resource_value_map[0] = e;
    m->resource->n_resource_value_map = 1;
    token->id_len = hadoop__yarn__container_token_identifier_proto__get_packed_size(m);
    id = sv_arena_alloc(a, token->id_len);
    hadoop__yarn__container_token_identifier_proto__pack(m, id);
    token->id = id;
    m->resource->n_resource_value_map = 0;
    m->resource->resource_value_map = NULL;
    hadoop__yarn__container_token_identifier_proto__free_unpacked(m, NULL);
}

Hadoop__Common__TokenProto *am_container_token(struct sv_arena *a, int app, int64_t n,
                                               const char *user, struct yarn_resource resource,
                                               int version, const char *fault)
{
    struct yarn_container_token t = {
        .container = container_id(!strcmp(fault, "otherapp") ? app + 1000 : app, n),
        .resource = resource,
        .version = version,
        .expiry_ms = sv_wall_ms() + (!strcmp(fault, "expired") ? -1000 : TOKEN_LIFE_MS),
        .key_id = rm.container_key.key_id + (!strcmp(fault, "keyid") ? 77 : 0),
        .rm_identifier = rm.id + !strcmp(fault, "oldrm"),
        .creation_ms = sv_wall_ms(),
        .container_type = 2,
        .execution_type = rm.execution_type,
        .allocation_request_id = -1,
    };
    struct yarn_master_key key = rm.container_key;
    struct yarn_node_id node = rm.node;
    struct yarn_token token = { .kind = YARN_KIND_CONTAINER, .service = "" };
    uint8_t *password = sv_arena_alloc(a, YARN_TOKEN_PASSWORD_MAX);
    int r;

    if (!strcmp(fault, "wrongkey"))
        key.bytes[3] ^= 0x40;
    if (!strcmp(fault, "othernode"))
        node.port ^= 1;
    yarn_node_id_text(&node, t.nm_addr);
    snprintf(t.submitter, sizeof(t.submitter), "%s", user);
    r = yarn_container_token_encode(a, &t, &token.id, &token.id_len);
    if (r >= 0 && !strncmp(fault, "type:", strlen("type:")))
        add_resource_type(a, &token, fault);
    if (r >= 0)
        r = yarn_token_password(YARN_HMAC_SHA1, &key, token.id, token.id_len, password,
                                &token.password_len);
    if (r < 0)
        die("ContainerToken", r);
    token.password = password;
    if (!strcmp(fault, "truncated"))
        token.id_len -= 3;
    if (!strcmp(fault, "shortpassword"))
        token.password_len--;
    return yarn_token_to(a, &token);
}

/* Writes a path, or http://HOST:PORT/FILE, unless "from" sets another source. */
static void put_url(struct sv_arena *a, Hadoop__Yarn__URLProto *url,
                    const struct driver_resource *from)
{
    const char *text = from->path;
    char host[64];
    int port = from->url_port;
    const bool http = sscanf(text, "http://%63[^:]:%d", host, &port) == 2;

    hadoop__yarn__urlproto__init(url);
    if (strcmp(from->scheme, "-") != 0)
        url->scheme = sv_arena_strdup(a, http ? "http" : from->scheme);
    if (http || strcmp(from->host, "-") != 0)
        url->host = sv_arena_strdup(a, http ? host : from->host);
    url->file = sv_arena_strdup(a, http ? strchr(text + strlen("http://"), '/') : text);
    url->has_port = port > 0;
    url->port = port;
}

static void add_resources(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    clc->localresources =
        sv_newn(a, Hadoop__Yarn__StringLocalResourceMapProto *, rm.n_resources + 1);
    for (size_t i = 0; i < rm.n_resources; i++) {
        const struct driver_resource *from = &rm.resources[i];
        Hadoop__Yarn__StringLocalResourceMapProto *row =
            sv_new(a, Hadoop__Yarn__StringLocalResourceMapProto);
        Hadoop__Yarn__LocalResourceProto *r = sv_new(a, Hadoop__Yarn__LocalResourceProto);
        Hadoop__Yarn__URLProto *url = sv_new(a, Hadoop__Yarn__URLProto);

        hadoop__yarn__string_local_resource_map_proto__init(row);
        hadoop__yarn__local_resource_proto__init(r);
        row->key = sv_arena_strdup(a, from->name);
        row->value = r;
        put_url(a, url, from);
        r->resource = url;
        r->has_size = r->has_timestamp = r->has_type = r->has_visibility = true;
        r->size = from->size;
        r->timestamp = from->timestamp;
        r->type = (Hadoop__Yarn__LocalResourceTypeProto)from->type;
        r->visibility = (Hadoop__Yarn__LocalResourceVisibilityProto)from->visibility;
        clc->localresources[clc->n_localresources++] = row;
    }
}

/* rm.view_acl, or for the fault "longacl" more than a NodeManager should compare. */
static void add_view_acl(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                         const char *fault)
{
    Hadoop__Yarn__ApplicationACLMapProto *row;

    if (!*rm.view_acl && strcmp(fault, "longacl") != 0)
        return;
    row = sv_new(a, Hadoop__Yarn__ApplicationACLMapProto);
    hadoop__yarn__application_aclmap_proto__init(row);
    row->has_accesstype = true;
    row->accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP;
    row->acl = sv_arena_strdup(a, rm.view_acl);
    if (!strcmp(fault, "longacl")) {
        row->acl = sv_arena_alloc(a, SV_ACL_MAX + 2);
        memset(row->acl, 'a', SV_ACL_MAX + 1);
        row->acl[SV_ACL_MAX + 1] = 0;
    }
    clc->application_acls = sv_newn(a, Hadoop__Yarn__ApplicationACLMapProto *, 1);
    clc->application_acls[clc->n_application_acls++] = row;
}

/* "aux:NAME:TEXT", "aux:NAME:=N" for N bytes, or "aux:NAME:#HEX". */
static void add_service_data(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                             const char *fault)
{
    char *name = sv_arena_strdup(a, fault + strlen("aux:")), *text = strchr(name, ':');
    Hadoop__Yarn__StringBytesMapProto *row = sv_new(a, Hadoop__Yarn__StringBytesMapProto);

    hadoop__yarn__string_bytes_map_proto__init(row);
    *text++ = 0;
    row->key = name;
    row->has_value = true;
    row->value.len = strlen(text);
    row->value.data = (uint8_t *)text;
    if (*text == '=') {
        row->value.len = strtoul(text + 1, NULL, 10);
        row->value.data = sv_arena_calloc(a, row->value.len, 1);
    }
    if (*text == '#') {
        row->value.len = strlen(text + 1) / 2;
        row->value.data = sv_arena_calloc(a, row->value.len, 1);
        for (size_t i = 0; i < row->value.len; i++)
            (void)sscanf(text + 1 + 2 * i, "%2hhx", &row->value.data[i]); /* the test's, ignoring */
    }
    clc->service_data = sv_newn(a, Hadoop__Yarn__StringBytesMapProto *, 1);
    clc->service_data[clc->n_service_data++] = row;
}

static void add_retry(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    Hadoop__Yarn__ContainerRetryContextProto *m;

    if (rm.retry.policy < 0)
        return;
    m = sv_new(a, Hadoop__Yarn__ContainerRetryContextProto);
    hadoop__yarn__container_retry_context_proto__init(m);
    m->has_retry_policy = m->has_max_retries = m->has_retry_interval = true;
    m->has_failures_validity_interval = true;
    m->retry_policy = (Hadoop__Yarn__ContainerRetryPolicyProto)rm.retry.policy;
    m->max_retries = rm.retry.max;
    m->retry_interval = rm.retry.interval_ms;
    m->failures_validity_interval = rm.retry.window_ms;
    m->n_error_codes = (size_t)rm.retry.n_codes;
    m->error_codes = rm.retry.codes;
    clc->container_retry_context = m;
}

static Hadoop__Yarn__StartContainerRequestProto *start_request(struct sv_arena *a, int app,
                                                               int64_t n, const char *user,
                                                               int64_t mem, const char *fault,
                                                               const char *command)
{
    Hadoop__Yarn__StartContainerRequestProto *q =
        sv_new(a, Hadoop__Yarn__StartContainerRequestProto);
    Hadoop__Yarn__ContainerLaunchContextProto *clc =
        sv_new(a, Hadoop__Yarn__ContainerLaunchContextProto);

    hadoop__yarn__start_container_request_proto__init(q);
    hadoop__yarn__container_launch_context_proto__init(clc);
    q->container_launch_context = clc;
    q->container_token = am_container_token(
        a, app, n, user, (struct yarn_resource){ mem, rm.vcores, rm.gpus }, 0, fault);
    add_resources(a, clc);
    add_view_acl(a, clc, fault);
    add_retry(a, clc);
    clc->n_command = 1;
    clc->command = sv_newn(a, char *, 1);
    clc->command[0] = sv_arena_strdup(a, command);
    clc->has_tokens = rm.tokens.n > 0;
    clc->tokens = (ProtobufCBinaryData){ rm.tokens.n, rm.tokens.bytes };
    (void)hostile_context(a, fault, clc);
    if (!strncmp(fault, "aux:", strlen("aux:")))
        add_service_data(a, clc, fault);
    return q;
}

static Hadoop__Yarn__ContainerLaunchContextProto *context(struct sv_arena *a, const char *command)
{
    Hadoop__Yarn__ContainerLaunchContextProto *clc =
        sv_new(a, Hadoop__Yarn__ContainerLaunchContextProto);

    hadoop__yarn__container_launch_context_proto__init(clc);
    add_resources(a, clc);
    add_retry(a, clc);
    clc->n_command = 1;
    clc->command = sv_newn(a, char *, 1);
    clc->command[0] = sv_arena_strdup(a, command);
    return clc;
}

static json_t *failures(size_t n, Hadoop__Yarn__ContainerExceptionMapProto **rows)
{
    json_t *j = json_object();

    for (size_t i = 0; i < n; i++) {
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX] = "?";

        if (yarn_container_id_from(rows[i]->container_id, &id) == 0)
            yarn_container_id_text(id, text);
        json_object_set_new(j, text,
                            json_pack("{s:s?,s:s?}", "class", rows[i]->exception->class_name,
                                      "message", rows[i]->exception->message));
    }
    return j;
}

static json_t *ids(size_t n, Hadoop__Yarn__ContainerIdProto **rows)
{
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++) {
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_container_id_from(rows[i], &id) == 0)
            json_array_append_new(j, json_string(yarn_container_id_text(id, text)));
    }
    return j;
}

/* A call, or the exception that it ended in as JSON in *ret_failed. */
static const void *call(struct ipc_client *c, const char *method, const ProtobufCMessage *q,
                        const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                        json_t **ret_failed)
{
    ProtobufCMessage *m = NULL;
    struct sv_error err = { 0 };
    const char *class = NULL;
    int r = ipc_client_call_sync(c, method, q, response, a, &m, &class, &err);

    if (r >= 0)
        return m;
    *ret_failed = json_pack("{s:i,s:s?,s:s}", "error", r, "class", class, "message", err.text);
    return NULL;
}

/* In hexadecimal digits. */
static json_t *metadata(const Hadoop__Yarn__StartContainersResponseProto *m)
{
    json_t *j = json_object();

    for (size_t i = 0; i < m->n_services_meta_data; i++) {
        const ProtobufCBinaryData *value = &m->services_meta_data[i]->value;
        char *text = calloc(value->len + 1, 2);

        for (size_t k = 0; text && k < value->len; k++)
            snprintf(text + 2 * k, 3, "%02x", value->data[k]);
        json_object_set_new(j, m->services_meta_data[i]->key, json_string(text));
        free(text);
    }
    return j;
}

json_t *am_start(int app, int64_t first, int count, const char *user, int64_t mem,
                 const char *fault, const char *command)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__StartContainersRequestProto q;
    const Hadoop__Yarn__StartContainersResponseProto *m;
    json_t *failed = NULL;

    hadoop__yarn__start_containers_request_proto__init(&q);
    q.start_container_request =
        sv_newn(a, Hadoop__Yarn__StartContainerRequestProto *, 2 * (size_t)count);
    for (int i = 0; i < count; i++) {
        Hadoop__Yarn__StartContainerRequestProto *one =
            start_request(a, app, first + i, user, mem, fault, command);
        q.start_container_request[q.n_start_container_request++] = one;
        if (!strcmp(fault, "twice"))
            q.start_container_request[q.n_start_container_request++] = one;
    }
    m = call(am_client(app, user, fault), "startContainers", &q.base,
             &hadoop__yarn__start_containers_response_proto__descriptor, a, &failed);
    if (!m)
        return failed;
    return json_pack("{s:o,s:o,s:o}", "ok", ids(m->n_succeeded_requests, m->succeeded_requests),
                     "failed", failures(m->n_failed_requests, m->failed_requests), "metadata",
                     metadata(m));
}

json_t *am_change(int app, int other, int64_t n, const char *method, bool auto_commit,
                  const char *command)
{
    static const ProtobufCMessageDescriptor *const answers[] = {
        &hadoop__yarn__resource_localization_response_proto__descriptor,
        &hadoop__yarn__re_initialize_container_response_proto__descriptor,
        &hadoop__yarn__restart_container_response_proto__descriptor,
        &hadoop__yarn__rollback_response_proto__descriptor,
        &hadoop__yarn__commit_response_proto__descriptor,
    };
    static const char *const names[] = { "localize", "reInitializeContainer", "restartContainer",
                                         "rollbackLastReInitialization",
                                         "commitLastReInitialization" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ContainerIdProto *id = yarn_container_id_to(a, container_id(other, n));
    Hadoop__Yarn__ResourceLocalizationRequestProto localize;
    Hadoop__Yarn__ReInitializeContainerRequestProto reinit;
    const ProtobufCMessage *q = &id->base;
    json_t *failed = NULL;
    size_t k = 0;

    while (k < SV_ARRAY_LEN(names) && strcmp(names[k], method) != 0)
        k++;
    if (k == SV_ARRAY_LEN(names))
        return json_pack("{s:s}", "error", "no such method");
    if (k == 0) {
        Hadoop__Yarn__ContainerLaunchContextProto *clc = context(a, "");

        hadoop__yarn__resource_localization_request_proto__init(&localize);
        localize.container_id = id;
        localize.local_resources = clc->localresources;
        localize.n_local_resources = clc->n_localresources;
        q = &localize.base;
    }
    if (k == 1) {
        hadoop__yarn__re_initialize_container_request_proto__init(&reinit);
        reinit.container_id = id;
        reinit.container_launch_context = context(a, command);
        reinit.has_auto_commit = true;
        reinit.auto_commit = auto_commit;
        q = &reinit.base;
    }
    return call(am_client(app, "?", ""), method, q, answers[k], a, &failed) ? json_object()
                                                                            : failed;
}

json_t *am_stop(int app, int other, int64_t first, int count)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__StopContainersRequestProto q;
    const Hadoop__Yarn__StopContainersResponseProto *m;
    json_t *failed = NULL;

    hadoop__yarn__stop_containers_request_proto__init(&q);
    q.container_id = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, (size_t)count);
    for (int i = 0; i < count; i++)
        q.container_id[q.n_container_id++] =
            yarn_container_id_to(a, container_id(other, first + i));
    m = call(am_client(app, "?", ""), "stopContainers", &q.base,
             &hadoop__yarn__stop_containers_response_proto__descriptor, a, &failed);
    if (!m)
        return failed;
    return json_pack("{s:o,s:o}", "ok", ids(m->n_succeeded_requests, m->succeeded_requests),
                     "failed", failures(m->n_failed_requests, m->failed_requests));
}

json_t *am_status(int app, int other, int64_t first, int count)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetContainerStatusesRequestProto q;
    const Hadoop__Yarn__GetContainerStatusesResponseProto *m;
    json_t *failed = NULL, *list = json_object();

    hadoop__yarn__get_container_statuses_request_proto__init(&q);
    q.container_id = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, (size_t)count);
    for (int i = 0; i < count; i++)
        q.container_id[q.n_container_id++] =
            yarn_container_id_to(a, container_id(other, first + i));
    m = call(am_client(app, "?", ""), "getContainerStatuses", &q.base,
             &hadoop__yarn__get_container_statuses_response_proto__descriptor, a, &failed);
    if (!m) {
        json_decref(list);
        return failed;
    }
    for (size_t i = 0; i < m->n_status; i++) {
        json_t *attributes = json_object();
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX];

        for (size_t j = 0; j < m->status[i]->n_container_attributes; j++)
            json_object_set_new(attributes, m->status[i]->container_attributes[j]->key,
                                json_string(m->status[i]->container_attributes[j]->value));
        if (yarn_container_id_from(m->status[i]->container_id, &id) == 0)
            json_object_set_new(
                list, yarn_container_id_text(id, text),
                json_pack("{s:i,s:i,s:i,s:s?,s:O}", "state", (int)m->status[i]->state, "sub",
                          (int)m->status[i]->container_sub_state, "exit", m->status[i]->exit_status,
                          "diagnostics", m->status[i]->diagnostics, "attributes", attributes));
        json_decref(attributes);
    }
    return json_pack("{s:o,s:o}", "status", list, "failed",
                     failures(m->n_failed_requests, m->failed_requests));
}

json_t *am_update(int app, int64_t n, const char *user, struct yarn_resource resource, int version,
                  const char *fault)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Common__TokenProto *token =
        am_container_token(a, app, n, user, resource, version, fault);
    const Hadoop__Yarn__ContainerUpdateResponseProto *m;
    Hadoop__Yarn__ContainerUpdateRequestProto q;
    json_t *failed = NULL;

    hadoop__yarn__container_update_request_proto__init(&q);
    q.n_update_container_token = 1;
    q.update_container_token = &token;
    m = call(am_client(app, "?", ""), "updateContainer", &q.base,
             &hadoop__yarn__container_update_response_proto__descriptor, a, &failed);
    if (!m)
        return failed;
    return json_pack("{s:o,s:o}", "ok", ids(m->n_succeeded_requests, m->succeeded_requests),
                     "failed", failures(m->n_failed_requests, m->failed_requests));
}

json_t *am_localization(int app, int64_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetLocalizationStatusesRequestProto q;
    const Hadoop__Yarn__GetLocalizationStatusesResponseProto *m;
    json_t *failed = NULL, *list = json_object();
    Hadoop__Yarn__ContainerIdProto *id = yarn_container_id_to(a, container_id(app, n));

    hadoop__yarn__get_localization_statuses_request_proto__init(&q);
    q.container_id = &id;
    q.n_container_id = 1;
    m = call(am_client(app, "?", ""), "getLocalizationStatuses", &q.base,
             &hadoop__yarn__get_localization_statuses_response_proto__descriptor, a, &failed);
    for (size_t i = 0; m && i < m->n_cntn_localization_statuses; i++) {
        const Hadoop__Yarn__ContainerLocalizationStatusesProto *s =
            m->cntn_localization_statuses[i];

        for (size_t j = 0; j < s->n_localization_statuses; j++)
            json_object_set_new(list, s->localization_statuses[j]->resource_key,
                                json_integer(s->localization_statuses[j]->localization_state));
    }
    if (m)
        return list;
    json_decref(list);
    return failed;
}

json_t *am_signal(int app, int other, int64_t n, int command)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SignalContainerRequestProto q;
    json_t *failed = NULL;

    hadoop__yarn__signal_container_request_proto__init(&q);
    q.container_id = yarn_container_id_to(a, container_id(other, n));
    q.command = (Hadoop__Yarn__SignalContainerCommandProto)command;
    if (!call(am_client(app, "?", ""), "signalToContainer", &q.base,
              &hadoop__yarn__signal_container_response_proto__descriptor, a, &failed))
        return failed;
    return json_object();
}
