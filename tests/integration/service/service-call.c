/* One call of ClientAMProtocol, for tests/integration/service/test-service-am:
 *
 *   service-call HOST PORT USER METHOD [ARGUMENT]...
 *
 * flexComponents takes NAME=COUNT…, upgradeService VERSION, upgrade and decommissionCompInstances
 * names, getCompInstances a component. Prints what the answer has, or "CLASS: TEXT" of an exception
 * with exit status 1. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods-service.h"

#define ARGUMENTS_MAX 32

struct call {
    struct sv_arena *arena;
    char **arguments;
    size_t n;
};

static const ProtobufCMessage *flex(const struct call *c)
{
    Hadoop__Yarn__FlexComponentsRequestProto *m =
        sv_new(c->arena, Hadoop__Yarn__FlexComponentsRequestProto);

    hadoop__yarn__flex_components_request_proto__init(m);
    m->components = sv_newn(c->arena, Hadoop__Yarn__ComponentCountProto *, c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        Hadoop__Yarn__ComponentCountProto *one =
            sv_new(c->arena, Hadoop__Yarn__ComponentCountProto);
        char *equals = strchr(c->arguments[i], '=');

        hadoop__yarn__component_count_proto__init(one);
        one->name = c->arguments[i];
        one->has_numberofcontainers = equals != NULL;
        if (equals) {
            *equals = '\0';
            if (sv_parse_i64(equals + 1, INT64_MIN, INT64_MAX, &one->numberofcontainers) < 0)
                return NULL;
        }
        m->components[m->n_components++] = one;
    }
    return &m->base;
}

static const ProtobufCMessage *upgrade_service(const struct call *c)
{
    Hadoop__Yarn__UpgradeServiceRequestProto *m =
        sv_new(c->arena, Hadoop__Yarn__UpgradeServiceRequestProto);

    hadoop__yarn__upgrade_service_request_proto__init(m);
    m->version = c->n > 0 ? c->arguments[0] : NULL;
    return &m->base;
}

static const ProtobufCMessage *upgrade(const struct call *c)
{
    Hadoop__Yarn__CompInstancesUpgradeRequestProto *m =
        sv_new(c->arena, Hadoop__Yarn__CompInstancesUpgradeRequestProto);

    hadoop__yarn__comp_instances_upgrade_request_proto__init(m);
    m->containerids = c->arguments;
    m->n_containerids = c->n;
    return &m->base;
}

static const ProtobufCMessage *decommission(const struct call *c)
{
    Hadoop__Yarn__DecommissionCompInstancesRequestProto *m =
        sv_new(c->arena, Hadoop__Yarn__DecommissionCompInstancesRequestProto);

    hadoop__yarn__decommission_comp_instances_request_proto__init(m);
    m->compinstances = c->arguments;
    m->n_compinstances = c->n;
    return &m->base;
}

static const ProtobufCMessage *instances(const struct call *c)
{
    Hadoop__Yarn__GetCompInstancesRequestProto *m =
        sv_new(c->arena, Hadoop__Yarn__GetCompInstancesRequestProto);

    hadoop__yarn__get_comp_instances_request_proto__init(m);
    m->componentnames = c->arguments;
    m->n_componentnames = c->n;
    return &m->base;
}

static const struct method {
    const char *name;
    const ProtobufCMessageDescriptor *request, *response;
    const ProtobufCMessage *(*make)(const struct call *c); /* NULL: without fields */
} methods[] = {
#define METHOD(name, message, make)                                                                \
    {                                                                                              \
        name, &hadoop__yarn__##message##_request_proto__descriptor,                                \
            &hadoop__yarn__##message##_response_proto__descriptor, make                            \
    }
    METHOD("flexComponents", flex_components, flex),
    METHOD("getStatus", get_status, NULL),
    METHOD("stop", stop, NULL),
    METHOD("upgradeService", upgrade_service, upgrade_service),
    METHOD("cancelUpgrade", cancel_upgrade, NULL),
    METHOD("restartService", restart_service, NULL),
    METHOD("upgrade", comp_instances_upgrade, upgrade),
    METHOD("getCompInstances", get_comp_instances, instances),
    METHOD("decommissionCompInstances", decommission_comp_instances, decommission),
#undef METHOD
};

static void print_answer(const ProtobufCMessage *m)
{
    if (m->descriptor == &hadoop__yarn__get_status_response_proto__descriptor)
        puts(((const Hadoop__Yarn__GetStatusResponseProto *)m)->status);
    else if (m->descriptor == &hadoop__yarn__get_comp_instances_response_proto__descriptor)
        puts(((const Hadoop__Yarn__GetCompInstancesResponseProto *)m)->compinstances);
    else if (m->descriptor == &hadoop__yarn__upgrade_service_response_proto__descriptor &&
             ((const Hadoop__Yarn__UpgradeServiceResponseProto *)m)->error)
        puts(((const Hadoop__Yarn__UpgradeServiceResponseProto *)m)->error);
}

static int run(const struct ipc_client_config *cfg, const struct method *method,
               const struct call *call)
{
    ProtobufCMessage empty = { 0 }, *answer = NULL;
    const ProtobufCMessage *request = &empty;
    struct ipc_client *client = NULL;
    const char *java_class = NULL;
    struct sv_error err = { 0 };
    sd_event *event = NULL;
    int r = sd_event_new(&event);

    if (method->make)
        request = method->make(call);
    else /* a request without fields is its head alone */
        protobuf_c_message_init(method->request, &empty);
    if (r >= 0)
        r = ipc_client_new(event, cfg, &client, &err);
    if (r >= 0)
        r = ipc_client_call_sync(client, method->name, request, method->response, call->arena,
                                 &answer, &java_class, &err);
    if (r >= 0)
        print_answer(answer);
    else
        printf("%s: %s\n", java_class ? java_class : strerror(-r), err.text);
    ipc_client_free(client);
    sd_event_unref(event);
    return r < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct ipc_client_config cfg = { .protocol = YARN_SERVICE_AM_PROTOCOL, .version = 1 };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    uint64_t port = 0;

    if (argc < 5 || argc > 5 + ARGUMENTS_MAX || sv_parse_u64(argv[2], 1, 65535, &port) < 0 || !a)
        return 2;
    cfg.host = argv[1];
    cfg.port = (uint16_t)port;
    cfg.user = argv[3];
    for (size_t i = 0; i < SV_ARRAY_LEN(methods); i++) {
        const struct call call = { a, argv + 5, (size_t)argc - 5 };

        if (strcmp(methods[i].name, argv[4]) == 0)
            return run(&cfg, &methods[i], &call);
    }
    return 2;
}
