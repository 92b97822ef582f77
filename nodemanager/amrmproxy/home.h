/* The federation as this node sees it: its state store, looked at once the loop runs, and whether
 * an application has a home there. Hostile: the store's answers, which federation/ checks. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_HOME_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_HOME_H

#include <systemd/sd-event.h>

#include "common/conf.h"
#include "federation/policy/policy-conf.h"
#include "wire/ids.h"

struct fed_cache;
struct nm_amrm_home;

#define NM_AMRM_HOME_MS 10000 /* for the answer to a master that starts */

/* Opens the store and does not wait for it. `unusable` is told once, from the loop, of a store that
 * this version cannot use. */
int nm_amrm_home_new(sd_event *event, struct sv_conf *conf,
                     void (*unusable)(const char *why, void *userdata), void *userdata,
                     struct nm_amrm_home **ret, struct sv_error *err) _must_use_;
/* Ends what is asked with -ECANCELED. Accepts NULL, returns NULL. */
struct nm_amrm_home *nm_amrm_home_free(struct nm_amrm_home *h);
struct fed_cache *nm_amrm_home_cache(const struct nm_amrm_home *h);
const struct fed_policy_conf *nm_amrm_home_policy(const struct nm_amrm_home *h);

/* Whether the store has a home of the application: `done` runs once, at once or later, with 1, 0,
 * or -errno and why. -ENOMEM: it does not. */
typedef void (*nm_amrm_home_done)(int known, const char *why, void *userdata);
int nm_amrm_home_ask(struct nm_amrm_home *h, struct yarn_app_id app, nm_amrm_home_done done,
                     void *userdata) _must_use_;

#endif
