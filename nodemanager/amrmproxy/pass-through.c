/* DefaultRequestInterceptor: each call goes to this NodeManager's own ResourceManager as it is,
 * with the real AMRMToken. See pipeline.h. Hostile: the request and the answer, which this file
 * does not look into but for the new token. */
#include <errno.h>
#include <stdlib.h>

#include "common/log.h"
#include "nodemanager/amrmproxy/dial.h"
#include "nodemanager/amrmproxy/interceptors.h"
#include "wire/exceptions.h"
#include "wire/ipc/methods.h"

struct pass {
    struct nm_amrm_attempt *at;
    struct ipc_proxy *rm;
    struct nm_amrm_call *call; /* open at the ResourceManager */
    bool old_token;            /* of `rm` */
};

static const struct {
    const char *name;
    const ProtobufCMessageDescriptor *response;
} methods[] = {
    [NM_AMRM_REGISTER] = { "registerApplicationMaster",
                           &hadoop__yarn__register_application_master_response_proto__descriptor },
    [NM_AMRM_ALLOCATE] = { "allocate", &hadoop__yarn__allocate_response_proto__descriptor },
    [NM_AMRM_FINISH] = { "finishApplicationMaster",
                         &hadoop__yarn__finish_application_master_response_proto__descriptor },
};

static int start(struct nm_amrm_attempt *at, void *shared, void **ret_self, struct sv_error *err)
{
    struct pass *p = calloc(1, sizeof(*p));

    (void)shared;
    if (!p)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    p->at = at;
    *ret_self = p;
    return 0;
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct pass *p = userdata;
    struct nm_amrm_call *call = SV_TAKE(p->call);

    if (!call) /* the attempt is gone */
        return;
    if (r->status < 0) {
        nm_amrm_fail(call, r->java_class ?: JAVA_IO_EXCEPTION, "%s",
                     r->status == -EREMOTEIO ? nm_amrm_exception_text(err) : err->text);
        return;
    }
    if (call->method == NM_AMRM_ALLOCATE) {
        const Hadoop__Yarn__AllocateResponseProto *m = (const void *)r->response;

        if (m->am_rm_token)
            nm_amrm_take_token(p->at, m->am_rm_token);
    }
    nm_amrm_answer(call, r->response);
}

static int connect_rm(struct pass *p, struct sv_error *err)
{
    if (p->rm && p->old_token)
        p->rm = ipc_proxy_free(p->rm); /* no call is open */
    p->old_token = false;
    if (p->rm)
        return 0;
    return nm_amrm_dial(p->at->env,
                        &(struct nm_amrm_dial){ .service = YARN_RM_SCHEDULER,
                                                .user = p->at->text,
                                                .token = &p->at->rm_token },
                        &p->rm, err);
}

static void handle(void *self, struct nm_amrm_call *call)
{
    struct pass *p = self;
    struct sv_error err = { 0 };
    int r = connect_rm(p, &err);

    if (r >= 0) {
        p->call = call;
        r = ipc_proxy_call(p->rm, methods[call->method].name, call->request,
                           methods[call->method].response, 0, on_answer, p, NULL);
        if (r < 0)
            (void)sv_error_errno(&err, r, "ResourceManager");
    }
    if (r < 0) {
        p->call = NULL;
        nm_amrm_fail(call, JAVA_IO_EXCEPTION, "%s", err.text);
    }
}

static void token(void *self)
{
    ((struct pass *)self)->old_token = true;
}

static void pass_free(void *self)
{
    struct pass *p = self;

    p->call = NULL;
    ipc_proxy_free(p->rm);
    free(p);
}

const struct nm_amrm_interceptor nm_amrm_pass_through = {
    .java_class = "org.apache.hadoop.yarn.server.nodemanager.amrmproxy.DefaultRequestInterceptor",
    .start = start,
    .handle = handle,
    .token = token,
    .free = pass_free,
};
