/* The policy: compiled form of root's configuration, in one file of the state directory.
 * container-prepare makes it when one of its sources has changed; container-executor MUST, at every
 * operation, verify that it is root's and compare it with its sources.
 *
 * The file is struct hlp_policy up to `text`; the system call filters; every text with its NUL in
 * the order of hlp_policy_texts; the accounts of /etc/passwd as struct hlp_user, in the order of
 * their names, with the groups that each may have in a container, and the names that are banned, as
 * root's. Pointers in the file mean nothing: hlp_policy_place sets them. */
#ifndef SELVEDGE_SETUID_HELPER_POLICY_H
#define SELVEDGE_SETUID_HELPER_POLICY_H

#include <linux/bpf.h>
#include <linux/filter.h>
#include <sys/types.h>
#include <time.h>

#include "executor/network.h"
#include "executor/request.h"

#define HLP_POLICY_MAGIC 0x6c507653u /* "SvPl" */
#define HLP_LIST_MAX 64
#define HLP_GROUPS_MAX 64
#define HLP_SOURCES_MAX 256
#define HLP_ASSIGNABLE_MAX 64
#define HLP_DEVICE_CODE_MAX 64
#define HLP_CONTROLS_MAX 8
/* A root template in the state directory: of a profile, 0 for localizers, and its number. */
#define HLP_ROOT_NAME "root-%u-%u"
#define HLP_FILTER_NAME "selvedge_dev_1" /* a new number for new standard devices */
/* Extended attributes of a cgroup to which the device filter, the connect filter is attached. */
#define HLP_FILTERED "trusted.selvedge.devices"
#define HLP_CONNECT_FILTERED "trusted.selvedge.connect"
#define HLP_ID_MAX 0x7ffffffeu /* ids from here on are nobody's */

struct hlp_list {
    const char *v[HLP_LIST_MAX];
    uint32_t n;
};

struct hlp_ids {
    uint32_t v[2 * HLP_LIST_MAX];
    uint32_t n;
};

struct hlp_user {
    char name[EXE_USER_MAX + 1];
    uid_t uid;
    gid_t gid;
    gid_t groups[HLP_GROUPS_MAX];
    size_t n_groups;
};

struct hlp_node { /* a device node of the host for the container's /dev */
    struct exe_device id;
    const char *path;         /* below /dev */
    struct bpf_insn allow[4]; /* its part of a container's device filter */
};

/* Something that the policy was made from; all zero behind `content`: it is not there. */
struct hlp_source {
    const char *path;
    uint64_t content; /* 0: which one it is, whose and its mode count; 1: what is in it, too */
    uint64_t dev, ino, uid, mode, size;
    struct timespec mtime, ctime;
};

enum hlp_filter {
    HLP_FILTER_STRICT,
    HLP_FILTER_HADOOP,
    HLP_FILTER_LOCALIZER,
    HLP_FILTER_MONITOR,
    HLP_FILTERS
};
#define HLP_BPF_MAX 4096 /* instructions, the kernel's BPF_MAXINSNS */

struct hlp_policy {
    uint32_t magic,
        id;          /* id: HLP_POLICY_ID, of the declarations that both programs were built with */
    uint64_t length; /* up to the end of the texts */
    uint32_t n_users; /* which follow there */
    const char *cgroup_root;
    const char *label;  /* SELinux context of containers; "" = as the system's policy says */
    const char *answer; /* to CHECK: what is in force, one key=value a line */
    const char *held; /* cgroup.events of a group whose filter from before devices were allowed goes
                       * when nothing lives there; "" = none */
    const char *unfiltered; /* why the filters of the daemon's groups do not stand: nothing starts;
                               "" = they do */
    struct hlp_list local_dirs, log_dirs, allowed_system;
    struct hlp_list masks;                     /* names that a launch hides in /proc */
    struct hlp_ids refused_uids, refused_gids; /* that no container has */
    uint32_t min_uid;
    uint32_t profiles, networks; /* bit n: number n of enum exe_profile, exe_network is allowed */
    uint32_t selinux;            /* bits HLP_SELINUX_…; none = off */
    uint8_t unenforced_allowed;
    uint8_t assignable;     /* are there devices that a container may be given? */
    uint8_t connect_filter; /* may nothing start without the connect filter? */
    struct hlp_user nm, monitor, public, lookup;
    gid_t nm_gid;
    struct net_request net; /* as far as the configuration knows it */
    /* Nodes that may be assigned, then those that come with the first one of `control_major`. */
    struct hlp_node nodes[HLP_ASSIGNABLE_MAX];
    uint32_t n_nodes, n_controls, control_major;
    /* The device filter: before those of the assigned nodes, and behind them. */
    struct bpf_insn device_code[HLP_DEVICE_CODE_MAX], deny[2];
    uint32_t n_device_code;
    uint32_t roots; /* number of the root templates in force */
    struct hlp_source sources[HLP_SOURCES_MAX];
    uint32_t n_sources;
    /* The system call filters, one after the other at the front of `text`. */
    struct sock_fprog filters[HLP_FILTERS];
    _Alignas(8) char text[131072];
};

/* Calls `each` with every text in the order of the file; false as soon as that is, or when a number
 * is more than there is room for. */
bool hlp_policy_texts(struct hlp_policy *p, bool (*each)(const char **text, void *),
                      void *argument);
/* The first `len` bytes of `p` came from a file: are they a policy? Makes its pointers. */
bool hlp_policy_place(struct hlp_policy *p, size_t len);
bool hlp_list_has(const struct hlp_list *l, const char *name);
/* Is it one of them, root's, or nobody's? */
bool hlp_id_refused(const struct hlp_ids *ids, uint32_t id);
/* Looks at what is at its path now. */
void hlp_source_probe(struct hlp_source *s);
/* Is every source as it was when the policy was made? */
bool hlp_policy_up_to_date(const struct hlp_policy *p);
/* Reads the file; -1 when there is none, or it is not of this build or not up to date. Else a
 * descriptor of it, for the table of users. */
int hlp_policy_read(struct hlp_policy *p);

#endif
