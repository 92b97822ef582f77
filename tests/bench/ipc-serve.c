/* Selvedge's server for `make bench-ipc`: an IPC server with the one method that the load generator
 * calls, ContainerManagementProtocol.getContainerStatuses, which answers every container of the
 * request as running. Prints "ready PORT" and ends when its standard input ends. Its twin in Java
 * is tests/bench/java/IpcServe.java: both answer with the same bytes, which ipc-load checks. */
#include <stdio.h>

#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__ContainerStatusProto status;

static void on_statuses(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    const Hadoop__Yarn__GetContainerStatusesRequestProto *m = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__GetContainerStatusesResponseProto out =
        HADOOP__YARN__GET_CONTAINER_STATUSES_RESPONSE_PROTO__INIT;
    out.status = sv_newn(a, status *, m->n_container_id);
    status *all = sv_newn(a, status, m->n_container_id);
    if (!out.status || !all) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "out of memory");
        return;
    }
    for (size_t i = 0; i < m->n_container_id; i++) {
        hadoop__yarn__container_status_proto__init(&all[i]);
        all[i].container_id = m->container_id[i];
        all[i].has_state = 1;
        all[i].state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
        all[i].diagnostics = (char *)"";
        all[i].has_exit_status = 1;
        all[i].exit_status = -1000;
        out.status[out.n_status++] = &all[i];
    }
    ipc_call_reply(call, &out.base);
}

static const struct ipc_method methods[] = {
    { "getContainerStatuses", &hadoop__yarn__get_container_statuses_request_proto__descriptor,
      &hadoop__yarn__get_container_statuses_response_proto__descriptor, on_statuses },
};
static const struct ipc_protocol protocol = { YARN_CONTAINER_MANAGEMENT_PROTOCOL, 1, methods,
                                              SV_ARRAY_LEN(methods) };

static int on_stdin(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)fd, (void)revents, (void)userdata;
    return sd_event_exit(sd_event_source_get_event(src), 0);
}

int main(void)
{
    static const struct ipc_protocol *const protocols[] = { &protocol, NULL };
    const struct ipc_server_config cfg = { .allow_simple = true,
                                           .protocols = protocols,
                                           .limits = { .max_connections = 20000,
                                                       .max_per_address = 20000 } };
    struct sv_error err = { 0 };
    struct ipc_server *server;
    sd_event *event = NULL;
    if (sd_event_default(&event) < 0)
        return 1;
    if (ipc_server_new(event, &cfg, &server, &err) < 0 ||
        sd_event_add_io(event, NULL, 0, EPOLLIN | EPOLLHUP, on_stdin, NULL) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("ready %u\n", ipc_server_port(server));
    fflush(stdout);
    int r = sd_event_loop(event);
    ipc_server_free(server);
    sd_event_unref(event);
    return r < 0;
}
