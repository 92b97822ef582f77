/* The services API's needs of the world: where definitions are stored, the ResourceManager, the
 * running master of a service. A struct of functions, so that the routes are tested without any of
 * them; service/cluster/ has the real ones.
 *
 * Every function acts as the caller of the request and ends in time: a function returns 0 or more,
 * or -errno with a text. -ENOENT: no such service or application; -EEXIST; -EACCES, -EPERM: not the
 * caller's; -ETIMEDOUT: the request's time is over; -EREMOTEIO: the ResourceManager or the master
 * refused, and the text is theirs. */
#ifndef SELVEDGE_SERVICE_API_BACKEND_H
#define SELVEDGE_SERVICE_API_BACKEND_H

#include "client/lib/client.h"
#include "service/definition/definition.h"

struct svc_app { /* of a service, as the ResourceManager sees it */
    struct yarn_app_id id;
    enum cli_app_state state;
    char host[256]; /* of the master; "" = not known yet */
    uint16_t port;
    int64_t lifetime_left_s; /* -1: unlimited */
};

struct svc_count {
    const char *component;
    int64_t count;
};
struct svc_names {
    const char *const *v;
    size_t n;
};

struct svc_backend {
    void *userdata; /* first argument of all */

    /* ---- Definitions of the caller; `version` NULL: the current one, else an upgrade's ---- */
    /* *ret is malloc'd JSON, at most SVC_JSON_MAX bytes, with a NUL. */
    int (*read)(void *b, const char *service, const char *version, char **ret,
                struct sv_error *err);
    int (*create)(void *b, const char *service, const char *version, const char *json,
                  struct sv_error *err);
    int (*replace)(void *b, const char *service, const char *json, struct sv_error *err);
    /* 1: removed, with all upgrades; 0: there was none. */
    int (*remove)(void *b, const char *service, struct sv_error *err);
    /* Number of the caller's services, exact where it is `most`, which is the most that is said. */
    int (*count)(void *b, int most, struct sv_error *err);

    /* A file that a definition names: 1: it is a directory; 0: a file, or where nobody looks.
     * -ENOENT: it is not there. */
    int (*look)(void *b, const char *name, struct sv_error *err);

    /* ---- The ResourceManager ---- */
    /* 1: an application of the caller's runs the service, or waits to. */
    int (*live)(void *b, const char *service, struct sv_error *err);
    int (*submit)(void *b, const struct svc_definition *d, struct yarn_app_id *ret,
                  struct sv_error *err);
    int (*report)(void *b, struct yarn_app_id id, struct svc_app *ret, struct sv_error *err);
    int (*kill)(void *b, struct yarn_app_id id, const char *why, struct sv_error *err);
    /* 1: ended; 0: not within this time. */
    int (*ended)(void *b, struct yarn_app_id id, int64_t ms, struct sv_error *err);
    int (*set_lifetime)(void *b, struct yarn_app_id id, int64_t seconds, struct sv_error *err);

    /* ---- The running master ---- */
    int (*status)(void *b, const struct svc_app *app, char **ret_json, struct sv_error *err);
    int (*stop)(void *b, const struct svc_app *app, struct sv_error *err);
    int (*restart)(void *b, const struct svc_app *app, struct sv_error *err);
    int (*flex)(void *b, const struct svc_app *app, const struct svc_count *counts, size_t n,
                struct sv_error *err);
    int (*decommission)(void *b, const struct svc_app *app, struct svc_names instances,
                        struct sv_error *err);
    int (*upgrade)(void *b, const struct svc_app *app, const char *version, bool auto_finalize,
                   bool express, struct sv_error *err);
    int (*cancel_upgrade)(void *b, const struct svc_app *app, struct sv_error *err);
    int (*upgrade_containers)(void *b, const struct svc_app *app, struct svc_names containers,
                              struct sv_error *err);
    int (*instances)(void *b, const struct svc_app *app, struct svc_names components,
                     const char *version, struct svc_names states, char **ret_json,
                     struct sv_error *err);
};

#endif
