/* See router-conf.h. */
#include "router/router-conf.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "common/zookeeper/zk-conf.h"
#include "federation/policy/policy-conf.h"
#include "wire/sasl/auth-conf.h"

#define ROUTER "yarn.router."
#define CLASS "org.apache.hadoop.yarn.server.router.clientrm.FederationClientInterceptor"

enum {
    K_ADDRESS,
    K_BIND,
    K_WEB,
    K_HTTP,
    K_PIPELINE,
    K_RETRIES,
    K_PARTIAL,
    K_TIMEOUT,
    K_CALLS,
    K_AUTHORIZATION,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[K_COUNT] = {
    [K_ADDRESS] = { ROUTER "clientrm.address", SV_CONF_ADDRESS, "0.0.0.0:8050", .help = "Address for clients, who set it as their yarn.resourcemanager.address." },
    [K_BIND] = { ROUTER "bind-host", SV_CONF_STRING, NULL, .help = "Address to listen on in place of the host above." },
    [K_WEB] = { ROUTER "webapp.address", SV_CONF_ADDRESS, "0.0.0.0:8089", .help = "Address of /metrics." },
    [K_HTTP] = { "yarn.http.policy", SV_CONF_STRING, "HTTP_ONLY", .help = "With HTTPS_ONLY the Router has no web port: it serves no TLS." },
    [K_PIPELINE] = { ROUTER "clientrm.interceptor-class.pipeline", SV_CONF_STRING, CLASS, .help = "FederationClientInterceptor alone, or behind PassThroughClientRequestInterceptor; every other class is refused." },
    [K_RETRIES] = { ROUTER "submit.retry", SV_CONF_INT, "3", 0, 1000, .help = "Further members that a submission is tried at." },
    [K_PARTIAL] = { ROUTER "partial-result.enabled", SV_CONF_BOOL, "false", .help = "Whether lists and sums are answered without the members that fail; else the call fails." },
    [K_TIMEOUT] = { "selvedge.router.call-timeout", SV_CONF_DURATION, "30s", 100, 600000, 1000, "Time of one call to one member." },
    [K_CALLS] = { "selvedge.router.max-calls", SV_CONF_INT, "4096", 4, 100000, .help = "Calls of clients that are open at once, of which a quarter may wait for one member; one more is told to come again." },
    [K_AUTHORIZATION] = { "hadoop.security.authorization", SV_CONF_BOOL, "false", .help = "hadoop-policy.xml says who may call the Router: security.applicationclient.protocol.*, or the defaults. Read at the start." },
};

/* Classes whose rules would be passed over. */
static const struct {
    struct sv_conf_key key;
    const char *why;
} other_classes[] = {
    { { "hadoop.security.saslproperties.resolver.class", SV_CONF_STRING, "org.apache.hadoop.security.SaslPropertiesResolver" }, "protection by a client's address is not there; hadoop.rpc.protection holds for all" },
    { { "hadoop.security.impersonation.provider.class", SV_CONF_STRING, "org.apache.hadoop.security.authorize.DefaultImpersonationProvider" }, "who acts for others is said by hadoop.proxyuser.*" },
};

static const struct {
    const char *pattern, *why;
} unread[] = {
    { ROUTER "submit.interval.time", "the next member is tried at once" },
    { ROUTER "pipeline.cache-max-size", "there are no pipelines of users" },
    { ROUTER "interceptor.*", "there are no threads of users" },
    { ROUTER "asc-interceptor-max-size", "a master's answers do not pass here" },
    { ROUTER "rmadmin.*", "not there yet: operators ask each member" },
    { ROUTER "webapp.*", "not there yet: of the web server there is /metrics alone" },
    { ROUTER "deregister.subcluster.enabled", "not there yet: selvedge federation deregister does it" },
    { ROUTER "subcluster.*", "not there yet: no member is taken for lost" },
};
/* clang-format on */

static int refuse_key(struct sv_conf *conf, const struct sv_conf_key *key, struct sv_error *err,
                      const char *value, const char *why)
{
    char at[512];

    sv_conf_origin(conf, key, at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s is \"%.200s\": %s", at, value, why);
}

static int refuse(struct sv_conf *conf, int key, struct sv_error *err, const char *value,
                  const char *why)
{
    return refuse_key(conf, &keys[key], err, value, why);
}

static int check_classes(struct sv_conf *conf, struct sv_error *err)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(other_classes); i++) {
        const struct sv_conf_key *key = &other_classes[i].key;
        const char *value = NULL;
        int r = sv_conf_string(conf, key, &value, err);

        if (r < 0)
            return r;
        if (value && *value && !sv_streq(value, key->def))
            return refuse_key(conf, key, err, value, other_classes[i].why);
    }
    return 0;
}

