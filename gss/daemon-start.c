/* See daemon-start.h. */
#include "gss/daemon-start.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

/* One that is missing would be seen with the first login, and waited for. */
static int check_keytab(const struct sgss_start *s, const char *key, const char *path,
                        struct sv_error *err)
{
    if (access(path, R_OK) == 0)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "%s: %s cannot be read: %s; it is the daemon's account's, of mode 0400, or "
                        "%s is set",
                        key, path, strerror(errno), s->keys->socket->name);
}

/* A helper of systemd's has its keytab from its unit instead. */
static int start_helper(const struct sgss_start *s, struct sgss_daemon_config *cfg,
                        struct sgss_daemon **ret, struct sv_error *err)
{
    const struct sgss_conf *k = s->conf;
    const char *keytabs[] = { k->keytab, NULL, NULL };
    int r = check_keytab(s, s->keys->keytab->name, k->keytab, err);

    if (r >= 0 && s->web && k->web_keytab && !sv_streq(k->web_keytab, k->keytab)) {
        keytabs[1] = k->web_keytab;
        r = check_keytab(s, "keytab of the web server", k->web_keytab, err);
    }
    if (r < 0)
        return r;
    cfg->helper = k->helper;
    cfg->keytabs = keytabs;
    cfg->local_dirs = s->local_dirs;
    cfg->krb5_conf = k->krb5_conf;
    return sgss_daemon_new(cfg, ret, err);
}

int sgss_start(const struct sgss_start *s, struct sgss_daemon **ret, struct sv_error *err)
{
    struct sgss_daemon_config cfg = { .event = s->event,
                                      .principal = s->conf->principal,
                                      .socket = s->conf->socket,
                                      .changed = s->changed,
                                      .told = s->told,
                                      .userdata = s->userdata };
    int r = s->conf->socket ? sgss_daemon_new(&cfg, ret, err) : start_helper(s, &cfg, ret, err);

    return r < 0 ? sv_error_wrap(err, "Kerberos") : 0;
}
