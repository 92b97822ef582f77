/* URLs of applications. See tracking.h. */
#include "rm-lite/core/tracking.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"

/* "host:port" of the ResourceManager's web for other hosts. */
static void web_address(const struct rm *rm, char *buf, size_t size)
{
    const char *host = rm->conf.web.host;
    uint16_t port = rm->web_port ? rm->web_port : rm->conf.web.port;
    char own[HOST_NAME_MAX + 1] = "";

    if (!host || !*host || sv_streq(host, "0.0.0.0")) {
        host = rm->conf.bind_host && *rm->conf.bind_host && !sv_streq(rm->conf.bind_host, "0.0.0.0")
                   ? rm->conf.bind_host
                   : "localhost";
        if (sv_streq(host, "localhost") && gethostname(own, sizeof(own) - 1) == 0 && *own)
            host = own;
    }
    (void)snprintf(buf, size, "%s:%u", host, port);
}

const char *rm_web_scheme(const struct rm *rm)
{
    return rm->conf.web_server.https ? "https" : "http";
}

void rm_app_page(const struct rm_app *app, char *buf, size_t size)
{
    char web[300];

    web_address(app->rm, web, sizeof(web));
    (void)snprintf(buf, size, "%s://%s/cluster/app/%s", rm_web_scheme(app->rm), web, app->id_str);
}

void rm_tracking_url(const struct rm_attempt *att, char *buf, size_t size)
{
    char web[300];

    if (!att->tracking_url || !*att->tracking_url || sv_streq(att->tracking_url, "N/A")) {
        rm_app_page(att->app, buf, size);
        return;
    }
    web_address(att->rm, web, sizeof(web));
    (void)snprintf(buf, size, "%s://%s/proxy/%s/", rm_web_scheme(att->rm), web, att->app->id_str);
}
