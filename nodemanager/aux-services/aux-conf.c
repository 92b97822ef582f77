/* See aux-conf.h. */
#include "nodemanager/aux-services/aux-conf.h"

#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/str.h"

#define YARN "yarn.nodemanager.aux-services."
#define OWN "selvedge.nodemanager.aux-services."
#define SHUFFLE "mapreduce_shuffle"
#define SHUFFLE_CLASS "org.apache.hadoop.mapred.ShuffleHandler"
#define SHUFFLE_PROGRAM "selvedge-shuffle"
#define SHUFFLE_PROPERTIES "mapreduce.shuffle.,hadoop.ssl."
#define BRIDGE "selvedge-java-service"
#define JAVA_OPTIONS "-Xmx1g"
#ifndef PR_GET_MDWE /* Linux 6.3 */
#define PR_GET_MDWE 66
#endif

/* The value of a key that contains the service's name; NULL: unset or empty. */
static const char *value_of(const struct nm_conf *conf, const char *head, const char *name,
                            const char *tail, char key[256])
{
    const char *value;

    snprintf(key, 256, "%s%s.%s", head, name, tail);
    value = sv_conf_raw(conf->conf, key);
    return value && *value ? value : NULL;
}

static int read_number(const struct nm_conf *conf, const char *name, const char *tail,
                       int64_t unset, int64_t max, int64_t *ret, struct sv_error *err)
{
    char key[256];
    const char *value = value_of(conf, OWN, name, tail, key);

    *ret = unset;
    if (value && sv_parse_i64(value, 0, max, ret) < 0)
        return sv_error_set(err, -EINVAL, "%s: \"%.64s\" is not a number from 0 to %lld", key,
                            value, (long long)max);
    return 0;
}

/* Parses a name or a number; names are looked up once, before the loop runs. */
static int read_uid(const char *key, const char *value, uid_t *ret, struct sv_error *err)
{
    uint64_t number;
    struct passwd *p;

    if (sv_parse_u64(value, 0, UINT32_MAX - 1, &number) >= 0) {
        *ret = (uid_t)number;
        return 0;
    }
    p = getpwnam(value);
    if (!p)
        return sv_error_set(err, -EINVAL, "%s: there is no account \"%.64s\"", key, value);
    *ret = p->pw_uid;
    return 0;
}

static int read_socket(const struct nm_conf *conf, const char *path, const char *key,
                       struct nm_aux_conf *c, struct sv_error *err)
{
    char user_key[256];
    const char *user = value_of(conf, OWN, c->name, "socket-user", user_key);

    if (*path != '/' || strlen(path) > 107)
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute path of at most 107 bytes",
                            key, path);
    if (!user)
        return sv_error_set(err, -EINVAL,
                            "%s is set and %s is not: it names the account that must be behind the "
                            "socket",
                            key, user_key);
    c->socket = strdup(path);
    return c->socket ? read_uid(user_key, user, &c->socket_uid, err)
                     : sv_error_errno(err, -ENOMEM, "%s", key);
}

static int set_command(const char *key, const char *text, struct nm_aux_conf *c,
                       struct sv_error *err)
{
    int r = sv_strv_split(text, ' ', &c->argv);

    if (r < 0)
        return sv_error_errno(err, r, "%s", key);
    if (!c->argv[0] || c->argv[0][0] != '/')
        return sv_error_set(err, -EINVAL,
                            "%s: \"%s\" does not begin with the absolute path of a program", key,
                            text);
    return 0;
}

/* Looks for $JAVA_HOME/bin/java, then java in PATH, as selvedge-java-service. */
static bool java_is_found(void)
{
    const char *home = getenv("JAVA_HOME"), *path = getenv("PATH");
    _cleanup_strv_ char **dirs = NULL;
    char program[4096];

    if (home && *home) {
        snprintf(program, sizeof(program), "%s/bin/java", home);
        return access(program, X_OK) == 0;
    }
    if (sv_strv_split(path ? path : "/usr/bin:/bin", ':', &dirs) < 0)
        return false;
    for (char **d = dirs; *d; d++) {
        snprintf(program, sizeof(program), "%s/java", *d);
        if (access(program, X_OK) == 0)
            return true;
    }
    return false;
}

/* Children inherit MemoryDenyWriteExecute= of the daemon's unit: a seccomp filter, or an attribute
 * of the process. The address is invalid, so without a filter the call fails before SELinux
 * decides. */
static bool executable_memory_is_denied(void)
{
    return prctl(PR_GET_MDWE, 0, 0, 0, 0) > 0 ||
           (mprotect((void *)1, 1, PROT_EXEC) < 0 && errno == EPERM);
}

/* Arguments of selvedge-java-service. Its class path ends with our configuration directory, where
 * Hadoop's classes and log4j look for their files. */
static int set_bridge(const struct nm_conf *conf, const char *class, const char *classpath,
                      struct nm_aux_conf *c, struct sv_error *err)
{
    _cleanup_strv_ char **options = NULL;
    char key[256];
    const char *text = value_of(conf, OWN, c->name, "java-options", key);
    const char *dir = sv_conf_dir(conf->conf);
    size_t n = 0;
    int r = sv_strv_split(text ? text : JAVA_OPTIONS, ' ', &options);

