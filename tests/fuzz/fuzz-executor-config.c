/* container-executor.cfg and the account files: any bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "setuid-helper/prepare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Never reached by the parsers. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what)
{
    (void)status;
    (void)error;
    (void)what;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hlp_config cfg;
    const char *why = NULL;
    struct hlp_user u = { .name = "alice", .gid = 1 };
    gid_t gid;
    if (size > HLP_CONFIG_MAX)
        return 0;
    memset(&cfg, 0, sizeof(cfg));
    memcpy(cfg.text, data, size);
    if ((hlp_config_parse(&cfg, size, &why) == 0) != (why == NULL))
        abort();
    const struct exe_device device = { 195, 0 };
    (void)hlp_device_allowed(&cfg, &device);
    (void)hlp_passwd_find((const char *)data, size, "alice", &u);
    (void)hlp_group_find((const char *)data, size, "yarn", &gid);
    hlp_group_members((const char *)data, size, &u, 5);
    if (u.n_groups > HLP_GROUPS_MAX)
        abort();
    return 0;
}
