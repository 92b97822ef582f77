/* Starts a daemon's Kerberos as its configuration says: a helper of its own, or that of systemd. */
#ifndef SELVEDGE_GSS_DAEMON_START_H
#define SELVEDGE_GSS_DAEMON_START_H

#include "gss/daemon-conf.h"
#include "gss/daemon.h"

struct sgss_start {
    sd_event *event;
    const struct sgss_conf *conf;      /* its principal is the daemon's */
    const struct sgss_conf_keys *keys; /* for messages */
    bool web;                          /* the web server takes tickets: its keytab is needed, too */
    const char *const *local_dirs;     /* as in struct sgss_daemon_config, as are the next */
    void (*changed)(void *userdata);
    void (*told)(const char *text, void *userdata);
    void *userdata;
};

/* Waits neither for the helper nor for a ticket. -EINVAL: a configuration that cannot work, such as
 * a keytab that cannot be read. */
int sgss_start(const struct sgss_start *s, struct sgss_daemon **ret, struct sv_error *err)
    _must_use_;

#endif
