/* Loads the policy in force into container-executor; container-prepare rebuilds it if it is missing
 * or older than one of its sources. */
#include <errno.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

void hlp_load_policy(struct hlp *h)
{
    static const struct hlp_program prepare = { .name = "container-prepare",
                                                .fds = { 2, -1, 2, -1, -1 },
                                                .net_namespace = -1,
                                                .status = EXE_STATUS_STATE };
    struct hlp_message m = { .status = EXE_STATUS_STATE, .error = EPROTO };
    size_t got;
    for (int tries = 0;
         (h->table = hlp_policy_read(&h->cfg)) < 0 || (tries == 0 && h->cfg.unfiltered[0]);
         tries++) {
        if (h->table >= 0) /* the kernel may accept the filters now */
            (void)close(h->table);
        if (tries == 8)
            hlp_fail(EXE_STATUS_STATE, ESTALE,
                     "policy: not of this release, or changing all the time");
        if (hlp_run_program(&prepare, &m, sizeof(m), &got) != 0) {
            m.what[sizeof(m.what) - 1] = '\0';
            hlp_fail((enum exe_status)m.status, m.error, m.what);
        }
    }
}