static int check_pipeline(struct sv_conf *conf, struct sv_error *err)
{
    _cleanup_strv_ char **classes = NULL;
    const char *text;
    int r = sv_conf_string(conf, &keys[K_PIPELINE], &text, err);

    if (r == 0)
        r = sv_conf_list(conf, &keys[K_PIPELINE], &classes, err);
    for (char **c = classes; r == 0 && *c; c++)
        if (c[1] ? !sv_has_suffix(*c, ".PassThroughClientRequestInterceptor")
                 : !sv_streq(*c, CLASS))
            return refuse(conf, K_PIPELINE, err, text,
                          "this Router is a federation's; leave the key away, or set it to " CLASS);
    return r;
}

static int read_numbers(struct sv_conf *conf, struct rtr_conf *c, struct sv_error *err)
{
    int r = sv_conf_int(conf, &keys[K_RETRIES], &c->retries, err);

    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_PARTIAL], &c->partial, err);
    if (r == 0)
        r = sv_conf_duration_ms(conf, &keys[K_TIMEOUT], &c->timeout_ms, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_CALLS], &c->max_calls, err);
    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_AUTHORIZATION], &c->authorization, err);
    return r;
}

static int read_web(struct sv_conf *conf, struct rtr_conf *c, struct sv_error *err)
{
    const char *policy = NULL;
    int r = sv_conf_address(conf, &keys[K_WEB], &c->web_host, &c->web_port, err);

    if (r >= 0)
        r = sv_conf_string(conf, &keys[K_HTTP], &policy, err);
    if (r < 0)
        return r;
    if (sv_streq(policy, "HTTPS_ONLY")) {
        sv_log_notice("yarn.http.policy=HTTPS_ONLY: no web port, as the Router serves no TLS");
        c->web_host = NULL;
    } else if (!sv_streq(policy, "HTTP_ONLY") && !sv_streq(policy, "HTTP_AND_HTTPS")) {
        return refuse(conf, K_HTTP, err, policy,
                      "expected HTTP_ONLY, HTTPS_ONLY or HTTP_AND_HTTPS");
    }
    return 0;
}

int rtr_conf_read(struct sv_conf *conf, struct rtr_conf *ret, struct sv_error *err)
{
    struct rtr_conf c = { 0 };
    const char *bind;
    int r = sv_conf_address(conf, &keys[K_ADDRESS], &c.host, &c.port, err);

    if (r >= 0)
        r = sv_conf_string(conf, &keys[K_BIND], &bind, err);
    if (r >= 0)
        r = read_web(conf, &c, err);
    if (r >= 0)
        r = check_pipeline(conf, err);
    if (r >= 0)
        r = check_classes(conf, err);
    if (r >= 0)
        r = rtr_conf_tokens_read(conf, &c.tokens, err);
    if (r >= 0)
        r = read_numbers(conf, &c, err);
    if (r >= 0)
        r = ipc_settings_read(conf, &c.ipc, err);
    if (r >= 0)
        r = sv_web_auth_read_groups(conf, &c.auth, err);
    if (r >= 0)
        r = rtr_conf_kerberos_read(conf, &c.kerberos, err);
    if (r < 0)
        return r;
    if (bind && *bind) {
        c.host = bind;
        c.web_host = c.web_host ? bind : NULL;
    }
    *ret = c;
    return 0;
}

