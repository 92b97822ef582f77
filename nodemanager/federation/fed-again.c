/* A registration that the home has taken and whose answer is lost: the connection broke, or the
 * NodeManager was killed before the answer was on disk. A ResourceManager answers a registration
 * once. The master's answer is put together from what its user may ask instead: the queue, the
 * largest container, the types of resources. See fed-attempt.h. Hostile: the answers.
 *
 * With Kerberos it has a key that only the first answer had: there the registration fails, and the
 * ResourceManager starts another attempt. */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto response_proto;

static void refuse(struct nm_fed *f)
{
    if (f->call && f->call->method == NM_AMRM_REGISTER)
        nm_fed_fail(f, JAVA_INVALID_AM_REQUEST, "Application Master is already registered : %s",
                    f->at->app_text);
}

static void end(struct nm_fed *f)
{
    f->again = sv_arena_free(f->again);
    f->again_m = NULL;
}

/* ---- One question after the other ---- */

static void take_report(response_proto *m, struct sv_arena *a, const ProtobufCMessage *answer)
{
    const Hadoop__Yarn__GetApplicationReportResponseProto *r = (const void *)answer;

    if (r->application_report && r->application_report->queue)
        m->queue = sv_arena_strdup(a, r->application_report->queue);
}

static void take_largest(response_proto *m, struct sv_arena *a, const ProtobufCMessage *answer)
{
    const Hadoop__Yarn__GetNewApplicationResponseProto *r = (const void *)answer;

    (void)a;
    m->maximumcapability = r->maximumcapability;
}

static void take_types(response_proto *m, struct sv_arena *a, const ProtobufCMessage *answer)
{
    const Hadoop__Yarn__GetAllResourceTypeInfoResponseProto *r = (const void *)answer;

    (void)a;
    m->resource_types = r->resource_type_info;
    m->n_resource_types = r->n_resource_type_info;
}

static const struct question {
    const char *method;
    const ProtobufCMessageDescriptor *response;
    bool may_fail; /* ResourceManagers before 3.1 do not know it */
    void (*take)(response_proto *m, struct sv_arena *a, const ProtobufCMessage *answer);
} questions[] = {
    { "getApplicationReport", &hadoop__yarn__get_application_report_response_proto__descriptor,
      false, take_report },
    { "getNewApplication", &hadoop__yarn__get_new_application_response_proto__descriptor, false,
      take_largest },
    { "getResourceTypeInfo", &hadoop__yarn__get_all_resource_type_info_response_proto__descriptor,
      true, take_types },
};

/* The answer's arena goes, so what was taken of it is packed and read anew. */
static int keep(struct nm_fed *f)
{
    uint8_t *packed;
    size_t n;
    ProtobufCMessage *m = NULL;
    int r = nm_fed_pack(&f->again_m->base, &packed, &n);

    if (r < 0)
        return r;
    r = ipc_unpack(f->again, f->again_m->base.descriptor, packed, n, &m);
    free(packed);
    if (r >= 0)
        f->again_m = (response_proto *)m;
    return r;
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_fed *f = userdata;
    const struct question *q = &questions[f->again_asked];
    int32_t expected;
    int e = 0;

    if (r->status < 0 && nm_member_fault_of(r, err, &expected) == NM_FAULT_ABSENT) {
        nm_fed_flush_members(f);
        nm_fed_later(f);
        return;
    }
    if (r->status >= 0) {
        q->take(f->again_m, f->again, r->response);
        e = keep(f);
    }
    if (e < 0 || (r->status < 0 && !q->may_fail)) {
        sv_log_warning("%s: the home's answer to its registration is lost, and not to be had again "
                       "(%s)",
                       f->at->text, e < 0 ? strerror(-e) : err->text);
        end(f);
        refuse(f);
        return;
    }
    f->again_asked++;
    f->step(f);
}

static void ask(struct nm_fed *f)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct question *q = &questions[f->again_asked];
    const struct fed_member *home = nm_fed_listed(f, f->app.home);
    Hadoop__Yarn__GetApplicationReportRequestProto report =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__GetNewApplicationRequestProto none =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };

    if (f->home_ask.open)
        return;
    report.application_id = a ? yarn_app_id_to(a, f->at->id.app) : NULL;
    if (!home || !report.application_id ||
        nm_member_line_set_address(&f->home_ask, home->client) < 0 ||
        nm_member_line_call(&f->home_ask, q->method,
                            f->again_asked == 0 ? &report.base : &none.base, q->response, on_answer,
                            f, &err) < 0)
        nm_fed_later(f);
}

/* ---- The answer ---- */

static int finish(struct nm_fed *f)
{
    Hadoop__Yarn__SchedulerResourceTypes memory =
        HADOOP__YARN__SCHEDULER_RESOURCE_TYPES__MEMORY; /* every scheduler's */
    int r;

    f->again_m->scheduler_resource_types = &memory;
    f->again_m->n_scheduler_resource_types = 1;
    r = keep(f);
    if (r >= 0)
        r = nm_fed_pack(&f->again_m->base, &f->home_response, &f->n_home_response);
    if (r >= 0)
        r = nm_fed_collect(f, NM_FED_HOME, f->again_m, &f->again);
    return r;
}

void nm_fed_again(struct nm_fed *f)
{
    if (f->again)
        return;
    f->again = f->at->env->kerberos ? NULL : sv_arena_new(0);
    f->again_m = f->again ? sv_new(f->again, response_proto) : NULL;
    f->again_asked = 0;
    if (!f->again_m) {
        end(f);
        refuse(f);
        return;
    }
    hadoop__yarn__register_application_master_response_proto__init(f->again_m);
    sv_log_notice("%s: the home has registered it already, and the answer is lost: put together "
                  "anew",
                  f->at->text);
}

void nm_fed_again_step(struct nm_fed *f)
{
    int r;

    if (f->again_asked < SV_ARRAY_LEN(questions)) {
        ask(f);
        return;
    }
    r = finish(f);
    end(f);
    if (r < 0)
        refuse(f);
    else
        f->step(f);
}
