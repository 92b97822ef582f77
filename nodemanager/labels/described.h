/* The node's label or attributes: known from the configuration or a script, told to the
 * ResourceManager at each registration, and by heartbeats when they have changed or a resync
 * interval is over. Hadoop: NodeDescriptorsProvider, CachedNodeDescriptorHandler. */
#ifndef SELVEDGE_NODEMANAGER_LABELS_DESCRIBED_H
#define SELVEDGE_NODEMANAGER_LABELS_DESCRIBED_H

#include <systemd/sd-event.h>

#include "nodemanager/conf/conf.h"

#define NM_DESCRIBED_WHY_MAX 256

/* The ResourceManager's answer. */
enum nm_described_answer { NM_DESCRIBED_UNTOLD, NM_DESCRIBED_ACCEPTED, NM_DESCRIBED_REFUSED };

struct nm_describer;

/* By enum nm_described; NULL where the configuration names no provider. -EINVAL: a script is not a
 * program that this account can run, or anybody could change it. Free them on failure, too. The
 * configuration outlives them. */
int nm_describers_new(sd_event *event, const struct nm_conf *conf,
                      struct nm_describer *ret[NM_DESCRIBED], struct sv_error *err) _must_use_;
void nm_describers_free(struct nm_describer *list[NM_DESCRIBED]);
/* The configuration was read again. */
void nm_describers_reload(struct nm_describer *const list[NM_DESCRIBED]);
/* True while the first run of a script goes on: the node should not register without its result. */
bool nm_describers_starting(struct nm_describer *const list[NM_DESCRIBED]);

/* Returns the labels or attributes of the next message; NULL: they are not known, or, in a
 * heartbeat, told already. NULL for NULL. Every call is followed by one of the next two before
 * another. */
const struct nm_labels *nm_describer_tell(struct nm_describer *d, bool registration);
/* The message was answered. `why`: the ResourceManager's words, or NULL. */
void nm_describer_answered(struct nm_describer *d, bool accepted, const char *why);
void nm_describer_unanswered(struct nm_describer *d);

struct nm_described_view {
    const char *provider;           /* "config" or "script" */
    const struct nm_labels *labels; /* NULL: not known yet */
    enum nm_described_answer answer;
    const char *refused; /* the ResourceManager's words, escaped; "" */
    const char *failed;  /* why the last run of the script has no result, escaped; "" */
};
/* False for NULL. */
bool nm_describer_view(const struct nm_describer *d, struct nm_described_view *ret);
/* "gpu" or "os=linux, rack-kind=a", cut. */
char *nm_describer_text(const struct nm_labels *l, char *dst, size_t size);

#endif
