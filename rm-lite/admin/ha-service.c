/* See ha-service.h. Part of admin-service.c's table. */
#include "rm-lite/admin/ha-service.h"

#include "common/base.h"
#include "wire/ipc/methods.h"

#define JAVA_SERVICE_FAILED "org.apache.hadoop.ha.ServiceFailedException"
#define ALWAYS_ACTIVE "selvedge-rm has no standby and is always active"

#define ON(name)                                                                                   \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)

ON(monitorHealth)
{
    Hadoop__Common__MonitorHealthResponseProto resp =
        HADOOP__COMMON__MONITOR_HEALTH_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    ipc_call_reply(call, &resp.base);
}

ON(getServiceStatus)
{
    Hadoop__Common__GetServiceStatusResponseProto resp =
        HADOOP__COMMON__GET_SERVICE_STATUS_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    resp.state = HADOOP__COMMON__HASERVICE_STATE_PROTO__ACTIVE;
    resp.has_readytobecomeactive = true;
    resp.readytobecomeactive = true;
    ipc_call_reply(call, &resp.base);
}

/* Already active. */
ON(transitionToActive)
{
    Hadoop__Common__TransitionToActiveResponseProto resp =
        HADOOP__COMMON__TRANSITION_TO_ACTIVE_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    ipc_call_reply(call, &resp.base);
}

ON(transitionToStandby)
{
    (void)request;
    (void)userdata;
    ipc_call_fail(call, JAVA_SERVICE_FAILED, ALWAYS_ACTIVE);
}

#define on_transitionToObserver on_transitionToStandby

static const struct ipc_method_off off[] = { { "transitionToStandby", true, ALWAYS_ACTIVE },
                                             { "transitionToObserver", true, ALWAYS_ACTIVE },
                                             { 0 } };

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { HADOOP_HA_SERVICE_METHODS(ROW) };
const struct ipc_protocol rm_ha_protocol = {
    .name = HADOOP_HA_SERVICE_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
    .off = off,
};
