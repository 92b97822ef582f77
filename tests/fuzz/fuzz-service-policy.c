/* libFuzzer target: a hadoop-policy.xml, up to the first NUL, and a user behind it. A refusal of
 * the file and one of the user have their text; a protocol of another daemon is refused; a list
 * that admits everybody does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity/service-policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sv_policy *p, const struct sv_service *s, const char *user)
{
    static const struct in6_addr ip = { .s6_addr = {
                                            [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 } };
    const struct sv_policy_caller caller = { .user = user, .method = "TOKEN", .ip = &ip };
    struct sv_error err = { 0 };
    int r = sv_policy_check(p, s->protocol, &caller, &err);

    if (r != 0 && (r != -EACCES || !*err.text))
        abort();
    if (r != 0 && *user && sv_policy_admits_all(p, s->protocol) && !strstr(err.text, "Host "))
        abort();
}

static void read_policy(struct sv_conf *c, const struct sv_service *services, const char *user)
{
    static const struct in6_addr any = { 0 };
    const struct sv_policy_caller caller = { .user = user, .method = "TOKEN", .ip = &any };
    _cleanup_(sv_policy_freep) struct sv_policy *p = NULL;
    struct sv_error err = { 0 };

    if (sv_policy_read(services, c, &p, &err) < 0) {
        if (!*err.text)
            abort();
        return;
    }
    for (const struct sv_service *s = services; s->protocol; s++)
        check(p, s, user);
    if (sv_policy_check(p, "org.example.OtherPB", &caller, NULL) != -EACCES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    struct sv_error err = { 0 };
    char user[256] = "";
    size_t n;

    if (!c || !end)
        return 0;
    n = SV_MIN(size - (size_t)(end - data) - 1, sizeof(user) - 1);
    memcpy(user, end + 1, n);
    if (sv_conf_load_string(c, (const char *)data, (size_t)(end - data), "input", &err) < 0)
        return 0;
    read_policy(c, sv_services_nodemanager, user);
    read_policy(c, sv_services_resourcemanager, user);
    return 0;
}
