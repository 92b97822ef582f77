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
    struct hlp_users t;
    gid_t gid;
    if (size > HLP_CONFIG_MAX)
        return 0;
    memset(&cfg, 0, sizeof(cfg));
    memcpy(cfg.text, data, size);
    if ((hlp_config_parse(&cfg, size, &why) == 0) != (why == NULL))
        abort();
    const struct exe_device device = { 195, 0 };
    (void)hlp_device_allowed(&cfg, &device);
    const char *text = (const char *)data;
    if (hlp_users_parse(text, size, &t) < 0)
        abort();
    (void)hlp_group_find(text, size, "yarn", &gid);
    (void)hlp_groups_refuse(&cfg.policy, &cfg.banned_groups, text, size);
    hlp_users_join(&cfg.policy, &t, text, size);
    for (size_t i = 0; i < t.n; i++)
        if (t.v[i].n_groups > HLP_GROUPS_MAX || hlp_users_find(&t, t.v[i].name) != &t.v[i])
            abort();
    free(t.v);
    return 0;
}
