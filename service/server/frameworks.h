/* The FrameworkLauncher in this program: service/launcher/ with the loop, the ResourceManager, the
 * processes that submit and kill, and HTTP. Hostile: clients of the port, and masters. */
#ifndef SELVEDGE_SERVICE_SERVER_FRAMEWORKS_H
#define SELVEDGE_SERVICE_SERVER_FRAMEWORKS_H

#include "common/web/http.h"
#include "common/web/series.h"
#include "service/launcher/settings.h"
#include "service/server/flight.h"

struct sgss_daemon;
struct svc_frameworks;

struct svc_frameworks_config { /* all outlive it */
    sd_event *event;
    const struct svc_conf *conf;
    const struct svc_lr_settings *settings;
    struct svc_flights *flights;
    struct sgss_daemon *kerberos; /* NULL: without Kerberos */
    uint16_t port;                /* of the server, for masters */
};

/* Opens the store, and goes on with what is in it. */
int svc_frameworks_new(const struct svc_frameworks_config *cfg, struct svc_frameworks **ret,
                       struct sv_error *err) _must_use_;
struct svc_frameworks *svc_frameworks_free(struct svc_frameworks *s); /* the HTTP server first */
/* True for the paths of the launcher, and for those of masters, who have tokens of their own. */
bool svc_frameworks_takes(const char *uri);
bool svc_frameworks_is_link(const char *uri);
/* For the handler of the HTTP server; `user`: whom the gate let pass, "" = nobody. */
int svc_frameworks_answer(struct svc_frameworks *s, const struct sv_http_request *req,
                          const char *user, struct sv_http_response *ret) _must_use_;
/* Another server does the work, or none can say that it does. Fills `ret` with a redirect there, or
 * 503. `redirects` false: 503 in every case. -ENOMEM. */
bool svc_frameworks_stands_by(const struct svc_frameworks *s);
int svc_frameworks_away(const struct svc_frameworks *s, const struct sv_http_request *req,
                        bool redirects, struct sv_http_response *ret) _must_use_;
/* Requests' processes have ended. */
void svc_frameworks_woken(struct svc_frameworks *s);
void svc_frameworks_series(const struct svc_frameworks *s, struct sv_series *out);

#endif
