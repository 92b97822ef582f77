/* See servers.h. */
#include "hdfs/servers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/sasl/qop.h"

bool hdfs_host_valid(const char *s, size_t n)
{
    if (n == 0 || n > HDFS_HOST_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] <= 0x20 || (unsigned char)s[i] >= 0x7f || strchr(",/@[]?#", s[i]))
            return false;
    return true;
}

int hdfs_server_parse(const char *s, size_t n, struct hdfs_server *ret)
{
    bool v6 = n > 0 && s[0] == '[';
    const char *end = v6 ? memchr(s, ']', n) : memchr(s, ':', n), *host = v6 ? s + 1 : s;
    size_t len = end ? (size_t)(end - host) : n, used = end ? (size_t)(end - s) + v6 : n;
    struct hdfs_server v = { .port = HDFS_PORT };
    char port[6];
    uint64_t number;

    if ((v6 && !end) || !hdfs_host_valid(host, len))
        return -EINVAL;
    memcpy(v.host, host, len);
    if (used < n) {
        if (s[used] != ':' || n - used - 1 >= sizeof(port))
            return -EINVAL;
        memcpy(port, s + used + 1, n - used - 1);
        port[n - used - 1] = 0;
        if (sv_parse_u64(port, 1, UINT16_MAX, &number) < 0)
            return -EINVAL;
        v.port = (uint16_t)number;
    }
    *ret = v;
    return 0;
}

int hdfs_servers_parse(const char *text, struct hdfs_site *ret)
{
    struct hdfs_site site = { 0 };
    const char *at = NULL;

    if (strnlen(text, HDFS_SERVERS_TEXT_MAX + 1) > HDFS_SERVERS_TEXT_MAX)
        return -EINVAL;
    at = strchr(text, '@');
    if (at) {
        if (!hdfs_host_valid(text, (size_t)(at - text)))
            return -EINVAL;
        memcpy(site.nameservice, text, (size_t)(at - text));
        text = at + 1;
    }
    for (const char *s = text;; s++) {
        size_t len = strcspn(s, ",");

        if (site.n_servers == HDFS_NAMENODES_MAX ||
            hdfs_server_parse(s, len, &site.servers[site.n_servers]) < 0)
            return -EINVAL;
        site.n_servers++;
        s += len;
        if (!*s)
            break;
    }
    memcpy(ret->servers, site.servers, sizeof(ret->servers));
    memcpy(ret->nameservice, site.nameservice, sizeof(ret->nameservice));
    ret->n_servers = site.n_servers;
    return 0;
}

/* Appends to the text. */
static int append(char *text, size_t *len, const char *a, const char *b, const char *c)
{
    int n = snprintf(text + *len, HDFS_SERVERS_TEXT_MAX + 1 - *len, "%s%s%s", a, b, c);

    if (n < 0 || (size_t)n > HDFS_SERVERS_TEXT_MAX - *len)
        return -E2BIG;
    *len += (size_t)n;
    return 0;
}

int hdfs_servers_text(const struct hdfs_site *site, char ret[HDFS_SERVERS_TEXT_MAX + 1])
{
    bool logical = site->nameservice[0];
    size_t len = 0;
    int r = 0;

    ret[0] = 0;
    if (logical)
        r = append(ret, &len, site->nameservice, "@", "");
    for (unsigned i = 0; r == 0 && i < site->n_servers; i++) {
        const struct hdfs_server *s = &site->servers[i];
        bool v6 = strchr(s->host, ':');
        char port[8];

        (void)snprintf(port, sizeof(port), "%s:%u", v6 ? "]" : "", s->port);
        r = append(ret, &len, i ? "," : "", v6 ? "[" : "", s->host);
        if (r == 0)
            r = append(ret, &len, port, "", "");
    }
    return r;
}

/* ---- Protection: a byte, from its lowest bit: rpc_qop, transfer_qop, secure, aes ---- */

#define TRANSFER_SHIFT 3
#define SECURE (1u << 6)
#define AES (1u << 7)

uint32_t hdfs_site_protection(const struct hdfs_site *s)
{
    return (s->rpc_qop & IPC_QOP_ALL) |
           (uint32_t)(s->transfer_qop & IPC_QOP_ALL) << TRANSFER_SHIFT | (s->secure ? SECURE : 0) |
           (s->aes ? AES : 0);
}

int hdfs_site_protect(struct hdfs_site *s, uint32_t protection)
{
    if (protection > (AES | SECURE | IPC_QOP_ALL << TRANSFER_SHIFT | IPC_QOP_ALL))
        return -EINVAL;
    s->rpc_qop = protection & IPC_QOP_ALL;
    s->transfer_qop = protection >> TRANSFER_SHIFT & IPC_QOP_ALL;
    s->secure = protection & SECURE;
    s->aes = protection & AES;
    return 0;
}
