/* `hadoop.rpc.protection`: names and sets of its values. */
#include "wire/sasl/qop.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

static const struct {
    enum ipc_qop qop;
    const char *word, *name;
} qops[] = {
    { IPC_QOP_AUTH, "authentication", "auth" },
    { IPC_QOP_INTEGRITY, "integrity", "auth-int" },
    { IPC_QOP_PRIVACY, "privacy", "auth-conf" },
};

static const char *const texts[] = {
    "nothing", "authentication",         "integrity",         "authentication,integrity",
    "privacy", "authentication,privacy", "integrity,privacy", "authentication,integrity,privacy",
};

static const char *const names[] = {
    "",          "auth",           "auth-int",           "auth,auth-int",
    "auth-conf", "auth,auth-conf", "auth-int,auth-conf", "auth,auth-int,auth-conf",
};
static_assert(SV_ARRAY_LEN(texts) == IPC_QOP_ALL + 1, "a text for each set");
static_assert(SV_ARRAY_LEN(names) == IPC_QOP_ALL + 1, "a name for each set");

static uint32_t word_find(const char *p, size_t n)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(qops); i++)
        if (strlen(qops[i].word) == n && strncasecmp(qops[i].word, p, n) == 0)
            return qops[i].qop;
    return 0;
}

int ipc_qop_parse(const char *text, uint32_t *ret, struct sv_error *err)
{
    uint32_t mask = 0;
    for (const char *p = text;; p++) {
        p += strspn(p, " \t\n");
        size_t n = strcspn(p, ","), word = n;
        while (word > 0 && strchr(" \t\n", p[word - 1]))
            word--;
        uint32_t bit = word_find(p, word);
        if (!bit)
            return sv_error_set(
                err, -EINVAL,
                "hadoop.rpc.protection: \"%.*s\" is none of authentication, integrity, "
                "privacy",
                (int)SV_MIN(word, (size_t)64), p);
        mask |= bit;
        p += n;
        if (!*p)
            break;
    }
    *ret = mask;
    return 0;
}

const char *ipc_qop_text(uint32_t mask)
{
    return texts[mask & IPC_QOP_ALL];
}

const char *ipc_qop_names(uint32_t mask)
{
    return names[mask & IPC_QOP_ALL];
}

const char *ipc_qop_name(enum ipc_qop qop)
{
    return names[qop & IPC_QOP_ALL];
}

uint32_t ipc_qop_from_name(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(qops); i++)
        if (sv_streq(qops[i].name, name))
            return qops[i].qop;
    return 0;
}

uint32_t ipc_qop_strongest(uint32_t mask)
{
    for (size_t i = SV_ARRAY_LEN(qops); i-- > 0;)
        if (mask & qops[i].qop)
            return qops[i].qop;
    return 0;
}
