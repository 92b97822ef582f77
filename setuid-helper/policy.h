/* The policy: compiled form of root's configuration, in one file of the state directory.
 * container-prepare writes it when one of its sources has changed; container-executor MUST, at
 * every operation, verify that it is root's and compare it with its sources.
 *
 * The file is struct hlp_policy up to `text`; the system call filters; every text with its NUL in
 * the order of hlp_policy_texts; the accounts of /etc/passwd as struct hlp_user, in the order of
 * their names, with the groups that each may have in a container, and the names that are banned, as
 * root's. Pointers in the file are meaningless: hlp_policy_place sets them. */
#ifndef SELVEDGE_SETUID_HELPER_POLICY_H
#define SELVEDGE_SETUID_HELPER_POLICY_H

#include <linux/bpf.h>
#include <linux/filter.h>
#include <sys/types.h>
#include <time.h>

#include "executor/network.h"
#include "executor/request.h"
#include "setuid-helper/lookup.h"

#define HLP_POLICY_MAGIC 0x6c507653u /* "SvPl" */
#define HLP_LIST_MAX 64
#define HLP_SOURCES_MAX 256
#define HLP_ASSIGNABLE_MAX 256
#define HLP_DEVICE_CODE_MAX 64
#define HLP_CONTROLS_MAX 8
/* A root template in the state directory: number of the profile, 0 for localizers, and
 * generation. */
#define HLP_ROOT_NAME "root-%u-%u"
#define HLP_FILTER_NAME "selvedge_dev_1" /* new standard devices need a new number */
/* Extended attributes that mark a cgroup with an attached device filter, connect filter. */
#define HLP_FILTERED "trusted.selvedge.devices"
#define HLP_CONNECT_FILTERED "trusted.selvedge.connect"
#define HLP_ID_MAX 0x7ffffffeu /* ids above are invalid */

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

/* A source of the policy; all zero after `content`: it does not exist. */
struct hlp_source {
    const char *path;
    uint64_t content; /* 0: identity, owner and mode are compared; 1: the content, too */
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
        id; /* id: HLP_POLICY_ID, of the declarations with which both programs were built */
    uint64_t length;  /* up to the end of the texts */
    uint32_t n_users; /* which follow there */
    const char *cgroup_root;
    const char *label;      /* SELinux context of containers; "" = by the system's policy */
    const char *answer;     /* to CHECK: the settings in force, one key=value a line */
    const char *held;       /* cgroup.events of a cgroup with a filter from before devices were
                               assignable, detached when it is empty; "" = none */
    const char *unfiltered; /* reason why the filters of the daemon's cgroups are missing: nothing
                               starts; "" = they are attached */
    struct hlp_list local_dirs, log_dirs, allowed_system;
    struct hlp_list masks;                     /* names hidden in /proc by a launch */
    struct hlp_ids refused_uids, refused_gids; /* ids that no container may have */
    uint32_t min_uid;
    uint32_t profiles, networks; /* bit n: number n of enum exe_profile, exe_network is allowed */
    uint32_t selinux;            /* bits HLP_SELINUX_…; none = off */
    uint8_t unenforced_allowed;
    uint8_t assignable;     /* devices may be assigned */
    uint8_t connect_filter; /* nothing may start without the connect filter */
    struct hlp_user nm, monitor, public, lookup;
    gid_t nm_gid;
    struct net_request net; /* the part from the configuration */
    /* Assignable nodes, then those added with the first one of `control_major`. */
    struct hlp_node nodes[HLP_ASSIGNABLE_MAX];
    uint32_t n_nodes, n_controls, control_major;
    /* The device filter's prologue and epilogue around per-device rules. */
    struct bpf_insn device_code[HLP_DEVICE_CODE_MAX], deny[2];
    uint32_t n_device_code;
    uint32_t roots; /* generation of the root templates in force */
    struct hlp_source sources[HLP_SOURCES_MAX];
    uint32_t n_sources;
    /* The system call filters, one after the other at the front of `text`. */
    struct sock_fprog filters[HLP_FILTERS];
    _Alignas(8) char text[131072];
};

/* Calls `each` with every text in the order of the file; returns false as soon as it does, or if a
 * number is out of bounds. */
bool hlp_policy_texts(struct hlp_policy *p, bool (*each)(const char **text, void *),
                      void *argument);
/* True if the first `len` bytes of `p`, read from a file, are a valid policy. Sets its pointers. */
bool hlp_policy_place(struct hlp_policy *p, size_t len);
bool hlp_list_has(const struct hlp_list *l, const char *name);
/* True if it is in the list, root's, or invalid. */
bool hlp_id_refused(const struct hlp_ids *ids, uint32_t id);
/* Reads the current state of the object at its path. */
void hlp_source_probe(struct hlp_source *s);
/* True if every source is unchanged since the policy was compiled. */
bool hlp_policy_up_to_date(const struct hlp_policy *p);
/* Reads the file; -1 if there is none, or it is not of this build or not up to date. Else a
 * descriptor of it, for the table of users. */
int hlp_policy_read(struct hlp_policy *p);

#endif
