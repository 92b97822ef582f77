/* Private declarations of container-prepare. None of this is linked into container-executor, except
 * what helper.h and policy.h declare. Its input MUST be root's alone: the configuration, the
 * account files, /dev. It runs as root with CAP_SYS_ADMIN, started by container-executor or by
 * root. */
#ifndef SELVEDGE_SETUID_HELPER_PREPARE_H
#define SELVEDGE_SETUID_HELPER_PREPARE_H

#include "setuid-helper/helper.h"

#define HLP_CONFIG_MAX 65536

struct hlp_devices { /* a section [gpu], [fpga] or [devices] */
    uint8_t enabled;
    uint32_t major; /* of a class; then the majors in `v` are 0 */
    struct exe_device v[HLP_LIST_MAX];
    unsigned n;
};

/* The connect filter: destinations that containers and localizers may not connect to, in TCP and
 * UDP. */
#define HLP_CONNECT_MAX 64 /* entries of one list */
/* At most three instructions a port, and for a network of each list, in both forms, a move, an AND
 * and a comparison a word, the port's, two for the answer. */
#define HLP_CONNECT_CODE_MAX (HLP_CONNECT_MAX * (3 + 2 * (4 * 3 + 3)) + 32)
struct hlp_ports {
    const char *text; /* unparsed; NULL: not configured */
    uint16_t v[HLP_CONNECT_MAX];
    unsigned n;
};
struct hlp_networks {
    const char *text;
    struct hlp_network {
        uint8_t address[16]; /* IPv4: the first four */
        uint8_t prefix;      /* bits */
        uint8_t v6;
        uint16_t port; /* 0: all ports */
    } v[HLP_CONNECT_MAX];
    unsigned n;
};
struct hlp_connect {
    struct hlp_ports ports;      /* at any address */
    struct hlp_networks refused; /* networks … */
    struct hlp_networks allowed; /* … and exceptions of them, though not of `ports` */
};
struct hlp_code {
    struct bpf_insn v[HLP_CONNECT_CODE_MAX];
    unsigned n;
};

struct hlp_config { /* strings point into `text` */
    char text[HLP_CONFIG_MAX + 2];
    const char *group, *nm_user, *monitor_user, *public_user, *lookup_user;
    struct hlp_devices gpu, fpga, devices, denied;
    struct hlp_list banned, banned_groups, read_only, writable;
    uint8_t net_isolated;
    struct hlp_connect connect;
    struct hlp_policy policy; /* values of the policy that are set during parsing */
};

/* config.c: parses `cfg->text` of `len` bytes; 0 or the line (1…) of the error, with a message. */
int hlp_config_parse(struct hlp_config *cfg, size_t len, const char **ret_why);
extern const char *const hlp_profile_names[], *const hlp_network_names[]; /* by number; NULL */
bool hlp_device_allowed(const struct hlp_config *cfg, const struct exe_device *d);
/* `d` is a node of /dev/nvidia-caps: the access to an instance of a card that is allowed. */
bool hlp_instance_allowed(const struct hlp_config *cfg, const struct exe_device *d);

/* policy-compile.c: all of the policy but its texts; ends by hlp_fail if it cannot be made. */
struct hlp_users;
void hlp_compile(struct hlp_config *cfg, struct hlp_users *ret_users);
void hlp_write_answer(struct hlp_config *cfg);
/* Records the state of `path` as a source. Call it before `path` is read. */
void hlp_add_source(struct hlp_policy *p, const char *path, bool content);
/* root-template.c: creates the root templates of this policy, which gets their generation; drops
 * all others. */
void hlp_make_root_templates(int state, struct hlp_config *cfg);
void hlp_drop_root_templates(int state, uint32_t number);
/* Appends the texts; returns the size of the file without the table of users. */
size_t hlp_policy_pack(struct hlp_policy *p);

/* device-code.c */
void hlp_device_code(struct hlp_policy *p);
/* connect-rules.c: reads a list from a text that must live on; a message if it is invalid. The last
 * one sets the lists missing in root's configuration to their defaults. */
const char *hlp_connect_ports(struct hlp_ports *l, const char *text);
const char *hlp_connect_networks(struct hlp_networks *l, const char *text);
const char *hlp_connect_defaults(struct hlp_connect *c);
/* connect-code.c: the program for addresses given as IPv4, or as IPv6. */
void hlp_connect_code(const struct hlp_connect *r, bool v6, struct hlp_code *ret);

/* attached-filters.c: the programs of this type on a cgroup whose names have this prefix, as
 * descriptors. The failed step, with errno, or NULL. */
#define HLP_FILTERS_MAX 64 /* per cgroup and type: the kernel's BPF_CGROUP_MAX_PROGS */
const char *hlp_find_filters(int group, enum bpf_attach_type type, const char *name,
                             size_t name_len, int found[HLP_FILTERS_MAX], unsigned *ret_n);
/* persistent-filters.c: the filters of the daemon's cgroups. The policy records a kernel's
 * refusal. */
void hlp_attach_persistent_filters(struct hlp_config *cfg);
/* connect-filter.c: makes the connect filter of the root cgroup match the configuration. The failed
 * step, with errno, or NULL. */
const char *hlp_put_connect_filter(const struct hlp_config *cfg, int group);

/* passwd.c: `text` of `len` bytes is /etc/passwd's or /etc/group's. */
struct hlp_users { /* in the order of names, with room for a list of names more */
    struct hlp_user *v;
    size_t n;
};
int hlp_users_parse(const char *text, size_t len,
                    struct hlp_users *t); /* without groups; -ENOMEM */
struct hlp_user *hlp_users_find(const struct hlp_users *t, const char *name);
bool hlp_group_find(const char *text, size_t len, const char *name, gid_t *ret);
bool hlp_id_refuse(struct hlp_ids *ids, uint32_t id); /* false: no room */
/* Adds these names to the table as root's, whoever they were. */
void hlp_users_ban(struct hlp_users *t, const struct hlp_list *banned);
/* Records in the policy the groups that no container may have: these and the daemon's; -E2BIG. */
int hlp_groups_refuse(struct hlp_policy *p, const struct hlp_list *banned, const char *text,
                      size_t len);
/* Adds users to their supplementary groups. */
void hlp_users_join(const struct hlp_policy *p, const struct hlp_users *t, const char *text,
                    size_t len);

#endif
