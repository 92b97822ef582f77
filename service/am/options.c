/* See options.h. */
#include "service/am/options.h"

#include <errno.h>
#include <string.h>

#include "common/own-user.h"
#include "common/str.h"
#include "service/definition/definition.h"
#include "service/framework/descriptor.h"

#define USAGE                                                                                      \
    "usage: selvedge-service-am -yarnfile URL -service_name NAME [-D KEY=VALUE]...: the service "  \
    "API submits it with a definition"

/* "key=value", as GenericOptionsParser takes it, behind -D or in one word with it. */
static int override(struct sv_conf *conf, const char *pair, struct sv_error *err)
{
    const char *equals = strchr(pair, '=');
    _cleanup_free_ char *key = NULL;
    int r;

    if (!equals || equals == pair)
        return sv_error_set(err, -EINVAL, "-D %.200s: KEY=VALUE is expected", pair);
    r = sv_asprintf(&key, "%.*s", (int)(equals - pair), pair);
    if (r >= 0)
        r = sv_conf_override(conf, key, equals + 1);
    return r < 0 ? sv_error_errno(err, r, "-D %.200s", pair) : 0;
}

static int take(struct svc_am_options *o, struct sv_conf *conf, const char *name, const char *value,
                struct sv_error *err)
{
    if (strcmp(name, "yarnfile") == 0)
        o->yarnfile = value;
    else if (strcmp(name, "service_name") == 0)
        o->name = value;
    else if (strcmp(name, "framework") == 0) {
        o->yarnfile = value;
        o->framework = true;
    } else if (strcmp(name, "D") == 0)
        return override(conf, value, err);
    else if (strcmp(name, "conf") == 0)
        return sv_conf_load_file(conf, value, err);
    else if (strcmp(name, "keytab") != 0 && strcmp(name, "principal_name") != 0)
        return sv_error_set(err, -EINVAL, "-%.100s: no such option; " USAGE, name);
    return 0;
}

static int read_words(int argc, char **argv, struct sv_conf *conf, struct svc_am_options *o,
                      struct sv_error *err)
{
    int r = 0;

    for (int i = 1; r == 0 && i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");

        if (argv[i][0] != '-')
            r = sv_error_set(err, -EINVAL, "%.200s: " USAGE, argv[i]);
        else if (name[0] == 'D' && name[1])
            r = override(conf, name + 1, err);
        else if (i + 1 == argc)
            r = sv_error_set(err, -EINVAL, "-%.100s: no value; " USAGE, name);
        else
            r = take(o, conf, name, argv[++i], err);
    }
    return r;
}

static const char *variable(const char *name, const char *def)
{
    const char *value = getenv(name);

    return value && *value ? value : def;
}

int svc_am_options_read(int argc, char **argv, struct sv_conf *conf, struct svc_am_options *ret,
                        struct sv_error *err)
{
    struct svc_am_options o = {
        .user = variable("HADOOP_USER_NAME", sv_own_user()),
        .host = variable("NM_HOST", NULL),
        .proxy_base = variable("APPLICATION_WEB_PROXY_BASE", ""),
    };
    int r = read_words(argc, argv, conf, &o, err);

    if (r < 0)
        return r;
    if (o.framework)
        o.name = variable("FRAMEWORK_NAME", NULL);
    if (!o.yarnfile || !o.name)
        return sv_error_set(
            err, -EINVAL,
            "-yarnfile and -service_name are needed, or -framework and FRAMEWORK_NAME; " USAGE);
    if (o.framework && !svc_fw_name_valid(o.name))
        return sv_error_set(err, -EINVAL, "FRAMEWORK_NAME=%.100s: not the name of a framework",
                            o.name);
    if (!o.framework && !svc_name_valid(o.name))
        return sv_error_set(err, -EINVAL, "-service_name \"%.100s\": not the name of a service",
                            o.name);
    if (!o.host)
        return sv_error_set(err, -ENOKEY, "NM_HOST is not set: this program is started by YARN");
    if (!o.user)
        return sv_error_set(err, -ENOKEY,
                            "the account of this process has no name; set "
                            "HADOOP_USER_NAME");
    *ret = o;
    return 0;
}
