/* See tls-conf.h. */
#include "common/tls/tls-conf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/str.h"

#define FACTORY "org.apache.hadoop.security.ssl.FileBasedKeyStoresFactory"

enum {
    SERVER_CONF,
    CLIENT_CERT,
    PROTOCOLS,
    KEYSTORES_FACTORY,
    KEY_FILE,
    KEY_PASSWORD,
    KEY_KEYPASSWORD,
    TRUST_FILE,
    TRUST_PASSWORD,
    INCLUDED,
    EXCLUDED,
    RELOAD
};

static const struct sv_conf_key keys[] = {
    /* of core-site.xml */
    [SERVER_CONF] = { "hadoop.ssl.server.conf", SV_CONF_STRING, "ssl-server.xml", 0, 0, 0,
                      "file with ssl.server.*, of the configuration directory unless absolute" },
    [CLIENT_CERT] = { "hadoop.ssl.require.client.cert", SV_CONF_BOOL, "false", 0, 0, 0,
                      "a client without a certificate that the truststore signs is refused" },
    [PROTOCOLS] = { "hadoop.ssl.enabled.protocols", SV_CONF_LIST, "TLSv1.2", 0, 0, 0,
                    "TLSv1.2 and TLSv1.3; older ones are not spoken" },
    [KEYSTORES_FACTORY] = { "hadoop.ssl.keystores.factory.class", SV_CONF_STRING, FACTORY, 0, 0, 0,
                            "other classes are refused" },
    /* of ssl-server.xml */
    [KEY_FILE] = { "ssl.server.keystore.location", SV_CONF_STRING, NULL, 0, 0, 0,
                   "PKCS12 or PEM file with the key and its certificates" },
    [KEY_PASSWORD] = { "ssl.server.keystore.password", SV_CONF_STRING, "", 0, 0, 0,
                       "password of that file" },
    [KEY_KEYPASSWORD] = { "ssl.server.keystore.keypassword", SV_CONF_STRING, NULL, 0, 0, 0,
                          "password of the key: that of the file where unset" },
    [TRUST_FILE] = { "ssl.server.truststore.location", SV_CONF_STRING, NULL, 0, 0, 0,
                     "PKCS12 or PEM file with the certificates that sign those of clients" },
    [TRUST_PASSWORD] = { "ssl.server.truststore.password", SV_CONF_STRING, "", 0, 0, 0,
                         "password of that file" },
    [INCLUDED] = { "ssl.server.include.cipher.list", SV_CONF_LIST, "", 0, 0, 0,
                   "cipher suites; empty: all" },
    [EXCLUDED] = { "ssl.server.exclude.cipher.list", SV_CONF_LIST, "", 0, 0, 0,
                   "cipher suites that are not offered" },
    [RELOAD] = { "ssl.server.stores.reload.interval", SV_CONF_INT, "10000", 100, INT32_MAX, 0,
                 "milliseconds between looks at the files, which are read again when changed" },
};

const struct sv_conf_key *sv_tls_conf_keys(size_t *ret_n)
{
    *ret_n = KEY_FILE;
    return keys;
}

static bool is_protocol(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static int read_protocols(struct sv_conf *conf, struct sv_tls_conf *c, struct sv_error *err)
{
    static const char *const old[] = { "SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1", NULL };
    _cleanup_strv_ char **list = NULL;
    int r = sv_conf_list(conf, &keys[PROTOCOLS], &list, err);

    for (char **p = list; r == 0 && *p; p++) {
        if (strcmp(*p, "TLSv1.2") == 0)
            c->tls12 = true;
        else if (strcmp(*p, "TLSv1.3") == 0)
            c->tls13 = true;
        else if (!is_protocol(*p, old))
            return sv_error_set(err, -EINVAL, "%s: \"%.32s\" is none of TLSv1.2 and TLSv1.3",
                                keys[PROTOCOLS].name, *p);
    }
    if (r == 0 && !c->tls12 && !c->tls13)
        return sv_error_set(
            err, -EINVAL, "%s names neither TLSv1.2 nor TLSv1.3: older protocols are not supported",
            keys[PROTOCOLS].name);
    return r;
}

/* ssl-server.xml contains passwords in clear text. */
static int load_server_file(struct sv_conf *conf, const char *conf_dir, struct sv_conf *server,
                            struct sv_error *err)
{
    const char *name;
    _cleanup_free_ char *path = NULL;
    struct stat st;
    int r = sv_conf_string(conf, &keys[SERVER_CONF], &name, err);

    if (r < 0)
        return r;
    if (*name != '/' && !conf_dir)
        return sv_error_set(err, -ENOENT, "%s=%s: there is no configuration directory",
                            keys[SERVER_CONF].name, name);
    if (sv_asprintf(&path, "%s%s%s", *name == '/' ? "" : conf_dir, *name == '/' ? "" : "/", name) <
        0)
        return sv_error_errno(err, -ENOMEM, "%s", keys[SERVER_CONF].name);
    if (stat(path, &st) < 0)
        return sv_error_errno(err, -errno, "%s: %s", keys[SERVER_CONF].name, path);
    if (st.st_mode & S_IRWXO)
        return sv_error_set(err, -EPERM,
                            "%s has passwords and is open to every account of this machine, jobs "
                            "included: take these permissions away (chmod o= FILE)",
                            path);
    return sv_conf_load_file(server, path, err);
}

static int copy_string(struct sv_conf *server, int key, char **ret, struct sv_error *err)
{
    const char *value;
    int r = sv_conf_string(server, &keys[key], &value, err);

    if (r < 0 || !value)
        return r;
    *ret = strdup(value);
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "%s", keys[key].name);
}

