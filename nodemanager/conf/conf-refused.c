/* See conf-refused.h. */
#include "nodemanager/conf/conf-refused.h"

#include <errno.h>

#include "common/ldap/ldap-conf.h"
#include "common/str.h"
#include "wire/sasl/auth-conf.h"

#define NM "yarn.nodemanager."
#define EXECUTORS "org.apache.hadoop.yarn.server.nodemanager."
#define LINUX_EXECUTOR EXECUTORS "LinuxContainerExecutor"
#define DEFAULT_EXECUTOR EXECUTORS "DefaultContainerExecutor"
#define GROUPS "org.apache.hadoop.security."
#define RESOLVER GROUPS "SaslPropertiesResolver" /* hadoop.rpc.protection for every address */
#define DIGEST_MD5 "DIGEST-MD5"

enum { K_EXECUTOR, K_FALLBACK, K_GROUPS, K_MECHANISM, K_RESOLVER, K_RUNTIMES, K_RUNTIME, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_EXECUTOR] = { NM "container-executor.class", SV_CONF_STRING, LINUX_EXECUTOR, .help = "LinuxContainerExecutor and DefaultContainerExecutor are taken: containers run as their user either way; others are refused." },
    [K_FALLBACK] = { "ipc.client.fallback-to-simple-auth-allowed", SV_CONF_BOOL, "false", .help = "With Kerberos true is refused: a service that does not ask for a ticket or token is never served." },
    [K_GROUPS] = { "hadoop.security.group.mapping", SV_CONF_STRING, GROUPS "JniBasedUnixGroupsMappingWithFallback", .help = "Hadoop's classes that ask the machine are taken, and LdapGroupsMapping; others are refused. hadoop.user.group.static.mapping.overrides is read." },
    [K_MECHANISM] = { "hadoop.security.sasl.mechanism", SV_CONF_STRING, DIGEST_MD5, .help = "How tokens are shown: DIGEST-MD5 is taken; others are refused." },
    [K_RESOLVER] = { "hadoop.security.saslproperties.resolver.class", SV_CONF_STRING, RESOLVER, .help = "Hadoop's default is taken; others, protection by address, are refused. hadoop.rpc.protection is read." },
    [K_RUNTIMES] = { NM "runtime.linux.allowed-runtimes", SV_CONF_LIST, "default", .help = "Must have `default`, the only runtime of this version; a container that requests another one is refused." },
    [K_RUNTIME] = { NM "runtime.linux.type", SV_CONF_STRING, NULL, .help = "Runtime of containers that request none; only `default` is possible." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_refused_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int refuse(struct sv_conf *c, int key, const char *value, const char *why,
                  struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, &keys[key], at, sizeof(at));
    return sv_error_set(err, -EOPNOTSUPP, "%s is \"%.64s\": %s", at, value, why);
}

static int check_runtimes(struct sv_conf *c, struct sv_error *err)
{
    static const char why[] = "this version has the runtime `default` alone, which runs containers "
                              "without an image; let the key name it";
    _cleanup_strv_ char **allowed = NULL;
    const char *type;
    int r = sv_conf_list(c, &keys[K_RUNTIMES], &allowed, err);

    if (r >= 0)
        r = sv_conf_string(c, &keys[K_RUNTIME], &type, err);
    if (r < 0)
        return r;
    if (type && *type && !sv_streq(type, "default"))
        return refuse(c, K_RUNTIME, type, why, err);
    for (char **a = allowed; a && *a; a++)
        if (sv_streq(*a, "default"))
            return 0;
    return refuse(c, K_RUNTIMES, sv_conf_raw(c, keys[K_RUNTIMES].name) ?: "", why, err);
}

static int check_executor(struct sv_conf *c, struct sv_error *err)
{
    const char *class;
    int r = sv_conf_string(c, &keys[K_EXECUTOR], &class, err);

    if (r < 0 || sv_streq(class, LINUX_EXECUTOR) || sv_streq(class, DEFAULT_EXECUTOR))
        return r;
    return refuse(c, K_EXECUTOR, class,
                  "this version starts containers in one way, by its own container-executor, and "
                  "would pass over what another class does; LinuxContainerExecutor accepts that",
                  err);
}

static int check_groups(struct sv_conf *c, struct sv_error *err)
{
    static const char *const system[] = {
        GROUPS "JniBasedUnixGroupsMappingWithFallback",
        GROUPS "JniBasedUnixGroupsMapping",
        GROUPS "ShellBasedUnixGroupsMapping",
    };
    struct sv_ldap_conf ldap = { .on = false };
    const char *class;
    int r = sv_conf_string(c, &keys[K_GROUPS], &class, err);

    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(system); i++)
        if (sv_streq(class, system[i]))
            return 0;
    if (r < 0)
        return r;
    if (sv_streq(class, SV_LDAP_MAPPING)) {
        r = sv_ldap_conf_read(c, &ldap, err);
        sv_ldap_conf_free(&ldap);
        return r;
    }
    return refuse(c, K_GROUPS, class,
                  "groups are those that this machine's name service has, or those of LDAP "
                  "(" SV_LDAP_MAPPING "): those of another source would be missing in access "
                  "lists",
                  err);
}

static int check_fallback(struct sv_conf *c, struct sv_error *err)
{
    bool kerberos, on;
    int r = yarn_auth_kerberos(c, &kerberos, err);

    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_FALLBACK], &on, err);
    if (r < 0 || !kerberos || !on)
        return r;
    return refuse(c, K_FALLBACK, "true",
                  "whoever takes the place of a service, or cuts into its connection, could then "
                  "have the node talk to it without a proof; set it to false",
                  err);
}

static int check_mechanism(struct sv_conf *c, struct sv_error *err)
{
    const char *name;
    int r = sv_conf_string(c, &keys[K_MECHANISM], &name, err);

    if (r < 0 || !*name || sv_streq(name, DIGEST_MD5))
        return r;
    return refuse(c, K_MECHANISM, name,
                  "ApplicationMasters, ResourceManager and node would know no common way to show a "
                  "token; this version has DIGEST-MD5 alone, Hadoop's default",
                  err);
}

static int check_resolver(struct sv_conf *c, struct sv_error *err)
{
    const char *class;
    int r = sv_conf_string(c, &keys[K_RESOLVER], &class, err);

    if (r < 0 || !*class || sv_streq(class, RESOLVER))
        return r;
    return refuse(c, K_RESOLVER, class,
                  "the protection of RPC is that of hadoop.rpc.protection for every address, and "
                  "the class may want more for some; unset it",
                  err);
}

int nm_conf_check_refused_at(struct sv_conf *c, size_t i, bool *ret_more, struct sv_error *err)
{
    static int (*const checks[])(struct sv_conf * c, struct sv_error * err) = {
        check_executor,  check_fallback, check_groups,
        check_mechanism, check_resolver, check_runtimes,
    };

    *ret_more = i + 1 < SV_ARRAY_LEN(checks);
    return checks[i](c, err);
}

int nm_conf_check_refused(struct sv_conf *c, struct sv_error *err)
{
    bool more = true;
    int r = 0;

    for (size_t i = 0; r >= 0 && more; i++)
        r = nm_conf_check_refused_at(c, i, &more, err);
    return r;
}
