/* See conf-health.h. NodeHealthScriptRunner has the same keys and defaults. */
#include "nodemanager/conf/conf-health.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define CHECKER "yarn.nodemanager.health-checker."
#define NAME_MAX_LEN 64
#define FOREVER (INT64_MAX / 1000) /* of ms: timers count in µs */

enum { K_SCRIPTS, K_INTERVAL, K_TIMEOUT, K_BEFORE_STARTUP, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_SCRIPTS] = { CHECKER "scripts", SV_CONF_LIST, "script", .help = "Names of health scripts, four at most. Further keys of a script: yarn.nodemanager.health-checker.<name>.path, .opts (arguments, separated by commas), .interval-ms and .timeout-ms (the two keys below unless set)." },
    [K_INTERVAL] = { CHECKER "interval-ms", SV_CONF_DURATION, "600000", 100, FOREVER, 1, "Time between two starts of a health script." },
    [K_TIMEOUT] = { CHECKER "timeout-ms", SV_CONF_DURATION, "1200000", 1, FOREVER, 1, "Time after which a health script is killed and the node is unhealthy." },
    [K_BEFORE_STARTUP] = { CHECKER "run-before-startup", SV_CONF_BOOL, "false", .help = "The node registers after the first run of its health scripts." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_health_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static bool is_name(const char *s)
{
    size_t n = strlen(s);

    return n <= NAME_MAX_LEN &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

static int check_names(char *const *names, struct sv_error *err)
{
    const char *key = keys[K_SCRIPTS].name;

    if (sv_strv_len(names) > NM_HEALTH_SCRIPTS_MAX)
        return sv_error_set(err, -EINVAL, "%s: %zu scripts; more than %d are not run", key,
                            sv_strv_len(names), NM_HEALTH_SCRIPTS_MAX);
    for (char *const *a = names; *a; a++) {
        if (!is_name(*a))
            return sv_error_set(err, -EINVAL,
                                "%s: \"%.80s\" is not a name of letters, digits, _ and -, at most "
                                "%d characters",
                                key, *a, NAME_MAX_LEN);
        for (char *const *b = names; b < a; b++)
            if (sv_streq(*a, *b))
                return sv_error_set(err, -EINVAL, "%s: \"%s\" is listed twice", key, *a);
    }
    return 0;
}

/* A time of one script; 0: not set. */
static int read_time(struct sv_conf *c, const char *name, const char *tail, int64_t least,
                     int64_t *ret, struct sv_error *err)
{
    char key[256];
    const struct sv_conf_key row = { key, SV_CONF_DURATION, "0", 0, FOREVER, 1, "" };
    int r;

    (void)snprintf(key, sizeof(key), CHECKER "%s.%s", name, tail);
    r = sv_conf_duration_ms(c, &row, ret, err);
    if (r >= 0 && *ret > 0 && *ret < least)
        return sv_error_set(err, -EINVAL, "%s: %lld ms; expected at least %lld", key,
                            (long long)*ret, (long long)least);
    return r;
}

static int read_command(const char *key, const char *path, const char *options, char ***ret,
                        struct sv_error *err)
{
    _cleanup_strv_ char **more = NULL;
    size_t n = 0;
    char **argv;

    if (*path != '/')
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute path", key, path);
    if (sv_strv_split(options ? options : "", ',', &more) < 0)
        return sv_error_errno(err, -ENOMEM, "%s", key);
    argv = calloc(sv_strv_len(more) + 2, sizeof(*argv));
    if (!argv || !(argv[n++] = strdup(path))) {
        free(argv);
        return sv_error_errno(err, -ENOMEM, "%s", key);
    }
    for (char **m = more; m && *m; m++)
        argv[n++] = SV_TAKE(*m);
    *ret = argv;
    return 0;
}

/* A script without a path is not run. */
static int read_script(struct sv_conf *c, struct nm_conf_health *h, const char *name,
                       struct sv_error *err)
{
    struct nm_conf_script s = { .name = name };
    char path_key[256], options_key[256];
    const char *path;
    int r;

    (void)snprintf(path_key, sizeof(path_key), CHECKER "%s.path", name);
    (void)snprintf(options_key, sizeof(options_key), CHECKER "%s.opts", name);
    r = read_time(c, name, "interval-ms", keys[K_INTERVAL].min, &s.interval_ms, err);
    if (r >= 0)
        r = read_time(c, name, "timeout-ms", keys[K_TIMEOUT].min, &s.timeout_ms, err);
    path = sv_conf_raw(c, path_key);
    if (r < 0 || !path || !*path)
        return r;
    r = read_command(path_key, path, sv_conf_raw(c, options_key), &s.argv, err);
    if (r >= 0)
        h->scripts[h->n++] = s;
    return r;
}

int nm_conf_health_read(struct sv_conf *c, struct nm_conf_health *ret, struct sv_error *err)
{
    int r = sv_conf_list(c, &keys[K_SCRIPTS], &ret->names, err);

    if (r >= 0)
        r = check_names(ret->names, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_INTERVAL], &ret->interval_ms, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_TIMEOUT], &ret->timeout_ms, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_BEFORE_STARTUP], &ret->before_startup, err);
    for (size_t i = 0; r >= 0 && ret->names[i]; i++)
        r = read_script(c, ret, ret->names[i], err);
    return r;
}

void nm_conf_health_free(struct nm_conf_health *h)
{
    for (size_t i = 0; i < h->n; i++)
        h->scripts[i].argv = sv_strv_free(h->scripts[i].argv);
    h->names = sv_strv_free(h->names);
    h->n = 0;
}