    if (r < 0)
        return sv_error_errno(err, r, "%s", key);
    c->argv = calloc(sv_strv_len(options) + 5, sizeof(*c->argv));
    if (!c->argv || sv_asprintf(&c->argv[n++], "%s/%s", conf->aux_programs, BRIDGE) < 0)
        return sv_error_errno(err, -ENOMEM, "%s", key);
    c->argv[n++] = strdup(class);
    if (sv_asprintf(&c->argv[n++], "%s%s%s", classpath ? classpath : "",
                    classpath && dir ? ":" : "", dir ? dir : "") < 0)
        return sv_error_errno(err, -ENOMEM, "%s", key);
    c->argv[n++] = strdup(conf->aux_hadoop_classpath);
    for (char **o = options; *o; o++)
        c->argv[n++] = strdup(*o);
    for (size_t i = 0; i < n; i++)
        if (!c->argv[i])
            return sv_error_errno(err, -ENOMEM, "%s", key);
    return 0;
}

/* Checks a jar of this node; `missing` gets the reason if it is unusable. */
static int read_remote_classpath(const char *key, const char *value, struct nm_aux_conf *c,
                                 const char **ret, struct sv_error *err)
{
    const char *path = sv_has_prefix(value, "file://") ? value + strlen("file://")
                       : sv_has_prefix(value, "file:") ? value + strlen("file:")
                                                       : value;
    int r = 0;

    if (*path != '/')
        r = sv_asprintf(&c->missing,
                        "%s: %s is not on this node, nothing is downloaded: copy it and set " YARN
                        "%s.classpath",
                        key, value, c->name);
    else if (!sv_has_suffix(path, ".jar"))
        r = sv_asprintf(&c->missing,
                        "%s: %s is not a .jar, nothing is unpacked: unpack it and set " YARN
                        "%s.classpath",
                        key, value, c->name);
    else if (access(path, R_OK) < 0)
        r = sv_asprintf(&c->missing, "%s: %s: %s", key, path, strerror(errno));
    *ret = path;
    return r < 0 ? sv_error_errno(err, r, "%s", key) : 0;
}

/* Setting both is an error, as in Hadoop. NULL: neither. */
static int read_classpath(const struct nm_conf *conf, struct nm_aux_conf *c, const char **ret,
                          struct sv_error *err)
{
    char own_key[256], remote_key[256];
    const char *own = value_of(conf, YARN, c->name, "classpath", own_key);
    const char *remote = value_of(conf, YARN, c->name, "remote-classpath", remote_key);

    if (own && remote)
        return sv_error_set(err, -EINVAL, "%s and %s exclude each other", own_key, remote_key);
    *ret = own;
    return remote ? read_remote_classpath(remote_key, remote, c, ret, err) : 0;
}

/* A Java class: run by the bridge, if the bridge and Java are installed. */
static int choose_bridge(const struct nm_conf *conf, const char *class, struct nm_aux_conf *c,
                         struct sv_error *err)
{
    char program[4096];
    const char *classpath = NULL;
    int r = read_classpath(conf, c, &classpath, err);

    if (r < 0 || c->missing)
        return r;
    snprintf(program, sizeof(program), "%s/%s.jar", conf->aux_programs, BRIDGE);
    if (access(program, R_OK) < 0)
        r = sv_asprintf(&c->missing, "the class %s needs %s, which is not installed", class,
                        program);
    else if (!java_is_found())
        r = sv_asprintf(&c->missing, "the class %s needs Java, and there is none (JAVA_HOME)",
                        class);
    else if (executable_memory_is_denied())
        r = sv_asprintf(
            &c->missing,
            "the class %s needs Java, which compiles code into memory: the daemon's unit "
            "forbids that to it and its services; systemctl edit selvedge-nodemanager: "
            "[Service] MemoryDenyWriteExecute=no",
            class);
    else
        return set_bridge(conf, class, classpath, c, err);
    return r < 0 ? sv_error_errno(err, r, "%s", c->name) : 0;
}

/* Neither a command nor a socket: a service configured by class, as for Hadoop. */
static int choose_by_class(const struct nm_conf *conf, struct nm_aux_conf *c, struct sv_error *err)
{
    char key[256], program[4096];
    const char *class = value_of(conf, YARN, c->name, "class", key);
    bool native = sv_streq(c->name, SHUFFLE) && (!class || sv_streq(class, SHUFFLE_CLASS));
    int r;

    snprintf(program, sizeof(program), "%s/%s", conf->aux_programs, SHUFFLE_PROGRAM);
    if (native && access(program, X_OK) == 0)
        return set_command(key, program, c, err);
    if (class)
        return choose_bridge(conf, class, c, err);
    if (native)
        r = sv_asprintf(&c->missing, "%s is not installed", program);
    else
        r = sv_asprintf(&c->missing, "neither " OWN "%s.command nor .socket is set, nor %s",
                        c->name, key);
    return r < 0 ? sv_error_errno(err, r, "%s", c->name) : 0;
}

