/* See client.h. Calls to the ResourceManager's administrators' port:
 * ResourceManagerAdministrationProtocol. */
#include <errno.h>

#include "client/lib/internal.h"
#include "proto/yarn_admin.pb-c.h"

static void done_answer(struct cli_call *call, const struct ipc_result *r,
                        const struct sv_error *err)
{
    call->fn.done(r->status, err, call->userdata);
}

int cli_rm_refresh_queues(struct cli_rm *rm, cli_done_fn fn, void *userdata)
{
    Hadoop__Yarn__RefreshQueuesRequestProto request =
        HADOOP__YARN__REFRESH_QUEUES_REQUEST_PROTO__INIT;

    return cli_call_start(
        rm, "refreshQueues", &request.base,
        &hadoop__yarn__refresh_queues_response_proto__descriptor,
        (struct cli_call){ .answer = done_answer, .fn = { .done = fn }, .userdata = userdata });
}

int cli_rm_refresh_nodes(struct cli_rm *rm, bool graceful, int32_t timeout_s, cli_done_fn fn,
                         void *userdata)
{
    Hadoop__Yarn__RefreshNodesRequestProto request =
        HADOOP__YARN__REFRESH_NODES_REQUEST_PROTO__INIT;

    request.has_decommissiontype = graceful;
    request.decommissiontype = HADOOP__YARN__DECOMMISSION_TYPE_PROTO__GRACEFUL;
    request.has_decommissiontimeout = graceful && timeout_s >= 0;
    request.decommissiontimeout = timeout_s;
    return cli_call_start(
        rm, "refreshNodes", &request.base, &hadoop__yarn__refresh_nodes_response_proto__descriptor,
        (struct cli_call){ .answer = done_answer, .fn = { .done = fn }, .userdata = userdata });
}
