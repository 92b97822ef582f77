/* See token-service.h. Server by server. */
#include "client/lib/token-service.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/loop-guard.h"
#include "wire/ipc/resolve.h"

struct cli_service_name {
    sd_event *event;
    const struct cli_service_server *servers; /* a copy */
    size_t n, at;
    bool by_name;
    cli_service_fn fn;
    void *userdata;
    sd_event_source *turn;
    struct ipc_resolve *resolve;
    char text[CLI_SERVICE_MAX];
    size_t used;
    struct cli_service_server copy[];
};

static void add(struct cli_service_name *s, const char *host)
{
    const size_t room = sizeof(s->text) - s->used;
    int n = snprintf(s->text + s->used, room, "%s%s:%u", s->at ? "," : "", host,
                     s->servers[s->at].port);

    if (n > 0 && (size_t)n < room) /* else it is left out, as servers beyond the limit */
        s->used += (size_t)n;
    s->text[s->used] = 0;
    s->at++;
    (void)sd_event_source_set_enabled(s->turn, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static void add_address(struct cli_service_name *s, const struct ipc_addresses *list)
{
    const struct sockaddr *at = (const struct sockaddr *)&list->sa[0];
    char address[NI_MAXHOST];

    if (getnameinfo(at, list->len[0], address, sizeof(address), NULL, 0, NI_NUMERICHOST) != 0)
        (void)snprintf(address, sizeof(address), "%s", s->servers[s->at].host);
    add(s, address);
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct cli_service_name *s = userdata;

    s->resolve = ipc_resolve_free(s->resolve);
    if (status == 0)
        add_address(s, list);
    else
        add(s, s->servers[s->at].host);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cli_service_name *s = userdata;
    const struct cli_service_server *server = &s->servers[s->at];
    struct ipc_addresses list;

    (void)source;
    if (s->at == s->n)
        s->fn(s->text, s->userdata);
    else if (s->by_name)
        add(s, server->host);
    else if (ipc_resolve_numeric(server->host, server->port, &list))
        add_address(s, &list);
    else if (ipc_resolve_start(s->event, server->host, server->port, on_resolved, s, &s->resolve) <
             0)
        add(s, server->host);
    return 0;
}

int cli_service_name_find(sd_event *event, struct sv_conf *conf,
                          const struct cli_service_server *servers, size_t n, cli_service_fn fn,
                          void *userdata, struct cli_service_name **ret)
{
    const char *use_ip = sv_conf_raw(conf, "hadoop.security.token.service.use_ip");
    struct cli_service_name *s = calloc(1, sizeof(*s) + n * sizeof(s->copy[0]));
    int r;

    if (!s)
        return -ENOMEM;
    memcpy(s->copy, servers, n * sizeof(s->copy[0]));
    s->servers = s->copy;
    s->n = n;
    s->by_name = use_ip && strcasecmp(use_ip, "false") == 0;
    s->event = event;
    s->fn = fn;
    s->userdata = userdata;
    r = sd_event_add_defer(event, &s->turn, on_turn, s);
    if (r < 0) {
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct cli_service_name *cli_service_name_free(struct cli_service_name *s)
{
    if (!s)
        return NULL;
    ipc_resolve_free(s->resolve);
    sd_event_source_disable_unref(s->turn);
    free(s);
    return NULL;
}
