/* Reload of the configuration (SIGHUP): keys of a const table are applied immediately, every other
 * changed key is named in the log and needs a restart of the daemon. */
#ifndef SELVEDGE_NODEMANAGER_RELOAD_H
#define SELVEDGE_NODEMANAGER_RELOAD_H

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/conf/conf.h"

struct nm_reload_result {
    unsigned applied, pending; /* changed keys */
};

/* Reads the files of `conf` again, with the same overrides, and hadoop-policy.xml. A bad file or
 * value leaves `conf` unchanged; the error names file, line and key. */
int nm_reload(struct nm_conf *conf, const char *dir, char *const *overrides,
              struct nm_reload_result *ret, struct sv_error *err) _must_use_;

/* True for a key that nm_reload applies. */
bool nm_reload_applies(const char *name);
size_t nm_reload_count(void); /* number of such keys, for the test */

#endif
