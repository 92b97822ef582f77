/* See conf-labels.h. */
#include "nodemanager/conf/conf-labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define LABELS "yarn.nodemanager.node-labels."
#define ATTRIBUTES "yarn.nodemanager.node-attributes."

enum { K_PROVIDER, K_CONFIGURED, K_PATH, K_OPTS, K_INTERVAL, K_TIMEOUT, K_RESYNC, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[2 * K_COUNT] = {
    [K_PROVIDER] = { LABELS "provider", SV_CONF_STRING, NULL, .help = "Where this node's label is from: config or script; unset = the ResourceManager knows." },
    [K_CONFIGURED] = { LABELS "provider.configured-node-partition", SV_CONF_STRING, NULL, .help = "The label, with provider config; a reload applies a change." },
    [K_PATH] = { LABELS "provider.script.path", SV_CONF_STRING, NULL, .help = "Absolute path of the program that prints a line NODE_PARTITION:LABEL, with provider script." },
    [K_OPTS] = { LABELS "provider.script.opts", SV_CONF_LIST, "", .help = "Its arguments." },
    [K_INTERVAL] = { LABELS "provider.fetch-interval-ms", SV_CONF_INT, "600000", -1, INT32_MAX, .help = "Time from the start of one run to that of the next, at least 100; -1 = one run." },
    [K_TIMEOUT] = { LABELS "provider.fetch-timeout-ms", SV_CONF_INT, "1200000", 1, INT32_MAX, .help = "Time after which a run is killed." },
    [K_RESYNC] = { LABELS "resync-interval-ms", SV_CONF_INT, "120000", 0, INT32_MAX, .help = "Time after which the label is told again although it is the same." },
    [K_COUNT + K_PROVIDER] = { ATTRIBUTES "provider", SV_CONF_STRING, NULL, .help = "Where this node's attributes are from: config or script; unset = the ResourceManager knows." },
    [K_COUNT + K_CONFIGURED] = { ATTRIBUTES "provider.configured-node-attributes", SV_CONF_STRING, NULL, .help = "The attributes NAME,STRING,VALUE, with a colon between two, with provider config; a reload applies a change." },
    [K_COUNT + K_PATH] = { ATTRIBUTES "provider.script.path", SV_CONF_STRING, NULL, .help = "Absolute path of the program that prints lines NODE_ATTRIBUTE:NAME,STRING,VALUE, with provider script." },
    [K_COUNT + K_OPTS] = { ATTRIBUTES "provider.script.opts", SV_CONF_LIST, "", .help = "Its arguments." },
    [K_COUNT + K_INTERVAL] = { ATTRIBUTES "provider.fetch-interval-ms", SV_CONF_INT, "600000", -1, INT32_MAX, .help = "Time from the start of one run to that of the next, at least 100; -1 = one run." },
    [K_COUNT + K_TIMEOUT] = { ATTRIBUTES "provider.fetch-timeout-ms", SV_CONF_INT, "1200000", 1, INT32_MAX, .help = "Time after which a run is killed." },
    [K_COUNT + K_RESYNC] = { ATTRIBUTES "resync-interval-ms", SV_CONF_INT, "120000", 0, INT32_MAX, .help = "Time after which the attributes are told again although they are the same." },
};
/* clang-format on */

const struct sv_conf_key *nm_conf_labels_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static const struct sv_conf_key *key(enum nm_described kind, int k)
{
    return &keys[(kind == NM_LABELS ? 0 : K_COUNT) + k];
}

const char *nm_conf_labels_text(struct sv_conf *c, enum nm_described kind)
{
    return sv_conf_raw(c, key(kind, K_CONFIGURED)->name);
}

static int refuse(struct sv_conf *c, const struct sv_conf_key *k, const char *why,
                  struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, k, at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s is \"%.200s\": %s", at, sv_conf_raw(c, k->name) ?: "",
                        why);
}

static int read_provider(struct sv_conf *c, enum nm_described kind, enum nm_provider *ret,
                         struct sv_error *err)
{
    const struct sv_conf_key *k = key(kind, K_PROVIDER);
    const char *text;
    int r = sv_conf_string(c, k, &text, err);

    if (r < 0)
        return r;
    if (!text || !*text)
        *ret = NM_PROVIDER_NONE;
    else if (strcasecmp(text, "config") == 0)
        *ret = NM_PROVIDER_CONFIG;
    else if (strcasecmp(text, "script") == 0)
        *ret = NM_PROVIDER_SCRIPT;
    else
        return refuse(c, k,
                      "config and script are possible; a class of Java cannot run in this daemon: "
                      "let a script print what it would say",
                      err);
    return 0;
}

static int read_script(struct sv_conf *c, enum nm_described kind, char ***ret, struct sv_error *err)
{
    const struct sv_conf_key *k = key(kind, K_PATH);
    _cleanup_strv_ char **opts = NULL;
    const char *path;
    char **argv;
    size_t n;
    int r = sv_conf_string(c, k, &path, err);

    if (r >= 0)
        r = sv_conf_list(c, key(kind, K_OPTS), &opts, err);
    if (r < 0)
        return r;
    if (!path || *path != '/')
        return refuse(c, k, "provider script needs the absolute path of a program", err);
    n = sv_strv_len(opts);
    argv = calloc(n + 2, sizeof(*argv));
    if (!argv || !(argv[0] = strdup(path))) {
        free(argv);
        return sv_error_errno(err, -ENOMEM, "configuration");
    }
    for (size_t i = 0; i < n; i++) /* takes the strings over */
        argv[i + 1] = SV_TAKE(opts[i]);
    *ret = argv;
    return 0;
}

int nm_conf_labels_read(struct sv_conf *c, enum nm_described kind, struct nm_conf_labels *ret,
                        struct sv_error *err)
{
    _cleanup_free_ struct nm_labels *labels = calloc(1, sizeof(*labels));
    struct nm_conf_labels l = { 0 };
    int r = labels ? read_provider(c, kind, &l.provider, err)
                   : sv_error_errno(err, -ENOMEM, "configuration");

    if (r >= 0)
        r = sv_conf_int(c, key(kind, K_INTERVAL), &l.fetch_interval_ms, err);
    if (r >= 0)
        r = sv_conf_int(c, key(kind, K_TIMEOUT), &l.fetch_timeout_ms, err);
    if (r >= 0)
        r = sv_conf_int(c, key(kind, K_RESYNC), &l.resync_ms, err);
    if (r >= 0 && l.fetch_interval_ms >= 0 && l.fetch_interval_ms < 100)
        r = refuse(c, key(kind, K_INTERVAL), "at least 100 is needed, or -1 for one run", err);
    if (r >= 0 && l.provider == NM_PROVIDER_CONFIG) {
        struct sv_error why = { 0 };

        r = nm_labels_of_text(kind, nm_conf_labels_text(c, kind), labels, &why);
        if (r < 0)
            r = sv_error_set(err, -EINVAL, "%s: %s", key(kind, K_CONFIGURED)->name, why.text);
    }
    if (r >= 0 && l.provider == NM_PROVIDER_SCRIPT)
        r = read_script(c, kind, &l.argv, err);
    if (r >= 0)
        *ret = l;
    return r;
}

void nm_conf_labels_free(struct nm_conf_labels *l)
{
    l->argv = sv_strv_free(l->argv);
}