static int read_prefixes(const struct nm_conf *conf, struct nm_aux_conf *c, struct sv_error *err)
{
    char key[256];
    const char *value = value_of(conf, OWN, c->name, "properties", key);
    int r;

    if (!value)
        value = sv_streq(c->name, SHUFFLE) ? SHUFFLE_PROPERTIES : "";
    r = sv_strv_split(value, ',', &c->prefixes);
    return r < 0 ? sv_error_errno(err, r, "%s", key) : 0;
}

static int read_service(const struct nm_conf *conf, struct nm_aux_conf *c, struct sv_error *err)
{
    char command_key[256], socket_key[256];
    const char *command = value_of(conf, OWN, c->name, "command", command_key);
    const char *socket = value_of(conf, OWN, c->name, "socket", socket_key);
    int r;

    if (command && socket)
        return sv_error_set(err, -EINVAL, "%s and %s exclude each other", command_key, socket_key);
    r = command  ? set_command(command_key, command, c, err)
        : socket ? read_socket(conf, socket, socket_key, c, err)
                 : choose_by_class(conf, c, err);
    if (r >= 0)
        r = read_prefixes(conf, c, err);
    if (r >= 0)
        r = read_number(conf, c->name, "memory-mb", 0, 1 << 20, &c->memory_mb, err);
    if (r >= 0)
        r = read_number(conf, c->name, "open-files", 65536, 1 << 20, &c->open_files, err);
    return r;
}

int nm_aux_conf_read(const struct nm_conf *conf, struct nm_aux_confs *ret, struct sv_error *err)
{
    *ret = (struct nm_aux_confs){ 0 };
    for (char **name = conf->aux_services; name && *name; name++) {
        struct nm_aux_conf *c = &ret->list[ret->n];
        int r;

        if (ret->n == NM_AUX_SERVICES_MAX) {
            nm_aux_conf_free(ret);
            return sv_error_set(err, -E2BIG, "yarn.nodemanager.aux-services: at most %d services",
                                NM_AUX_SERVICES_MAX);
        }
        *c = (struct nm_aux_conf){ .name = *name };
        ret->n++;
        r = read_service(conf, c, err);
        if (r < 0) {
            nm_aux_conf_free(ret);
            return r;
        }
    }
    return 0;
}

void nm_aux_conf_free(struct nm_aux_confs *c)
{
    for (size_t i = 0; i < c->n; i++) {
        sv_strv_free(c->list[i].argv);
        sv_strv_free(c->list[i].prefixes);
        free(c->list[i].socket);
        free(c->list[i].missing);
    }
    *c = (struct nm_aux_confs){ 0 };
}

/* ---- properties -------------------------------------------------------------------------------*/

struct properties {
    const struct nm_aux_conf *conf;
    char own[2][256]; /* prefixes with its name */
    json_t *json;
};

static int add_property(const char *name, const char *value, void *userdata)
{
    struct properties *p = userdata;
    bool wanted = sv_has_prefix(name, p->own[0]) || sv_has_prefix(name, p->own[1]);

    for (char **one = p->conf->prefixes; !wanted && one && *one; one++)
        wanted = sv_has_prefix(name, *one);
    if (wanted && json_object_set_new(p->json, name, json_string(value)) < 0)
        return sv_error_set(NULL, -EINVAL, "%s", name);
    return 0;
}

/* mapred-site.xml, whose values the NodeManager's own files override. */
static int add_mapred_site(const struct nm_conf *conf, struct properties *p, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_free_ char *path = NULL;
    const char *dir = sv_conf_dir(conf->conf);
    int r;

    if (!c || (dir && sv_asprintf(&path, "%s/mapred-site.xml", dir) < 0))
        return sv_error_errno(err, -ENOMEM, "mapred-site.xml");
    if (!path)
        return 0;
    r = sv_conf_load_hadoop(c, dir, err);
    if (r >= 0)
        r = sv_conf_load_file(c, path, err);
    if (r == -ENOENT)
        return 0;
    return r < 0 ? r : sv_conf_each(c, add_property, p);
}

int nm_aux_conf_properties(const struct nm_conf *conf, const struct nm_aux_conf *c, char **ret,
                           struct sv_error *err)
{
    struct properties p = { .conf = c, .json = json_object() };
    int r;

    snprintf(p.own[0], sizeof(p.own[0]), YARN "%s.", c->name);
    snprintf(p.own[1], sizeof(p.own[1]), OWN "%s.", c->name);
    r = add_mapred_site(conf, &p, err);
    if (r >= 0)
        r = sv_conf_each(conf->conf, add_property, &p);
    if (r >= 0) {
        *ret = json_dumps(p.json, JSON_COMPACT);
        r = *ret ? 0 : -ENOMEM;
    }
    json_decref(p.json);
    if (r < 0 && err && !err->code)
        return sv_error_errno(err, r, "properties of the auxiliary service %s", c->name);
    return r;
}
