/* Keys of all auxiliary services. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define NM "yarn.nodemanager."

enum { K_AUX, K_AUX_START, K_AUX_EVENT, K_AUX_PROGRAMS, K_AUX_CLASSPATH, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_AUX] = { NM "aux-services", SV_CONF_LIST, "", .help = "Auxiliary services: mapreduce_shuffle, or names with selvedge.nodemanager.aux-services.<name>.command, a program and its arguments, or .socket and .socket-user, the Unix socket of a service with a unit of its own and the account behind it. Further keys of a service: .memory-mb (0 = no limit), .open-files (65536) and .properties, prefixes of keys that it gets." },
    [K_AUX_START] = { "selvedge.nodemanager.aux-services.start-timeout-ms", SV_CONF_DURATION, "30000", 1, 3600000, 1, "Time for an auxiliary service to be ready; the node registers when all are ready or this is over." },
    [K_AUX_EVENT] = { "selvedge.nodemanager.aux-services.event-timeout-ms", SV_CONF_DURATION, "60000", 1, 3600000, 1, "Time for an auxiliary service to answer an event; one that does not is killed and restarted." },
    [K_AUX_PROGRAMS] = { "selvedge.nodemanager.aux-services.programs", SV_CONF_STRING, LIBEXECDIR, .help = "Directory of selvedge-shuffle and selvedge-java-service, which run mapreduce_shuffle and classes of Java." },
    [K_AUX_CLASSPATH] = { "selvedge.nodemanager.aux-services.hadoop-classpath", SV_CONF_STRING, "", .help = "Class path of Hadoop for auxiliary services in Java; default: what the command `hadoop classpath` says." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_aux_services_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* The names become variables of containers (NM_AUX_SERVICE_…) and directories. */
static bool is_service_name(const char *s)
{
    size_t n = strlen(s);

    return n > 0 && n <= 64 && !(*s >= '0' && *s <= '9') &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

int nm_conf_aux_services_read(struct nm_conf *c, struct sv_error *err)
{
    int r;

    NM_CONF_GET(sv_conf_list, K_AUX, &c->aux_services);
    NM_CONF_GET(sv_conf_duration_ms, K_AUX_START, &c->aux_start_timeout_ms);
    NM_CONF_GET(sv_conf_duration_ms, K_AUX_EVENT, &c->aux_event_timeout_ms);
    NM_CONF_GET(sv_conf_string, K_AUX_PROGRAMS, &c->aux_programs);
    NM_CONF_GET(sv_conf_string, K_AUX_CLASSPATH, &c->aux_hadoop_classpath);
    for (char **a = c->aux_services; a && *a; a++) {
        if (!is_service_name(*a))
            return sv_error_set(err, -EINVAL,
                                "%s: \"%s\" is not a name of letters, digits and _ that does not "
                                "begin with a digit, at most 64 characters",
                                keys[K_AUX].name, *a);
        for (char **b = c->aux_services; b < a; b++)
            if (sv_streq(*a, *b))
                return sv_error_set(err, -EINVAL, "%s: \"%s\" is listed twice", keys[K_AUX].name,
                                    *a);
    }
    return 0;
}
