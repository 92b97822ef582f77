/* Starting and ending the processes of containers (ContainerLaunch, ContainerCleanup): from a
 * localized container to a call of executor/, from an exit to an event with Hadoop's exit code and
 * diagnostics, from a kill to TERM, a delay and cgroup.kill. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_LAUNCH_H
#define SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_LAUNCH_H

#include "common/base.h"
#include "common/error.h"

struct nm;
struct nm_container;

/* Ends in LAUNCHED or EXITED_WITH_FAILURE, later. A recovered container that may have been launched
 * is adopted instead. */
void nm_launch_start(struct nm_container *c);
/* TERM now; when that has been sent, or could not be, cgroup.kill after
 * yarn.nodemanager.sleep-delay-before-sigkill.ms. The exit follows as an event. May be called in
 * any state of the launch. */
void nm_launch_cleanup(struct nm_container *c);
void nm_launch_free_terms(struct nm *nm); /* answers that do not come any more: after exe_free */
/* A signal that the application or the ResourceManager asked for. */
int nm_launch_signal(struct nm_container *c, int signal) _must_use_;
/* Absolute directories of a container; -ENAMETOOLONG never happens with the helper's limits, but is
 * checked. `size` PATH_MAX. */
int nm_launch_work_dir(const struct nm_container *c, char *buf, size_t size) _must_use_;
int nm_launch_log_dir(const struct nm_container *c, int index, char *buf, size_t size) _must_use_;

#endif
