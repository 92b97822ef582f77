/* Private to service/api/: one request while it is answered. */
#ifndef SELVEDGE_SERVICE_API_CALL_H
#define SELVEDGE_SERVICE_API_CALL_H

#include <jansson.h>

#include "service/api/api.h"
#include "service/api/uri.h"

#define SVC_STOP_MS 10000 /* for an application to end; then it is killed, as by Hadoop */

/* Why a request fails, as classes of Hadoop's exceptions: the route decides what status each
 * has. */
enum svc_failure {
    SVC_FAIL_NONE,
    SVC_FAIL_ARGUMENT, /* IllegalArgumentException */
    SVC_FAIL_REQUEST,  /* a YarnException of the route itself */
    SVC_FAIL_YARN,     /* a YarnException of what the route asked for */
    SVC_FAIL_ABSENT,   /* FileNotFoundException */
    SVC_FAIL_IO,       /* IOException */
    SVC_FAIL_DENIED,   /* AccessControlException */
    SVC_FAIL_LATE,     /* no answer in time */
    SVC_FAIL_JSON,     /* the body is not the JSON that the route takes */
    SVC_FAIL_N
};

struct svc_call {
    const struct svc_backend *b;
    const struct svc_settings *settings;
    const struct svc_request *q;
    const struct svc_uri *uri;
    struct sv_arena *arena;
    const char *service, *component, *instance; /* of the path; NULL: it has none */
    json_t *body;                               /* borrowed; NULL: no body */
    enum svc_failure failure;
    struct sv_error err;
    struct svc_answer *ret;
};

/* ---- Failures: all return -1 ---- */
int svc_fail(struct svc_call *c, enum svc_failure f, const char *fmt, ...) _printf_(3, 4);
/* For a backend's -errno, whose text is in c->err. */
int svc_fail_of(struct svc_call *c, int r);

/* ---- Answers ---- */
/* {uri, diagnostics, state}: NULL or "" is left out. */
int svc_say(struct svc_call *c, unsigned status, const char *uri, const char *diagnostics,
            const char *state);
/* As above, with an error's code: 0 = none. */
int svc_say_code(struct svc_call *c, unsigned status, const char *diagnostics, int code);
/* Answers a JSON value of a master's, and takes it. */
int svc_say_json(struct svc_call *c, json_t *value);
/* {exception, message, javaClassName}, as Jersey's handler of exceptions writes it. */
int svc_say_exception(struct svc_call *c, unsigned status, const char *name, const char *package,
                      const char *message);

/* ---- Reading JSON ---- */
/* The text, or NULL. */
const char *svc_text(const json_t *object, const char *key);
/* The components of a service's JSON: an array, maybe empty; NULL if it is none. */
json_t *svc_components(const json_t *service);
json_t *svc_component_of(const json_t *service, const char *name);

/* ---- Stored definitions ---- */
/* Fails unless it is a name of a service or component, in Hadoop's words. */
int svc_check_name(struct svc_call *c, const char *name) _must_use_;
/* *ret: a new reference. */
int svc_load(struct svc_call *c, const char *service, json_t **ret) _must_use_;
/* Replaces the definition by a tree, which is checked first. */
int svc_save(struct svc_call *c, const char *service, const json_t *tree) _must_use_;
/* The id in a stored definition: 1; 0: it was never started. */
int svc_id_of(struct svc_call *c, const json_t *service, struct yarn_app_id *ret) _must_use_;
/* Fails for archives and sources that are not there, once a file: before components inherit. */
int svc_look(struct svc_call *c, const struct svc_definition *d) _must_use_;
/* SVC_HADOOP for a request with "?unknown=ignored", which the command line's --hadoop sends. */
enum svc_dialect svc_dialect_of(const struct svc_call *c);
/* Parses, checks and completes a tree: what components inherit is in them, as Hadoop stores it.
 * The files that the body of the call names are looked at. */
int svc_complete(struct svc_call *c, const json_t *tree, enum svc_dialect dialect,
                 struct svc_definition **ret) _must_use_;

/* ---- The running service ---- */
/* Its application, which runs and has an address; else fails: "NAME is at STATE state, DOING can
 * only be invoked when service is running". */
int svc_running(struct svc_call *c, const json_t *stored, const char *doing, struct svc_app *ret)
    _must_use_;
/* Status of a service, of its master where there is one; *ret: a new reference. */
int svc_status(struct svc_call *c, const char *service, json_t **ret) _must_use_;
bool svc_is_upgrading(const json_t *status); /* rolling: UPGRADING, UPGRADING_AUTO_FINALIZE */

/* ---- Operations: the routes' functions. 0: c->ret is filled ---- */
int svc_op_create(struct svc_call *c);
int svc_op_status(struct svc_call *c);
int svc_op_instances(struct svc_call *c);
int svc_op_update(struct svc_call *c); /* PUT of a service: one of those below, by its state */
int svc_op_start(struct svc_call *c);
int svc_op_stop(struct svc_call *c);
int svc_op_destroy(struct svc_call *c);
int svc_op_lifetime(struct svc_call *c, int64_t seconds);
int svc_op_flex(struct svc_call *c);
int svc_op_decommission(struct svc_call *c);
int svc_op_upgrade(struct svc_call *c, const char *state);
int svc_op_cancel_upgrade(struct svc_call *c);
int svc_op_component(struct svc_call *c);        /* PUT of one component */
int svc_op_components(struct svc_call *c);       /* PUT of several */
int svc_op_instance_upgrade(struct svc_call *c); /* PUT of one instance */
int svc_op_instances_upgrade(struct svc_call *c);

#endif