static int read_store(struct sv_conf *server, int file, int password, struct sv_tls_store_conf *ret,
                      struct sv_error *err)
{
    int r;

    ret->key = keys[file].name;
    r = copy_string(server, file, &ret->path, err);
    if (r == 0)
        r = copy_string(server, password, &ret->password, err);
    if (r == 0 && ret->path && *ret->path != '/')
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute path", ret->key,
                            ret->path);
    return r;
}

/* A PKCS12 file and its key must have the same password. */
static int check_keypassword(struct sv_conf *server, const struct sv_tls_conf *c,
                             struct sv_error *err)
{
    const char *value;
    int r = sv_conf_string(server, &keys[KEY_KEYPASSWORD], &value, err);

    if (r < 0)
        return r;
    if (value && *c->keys.password && strcmp(value, c->keys.password) != 0)
        return sv_error_set(err, -EINVAL,
                            "%s differs from %s: give the key the password of its file (keytool "
                            "-importkeystore with one -deststorepass)",
                            keys[KEY_KEYPASSWORD].name, keys[KEY_PASSWORD].name);
    return 0;
}

static int read_server(struct sv_conf *server, struct sv_tls_conf *c, struct sv_error *err)
{
    int r = read_store(server, KEY_FILE, KEY_PASSWORD, &c->keys, err);

    if (r == 0)
        r = read_store(server, TRUST_FILE, TRUST_PASSWORD, &c->trust, err);
    if (r == 0)
        r = check_keypassword(server, c, err);
    if (r == 0)
        r = sv_conf_list(server, &keys[INCLUDED], &c->included, err);
    if (r == 0)
        r = sv_conf_list(server, &keys[EXCLUDED], &c->excluded, err);
    if (r == 0)
        r = sv_conf_int(server, &keys[RELOAD], &c->reload_ms, err);
    if (r < 0)
        return r;
    if (!c->keys.path)
        return sv_error_set(err, -EINVAL, "%s is not set in the file that %s names",
                            keys[KEY_FILE].name, keys[SERVER_CONF].name);
    if (c->client_cert && !c->trust.path)
        return sv_error_set(err, -EINVAL, "%s=true: %s is not set", keys[CLIENT_CERT].name,
                            keys[TRUST_FILE].name);
    return 0;
}

static int check_factory(struct sv_conf *conf, struct sv_error *err)
{
    const char *class;
    int r = sv_conf_string(conf, &keys[KEYSTORES_FACTORY], &class, err);

    if (r == 0 && strcmp(class, FACTORY) != 0)
        return sv_error_set(err, -EOPNOTSUPP, "%s=%s: keys are read from files alone (" FACTORY ")",
                            keys[KEYSTORES_FACTORY].name, class);
    return r;
}

int sv_tls_conf_load(struct sv_conf *conf, const char *conf_dir, struct sv_tls_conf *ret,
                     struct sv_error *err)
{
    struct sv_conf *server = sv_conf_new();
    int r = server ? 0 : sv_error_errno(err, -ENOMEM, "ssl-server.xml");

    *ret = (struct sv_tls_conf){ 0 };
    if (r == 0)
        r = check_factory(conf, err);
    if (r == 0)
        r = sv_conf_bool(conf, &keys[CLIENT_CERT], &ret->client_cert, err);
    if (r == 0)
        r = read_protocols(conf, ret, err);
    if (r == 0)
        r = load_server_file(conf, conf_dir, server, err);
    if (r == 0)
        r = read_server(server, ret, err);
    (void)sv_conf_free(server);
    return r;
}

static void free_store(struct sv_tls_store_conf *s)
{
    free(s->path);
    if (s->password)
        explicit_bzero(s->password, strlen(s->password));
    free(s->password);
}

void sv_tls_conf_free(struct sv_tls_conf *c)
{
    free_store(&c->keys);
    free_store(&c->trust);
    (void)sv_strv_free(c->included);
    (void)sv_strv_free(c->excluded);
    *c = (struct sv_tls_conf){ 0 };
}
