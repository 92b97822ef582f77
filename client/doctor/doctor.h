/* `selvedge doctor`: shared declarations. Each doctor-*.c checks one aspect of the node and reports
 * findings; doctor.c runs them and prints the findings. No check changes anything. Inputs: Hadoop's
 * configuration, kernel files, the policy that container-executor reports; all of them are root's
 * or the operator's. */
#ifndef SELVEDGE_CLIENT_DOCTOR_DOCTOR_H
#define SELVEDGE_CLIENT_DOCTOR_DOCTOR_H

#include "client/ui/output.h"
#include "executor/network.h"
#include "nodemanager/conf/conf.h"

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE, /* information, no action */
    DOCTOR_WEAK, /* containers run, with less protection than possible */
    DOCTOR_BAD,  /* containers do not start, or a guarantee is broken */
};

struct doctor_policy { /* container-executor's answer; strings owned */
    bool known;
    char **local_dirs, **log_dirs;
    char *cgroup_root, *user;
    bool unenforced_allowed;
    uid_t min_uid;               /* min.user.id */
    bool labels, enforcing;      /* selvedge.sandbox.selinux */
    char **profiles, **networks; /* allowed ones */
    char *refused_ports;         /* of the connect filter; NULL: disabled */
    struct net_request net;      /* as far as root's configuration defines it */
};

#define DOCTOR_PRINCIPALS_MAX 32

struct doctor {
    struct nm_conf conf;
    bool have_conf;     /* conf was read completely */
    bool of_unit;       /* it is what the daemon's unit reads */
    bool absent;        /* nothing is installed: neither the helper nor a file beside it */
    const char *daemon; /* the NodeManager's account */
    uid_t daemon_uid;
    gid_t daemon_gid;
    bool have_daemon;
    const char *helper; /* path of container-executor */
    const char *socket; /* socket-activated mode: systemd's socket; NULL: setuid mode */
    const char *principals[DOCTOR_PRINCIPALS_MAX]; /* of --principal */
    size_t n_principals;
    char *gss_socket; /* of selvedge-gss, as the daemon's unit has it; owned; NULL: none */
    struct doctor_policy policy;
    struct doctor_finding *findings; /* utlist */
    unsigned counts[DOCTOR_BAD + 1];
};

/* doctor-report.c. Adds a finding. `remedy`: the action to take; NULL: none. */
void cli_doctor_report(struct doctor *d, enum doctor_state state, const char *area,
                       const char *remedy, const char *fmt, ...) _printf_(5, 6);
void cli_doctor_print_text(const struct doctor *d, bool all);
void cli_doctor_print_json(const struct doctor *d, int code, const struct cli_output *o);
void cli_doctor_findings_free(struct doctor *d);

/* doctor-probe.c. Returns `path` or the first directory above it that anyone but root and `owner`
 * can replace, in `buf`; NULL if there is none. */
const char *cli_doctor_find_unsafe(const char *path, uid_t owner, char *buf, size_t size);
/* First line of a small file, without the newline; "" if unreadable. */
const char *cli_doctor_read_line(const char *path, char *buf, size_t size);

/* A kernel feature, by its module's name and its configuration symbol. */
enum doctor_part {
    DOCTOR_PART_THERE,
    DOCTOR_PART_LOADED_LATER, /* loaded on demand */
    DOCTOR_PART_MISSING,
    DOCTOR_PART_UNKNOWN, /* cannot be determined */
};
enum doctor_part cli_doctor_kernel_part(const char *module, const char *symbol);

void cli_doctor_configuration(struct doctor *d, const char *dir, char *const *overrides);
/* Sets and reports `absent`; checks of accounts, files and directories then report nothing. */
void cli_doctor_installed(struct doctor *d);
void cli_doctor_accounts(struct doctor *d);
void cli_doctor_helper(struct doctor *d);
void cli_doctor_connections(struct doctor *d);
void cli_doctor_files(struct doctor *d);
void cli_doctor_directories(struct doctor *d);
void cli_doctor_kernel(struct doctor *d);
void cli_doctor_cgroups(struct doctor *d);
void cli_doctor_network(struct doctor *d);
void cli_doctor_services(struct doctor *d);
void cli_doctor_uploads(struct doctor *d);
void cli_doctor_federation(struct doctor *d);
/* Reports nothing where Kerberos is off, unless --principal was given. */
void cli_doctor_kerberos(struct doctor *d);

#endif
