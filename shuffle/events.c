/* See events.h. */
#include "shuffle/events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "shuffle/aux-channel.h"

static const char *text(const json_t *object, const char *name)
{
    const char *s = json_string_value(json_object_get(object, name));

    return s ? s : "";
}

int shf_init_properties(const json_t *init, struct sv_conf *conf, struct sv_error *err)
{
    json_t *properties = json_object_get(init, "properties"), *value;
    const char *name;

    json_object_foreach(properties, name, value)
    {
        if (!json_is_string(value))
            return sv_error_set(err, -EBADMSG, "%.128s: its value is not text", name);
        int r = sv_conf_set(conf, name, json_string_value(value));
        if (r < 0)
            return sv_error_errno(err, r, "%.128s", name);
    }
    return 0;
}

int shf_init_tls(const json_t *init, struct sv_conf *conf, bool *kernel, struct sv_tls **ret,
                 struct sv_error *err)
{
    struct sv_tls_conf tls;
    int r = sv_tls_conf_load(conf, json_string_value(json_object_get(init, "confDir")), &tls, err);

    if (r == 0) {
        *kernel = tls.kernel = *kernel && !tls.tls13 && sv_tls_in_kernel();
        return sv_tls_new(&tls, ret, err);
    }
    sv_tls_conf_free(&tls);
    return sv_error_wrap(err, "mapreduce.shuffle.ssl.enabled=true");
}

int shf_init_dirs(const json_t *init, struct shf_local_dirs *ret, struct sv_error *err)
{
    json_t *list = json_object_get(init, "localDirs"), *value;
    size_t i;

    json_array_foreach(list, i, value)
    {
        const char *path = json_string_value(value);
        int fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

        if (fd < 0) {
            sv_log_warning("local directory %s: %s; its map outputs are not served",
                           path ? path : "?", strerror(errno));
            continue;
        }
        if (ret->n == SHF_LOCAL_DIRS_MAX)
            return sv_error_set(err, -E2BIG, "more than %d local directories", SHF_LOCAL_DIRS_MAX);
        struct shf_local_dir *d = &ret->v[ret->n++];
        d->fd = fd;
        d->path = strdup(path);
        atomic_init(&d->in_use, true);
        if (!d->path)
            return sv_error_set(err, -ENOMEM, "out of memory");
    }
    return 0;
}

size_t shf_init_sockets(const json_t *init, int ret[SHF_LISTEN_MAX])
{
    size_t n = SV_MIN(json_array_size(json_object_get(init, "listenFds")), (size_t)SHF_LISTEN_MAX);

    for (size_t i = 0; i < n; i++)
        ret[i] = SHF_LISTEN_FD + (int)i;
    return n;
}

static int application_init(struct shf_service *s, const json_t *event, struct sv_error *err)
{
    const char *data = text(event, "data"), *id = text(event, "applicationId");
    const json_t *uid = json_object_get(event, "uid");
    _cleanup_free_ uint8_t *token = NULL;
    size_t len;
    int r = sv_base64_decode(data, strlen(data), (size_t)64 << 10, &token, &len);

    if (r < 0)
        return sv_error_errno(err, r, "%.64s: its service data", id);
    return shf_jobs_add(s->jobs, id, text(event, "appDir"),
                        json_is_integer(uid) ? (uid_t)json_integer_value(uid) : SHF_NO_UID, token,
                        len, err);
}

static bool lists(const json_t *list, const char *path)
{
    json_t *value;
    size_t i;

    json_array_foreach(list, i, value) if (sv_streq(json_string_value(value), path)) return true;
    return false;
}

/* Stops reading removed directories. A new one, or one that is back and may be another disk, is
 * outside the sandbox. */
static int local_dirs(struct shf_service *s, const json_t *event, struct sv_error *err)
{
    const json_t *list = json_object_get(event, "localDirs");
    size_t in_use = 0;

    for (size_t i = 0; i < s->dirs.n; i++) {
        struct shf_local_dir *d = &s->dirs.v[i];

        d->in_use = d->in_use && lists(list, d->path);
        in_use += d->in_use;
    }
    if (in_use < json_array_size(list))
        return sv_error_set(err, -ESTALE, "a local directory was added");
    return 0;
}

int shf_event(struct shf_service *s, const json_t *event, struct sv_error *err)
{
    static const char *const no_concern[] = { "container-init", "container-stop", "replayed",
                                              "ping" };
    const char *type = text(event, "type");

    if (sv_streq(type, "application-init"))
        return application_init(s, event, err);
    if (sv_streq(type, "application-stop")) {
        shf_jobs_remove(s->jobs, text(event, "applicationId"));
        return 0;
    }
    if (sv_streq(type, "local-dirs"))
        return local_dirs(s, event, err);
    for (size_t i = 0; i < SV_ARRAY_LEN(no_concern); i++)
        if (sv_streq(type, no_concern[i]))
            return 0;
    return sv_error_set(err, -EOPNOTSUPP, "unknown event %.64s", type);
}
