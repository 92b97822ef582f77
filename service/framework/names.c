/* Names of the FrameworkLauncher, and what is asked of a descriptor. */
#include <string.h>

#include "service/framework/descriptor.h"

bool svc_fw_name_valid(const char *name)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    size_t n = strspn(name, all);

    return n > 0 && n <= SVC_FW_NAME_MAX && !name[n];
}

size_t svc_fw_namespace(const char *name)
{
    const char *at = strchr(name, '~');

    return at && at > name && at[1] && !strchr(at + 1, '~') ? (size_t)(at - name) : 0;
}

struct svc_fw_role *svc_fw_role_named(const struct svc_fw_descriptor *d, const char *name)
{
    for (size_t i = 0; i < d->n_roles; i++)
        if (strcmp(d->roles[i].name, name) == 0)
            return &d->roles[i];
    return NULL;
}

int64_t svc_fw_total_tasks(const struct svc_fw_descriptor *d)
{
    int64_t n = 0;

    for (size_t i = 0; i < d->n_roles; i++)
        n += d->roles[i].tasks;
    return n;
}
