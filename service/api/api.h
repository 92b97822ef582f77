/* YARN's services API: the twelve routes of /v1/services, with the answers, codes and texts of
 * Hadoop's ApiServer (3.4.2). Blocking, by the functions of a backend: it runs in a process of its
 * own for each request. Hostile: the whole request; stored definitions; answers of masters, which
 * users run. */
#ifndef SELVEDGE_SERVICE_API_API_H
#define SELVEDGE_SERVICE_API_API_H

#include "service/api/backend.h"

#define SVC_HADOOP_VERSION "3.4.2"        /* whose answers these are */
#define SVC_ANSWER_MAX ((size_t)32 << 20) /* bytes of a master's status, and of an answer */

struct svc_settings {
    bool upgrades;          /* yarn.service.upgrade.enabled */
    const char *dns_domain; /* hadoop.registry.dns.domain-name, or NULL */
    int max_services;       /* of one user */
};

struct svc_request {
    const char *user; /* who calls; authenticated */
    const char *method;
    const char *uri; /* as sent, with the query: "/v1/services/…" or "/app/v1/services/…" */
    const void *body;
    size_t body_len;
    bool launcher; /* no client's: of the FrameworkLauncher in this program (service/cluster/) */
};

struct svc_answer {
    unsigned status;
    char *body; /* malloc'd JSON, or NULL */
    size_t body_len;
};

/* True for the paths of the API: the start of `uri`. */
bool svc_api_takes(const char *uri);
/* Always fills *ret; a NULL body of another status than 204 means that memory ran out. */
void svc_api_answer(const struct svc_backend *b, const struct svc_settings *s,
                    const struct svc_request *q, struct svc_answer *ret);

#endif
