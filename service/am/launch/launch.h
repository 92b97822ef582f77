/* The launch of an instance: files, environment and command of its container, with tokens replaced.
 * Blocking, by a job of the worker: it reads sources and stores what was rendered. Hostile: the
 * definition, and what its sources have. */
#ifndef SELVEDGE_SERVICE_AM_LAUNCH_LAUNCH_H
#define SELVEDGE_SERVICE_AM_LAUNCH_LAUNCH_H

#include "service/am/facts/peers.h"
#include "service/am/launch/files.h"
#include "service/am/launch/plan.h"
#include "service/definition/tokens.h"

#define SVC_COMMAND_MAX ((size_t)128 << 10) /* bytes, after the replacement */
#define SVC_HOSTS_FILE "conf/selvedge-hosts"
#define SVC_LAUNCH_MAX ((size_t)16 << 20) /* of one launch in memory */

struct svc_launch_request {
    struct svc_component_plan *component;
    const struct svc_definition *definition;
    const struct svc_tokens *tokens; /* the service's */
    struct svc_peers *peers;         /* NULL: of no other instance is known */
    const char *user;
    const char *instance, *container; /* names */
    const uint8_t *credentials;       /* of the container; NULL: none */
    size_t credentials_len;
};

/* In the arena. An error names component and file. */
int svc_launch_prepare(struct svc_files *files, const struct svc_launch_request *q,
                       struct sv_arena *a, struct cli_launch *ret, struct sv_error *err) _must_use_;
/* Tokens of the service, for svc_launch_request. */
int svc_launch_tokens(const struct svc_definition *d, struct sv_conf *conf, const char *user,
                      const char *directory_url, struct svc_tokens **ret, struct sv_error *err)
    _must_use_;

#endif
