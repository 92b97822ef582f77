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

struct hlp_config { /* strings point into `text` */
    char text[HLP_CONFIG_MAX + 2];
    const char *group, *nm_user, *monitor_user, *public_user, *lookup_user;
    struct hlp_devices gpu, fpga, devices, denied;
    struct hlp_list banned, banned_groups, read_only, writable;
    uint8_t net_isolated;
    struct hlp_policy policy; /* what goes there as it is written here */
};

/* config.c: parses `cfg->text` of `len` bytes; 0 or the line (1…) of the error, with words. */
int hlp_config_parse(struct hlp_config *cfg, size_t len, const char **ret_why);
extern const char *const hlp_profile_names[], *const hlp_network_names[]; /* by number; NULL */
bool hlp_device_allowed(const struct hlp_config *cfg, const struct exe_device *d);

/* policy-compile.c: all of the policy but its texts; ends by hlp_fail when it cannot be made. */
struct hlp_users;
void hlp_compile(struct hlp_config *cfg, struct hlp_users *ret_users);
void hlp_write_answer(struct hlp_policy *p);
/* Notes how `path` is before it is read. Only from here on it may be. */
void hlp_add_source(struct hlp_policy *p, const char *path, bool content);
/* root-template.c: makes the root templates of this policy, which gets their number; drops all of
 * others. */
void hlp_make_root_templates(int state, struct hlp_config *cfg);
void hlp_drop_root_templates(int state, uint32_t number);
/* Appends the texts; the bytes of the file, but for the table of users. */
size_t hlp_policy_pack(struct hlp_policy *p);

/* device-code.c */
void hlp_device_code(struct hlp_policy *p);
/* persistent-filters.c: the device filters of the daemon's groups. A kernel that refuses them is
 * noted in the policy. */
void hlp_attach_persistent_filters(struct hlp_policy *p);

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
/* These names are in the table as root's, whoever they were. */
void hlp_users_ban(struct hlp_users *t, const struct hlp_list *banned);
/* Notes in the policy which groups no container may have: these and the daemon's; -E2BIG. */
int hlp_groups_refuse(struct hlp_policy *p, const struct hlp_list *banned, const char *text,
                      size_t len);
/* Puts users into the others that they are members of. */
void hlp_users_join(const struct hlp_policy *p, const struct hlp_users *t, const char *text,
                    size_t len);

#endif
