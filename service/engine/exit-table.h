/* Exit codes of the FrameworkLauncher: what YARN and tasks end with, as a code, a type (which
 * retry policies go by) and words. One const table; codes 1 to 255, which tasks exit with, are
 * from a file of the cluster's. The file is its administrator's, diagnostics are hostile. */
#ifndef SELVEDGE_SERVICE_ENGINE_EXIT_TABLE_H
#define SELVEDGE_SERVICE_ENGINE_EXIT_TABLE_H

#include "common/error.h"
#include "service/framework/descriptor.h"

/* Codes that Selvedge gives itself. */
#define SVC_FW_EXIT_SUCCEEDED 0
#define SVC_FW_EXIT_PORT_CONFLICT (-7103)
#define SVC_FW_EXIT_NM_LAUNCH_FAILED (-7150)
#define SVC_FW_EXIT_RM_RESYNC_LOST (-7151)
#define SVC_FW_EXIT_RM_RESYNC_EXCEEDED (-7152)
#define SVC_FW_EXIT_MIGRATE_REQUESTED (-7153)
#define SVC_FW_EXIT_AM_RM_SHUTDOWN (-7203)
#define SVC_FW_EXIT_AM_UNKNOWN (-7250)
#define SVC_FW_EXIT_AM_NON_TRANSIENT (-7251)
#define SVC_FW_EXIT_GANG_TIMEOUT (-7252)
#define SVC_FW_EXIT_SUBMIT_REJECTED (-7300)
#define SVC_FW_EXIT_SUBMIT_IO (-7301)
#define SVC_FW_EXIT_SUBMIT_UNKNOWN (-7302)
#define SVC_FW_EXIT_APP_KILLED (-7303)
#define SVC_FW_EXIT_APP_LOST (-7350)
#define SVC_FW_EXIT_STOP_REQUESTED (-7351)
#define SVC_FW_EXIT_DIAGNOSTICS_LOST (-7352)
#define SVC_FW_EXIT_DIAGNOSTICS_BAD (-7353)
#define SVC_FW_EXIT_STOPPED_WITH_APP (-7400)
/* Raw status of a container whose ports were taken when it started. */
#define SVC_FW_RAW_PORT_CONFLICT (-210)

struct svc_fw_exit { /* texts are the table's or the file's */
    int32_t code;
    enum svc_fw_type type;
    const char *name; /* "" = the table does not have it */
    const char *description;
};

#define SVC_FW_EXITS_FILE_MAX ((size_t)64 << 10) /* bytes of the file */
#define SVC_FW_EXITS_TEXT_MAX                                                                      \
    ((size_t)512 << 10) /* of the text parsed, as JSON (which is YAML) too */

struct svc_fw_exits; /* the codes of a file */
/* YAML: a list of {code, type, description}, also below a key "spec". Entries with a code that is
 * not 1 to 255, or of type SUCCEEDED, are dropped, the last of several wins, no type: UNKNOWN.
 * -EINVAL: err has the line. -EFBIG. */
int svc_fw_exits_parse(const char *yaml, size_t len, struct svc_fw_exits **ret,
                       struct sv_error *err) _must_use_;
struct svc_fw_exits *svc_fw_exits_free(struct svc_fw_exits *x);
static inline void svc_fw_exits_freep(struct svc_fw_exits **x)
{
    *x = svc_fw_exits_free(*x);
}

/* The meaning of a container's raw exit status with these diagnostics (NULL = ""). `user`: NULL:
 * the defaults. */
void svc_fw_exit_of_raw(const struct svc_fw_exits *user, int32_t raw, const char *diagnostics,
                        struct svc_fw_exit *ret);
/* The meaning of a code that was found so, or given by Selvedge. */
void svc_fw_exit_of_code(const struct svc_fw_exits *user, int32_t code, struct svc_fw_exit *ret);

/* Walks all codes, ascending, the file's too: *cursor = 0 first; false at the end. */
struct svc_fw_exit_row {
    struct svc_fw_exit exit;
    bool has_raw; /* else Selvedge gives the code itself */
    int32_t raw;
    const char *pattern; /* in the diagnostics, any case; NULL: whatever they say */
};
bool svc_fw_exit_walk(const struct svc_fw_exits *user, size_t *cursor, struct svc_fw_exit_row *ret);

/* Exit code of a process that ends with this type: 0, 201, 202, 200. */
int svc_fw_exit_status(enum svc_fw_type type);

#endif
