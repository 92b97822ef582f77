/* See conf.h. */
#include "service/server/conf.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "service/cluster/cluster.h"

enum {
    K_ADDRESS,
    K_SOCKET,
    K_RELAY_USER,
    K_TIMEOUT,
    K_REQUESTS,
    K_USER_REQUESTS,
    K_USER_SERVICES,
    K_UPGRADES,
    K_DOMAIN,
    K_PROGRAM,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ADDRESS] = { "yarn.service.api-server.address", SV_CONF_ADDRESS, "0.0.0.0:9191", .help = "Address of the services API." },
    [K_SOCKET] = { "selvedge.resourcemanager.services.socket", SV_CONF_STRING, "/run/selvedge-services/socket", .help = "Socket where selvedge-services serves a ResourceManager of its machine, and where selvedge-rm finds it." },
    [K_RELAY_USER] = { "selvedge.services.relay-user", SV_CONF_STRING, "yarn", .help = "Account of that ResourceManager: it alone, root and the server's own account may connect there and say who a caller is." },
    [K_TIMEOUT] = { "selvedge.services.request-timeout", SV_CONF_DURATION, "60s", 1000, 600000, 1000, .help = "Time of one request, with all its calls to the file system, the ResourceManager and the master." },
    [K_REQUESTS] = { "selvedge.services.max-requests", SV_CONF_INT, "32", 1, 256, .help = "Requests that are served at once, a process each; one more is answered 503." },
    [K_USER_REQUESTS] = { "selvedge.services.max-requests-per-user", SV_CONF_INT, "8", 1, 256, .help = "As above, of one user." },
    [K_USER_SERVICES] = { "selvedge.services.max-per-user", SV_CONF_INT, "1000", 1, 10000, .help = "Services that a user may have stored." },
    [K_UPGRADES] = { "yarn.service.upgrade.enabled", SV_CONF_BOOL, "false", .help = "Whether services may be upgraded." },
    [K_DOMAIN] = { "hadoop.registry.dns.domain-name", SV_CONF_STRING, NULL, .help = "Last part of the instances' host names, which a decommission may name." },
    [K_PROGRAM] = { "selvedge.service.master.program", SV_CONF_STRING, SELVEDGE_LIBEXECDIR "/selvedge-service-am", .help = "File of this machine: the master that nodes fetch." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

static int read_numbers(struct sv_conf *conf, struct svc_conf *c, struct sv_error *err)
{
    int64_t services = 0;
    int r = sv_conf_duration_ms(conf, &keys[K_TIMEOUT], &c->timeout_ms, err);

    if (r == 0)
        r = sv_conf_int(conf, &keys[K_REQUESTS], &c->max_requests, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_USER_REQUESTS], &c->max_user_requests, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_USER_SERVICES], &services, err);
    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_UPGRADES], &c->settings.upgrades, err);
    c->settings.max_services = (int)services;
    return r;
}

static int check_socket(const struct svc_conf *c, struct sv_error *err)
{
    if (*c->socket != '/' || strlen(c->socket) > SVC_SOCKET_MAX)
        return sv_error_set(err, -EINVAL,
                            "selvedge.resourcemanager.services.socket=%s: an absolute path of at "
                            "most %d bytes",
                            c->socket, SVC_SOCKET_MAX);
    return 0;
}

static int read_texts(struct sv_conf *conf, struct svc_conf *c, struct sv_error *err)
{
    int r = sv_conf_address(conf, &keys[K_ADDRESS], &c->host, &c->port, err);

    if (r == 0)
        r = sv_conf_string(conf, &keys[K_SOCKET], &c->socket, err);
    if (r == 0)
        r = sv_conf_string(conf, &keys[K_RELAY_USER], &c->relay_user, err);
    if (r == 0)
        r = sv_conf_string(conf, &keys[K_DOMAIN], &c->settings.dns_domain, err);
    if (r == 0)
        r = sv_conf_string(conf, &keys[K_PROGRAM], &c->program, err);
    return r < 0 ? r : check_socket(c, err);
}

/* Nobody here judges tickets without Kerberos: another daemon's cookies are left. */
static int check_login(const struct svc_conf *c, struct sv_error *err)
{
    if (!c->kerberos.on && sv_streq(c->auth.auth_type, "kerberos") && c->auth.own_secret)
        return sv_error_set(err, -EINVAL,
                            "hadoop.http.authentication.type=kerberos: this server judges no "
                            "tickets, and accepts only cookies that another daemon has signed; set "
                            "hadoop.http.authentication.signature.secret.file");
    return 0;
}

int svc_conf_read(struct sv_conf *conf, struct svc_conf *ret, struct sv_error *err)
{
    struct svc_conf c = { .conf = conf };
    int r = svc_kerberos_conf_read(conf, &c.kerberos, err);

    if (r >= 0)
        r = read_numbers(conf, &c, err);
    if (r >= 0)
        r = read_texts(conf, &c, err);
    if (r >= 0)
        r = svc_lr_settings_read(conf, &c.frameworks, err);
    if (r >= 0)
        r = sv_web_login_read(conf, &c.login, err);
    if (r >= 0)
        r = sv_web_auth_read(conf, &c.login, &c.auth, err);
    if (r >= 0)
        r = check_login(&c, err);
    if (r < 0) {
        svc_conf_free(&c);
        return r;
    }
    *ret = c;
    return 0;
}

void svc_conf_free(struct svc_conf *c)
{
    sv_web_auth_free(&c->auth);
    sv_web_login_free(&c->login);
    svc_kerberos_conf_free(&c->kerberos);
    svc_lr_settings_free(&c->frameworks);
}

void svc_conf_print(struct sv_conf *conf, FILE *out)
{
    size_t n[7];
    const struct sv_conf_key *rows[] = { keys,
                                         svc_cluster_keys(&n[1]),
                                         sv_web_auth_keys(&n[2]),
                                         sv_web_login_keys(&n[3]),
                                         svc_kerberos_conf_keys(&n[4]),
                                         svc_lr_keys(&n[5]),
                                         sv_zk_conf_keys(&n[6]) };

    n[0] = SV_ARRAY_LEN(keys);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < n[i]; k++) {
            const char *set = sv_conf_raw(conf, rows[i][k].name);

            fprintf(out, "%s\t%s\t%s\n", rows[i][k].name, set ? set : rows[i][k].def ?: "",
                    rows[i][k].help);
        }
}