void rtr_conf_clear(struct rtr_conf *c)
{
    rtr_conf_kerberos_free(&c->kerberos);
}

static bool is_key(const struct sv_conf_key *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sv_streq(table[i].name, name))
            return true;
    return false;
}

static const char *why_unread(const char *name)
{
    size_t n;
    const struct sv_conf_key *kerberos = rtr_conf_kerberos_keys(&n);

    if (is_key(keys, K_COUNT, name) || is_key(kerberos, n, name))
        return NULL;
    for (size_t i = 0; i < SV_ARRAY_LEN(unread); i++)
        if (fnmatch(unread[i].pattern, name, 0) == 0)
            return unread[i].why;
    return "no key of the Router";
}

static int on_key(const char *name, const char *value, void *userdata)
{
    const char *why = sv_has_prefix(name, ROUTER) ? why_unread(name) : NULL;

    (void)value;
    (void)userdata;
    if (why)
        sv_log_notice("configuration: %s is ignored: %s", name, why);
    return 0;
}

void rtr_conf_log_unread(struct sv_conf *conf)
{
    int r = sv_conf_each(conf, on_key, NULL);

    if (r < 0)
        sv_log_warning("configuration: keys are not compared: %s", strerror(-r));
}

static void print_key(struct sv_conf *conf, const struct sv_conf_key *key, FILE *out)
{
    const char *set = sv_conf_raw(conf, key->name);
    bool secret = set && fed_store_key_is_secret(key->name);

    fprintf(out, "%s\t%s\t%s\n", key->name, secret ? "***" : set ? set : key->def ?: "", key->help);
}

void rtr_conf_print(struct sv_conf *conf, FILE *out)
{
    size_t n[9] = { K_COUNT };
    const struct sv_conf_key *tables[] = { keys,
                                           fed_store_conf_keys(&n[1]),
                                           sv_zk_conf_keys(&n[2]),
                                           fed_policy_conf_keys(&n[3]),
                                           ipc_settings_keys(&n[4]),
                                           sv_web_auth_group_keys(&n[5]),
                                           rtr_conf_kerberos_keys(&n[6]),
                                           yarn_auth_key(),
                                           rtr_conf_tokens_keys(&n[8]) };

    n[7] = 1;
    for (size_t i = 0; i < SV_ARRAY_LEN(tables); i++)
        for (size_t k = 0; k < n[i]; k++)
            print_key(conf, &tables[i][k], out);
}

/* Without the folder of this build. */
static const char *shown_default(const struct sv_conf_key *key)
{
    static const char own[] = LIBEXECDIR "/";
    const char *def = key->def ?: "";

    return sv_has_prefix(def, own) ? def + strlen(own) : def;
}

void rtr_conf_print_keys(FILE *out)
{
    size_t n[3] = { K_COUNT };
    const struct sv_conf_key *tables[] = { keys, rtr_conf_kerberos_keys(&n[1]),
                                           rtr_conf_tokens_keys(&n[2]) };

    fputs("| key | default | here | meaning or reason |\n|---|---|---|---|\n", out);
    for (size_t t = 0; t < SV_ARRAY_LEN(tables); t++)
        for (size_t i = 0; i < n[t]; i++)
            fprintf(out, "| `%s` | %s | honoured | %s |\n", tables[t][i].name,
                    shown_default(&tables[t][i]), tables[t][i].help);
    for (size_t i = 0; i < SV_ARRAY_LEN(other_classes); i++)
        fprintf(out, "| `%s` | %s | others refused | %s |\n", other_classes[i].key.name,
                other_classes[i].key.def, other_classes[i].why);
    for (size_t i = 0; i < SV_ARRAY_LEN(unread); i++)
        fprintf(out, "| `%s` | | ignored | %s |\n", unread[i].pattern, unread[i].why);
}
